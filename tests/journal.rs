//! The journal beside a store: what readers see of it, and when it is refused.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use leafline::Error;
use leafline::error::StoreError;
use leafline::export::ExportMode;
use leafline::import::{ImportOptions, ImportStatus};
use leafline::live::Persistence;
use leafline::omp::OmpSession;
use leafline::opal::{OpalReader, OpalSession};
use leafline::salvage::RepairOptions;
use leafline::{Family, NewSession, Session, Store, StoreOptions, opal, pi};
use place::Reports;
use tempfile::TempDir;

/// A session with two entries, the second of which is in the journal alone.
struct Live {
    folder: TempDir,
    session: Session,
}

const ID: &str = "live";

impl Live {
    fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store")).unwrap();
        let mut new = NewSession::new(Family::Pi, "/work");
        new.id = Some(ID.to_owned());
        new.persistence = Some(Persistence::keep_everything());
        let mut session = store.create_session(&new).unwrap();
        for text in ["first", "second"] {
            append(&mut session, text);
        }
        let live = Self { folder, session };
        assert!(live.journal().exists());
        live
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("store.journal")
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Both files as a process leaves them that is killed now, in another folder.
    fn left(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(self.store(), folder.path().join("store")).unwrap();
        fs::copy(self.journal(), folder.path().join("store.journal")).unwrap();
        folder
    }
}

fn append(session: &mut Session, text: &str) -> String {
    session.append(pi::Draft::message(&message(text)).unwrap()).unwrap()
}

fn message(text: &str) -> String {
    serde_json::json!({"role": "user", "content": text, "timestamp": 1}).to_string()
}

fn texts(store: &Store) -> Vec<String> {
    texts_of(store, ID)
}

fn texts_of(store: &Store, id: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let reader = store.reader(id).unwrap();
    reader
        .get_entries(|entry| {
            let content = &entry.json().unwrap()["message"]["content"];
            texts.extend(content.as_str().map(str::to_owned));
            Ok(true)
        })
        .unwrap();
    texts
}

fn reading(path: &Path) -> Store {
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    Store::open_with(path, &options).unwrap()
}

#[test]
fn a_reader_sees_the_journal_and_writes_nothing() {
    let mut live = Live::begin();
    append(&mut live.session, "third");
    let files = || (fs::read(live.store()).unwrap(), fs::read(live.journal()).unwrap());
    let before = files();
    let reader = reading(&live.store());
    assert_eq!(texts(&reader), ["first", "second", "third"]);
    assert_eq!(reader.reader(ID).unwrap().get_leaf().unwrap().unwrap().ordinal(), 3);
    assert!(reader.verify().unwrap().problems.is_empty());
    assert!(before == files());
    // Each read sees what was acknowledged before it.
    for number in 0..20 {
        append(&mut live.session, &number.to_string());
        assert_eq!(texts(&reader).len(), 4 + number);
    }
    // Nor can anything be written through it.
    let error = reader.session(ID).unwrap().append(pi::Draft::message(&message("no")).unwrap());
    assert!(matches!(error, Err(Error::Store(StoreError::ReadOnly { .. }))), "{error:?}");
    assert_eq!(texts(&reader).len(), 23);
    // A view that is held stays as it was.
    let held = reader.reader(ID).unwrap();
    append(&mut live.session, "last");
    assert_eq!(held.get_leaf().unwrap().unwrap().ordinal(), 23);
    assert_eq!(texts(&reader).last().unwrap(), "last");
    drop(live.session);
    assert_eq!(texts(&reader).len(), 24);
}

#[test]
fn the_store_alone_has_all_once_it_is_closed() {
    let mut live = Live::begin();
    append(&mut live.session, "third");
    let Live { folder, session } = live;
    drop(session);
    assert!(!folder.path().join("store.journal").exists());
    let alone = tempfile::tempdir().unwrap();
    fs::copy(folder.path().join("store"), alone.path().join("store")).unwrap();
    let store = Store::open(alone.path().join("store")).unwrap();
    assert_eq!(texts(&store), ["first", "second", "third"]);
}

/// A journal as a process leaves it that is killed between closing and deleting it.
fn closed(journal: &Path) -> Vec<u8> {
    let mut bytes = fs::read(journal).unwrap();
    // The epoch that it continues.
    bytes[32..40].fill(0);
    bytes
}

#[test]
fn a_closed_journal_is_no_hindrance_to_an_older_copy_or_a_new_store() {
    let mut live = Live::begin();
    let (path, journal) = (live.store(), live.journal());
    let Live { folder, session } = live;
    drop(session);
    let older = fs::read(&path).unwrap();
    let session = Store::open(&path).unwrap().session(ID).unwrap();
    live = Live { folder, session };
    for number in 0..5 {
        append(&mut live.session, &number.to_string());
    }
    let closed = closed(&journal);
    drop(live.session);
    for is_new in [false, true] {
        if is_new {
            fs::remove_file(&path).unwrap();
        } else {
            fs::write(&path, &older).unwrap();
        }
        fs::write(&journal, &closed).unwrap();
        let store = Store::open(&path).unwrap();
        let mut session = if is_new {
            let mut new = NewSession::new(Family::Pi, "/work");
            new.id = Some(ID.to_owned());
            new.persistence = Some(Persistence::keep_everything());
            store.create_session(&new).unwrap()
        } else {
            assert_eq!(texts(&store), ["first", "second"]);
            assert_eq!(texts(&reading(&path)), ["first", "second"]);
            store.session(ID).unwrap()
        };
        for text in ["third", "fourth", "fifth"] {
            append(&mut session, text);
        }
        drop((session, store));
        assert!(!journal.exists());
        let there = texts(&Store::open(&path).unwrap());
        assert_eq!(there.last().unwrap(), "fifth");
        assert_eq!(there.len(), if is_new { 3 } else { 5 });
    }
}

#[test]
fn what_a_killed_process_left_is_taken_in() {
    let mut live = Live::begin();
    append(&mut live.session, "third");
    let left = live.left();
    let path = left.path().join("store");
    assert_eq!(texts(&reading(&path)), ["first", "second", "third"]);
    assert_eq!(texts(&Store::open(&path).unwrap()), ["first", "second", "third"]);
    // The store has all of it then.
    assert!(!left.path().join("store.journal").exists());
    assert_eq!(texts(&Store::open(&path).unwrap()), ["first", "second", "third"]);
}

#[test]
fn a_store_without_its_journal_is_refused() {
    let live = Live::begin();
    let left = live.left();
    let path = left.path().join("store");
    fs::rename(left.path().join("store.journal"), left.path().join("elsewhere")).unwrap();
    // The journal is looked for where it was, too: take that away.
    drop(live);
    for options in
        [true, false].map(|read_only| StoreOptions { read_only, ..StoreOptions::default() })
    {
        let refused =
            Store::open_with(&path, &options).and_then(|store| store.sessions().map(drop));
        assert!(matches!(refused, Err(Error::Store(StoreError::NoJournal { .. }))), "{refused:?}");
    }
    fs::rename(left.path().join("elsewhere"), left.path().join("store.journal")).unwrap();
    assert_eq!(texts(&Store::open(&path).unwrap()), ["first", "second"]);
}

#[test]
fn a_store_that_was_put_back_is_older_than_its_journal() {
    // While an epoch is open, and before it began.
    for is_open in [true, false] {
        let mut live = Live::begin();
        let old = live.folder.path().join("old");
        if !is_open {
            let store = live.store();
            let Live { folder, session } = live;
            drop(session);
            let session = Store::open(&store).unwrap().session(ID).unwrap();
            live = Live { folder, session };
        }
        fs::copy(live.store(), &old).unwrap();
        // Enough for the other area to be used, and this one again.
        let text = "x".repeat(100 << 10);
        for _ in 0..100 {
            append(&mut live.session, &text);
        }
        let left = live.left();
        let path = left.path().join("store");
        drop(live.session);
        fs::copy(&old, &path).unwrap();
        for read_only in [true, false] {
            let options = StoreOptions { read_only, ..StoreOptions::default() };
            let refused =
                Store::open_with(&path, &options).and_then(|store| store.sessions().map(drop));
            let Err(error @ Error::Store(StoreError::JournalAhead { .. })) = refused else {
                panic!("{is_open} {refused:?}");
            };
            assert!(error.to_string().contains("put back from a copy"), "{error}");
        }
    }
}

#[test]
fn what_a_lost_journal_had_can_be_given_up() {
    let mut live = Live::begin();
    let before = fs::read(live.store()).unwrap();
    append(&mut live.session, "third");
    let left = live.left();
    let path = left.path().join("store");
    drop(live);
    let options = StoreOptions { without_journal: true, ..StoreOptions::default() };
    // One that can be used is used.
    assert_eq!(texts(&Store::open_with(&path, &options).unwrap()), ["first", "second", "third"]);
    fs::write(&path, &before).unwrap();
    assert!(Store::open(&path).is_err());
    let store = Store::open_with(&path, &options).unwrap();
    assert_eq!(texts(&store), ["first", "second"]);
    let mut session = store.session(ID).unwrap();
    for text in ["again", "and again"] {
        append(&mut session, text);
    }
    drop((store, session));
    let store = Store::open(&path).unwrap();
    assert_eq!(texts(&store), ["first", "second", "again", "and again"]);
    assert!(store.verify().unwrap().problems.is_empty());
}

#[cfg(unix)]
#[test]
fn nothing_is_acknowledged_once_the_store_is_gone() {
    let mut live = Live::begin();
    append(&mut live.session, "third");
    fs::remove_file(live.store()).unwrap();
    for _ in 0..2 {
        let draft = pi::Draft::message(&message("lost")).unwrap();
        let error = live.session.append(draft).unwrap_err().to_string();
        assert!(error.contains("deleted") || error.contains("Previous I/O error"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn what_a_deleted_journal_had_goes_into_the_store() {
    let mut live = Live::begin();
    append(&mut live.session, "third");
    fs::remove_file(live.journal()).unwrap();
    append(&mut live.session, "fourth");
    let left = tempfile::tempdir().unwrap();
    fs::copy(live.store(), left.path().join("store")).unwrap();
    for number in 5..8 {
        append(&mut live.session, &number.to_string());
    }
    let Live { folder, session } = live;
    drop(session);
    let path = folder.path().join("store");
    assert_eq!(
        texts(&Store::open(&path).unwrap()),
        ["first", "second", "third", "fourth", "5", "6", "7"]
    );
    assert_eq!(texts(&Store::open(left.path().join("store")).unwrap()).len(), 4);
}

#[test]
fn a_file_in_the_journals_place_is_left_alone() {
    let other = Live::begin();
    let foreign = other.left().path().join("store.journal");
    let bytes = fs::read(other.journal()).unwrap();
    drop(foreign);
    for content in [b"somebody's".to_vec(), bytes] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        drop(Store::open(&path).unwrap());
        let journal = folder.path().join("store.journal");
        fs::write(&journal, &content).unwrap();
        let refused = Store::open(&path);
        assert!(
            matches!(refused, Err(Error::Store(StoreError::ForeignJournal { .. }))),
            "{refused:?}"
        );
        assert!(reading(&path).sessions().unwrap().is_empty());
        assert!(fs::read(&journal).unwrap() == content);
        fs::remove_file(&journal).unwrap();
        Store::open(&path).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn the_journal_is_its_users_alone_and_no_link_is_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let live = Live::begin();
    let mode = fs::metadata(live.journal()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    drop(Store::open(&path).unwrap());
    let target = folder.path().join("target");
    fs::write(&target, "precious").unwrap();
    symlink(&target, folder.path().join("store.journal")).unwrap();
    assert!(Store::open(&path).is_err());
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
}

#[test]
fn a_sync_and_an_append_lose_nothing_of_each_other() {
    let mut live = Live::begin();
    append(&mut live.session, "third");
    let store = Store::open(live.store()).unwrap();
    let file = live.folder.path().join("file.jsonl");
    let mut lines = Vec::new();
    store.reader(ID).unwrap().export(&ExportMode::Exact, &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap().replace(ID, "imported");
    fs::write(&file, &lines).unwrap();
    let sync = || {
        let mut reports = Reports::default();
        store.sync(&[&file], &ImportOptions::default(), &mut reports).unwrap();
        reports.0.remove(0).status
    };
    assert_eq!(sync(), ImportStatus::Imported);
    let mut imported = store.session("imported").unwrap();
    // The second is in the journal alone.
    append(&mut live.session, "before");
    for text in ["here", "here too"] {
        append(&mut imported, text);
    }
    let grown = lines.lines().last().unwrap().replace("third", "in the file");
    fs::write(&file, format!("{lines}{grown}\n")).unwrap();
    assert_eq!(sync(), ImportStatus::Grown);
    assert_eq!(
        texts_of(&store, "imported"),
        ["first", "second", "third", "in the file", "here", "here too"]
    );
    assert_eq!(texts(&store), ["first", "second", "third", "before"]);
}

/// Appends all the time.
fn append_until(store: &Store, stop: &AtomicBool) {
    let mut session = store.session(ID).unwrap();
    while !stop.load(Ordering::Relaxed) {
        append(&mut session, "small");
    }
}

#[test]
fn what_the_journal_cannot_hold_gets_its_turn_between_appends() {
    let live = Live::begin();
    let stop = AtomicBool::new(false);
    let large = "x".repeat(300 << 10);
    let [store, other] = [(); 2].map(|()| Store::open(live.store()).unwrap());
    std::thread::scope(|scope| {
        for store in [&store, &store, &store, &store, &other] {
            scope.spawn(|| append_until(store, &stop));
        }
        let (done, wait) = mpsc::channel();
        let (store, large) = (&store, &large);
        scope.spawn(move || {
            let mut session = store.session(ID).unwrap();
            for _ in 0..60 {
                append(&mut session, large);
            }
            done.send(()).unwrap();
        });
        let result = wait.recv_timeout(Duration::from_secs(600));
        stop.store(true, Ordering::Relaxed);
        result.expect("the appends of others do not stop");
    });
    let texts = texts_of(&store, ID);
    assert_eq!(texts.iter().filter(|text| **text == large).count(), 60);
}

/// The beginning of a session, and what the catalog says of it.
fn header(store: &Store) -> (String, Option<String>, Option<String>) {
    let mut text = Vec::new();
    store.reader(ID).unwrap().export(&ExportMode::Current, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let facts = store.sessions().unwrap().remove(0);
    let title = facts.title.map(|title| title.to_string());
    let header = text.lines().find(|line| line.contains("/work") || line.contains("/moved"));
    let created = header.unwrap().split("\"timestamp\"").next().unwrap().to_owned();
    (created, title, facts.cwd.map(|cwd| cwd.to_string()))
}

#[test]
fn names_and_directories_go_through_the_journal() {
    type Act<'a> = &'a dyn Fn(&mut Session);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let [store, other] = [Store::open(&path).unwrap(), Store::in_memory().unwrap()];
    let sessions = [&store, &other].map(|store| {
        let mut new = NewSession::new(Family::Omp, "/work");
        new.id = Some(ID.to_owned());
        new.persistence = Some(Persistence::keep_everything());
        store.create_session(&new).unwrap()
    });
    let [mut journaled, mut direct] = sessions;
    let mut both = |act: Act<'_>| {
        act(&mut journaled);
        act(&mut direct);
    };
    both(&|session| drop([append(session, "one"), append(session, "two")]));
    let changes: [(&str, Act<'_>); 5] = [
        ("named", &|session| session.set_session_name("A name").unwrap()),
        ("moved", &|session| session.move_to("/moved").unwrap()),
        ("named again, \u{1F980}", &|session| session.set_session_name("\u{1F980} \"2\"").unwrap()),
        ("with lines around it", &|session| {
            append(session, "before");
            session.set_session_name("Between").unwrap();
            append(session, "after");
        }),
        ("without a name", &|session| session.set_session_name("").unwrap()),
    ];
    for (told, change) in changes {
        let before = fs::read(&path).unwrap();
        both(change);
        // A session without a name has one that entries give, and only the tables have all of them.
        if told != "without a name" {
            assert!(fs::read(&path).unwrap() == before, "{told}: it is in the tables");
        }
        let killed = tempfile::tempdir().unwrap();
        for name in ["store", "store.journal"] {
            fs::copy(folder.path().join(name), killed.path().join(name)).unwrap();
        }
        let left = Store::open(killed.path().join("store")).unwrap();
        for store in [&reading(&path), &left, &store] {
            assert_eq!(header(store), header(&other), "{told}");
            assert_eq!(texts(store), texts(&other), "{told}");
            assert!(store.verify().unwrap().problems.is_empty(), "{told}");
        }
    }
}

#[test]
fn metadata_go_through_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::open(&path).unwrap();
    let mut new = NewSession::new(Family::Opal, "/work");
    new.id = Some(ID.to_owned());
    new.persistence = Some(Persistence::keep_everything());
    let mut session = store.create_session(&new).unwrap();
    for text in ["one", "two"] {
        session.append(opal::Draft::user(text)).unwrap();
    }
    for (key, value) in [("title", "A title"), ("colour", "green"), ("title", "Another")] {
        let before = fs::read(&path).unwrap();
        session.set_metadata_value(key, &value).unwrap();
        session.append(opal::Draft::user("more")).unwrap();
        assert!(fs::read(&path).unwrap() == before, "{key}: it is in the tables");
        for store in [&reading(&path), &store] {
            let reader = store.reader(ID).unwrap();
            let metadata = serde_json::to_value(reader.metadata().unwrap().to_json()).unwrap();
            assert!(metadata.to_string().contains(value), "{metadata}");
        }
    }
    drop((session, store));
    let store = reading(&path);
    assert_eq!(store.sessions().unwrap()[0].title.as_deref(), Some("Another"));
    assert!(store.verify().unwrap().problems.is_empty());
}

/// Bytes of the journal that are not zero, behind its first page.
fn used(journal: &[u8]) -> Vec<usize> {
    (4096..journal.len()).filter(|&at| journal[at] != 0).collect()
}

#[test]
fn a_damaged_record_is_noticed_by_what_later_ones_say() {
    let mut live = Live::begin();
    let journal = || fs::read(live.folder.path().join("store.journal")).unwrap();
    for number in 0..5 {
        append(&mut live.session, &format!("text {number}"));
    }
    let before_last = *used(&journal()).last().unwrap();
    append(&mut live.session, "the last one");
    let all = texts(&Store::open(live.store()).unwrap());
    assert_eq!(all.len(), 8);
    // A read has folded them; these are not.
    for number in 0..4 {
        append(&mut live.session, &format!("later {number}"));
    }
    let bytes = journal();
    let left = live.left();
    let copy = |name: &str| left.path().join(name);
    let store = fs::read(copy("store")).unwrap();
    let all = texts(&Store::open(live.store()).unwrap());
    assert_eq!(all.len(), 12);
    let (mut noticed, mut lost) = (0, 0);
    for at in used(&bytes).into_iter().filter(|at| *at > before_last).step_by(29) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        for read_only in [true, false] {
            fs::write(copy("store"), &store).unwrap();
            fs::write(copy("store.journal"), &damaged).unwrap();
            let options = StoreOptions { read_only, ..StoreOptions::default() };
            let opened = Store::open_with(copy("store"), &options);
            match opened.and_then(|store| {
                store.sessions()?;
                Ok(store)
            }) {
                Ok(store) => {
                    let texts = texts(&store);
                    // Behind the last one nothing says that it was there.
                    assert!(texts == all || texts == all[..11], "byte {at}: {texts:?}");
                    lost += usize::from(texts != all);
                }
                Err(Error::Corrupted(damage)) => {
                    noticed += 1;
                    assert!(damage.place.contains("store.journal, byte "), "{damage:?}");
                }
                Err(error) => panic!("byte {at}: {error}"),
            }
            if !read_only && let Err(Error::Corrupted(_)) = Store::open(copy("store")) {
                assert_eq!(
                    fs::read(copy("store.journal")).unwrap(),
                    damaged,
                    "it is left as it is"
                );
                let options = StoreOptions { without_journal: true, ..StoreOptions::default() };
                let kept = texts(&Store::open_with(copy("store"), &options).unwrap());
                // What is ahead of the damage is kept.
                assert!((8..12).contains(&kept.len()) && all.starts_with(&kept), "{kept:?}");
                let problems = Store::open(copy("store")).unwrap().verify().unwrap().problems;
                assert!(problems.is_empty(), "{problems:?}");
            }
        }
    }
    assert!(noticed > 5 && lost < noticed, "{noticed} noticed, {lost} lost");
}

/// The texts of what is salvaged of two files, and what is said of the journal.
fn salvaged(store: &Path) -> (Vec<String>, Option<String>) {
    let new = store.with_extension("new");
    let salvage = Store::salvage(store, &new).unwrap();
    assert!(salvage.problems.is_empty(), "{salvage:?}");
    let texts = texts(&reading(&new));
    fs::remove_file(new).unwrap();
    (texts, salvage.journal)
}

#[test]
fn a_journal_whose_first_page_is_damaged_is_no_other_stores() {
    let mut live = Live::begin();
    append(&mut live.session, "third");
    let left = live.left();
    let path = left.path().join("store");
    let journal = left.path().join("store.journal");
    let (store, whole) = (fs::read(&path).unwrap(), fs::read(&journal).unwrap());
    // A store looks for it where it was, too.
    drop(live);
    let bit = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 16;
        bytes
    };
    let mut zeros = whole.clone();
    zeros[..4096].fill(0);
    let damaged = [bit(0), bit(17), bit(25), bit(3000), zeros, whole[..8192].to_vec()];
    for (number, bytes) in damaged.iter().enumerate() {
        for read_only in [true, false] {
            fs::write(&path, &store).unwrap();
            fs::write(&journal, bytes).unwrap();
            let options = StoreOptions { read_only, ..StoreOptions::default() };
            let opened = Store::open_with(&path, &options);
            let Err(Error::Corrupted(damage)) = opened.and_then(|store| store.sessions()) else {
                panic!("{number}: it is not noticed");
            };
            assert!(damage.place.contains("store.journal, byte "), "{damage:?}");
            assert_eq!(&fs::read(&journal).unwrap(), bytes, "it is left as it is");
        }
        let (texts, problem) = salvaged(&path);
        assert_eq!(texts, ["first", "second", "third"], "{number}");
        assert_eq!(problem.is_some(), bytes.len() < whole.len(), "{number}: {problem:?}");
        // A repair finds it, and keeps both files.
        let repair = Store::repair(&path, &RepairOptions::default()).unwrap().unwrap();
        let kept = PathBuf::from(format!("{}.journal", repair.kept.display()));
        assert_eq!(&fs::read(kept).unwrap(), bytes);
        assert!(!journal.exists());
        assert_eq!(self::texts(&Store::open(&path).unwrap()).len(), 3);
    }
}

#[test]
fn a_damaged_journal_that_no_epoch_uses_is_mended() {
    let mut live = Live::begin();
    append(&mut live.session, "third");
    let whole = closed(&live.journal());
    let Live { folder, session } = live;
    drop(session);
    let (path, journal) = (folder.path().join("store"), folder.path().join("store.journal"));
    for (number, cut) in [whole.len(), 4096, 100, whole.len() - 1].into_iter().enumerate() {
        let mut bytes = whole[..cut].to_vec();
        bytes[20] ^= u8::from(number == 0);
        fs::write(&journal, bytes).unwrap();
        assert_eq!(texts(&reading(&path)).len(), 3 + 2 * number);
        let mut session = Store::open(&path).unwrap().session(ID).unwrap();
        append(&mut session, "again");
        append(&mut session, "and again");
        assert_eq!(fs::read(&journal).unwrap().len(), whole.len(), "{cut}");
        drop(session);
    }
    assert!(reading(&path).verify().unwrap().problems.is_empty());
}

#[test]
fn whole_records_behind_a_damaged_one_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("store")).unwrap();
    // Through one handle: what others have appended is folded first.
    let mut sessions = [ID, "other"].map(|id| {
        let mut new = NewSession::new(Family::Pi, "/work");
        new.id = Some(id.to_owned());
        new.persistence = Some(Persistence::keep_everything());
        store.create_session(&new).unwrap()
    });
    for (session, text) in [(0, "first"), (0, "second"), (1, "of the other")] {
        append(&mut sessions[session], text);
    }
    assert_eq!(texts(&store), ["first", "second"]);
    let journal = || fs::read(folder.path().join("store.journal")).unwrap();
    let mut ends = vec![*used(&journal()).last().unwrap() + 1];
    for (session, text) in [(0, "third"), (1, "more"), (0, "fourth"), (1, "most")] {
        append(&mut sessions[session], text);
        ends.push(*used(&journal()).last().unwrap() + 1);
    }
    let [session, other] = sessions;
    let live = Live { folder, session };
    let left = live.left();
    let path = left.path().join("store");
    drop((live, other, store));
    let whole = fs::read(left.path().join("store.journal")).unwrap();
    let all = [["first", "second", "third", "fourth"], ["of the other", "more", "most", ""]];
    for (damaged, lost) in [(0, "third"), (1, "more"), (2, "fourth")] {
        let mut bytes = whole.clone();
        bytes[ends[damaged] + 100..ends[damaged] + 110].fill(7);
        fs::write(left.path().join("store.journal"), bytes).unwrap();
        let new = left.path().join("new");
        let salvage = Store::salvage(&path, &new).unwrap();
        let problem = salvage.journal.as_deref().unwrap();
        assert!(problem.contains("is damaged") && !salvage.is_complete(), "{salvage:?}");
        assert!(salvage.problems.is_empty(), "{salvage:?}");
        for (id, all) in [ID, "other"].into_iter().zip(all) {
            let kept = all.into_iter().filter(|text| !text.is_empty() && *text != lost);
            assert_eq!(texts_of(&reading(&new), id), kept.collect::<Vec<_>>(), "{lost}: {id}");
        }
        fs::remove_file(new).unwrap();
    }
}
