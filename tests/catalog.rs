//! Many sessions: lists, filters, and projects that have moved.
//!
//! Guards against lists that leave a session out, put it in the wrong place or mix two of them up.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::export::ExportMode;
use leafline::import::ImportStatus;
use leafline::list::{SessionFilter, SessionOrder};
use leafline::live::Persistence;
use leafline::{Family, NewSession};
use place::Place;

/// A session of a working directory, with a prompt at a minute of one hour.
fn session(id: &str, cwd: &str, minute: u32, prompt: &str) -> String {
    format!(
        concat!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-03-01T09:{minute:02}:00.000Z","cwd":"{cwd}"}}"#,
            "\n",
            r#"{{"type":"message","id":"m1","parentId":null,"timestamp":"2026-03-01T10:{minute:02}:00.000Z","message":{{"role":"user","content":"{prompt}"}}}}"#,
            "\n",
        ),
        id = id,
        cwd = cwd,
        minute = minute,
        prompt = prompt
    )
}

fn three() -> Place {
    let place = Place::new();
    for (id, cwd, minute, prompt) in [
        ("one", "/work/app", 10, "Fix the LOGIN page"),
        ("two", "/work/app/server", 30, "Why is it slow?"),
        ("three", "/work/apple", 20, "Äpfel zählen"),
    ] {
        place.import(&place.write(&format!("{id}.jsonl"), session(id, cwd, minute, prompt)));
    }
    place
}

fn ids(place: &Place, filter: &SessionFilter) -> Vec<String> {
    place.store.list(filter).unwrap().into_iter().map(|facts| facts.id.into()).collect()
}

#[test]
fn filters_and_orders() {
    let place = three();
    let all = SessionFilter::default();
    let ten = |minute: i64| 1_772_359_200_000 + minute * 60_000;
    assert_eq!(ids(&place, &all), ["two", "three", "one"]);
    for (filter, expected) in [
        (SessionFilter::of_cwd("/work/app"), vec!["one"]),
        (SessionFilter { below: Some("/work/app/".into()), ..all.clone() }, vec!["two", "one"]),
        (SessionFilter { below: Some("/".into()), ..all.clone() }, vec!["two", "three", "one"]),
        (SessionFilter { since: Some(ten(20)), ..all.clone() }, vec!["two", "three"]),
        (SessionFilter { until: Some(ten(20)), ..all.clone() }, vec!["one"]),
        (SessionFilter { text: Some("login".into()), ..all.clone() }, vec!["one"]),
        (SessionFilter { text: Some("äPFEL".into()), ..all.clone() }, vec!["three"]),
        (SessionFilter { family: Some(Family::Omp), ..all.clone() }, vec![]),
        (SessionFilter { limit: Some(1), ..all.clone() }, vec!["two"]),
        (
            SessionFilter { order: SessionOrder::Created, ..all.clone() },
            vec!["two", "three", "one"],
        ),
        (SessionFilter { order: SessionOrder::Title, ..all.clone() }, vec!["one", "two", "three"]),
        (SessionFilter { order: SessionOrder::Size, ..all.clone() }, vec!["two", "one", "three"]),
    ] {
        assert_eq!(ids(&place, &filter), expected, "{filter:?}");
    }
    let recent = place.store.get_recent_sessions(2).unwrap();
    assert_eq!(recent.iter().map(|facts| &*facts.id).collect::<Vec<_>>(), ["two", "three"]);
    assert_eq!(recent[0].messages, 1);
    let newest = place.store.find_most_recent(&SessionFilter::of_cwd("/work/apple")).unwrap();
    assert_eq!(newest.unwrap().id, "three");
    assert!(place.store.find_most_recent(&SessionFilter::of_cwd("/none")).unwrap().is_none());
}

#[test]
fn a_limit_takes_the_beginning_of_the_list() {
    let place = Place::new();
    let mut files = Vec::new();
    for number in 0..300 {
        let (id, prompt) = (format!("s{}", number * 7 % 300), "text ".repeat(number % 50));
        let cwd = format!("/work/{}", number % 3);
        let minute = u32::try_from(number % 11).unwrap();
        let session = session(&id, &cwd, minute, &prompt);
        files.push(place.write(&format!("{id}.jsonl"), session));
    }
    place.import_all(&files);
    for order in
        [SessionOrder::Modified, SessionOrder::Created, SessionOrder::Title, SessionOrder::Size]
    {
        let filter = SessionFilter { order, ..SessionFilter::default() };
        let all = place.store.list(&filter).unwrap();
        assert_eq!(all.len(), 300);
        for limit in [0, 1, 5, 31, 32, 33, 150, 299, 300, 400] {
            let filter = SessionFilter { limit: Some(limit), ..filter.clone() };
            let begun = all.iter().take(limit).cloned().collect::<Vec<_>>();
            assert_eq!(place.store.list(&filter).unwrap(), begun, "{order:?}, {limit}");
        }
    }
}

#[test]
fn a_project_that_moved_keeps_its_sessions() {
    let place = three();
    assert_eq!(place.store.relocate("/work/app", "/home/new/app/").unwrap(), 2);
    let cwd = |id: &str| place.store.reader(id).unwrap().facts().cwd.unwrap();
    assert_eq!(cwd("one"), "/home/new/app");
    assert_eq!(cwd("two"), "/home/new/app/server");
    assert_eq!(cwd("three"), "/work/apple");
    // The bytes stay, and the file is still known.
    let bytes = std::fs::read(place.path("one.jsonl")).unwrap();
    assert!(place.exact("one") == bytes && place.export("one", &ExportMode::Current) == bytes);
    assert_eq!(place.import(&place.path("one.jsonl")).status, ImportStatus::Unchanged);
    // The agent that continues in the new directory continues this session.
    let mut new = NewSession::new(Family::Pi, "/home/new/app");
    new.persistence = Some(Persistence::keep_everything());
    assert_eq!(place.store.continue_recent(&new).unwrap().id(), "one");
    // A file that replaces it leaves it in that directory.
    let more = session("one", "/work/app", 10, "Fix the login page").replace("m1", "m0");
    let more = format!("{more}{}", String::from_utf8(bytes).unwrap().lines().nth(1).unwrap());
    place.write("one.jsonl", more);
    assert_eq!(place.import(&place.path("one.jsonl")).status, ImportStatus::Replaced);
    assert_eq!(cwd("one"), "/home/new/app");
    // What the header says later counts again.
    let moved = session("two", "/elsewhere", 30, "Why is it slow?");
    place.write("two.jsonl", moved);
    assert_eq!(place.import(&place.path("two.jsonl")).status, ImportStatus::Replaced);
    assert_eq!(cwd("two"), "/elsewhere");
    place.store.move_session("one", "/work/app").unwrap();
    assert_eq!(cwd("one"), "/work/app");
    assert!(place.store.move_session("none", "/x").is_err());
    place.assert_sound();
}

#[test]
fn statistics_are_of_the_session_that_took_the_place_of_the_old_one() {
    let place = three();
    let handle = place.store.session("one").unwrap();
    let file = place.write("one.jsonl", session("one", "/work/app", 10, "Something else"));
    let options = leafline::import::ImportOptions {
        replace: true,
        ..leafline::import::ImportOptions::default()
    };
    place.store.import(&[file], &options, &mut ()).unwrap();
    let statistics = handle.statistics().unwrap();
    assert_eq!((statistics.facts.lines, statistics.chunks), (2, 1));
    assert_eq!(place.store.remove_all(&["one", "two", "on"]).unwrap().len(), 2);
    assert_eq!(ids(&place, &SessionFilter::default()), ["three"]);
}
