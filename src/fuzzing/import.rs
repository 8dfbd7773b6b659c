//! The target of a whole import, with what it leaves in a store.

use leafline_import::Family;

use crate::export::ExportMode;
use crate::import::{FileReport, ImportObserver, ImportOptions, ImportStatus, Recovery};
use crate::store::Store;

/// What an import says of its file.
#[derive(Default)]
struct Reported(Option<FileReport>);

impl ImportObserver for Reported {
    fn file(&mut self, report: &FileReport) {
        self.0 = Some(report.clone());
    }
}

/// A file that is imported comes back byte by byte, and again it is unchanged; whatever it has, the store verifies.
pub(super) fn import(data: &[u8]) {
    let Some((&[family, recovery], file)) = data.split_first_chunk() else { return };
    let recovery = match recovery % 3 {
        0 => Recovery::Documented,
        1 => Recovery::All,
        _ => Recovery::None,
    };
    // A number of no family leaves the choice to the file.
    let options =
        ImportOptions { family: Family::from_code(family), recovery, ..ImportOptions::default() };
    let folder = super::folder();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, file).expect("a file can be written");
    let store = Store::open(folder.path().join("store")).expect("a store can be made");
    let import = || {
        let mut reported = Reported::default();
        store.import(&[&path], &options, &mut reported).expect("the store can be written");
        reported.0.expect("the file is reported")
    };
    let report = import();
    if report.status == ImportStatus::Imported {
        let id = report.session.expect("an imported file has a session");
        let reader = store.reader(&id).expect("the session is there");
        let mut exported = Vec::new();
        reader.export(&ExportMode::Exact, &mut exported).expect("it can be exported");
        assert!(exported == file, "other bytes come back");
        let mut current = Vec::new();
        reader.export(&ExportMode::Current, &mut current).expect("it can be exported");
        let mut tree = Vec::new();
        reader.get_tree().and_then(|tree_of| tree_of.write_json(&mut tree)).expect("it has a tree");
        assert_eq!(import().status, ImportStatus::Unchanged);
    }
    let problems = store.verify().expect("the store can be read").problems;
    assert!(problems.is_empty(), "{problems:#?}");
}
