//! The storages of an agent's files.
//!
//! Guards against a storage that answers otherwise than a folder of files would: bytes that come back changed, a line that is
//! lost between two writers, a session that its file does not lead to. Random operations run on all three side by side;
//! `LEAFLINE_STORAGE_SEEDS=1000` does more of them.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use leafline::error::StorageError;
use leafline::storage::{
    ExpectedSize, FileSessionStorage, MemorySessionStorage, SessionStorage, SessionStorageWriter,
    StoreSessionStorage, WriterOptions,
};
use leafline::{Error, Result, Store};

/// What an operation gives: its bytes in words, or its error.
fn outcome<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("error: {error}"),
    }
}

/// omp's line of 256 bytes with a title.
fn title_line(title: &str) -> String {
    let line = |pad: &str| {
        let start = r#"{"type":"title","v":1,"title":""#;
        format!("{start}{title}\",\"updatedAt\":\"2026-02-16T10:20:30.000Z\",\"pad\":\"{pad}\"}}\n")
    };
    line(&" ".repeat(256 - line("").len()))
}

/// An entry of pi's or omp's, of some kind.
fn entry(random: &mut Rng, id: u32, last: u32) -> String {
    let parent = match random.u8(..8) {
        0 => "null".to_owned(),
        1 => format!("\"{:08x}\"", random.u32(..=last)),
        2 if random.bool() => "\"nowhere\"".to_owned(),
        _ => format!("\"{last:08x}\""),
    };
    let common =
        format!(r#""id":"{id:08x}","parentId":{parent},"timestamp":"2026-02-16T10:21:00.000Z""#);
    match random.u8(..8) {
        0 => format!(r#"{{"type":"title_change",{common},"title":"T{id}"}}"#),
        1 => format!(r#"{{"type":"session_info",{common},"name":"N{id}"}}"#),
        2 => format!(r#"{{"type":"label",{common},"targetId":"{last:08x}","label":"L"}}"#),
        3 => format!(r#"{{"type":"custom","customType":"c","data":{{"n":{id}}},{common}}}"#),
        4 => "{\"type\":\"message\",\"id\":\"torn".to_owned(),
        5 => String::new(),
        _ => format!(
            r#"{{"type":"message",{common},"message":{{"role":"user","content":"ä{}"}}}}"#,
            "x".repeat(random.usize(..300))
        ),
    }
}

/// What a program might write as a file.
fn content(random: &mut Rng) -> Vec<u8> {
    let id = random.u8(..4);
    let header = format!(
        r#"{{"type":"session","version":3,"id":"s{id}","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}}"#
    );
    let mut text = match random.u8(..12) {
        0 => return Vec::new(),
        1 => return b"a draft, and no session\n".repeat(random.usize(1..2000)),
        2 => return vec![0xff, 0, b'\n', b'{'],
        3 => r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}"#
            .to_owned(),
        4 => r#"{"metadata":{"title":"Opal"},"session_id":"o1","current_id":null}"#.to_owned(),
        5 => r#"{"type":"summary","summary":"Claude","leafUuid":"c7f1"}"#.to_owned(),
        6 => title_line("one").trim_end().to_owned(),
        7 | 8 => header,
        _ => title_line("two") + &header,
    };
    text.push('\n');
    for number in 0..random.u32(..8) {
        text += &entry(random, number, number.saturating_sub(1));
        text.push('\n');
    }
    if random.u8(..6) == 0 {
        text.truncate(text.len() - random.usize(1..text.len().min(40)));
        // A character may have been cut.
        return text.into_bytes();
    }
    text.into_bytes()
}

/// One of the storages, with a writer for each path.
struct Side {
    storage: Box<dyn SessionStorage>,
    writers: Vec<Option<Box<dyn SessionStorageWriter>>>,
}

/// What is done to each of the storages.
enum Step {
    Write(usize, Vec<u8>),
    WriteIf(usize, Vec<u8>, ExpectedSize),
    WriteStart(usize, Vec<u8>),
    Open(usize, bool),
    Line(usize, Vec<u8>),
    Close(usize),
    Rename(usize, usize),
    Delete(usize),
    DeleteIf(usize, u64),
    DeleteFolder,
    Slices(usize, u64, u64),
}

fn step(random: &mut Rng, paths: usize, storage: &dyn SessionStorage, all: &[PathBuf]) -> Step {
    let path = random.usize(..paths);
    let size = storage.stat(&all[path]).map(|stat| stat.size).ok();
    match random.u8(..32) {
        0..=3 => Step::Write(path, content(random)),
        4..=6 => {
            let expected = match (random.u8(..4), size) {
                (0, _) => ExpectedSize::NoFile,
                (1, Some(size)) => ExpectedSize::Bytes(size + 1),
                (_, Some(size)) => ExpectedSize::Bytes(size),
                (_, None) => ExpectedSize::NoFile,
            };
            Step::WriteIf(path, content(random), expected)
        }
        7 | 8 => Step::WriteStart(path, title_line(["a", "b", ""][random.usize(..3)]).into_bytes()),
        9 => Step::WriteStart(path, b"{\"ty".to_vec()),
        10 | 11 => Step::Open(path, random.u8(..6) == 0),
        12..=23 => {
            let number = random.u32(..40);
            Step::Line(path, entry(random, number, number.saturating_sub(1)).into_bytes())
        }
        24 => Step::Close(path),
        25 => Step::Rename(path, random.usize(..paths)),
        26 => Step::Delete(path),
        27 => Step::DeleteIf(path, random.u64(..800)),
        28 if random.u8(..4) == 0 => Step::DeleteFolder,
        _ => Step::Slices(path, random.u64(..700), random.u64(..700)),
    }
}

fn run(side: &mut Side, step: &Step, all: &[PathBuf], folder: &Path) -> String {
    let storage = &side.storage;
    match step {
        Step::Write(path, content) => outcome(storage.write(&all[*path], content)),
        Step::WriteIf(path, content, expected) => {
            outcome(storage.write_if(&all[*path], content, *expected))
        }
        Step::WriteStart(path, start) => outcome(storage.write_start(&all[*path], start)),
        Step::Open(path, truncate) => {
            let mut options = WriterOptions::default();
            options.truncate = *truncate;
            let opened = storage.open_writer(&all[*path], options);
            let (writer, said) = match opened {
                Ok(writer) => (Some(writer), "opened".to_owned()),
                Err(error) => (None, error.to_string()),
            };
            side.writers[*path] = writer;
            said
        }
        Step::Line(path, line) => match &mut side.writers[*path] {
            Some(writer) => outcome(writer.write_line(line)),
            None => String::new(),
        },
        Step::Close(path) => match &mut side.writers[*path] {
            Some(writer) => outcome(writer.close()),
            None => String::new(),
        },
        Step::Rename(from, to) => outcome(storage.rename(&all[*from], &all[*to])),
        Step::Delete(path) => outcome(storage.delete(&all[*path])),
        Step::DeleteIf(path, most) => {
            outcome(storage.delete_if(&all[*path], &mut |bytes| bytes.len() as u64 <= *most))
        }
        Step::DeleteFolder => outcome(storage.delete_folder(folder)),
        Step::Slices(path, head, tail) => outcome(storage.read_slices(&all[*path], *head, *tail)),
    }
}

/// Random operations; all storages say the same, and have the same bytes after each.
fn compare(seed: u64, steps: u32) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("sessions");
    let store = Store::open(folder.path().join("store.leafline")).unwrap();
    let storages: [Box<dyn SessionStorage>; 3] = [
        Box::new(FileSessionStorage::new()),
        Box::new(MemorySessionStorage::new()),
        Box::new(StoreSessionStorage::new(store.clone())),
    ];
    let names = ["a.jsonl", "b.jsonl", "c.bak", "--work--/a.jsonl", "--work--/a/draft.txt"];
    let all: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
    let below = root.join("--work--");
    let mut sides = storages.map(|storage| {
        let writers = all.iter().map(|_| None).collect();
        Side { storage, writers }
    });
    let mut random = Rng::with_seed(seed);
    for number in 0..steps {
        let step = step(&mut random, all.len(), &*sides[1].storage, &all);
        let [file, memory, stored] = sides.each_mut().map(|side| run(side, &step, &all, &below));
        assert_eq!(memory, file, "seed {seed}, step {number}");
        assert_eq!(stored, file, "seed {seed}, step {number}");
        for path in &all {
            let [file, memory, stored] = sides.each_ref().map(|side| {
                let storage = &side.storage;
                let bytes = storage.read(path);
                let size = storage.stat(path).map(|stat| stat.size);
                let bytes = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                (outcome(storage.exists(path)), outcome(bytes), outcome(size))
            });
            assert_eq!(memory, file, "seed {seed}, step {number}");
            assert_eq!(stored, file, "seed {seed}, step {number}");
        }
        for pattern in ["*.jsonl", "*", "a*"] {
            for folder in [&root, &below] {
                let [file, memory, stored] =
                    sides.each_ref().map(|side| outcome(side.storage.list(folder, pattern)));
                assert_eq!(memory, file, "seed {seed}, step {number}");
                assert_eq!(stored, file, "seed {seed}, step {number}");
            }
        }
    }
    let problems = store.verify().unwrap().problems;
    assert!(problems.is_empty(), "seed {seed}: {problems:#?}");
}

#[test]
fn all_storages_do_the_same() {
    let seeds = std::env::var("LEAFLINE_STORAGE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..seeds.unwrap_or(12) {
        compare(seed, 60);
    }
}

fn in_memory() -> (Store, StoreSessionStorage) {
    let store = Store::in_memory().unwrap();
    (store.clone(), StoreSessionStorage::new(store))
}

/// A session of omp's with as many entries.
fn session(id: &str, entries: u32) -> Vec<u8> {
    let mut text = title_line("A title");
    text += &format!(r#"{{"type":"session","version":3,"id":"{id}","cwd":"/work"}}"#);
    text.push('\n');
    for number in 0..entries {
        let parent = match number {
            0 => "null".to_owned(),
            _ => format!("\"{:08x}\"", number - 1),
        };
        text += &format!(
            r#"{{"type":"message","id":"{number:08x}","parentId":{parent},"message":{{"role":"user","content":"{number}"}}}}"#
        );
        text.push('\n');
    }
    text.into_bytes()
}

#[test]
fn a_file_is_a_session_of_the_store_and_stays_the_same_one() {
    let (store, storage) = in_memory();
    let path = Path::new("/sessions/s1.jsonl");
    storage.write(path, &session("s1", 3)).unwrap();
    let facts = &store.sessions().unwrap()[0];
    assert_eq!((&*facts.id, facts.messages), ("s1", 3));
    assert_eq!(facts.title.as_deref(), Some("A title"));
    assert_eq!(storage.session_id(path).unwrap().as_deref(), Some("s1"));
    // Written again, it is no other.
    storage.write(path, &session("s1", 5)).unwrap();
    storage.write_start(path, title_line("Another").as_bytes()).unwrap();
    let sessions = store.sessions().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!((sessions[0].messages, sessions[0].title.as_deref()), (5, Some("Another")));
    // Another session in its place takes it out of the store.
    storage.write(path, &session("s2", 1)).unwrap();
    let sessions = store.sessions().unwrap();
    assert_eq!((sessions.len(), &*sessions[0].id), (1, "s2"));
    storage.delete(path).unwrap();
    assert!(store.sessions().unwrap().is_empty());
    assert!(store.verify().unwrap().problems.is_empty());
}

#[test]
fn a_file_becomes_a_session_with_the_line_that_makes_it_one() {
    let (store, storage) = in_memory();
    let path = Path::new("/sessions/s1.jsonl");
    let mut writer = storage.open_writer(path, WriterOptions::default()).unwrap();
    let whole = session("s1", 2);
    for line in whole.split_inclusive(|&byte| byte == b'\n') {
        writer.write_line(line).unwrap();
    }
    assert_eq!(storage.read(path).unwrap(), whole);
    assert_eq!(store.sessions().unwrap()[0].messages, 2);
}

#[test]
fn two_files_of_one_session_are_two_sessions() {
    let (store, storage) = in_memory();
    let [one, other] = ["/sessions/a.jsonl", "/sessions/b.jsonl"].map(Path::new);
    storage.write(one, &session("s", 1)).unwrap();
    storage.write(other, &session("s", 2)).unwrap();
    assert_eq!(storage.session_id(other).unwrap().as_deref(), Some("s~2"));
    storage.rename(other, one).unwrap();
    assert_eq!(storage.read(one).unwrap(), session("s", 2));
    assert_eq!(store.sessions().unwrap().len(), 1);
}

#[test]
fn imported_sessions_are_at_the_paths_of_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, session("s", 2)).unwrap();
    let store = Store::open(folder.path().join("store")).unwrap();
    store.import(&[&path], &leafline::import::ImportOptions::default(), &mut ()).unwrap();
    let storage = StoreSessionStorage::new(store.clone());
    assert_eq!(storage.list(folder.path(), "*.jsonl").unwrap(), std::slice::from_ref(&path));
    assert_eq!(storage.stat(&path).unwrap().size, session("s", 2).len() as u64);
    let mut writer = storage.open_writer(&path, WriterOptions::default()).unwrap();
    let line = br#"{"type":"message","id":"n","parentId":"00000001","message":{"role":"user","content":"Hi"}}"#;
    writer.write_line(line).unwrap();
    assert_eq!(storage.read(&path).unwrap(), [&*session("s", 2), line, b"\n"].concat());
    let moved = folder.path().join("t.jsonl");
    storage.rename(&path, &moved).unwrap();
    assert_eq!(storage.list(folder.path(), "*.jsonl").unwrap(), [moved]);
    assert_eq!(store.sessions().unwrap().len(), 1);
    assert!(store.verify().unwrap().problems.is_empty());
}

/// Lines of several writers, and rewrites between them that expect a size: no line is lost.
#[test]
fn nobody_loses_a_line_of_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("store");
    let path = Path::new("/sessions/s.jsonl");
    let first = StoreSessionStorage::new(Store::open(&place).unwrap());
    first.write(path, &session("s", 1)).unwrap();
    let line = |thread: usize, number: usize| {
        format!(
            r#"{{"type":"custom","id":"{thread}-{number}","parentId":"00000000","customType":"c"}}"#
        )
    };
    std::thread::scope(|scope| {
        for thread in 0..3 {
            // Handles of their own, as other processes have.
            let storage = StoreSessionStorage::new(Store::open(&place).unwrap());
            scope.spawn(move || {
                let mut writer = storage.open_writer(path, WriterOptions::default()).unwrap();
                for number in 0..40 {
                    writer.write_line(line(thread, number).as_bytes()).unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..20 {
                let before = first.read(path).unwrap();
                let expected = ExpectedSize::Bytes(before.len() as u64);
                match first.write_if(path, &before, expected) {
                    Ok(()) | Err(Error::Storage(StorageError::Conflict { .. })) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
    });
    let text = String::from_utf8(first.read(path).unwrap()).unwrap();
    for thread in 0..3 {
        for number in 0..40 {
            assert!(text.contains(&line(thread, number)), "{thread}-{number}");
        }
    }
    assert!(first.store().verify().unwrap().problems.is_empty());
}

#[test]
fn the_first_error_is_told_once_and_kept() {
    let storage = MemorySessionStorage::new();
    let path = Path::new("/sessions/a.jsonl");
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let mut options = WriterOptions::default();
    options.on_error = Some(Box::new(move |error| heard.lock().unwrap().push(error.to_string())));
    let mut writer = storage.open_writer(path, options).unwrap();
    writer.write_line(b"one").unwrap();
    storage.delete(path).unwrap();
    storage.write(Path::new("/sessions/a.jsonl/b"), b"").unwrap();
    let failed = writer.write_line(b"two").unwrap_err();
    assert!(matches!(failed, Error::Storage(StorageError::Writer { .. })), "{failed}");
    storage.delete_folder(path).unwrap();
    // It would be possible again; but a line is missing.
    for again in [writer.write_line(b"three"), writer.flush(), writer.fsync(), writer.close()] {
        assert_eq!(again.unwrap_err().to_string(), failed.to_string());
    }
    assert_eq!(*told.lock().unwrap(), ["/sessions/a.jsonl is a folder"]);
    assert!(writer.get_error().is_some() && !writer.is_open());
    assert!(writer.close().is_ok());
    assert!(!storage.exists(path).unwrap());
    let closed = writer.write_line(b"four").unwrap_err();
    assert!(matches!(closed, Error::Storage(StorageError::Closed { .. })), "{closed}");
}

#[test]
fn a_session_is_not_deleted_on_what_it_was() {
    let (store, storage) = in_memory();
    let path = Path::new("/sessions/s.jsonl");
    storage.write(path, &session("s", 0)).unwrap();
    let mut asked = 0;
    let deleted = storage.delete_if(path, &mut |bytes| {
        asked += 1;
        if asked == 1 {
            // Another one writes to it while it is looked at.
            storage.write(path, &session("s", 1)).unwrap();
        }
        !String::from_utf8_lossy(bytes).contains("message")
    });
    assert!(!deleted.unwrap());
    assert_eq!((asked, store.sessions().unwrap().len()), (2, 1));
}
