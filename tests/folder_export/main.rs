//! A folder that an export of all sessions keeps in step, and that others write to.
//!
//! Guards against exports that overwrite other people's changes, or let a folder fall behind its store.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod blobs;
mod changes;
mod layout;
#[cfg(unix)]
mod links;
mod manifest;
mod moves;
mod names;
#[path = "../place/mod.rs"]
mod place;
mod together;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leafline::Store;
use leafline::export::{ExportMode, ExportOptions, ExportOutcome, ExportTotals};
use leafline::import::{ImportOptions, ImportStatus};
use place::Place;
use serde_json::json;

/// The report on a session's file: the status, the path relative to the folder, and the reason.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    session: String,
    status: &'static str,
    path: String,
    reason: String,
}

/// A store, and its export folder.
struct Exports {
    place: Place,
    folder: PathBuf,
    options: ExportOptions,
}

impl Exports {
    fn new() -> Self {
        let place = Place::new();
        let folder = place.path("exported");
        Self { place, folder, options: ExportOptions::default() }
    }

    /// With three pi sessions, `a`, `b` and `c`, of three projects.
    fn of_three() -> Self {
        let exports = Self::new();
        for id in ["a", "b", "c"] {
            exports.import(id, &session(id, &format!("/w/{id}"), &["first", "second"]));
        }
        exports
    }

    /// The session of a file with these bytes.
    fn import(&self, name: &str, bytes: &str) {
        self.import_as(name, bytes);
    }

    /// Imports a file; a session that was removed comes back.
    fn import_as(&self, name: &str, bytes: &str) -> ImportStatus {
        let path = self.place.write(&format!("imported/{name}.jsonl"), bytes);
        let options = ImportOptions { restore: true, ..ImportOptions::default() };
        self.place.import_with(&path, &options).status
    }

    fn store(&self) -> &Store {
        &self.place.store
    }

    fn run(&self) -> (ExportTotals, Vec<Told>) {
        self.run_of(self.store())
    }

    /// An export of another store into the folder.
    fn run_of(&self, store: &Store) -> (ExportTotals, Vec<Told>) {
        let mut all = Vec::new();
        let totals = store
            .export_all(&self.folder, &self.options, |report| {
                let path = report.path.strip_prefix(&self.folder).unwrap();
                let reason = match &report.outcome {
                    ExportOutcome::Kept { reason } => reason.to_string(),
                    ExportOutcome::Left { reason } => reason.clone(),
                    ExportOutcome::Failed(error) => error.to_string(),
                    _ => String::new(),
                };
                all.push(Told {
                    session: report.session.clone(),
                    status: report.outcome.name(),
                    path: path.to_str().unwrap().replace('\\', "/"),
                    reason,
                });
            })
            .unwrap();
        let count = |status| all.iter().filter(|told| told.status == status).count() as u64;
        assert_eq!(totals.written, count("written"));
        assert_eq!(totals.unchanged, count("unchanged"));
        assert_eq!(totals.kept, count("kept"));
        assert_eq!(totals.failed, count("failed"));
        assert_eq!(totals.removed, count("removed"));
        assert_eq!(totals.left, count("left"));
        let outcomes = totals.written + totals.unchanged + totals.kept + totals.failed;
        assert_eq!(totals.sessions, outcomes);
        (totals, all)
    }

    /// An export that reports this for each file, in the order of their sessions and words.
    #[track_caller]
    fn gives(&self, expected: &[(&str, &str)]) -> Vec<Told> {
        let (_, mut told) = self.run();
        told.sort_by(|a, b| (&a.session, a.status).cmp(&(&b.session, b.status)));
        let found: Vec<_> = told.iter().map(|told| (told.session.as_str(), told.status)).collect();
        assert_eq!(found, expected, "{told:#?}");
        told
    }

    /// The session's file, according to the last report.
    fn file(&self, id: &str) -> PathBuf {
        let (_, told) = self.run();
        self.folder.join(&told.iter().find(|told| told.session == id).unwrap().path)
    }

    /// The bytes that the session's file should have.
    fn bytes(&self, id: &str) -> Vec<u8> {
        self.place.export(id, &self.options.mode)
    }

    fn append(&self, id: &str, text: &str) {
        let mut session = self.store().session(id).unwrap();
        session.append_message(&json!({"role": "user", "content": text})).unwrap();
    }

    fn sync(&self) -> leafline::import::ImportTotals {
        self.store().sync(&[&self.folder], &ImportOptions::default(), &mut ()).unwrap()
    }

    /// Shows whether any file was touched: inode, time and size of each, including the manifest.
    fn stamps(&self) -> BTreeMap<PathBuf, (u64, SystemTime, u64)> {
        let mut stamps = BTreeMap::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let metadata = std::fs::metadata(&path).unwrap();
                    let modified = metadata.modified().unwrap();
                    stamps.insert(path, (inode(&metadata), modified, metadata.len()));
                }
            }
        }
        stamps
    }
}

#[cfg(unix)]
fn inode(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}

/// A session of pi's.
fn session(id: &str, cwd: &str, texts: &[&str]) -> String {
    let mut lines = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-03-01T08:00:00.000Z\",\"cwd\":\"{cwd}\"}}\n"
    );
    let mut parent = "null".to_owned();
    for (number, text) in texts.iter().enumerate() {
        lines.push_str(&message(&format!("m{number}"), &parent, text));
        parent = format!("\"m{number}\"");
    }
    lines
}

/// A line of it; the parent as JSON.
fn message(id: &str, parent: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-03-01T08:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

fn append(path: &Path, bytes: impl AsRef<[u8]>) {
    File::options().append(true).open(path).unwrap().write_all(bytes.as_ref()).unwrap();
}

fn set_modified(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Other bytes of the same length in the middle of the file.
fn spoil(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn exact() -> ExportOptions {
    ExportOptions { mode: ExportMode::Exact, ..ExportOptions::default() }
}
