//! Each terminal's last session.
//!
//! Guards against a terminal that continues somebody else's session, and against breadcrumbs that omp cannot follow.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::import::ImportOptions;
use leafline::live::Persistence;
use leafline::omp::Breadcrumbs;
use leafline::{Family, NewSession, Store};
use place::Place;
use serde_json::json;

const FILE: &str = concat!(
    r#"{"type":"session","version":3,"id":"imported","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work","title":"T"}"#,
    "\n",
);

fn new() -> NewSession {
    let mut new = NewSession::new(Family::Omp, "/work");
    new.persistence = Some(Persistence::keep_everything());
    new
}

/// Another session of the directory, newer than all others.
fn newest(store: &Store) -> String {
    let mut session = store.create_session(&new()).unwrap();
    session.append_message(&json!({"role": "user", "content": "Hi"})).unwrap();
    session.id().to_owned()
}

#[test]
fn each_terminal_goes_on_with_its_session() {
    let place = Place::new();
    let crumbs = Breadcrumbs::new(place.path("crumbs"));
    let (one, two) =
        (crumbs.clone().in_terminal(Some("pts-1")), crumbs.clone().in_terminal(Some("pts-2")));
    let first = one.create_session(&place.store, &new()).unwrap().id().to_owned();
    let second = two.create_session(&place.store, &new()).unwrap().id().to_owned();
    let third = newest(&place.store);
    let of = |crumbs: &Breadcrumbs| {
        crumbs.continue_recent(&place.store, &new()).unwrap().id().to_owned()
    };
    assert_eq!((of(&one), of(&two)), (first.clone(), second.clone()));
    let text = std::fs::read_to_string(place.path("crumbs/pts-1")).unwrap();
    assert_eq!(text, format!("/work\n{}#{first}\n", place.store.path().display()));

    // Switching is recorded; a terminal without a breadcrumb uses the latest session, and has a breadcrumb then.
    one.session(&place.store, &third, "/work").unwrap();
    assert_eq!(of(&one), third);
    let other = crumbs.clone().in_terminal(Some("pts-3"));
    assert!(other.read().unwrap().is_none());
    assert_eq!(of(&other), third);
    assert!(other.read().unwrap().unwrap().session_file.ends_with(&third));
    // No terminal: the latest session, and nothing is written.
    assert_eq!(of(&crumbs.in_terminal(None)), third);
    assert_eq!(std::fs::read_dir(place.path("crumbs")).unwrap().count(), 3);
}

#[test]
fn a_breadcrumb_counts_in_its_directory_for_a_session_that_is_there() {
    let place = Place::new();
    let crumbs = Breadcrumbs::new(place.path("crumbs")).in_terminal(Some("pts-1"));
    let first = crumbs.create_session(&place.store, &new()).unwrap().id().to_owned();
    let mut elsewhere = new();
    elsewhere.cwd = "/elsewhere".to_owned();
    let other = crumbs.continue_recent(&place.store, &elsewhere).unwrap().id().to_owned();
    assert_ne!(other, first);
    let second = newest(&place.store);
    // The terminal's breadcrumb is of the other directory by now.
    assert_eq!(crumbs.continue_recent(&place.store, &new()).unwrap().id(), second);

    crumbs.session(&place.store, &first, "/work").unwrap();
    place.store.remove(&first).unwrap();
    assert_eq!(crumbs.continue_recent(&place.store, &new()).unwrap().id(), second);
    let mut pi = new();
    pi.family = Family::Pi;
    let begun = crumbs.continue_recent(&place.store, &pi).unwrap();
    assert_ne!(begun.id(), second);
}

#[test]
fn breadcrumbs_of_omps_lead_to_imported_sessions() {
    let place = Place::new();
    let file = place.write("sessions/imported.jsonl", FILE);
    place.store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    newest(&place.store);
    let crumb = format!("/work\n{}\n", file.display());
    place.write("crumbs/tmux-%1", &crumb);
    let crumbs = Breadcrumbs::new(place.path("crumbs")).in_terminal(Some("tmux-%1"));
    assert_eq!(crumbs.continue_recent(&place.store, &new()).unwrap().id(), "imported");
    // omp can follow our breadcrumb back to the file, as long as that exists.
    assert_eq!(std::fs::read_to_string(place.path("crumbs/tmux-%1")).unwrap(), crumb);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(crumbs.continue_recent(&place.store, &new()).unwrap().id(), "imported");
    assert!(crumbs.read().unwrap().unwrap().session_file.ends_with("#imported"));
    assert_eq!(crumbs.continue_recent(&place.store, &new()).unwrap().id(), "imported");
}

#[test]
fn odd_breadcrumbs_are_none() {
    let place = Place::new();
    let crumbs = Breadcrumbs::new(place.path("crumbs")).in_terminal(Some("pts-1"));
    let crumb = place.path("crumbs/pts-1");
    std::fs::create_dir(place.path("crumbs")).unwrap();
    let id = newest(&place.store);
    let store = place.store.path().display().to_string();
    let whole = store.clone() + "#" + &id;
    for text in [
        b"".as_slice(),
        b"/work",
        b"\n\n\n",
        b"/work\n\xff\xfe\n",
        b"/work\n/nowhere.jsonl\n",
        format!("/work\n{store}#\n").as_bytes(),
        format!("/work\n{}\n", &whole[..whole.len() - 4]).as_bytes(),
        "x".repeat(1 << 20).as_bytes(),
    ] {
        std::fs::write(&crumb, text).unwrap();
        assert_eq!(crumbs.continue_recent(&place.store, &new()).unwrap().id(), id);
    }
    // A directory or a session that does not fit on a line leaves none.
    let mut odd = new();
    odd.cwd = "/work\nelse".to_owned();
    let session = place.store.create_session(&odd).unwrap();
    assert!(!crumbs.write(&odd.cwd, &session).unwrap());
    let memory = Store::in_memory().unwrap();
    let session = memory.create_session(&new()).unwrap();
    assert!(!crumbs.write("/work", &session).unwrap());
}

#[test]
fn a_breadcrumb_never_takes_the_place_of_a_store() {
    let place = Place::new();
    let crumb = place.write("crumbs/pts-1", "");
    std::fs::remove_file(&crumb).unwrap();
    std::fs::hard_link(place.store.path(), &crumb).unwrap();
    let crumbs = Breadcrumbs::new(place.path("crumbs")).in_terminal(Some("pts-1"));
    let session = place.store.create_session(&new()).unwrap();
    let before = std::fs::metadata(&crumb).unwrap().len();
    assert!(!crumbs.write("/work", &session).unwrap(), "a file that is no breadcrumb stays");
    assert_eq!(std::fs::metadata(&crumb).unwrap().len(), before);
    place.assert_sound();
}

#[test]
fn an_id_with_a_slash_is_a_file_in_a_folder() {
    let place = Place::new();
    let crumbs = Breadcrumbs::new(place.path("crumbs"));
    let session = place.store.session(&newest(&place.store)).unwrap();
    let here = crumbs.clone().in_terminal(Some("apple-x/y"));
    assert!(here.write("/work", &session).unwrap());
    assert!(place.path("crumbs/apple-x/y").is_file());
    assert_eq!(here.read().unwrap().unwrap().cwd, "/work");
    // What another terminal has there is not touched.
    assert!(!crumbs.clone().in_terminal(Some("apple-x")).write("/work", &session).unwrap());
    assert_eq!(crumbs.clone().in_terminal(Some("apple-x")).read().unwrap(), None);
    let below = crumbs.clone().in_terminal(Some("apple-x/y/z"));
    assert!(!below.write("/work", &session).unwrap());
    assert_eq!(below.read().unwrap(), None);
    // None leads out of the folder.
    for id in ["../out", "apple-x/../../out", "/out"] {
        let outside = crumbs.clone().in_terminal(Some(id));
        assert!(!outside.write("/work", &session).unwrap(), "{id:?}");
        assert_eq!(outside.read().unwrap(), None);
    }
}

#[test]
#[cfg(unix)]
fn what_others_put_in_its_place_is_not_followed() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let crumbs = Breadcrumbs::new(place.path("crumbs"));
    let session = place.store.session(&newest(&place.store)).unwrap();
    let real = crumbs.clone().in_terminal(Some("pts-1"));
    assert!(real.write("/work", &session).unwrap());
    let crumb = place.path("crumbs/pts-1");
    let theirs = place.path("theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::rename(&crumb, theirs.join("pts-1")).unwrap();
    let before = std::fs::read(theirs.join("pts-1")).unwrap();
    symlink(theirs.join("pts-1"), &crumb).unwrap();
    symlink(&theirs, place.path("crumbs/apple-x")).unwrap();
    symlink("/dev/zero", place.path("crumbs/pts-2")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(place.path("crumbs/pts-3")).status();
    assert!(pipe.unwrap().success());
    for terminal in ["pts-1", "pts-2", "pts-3", "apple-x/pts-1", "apple-x/new"] {
        let here = crumbs.clone().in_terminal(Some(terminal));
        assert_eq!(here.read().unwrap(), None, "{terminal}");
        assert!(!here.write("/elsewhere", &session).unwrap(), "{terminal}");
        here.continue_recent(&place.store, &new()).unwrap();
    }
    assert_eq!(std::fs::read(theirs.join("pts-1")).unwrap(), before);
    assert_eq!(std::fs::read_dir(&theirs).unwrap().count(), 1);
}
