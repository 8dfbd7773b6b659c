//! A store in a folder of its own.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![allow(unreachable_pub, reason = "the test files are crates of their own")]
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};

use leafline::{ExportMode, FileReport, ImportOptions, ImportTotals, Store};

pub struct Place {
    pub folder: tempfile::TempDir,
    pub store: Store,
}

#[derive(Default)]
pub struct Reports(pub Vec<FileReport>);

impl leafline::ImportObserver for Reports {
    fn file(&mut self, report: &FileReport) {
        self.0.push(report.clone());
    }
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store.leafline")).unwrap();
        Self { folder, store }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn import(&self, path: &Path) -> FileReport {
        self.import_with(path, &ImportOptions::default())
    }

    pub fn import_with(&self, path: &Path, options: &ImportOptions) -> FileReport {
        let mut reports = Reports::default();
        self.store.import(&[path], options, &mut reports).unwrap();
        assert_eq!(reports.0.len(), 1, "{:?}", reports.0);
        reports.0.remove(0)
    }

    pub fn import_all(&self, paths: &[PathBuf]) -> (ImportTotals, Vec<FileReport>) {
        let mut reports = Reports::default();
        let totals = self.store.import(paths, &ImportOptions::default(), &mut reports).unwrap();
        (totals, reports.0)
    }

    pub fn export(&self, session: &str, mode: &ExportMode) -> Vec<u8> {
        let mut bytes = Vec::new();
        let reader = self.store.reader(session).unwrap();
        reader.export(mode, &mut bytes).unwrap();
        bytes
    }

    pub fn exact(&self, session: &str) -> Vec<u8> {
        self.export(session, &ExportMode::Exact)
    }

    /// The store has no damage. What is odd in the files is no damage.
    pub fn assert_sound(&self) {
        let verification = self.store.verify().unwrap();
        assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
    }
}

/// The folder of real files, where there is one.
pub fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("LEAFLINE_CORPUS").map(PathBuf::from);
    if corpus.is_none() {
        println!("skipped: LEAFLINE_CORPUS is not set");
    }
    corpus
}
