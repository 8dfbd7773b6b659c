//! Methods on sessions of other families, and arguments that name nothing.

use leafline::error::{Error, SessionError};
use leafline::omp::OmpSession;
use leafline::opal::OpalSession;
use leafline::pi::{Compaction, PiSession, PiStore};

use super::*;

type Call = fn(&mut Session, &str) -> leafline::Result<()>;

const NOTHING: Option<&Value> = None;

/// Each method that writes, the families that have it, and a call of it on a session with this entry.
const METHODS: [(&str, &[Family], Call); 15] = [
    ("append_thinking_level_change", &[Family::Pi, Family::Omp], |session, _| {
        session.append_thinking_level_change("high").map(drop)
    }),
    ("append_model_change", &[Family::Pi, Family::Omp], |session, _| {
        session.append_model_change("a", "b").map(drop)
    }),
    ("append_compaction", &[Family::Pi, Family::Omp], |session, entry| {
        session.append_compaction(&compaction(entry)).map(drop)
    }),
    ("append_custom_entry", &[Family::Pi, Family::Omp], |session, _| {
        session.append_custom_entry("x", NOTHING).map(drop)
    }),
    ("append_custom_message_entry", &[Family::Pi, Family::Omp], |session, _| {
        session.append_custom_message_entry("x", &"y", true, NOTHING).map(drop)
    }),
    ("append_session_info", &[Family::Pi, Family::Omp], |session, _| {
        session.append_session_info("name").map(drop)
    }),
    ("append_context_edit", &[Family::Pi], |session, entry| {
        session.append_context_edit(entry, NOTHING).map(drop)
    }),
    ("append_usage", &[Family::Pi], |session, _| {
        session.append_usage("x", "a", "b", &json!({}), None).map(drop)
    }),
    ("append_label_change", &[Family::Pi, Family::Omp], |session, entry| {
        session.append_label_change(entry, Some("x")).map(drop)
    }),
    ("append_role_model_change", &[Family::Omp], |session, _| {
        session.append_role_model_change("a/b", None).map(drop)
    }),
    ("append_mode_change", &[Family::Omp], |session, _| {
        session.append_mode_change("plan", NOTHING).map(drop)
    }),
    ("append_ttsr_injection", &[Family::Omp], |session, _| {
        session.append_ttsr_injection(&["a"]).map(drop)
    }),
    ("append_session_init", &[Family::Omp], |session, _| {
        session.append_session_init("s", "t", &["u"], NOTHING).map(drop)
    }),
    ("move_to", &[Family::Omp], |session, _| session.move_to("/elsewhere")),
    ("set_metadata_value", &[Family::Opal], |session, _| {
        session.set_metadata_value("key", &json!(1))
    }),
];

fn compaction(kept: &str) -> Compaction<'_> {
    Compaction { summary: "s", first_kept_entry_id: Some(kept), ..Compaction::default() }
}

#[test]
fn a_method_is_refused_in_sessions_of_other_families() {
    for family in [Family::Pi, Family::Omp, Family::Claude, Family::Opal] {
        let store = Store::in_memory().unwrap();
        let mut session = store.create_session(&keeping_everything(family)).unwrap();
        let entry = session.append_message(&user("Hi")).unwrap();
        for (name, families, call) in METHODS {
            let before = exported(&session);
            match call(&mut session, &entry) {
                Ok(()) => assert!(families.contains(&family), "{name} in {family}"),
                Err(Error::Session(SessionError::WrongFamily { .. })) => {
                    assert!(!families.contains(&family), "{name} in {family}");
                    assert_eq!(exported(&session), before, "{name} in {family}");
                }
                Err(error) => panic!("{name} in {family}: {error}"),
            }
        }
    }
    let store = Store::in_memory().unwrap();
    let refused = store.create_session(&keeping_everything(Family::Codex)).unwrap_err();
    assert!(matches!(refused, Error::Session(SessionError::WrongFamily { .. })), "{refused}");
}

#[test]
fn a_session_of_pi_is_not_begun_with_a_title() {
    let store = Store::in_memory().unwrap();
    let mut new = keeping_everything(Family::Pi);
    new.title = Some("A title".to_owned());
    for refused in [store.create_session(&new), store.create_deferred_session(&new)] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::Session(SessionError::WrongFamily { .. })), "{refused}");
    }
    assert!(store.sessions().unwrap().is_empty());
}

#[test]
fn a_compaction_keeps_entries_that_are_there() {
    for family in [Family::Pi, Family::Omp] {
        let store = Store::in_memory().unwrap();
        let mut session = store.create_session(&keeping_everything(family)).unwrap();
        let first = session.append_message(&user("Hi")).unwrap();
        let refused = session.append_compaction(&compaction("nope")).unwrap_err();
        let is_told = matches!(&refused, Error::Session(SessionError::EntryNotFound { entry, .. }) if entry == "nope");
        assert!(is_told, "{refused}");
        assert_eq!(path(&session), std::slice::from_ref(&first));
        session.append_compaction(&compaction(&first)).unwrap();
    }
}

#[test]
fn ids_of_new_sessions_are_checked() {
    let store = Store::in_memory().unwrap();
    for family in [Family::Pi, Family::Omp, Family::Claude, Family::Opal] {
        for id in ["", "../x", "a\\..\\b", "x\ny", "x\u{7f}", ".", ".."] {
            let mut new = keeping_everything(family);
            new.id = Some(id.to_owned());
            let refused = store.create_session(&new).unwrap_err();
            let is_told = matches!(refused, Error::Session(SessionError::InvalidId { .. }));
            assert!(is_told, "{id:?}: {refused}");
        }
    }
    assert!(store.sessions().unwrap().is_empty());
}

#[test]
fn an_error_names_what_was_asked_for() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Pi)).unwrap();
    session.append_message(&user("Hi")).unwrap();
    // Behind the end, and the header.
    for ordinal in [99_999, u64::MAX, 0] {
        let refused = session.reader().unwrap().branch_leaf(ordinal).unwrap_err();
        let is_told = matches!(refused, Error::Session(SessionError::EntryNotFound { .. }));
        assert!(is_told, "{refused}");
    }
    let refused = session.append_message(&json!({"content": "x"})).unwrap_err().to_string();
    assert_eq!(
        refused,
        "message of the message entry is an object without a role that is a string: an object whose role is a string is needed"
    );
    for (old, new) in [("", "/x"), ("/x", "")] {
        let refused = store.relocate(old, new).unwrap_err();
        assert!(matches!(refused, Error::Session(SessionError::EmptyDirectory)), "{refused}");
    }
    for debug in [format!("{session:?}"), format!("{:?}", session.reader().unwrap())] {
        assert!(debug.len() < 200 && debug.contains(session.id()), "{debug}");
    }
}
