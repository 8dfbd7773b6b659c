//! Forks, and sessions of a single branch.

use leafline::error::SessionError;
use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::pi::PiSession;
use leafline::{Error, Family, NewSession, Store};

use super::*;

#[test]
fn a_fork_has_every_entry_and_another_header() {
    let store = Store::in_memory().unwrap();
    let mut new = keeping_everything(Family::Omp);
    new.title = Some("kept".to_owned());
    let mut source = store.create_session(&new).unwrap();
    let first = source.append_message(&user("a")).unwrap();
    source.append_message(&assistant("b")).unwrap();
    source.branch(&first).unwrap();
    let last = source.append_message(&user("c")).unwrap();
    source.append_label_change(&first, Some("x")).unwrap();
    let fork = store.fork_from(source.id(), "/other").unwrap();
    let (header, rest) =
        exported(&fork).split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let text = exported(&source);
    assert_eq!(rest, text.split_once('\n').unwrap().1);
    // omp sets the title of the header that it has made.
    assert!(header.ends_with(r#","title":"kept"}"#), "{header}");
    let header: Value = serde_json::from_str(&header).unwrap();
    assert_eq!(header["cwd"], "/other");
    assert_eq!(header["parentSession"], source.id());
    assert_eq!(header["title"], "kept");
    assert_eq!(path(&fork)[..2], [first, last]);
    assert_sound(&store);
}

#[test]
fn a_fork_leaves_out_what_is_not_json() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("s.jsonl");
    std::fs::write(
        &file,
        concat!(
            r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#, "\n\n",
            r#"{"type":"message", "id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi","n":1.0}}"#, "\n",
            "{torn\n",
            r#"{"type":"message","id":"b2","parentId":"a1","timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"assistant","content":[]}}"#
        ),
    )
    .unwrap();
    let store = Store::open(place.path().join("store")).unwrap();
    store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    let fork = store.fork_from("s1", "/other").unwrap();
    let text = exported(&fork);
    assert_eq!(text.lines().count(), 3);
    assert!(text.contains(r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi","n":1}}"#));
    assert_eq!(path(&fork), ["a1", "b2"]);
    assert_sound(&store);
}

#[test]
fn a_branched_session_has_the_path_and_its_labels() {
    let store = Store::in_memory().unwrap();
    let mut source = store.create_session(&NewSession::new(Family::Pi, "/work")).unwrap();
    let first = source.append_message(&user("a")).unwrap();
    let second = source.append_message(&assistant("b")).unwrap();
    let third = source.append_message(&user("c")).unwrap();
    source.append_label_change(&second, Some("two")).unwrap();
    source.append_label_change(&first, Some("one")).unwrap();
    source.append_label_change(&second, Some("two again")).unwrap();
    source.branch(&first).unwrap();
    let elsewhere = source.append_message(&user("not on the path")).unwrap();
    source.append_label_change(&elsewhere, Some("three")).unwrap();
    let branched = source.create_branched_session(&third).unwrap();
    assert!(!branched.is_waiting());
    let ids = path(&branched);
    assert_eq!(ids[..3], [first.clone(), second.clone(), third]);
    assert_eq!(ids.len(), 5);
    let text = exported(&branched);
    let labels: Vec<(String, String)> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|value| value["type"] == "label")
        .map(|value| {
            (
                value["targetId"].as_str().unwrap().to_owned(),
                value["label"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(
        labels,
        [(second.clone(), "two again".to_owned()), (first.clone(), "one".to_owned())]
    );
    assert!(
        text.lines().next().unwrap().contains(&format!(r#""parentSession":"{}""#, source.id()))
    );
    assert!(matches!(
        source.create_branched_session("nowhere"),
        Err(Error::Session(SessionError::EntryNotFound { .. }))
    ));
    assert!(!source.create_branched_session(&first).unwrap().is_waiting());
    assert_eq!(store.sessions().unwrap().len(), 3);
    // For a host that asks for it, a path without an assistant waits for one, if pi of the session's version does.
    assert!(!source.create_deferred_branched_session(&first).unwrap().is_waiting());
    let mut persistence = Persistence::documented(Family::Pi);
    persistence.as_of = Some("0.87.1".parse().unwrap());
    let source = source.with_persistence(persistence);
    let mut waiting = source.create_deferred_branched_session(&first).unwrap();
    assert!(waiting.is_waiting());
    assert_eq!(store.sessions().unwrap().len(), 4);
    waiting.append_message(&assistant("now")).unwrap();
    assert_eq!(store.sessions().unwrap().len(), 5);
    assert!(!source.create_deferred_branched_session(&second).unwrap().is_waiting());
    assert_sound(&store);
}

#[test]
fn a_fork_of_omps_is_written_as_omp_writes() {
    let store = Store::in_memory().unwrap();
    // It keeps everything, as a file that was imported may have it.
    let mut source = store.create_session(&keeping_everything(Family::Omp)).unwrap();
    let image = "QUJD".repeat(400);
    source
        .append_message(&json!({
            "role": "user",
            "content": [{"type": "image", "mimeType": "image/png", "data": image}],
            "long": "l".repeat(500_001),
        }))
        .unwrap();
    source
        .append_message(&json!({"role": "assistant", "content": [], "partialJson": "{"}))
        .unwrap();
    assert!(exported(&source).contains(&image));
    let fork = exported(&store.fork_from(source.id(), "/other").unwrap());
    assert!(!fork.contains(&image) && !fork.contains("partialJson"));
    assert!(fork.contains(r#""data":"blob:sha256:"#));
    assert!(fork.contains(r#"l\n\n[Session persistence truncated large content]""#));
    assert_sound(&store);
    let mut portable = Vec::new();
    let fork = store.sessions().unwrap().into_iter().find(|facts| facts.id != source.id()).unwrap();
    store.reader(&fork.id).unwrap().export(&ExportMode::Portable, &mut portable).unwrap();
    assert!(String::from_utf8(portable).unwrap().contains(&image));
}

#[test]
fn the_parent_of_a_fork_is_the_file_that_pi_follows() {
    let place = place::Place::new();
    for (family, id) in [(Family::Pi, "p1"), (Family::Omp, "o1")] {
        let mut text = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}}"#
        );
        text += "\n";
        text += r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"assistant","content":[]}}"#;
        text += "\n";
        let file = place.write(&format!("{id}.jsonl"), text);
        let options = ImportOptions { family: Some(family), ..ImportOptions::default() };
        place.store.import(&[&file], &options, &mut ()).unwrap();
        let parent = |session: &Session| {
            let header = exported(session).lines().next().unwrap().to_owned();
            serde_json::from_str::<Value>(&header).unwrap()["parentSession"].clone()
        };
        let source = place.store.session(id).unwrap();
        let path = file.to_str().unwrap();
        let fork = place.store.fork_from(id, "/other").unwrap();
        assert_eq!(parent(&fork), if family == Family::Pi { path } else { id });
        assert_eq!(parent(&source.create_branched_session("a1").unwrap()), path);
        // Where the file is gone, the id is all there is.
        std::fs::remove_file(&file).unwrap();
        assert_eq!(parent(&place.store.fork_from(id, "/other").unwrap()), id);
        assert_eq!(parent(&source.create_branched_session("a1").unwrap()), id);
    }
}
