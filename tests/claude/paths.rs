//! Paths, their pages, and children.

use leafline::Error;
use leafline::error::SessionError;

use crate::records::{
    assistant, children, last_prompt, path, path_in_pages, place, place_of, record, summary, user,
};
use crate::records::{call, result};

#[test]
fn several_roots_and_the_order_of_the_file() {
    let place = place(&[
        summary("elsewhere", "Another session"),
        user("a", ""),
        call("b", "a", "m1"),
        record("progress", "g", "b"),
        result("r", "b"),
        user("c", ""),
        assistant("d", "r", "m2"),
        record("attachment", "t", "d"),
        assistant("e", "c", "m3"),
    ]);
    let reader = place.store.reader("s").unwrap();
    assert_eq!(path(&reader, None), ["c", "e"]);
    assert_eq!(path(&reader, Some("t")), ["a", "b", "r", "d", "t"]);
    assert_eq!(children(&reader, None), ["a", "c"]);
    assert_eq!(children(&reader, Some("b")), ["g", "r"]);
    assert_eq!(children(&reader, Some("t")), [""; 0]);
    for size in 1..6 {
        assert_eq!(path_in_pages(&reader, Some("t"), size), path(&reader, Some("t")), "{size}");
    }
    assert!(matches!(
        reader.get_path(Some("x"), |_| Ok(())),
        Err(Error::Session(SessionError::EntryNotFound { .. }))
    ));
}

#[test]
fn parents_that_come_later() {
    let place = place(&[
        assistant("c", "b", "m2"),
        assistant("b", "a", "m1"),
        user("a", ""),
        user("d", "c"),
    ]);
    let reader = place.store.reader("s").unwrap();
    assert!(reader.facts().irregular);
    assert_eq!(path(&reader, None), ["a", "b", "c", "d"]);
    assert_eq!(children(&reader, Some("a")), ["b"]);
    for size in 1..5 {
        assert_eq!(path_in_pages(&reader, None, size), ["a", "b", "c", "d"], "{size}");
    }
}

#[test]
fn loops_end_paths() {
    let place = place(&[
        user("a", "c"),
        assistant("b", "a", "m1"),
        user("c", "b"),
        assistant("d", "c", "m2"),
        user("own", "own"),
        user("e", "own"),
    ]);
    let reader = place.store.reader("s").unwrap();
    assert_eq!(path(&reader, Some("d")), ["a", "b", "c", "d"]);
    assert_eq!(path(&reader, Some("b")), ["c", "a", "b"]);
    assert_eq!(path(&reader, None), ["own", "e"]);
    assert_eq!(children(&reader, None), ["own"]);
    // Pages end at the loop's earliest line, whatever their size.
    for size in 1..5 {
        assert_eq!(path_in_pages(&reader, Some("b"), size), ["a", "b"], "{size}");
        assert_eq!(path_in_pages(&reader, Some("d"), size), ["a", "b", "c", "d"], "{size}");
    }
    let tree = reader.get_tree().unwrap();
    assert_eq!(tree.unreachable(), 4);
}

#[test]
fn of_copies_the_last_counts() {
    let place = place(&[
        user("a", ""),
        assistant("b", "a", "m1"),
        user("a", "x"),
        user("c", "b"),
        user("own", "own"),
        user("own", "c"),
        user("d", "own"),
    ]);
    let reader = place.store.reader("s").unwrap();
    assert_eq!(reader.get_entry("a").unwrap().ordinal(), 2);
    assert_eq!(path(&reader, Some("c")), ["a", "b", "c"]);
    assert_eq!(path(&reader, None), ["a", "b", "c", "own", "d"]);
    assert_eq!(children(&reader, None), ["a", "a", "own"]);
    assert_eq!(reader.facts().orphans, 2);
    assert_eq!(reader.facts().duplicates, 2);
}

#[test]
fn files_without_a_conversation() {
    let place = place(&[summary("x", "One"), summary("y", "Two")]);
    let reader = place.store.reader("s").unwrap();
    assert_eq!((path(&reader, None), children(&reader, None)), (vec![], vec![]));
    assert!(path_in_pages(&reader, None, 2).is_empty());
    assert_eq!(
        (reader.get_leaf().unwrap().is_none(), reader.get_tree().unwrap().branches()),
        (true, 0)
    );
    let empty = crate::place::Place::new();
    let report = empty.import(&empty.write("s.jsonl", b""));
    assert_eq!(report.refusal, Some(leafline::import::Refusal::NotASession), "{report:?}");
}

#[test]
fn the_leaf_is_not_the_end_of_the_file() {
    let records = [user("a", ""), assistant("b", "a", "m1"), user("c", "a"), last_prompt("b")];
    let place = place(&records);
    assert_eq!(path(&place.store.reader("s").unwrap(), None), ["a", "b"]);
}

#[test]
fn an_agents_file_whose_parent_is_missing() {
    let side = crate::records::side;
    let bytes = crate::records::file(&[
        side(assistant("b", "in-the-session", "m1")),
        side(result("c", "b")),
    ]);
    // Its last line lacks its end.
    let place = place_of(&bytes[..bytes.len() - 1]);
    let reader = place.store.reader("s").unwrap();
    assert!(reader.facts().agent.is_some());
    assert_eq!((path(&reader, None), reader.facts().orphans), (vec!["b".into(), "c".into()], 1));
}
