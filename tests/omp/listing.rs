//! A folder of files: omp's list and ours give each session the same id and title.

use std::collections::BTreeMap;

use leafline::Family;
use leafline::files::SessionFiles;
use leafline::import::{ImportOptions, ImportStatus};
use serde_json::{Value, json};

use super::judge::omp;
use super::place::Place;

/// The lines of sessions, and the title that omp shows for each; a slot is omp's title line.
const SESSIONS: [(&str, &str, &[&str]); 13] = [
    ("the last short summary", "two", &["H", "M", "C one", "C two", "C"]),
    ("a title of the header's", "T", &["H T", "M", "C one"]),
    (EMPTY, "one", &["H ", "M", "C one"]),
    ("an empty slot", "one", &["S", "H T", "M", "C one"]),
    ("an empty slot and nothing else", "", &["S", "H T", "M"]),
    ("an empty title line without a pad", "", &["L", "H T", "M"]),
    ("white space in a title line", "", &["L  ", "H T", "M"]),
    ("a slot", "x", &["S  x ", "H T", "M", "C one"]),
    ("an empty short summary", "", &["H", "M", "C one", "C "]),
    ("white space around a short summary", "a b", &["H", "M", "C  a b "]),
    ("a short summary that is no text", "one", &["H", "M", "C one", "C 5"]),
    ("a second record on the header's line", "one", &["H+", "M", "C one"]),
    ("rubbish on the header's line", "", &["H!", "M"]),
];

/// Of an empty title omp makes the first prompt when it shows a list; here it is none.
const EMPTY: &str = "an empty title of the header's";

fn line(form: &str, number: usize) -> String {
    let (kind, given) = match form.split_once(' ') {
        Some((kind, given)) => (kind, Some(given)),
        None => (form, None),
    };
    let mut record = match &kind[..1] {
        "H" => json!({"type": "session", "version": 3, "id": format!("s{number}"),
            "timestamp": "2026-02-01T00:00:00.000Z", "cwd": "/work"}),
        "M" => json!({"type": "message", "id": "m", "parentId": null,
            "timestamp": "2026-02-01T00:00:01.000Z",
            "message": {"role": "user", "content": "Hello", "timestamp": 1}}),
        "C" => json!({"type": "compaction", "id": "c", "parentId": "m", "summary": "S",
            "timestamp": "2026-02-01T00:00:02.000Z", "firstKeptEntryId": "m", "tokensBefore": 1}),
        _ => json!({"type": "title", "v": 1, "title": given.unwrap_or_default(),
            "updatedAt": "2026-02-01T00:00:00.000Z"}),
    };
    match (&kind[..1], given) {
        ("H", Some(title)) => record["title"] = json!(title),
        ("C", Some("5")) => record["shortSummary"] = json!(5),
        ("C", Some(summary)) => record["shortSummary"] = json!(summary),
        ("S", _) => record["pad"] = json!("   "),
        _ => {}
    }
    let behind = match &kind[1..] {
        "+" => {
            json!({"type": "mode_change", "id": "x", "parentId": null, "mode": "plan"}).to_string()
        }
        more => more.to_owned(),
    };
    format!("{record}{behind}\n")
}

fn text(lines: &[&str], number: usize) -> String {
    lines.iter().map(|form| line(form, number)).collect()
}

#[test]
fn titles_are_those_of_omps_list() {
    let place = Place::new();
    let mut expected = BTreeMap::new();
    for (number, (name, title, lines)) in SESSIONS.into_iter().enumerate() {
        let path = place.write(&format!("{number}.jsonl"), text(lines, number));
        expected.insert(path, (name, format!("s{number}"), title));
    }
    let some = |title: &str| Some(title.to_owned()).filter(|title| !title.is_empty());
    let folder = expected.keys().next().unwrap().parent().unwrap();
    let files = SessionFiles::new([folder]);
    let (whole, recent) = (files.list_all(), files.get_recent_sessions(usize::MAX));
    assert_eq!((whole.sessions.len(), recent.sessions.len()), (SESSIONS.len(), SESSIONS.len()));
    let whole = whole.sessions.into_iter().map(|it| (it.path, it.id, it.title));
    let recent = recent.sessions.into_iter().map(|it| (it.path, it.id, it.title));
    for (path, id, title) in whole.chain(recent) {
        let (name, expected_id, expected) = &expected[&path];
        assert_eq!(&id, expected_id, "{name}");
        assert_eq!(title.filter(|title| !title.is_empty()), some(expected), "{name}");
    }
    for (path, (name, id, title)) in &expected {
        let options = ImportOptions { family: Some(Family::Omp), ..ImportOptions::default() };
        let report = place.import_with(path, &options);
        assert_eq!(report.status, ImportStatus::Imported, "{name}: {report:?}");
        let facts = place.store.reader(id).unwrap().facts();
        let told = facts.title.as_deref().filter(|title| !title.is_empty());
        assert_eq!(told, some(title).as_deref(), "{name}");
        assert_eq!(place.exact(id), std::fs::read(path).unwrap(), "{name}");
    }
    place.assert_sound();

    let Some(judge) = omp() else { return };
    let answers = judge.ask(&[json!({"op": "list", "folder": folder})]);
    let listed = answers[0]["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), SESSIONS.len());
    for theirs in listed {
        let path = std::path::PathBuf::from(theirs["path"].as_str().unwrap());
        let (name, id, title) = &expected[&path];
        assert_eq!(theirs["id"], json!(id), "{name}");
        let told = theirs["title"].as_str().unwrap_or_default();
        assert_eq!(told.trim(), if *name == EMPTY { "" } else { title }, "{name}");
    }
}

/// A name that is taken away leaves the short summary.
#[test]
fn a_name_that_goes_leaves_the_short_summary() {
    let place = Place::new();
    let path = place.write("s.jsonl", text(&["H T", "M", "C one", "C two"], 0));
    let options = ImportOptions { family: Some(Family::Omp), ..ImportOptions::default() };
    place.import_with(&path, &options);
    let mut session = place.store.session("s0").unwrap();
    let title = |place: &Place| place.store.reader("s0").unwrap().facts().title;
    session.set_session_name("").unwrap();
    assert_eq!(title(&place).as_deref(), Some("two"));
    place.assert_sound();
    session.set_session_name("Named").unwrap();
    assert_eq!(title(&place).as_deref(), Some("Named"));
    let listed: Value = json!(place.store.list(&leafline::list::SessionFilter::default()).unwrap());
    assert_eq!(listed[0]["title"], "Named");
    place.assert_sound();
}
