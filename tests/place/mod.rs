//! A store in a folder of its own.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![allow(unreachable_pub, reason = "the test files are crates of their own")]
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};

use leafline::Store;
use leafline::error::ImportError;
use leafline::export::ExportMode;
use leafline::import::{FileReport, ImportOptions, ImportTotals};
use redb::{ConcurrencyMode, WriteTransaction};

/// The totals, also of an import that could not read one of its paths.
fn totals(imported: leafline::Result<ImportTotals>) -> ImportTotals {
    match imported {
        Err(leafline::Error::Import(ImportError::Unreadable { totals, .. })) => *totals,
        imported => imported.unwrap(),
    }
}

pub struct Place {
    pub folder: tempfile::TempDir,
    pub store: Store,
}

#[derive(Default)]
pub struct Reports(pub Vec<FileReport>);

impl leafline::import::ImportObserver for Reports {
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

    /// With a store in memory: for many cases one after the other.
    pub fn in_memory() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, store: Store::in_memory().unwrap() }
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
        totals(self.store.import(&[path], options, &mut reports));
        assert_eq!(reports.0.len(), 1, "{:?}", reports.0);
        reports.0.remove(0)
    }

    pub fn import_all(&self, paths: &[PathBuf]) -> (ImportTotals, Vec<FileReport>) {
        let mut reports = Reports::default();
        let imported = self.store.import(paths, &ImportOptions::default(), &mut reports);
        (totals(imported), reports.0)
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

    /// Changes tables of the store without the library.
    pub fn change_tables(&self, change: impl FnOnce(&WriteTransaction)) {
        let mut builder = redb::Builder::new();
        builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
        let database = builder.open(self.store.path()).unwrap();
        let transaction = database.begin_write().unwrap();
        change(&transaction);
        transaction.commit().unwrap();
    }

    /// The store has no damage. Oddities of the files are not damage.
    pub fn assert_sound(&self) {
        let verification = self.store.verify().unwrap();
        assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
    }
}

/// The folder of real files, if there is one.
pub fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("LEAFLINE_CORPUS").map(PathBuf::from);
    if corpus.is_none() {
        println!("skipped: LEAFLINE_CORPUS is not set");
    }
    corpus
}

/// The outlines of a session have the same tree as its nodes in memory: the same JSON, and segments with each entry
/// once.
pub fn assert_outlined(reader: &leafline::SessionReader) {
    let outlines = [
        (reader.get_outline().unwrap(), reader.get_tree().unwrap()),
        (reader.get_folded_outline().unwrap(), reader.get_folded_tree().unwrap()),
    ];
    for (outline, tree) in outlines {
        let (mut streamed, mut whole) = (Vec::new(), Vec::new());
        reader.write_tree(&outline, &mut streamed).unwrap();
        tree.write_json(&mut whole).unwrap();
        assert_eq!(String::from_utf8(streamed), String::from_utf8(whole), "{}", reader.id());
        let mut places = 0..tree.nodes().len();
        let mut walk = reader.read_outline(&outline);
        for (number, segment) in outline.segments().iter().enumerate() {
            walk.begin(number);
            let mut above = segment.parent().map(|parent| outline.segments()[parent].last());
            let mut entries = 0;
            while let Some(entry) = walk.next_entry().unwrap() {
                let node = &tree.nodes()[places.next().unwrap()];
                assert_eq!((entry.ordinal, entry.is_orphan), (node.ordinal, node.is_orphan));
                assert_eq!((entry.is_fork, entry.is_branch), (node.is_fork, node.is_branch));
                let parent = node.parent.map(|parent| tree.nodes()[parent].ordinal);
                assert_eq!((above, entry.is_root), (parent, parent.is_none()));
                assert_eq!(outline.segment_of(entry.ordinal), Some(number));
                assert_eq!(walk.line(entry.ordinal).unwrap().id(), node.id);
                above = Some(entry.ordinal);
                entries += 1;
            }
            assert_eq!((above, entries), (Some(segment.last()), segment.entries()));
        }
        assert!(places.is_empty());
        let leaf = tree.leaf().map(|leaf| tree.nodes()[leaf].ordinal);
        assert_eq!((outline.leaf(), outline.roots().len()), (leaf, tree.roots().len()));
        assert_eq!(outline.branches(), tree.branches());
        assert_eq!(outline.unreachable(), tree.unreachable());
    }
}
