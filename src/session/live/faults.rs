//! Tests an Opal session when the disk fails in the middle of a change: it has its old or its new state, never anything
//! between.

use leafline_import::Family;
use leafline_import::opal::{Draft, ReplaceOptions};

use super::super::Entry;
use super::{NewSession, Session};
use crate::error::Result;
use crate::programs::opal::{OpalReader, OpalSession};
use crate::programs::pi::PiReader;
use crate::store::failing_disk::Disk;

/// The title, the messages under their parents, and the leaf, by their texts: ids differ each time.
fn observed(session: &Session) -> Vec<String> {
    let text = |entry: &Entry| entry.json().unwrap()["content"].to_string();
    let mut told = vec![format!("{:?}", session.reader().unwrap().get_metadata("title").unwrap())];
    session
        .reader()
        .unwrap()
        .get_entries(|entry| {
            let parent = entry
                .parent_id()
                .map(|id| text(&session.reader().unwrap().get_message(&id).unwrap()));
            told.push(format!("{} below {parent:?}", text(&entry)));
            Ok(true)
        })
        .unwrap();
    let leaf = session.reader().unwrap().get_leaf_entry().unwrap();
    told.push(format!("{:?}", leaf.as_ref().map(text)));
    told
}

/// Makes a change that fails after every possible number of writes, until it succeeds.
fn fails_everywhere(change: impl Fn(&mut Session, &[String]) -> Result<()>) {
    let disk = Disk::default();
    let (id, ids, before) = {
        let store = disk.open().unwrap();
        let mut session = store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
        let ids = session.append_many(["a", "b", "c", "d"].map(Draft::user)).unwrap();
        (session.id().to_owned(), ids, observed(&session))
    };
    let mut states = Vec::new();
    for left in 0.. {
        let failing = disk.copy();
        let changed = {
            // Opening also writes, and should not fail.
            let store = failing.open().unwrap();
            let mut session = store.session(&id).unwrap();
            failing.fail_after(left);
            change(&mut session, &ids)
        };
        let store = failing.copy().open().unwrap();
        let verification = store.verify().unwrap();
        assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
        assert_eq!(store.sessions().unwrap().len(), 1);
        states.push(observed(&store.session(&id).unwrap()));
        if changed.is_ok() {
            break;
        }
    }
    let after = states.last().cloned().unwrap_or_default();
    assert_ne!(after, before);
    // If the last flush fails, nobody knows what is on the disk: then, and only then, it may be the new state.
    let is_old = |state: &&Vec<String>| **state == before;
    let old = states.iter().take_while(is_old).count();
    assert!(old > 3 && states[old..].iter().all(|state| *state == after), "{states:#?}");
}

#[test]
fn a_replacement_that_fails_leaves_the_old_session() {
    fails_everywhere(|session, ids| {
        let summary = [Draft::compaction_summary("s", &[], &[])];
        session.replace_path_segment(&ids[1..3], summary, ReplaceOptions::default()).map(drop)
    });
}

#[test]
fn metadata_that_cannot_be_stored_leave_the_old_ones() {
    fails_everywhere(|session, _| session.set_metadata_value("title", &"T"));
}

#[test]
fn messages_that_cannot_be_stored_are_not_there() {
    fails_everywhere(|session, _| session.append_many(["e", "f"].map(Draft::user)).map(drop));
}

#[test]
fn a_deletion_takes_all_or_none_wherever_the_disk_fails() {
    let disk = Disk::default();
    let ids = {
        let store = disk.open().unwrap();
        [0, 1, 2].map(|_| {
            let new = NewSession::new(Family::Opal, "/work");
            let mut session = store.create_session(&new).unwrap();
            session.append(Draft::user("a")).unwrap();
            session.id().to_owned()
        })
    };
    let (mut failed, mut unswept) = (0, 0);
    for left in 0.. {
        let failing = disk.copy();
        let removed = {
            let store = failing.open().unwrap();
            failing.fail_after(left);
            store.remove_all(&ids[..2])
        };
        let store = failing.copy().open().unwrap();
        let verification = store.verify().unwrap();
        assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
        let there = store.sessions().unwrap().len();
        match removed {
            Ok(removed) => {
                assert_eq!((removed.len(), there), (2, 1));
                if removed.iter().all(|removed| removed.unswept.is_none()) {
                    break;
                }
                unswept += 1;
            }
            Err(_) => {
                assert!(there == 3 || there == 1, "{there} are there");
                failed += 1;
            }
        }
    }
    assert!(failed > 3 && unswept > 3, "{failed} failed, {unswept} are unswept");
}
