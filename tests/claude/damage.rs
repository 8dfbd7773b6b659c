//! Lines that contain several records, parts of one, or none: the tree continues over them, and the bytes stay.

use leafline::context::ContextLeaf;
use leafline::import::{ImportOptions, Recovery};

use crate::place::Place;
use crate::records::{assistant, children, file, path, place_of, user};

fn joined(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

fn line(record: &serde_json::Value) -> Vec<u8> {
    file(std::slice::from_ref(record))
}

/// A record without its line's end.
fn text(record: &serde_json::Value) -> Vec<u8> {
    record.to_string().into_bytes()
}

#[test]
fn several_records_on_one_line() {
    let bytes = joined(&[
        &line(&user("a", "")),
        &text(&assistant("b", "a", "m1")),
        &text(&user("c", "b")),
        &line(&assistant("d", "c", "m2")),
        &line(&user("e", "d")),
    ]);
    let place = place_of(&bytes);
    let reader = place.store.reader("s").unwrap();
    let facts = reader.facts();
    assert_eq!((facts.lines, facts.entries, facts.malformed, facts.recovered), (3, 5, 1, 3));
    assert_eq!(path(&reader, None), ["a", "b", "c", "d", "e"]);
    // Records that are whole have their text.
    let context = reader.build_context(ContextLeaf::Current, None).unwrap();
    assert_eq!(context.messages.len(), 5);
    assert_eq!(reader.get_entry("c").unwrap().line(), text(&user("c", "b")));
}

#[test]
fn torn_records_and_runs_of_nul_bytes() {
    let torn = text(&assistant("b", "a", "m1"));
    let bytes = joined(&[
        &line(&user("a", "")),
        br#"{"parentUuid":"a","type":"assistant","uuid":"b","sessionId":"s","message":{"content":"so"#,
        &line(&user("c", "b")),
        &[0; 300],
        &line(&user("d", "c")),
        &[0; 40],
        b"\n",
        &torn[..12],
        b"\n",
        b"\xff\xfe not JSON {\n",
        &line(&user("e", "d")),
        &text(&user("f", "e")),
    ]);
    let place = place_of(&bytes);
    let reader = place.store.reader("s").unwrap();
    assert_eq!(path(&reader, None), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(children(&reader, Some("e")), ["f"]);
    let remarks = place.store.verify().unwrap().remarks;
    let kinds: Vec<&str> = remarks.iter().map(|remark| remark.kind.as_str()).collect();
    assert_eq!(kinds, ["recovered", "malformed"], "{remarks:#?}");
    assert_eq!(remarks[0].count, 3);
    // The torn one says nothing.
    let context = reader.build_context(ContextLeaf::Current, None).unwrap();
    let messages: Vec<&[u64]> = context.messages.iter().map(|message| &*message.ordinals).collect();
    assert_eq!(messages.concat().len(), 5);
}

#[test]
fn the_programs_lose_what_hangs_on_a_malformed_line() {
    let bytes = joined(&[
        &line(&user("a", "")),
        &text(&user("b", "a")),
        &line(&user("c", "b")),
        &line(&user("d", "c")),
    ]);
    let place = Place::new();
    let file = place.write("s.jsonl", &bytes);
    let strict = ImportOptions { recovery: Recovery::None, ..ImportOptions::default() };
    place.import_with(&file, &strict);
    let reader = place.store.reader("s").unwrap();
    assert_eq!((path(&reader, None), reader.facts().orphans), (vec!["d".to_owned()], 1));
    place.assert_sound();
    assert!(place.exact("s") == bytes);
}

#[test]
fn lone_surrogates_and_bytes_that_are_no_text() {
    let bytes = joined(&[
        br#"{"type":"user","uuid":"\ud800","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"x\udc00"}}"#,
        b"\n",
        br#"{"type":"user","uuid":"\ud801","parentUuid":"\ud800","sessionId":"s","message":{"role":"user","content":""#,
        b"\xff\xc3\"}}\n",
        &line(&user("c", "a")),
        br#"{"type":"user","uuid":"d","parentUuid":"\ud801","sessionId":"s","message":{"role":"user","content":"y"}}"#,
        b"\r\n",
    ]);
    let place = place_of(&bytes);
    let reader = place.store.reader("s").unwrap();
    let names = path(&reader, None);
    assert!(names.len() == 3 && names[..2].iter().all(|name| name.starts_with('\u{fffd}')));
    // Two names that look alike are two entries.
    let tree = reader.get_tree().unwrap();
    let parents: Vec<_> = tree.nodes().iter().map(|node| node.parent).collect();
    assert_eq!(parents, [None, Some(0), None, Some(1)]);
    let json = reader.build_context(ContextLeaf::Current, None).unwrap().to_json();
    assert!(
        json.starts_with(
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"x\udc00\n"},{"type":"text","text":"��\n"},"#
        ),
        "{json}"
    );
}
