//! `leafline stats --svg`.
//!
//! Guards against pictures that are not XML, that say other numbers than the tables, or that grow with what they show.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::scene::{CLAUDE, PI_3, Scene, on_samples};

/// The names of the elements, and the texts of titles, of a document that is checked: elements closed in their order, attributes
/// in quotation marks, no reference but to characters, no character that XML does not have.
fn read(picture: &str) -> (Vec<String>, Vec<String>) {
    let allowed = |c: char| c == '\n' || (c >= ' ' && !('\u{7f}'..='\u{9f}').contains(&c));
    assert!(picture.chars().all(|c| allowed(c) && c != '\u{fffe}' && c != '\u{ffff}'));
    let (mut open, mut names, mut titles): (Vec<String>, Vec<String>, Vec<String>) =
        Default::default();
    let mut rest = picture;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        assert!(!text.contains('>') || open.last().is_some_and(|name| name == "style"), "{text}");
        for reference in text.split('&').skip(1) {
            let name = reference.split_once(';').unwrap().0;
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "{name}");
        }
        if open.last().is_some_and(|name| name == "title") {
            let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            titles.push(text.replace("&#39;", "'").replace("&amp;", "&"));
        }
        let (tag, behind) = tag[1..].split_once('>').unwrap();
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|c| c.is_ascii_lowercase()), "{name}");
        while !attributes.trim().is_empty() {
            let (attribute, more) = attributes.trim_start().split_once("=\"").unwrap();
            assert!(attribute.chars().all(|c| c.is_ascii_alphabetic() || c == '-'), "{attribute}");
            assert!(!attribute.starts_with("on") && attribute != "style", "{attribute}");
            attributes = more.split_once('"').unwrap().1;
        }
        names.push(name.to_owned());
        if !is_empty {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    (names, titles)
}

/// The number before a word in a title.
fn number(title: &str, word: &str) -> u64 {
    let before = title.split(&format!(" {word}")).next().unwrap();
    before.rsplit([' ']).next().unwrap().replace(',', "").parse().unwrap()
}

fn of_days(rows: &Value) -> BTreeMap<String, [u64; 3]> {
    let rows = rows["rows"].as_array().unwrap();
    let sums = |row: &Value| {
        let of = |name: &str| row[name].as_u64().unwrap();
        [of("output"), of("input") + of("cache_write"), of("cache_read")]
    };
    rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), sums(row))).collect()
}

fn drawn_days(titles: &[String]) -> BTreeMap<String, [u64; 3]> {
    let days = titles.iter().filter(|title| title.contains(" cache reads"));
    days.map(|title| {
        let words = ["output", "input and cache writes", "cache reads"];
        (title.split(": ").next().unwrap().to_owned(), words.map(|word| number(title, word)))
    })
    .collect()
}

#[test]
fn a_picture_says_what_the_tables_say() {
    for session in [Some(PI_3), Some(CLAUDE), None] {
        let of = |rest: &[&'static str]| {
            let words = ["stats"].into_iter().chain(session).chain(rest.iter().copied());
            on_samples(words.collect::<Vec<_>>()).ok()
        };
        let picture = of(&["--svg"]).text();
        let (names, titles) = read(&picture);
        assert!(!names.contains(&"script".to_owned()) && picture.len() < 60_000);
        let types = of(&["--json"]).json();
        let types = types["types"].as_array().unwrap();
        assert!(types.len() > 3);
        for facts in types.iter().take(11) {
            let name = format!("{}: ", facts["name"].as_str().unwrap());
            let title = titles.iter().find(|title| title.starts_with(&name)).unwrap();
            assert_eq!(number(title, "bytes"), facts["bytes"].as_u64().unwrap());
            assert_eq!(number(title, "line"), facts["lines"].as_u64().unwrap());
        }
        let days = drawn_days(&titles);
        if session.is_none() {
            let usage = on_samples(["usage", "--by", "day", "--json"]).ok().json();
            let sum = |days: &BTreeMap<String, [u64; 3]>| {
                days.values().fold([0; 3], |sum, day| [0, 1, 2].map(|part| sum[part] + day[part]))
            };
            let mut told = of_days(&usage);
            told.remove("none");
            assert_eq!(sum(&days), sum(&told));
        } else {
            assert_eq!(days.len(), 1, "{days:?}");
        }
    }
    // A session's tokens are those of a store that has no other.
    let scene = Scene::of_session(&crate::scene::sample(PI_3));
    let usage = of_days(&scene.run(["usage", "--by", "day", "--json"]).ok().json());
    let (_, titles) = read(&scene.run(["stats", PI_3, "--svg"]).ok().text());
    assert_eq!(drawn_days(&titles), usage);
    assert_eq!(drawn_days(&read(&scene.run(["stats", "--svg"]).ok().text()).1), usage);
    scene.run(["stats", "--svg", "--json"]).fails(2);
}

#[test]
fn hostile_names_stay_text_and_a_large_tree_gives_a_small_picture() {
    let hostile = "</title><script>bad()</script>&\u{1}\u{fffe}'\"";
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "hostile", "timestamp": "2026-03-01T08:00:00.000Z", "cwd": hostile}),
        json!({"type": "session_info", "id": "00000000", "parentId": null, "timestamp": "2026-03-01T08:00:01.000Z", "name": hostile}),
    ];
    for place in 1..6_000_u32 {
        // Every second entry is a branch off the long way.
        let parent =
            format!("{:08x}", if place % 2 == 0 { place - 1 } else { place.saturating_sub(2) | 1 });
        let parent = if place == 1 { "00000000".to_owned() } else { parent };
        let kind = if place % 400 == 0 { format!("{hostile}{place}") } else { "custom".to_owned() };
        let second = place % 60;
        lines.push(json!({
            "type": kind, "id": format!("{place:08x}"), "parentId": parent, "customType": "x",
            "timestamp": format!("2026-{:02}-01T08:00:{second:02}.000Z", place % 12 + 1),
        }));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let scene = Scene::of_session(text.as_bytes());
    let picture = scene.run(["stats", "hostile", "--svg"]).ok().text();
    let (names, titles) = read(&picture);
    assert!(names.iter().all(|name| name != "script"));
    assert!(titles.iter().any(|title| title.contains("</title><script>bad()</script>&")));
    assert!(titles.iter().any(|title| title == "the leaf"));
    let drawn = names.iter().filter(|name| *name == "path").count();
    assert!(drawn > 100 && drawn <= 240, "{drawn}");
    assert!(picture.len() < 60_000, "{}", picture.len());
}
