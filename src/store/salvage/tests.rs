//! What is made of rows that are missing, or of no session.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use leafline_import::Family;
use redb::WriteTransaction;

use crate::catalog::import::ImportOptions;
use crate::error::Result;
use crate::pi::Draft;
use crate::salvage::RepairOptions;
use crate::session::Persistence;
use crate::store::journal::JOURNAL_ENDING;
use crate::store::{format, tables};
use crate::{NewSession, Session, Store};

/// A store of two sessions, of which the second has lost rows. Returns its path and the second one's id.
fn damaged(
    folder: &Path,
    damage: impl FnOnce(&WriteTransaction, u64) -> Result<()>,
) -> (PathBuf, String) {
    let path = folder.join("store");
    let store = Store::open(&path).unwrap();
    let source = folder.join("2026-02-16T10-20-30-400Z_of-a-file.jsonl");
    let lines = [
        r#"{"type":"session","version":3,"id":"of-a-file","timestamp":"2026-02-16T10:20:30.400Z","cwd":"/work"}"#,
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:20:31.000Z","message":{"role":"user","content":"one","timestamp":1}}"#,
        r#"{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-02-16T10:20:32.000Z","message":{"role":"user","content":"two","timestamp":2}}"#,
    ];
    std::fs::write(&source, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    drop(store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap());
    let options = ImportOptions::default();
    assert_eq!(store.import(&[source], &options, &mut ()).unwrap().imported, 1);
    let id = "of-a-file".to_owned();
    let key = store.snapshot().unwrap().key_of(id.as_bytes()).unwrap().unwrap();
    let transaction = store.begin_write().unwrap();
    damage(&transaction, key.raw()).unwrap();
    transaction.commit().unwrap();
    (path, id)
}

#[test]
fn a_leaf_that_is_lost_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = damaged(folder.path(), |transaction, key| {
        transaction.open_table(tables::LEAVES)?.remove(key)?;
        Ok(())
    });
    let new = folder.path().join("new");
    let mut salvage = Store::salvage(path, &new).unwrap();
    // Its file does not say what it was.
    salvage.import_sources(&new).unwrap();
    let [session] = &*salvage.damaged else { panic!("{salvage:?}") };
    assert_eq!((&session.id, session.missing.len()), (&id, 0));
    assert!(session.is_doubtful && !salvage.is_complete(), "{salvage:?}");
    assert_eq!(salvage.whole, 1);
}

#[test]
fn a_store_of_another_format_is_not_taken_for_a_damaged_one() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = damaged(folder.path(), |transaction, _| {
        transaction.open_table(tables::META)?.insert(format::NAME, 10)?;
        Ok(())
    });
    let before = std::fs::read(&path).unwrap();
    let new = folder.path().join("new");
    let options = RepairOptions { rebuild: true, ..RepairOptions::default() };
    let errors = [
        Store::salvage(&path, &new).map(drop).unwrap_err(),
        Store::repair(&path, &options).map(drop).unwrap_err(),
    ];
    assert!(errors.iter().all(|error| error.to_string().contains("has format 10")), "{errors:?}");
    assert!(!new.exists() && std::fs::read(&path).unwrap() == before);
}

#[test]
fn a_session_that_is_lost_comes_back_from_its_file_and_its_rows_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = damaged(folder.path(), |transaction, key| {
        transaction.open_table(tables::SESSIONS)?.remove(key)?;
        transaction.open_table(tables::LINES)?.remove((key, 0, 0))?;
        // As if the number of the next session were lost, too.
        transaction.open_table(tables::META)?.insert("next_session", key)?;
        Ok(())
    });
    let new = folder.path().join("new");
    let mut salvage = Store::salvage(path, &new).unwrap();
    assert_eq!((salvage.whole, &salvage.lost), (1, &vec![id.clone()]), "{salvage:?}");
    assert!(salvage.lost_sources.len() == 1 && !salvage.is_complete(), "{salvage:?}");
    {
        let store = Store::open(&new).unwrap();
        assert!(store.verify().unwrap().problems.is_empty());
        let session = store.create_session(&NewSession::new(Family::Pi, "/work")).unwrap();
        let found = session.reader().unwrap().get_entry("a1");
        assert!(found.is_err(), "an entry of the lost session: {found:?}");
    }
    salvage.import_sources(&new).unwrap();
    assert!(salvage.is_complete(), "{salvage:?}");
    let store = Store::open(&new).unwrap();
    assert_eq!(store.reader(&id).unwrap().facts().entries, 2);
    assert!(store.verify().unwrap().problems.is_empty());
}

#[test]
fn rows_of_no_session_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = damaged(folder.path(), |transaction, key| {
        transaction.open_table(tables::LEAVES)?.insert(key + 1, 0)?;
        Ok(())
    });
    let problems = Store::open(path).unwrap().verify().unwrap().problems;
    let kinds: Vec<&str> = problems.iter().map(|problem| problem.kind.as_str()).collect();
    assert_eq!(kinds, ["leaves"], "{problems:?}");
}

#[test]
fn a_session_whose_record_is_lost_keeps_the_id_that_led_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = damaged(folder.path(), |transaction, key| {
        transaction.open_table(tables::SESSIONS)?.remove(key)?;
        let mut ids = transaction.open_table(tables::SESSION_IDS)?;
        // A second one that claims the id.
        ids.remove(&b"of-a-file"[..])?;
        ids.insert(&b"of-a-file~2"[..], key)?;
        Ok(())
    });
    let new = folder.path().join("new");
    let salvage = Store::salvage(path, &new).unwrap();
    let [session] = &*salvage.damaged else { panic!("{salvage:?}") };
    assert_eq!(session.id, format!("{id}~2"));
    assert!(session.is_doubtful && salvage.problems.is_empty(), "{salvage:?}");
    let store = Store::open(&new).unwrap();
    assert_eq!(store.reader(&session.id).unwrap().facts().entries, 2);
}

#[test]
fn a_journal_that_cannot_be_read_is_told_and_keeps_nothing_from_being_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = damaged(folder.path(), |transaction, _| {
        transaction.open_table(tables::JOURNAL)?.remove(0)?;
        Ok(())
    });
    let journal = PathBuf::from(format!("{}{JOURNAL_ENDING}", path.display()));
    drop(std::fs::remove_file(&journal));
    std::fs::create_dir(&journal).unwrap();
    let salvage = Store::salvage(path, folder.path().join("new")).unwrap();
    assert!(salvage.journal.is_some() && salvage.whole == 2, "{salvage:?}");
}

#[test]
fn what_the_journal_alone_has_is_added_although_its_row_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::open(&path).unwrap();
    let new = |directory: &str| {
        let mut new = NewSession::new(Family::Pi, directory);
        new.persistence = Some(Persistence::keep_everything());
        store.create_session(&new).unwrap()
    };
    let (mut one, mut other) = (new("/one"), new("/other"));
    let append = |session: &mut Session, text: &str| {
        let message = serde_json::json!({ "role": "user", "content": text });
        session.append(Draft::message(&message.to_string()).unwrap()).unwrap()
    };
    let mut ids: Vec<String> = (0..8).map(|_| append(&mut one, "a")).collect();
    // These are folded in the background. What comes then is not, for as long.
    let folded = || store.committed().unwrap().journal_row().unwrap().folded.sequence;
    let begun = Instant::now();
    while folded() < 1 && begun.elapsed() < Duration::from_secs(600) {
        std::thread::sleep(Duration::from_millis(10));
    }
    ids.push(append(&mut one, "c"));
    ids.push(append(&mut one, "d"));
    let only = append(&mut other, "e");
    let before = folded();
    let transaction = store.begin_write().unwrap();
    // Its only one.
    transaction.open_table(tables::JOURNAL).unwrap().remove(0).unwrap();
    transaction.commit().unwrap();
    let damaged = folder.path().join("damaged");
    std::fs::copy(&path, &damaged).unwrap();
    let beside = |path: &Path| PathBuf::from(format!("{}{JOURNAL_ENDING}", path.display()));
    std::fs::copy(beside(&path), beside(&damaged)).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60) && before >= 1, "{before}");

    let salvaged = folder.path().join("new");
    let salvage = Store::salvage(&damaged, &salvaged).unwrap();
    assert!(salvage.journal.is_some() && !salvage.is_complete(), "{salvage:?}");
    let new = Store::open(&salvaged).unwrap();
    assert!(new.verify().unwrap().problems.is_empty());
    for (session, ids) in [(&one, &ids), (&other, &vec![only])] {
        let reader = new.reader(session.id()).unwrap();
        assert_eq!(reader.facts().entries, ids.len() as u64, "{salvage:?}");
        assert!(ids.iter().all(|id| reader.get_entry(id).is_ok()));
    }
    // Its journal is that of a store whose row is gone.
    std::mem::forget((one, other, store));
}
