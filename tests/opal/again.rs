//! Files that are imported again after their session continued in the store.

use leafline::import::{ImportOptions, ImportStatus};
use leafline::opal::{self, OpalSession, ReplaceOptions};

use crate::place::Place;
use crate::{exported, path};

const FILE: &str = r#"{"metadata":{"title":"T"},"current_id":"m2","session_id":"s"}
{"id":"m2","parent_id":"m1","role":"assistant","content":"Which one?","is_error":false}
{"role":"user","id":"m1","parent_id":null,"content":"fix the bug","is_error":false}
"#;

fn assert_later(place: &Place, file: &std::path::Path) {
    let report = place.import(file);
    assert_eq!(report.status, ImportStatus::Unchanged, "{report:?}");
    assert!(
        report.reason.as_deref().is_some_and(|text| text.contains("later state")),
        "{report:?}"
    );
    assert_eq!(place.store.sessions().unwrap().len(), 1);
}

#[test]
fn the_original_is_known_whatever_became_of_the_session() {
    let place = Place::new();
    let file = place.write("s.jsonl", FILE);
    let copy = place.write("elsewhere/s.jsonl", FILE);
    place.import(&file);
    let mut session = place.store.session("s").unwrap();
    session.branch("m1").unwrap();
    assert_later(&place, &file);
    session.set_session_name("U").unwrap();
    assert_later(&place, &file);
    session.append(opal::Draft::user("on")).unwrap();
    assert_later(&place, &file);
    session
        .replace_path_segment(&["m1"], [opal::Draft::user("sum")], ReplaceOptions::default())
        .unwrap();
    let before = exported(&session);
    assert_later(&place, &file);
    assert_later(&place, &copy);
    assert_eq!(exported(&session), before);
    place.assert_sound();
}

#[test]
fn an_export_is_known_as_the_state_that_is_there_or_as_an_earlier_one() {
    let place = Place::new();
    let file = place.write("s.jsonl", FILE);
    place.import(&file);
    let mut session = place.store.session("s").unwrap();
    session.append(opal::Draft::user("on")).unwrap();
    let export = place.write("export/s.jsonl", exported(&session));
    let report = place.import(&export);
    assert_eq!((report.status, report.reason), (ImportStatus::Unchanged, None));
    session.append(opal::Draft::user("and on")).unwrap();
    assert_later(&place, &export);
    let unseen = place.write("unseen/s.jsonl", std::fs::read(&export).unwrap());
    assert_later(&place, &unseen);
    assert_later(&place, &file);
}

#[test]
fn an_export_over_the_original_is_known_after_a_replacement() {
    let place = Place::new();
    let file = place.write("s.jsonl", FILE);
    place.import(&file);
    let mut session = place.store.session("s").unwrap();
    session.append(opal::Draft::user("on")).unwrap();
    std::fs::write(&file, exported(&session)).unwrap();
    assert_eq!(place.import(&file).reason, None);
    session
        .replace_path_segment(&["m1", "m2"], [opal::Draft::user("sum")], ReplaceOptions::default())
        .unwrap();
    assert_later(&place, &file);
    place.assert_sound();
}

/// What Opal makes of a file: lines and members in another order, and more of them.
fn went_on_in_opal(text: &str, leaf: &str) -> String {
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.reverse();
    let header = r#"{"session_id":"s","current_id":"new","metadata":{"title":"V"}}"#;
    let new = format!(
        r#"{{"role":"user","id":"new","parent_id":"{leaf}","content":"from Opal","is_error":false}}"#
    );
    [&[header, &new][..], &lines, &[""]].concat().join("\n")
}

#[test]
fn a_file_that_went_on_in_opal_takes_the_place_where_nothing_is_lost() {
    for name in ["s.jsonl", "elsewhere/s.jsonl"] {
        let place = Place::new();
        let file = place.write("s.jsonl", FILE);
        place.import(&file);
        let mut session = place.store.session("s").unwrap();
        let leaf = session.append(opal::Draft::user("on")).unwrap();
        let export = exported(&session);
        let later = place.write(name, went_on_in_opal(&export, &leaf));
        let report = place.import(&later);
        assert_eq!(report.status, ImportStatus::Replaced, "{report:?}");
        assert_eq!(path(&session), ["m1", "m2", &leaf, "new"]);
        assert_eq!(place.exact("s"), std::fs::read(&later).unwrap());
        assert_eq!(place.store.sessions().unwrap().len(), 1);
        place.assert_sound();
    }
}

#[test]
fn a_grown_file_and_a_changed_session_are_merged() {
    let place = Place::new();
    let file = place.write("s.jsonl", FILE);
    place.import(&file);
    let mut session = place.store.session("s").unwrap();
    let on = session.append(opal::Draft::user("on")).unwrap();
    std::fs::write(&file, went_on_in_opal(FILE, "m2")).unwrap();
    let report = place.import(&file);
    assert_eq!(report.status, ImportStatus::Grown, "{report:?}");
    assert!(report.reason.unwrap().contains("merged"));
    assert_eq!(path(&session), ["m1", "m2", &on]);
    session.branch("new").unwrap();
    assert_eq!(path(&session), ["m1", "m2", "new"]);
    // Importing again changes nothing, wherever the file is.
    let elsewhere = place.write("elsewhere/s.jsonl", went_on_in_opal(FILE, "m2"));
    for file in [&file, &elsewhere, &file] {
        assert_eq!(place.import(file).status, ImportStatus::Unchanged);
    }
    assert_eq!(place.store.sessions().unwrap().len(), 1);
    place.assert_sound();

    // With the option to replace, the file's state is stored.
    let place = Place::new();
    let file = place.write("s.jsonl", FILE);
    place.import(&file);
    let mut session = place.store.session("s").unwrap();
    session.append(opal::Draft::user("on")).unwrap();
    std::fs::write(&file, went_on_in_opal(FILE, "m2")).unwrap();
    let options = ImportOptions { replace: true, ..ImportOptions::default() };
    assert_eq!(place.import_with(&file, &options).status, ImportStatus::Replaced);
    assert_eq!(path(&session), ["m1", "m2", "new"]);
    place.assert_sound();
}
