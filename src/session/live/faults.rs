//! What becomes of a session of Opal's when the disk fails in the middle of a change: it is there as it was, or as it was to
//! be, and never anything between.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use leafline_import::Family;
use leafline_import::opal::{Draft, ReplaceOptions};
use redb::StorageBackend;

use super::super::Entry;
use super::{NewSession, Session};
use crate::error::Result;
use crate::store::Store;

/// Bytes in memory that take a number of writes, and then nothing any more.
#[derive(Debug, Clone, Default)]
struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Clone, Default)]
struct State {
    bytes: Vec<u8>,
    /// Writes that are left; no number is no end.
    left: Option<u32>,
}

impl Disk {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another disk with what is on this one, which fails after so many writes.
    fn copy(&self, left: Option<u32>) -> Self {
        let bytes = self.with(|state| state.bytes.clone());
        Self(Arc::new(Mutex::new(State { bytes, left })))
    }

    fn change<T>(&self, act: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        self.with(|state| {
            if let Some(left) = &mut state.left {
                *left = left.checked_sub(1).ok_or_else(|| io::Error::other("the disk is full"))?;
            }
            Ok(act(&mut state.bytes))
        })
    }
}

fn place(offset: u64, length: usize) -> std::ops::Range<usize> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    start..start.saturating_add(length)
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.with(|state| state.bytes.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|state| match state.bytes.get(place(offset, out.len())) {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        })
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.change(|bytes| bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|_| ())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(|bytes| match bytes.get_mut(place(offset, data.len())) {
            Some(place) => {
                place.copy_from_slice(data);
                Ok(())
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        })?
    }
}

/// The title, the messages under their parents, and the leaf, by their texts: ids are others each time.
fn told(session: &Session) -> Vec<String> {
    let text = |entry: &Entry| entry.json().unwrap()["content"].to_string();
    let mut told = vec![format!("{:?}", session.get_metadata("title").unwrap())];
    session
        .get_entries(|entry| {
            let parent = entry.parent_id().map(|id| text(&session.get_message(&id).unwrap()));
            told.push(format!("{} below {parent:?}", text(&entry)));
            Ok(true)
        })
        .unwrap();
    let leaf = session.get_leaf_entry().unwrap();
    told.push(format!("{:?}", leaf.as_ref().map(text)));
    told
}

/// Makes a change with every number of writes until it comes to its end.
fn fails_everywhere(change: impl Fn(&mut Session, &[String]) -> Result<()>) {
    let disk = Disk::default();
    let (id, ids, before) = {
        let store = Store::on(disk.clone()).unwrap();
        let mut session = store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
        let ids = session.append_many(["a", "b", "c", "d"].map(Draft::user)).unwrap();
        (session.id().to_owned(), ids, told(&session))
    };
    let mut states = Vec::new();
    for left in 0.. {
        let failing = disk.copy(None);
        let changed = {
            // Opening writes as well: that is not what is to fail.
            let store = Store::on(failing.clone()).unwrap();
            let mut session = store.session(&id).unwrap();
            failing.with(|state| state.left = Some(left));
            change(&mut session, &ids)
        };
        let store = Store::on(failing.copy(None)).unwrap();
        let verification = store.verify().unwrap();
        assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
        assert_eq!(store.sessions().unwrap().len(), 1);
        states.push(told(&store.session(&id).unwrap()));
        if changed.is_ok() {
            break;
        }
    }
    let after = states.last().cloned().unwrap_or_default();
    assert_ne!(after, before);
    // Where the last flush fails nobody knows what is on the disk: then, and only then, it may be the new state.
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
        let store = Store::on(disk.clone()).unwrap();
        [0, 1, 2].map(|_| {
            let new = NewSession::new(Family::Opal, "/work");
            let mut session = store.create_session(&new).unwrap();
            session.append(Draft::user("a")).unwrap();
            session.id().to_owned()
        })
    };
    let (mut failed, mut unswept) = (0, 0);
    for left in 0.. {
        let failing = disk.copy(None);
        let removed = {
            let store = Store::on(failing.clone()).unwrap();
            failing.with(|state| state.left = Some(left));
            store.remove_all(&ids[..2])
        };
        let store = Store::on(failing.copy(None)).unwrap();
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
