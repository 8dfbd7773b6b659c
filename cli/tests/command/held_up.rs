//! A change while another process holds a lock that it needs, and does not get on.

use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Bound::Included;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redb::StorageBackend;
use redb::backends::FileBackend;

use super::scene::{Scene, command, file, header, message};
use super::signals::{go_on, signal, stop};

/// The store whose locks this process holds.
const STORE: &str = "LEAFLINE_TEST_HOLDS";

/// Where the bytes begin of the lock to append, and of the one by which no append begins.
const JOURNAL: u64 = (3 << 60) + (1 << 32);
const GATE: u64 = (3 << 60) + (2 << 32);

/// The byte of those who have the store open, and where the bytes begin that say who has it alone.
const OPEN: u64 = (3 << 60) + 4;
const ALONE: u64 = (3 << 60) + (6 << 32);

/// Where the bytes begin that say whose the write transaction is, and the engine's own lock of it.
const TABLES: u64 = (3 << 60) + (4 << 32);
const WRITER: u64 = 1 << 62;

/// How long a process may take to begin.
const PATIENCE: Duration = Duration::from_secs(60);

fn backend(store: &Path) -> FileBackend {
    let file = std::fs::File::options().read(true).write(true).open(store).unwrap();
    FileBackend::new(file).unwrap()
}

/// Not a test by itself: holds a lock as an appender does, until its input ends.
#[test]
fn holds() {
    let Some(of) = std::env::var_os(STORE) else { return };
    let of = of.into_string().unwrap();
    let (first, store) = of.split_once(' ').unwrap();
    let first: u64 = first.parse().unwrap();
    let last = Included(first + u64::from(std::process::id()));
    let file = backend(&PathBuf::from(store));
    file.lock_range(Included(first), last).unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Another process that holds a lock.
struct Holder(Child);

impl Holder {
    fn of(store: &Path, first: u64) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "held_up::holds"])
            .env(STORE, format!("{first} {}", store.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let file = backend(store);
        let begun = Instant::now();
        while !file.query_lock_range(Included(first), Included(first)).unwrap() {
            assert!(begun.elapsed() < PATIENCE, "it does not take the lock");
            std::thread::sleep(Duration::from_millis(1));
        }
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        go_on(&self.0);
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// A process that appends what it is sent, through a journal.
struct Appender(Child);

impl Appender {
    fn begin(scene: &Scene) -> Self {
        let child = command(&scene.store())
            .args(["append", "s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut appender = Self(child.unwrap());
        for _ in 0..3 {
            appender.send();
            let mut id = String::new();
            BufReader::new(appender.0.stdout.as_mut().unwrap()).read_line(&mut id).unwrap();
            assert_eq!(id.trim().len(), 8);
        }
        appender
    }

    fn send(&mut self) {
        let entry = r#"{"type":"message","message":{"role":"user","content":"next"}}"#;
        writeln!(self.0.stdin.as_mut().unwrap(), "{entry}").unwrap();
    }

    /// Ends it, and says what it complained of.
    fn ended(mut self) -> (bool, String) {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    }
}

fn entries(scene: &Scene) -> usize {
    scene.run(["export", "s"]).ok().text().matches("next").count()
}

/// Waits until a process has ended, and says what it complained of.
fn end(mut appender: Appender) -> (bool, String) {
    drop(appender.0.stdin.take());
    let begun = Instant::now();
    while appender.0.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "it waits for ever");
        std::thread::sleep(Duration::from_millis(10));
    }
    appender.ended()
}

#[test]
fn an_append_goes_on_without_a_process_that_keeps_others_from_the_journal() {
    for first in [JOURNAL, GATE] {
        for is_stopped in [true, false] {
            let scene = Scene::of_session(&file([header("s"), message("a1", None, "first")]));
            let mut appender = Appender::begin(&scene);
            let holder = Holder::of(&scene.store(), first);
            if is_stopped {
                stop(&holder.0);
            }
            appender.send();
            // What is there can be read meanwhile.
            assert_eq!(entries(&scene), 3);
            let (is_done, said) = end(appender);
            assert!(is_done, "{said}");
            assert_eq!(entries(&scene), 4);
            // The next process does not wait at all.
            let (is_done, said) = end(Appender::begin(&scene));
            assert!(is_done, "{said}");
            drop(holder);
            assert_eq!(entries(&scene), 7);
            let (is_done, said) = end(Appender::begin(&scene));
            assert!(is_done, "{said}");
            assert_eq!(entries(&scene), 10);
            assert!(scene.run(["verify"]).ok().text().contains("no problems"));
        }
    }
}

#[test]
fn a_change_fails_that_waits_for_the_transaction_of_a_stopped_process_and_names_it() {
    let scene = Scene::of_session(&file([header("s"), message("a1", None, "first")]));
    let holder = Holder::of(&scene.store(), TABLES);
    let file = backend(&scene.store());
    // As if the other process had the engine's lock, too.
    file.lock_range(Included(WRITER), Included(WRITER)).unwrap();
    stop(&holder.0);
    let line = message("a2", Some("a1"), "next");
    let run = scene.run_with_input(["append", "s"], format!("{line}\n").as_bytes());
    assert_ne!(run.status, 0);
    let process = format!("process {}, which is stopped", holder.0.id());
    assert!(run.stderr.contains(&process), "{}", run.stderr);
    drop((file, holder));
    assert_eq!(entries(&scene), 0);
    let (is_done, said) = end(Appender::begin(&scene));
    assert!(is_done, "{said}");
    assert_eq!(entries(&scene), 3);
}

#[test]
fn no_opening_waits_for_ever_for_a_stopped_process_that_has_the_store_alone() {
    let scene = Scene::of_session(&file([header("s"), message("a1", None, "first")]));
    let holder = Holder::of(&scene.store(), ALONE);
    let file = backend(&scene.store());
    // As if the other process had it.
    file.lock_range(Included(OPEN), Included(OPEN)).unwrap();
    stop(&holder.0);
    #[cfg(target_os = "linux")]
    a_signal_ends_the_opening(&scene);
    let run = scene.run(["ls"]);
    assert_ne!(run.status, 0);
    let process = format!("process {}, which is stopped", holder.0.id());
    assert!(run.stderr.contains(&process), "{}", run.stderr);
    drop((file, holder));
    assert_eq!(scene.run(["ls"]).ok().text().lines().count(), 1);
}

#[cfg(target_os = "linux")]
fn a_signal_ends_the_opening(scene: &Scene) {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::Signal;

    let file = scene.write("other.jsonl", b"");
    let mut import = command(&scene.store()).arg("import").arg(file).spawn().unwrap();
    let descriptors = format!("/proc/{}/fd", import.id());
    let has_opened = || {
        let links = std::fs::read_dir(&descriptors).unwrap().flatten();
        let mut files = links.filter_map(|link| std::fs::read_link(link.path()).ok());
        files.any(|file| file == scene.store())
    };
    let begun = Instant::now();
    while !has_opened() {
        assert!(begun.elapsed() < PATIENCE, "it does not open the store");
        std::thread::sleep(Duration::from_millis(1));
    }
    signal(&import, Signal::TERM);
    assert_eq!(import.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
}
