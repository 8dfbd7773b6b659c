//! Appending, branching, labelling.

use base64::Engine;
use leafline::error::SessionError;
use leafline::import::ImportOptions;
use leafline::omp::OmpSession;
use leafline::pi::{Compaction, Draft, PiSession};
use leafline::{Error, Family, Store};

use super::*;

#[test]
fn many_single_appends_are_sealed_and_stay_exact() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Pi)).unwrap();
    let mut expected = exported(&session);
    let mut ids = Vec::new();
    for number in 0..300 {
        let text = "words and more words ".repeat(number % 50);
        ids.push(session.append_message(&user(&text)).unwrap());
        if number % 40 == 39 {
            let now = exported(&session);
            assert!(now.starts_with(&expected), "what was there stays as it was");
            expected = now;
            assert_sound(&store);
        }
    }
    assert_eq!(path(&session), ids);
    let reader = session.reader().unwrap();
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(reader.get_entry(id).unwrap().ordinal(), number as u64 + 1);
    }
    assert!(chunks(&store) < 60, "{} chunks for 300 lines", chunks(&store));
}

/// Rows of the table of lines.
fn chunks(store: &Store) -> u64 {
    let tables = store.statistics().unwrap().tables;
    tables.iter().find(|table| table.name == "lines").unwrap().rows
}

#[test]
fn a_batch_seals_the_lines_before_it_and_is_not_written_again() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Pi)).unwrap();
    for number in 0..5 {
        session.append_message(&user(&number.to_string())).unwrap();
    }
    let many = (0..200).map(|number| {
        let text = format!("{number} ").repeat(100);
        Draft::message(&user(&text).to_string()).unwrap()
    });
    session.append_all(many).unwrap();
    let before = chunks(&store);
    session.append_message(&user("and one more")).unwrap();
    assert_eq!(chunks(&store), before + 1);
    assert_sound(&store);
}

#[test]
fn lines_that_are_long_for_their_images_alone_are_sealed() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Pi)).unwrap();
    for number in 0..40u8 {
        let image = base64::engine::general_purpose::STANDARD.encode(vec![number; 60_000]);
        let content = json!([{"type": "image", "mimeType": "image/png", "data": image}]);
        session.append_message(&json!({"role": "user", "content": content})).unwrap();
    }
    assert!(chunks(&store) < 20, "{} chunks for 41 short lines", chunks(&store));
    assert_eq!(store.statistics().unwrap().blobs.count, 40);
    assert_sound(&store);
}

#[test]
fn the_leaf_outlives_the_handle() {
    let place = tempfile::tempdir().unwrap();
    let path_of_store = place.path().join("store");
    let (id, first) = {
        let store = Store::open(&path_of_store).unwrap();
        let mut session = store.create_session(&keeping_everything(Family::Pi)).unwrap();
        let first = session.append_message(&user("a")).unwrap();
        session.append_message(&assistant("b")).unwrap();
        session.branch(&first).unwrap();
        (session.id().to_owned(), first)
    };
    let store = Store::open(&path_of_store).unwrap();
    let mut session = store.session(&id).unwrap();
    assert_eq!(leaf(&session), Some(first.clone()));
    let other = session.append_message(&user("c")).unwrap();
    assert_eq!(path(&session), [first.clone(), other]);
    session.reset_leaf().unwrap();
    let mut session = store.session(&id).unwrap();
    assert_eq!(leaf(&session), None);
    assert!(path(&session).is_empty());
    let root = session.append_message(&user("d")).unwrap();
    assert_eq!(path(&session), [root]);
    assert_eq!(session.reader().unwrap().get_children(None).unwrap().len(), 2);
    assert_eq!(session.reader().unwrap().get_children(Some(&first)).unwrap().len(), 2);
    assert!(matches!(
        session.branch("nowhere"),
        Err(Error::Session(SessionError::EntryNotFound { .. }))
    ));
    assert_sound(&store);
}

#[test]
fn a_batch_is_all_or_nothing() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Pi)).unwrap();
    let drafts = [
        Draft::message(&user("a").to_string()).unwrap(),
        Draft::thinking_level_change("high"),
        Draft::label("nowhere", Some("x")),
    ];
    assert!(matches!(
        session.append_all(drafts.clone()),
        Err(Error::Session(SessionError::EntryNotFound { .. }))
    ));
    assert_eq!(store.sessions().unwrap()[0].entries, 0);
    let ids = session.append_all(drafts[..2].to_vec()).unwrap();
    assert_eq!(path(&session), ids);
    let many =
        (0..5000).map(|number| Draft::message(&user(&number.to_string()).to_string()).unwrap());
    let ids = session.append_all(many).unwrap();
    assert_eq!(ids.len(), 5000);
    session.append_message(&user("and one more")).unwrap();
    assert_eq!(path(&session).len(), 5003);
    assert_sound(&store);
}

#[test]
fn a_handle_follows_a_session_that_an_import_replaces() {
    let place = place::Place::new();
    let old = concat!(
        r#"{"type":"session","id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi"}}"#,
        "\n"
    );
    let file = place.write("s.jsonl", old);
    place.import(&file);
    let mut session = place.store.session("s1").unwrap();
    assert_eq!(path(&session).len(), 1);
    place.write("s.jsonl", old.to_owned() + old.lines().last().unwrap() + "\n");
    assert_eq!(place.import(&file).status, leafline::import::ImportStatus::Grown);
    let ids = path(&session);
    assert_eq!(ids.len(), 2);
    session.get_entry(&ids[1]).unwrap();
    let last = session.append_message(&user("and on")).unwrap();
    assert_eq!(path(&session).last(), Some(&last));
    place.assert_sound();
    place.store.remove("s1").unwrap();
    assert!(matches!(
        session.append_message(&user("x")),
        Err(Error::Session(SessionError::NotFound { .. }))
    ));
    assert!(matches!(session.get_entry(&last), Err(Error::Session(SessionError::NotFound { .. }))));
}

#[test]
fn every_kind_of_entry_is_written() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Omp)).unwrap();
    let nothing: Option<&Value> = None;
    let first = session.append_message(&user("a")).unwrap();
    session.append_thinking_level_change("high").unwrap();
    session.append_model_change("anthropic", "claude-sonnet-4-5").unwrap();
    session.append_role_model_change("openai/gpt-4o", Some("plan")).unwrap();
    let compaction = Compaction {
        summary: "so far",
        short_summary: Some("short"),
        first_kept_entry_id: Some(&first),
        tokens_before: 42_000,
        ..Compaction::default()
    };
    session.append_compaction(&compaction).unwrap();
    session.append_custom_entry("state", Some(&json!({"count": 42}))).unwrap();
    session.append_custom_message_entry("note", &"text", true, nothing).unwrap();
    session.append_label_change(&first, Some("checkpoint")).unwrap();
    session.append_session_info("  a name  ").unwrap();
    session.append_mode_change("plan", Some(&json!({"planFile": "/tmp/plan.md"}))).unwrap();
    session.append_ttsr_injection(&["ruleA", "ruleB"]).unwrap();
    session.append_session_init("prompt", "task", &["read"], nothing).unwrap();
    session.branch_with_summary(Some(&first), "left", nothing, Some(true)).unwrap();
    session.branch_with_summary(None, "left again", nothing, None).unwrap();
    let text = exported(&session);
    let types: Vec<String> = text
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        types,
        [
            "session",
            "message",
            "thinking_level_change",
            "model_change",
            "model_change",
            "compaction",
            "custom",
            "custom_message",
            "label",
            "session_info",
            "mode_change",
            "ttsr_injection",
            "session_init",
            "branch_summary",
            "branch_summary"
        ]
    );
    // It is where the branch begins, not where the leaf was.
    assert!(text.contains(&format!(r#""parentId":"{first}","timestamp""#)));
    assert!(text.contains(&format!(r#""fromId":"{first}","summary":"left""#)));
    assert!(text.contains(r#""fromId":"root","summary":"left again""#));
    assert!(text.contains(r#""name":"a name""#));
    assert_eq!(store.sessions().unwrap()[0].title.as_deref(), Some("a name"));
    assert_sound(&store);
}

#[test]
fn an_imported_file_goes_on_where_it_ends() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("s.jsonl");
    let begun = concat!(
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#,
        "\n",
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi"}}"#
    );
    // The last line is complete except for its line feed.
    std::fs::write(&file, begun).unwrap();
    let store = Store::open(place.path().join("store")).unwrap();
    store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    let mut session = store.session("s1").unwrap();
    let id = session.append_message(&assistant("Hello")).unwrap();
    let text = exported(&session);
    assert!(text.starts_with(&format!("{begun}\n")));
    assert_eq!(path(&session), ["a1".to_owned(), id]);
    assert_sound(&store);
    // The original file is the beginning of the session.
    let totals = store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!((totals.unchanged, totals.failed), (1, 0));
    // A file with the appended lines and more continues the session.
    let grown = format!(
        "{text}{}\n",
        r#"{"type":"label","id":"b2","parentId":"a1","timestamp":"2026-02-16T10:22:00.000Z","targetId":"a1","label":"x"}"#
    );
    std::fs::write(&file, &grown).unwrap();
    let totals = store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!((totals.grown, totals.failed), (1, 0));
    assert_eq!(exported(&store.session("s1").unwrap()), grown);
    assert_sound(&store);
    // If the file continues differently, its lines come before those appended here.
    let mut session = store.session("s1").unwrap();
    session.append_message(&user("only here")).unwrap();
    std::fs::write(&file, format!("{grown}{}\n", r#"{"type":"message","id":"c3","parentId":"b2","timestamp":"2026-02-16T10:23:00.000Z","message":{"role":"user","content":"only there"}}"#)).unwrap();
    let totals = store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!((totals.grown, totals.failed), (1, 0));
    let merged = exported(&store.session("s1").unwrap());
    assert!(merged.starts_with(&std::fs::read_to_string(&file).unwrap()), "{merged}");
    assert_eq!(merged.matches("only here").count(), 1, "{merged}");
    assert_sound(&store);
}

/// A chunk with room is sealed with the following lines anyway; one without room is rewritten only for its last line.
#[test]
fn a_full_chunk_without_a_last_line_feed_is_not_joined_with_what_follows() {
    let place = place::Place::new();
    // Hardly compressible, so that the chunk is more than half full.
    let text: String = (0u64..2_000)
        .map(|number| format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let begun = format!(
        "{}\n{{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"timestamp\":\"2026-02-16T10:21:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}",
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#,
    );
    let file = place.write("s.jsonl", &begun);
    place.import(&file);
    let mut session = place.store.session("s1").unwrap();
    session.append_message(&assistant("Hello")).unwrap();
    place.assert_sound();
    let text = exported(&session);
    assert!(text.starts_with(&format!("{begun}\n")));
    assert_eq!(text.lines().count(), 3);
}
