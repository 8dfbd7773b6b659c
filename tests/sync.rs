//! Bringing a store in step with files that others continue to write.
//!
//! Guards against lines that a sync misses, stores twice, or stores in halves.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use leafline::import::{FileReport, ImportOptions, ImportStatus};
use leafline_generate::{Family, Shape, generate};
use place::{Place, Reports};

/// Long ago, so that a file's time of modification shows that it was not written since.
fn age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn sync(place: &Place, path: &Path) -> FileReport {
    let mut reports = Reports::default();
    place.store.sync(&[path], &ImportOptions::default(), &mut reports).unwrap();
    assert_eq!(reports.0.len(), 1, "{:?}", reports.0);
    reports.0.remove(0)
}

fn append(path: &Path, bytes: &[u8]) {
    File::options().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

fn session(family: Family, bytes: u64) -> Vec<u8> {
    let shape = Shape { bytes, family, ..Shape::default() };
    let mut out = Vec::new();
    generate(&shape, &mut out).unwrap();
    out
}

/// The file as it is, and the store with the same bytes.
fn assert_in_step(place: &Place, report: &FileReport, path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    assert!(place.exact(report.session.as_deref().unwrap()) == bytes, "{report:?}");
    place.assert_sound();
}

fn written(place: &Place, bytes: &[u8]) -> PathBuf {
    let path = place.write("session.jsonl", bytes);
    age(&path, 100);
    path
}

#[test]
fn a_file_of_the_same_size_and_time_is_not_opened() {
    let place = Place::new();
    let path = written(&place, &session(Family::Pi, 200_000));
    let first = sync(&place, &path);
    assert_eq!(first.status, ImportStatus::Imported);
    // The test sees that the file was not opened.
    let mut bytes = std::fs::read(&path).unwrap();
    let other = bytes.len() / 2;
    bytes[other] ^= 1;
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, &bytes).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let second = sync(&place, &path);
    assert_eq!((second.status, second.entries), (ImportStatus::Unchanged, first.entries));
    assert_eq!(second.session, first.session);
    // An import compares the whole.
    assert_ne!(place.import(&path).status, ImportStatus::Unchanged);
}

#[test]
fn a_grown_file_brings_what_is_new() {
    for family in [Family::Pi, Family::Omp, Family::Claude] {
        let place = Place::new();
        let whole = session(family, 3_000_000);
        let mut ends: Vec<usize> =
            (0..whole.len()).filter(|&at| whole[at] == b'\n').map(|at| at + 1).collect();
        ends.dedup();
        let at = |part: usize| ends[ends.len() * part / 10 - 1];
        let path = written(&place, &whole[..at(3)]);
        assert_eq!(sync(&place, &path).status, ImportStatus::Imported);
        for part in 4..=10 {
            append(&path, &whole[at(part - 1)..at(part)]);
            age(&path, 100 - part as u64);
            let report = sync(&place, &path);
            assert_eq!(report.status, ImportStatus::Grown, "{report:?}");
            assert_in_step(&place, &report, &path);
        }
        assert_eq!(sync(&place, &path).status, ImportStatus::Unchanged);
        // It equals an import of the whole file.
        let other = Place::new();
        let name = path.file_name().unwrap().to_str().unwrap();
        let fresh = other.import(&other.write(name, &whole));
        let facts = |place: &Place, report: &FileReport| {
            let reader = place.store.reader(report.session.as_deref().unwrap()).unwrap();
            (reader.facts(), reader.get_leaf_id().unwrap())
        };
        assert_eq!(facts(&place, &sync(&place, &path)), facts(&other, &fresh));
    }
}

/// The number of bytes that the store takes from a file that has grown.
fn new_bytes(place: &Place, path: &Path) -> u64 {
    let totals = place.store.sync(&[path], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!(totals.grown, 1, "{totals:?}");
    totals.new_bytes
}

/// The facts of a session that do not depend on how it was imported.
fn standing(place: &Place) -> (leafline::SessionFacts, Option<String>) {
    let id = place.store.sessions().unwrap().remove(0).id;
    let reader = place.store.reader(&id).unwrap();
    (reader.facts(), reader.get_leaf_id().unwrap())
}

#[test]
fn much_that_is_new_comes_in_pieces() {
    let place = Place::new();
    let whole = session(Family::Pi, 38_000_000);
    let end = |at: usize| at + whole[at..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let (before, after) = (end(19_200_000), end(37_000_000));
    let path = written(&place, &whole[..before]);
    let report = sync(&place, &path);
    append(&path, &whole[before..after]);
    assert_eq!(new_bytes(&place, &path), (after - before) as u64);
    assert_in_step(&place, &report, &path);
    // Its last line is an entry that already exists: everything must be indexed again, after the first pieces were
    // stored.
    append(&path, &whole[after..]);
    append(&path, &whole[before..after]);
    let size = std::fs::metadata(&path).unwrap().len();
    assert_eq!(new_bytes(&place, &path), size);
    assert_in_step(&place, &report, &path);
    let fresh = Place::new();
    fresh.import(&fresh.write("session.jsonl", std::fs::read(&path).unwrap()));
    assert_eq!(standing(&place), standing(&fresh));
}

#[test]
fn an_irregular_session_gets_what_is_new() {
    let (header, entry) = (
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/"}"#,
        |id: &str, parent: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-02-16T10:20:30.000Z","message":{{"role":"user","content":"{id}"}}}}"#
            )
        },
    );
    let place = Place::new();
    let mut lines =
        [header.to_owned(), entry("b", "a"), entry("a", ""), entry("a", "b")].join("\n");
    lines.push('\n');
    let path = written(&place, lines.as_bytes());
    let report = sync(&place, &path);
    // What fits below the existing entries, an orphan, and what changes existing entries: a repeated id, an orphan's
    // parent.
    for (id, parent, is_whole) in [
        ("c", "b", false),
        ("d", "c", false),
        ("e", "later", false),
        ("b", "d", true),
        ("f", "e", false),
        ("later", "f", true),
        ("g", "later", false),
    ] {
        let line = format!("{}\n", entry(id, parent));
        append(&path, line.as_bytes());
        let size = std::fs::metadata(&path).unwrap().len();
        let expected = if is_whole { size } else { line.len() as u64 };
        assert_eq!(new_bytes(&place, &path), expected, "{id}");
        assert_in_step(&place, &report, &path);
        let fresh = Place::new();
        fresh.import(&fresh.write("session.jsonl", std::fs::read(&path).unwrap()));
        assert_eq!(standing(&place), standing(&fresh), "{id}");
        let tree = |place: &Place| {
            let mut json = Vec::new();
            place.store.reader("s").unwrap().get_tree().unwrap().write_json(&mut json).unwrap();
            String::from_utf8(json).unwrap()
        };
        assert_eq!(tree(&place), tree(&fresh), "{id}");
    }
}

#[test]
fn a_line_that_is_being_written_waits() {
    let place = Place::new();
    let whole = session(Family::Pi, 100_000);
    let cut = whole.len() - 10;
    let path = place.write("session.jsonl", &whole[..cut]);
    let report = sync(&place, &path);
    let stored = place.exact(report.session.as_deref().unwrap());
    assert!(stored.ends_with(b"\n") && whole.starts_with(&stored) && stored.len() < cut);
    assert_eq!(report.malformed, 0);
    append(&path, &whole[cut..]);
    let report = sync(&place, &path);
    assert_eq!(report.status, ImportStatus::Grown);
    assert_in_step(&place, &report, &path);
    // One that nobody has gone on with is the file's last line.
    append(&path, b"{\"type\":\"mess");
    age(&path, 10);
    let report = sync(&place, &path);
    assert_eq!((report.status, report.malformed), (ImportStatus::Grown, 1));
    assert_in_step(&place, &report, &path);
    append(&path, b"age\"}\n");
    age(&path, 5);
    let report = sync(&place, &path);
    assert_eq!((report.status, report.malformed), (ImportStatus::Grown, 0));
    assert_in_step(&place, &report, &path);
}

/// A file that another machine's clock has dated, or that was given a time.
#[test]
fn the_unfinished_last_line_of_a_file_from_the_future_is_taken() {
    let place = Place::new();
    let path = place.write("session.jsonl", session(Family::Pi, 20_000));
    append(&path, b"{\"type\":\"custom\"");
    let ahead = SystemTime::now() + Duration::from_secs(1_000_000);
    File::options().write(true).open(&path).unwrap().set_modified(ahead).unwrap();
    let report = sync(&place, &path);
    assert_eq!((report.status, report.malformed), (ImportStatus::Imported, 1));
    assert_in_step(&place, &report, &path);
    assert_eq!(sync(&place, &path).status, ImportStatus::Unchanged);
}

#[test]
fn what_is_stored_of_an_unfinished_line_stays() {
    let place = Place::new();
    let whole = session(Family::Pi, 100_000);
    let cut = whole.len() - 10;
    // An import takes the line as it is. A sync that comes right behind it, or behind a new time of the file, does not
    // take it away again.
    let path = place.write("session.jsonl", &whole[..cut]);
    assert_eq!(place.import(&path).malformed, 1);
    age(&path, 0);
    let report = sync(&place, &path);
    assert_eq!((report.status, report.malformed), (ImportStatus::Unchanged, 1), "{report:?}");
    assert_in_step(&place, &report, &path);
    for end in [cut + 5, whole.len()] {
        std::fs::write(&path, &whole[..end]).unwrap();
        let report = sync(&place, &path);
        assert_eq!(report.status, ImportStatus::Grown, "{report:?}");
        assert_in_step(&place, &report, &path);
    }
}

#[test]
fn what_is_rewritten_ahead_of_new_lines_is_seen() {
    let place = Place::new();
    let mut bytes = session(Family::Omp, 2_500_000);
    let path = written(&place, &bytes);
    assert_eq!(sync(&place, &path).status, ImportStatus::Imported);
    // omp writes its title in place, and continues.
    let title = bytes.windows(9).position(|window| window == b"\"title\":\"").unwrap() + 9;
    bytes[title] = b'X';
    let last =
        bytes.len() - 1 - bytes[..bytes.len() - 1].iter().rev().position(|&b| b == b'\n').unwrap();
    let line = bytes[last..].to_vec();
    bytes.extend_from_slice(
        &String::from_utf8(line).unwrap().replacen("\"id\":\"", "\"id\":\"f", 1).into_bytes(),
    );
    std::fs::write(&path, &bytes).unwrap();
    age(&path, 50);
    let report = sync(&place, &path);
    assert!(matches!(report.status, ImportStatus::Grown | ImportStatus::Replaced), "{report:?}");
    assert_in_step(&place, &report, &path);
    // If a shorter file replaces it, that is another session, and the store keeps the longer one.
    let shorter = session(Family::Omp, 300_000);
    std::fs::write(&path, &shorter[..shorter.len() / 2]).unwrap();
    age(&path, 20);
    let report = sync(&place, &path);
    assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
    assert_in_step(&place, &report, &path);
    assert_eq!(place.exact(report.session.unwrap().trim_end_matches("~2")), bytes);
}

#[test]
fn files_come_and_go() {
    let place = Place::new();
    let folder = place.path("folder");
    let bytes = session(Family::Pi, 50_000);
    let first = place.write("folder/a.jsonl", &bytes);
    place.write("folder/none.jsonl", "no session\n");
    let options = ImportOptions::default();
    let totals = place.store.sync(&[&folder], &options, &mut ()).unwrap();
    assert_eq!((totals.imported, totals.skipped), (1, 1));
    std::fs::remove_file(&first).unwrap();
    let totals = place.store.sync(&[&folder], &options, &mut ()).unwrap();
    assert_eq!((totals.files, totals.skipped), (1, 1));
    assert_eq!(place.store.sessions().unwrap().len(), 1);
    // Back under another name, by a rename: the same session.
    let aside = place.write("aside", &bytes);
    std::fs::rename(aside, folder.join("b.jsonl")).unwrap();
    let totals = place.store.sync(&[&folder], &options, &mut ()).unwrap();
    assert_eq!((totals.unchanged, totals.skipped), (1, 1));
    assert_eq!(place.store.sessions().unwrap().len(), 1);
}

/// Sets a flag as soon as something was read.
#[cfg(feature = "watch")]
struct StopAtOnce<'s>(&'s std::sync::atomic::AtomicBool, Vec<FileReport>);

#[cfg(feature = "watch")]
impl leafline::import::ImportObserver for StopAtOnce<'_> {
    fn read(&mut self, _: u64) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    fn file(&mut self, report: &FileReport) {
        self.1.push(report.clone());
    }
}

#[cfg(feature = "watch")]
#[test]
fn a_watch_that_is_stopped_in_its_first_sync_stops_between_files() {
    let place = Place::new();
    for number in 0..40 {
        let header = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s{number}\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/\"}}\n"
        );
        place.write(&format!("sessions/{number}.jsonl"), header);
    }
    let folder = place.path("sessions");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut observer = StopAtOnce(&stop, Vec::new());
    let options = ImportOptions::default();
    let mut watch = place.store.watch(&[&folder], &options).unwrap();
    watch.run(&mut observer, &stop).unwrap();
    // The current file is imported, and stays.
    assert_eq!(observer.1.len(), 1, "{:?}", observer.1);
    assert_eq!(observer.1[0].status, ImportStatus::Imported);
    assert_eq!(place.store.sessions().unwrap().len(), 1);
    // One that is stopped before it begins does nothing.
    watch.run(&mut (), &stop).unwrap();
    assert_eq!(place.store.sessions().unwrap().len(), 1);
    let totals = place.store.sync(&[&folder], &options, &mut ()).unwrap();
    assert_eq!((totals.imported, totals.unchanged), (39, 1));
}
