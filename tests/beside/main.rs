//! Files that programs keep beside their sessions.
//!
//! Guards against one that is lost when its program deletes it, that comes back with another byte, that is of another session, or
//! that costs the others something.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod home;
#[path = "../place/mod.rs"]
mod place;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use leafline::backup::BackupOptions;
use leafline::compact::CompactOptions;
use leafline::import::{
    BesideReport, BesideStatus, BesideTotals, FileReport, ImportObserver, ImportOptions,
};
use leafline::storage::{SessionStorage, StoreSessionStorage};
use leafline::{Error, Store, StoreOptions};
use place::Place;

const CLAUDE: &str = "5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90";
const AGENT: &str = "agent-7d31c0be";
const OMP: &str = "019c7bd3-90ea-7b35-8c11-d4f2a86b0e59";
const PI: &str = "019c6605-4c90-7d2a-9b41-5f0e3c77a1d2";

/// The sample with a name.
fn sample(name: &str) -> Vec<u8> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(name) {
                return std::fs::read(path).unwrap();
            }
        }
    }
    panic!("there is no sample {name}");
}

/// Bytes that are no text, and more than a row of the table has.
fn binary(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from((at * 7 + at / 251) % 256).unwrap()).collect()
}

#[derive(Default)]
struct Told {
    sessions: Vec<FileReport>,
    beside: Vec<BesideReport>,
}

impl ImportObserver for Told {
    fn file(&mut self, report: &FileReport) {
        self.sessions.push(report.clone());
    }

    fn beside(&mut self, report: &BesideReport) {
        self.beside.push(report.clone());
    }
}

/// A place with a project's folder of Claude Code's.
struct Scene(Place);

impl Scene {
    /// One with a session and an agent of it, and these files beside the session, written long ago.
    fn new(files: &[(&str, &[u8])]) -> Self {
        let scene = Self(Place::new());
        scene.0.write(&format!("projects/-work/{CLAUDE}.jsonl"), sample(CLAUDE));
        scene.write(&format!("subagents/{AGENT}.jsonl"), &sample(AGENT));
        for (name, bytes) in files {
            age(&scene.write(name, bytes), 100);
        }
        scene
    }

    fn folder(&self) -> PathBuf {
        self.0.path("projects")
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        self.0.write(&format!("projects/-work/{CLAUDE}/{name}"), bytes)
    }

    fn sync(&self) -> BesideTotals {
        sync(&self.0.store, &self.folder()).0
    }

    /// The names of the files beside a session, and their bytes.
    fn files(&self, session: &str) -> Vec<(String, Vec<u8>)> {
        files(&self.0.store, session)
    }
}

fn sync(store: &Store, path: &Path) -> (BesideTotals, Told) {
    sync_with(store, path, &ImportOptions::default())
}

fn sync_with(store: &Store, path: &Path, options: &ImportOptions) -> (BesideTotals, Told) {
    let mut told = Told::default();
    let totals = store.sync(&[path], options, &mut told).unwrap();
    assert_eq!(totals.failed, 0, "{:?}", told.sessions);
    (totals.beside, told)
}

fn files(store: &Store, session: &str) -> Vec<(String, Vec<u8>)> {
    let reader = store.reader(session).unwrap();
    let files = reader.files_beside().unwrap().into_iter();
    files
        .map(|file| {
            let mut bytes = Vec::new();
            reader.read_file_beside(&file, &mut bytes).unwrap();
            assert_eq!(bytes.len() as u64, file.bytes);
            (file.name.to_str().unwrap().to_owned(), bytes)
        })
        .collect()
}

fn age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn numbers(totals: &BesideTotals) -> [u64; 5] {
    [totals.taken, totals.bytes, totals.unchanged, totals.skipped, totals.failed]
}

fn named(files: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect()
}

#[test]
fn files_are_taken_as_they_are_and_stay() {
    let long = binary(3_000_000);
    let meta = format!("subagents/{AGENT}.meta.json");
    let files: [(&str, &[u8]); 4] = [
        (&meta, b"{}"),
        ("tool-results/a/b/deep.bin", &long),
        ("tool-results/empty.txt", b""),
        ("tool-results/toolu_1.txt", b"a long output\n"),
    ];
    let scene = Scene::new(&files);
    // What is beside no session, or a session's own.
    scene.0.write("projects/-work/notes.txt", "no session's");
    scene.0.write("projects/-work/other/tool-results/1.txt", "of no session");
    scene.write("tool-results/list.jsonl", b"{\"not\":\"a session\"}\n");
    let (totals, told) = sync(&scene.0.store, &scene.folder());
    let bytes = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    assert_eq!(numbers(&totals), [4, bytes, 0, 0, 0]);
    assert!(told.beside.iter().all(|report| report.status == BesideStatus::Taken));
    assert!(told.beside.iter().all(|report| report.beside == CLAUDE));
    assert_eq!(scene.files(CLAUDE), named(&files));
    assert_eq!(scene.files(AGENT), []);
    scene.0.assert_sound();
    // They are not read again.
    let path = scene.folder().join("-work").join(CLAUDE).join("tool-results/toolu_1.txt");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, "another text\n ").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(numbers(&scene.sync()), [0, 0, 4, 0, 0]);
    let written = scene.0.store.reader(CLAUDE).unwrap().files_beside().unwrap()[3].written;
    let milliseconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(u128::try_from(written).unwrap(), milliseconds);
    // The program deletes all.
    std::fs::remove_dir_all(scene.folder()).unwrap();
    std::fs::create_dir(scene.folder()).unwrap();
    assert_eq!(numbers(&scene.sync()), [0; 5]);
    assert_eq!(scene.files(CLAUDE), named(&files));
}

#[test]
fn a_file_that_changed_is_replaced_and_one_that_is_gone_stays() {
    let scene = Scene::new(&[("tool-results/1.txt", b"first"), ("tool-results/2.txt", b"second")]);
    assert_eq!(scene.sync().taken, 2);
    let changed = scene.write("tool-results/1.txt", &binary(1_100_000));
    age(&changed, 50);
    std::fs::remove_file(scene.write("tool-results/2.txt", b"")).unwrap();
    scene.write("tool-results/3.txt", b"third");
    assert_eq!(numbers(&scene.sync()), [2, 1_100_005, 0, 0, 0]);
    let now: [(&str, &[u8]); 3] = [
        ("tool-results/1.txt", &binary(1_100_000)),
        ("tool-results/2.txt", b"second"),
        ("tool-results/3.txt", b"third"),
    ];
    assert_eq!(scene.files(CLAUDE), named(&now));
    // The same bytes of another time are no other file; after that it is not read.
    age(&changed, 20);
    assert_eq!(scene.sync().taken, 0);
    assert_eq!(numbers(&scene.sync()), [0, 0, 2, 0, 0]);
    // What was read a moment after it was written may have changed within the same tick of the clock.
    let path = scene.write("tool-results/4.txt", b"fourth");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(scene.sync().taken, 1);
    std::fs::write(&path, "FOURTH").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(scene.sync().taken, 1);
    assert_eq!(scene.files(CLAUDE)[3].1, b"FOURTH");
    scene.0.assert_sound();
}

#[test]
fn what_cannot_be_taken_costs_the_others_nothing() {
    let scene = Scene::new(&[("tool-results/1.txt", b"1"), ("tool-results/3.txt", b"three")]);
    scene.write("tool-results/2.txt", &[7; 11]);
    let options = ImportOptions { largest_file_beside: 10, ..ImportOptions::default() };
    let (totals, told) = sync_with(&scene.0.store, &scene.folder(), &options);
    assert_eq!(numbers(&totals), [2, 6, 0, 1, 0]);
    let skipped = &told.beside[told.beside.len() - 3..];
    let skipped: Vec<_> = skipped.iter().filter_map(|report| report.reason.clone()).collect();
    assert_eq!(skipped, ["it is larger than 10 bytes, the most that is taken"]);
    assert_eq!(scene.files(CLAUDE).len(), 2);
    // The bound is of those that are taken.
    let options = ImportOptions { largest_file_beside: 11, ..ImportOptions::default() };
    assert_eq!(sync_with(&scene.0.store, &scene.folder(), &options).0.taken, 1);
}

#[cfg(unix)]
#[test]
fn links_and_what_is_no_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scene = Scene::new(&[("tool-results/1.txt", b"1")]);
    let at = |name: &str| scene.folder().join("-work").join(CLAUDE).join(name);
    let outside = scene.0.write("outside/secret.txt", "of somebody else");
    symlink("..", at("tool-results/up")).unwrap();
    symlink(outside.parent().unwrap(), at("tool-results/out")).unwrap();
    symlink(&outside, at("tool-results/one.txt")).unwrap();
    symlink("/dev/zero", at("tool-results/zero.txt")).unwrap();
    symlink("nowhere", at("tool-results/nowhere.txt")).unwrap();
    let pipe = at("tool-results/pipe.txt");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let unreadable = scene.write("tool-results/unreadable.txt", b"2");
    std::fs::set_permissions(&unreadable, std::fs::Permissions::from_mode(0o000)).unwrap();
    let is_barred = File::open(&unreadable).is_err();
    let (totals, told) = sync(&scene.0.store, &scene.folder());
    let mut expected = named(&[
        ("tool-results/1.txt", b"1"),
        ("tool-results/one.txt", b"of somebody else"),
        ("tool-results/unreadable.txt", b"2"),
    ]);
    if is_barred {
        expected.pop();
        assert_eq!(totals.failed, 1);
        assert!(
            told.beside.iter().any(|report| {
                report.status == BesideStatus::Failed && report.path == unreadable
            })
        );
    }
    assert_eq!(scene.files(CLAUDE), expected);
    // A session's folder itself may be elsewhere.
    let scene = Scene::new(&[("tool-results/1.txt", b"1")]);
    let folder = scene.folder().join("-work").join(CLAUDE);
    let elsewhere = scene.0.path("elsewhere");
    std::fs::rename(&folder, &elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    assert_eq!(scene.sync().taken, 1);
    assert_eq!(scene.files(CLAUDE).len(), 1);
}

#[test]
fn a_file_names_the_folder_beside_it() {
    let scene = Scene::new(&[("tool-results/1.txt", b"1")]);
    let file = scene.folder().join("-work").join(format!("{CLAUDE}.jsonl"));
    let (totals, told) = sync(&scene.0.store, &file);
    // Its agents are not what was asked for.
    assert_eq!((told.sessions.len(), totals.taken), (1, 1));
    // So does any folder in it, also when the session's file is gone.
    std::fs::remove_file(&file).unwrap();
    let new = scene.write("tool-results/2.txt", b"2");
    assert_eq!(sync(&scene.0.store, new.parent().unwrap()).0.taken, 1);
    scene.write("tool-results/3.txt", b"3");
    assert_eq!(scene.sync().taken, 1);
    assert_eq!(scene.files(CLAUDE).len(), 3);
}

#[test]
fn other_programs_have_other_folders() {
    let place = Place::new();
    let omp = format!("omp/sessions/-work/2026-02-20T16-12-44-218Z_{OMP}");
    place.write(&format!("{omp}.jsonl"), sample(OMP));
    place.write(&format!("{omp}/0.bash.log"), "all of it");
    let pi = format!("pi/sessions/--work--/2026-02-16T10-20-30-112Z_{PI}");
    place.write(&format!("{pi}.jsonl"), sample(PI));
    place.write(&format!("{pi}/notes.txt"), "the user's");
    // A file that fails has no session.
    place.write("broken.jsonl", "{\"type\":\"nothing\"}\n");
    place.write("broken/1.txt", "1");
    let (totals, _) = sync(&place.store, place.folder.path());
    assert_eq!(totals.taken, 1);
    assert_eq!(files(&place.store, OMP), named(&[("0.bash.log", b"all of it")]));
    assert_eq!(files(&place.store, PI), []);
}

#[test]
fn the_files_of_an_agent_are_its_own() {
    let scene = Scene::new(&[("tool-results/1.txt", b"1")]);
    scene.write(&format!("subagents/{AGENT}/tool-results/2.txt"), b"2");
    assert_eq!(scene.sync().taken, 2);
    assert_eq!(scene.files(CLAUDE), named(&[("tool-results/1.txt", b"1")]));
    assert_eq!(scene.files(AGENT), named(&[("tool-results/2.txt", b"2")]));
    let removed = scene.0.store.remove(AGENT).unwrap();
    assert_eq!((removed.files, removed.file_bytes), (1, 1));
    assert_eq!(scene.files(CLAUDE).len(), 1);
    scene.0.assert_sound();
}

#[test]
fn a_removed_session_takes_its_files_with_it() {
    let scene = Scene::new(&[("tool-results/1.txt", &binary(2_000_000)), ("a.txt", b"2")]);
    scene.sync();
    let path = scene.folder().join("-work").join(CLAUDE).join("a.txt");
    let storage = StoreSessionStorage::new(scene.0.store.clone());
    assert_eq!(storage.read(&path).unwrap(), b"2");
    let removed = scene.0.store.remove(CLAUDE).unwrap();
    assert_eq!((removed.files, removed.file_bytes), (2, 2_000_001));
    assert!(!storage.exists(&path).unwrap());
    scene.0.assert_sound();
    // Nothing brings them back but the session.
    scene.write("tool-results/2.txt", b"2");
    assert_eq!(numbers(&scene.sync()), [0; 5]);
    assert_eq!(scene.0.store.statistics().unwrap().beside.count, 0);
    let options = ImportOptions { restore: true, ..ImportOptions::default() };
    let totals = scene.0.store.import(&[scene.folder()], &options, &mut ()).unwrap();
    assert_eq!(totals.beside.taken, 3);
    let statistics = scene.0.store.statistics().unwrap();
    assert_eq!((statistics.beside.count, statistics.beside.bytes), (3, 2_000_002));
    let of_session = scene.0.store.session(CLAUDE).unwrap().statistics().unwrap();
    assert_eq!(of_session.beside.count, 3);
}

#[test]
fn a_session_of_two_places_has_the_files_of_both() {
    let scene = Scene::new(&[("tool-results/1.txt", b"of the first"), ("only.txt", b"here")]);
    scene.sync();
    let moved = format!("projects/-moved/{CLAUDE}");
    scene.0.write(&format!("{moved}.jsonl"), sample(CLAUDE));
    let later = scene.0.write(&format!("{moved}/tool-results/1.txt"), "of the second");
    age(&later, 10);
    assert_eq!(scene.sync().taken, 1);
    let files = scene.files(CLAUDE);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["only.txt", "tool-results/1.txt", "tool-results/1.txt"]);
    // The one that was written last is what the name stands for.
    assert_eq!(files[1].1, b"of the second");
    let reader = scene.0.store.reader(CLAUDE).unwrap();
    let found = reader.file_beside(Path::new("tool-results/1.txt")).unwrap();
    assert_eq!(found.path, later);
    let error = reader.file_beside(Path::new("none.txt")).unwrap_err();
    assert_eq!(error.code(), "SESSION_FILE_NOT_FOUND");
    drop(reader);
    assert_eq!(scene.0.store.remove(CLAUDE).unwrap().files, 3);
    assert_eq!(numbers(&scene.sync()), [0; 5]);
}

#[test]
fn copies_of_a_store_have_them_byte_for_byte() {
    let long = binary(3_000_000);
    let expected: [(&str, &[u8]); 2] = [("a.bin", &long), ("empty", b"")];
    let scene = Scene::new(&expected);
    scene.sync();
    let backup = scene.0.path("backup.leafline");
    scene.0.store.backup(&backup, &BackupOptions::default(), |_| {}).unwrap();
    assert_eq!(files(&Store::open(&backup).unwrap(), CLAUDE), named(&expected));
    // Brought up to date after a change.
    let changed: [(&str, &[u8]); 2] = [("a.bin", b"short now"), ("empty", b"")];
    scene.write("a.bin", b"short now");
    scene.sync();
    scene.0.store.backup(&backup, &BackupOptions::default(), |_| {}).unwrap();
    assert_eq!(files(&Store::open(&backup).unwrap(), CLAUDE), named(&changed));

    let Scene(Place { folder, store }) = scene;
    let path = store.path().to_owned();
    drop(store);
    let salvaged = folder.path().join("salvaged.leafline");
    let salvage = Store::salvage(&path, &salvaged).unwrap();
    assert!(salvage.is_complete() && salvage.damaged.is_empty(), "{salvage:?}");
    assert_eq!(files(&Store::open(&salvaged).unwrap(), CLAUDE), named(&changed));
    for in_place in [false, true] {
        let mut store = Store::open(&path).unwrap();
        let options = CompactOptions { in_place, ..CompactOptions::default() };
        store.compact_with(&options).unwrap();
        assert_eq!(files(&store, CLAUDE), named(&changed));
        assert!(store.verify().unwrap().problems.is_empty());
    }
}

#[test]
fn damage_is_found_and_what_is_whole_is_saved() {
    let (long, other) = (binary(900_000), vec![b'x'; 800_000]);
    let scene = Scene::new(&[("damaged.bin", &long), ("whole.bin", &other)]);
    scene.sync();
    let Scene(Place { folder, store }) = scene;
    let path = store.path().to_owned();
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = memchr::memmem::find(&bytes, &long[400_000..400_256]).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    let store = Store::open_with(&path, &options).unwrap();
    let problems = store.verify().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.kind == "file_parts"), "{problems:?}");
    // No other bytes are given for it.
    let reader = store.reader(CLAUDE).unwrap();
    let file = reader.file_beside(Path::new("damaged.bin")).unwrap();
    let read = reader.read_file_beside(&file, &mut Vec::new());
    assert!(matches!(read, Err(Error::Corrupted(_))), "{read:?}");
    drop((reader, store));
    let new = folder.path().join("new.leafline");
    let salvage = Store::salvage(&path, &new).unwrap();
    let names: Vec<_> = salvage.files.iter().map(|path| path.file_name().unwrap()).collect();
    assert_eq!(names, ["damaged.bin"]);
    assert!(!salvage.is_complete());
    let store = Store::open(&new).unwrap();
    assert_eq!(files(&store, CLAUDE), named(&[("whole.bin", &other)]));
    assert!(store.verify().unwrap().problems.is_empty());
    // The program has it still.
    let (totals, _) = sync(&store, &folder.path().join("projects"));
    assert_eq!((totals.taken, totals.unchanged), (1, 1));
    assert_eq!(files(&store, CLAUDE)[0].1, long);
}

#[test]
fn a_storages_session_is_not_replaced() {
    let scene = Scene::new(&[]);
    scene.sync();
    let path = scene.write("draft.txt", b"on the disk");
    let storage = StoreSessionStorage::new(scene.0.store.clone());
    let session = "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/w\"}\n";
    storage.write(&path, session.as_bytes()).unwrap();
    assert_eq!(scene.sync().taken, 0);
    assert_eq!(storage.read(&path).unwrap(), session.as_bytes());
    scene.0.assert_sound();
}

#[test]
fn many_files_are_taken_in_several_commits() {
    let scene = Scene::new(&[]);
    let large = vec![b'l'; 9 << 20];
    for number in 0..3 {
        scene.write(&format!("large-{number}"), &large);
    }
    for number in 0..1500 {
        scene.write(&format!("small/{number:04}"), number.to_string().as_bytes());
    }
    assert_eq!(scene.sync().taken, 1503);
    let files = scene.files(CLAUDE);
    assert_eq!(files.len(), 1503);
    assert!(files[..3].iter().all(|(_, bytes)| *bytes == large));
    assert_eq!(files[1502], ("small/1499".to_owned(), b"1499".to_vec()));
    scene.0.assert_sound();
}

#[test]
fn files_follow_when_another_session_takes_the_place_of_theirs() {
    let scene = Scene::new(&[("tool-results/1.txt", b"same"), ("tool-results/2.txt", b"first")]);
    scene.write(&format!("subagents/{AGENT}/3.txt"), b"of the agent");
    scene.sync();
    let moved = format!("projects/-moved/{CLAUDE}");
    scene.0.write(&format!("{moved}.jsonl"), sample(CLAUDE));
    scene.0.write(&format!("{moved}/tool-results/1.txt"), "same");
    scene.0.write(&format!("{moved}/tool-results/2.txt"), "second");
    assert_eq!(scene.sync().taken, 2);
    // The session at the second place is rewritten: that at the first is no longer what was imported.
    let text = String::from_utf8(sample(CLAUDE)).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    let last = lines.len() - 1;
    lines[last] = "\n".to_owned() + &lines[last];
    let path = scene.0.write(&format!("{moved}.jsonl"), lines.concat());
    let options = ImportOptions { replace: true, ..ImportOptions::default() };
    let totals = scene.0.store.import(&[path], &options, &mut ()).unwrap();
    assert_eq!(totals.replaced, 1, "{totals:?}");
    let expected: [(&str, &[u8]); 3] = [
        ("tool-results/1.txt", b"same"),
        ("tool-results/2.txt", b"second"),
        ("tool-results/2.txt~2", b"first"),
    ];
    assert_eq!(scene.files(CLAUDE), named(&expected));
    assert_eq!(scene.files(AGENT), named(&[("3.txt", b"of the agent")]));
    scene.0.assert_sound();
    assert_eq!(scene.0.store.remove(CLAUDE).unwrap().files, 3);
    // The files of its agent are deleted with it.
    assert_eq!(scene.0.store.statistics().unwrap().beside.count, 0);
    scene.0.assert_sound();
}

#[test]
fn a_session_of_a_storage_has_files_of_the_disk() {
    let place = Place::new();
    let path = place.path(&format!("sessions/2026-02-20T16-12-44-218Z_{OMP}.jsonl"));
    let storage = StoreSessionStorage::new(place.store.clone());
    storage.write(&path, &sample(OMP)).unwrap();
    let artifact = path.with_extension("").join("0.bash.log");
    place.write(artifact.strip_prefix(place.folder.path()).unwrap().to_str().unwrap(), "all");
    assert_eq!(sync(&place.store, &place.path("sessions")).0.taken, 1);
    assert_eq!(files(&place.store, OMP), named(&[("0.bash.log", b"all")]));
    assert_eq!(storage.read(&artifact).unwrap(), b"all");
    assert_eq!(place.store.remove(OMP).unwrap().files, 1);
    assert!(!storage.exists(&artifact).unwrap());
    place.assert_sound();
}

#[test]
fn whatever_page_is_damaged_no_file_is_lost_unsaid() {
    let (long, other) = (binary(40_000), b"short".to_vec());
    let scene = Scene::new(&[("long.bin", &long), ("short.txt", &other)]);
    scene.sync();
    let expected = named(&[("long.bin", &long), ("short.txt", &other)]);
    let Scene(Place { folder, store }) = scene;
    let path = store.path().to_owned();
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    let (damaged, new) = (folder.path().join("damaged"), folder.path().join("new"));
    let (mut lost, mut nameless) = (0, 0);
    for page in 1..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 1000] ^= 16;
        bytes[page * 4096 + 40] ^= 16;
        std::fs::write(&damaged, &bytes).unwrap();
        let _ = std::fs::remove_file(&new);
        let _ = std::fs::remove_dir_all(folder.path().join("new.lines"));
        let Ok(salvage) = Store::salvage(&damaged, &new) else { continue };
        let store = Store::open(&new).unwrap();
        let found = match store.reader(CLAUDE) {
            Ok(_) => files(&store, CLAUDE),
            Err(_) => Vec::new(),
        };
        assert!(found.iter().all(|file| expected.contains(file)), "page {page}");
        if found != expected {
            assert!(!salvage.is_complete(), "page {page}: {salvage:?}");
            lost += 1;
        }
        // Without their paths, the bytes are still there.
        for path in &salvage.nameless_files {
            let bytes = std::fs::read(path).unwrap();
            assert!(bytes == long || bytes == other, "page {page}");
            nameless += 1;
        }
    }
    assert!(lost > 0 && nameless > 0, "{lost} {nameless}");
}
