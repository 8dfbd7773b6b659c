//! `replace_path_segment`: the children in the middle, and what is refused.

use leafline::error::{LiveError, SessionError};
use leafline::opal::{OpalReader, OpalSession, ReplaceOptions};
use leafline::{Error, Family, NewSession, Session, Store, opal};
use serde_json::json;

use crate::{assert_sound, begun, imported, path, values};

/// a - b - c - d, x below b, y below c; the leaf is d.
const TREE: &str = r#"{"current_id":"d","metadata":{},"session_id":"s"}
{"id":"a","parent_id":null,"role":"user","content":"a","is_error":false}
{"id":"b","parent_id":"a","role":"assistant","content":"b","is_error":false}
{"id":"x","parent_id":"b","role":"user","content":"x","is_error":false}
{"id":"c","parent_id":"b","role":"user","content":"c","is_error":false}
{"id":"y","parent_id":"c","role":"assistant","content":"y","is_error":false,"n":1e3}
{"id":"d","parent_id":"c","role":"assistant","content":"d","is_error":false}
"#;

fn as_opal() -> ReplaceOptions {
    ReplaceOptions { keep_side_branches: false }
}

fn path_to(session: &Session, id: &str) -> Vec<String> {
    let mut ids = Vec::new();
    session
        .reader()
        .unwrap()
        .get_path_to(id, |entry| {
            ids.extend(entry.id());
            Ok(())
        })
        .unwrap();
    ids
}

fn summary() -> [opal::Draft; 1] {
    [opal::Draft::compaction_summary("a, b, c", &["a.ex"], &[])]
}

#[test]
fn children_in_the_middle_hang_from_the_replacement_or_from_nothing() {
    let store = imported(TREE);
    let mut session = store.session("s").unwrap();
    let new = session.replace_path_segment(&["b", "c"], summary(), ReplaceOptions::default());
    let new = new.unwrap().remove(0);
    assert_eq!(path(&session), ["a", &new, "d"]);
    assert_eq!(path_to(&session, "x"), ["a", &new, "x"]);
    assert_eq!(path_to(&session, "y"), ["a", &new, "y"]);
    assert_eq!(session.reader().unwrap().facts().orphans, 0);
    assert_sound(&store);

    let store = imported(TREE);
    let mut session = store.session("s").unwrap();
    let new = session.replace_path_segment(&["b", "c"], summary(), as_opal()).unwrap().remove(0);
    assert_eq!(path(&session), ["a", &new, "d"]);
    assert_eq!(path_to(&session, "x"), ["x"]);
    assert_eq!(path_to(&session, "y"), ["a", &new, "y"]);
    assert_eq!(
        session.reader().unwrap().get_message("x").unwrap().parent_id().as_deref(),
        Some("b")
    );
    assert_eq!(session.reader().unwrap().facts().orphans, 1);
    assert_sound(&store);
}

#[test]
fn replacements_stand_where_the_first_message_stood() {
    let store = imported(TREE);
    let mut session = store.session("s").unwrap();
    session.branch("c").unwrap();
    let drafts = ["one", "two"].map(opal::Draft::user);
    let new =
        session.replace_path_segment(&["a", "b", "c"], drafts, ReplaceOptions::default()).unwrap();
    let lines = values(&session);
    let ids: Vec<_> = lines[1..].iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&*new[0], &*new[1], "x", "y", "d"]);
    assert_eq!(lines[1]["parent_id"], json!(null));
    // The leaf was one of the messages.
    assert_eq!(lines[0]["current_id"], new[1].as_str());
    assert_eq!(path(&session), new);
    // Parents still come first, so that paths are found without reading every line.
    assert!(!session.reader().unwrap().facts().irregular);
    assert_sound(&store);
}

#[test]
fn what_is_no_part_of_a_path_is_refused_and_nothing_changes() {
    let store = imported(TREE);
    let mut session = store.session("s").unwrap();
    let refused = |session: &mut Session, ids: &[&str]| {
        let error = session.replace_path_segment(ids, summary(), ReplaceOptions::default());
        error.unwrap_err()
    };
    for (ids, problem) in [
        (&[][..], "none was given"),
        (&["a", "b", "a"], "\"a\" is number 1 and number 3"),
        (&["a", "c"], "\"c\", number 2, is not a child of \"a\", the one before it"),
        (&["b", "a"], "\"a\", number 2, is not a child of \"b\", the one before it"),
    ] {
        let error = refused(&mut session, ids);
        assert!(matches!(error, Error::Live(LiveError::NotASegment { .. })), "{error}");
        assert!(error.to_string().ends_with(problem), "{error}");
    }
    let error = refused(&mut session, &["a", "z"]);
    assert!(
        matches!(&error, Error::Session(SessionError::EntryNotFound { entry, .. }) if entry == "z"),
        "{error}"
    );
    let none: [opal::Draft; 0] = [];
    let error = session.replace_path_segment(&["a"], none, ReplaceOptions::default());
    assert!(matches!(error, Err(Error::Live(LiveError::InvalidEntry { .. }))), "{error:?}");
    assert_eq!(crate::exported(&session), TREE);
    assert_eq!(store.sessions().unwrap()[0].lines, 7);

    let mut new = NewSession::new(Family::Pi, "/work");
    new.persistence = Some(leafline::live::Persistence::keep_everything());
    let mut pi = store.create_session(&new).unwrap();
    let error = refused(&mut pi, &["a"]);
    assert!(
        matches!(error, Error::Session(SessionError::WrongFamily { family: Family::Pi, .. })),
        "{error}"
    );
}

#[test]
fn a_loop_is_no_path() {
    let store = imported(
        r#"{"metadata":{},"session_id":"s"}
{"id":"a","parent_id":"b","role":"user","content":"a"}
{"id":"b","parent_id":"a","role":"user","content":"b"}
"#,
    );
    let mut session = store.session("s").unwrap();
    let error = session
        .replace_path_segment(&["a", "b"], summary(), ReplaceOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("is one of them"), "{error}");
}

#[test]
fn of_an_id_met_twice_no_message_comes_back() {
    let store = imported(
        r#"{"metadata":{},"session_id":"s"}
{"id":"a","parent_id":null,"role":"user","content":"earlier"}
{"id":"b","parent_id":"a","role":"user","content":"b"}
{"id":"a","parent_id":null,"role":"user","content":"later"}
"#,
    );
    let mut session = store.session("s").unwrap();
    let new = session.replace_path_segment(&["a"], summary(), ReplaceOptions::default()).unwrap();
    assert!(matches!(
        session.reader().unwrap().get_message("a"),
        Err(Error::Session(SessionError::EntryNotFound { .. }))
    ));
    assert_eq!(path_to(&session, "b"), [&*new[0], "b"]);
    assert_eq!(session.reader().unwrap().facts().duplicates, 0);
    assert_sound(&store);
}

#[test]
fn other_handles_go_on_with_the_session() {
    let store = Store::in_memory().unwrap();
    let mut session = begun(&store);
    let mut other = store.session(session.id()).unwrap();
    let ids = session.append_many(["a", "b"].map(opal::Draft::user)).unwrap();
    let held = other.reader().unwrap();
    let new = session.replace_path_segment(&ids, summary(), ReplaceOptions::default()).unwrap();
    // A reader sees the session as of its creation; its handle sees the current one.
    assert_eq!(held.current_id().unwrap().as_ref(), ids.last());
    drop(held);
    let last = other.append(opal::Draft::user("c")).unwrap();
    assert_eq!(path(&session), [&*new[0], &*last]);
    let after = session.append(opal::Draft::user("d")).unwrap();
    assert_eq!(path(&other), [&*new[0], &*last, &*after]);
    assert_sound(&store);
}

/// Each replacement is made in a session that somebody else is continuing.
#[test]
fn what_others_append_meanwhile_is_not_lost() {
    let store = Store::in_memory().unwrap();
    let mut session = begun(&store);
    let first = session.append(opal::Draft::user("first")).unwrap();
    let mut other = store.session(session.id()).unwrap();
    let appended = std::thread::scope(|scope| {
        let appender = scope.spawn(move || {
            let mut appended = Vec::new();
            for n in 0..120 {
                appended.push(other.append(opal::Draft::user(&n.to_string())).unwrap());
            }
            appended
        });
        let mut root = first;
        let mut replaced = 0;
        while replaced == 0 || !appender.is_finished() {
            let new = session.replace_path_segment(&[&root], summary(), ReplaceOptions::default());
            match new {
                Ok(mut new) => root = new.remove(0),
                Err(Error::Live(LiveError::Contended { .. })) => {}
                Err(error) => panic!("{error}"),
            }
            replaced += 1;
        }
        let appended = appender.join().unwrap();
        assert_eq!(path(&session), [&[root][..], &appended].concat());
        appended
    });
    assert_eq!(session.reader().unwrap().facts().entries, appended.len() as u64 + 1);
    assert_eq!(store.sessions().unwrap().len(), 1);
    assert_sound(&store);
}

/// More lines than fit in one slice: the session is committed in parts, and visible only as a whole.
#[test]
fn a_long_session_is_written_again_in_parts() {
    let store = Store::in_memory().unwrap();
    let mut session = begun(&store);
    let text = "x".repeat(1000);
    let mut ids = Vec::new();
    for batch in 0..30 {
        let drafts = (0..1000).map(|n| opal::Draft::user(&format!("{batch} {n} {text}")));
        ids.extend(session.append_many(drafts).unwrap());
    }
    let before = store.statistics().unwrap().lines;
    let new = session
        .replace_path_segment(&ids[10..29_990], summary(), ReplaceOptions::default())
        .unwrap();
    let left = path(&session);
    assert_eq!(left, [&ids[..10], &new, &ids[29_990..]].concat());
    assert_eq!(before - store.statistics().unwrap().lines, 29_979);
    let kept = session.replace_path_segment(&ids[..1], summary(), as_opal()).unwrap();
    assert_eq!(path(&session)[0], kept[0]);
    assert_sound(&store);
}
