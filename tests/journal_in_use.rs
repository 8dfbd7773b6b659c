//! What becomes of acknowledged entries when something else cuts, overwrites, replaces or exchanges a journal.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::fs;
use std::path::{Path, PathBuf};

use leafline::Error;
use leafline::error::StoreError;
use leafline::live::Persistence;
use leafline::salvage::RepairOptions;
use leafline::{Family, NewSession, Result, Session, Store, StoreOptions, pi};
use tempfile::TempDir;

const ID: &str = "live";

/// Bytes of the journal's first page.
const PAGE: usize = 4096;

fn append(session: &mut Session, text: &str) -> Result<()> {
    let message = serde_json::json!({"role": "user", "content": text, "timestamp": 1});
    session.append(pi::Draft::message(&message.to_string())?).map(drop)
}

fn texts(store: &Store) -> Vec<String> {
    let mut texts = Vec::new();
    let reader = store.reader(ID).unwrap();
    let read = reader.get_entries(|entry| {
        let content = &entry.json().unwrap()["message"]["content"];
        texts.extend(content.as_str().map(str::to_owned));
        Ok(true)
    });
    read.unwrap();
    texts
}

fn journal_of(store: &Path) -> PathBuf {
    PathBuf::from(format!("{}.journal", store.display()))
}

/// A new store with a session, and its path.
fn new_store() -> (TempDir, PathBuf, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::open(&path).unwrap();
    let mut new = NewSession::new(Family::Pi, "/work");
    new.id = Some(ID.to_owned());
    new.persistence = Some(Persistence::keep_everything());
    let session = store.create_session(&new).unwrap();
    (folder, path, session)
}

fn open(path: &Path) -> Session {
    Store::open(path).unwrap().session(ID).unwrap().with_persistence(Persistence::keep_everything())
}

/// Appends until it fails, and notes what was acknowledged.
fn append_some(session: &mut Session, name: &str, count: usize, told: &mut Vec<String>) {
    for number in 0..count {
        let text = format!("{name} {number}");
        append(session, &text).unwrap();
        told.push(text);
    }
}

/// What something else may do to a journal's bytes, and its name.
type Change = (&'static str, fn(&Path));

fn changes() -> Vec<Change> {
    fn write_at(path: &Path, at: usize, bytes: &[u8]) {
        use std::io::{Seek, SeekFrom, Write};
        let mut file = fs::File::options().write(true).open(path).unwrap();
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(bytes).unwrap();
    }
    fn cut(path: &Path, length: u64) {
        fs::File::options().write(true).open(path).unwrap().set_len(length).unwrap();
    }
    vec![
        ("emptied", |path| cut(path, 0)),
        ("cut behind its first page", |path| cut(path, PAGE as u64)),
        ("cut in its records", |path| cut(path, 5000)),
        ("cut at its end", |path| cut(path, fs::metadata(path).unwrap().len() - 1)),
        ("longer", |path| cut(path, fs::metadata(path).unwrap().len() + 1)),
        ("emptied and filled up", |path| {
            let length = fs::metadata(path).unwrap().len();
            cut(path, 0);
            cut(path, length);
        }),
        ("its first bytes", |path| write_at(path, 0, b"something else")),
        ("its epoch", |path| write_at(path, 33, b"??")),
        ("its first page", |path| write_at(path, 0, &[0; PAGE])),
        ("another file's bytes", |path| fs::write(path, b"somebody's text\n").unwrap()),
        ("its records", |path| write_at(path, PAGE, &[0; 64 << 10])),
        ("all of it", |path| {
            let length = usize::try_from(fs::metadata(path).unwrap().len()).unwrap();
            write_at(path, 0, &vec![7; length]);
        }),
    ]
}

/// Repairs a store, or gives up a journal that cannot be told from another file: what was acknowledged is in the tables.
fn recovered(path: &Path) -> Store {
    match Store::repair(path, &RepairOptions::default()) {
        Ok(_) => Store::open(path).unwrap(),
        Err(error) => {
            assert!(matches!(error, Error::Store(StoreError::NoJournal { .. })), "{error}");
            fs::remove_file(journal_of(path)).unwrap();
            let options = StoreOptions { without_journal: true, ..StoreOptions::default() };
            Store::open_with(path, &options).unwrap()
        }
    }
}

/// Whatever is done to the journal under those who append: they fail, or go on without it, and lose nothing.
#[test]
fn a_writer_notices_that_its_journal_was_changed() {
    for (what, change) in changes() {
        for others in 0..2 {
            let (_folder, path, mut session) = new_store();
            let mut told = Vec::new();
            append_some(&mut session, "first", 4, &mut told);
            let mut writers = vec![session];
            for _ in 0..others {
                let mut other = open(&path);
                append_some(&mut other, "other", 3, &mut told);
                writers.push(other);
                append_some(&mut writers[0], "and first", 2, &mut told);
                // The last ones are those of another process than the one that notices first.
                append_some(&mut writers[1], "and other", 2, &mut told);
            }
            change(&journal_of(&path));
            let mut failed = 0;
            for writer in &mut writers {
                match append(writer, "later") {
                    Ok(()) => told.push("later".to_owned()),
                    Err(error) => {
                        assert!(matches!(error, Error::Corrupted(_)), "{what}: {error}");
                        assert!(error.to_string().contains("store.journal"), "{what}: {error}");
                        failed += 1;
                        assert!(append(writer, "again").is_err(), "{what}");
                    }
                }
            }
            let is_recovered = what == "its records";
            assert!(failed == writers.len() || is_recovered, "{what}: {failed} failed");
            drop(writers);
            let store = recovered(&path);
            let there = texts(&store);
            let missing: Vec<_> = told.iter().filter(|text| !there.contains(text)).collect();
            assert!(missing.is_empty(), "{what}, {others} others: {missing:?} are missing");
            assert!(store.verify().unwrap().problems.is_empty(), "{what}");
        }
    }
}

/// A process that does not append again puts what it knows into the tables when it closes the store.
#[test]
fn who_closes_the_store_saves_what_a_damaged_journal_had() {
    for (what, change) in changes() {
        let (_folder, path, mut session) = new_store();
        let mut told = Vec::new();
        append_some(&mut session, "first", 6, &mut told);
        change(&journal_of(&path));
        drop(session);
        assert_eq!(texts(&recovered(&path)), told, "{what}");
    }
}

#[cfg(unix)]
/// The other process has not read the records, so only the one that closes has them.
#[test]
fn a_process_that_is_not_the_last_saves_what_a_damaged_journal_had() {
    for (name, change) in changes() {
        let (_folder, path, mut session) = new_store();
        let mut told = Vec::new();
        append_some(&mut session, "first", 3, &mut told);
        let mut other = open(&path);
        append_some(&mut other, "other", 2, &mut told);
        append_some(&mut session, "and first", 2, &mut told);
        change(&journal_of(&path));
        drop(session);
        drop(other);
        assert_eq!(texts(&recovered(&path)), told, "{name}");
    }
}

#[test]
fn a_journal_that_was_replaced_or_moved_away_loses_nothing() {
    type Change = fn(&Path, &Path);
    let changes: [(&str, Change); 5] = [
        ("deleted", |journal, _| fs::remove_file(journal).unwrap()),
        ("moved away", |journal, other| fs::rename(journal, other).unwrap()),
        ("replaced by a copy", |journal, other| {
            fs::copy(journal, other).unwrap();
            fs::rename(other, journal).unwrap();
        }),
        ("moved away, and a copy put there", |journal, other| {
            fs::rename(journal, other).unwrap();
            fs::copy(other, journal).unwrap();
        }),
        ("replaced by another file", |journal, other| {
            fs::rename(journal, other).unwrap();
            fs::write(journal, "somebody's").unwrap();
        }),
    ];
    for (what, change) in changes {
        let (folder, path, mut session) = new_store();
        let mut other = open(&path);
        let mut told = Vec::new();
        for round in 0..3 {
            append_some(&mut session, &format!("{round}"), 2, &mut told);
            append_some(&mut other, &format!("{round} of the other"), 2, &mut told);
        }
        change(&journal_of(&path), &folder.path().join("elsewhere"));
        let mut failed = 0;
        for number in 0..4 {
            for writer in [&mut session, &mut other] {
                match append(writer, &format!("later {number}")) {
                    Ok(()) => told.push(format!("later {number}")),
                    Err(error) => {
                        let is_told =
                            matches!(error, Error::Store(StoreError::ForeignJournal { .. }));
                        assert!(is_told, "{what}: {error}");
                        failed += 1;
                    }
                }
            }
        }
        assert_eq!(failed > 0, what == "replaced by another file", "{what}");
        drop((session, other));
        if failed > 0 {
            assert_eq!(fs::read(journal_of(&path)).unwrap(), b"somebody's");
            fs::remove_file(journal_of(&path)).unwrap();
        }
        assert_eq!(texts(&Store::open(&path).unwrap()), told, "{what}");
    }
}

#[cfg(unix)]
#[test]
fn a_store_that_is_moved_with_its_journal_is_appended_to() {
    let (folder, path, mut session) = new_store();
    let mut told = Vec::new();
    append_some(&mut session, "before", 3, &mut told);
    let moved = folder.path().join("moved");
    fs::rename(&path, &moved).unwrap();
    fs::rename(journal_of(&path), journal_of(&moved)).unwrap();
    append_some(&mut session, "after", 3, &mut told);
    let mut other = open(&moved);
    append_some(&mut other, "other", 3, &mut told);
    append_some(&mut session, "and after", 2, &mut told);
    drop((session, other));
    assert_eq!(texts(&Store::open(&moved).unwrap()), told);
}

/// A store and its journal as a process leaves them that is killed.
struct Killed {
    store: Vec<u8>,
    journal: Vec<u8>,
}

impl Killed {
    fn of(path: &Path) -> Self {
        Self { store: fs::read(path).unwrap(), journal: fs::read(journal_of(path)).unwrap() }
    }
}

/// Two copies of a store, each of which a process appends to and is killed; and the store.
fn two_copies() -> (TempDir, [Killed; 2], Vec<u8>) {
    let (folder, path, mut session) = new_store();
    append_some(&mut session, "both", 5, &mut Vec::new());
    drop(session);
    let store = fs::read(&path).unwrap();
    let copies = [("one", 9), ("two", 18)].map(|(name, count)| {
        let copy = folder.path().join(name);
        fs::write(&copy, &store).unwrap();
        let mut session = open(&copy);
        append_some(&mut session, name, count, &mut Vec::new());
        let killed = Killed::of(&copy);
        // The tables name the journal's place, too.
        drop(session);
        fs::remove_file(&copy).unwrap();
        killed
    });
    (folder, copies, store)
}

/// What comes of opening a store and reading it.
fn tried(path: &Path, read_only: bool) -> Result<usize> {
    let options = StoreOptions { read_only, create: false, ..StoreOptions::default() };
    let store = Store::open_with(path, &options)?;
    store.sessions()?;
    Ok(texts(&store).len())
}

#[test]
fn the_journal_of_a_copy_is_refused() {
    let (folder, [one, two], closed) = two_copies();
    let path = folder.path().join("here");
    let put = |store: &[u8], journal: &[u8]| {
        fs::write(&path, store).unwrap();
        fs::write(journal_of(&path), journal).unwrap();
    };
    for (killed, other) in [(&one, &two), (&two, &one)] {
        for read_only in [true, false] {
            put(&killed.store, &other.journal);
            let error = tried(&path, read_only).unwrap_err();
            assert!(matches!(error, Error::Store(StoreError::NoJournal { .. })), "{error}");
            assert!(error.to_string().contains("continues another state"), "{error}");
            // So is that of one that was closed before.
            put(&closed, &other.journal);
            let error = tried(&path, read_only).unwrap_err();
            assert!(matches!(error, Error::Store(StoreError::JournalAhead { .. })), "{error}");
            assert!(fs::read(journal_of(&path)).unwrap() == other.journal, "it is left as it is");
        }
        // A salvage does not call it complete.
        put(&killed.store, &other.journal);
        let salvage = Store::salvage(&path, folder.path().join("new")).unwrap();
        assert!(salvage.journal.is_some(), "{salvage:?}");
        fs::remove_file(folder.path().join("new")).unwrap();
    }
    // It is given up if that is asked for.
    for store in [&one.store, &closed] {
        put(store, &two.journal);
        let options = StoreOptions { without_journal: true, ..StoreOptions::default() };
        drop(Store::open_with(&path, &options).unwrap());
        let mut session = open(&path);
        let before = texts(&Store::open(&path).unwrap()).len();
        append_some(&mut session, "again", 3, &mut Vec::new());
        drop(session);
        assert_eq!(tried(&path, false).unwrap(), before + 3);
    }
    for (killed, count) in [(&one, 14), (&two, 23)] {
        put(&killed.store, &killed.journal);
        assert_eq!(tried(&path, true).unwrap(), count);
        assert_eq!(tried(&path, false).unwrap(), count);
    }
}

#[test]
fn a_journal_of_an_earlier_epoch_is_refused() {
    let (folder, path, mut session) = new_store();
    let mut told = Vec::new();
    append_some(&mut session, "first", 8, &mut told);
    let first = Killed::of(&path);
    drop(session);
    let mut session = open(&path);
    append_some(&mut session, "second", 12, &mut told);
    let second = Killed::of(&path);
    drop(session);
    let left = folder.path().join("left");
    fs::remove_file(&path).unwrap();
    for read_only in [true, false] {
        fs::write(&left, &second.store).unwrap();
        fs::write(journal_of(&left), &first.journal).unwrap();
        assert!(tried(&left, read_only).is_err());
        // Nor does an earlier store take a later journal.
        fs::write(&left, &first.store).unwrap();
        fs::write(journal_of(&left), &second.journal).unwrap();
        assert!(tried(&left, read_only).is_err());
    }
    fs::write(&left, &second.store).unwrap();
    assert_eq!(texts(&Store::open(&left).unwrap()), told);
}

/// A copy of the store has ended the epoch; the process that began it has gone on.
#[test]
fn a_journal_that_went_on_after_a_copy_ended_its_epoch_is_refused() {
    let (folder, path, mut session) = new_store();
    append_some(&mut session, "first", 6, &mut Vec::new());
    let before = Killed::of(&path);
    append_some(&mut session, "second", 6, &mut Vec::new());
    let after = Killed::of(&path);
    let copy = folder.path().join("copy");
    fs::write(&copy, &before.store).unwrap();
    fs::write(journal_of(&copy), &before.journal).unwrap();
    assert_eq!(tried(&copy, false).unwrap(), 6);
    fs::write(journal_of(&copy), &after.journal).unwrap();
    let error = tried(&copy, false).unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::JournalAhead { .. })), "{error}");
    fs::write(journal_of(&copy), &before.journal).unwrap();
    assert_eq!(tried(&copy, false).unwrap(), 6);
    drop(session);
}

#[test]
fn a_new_store_takes_the_place_of_a_deleted_one() {
    let (_folder, path, mut session) = new_store();
    append_some(&mut session, "first", 5, &mut Vec::new());
    let killed = Killed::of(&path);
    drop(session);
    fs::remove_file(&path).unwrap();
    assert!(!journal_of(&path).exists());
    let store = Store::open(&path).unwrap();
    let mut new = NewSession::new(Family::Pi, "/work");
    new.id = Some(ID.to_owned());
    new.persistence = Some(Persistence::keep_everything());
    let mut session = store.create_session(&new).unwrap();
    append_some(&mut session, "new", 5, &mut Vec::new());
    drop((session, store));
    assert_eq!(texts(&Store::open(&path).unwrap()).len(), 5);
    // One that a killed process has left may hold entries.
    fs::remove_file(&path).unwrap();
    fs::write(journal_of(&path), &killed.journal).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::ForeignJournal { .. })), "{error}");
    assert!(!path.exists(), "no store is left");
    assert!(fs::read(journal_of(&path)).unwrap() == killed.journal);
    fs::write(&path, &killed.store).unwrap();
    assert_eq!(texts(&Store::open(&path).unwrap()).len(), 5);
}

#[test]
fn no_store_is_made_in_the_place_of_a_journal() {
    let (folder, path, session) = new_store();
    drop(session);
    let place = journal_of(&path);
    let error = Store::open(&place).unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::PlaceOfJournal { .. })), "{error}");
    assert!(!place.exists());
    Store::open(&path).unwrap();
    // Beside no store it is a name as any other; then that is the place of none.
    let other = folder.path().join("other.journal");
    drop(Store::open(&other).unwrap());
    assert!(Store::open(folder.path().join("other")).is_err());
    assert!(!folder.path().join("other").exists());
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_journals_place_is_refused_at_once() {
    let (_folder, path, session) = new_store();
    drop(session);
    let pipe = journal_of(&path);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (send, opened) = std::sync::mpsc::channel();
    let thread = path.clone();
    std::thread::spawn(move || {
        let refused = Store::open(&thread).map(drop);
        let read = tried(&thread, true);
        send.send((refused, read)).unwrap();
    });
    let (refused, read) =
        opened.recv_timeout(std::time::Duration::from_secs(60)).expect("it hangs");
    let error = refused.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::ForeignJournal { .. })), "{error}");
    assert!(error.to_string().contains("it is a pipe"), "{error}");
    assert_eq!(read.unwrap(), 0);
}

/// The owner, the group and the mode of a file.
#[cfg(unix)]
fn rights(path: &Path) -> (u32, u32, u32) {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::metadata(path).unwrap();
    (facts.uid(), facts.gid(), facts.mode() & 0o777)
}

#[cfg(unix)]
#[test]
fn the_journal_has_the_owner_and_the_mode_of_its_store() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path, session) = new_store();
    drop(session);
    for mode in [0o600, 0o640, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        // Only the administrator can write to a store of others.
        if std::os::unix::fs::chown(&path, Some(12_345), Some(12_346)).is_err() {
            eprintln!("not tried with another owner: this user cannot give files away");
        }
        for is_made in [true, false] {
            let mut session = open(&path);
            append_some(&mut session, "more", 3, &mut Vec::new());
            assert_eq!(rights(&journal_of(&path)), rights(&path));
            let mut closed = fs::read(journal_of(&path)).unwrap();
            // The epoch that it continues.
            closed[32..40].fill(0);
            drop(session);
            if is_made {
                fs::write(journal_of(&path), closed).unwrap();
                fs::set_permissions(journal_of(&path), fs::Permissions::from_mode(0o600)).unwrap();
                let _ = std::os::unix::fs::chown(journal_of(&path), Some(0), Some(0));
            }
        }
    }
}
