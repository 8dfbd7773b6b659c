//! When a session is stored.

use leafline::error::{LiveError, SessionError, StoreError};
use leafline::live::{Persistence, RepeatedIds};
use leafline::pi::{PiSession, PiStore};
use leafline::{Error, Family, NewSession, Store, StoreOptions};

use super::*;

#[test]
fn a_deferred_session_is_stored_with_its_first_assistant_message() {
    let store = Store::in_memory().unwrap();
    let new = as_of_pi("0.87.1");
    let mut session = store.create_deferred_session(&new).unwrap();
    let first = session.append_message(&user("Hello")).unwrap();
    session.append_label_change(&first, Some("start")).unwrap();
    session.append_thinking_level_change("high").unwrap();
    assert!(session.is_waiting());
    assert!(store.sessions().unwrap().is_empty());
    // All of it is visible through this handle.
    assert_eq!(path(&session).len(), 3);
    let before = exported(&session);
    session.branch(&first).unwrap();
    let last = session.append_message(&assistant("Hi")).unwrap();
    assert!(!session.is_waiting());
    let facts = store.sessions().unwrap().remove(0);
    assert_eq!((facts.entries, facts.first_prompt.as_deref()), (4, Some("Hello")));
    assert!(exported(&session).starts_with(&before));
    let again = store.session(session.id()).unwrap();
    assert_eq!(path(&again), [first.clone(), last]);
    assert_eq!(again.reader().unwrap().get_label(&first).unwrap().as_deref(), Some("start"));
    assert_sound(&store);
}

#[test]
fn images_of_omp_become_blobs_whenever_the_session_is_stored() {
    let store = Store::in_memory().unwrap();
    let mut new = NewSession::new(Family::Omp, "/work");
    let data = "QUJD".repeat(300);
    let image = json!({"type": "image", "mimeType": "image/png", "data": data});
    let message = json!({"role": "user", "content": [image]});
    let deferred = store.create_deferred_session(&new).unwrap();
    for mut session in [deferred, store.create_session(&new).unwrap()] {
        let id = session.append_message(&message).unwrap();
        session.append_message(&assistant("A picture")).unwrap();
        let branch = session.create_branched_session(&id).unwrap();
        let fork = store.fork_from(session.id(), "/work").unwrap();
        for session in [session, branch, fork] {
            let exported = exported(&session);
            assert!(!session.is_waiting() && exported.contains(r#""data":"blob:sha256:"#));
            assert!(!exported.contains(&data));
        }
    }
    new.persistence = Some(Persistence::keep_everything());
    let mut kept = store.create_session(&new).unwrap();
    kept.append_message(&message).unwrap();
    assert!(exported(&kept).contains(&data));
    assert_sound(&store);
}

/// A session whose moment of storing is that of a version of pi.
fn as_of_pi(version: &str) -> NewSession {
    let mut new = NewSession::new(Family::Pi, "/work");
    let mut persistence = Persistence::documented(Family::Pi);
    persistence.as_of = Some(version.parse().unwrap());
    new.persistence = Some(persistence);
    new
}

#[test]
fn the_version_of_pi_says_which_message_stores_a_session() {
    let newest = NewSession::new(Family::Pi, "/work");
    let of_omp = NewSession::new(Family::Omp, "/work");
    for (new, waits) in [
        (as_of_pi("0.98"), true),
        (as_of_pi("0.99"), false),
        (as_of_pi("1.6.0"), false),
        (newest, false),
        (of_omp, true),
    ] {
        let store = Store::in_memory().unwrap();
        let mut session = store.create_deferred_session(&new).unwrap();
        session.append_thinking_level_change("high").unwrap();
        assert!(session.is_waiting());
        let first = session.append_message(&user("Hello")).unwrap();
        assert_eq!(session.is_waiting(), waits, "{new:?}");
        let branch = session.create_deferred_branched_session(&first).unwrap();
        assert_eq!(branch.is_waiting(), waits, "{new:?}");
        session.append_message(&assistant("Hi")).unwrap();
        assert!(!session.is_waiting());
        assert_sound(&store);
    }
}

#[test]
fn a_deferred_session_that_cannot_be_stored_waits_as_it_was() {
    let raw = br#"{"type":"message","id":"raw","parentId":null,"message":{"role":"user","content":"Hi"}}"#;
    let store = Store::in_memory().unwrap();
    let mut new = NewSession::new(Family::Pi, "/work");
    new.id = Some("mine".to_owned());
    let mut session = store.create_deferred_session(&new).unwrap();
    let first = session.append_thinking_level_change("high").unwrap();
    let other = store.create_session(&new).unwrap();
    let before = exported(&session);
    for _ in 0..2 {
        let failures = [
            session.append_message(&user("lost")).map(drop),
            session.append_lines(raw, RepeatedIds::Add).map(drop),
            session.store_now(),
        ];
        for failure in failures {
            let error = failure.unwrap_err();
            assert!(matches!(error, Error::Session(SessionError::Exists { .. })), "{error}");
        }
        assert!(session.is_waiting());
        assert_eq!((exported(&session), path(&session)), (before.clone(), vec![first.clone()]));
    }
    store.remove(other.id()).unwrap();
    let second = session.append_message(&user("Hello")).unwrap();
    assert!(!session.is_waiting());
    assert_eq!(path(&store.session("mine").unwrap()), [first, second]);
    assert_sound(&store);
}

#[test]
fn a_waiting_session_can_be_stored_as_it_is() {
    let store = Store::in_memory().unwrap();
    let new = NewSession::new(Family::Omp, "/work");
    let mut session = store.create_deferred_session(&new).unwrap();
    let first = session.append_message(&user("Hello")).unwrap();
    session.append_message(&user("Are you there?")).unwrap();
    session.branch(&first).unwrap();
    session.store_now().unwrap();
    assert_eq!(leaf(&store.session(session.id()).unwrap()), Some(first));
    assert_sound(&store);
}

#[test]
fn a_session_is_stored_at_once() {
    let store = Store::in_memory().unwrap();
    let session = store.create_session(&NewSession::new(Family::Pi, "/work")).unwrap();
    assert_eq!(store.sessions().unwrap()[0].entries, 0);
    assert_eq!(leaf(&session), None);
    assert!(exported(&session).starts_with(r#"{"type":"session","version":3,"id":""#));
}

#[test]
fn an_entry_with_an_id_is_seen_by_other_handles_at_once() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    for family in [Family::Pi, Family::Omp, Family::Opal, Family::Claude] {
        let store = Store::open(&path).unwrap();
        let mut session = store.create_session(&NewSession::new(family, "/work")).unwrap();
        let first = session.append_message(&user("Hello")).unwrap();
        let other = Store::open(&path).unwrap();
        assert_eq!(leaf(&other.session(session.id()).unwrap()).as_ref(), Some(&first), "{family}");
        if family != Family::Opal {
            let branch = session.create_branched_session(&first).unwrap();
            assert_eq!(other.reader(branch.id()).unwrap().facts().messages, 1, "{family}");
        }
        let mut again = other.continue_recent(&NewSession::new(family, "/work")).unwrap();
        let second = again.append_message(&user("Are you there?")).unwrap();
        let continued = again.id().to_owned();
        drop((session, store, again, other));
        let store = Store::open(&path).unwrap();
        assert_eq!(leaf(&store.session(&continued).unwrap()), Some(second), "{family}");
        assert_sound(&store);
    }
}

#[test]
fn an_id_is_given_once() {
    let store = Store::in_memory().unwrap();
    let mut new = keeping_everything(Family::Pi);
    new.id = Some("mine".to_owned());
    store.create_session(&new).unwrap();
    assert!(matches!(store.create_session(&new), Err(Error::Session(SessionError::Exists { .. }))));
}

#[test]
fn omp_keeps_the_first_failure_to_store_and_pi_tries_again() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("store");
    let [id, of_pi] = {
        let store = Store::open(&path).unwrap();
        [Family::Omp, Family::Pi].map(|family| {
            store.create_session(&NewSession::new(family, "/work")).unwrap().id().to_owned()
        })
    };
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    let store = Store::open_with(&path, &options).unwrap();
    let mut session = store.session(&id).unwrap();
    // A wrong request is not a failure to store.
    assert!(matches!(
        session.append_message(&"text"),
        Err(Error::Live(LiveError::InvalidEntry { .. }))
    ));
    assert!(session.flush().is_ok());
    assert!(matches!(
        session.append_message(&user("a")),
        Err(Error::Store(StoreError::ReadOnly { .. }))
    ));
    for _ in 0..2 {
        let error = session.append_message(&user("b")).unwrap_err();
        assert!(matches!(&error, Error::Live(LiveError::Latched { .. })), "{error}");
        assert!(error.to_string().contains("cannot be written"), "{error}");
    }
    assert!(session.flush().is_err());
    let mut session = store.session(&of_pi).unwrap();
    for _ in 0..2 {
        assert!(matches!(
            session.append_message(&user("a")),
            Err(Error::Store(StoreError::ReadOnly { .. }))
        ));
    }
}

#[test]
fn the_newest_session_of_a_directory_is_continued() {
    let store = Store::in_memory().unwrap();
    let new = keeping_everything(Family::Pi);
    let first = store.continue_recent(&new).unwrap().id().to_owned();
    assert_eq!(store.continue_recent(&new).unwrap().id(), first);
    let mut elsewhere = new.clone();
    elsewhere.cwd = "/elsewhere".to_owned();
    assert_ne!(store.continue_recent(&elsewhere).unwrap().id(), first);
    let mut second = store.create_session(&new).unwrap();
    second.append_message(&json!({"role": "user", "content": "Hi"})).unwrap();
    assert_eq!(store.continue_recent(&new).unwrap().id(), second.id());
}

#[test]
fn going_on_with_the_last_session_stores_as_the_caller_says() {
    let store = Store::in_memory().unwrap();
    let begun = store.create_session(&keeping_everything(Family::Omp)).unwrap();
    let long = "x".repeat(600_000);
    let stored_length = |new: &NewSession| {
        let mut session = store.continue_recent(new).unwrap();
        assert_eq!(session.id(), begun.id());
        let id = session.append_message(&user(&long)).unwrap();
        session.get_entry(&id).unwrap().line().len()
    };
    let cwd = store.sessions().unwrap().remove(0).cwd.unwrap();
    // As omp does by default: long strings are cut.
    assert!(stored_length(&NewSession::new(Family::Omp, &*cwd)) < long.len());
    let mut whole = NewSession::new(Family::Omp, &*cwd);
    whole.persistence = Some(Persistence::keep_everything());
    assert!(stored_length(&whole) > long.len());
}
