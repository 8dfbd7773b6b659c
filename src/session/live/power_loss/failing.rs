//! What becomes of appends when the system fails to write the journal, or the store while the journal is folded.

use std::path::{Path, PathBuf};

use leafline_import::Family;
use tempfile::TempDir;

use super::super::Session;
use super::Random;
use super::disk::{Kept, Moment};
use super::expected::{Told, found};
use super::worker::{begin, goes_on};
use crate::error::Result;
use crate::rights::Rights;
use crate::store::journal::{Areas, JournalFile, Room};
use crate::store::recorder::{self, Event, Fault, FileId, Record, STORE};
use crate::store::{Store, StoreOptions};

const ID: &str = "one";
const JOURNAL: FileId = FileId(1);

/// A store whose journal is in use, and what is recorded of them.
struct Scene {
    folder: TempDir,
    before: (Vec<u8>, Vec<u8>),
    record: Record,
    told: Told,
}

fn session(store: &Store) -> Session {
    store.session(ID).unwrap().with_persistence(goes_on())
}

fn append(session: &mut Session, text: &str) -> Result<String> {
    session.append_message(&serde_json::json!({"role": "user", "content": text, "timestamp": 1}))
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(super::memory()).unwrap();
        let path = folder.path().join("store");
        let store = Store::open(&path).unwrap();
        drop(begin(&store, ID, Family::Pi).unwrap());
        let journal = folder.path().join("store.journal");
        drop(
            JournalFile::make(
                &journal,
                store.number().unwrap(),
                (Areas::of_bytes(16 << 10), Room::Written),
                &Rights::at(&path).unwrap(),
                false,
            )
            .unwrap(),
        );
        drop(store);
        let before = (std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap());
        Self { record: recorder::record(&path), folder, before, told: Told::default() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Appends, which succeeds.
    fn append(&mut self, session: &mut Session) {
        self.told.add(append(session, "more").unwrap());
    }

    /// The files as they are after a loss of power now.
    fn left(&self, kept: Kept) -> TempDir {
        let left = tempfile::tempdir_in(super::memory()).unwrap();
        let mut moment = Moment::before(self.before.0.clone(), Some(self.before.1.clone()));
        for (number, event) in self.record.events().iter().enumerate() {
            moment.take(number, event);
        }
        moment.write(left.path(), &mut Random(1), kept);
        left
    }

    /// Whatever is lost, what was acknowledged is there.
    fn check(&self) {
        for kept in [Kept::All, Kept::None] {
            assert_eq!(there(self.left(kept).path()), self.told, "{kept:?}");
        }
    }
}

/// The session in a store, which is sound.
fn there(folder: &Path) -> Told {
    let store = Store::open(folder.join("store")).unwrap();
    assert!(store.verify().unwrap().problems.is_empty());
    found(&store).remove(ID).unwrap()
}

impl Drop for Scene {
    fn drop(&mut self) {
        recorder::end(&self.record);
    }
}

#[test]
fn what_a_failed_sync_leaves_goes_into_the_tables() {
    for fault in [Fault::Forgetful, Fault::Evicting] {
        for count in 0..4 {
            let mut scene = Scene::new();
            let store = Store::open(scene.path()).unwrap();
            let mut session = session(&store);
            // The first two begin the epoch.
            for _ in 0..2 + count {
                scene.append(&mut session);
            }
            scene.record.fail(JOURNAL, 0, fault);
            for _ in 0..5 {
                scene.append(&mut session);
                scene.check();
            }
            let row = store.committed().unwrap().journal_row().unwrap();
            assert_ne!(row.epoch, 0, "another epoch has begun");
        }
    }
}

#[test]
fn what_neither_the_journal_nor_the_tables_take_is_an_error() {
    for fault in [Fault::Forgetful, Fault::Evicting] {
        // In the middle of the commit, too.
        for writes in 0..4 {
            let mut scene = Scene::new();
            let store = Store::open(scene.path()).unwrap();
            let mut writer = session(&store);
            for _ in 0..3 {
                scene.append(&mut writer);
            }
            scene.record.fail(JOURNAL, 0, fault);
            scene.record.fail(STORE, writes, Fault::Full(100));
            let error = append(&mut writer, "lost").unwrap_err().to_string();
            assert!(error.contains("journal"), "{error}");
            // The engine has closed the store.
            assert!(append(&mut writer, "lost").is_err());
            let found = there(scene.left(Kept::None).path());
            assert_eq!(found.entries[..3], scene.told.entries[..]);
            drop((writer, store));
            let store = Store::open(scene.path()).unwrap();
            let mut session = session(&store);
            scene.told = super::expected::found(&store).remove(ID).unwrap();
            for _ in 0..4 {
                scene.append(&mut session);
                scene.check();
            }
        }
    }
}

#[test]
fn nobody_builds_on_what_another_process_could_not_write() {
    for fault in [Fault::Forgetful, Fault::Evicting] {
        // The other one has the journal open before, or opens it afterwards.
        for is_open in [true, false] {
            let mut scene = Scene::new();
            let stores = [0, 1].map(|_| Store::open(scene.path()).unwrap());
            let mut sessions = [session(&stores[0]), session(&stores[1])];
            for _ in 0..3 {
                scene.append(&mut sessions[0]);
            }
            if is_open {
                scene.append(&mut sessions[1]);
            }
            // The first one can write neither of its files, and stays open.
            scene.record.fail(JOURNAL, 0, fault);
            scene.record.fail(STORE, 0, Fault::Full(0));
            let error = append(&mut sessions[0], "in doubt").unwrap_err().to_string();
            assert!(error.contains("journal"), "{error}");
            // What it could not write may be there, and comes first then.
            let id = append(&mut sessions[1], "other").unwrap();
            let told = there(scene.left(Kept::None).path());
            assert!(told.entries.starts_with(&scene.told.entries));
            assert!(told.entries.len() - scene.told.entries.len() <= 2);
            assert_eq!(told.leaf, Some(id));
            scene.told = told;
            for _ in 0..5 {
                scene.append(&mut sessions[1]);
                scene.check();
            }
        }
    }
}

#[test]
fn a_record_for_which_there_is_no_room_is_an_error_and_the_next_one_is_in_its_place() {
    for room in [0, 1, 55, 56, 57, 150] {
        let mut scene = Scene::new();
        let store = Store::open(scene.path()).unwrap();
        let mut session = session(&store);
        for _ in 0..3 {
            scene.append(&mut session);
        }
        scene.record.fail(JOURNAL, 0, Fault::Full(room));
        let error = append(&mut session, "lost").unwrap_err();
        assert!(error.is_for_want_of_room(), "{error}");
        scene.check();
        for _ in 0..3 {
            scene.append(&mut session);
            scene.check();
        }
    }
}

#[test]
fn a_fold_that_fails_anywhere_loses_nothing() {
    let mut failed = 0;
    for writes in 0.. {
        let mut scene = Scene::new();
        let store = Store::open(scene.path()).unwrap();
        let mut session = session(&store);
        for _ in 0..6 {
            scene.append(&mut session);
        }
        scene.record.fail(STORE, writes, Fault::Full(2000));
        let folded = store.snapshot().map(drop);
        scene.check();
        if folded.is_ok() {
            break;
        }
        failed += 1;
        // The next one to open the store goes on.
        drop((session, store));
        let store = Store::open(scene.path()).unwrap();
        let mut session = super::failing::session(&store);
        scene.append(&mut session);
        scene.append(&mut session);
        scene.check();
    }
    assert!(failed > 5, "{failed}");
}

/// Checks that each entry is below the one before it.
fn check_chain(store: &Store) {
    let mut above = None;
    for (id, parent) in found(store).remove(ID).unwrap().entries {
        assert_eq!(parent, above);
        above = Some(id);
    }
}

#[test]
fn an_append_comes_after_what_a_killed_process_did_not_confirm() {
    let mut unconfirmed = 0;
    for writes in 0.. {
        let mut scene = Scene::new();
        let store = Store::open(scene.path()).unwrap();
        let mut writer = session(&store);
        for _ in 0..3 {
            scene.append(&mut writer);
        }
        let other = Store::open(scene.path()).unwrap();
        let mut killed = session(&other);
        scene.append(&mut killed);
        // In the tables. From some write on nothing more reaches the file.
        let large = "x".repeat(300 << 10);
        for after in 0..100 {
            scene.record.fail(STORE, writes + after, Fault::Full(0));
        }
        let is_done = append(&mut killed, &large).is_ok();
        drop((killed, other));
        scene.record.fail_no_more();
        unconfirmed += u32::from(store.has_unconfirmed_commit());
        append(&mut writer, "after it").unwrap();
        assert!(!store.has_unconfirmed_commit());
        append(&mut writer, "and after that").unwrap();
        check_chain(&store);
        assert!(store.verify().unwrap().problems.is_empty());
        if is_done {
            break;
        }
    }
    assert!(unconfirmed > 0);
}

#[test]
fn a_loss_of_power_while_a_lost_journal_is_given_up() {
    let mut scene = Scene::new();
    let store = Store::open(scene.path()).unwrap();
    let mut writer = session(&store);
    for _ in 0..2 {
        scene.append(&mut writer);
    }
    // In the journal alone, and lost with it.
    append(&mut writer, "lost").unwrap();
    let left = scene.left(Kept::None);
    let mut told = vec![scene.told.clone()];
    // It is looked for where it was made, too.
    drop((writer, store, scene));
    let path = left.path().join("store");
    std::fs::remove_file(left.path().join("store.journal")).unwrap();
    let before = std::fs::read(&path).unwrap();
    let record = recorder::record(&path);
    let options = StoreOptions { without_journal: true, ..StoreOptions::default() };
    {
        let store = Store::open_with(&path, &options).unwrap();
        let mut session = session(&store);
        for call in 0..4 {
            let mut now = told.last().unwrap().clone();
            now.add(append(&mut session, "more").unwrap());
            record.note(Event::Returned(call));
            told.push(now);
        }
    }
    let events = recorder::end(&record);
    let (mut random, mut refused) = (Random(1), 0);
    let mut moment = Moment::before(before, None);
    let mut returned = 0;
    for (number, event) in events.iter().enumerate() {
        moment.take(number, event);
        returned += usize::from(matches!(event, Event::Returned(_)));
        for kept in [Kept::All, Kept::None, Kept::Some] {
            let folder = tempfile::tempdir_in(super::memory()).unwrap();
            moment.write(folder.path(), &mut random, kept);
            let path = folder.path().join("store");
            // As long as it is not given up it is missed.
            if Store::open(&path).is_err() {
                assert_eq!(returned, 0);
                refused += 1;
            }
            drop(Store::open_with(&path, &options).unwrap());
            let there = there(folder.path());
            assert!(
                told[returned..].iter().take(2).any(|told| *told == there),
                "{number} {kept:?}"
            );
        }
    }
    assert!(refused > 3 && returned == 4, "{refused}");
}
