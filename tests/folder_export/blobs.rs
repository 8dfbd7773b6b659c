//! Forms whose bytes depend on blobs.

use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use sha2::{Digest, Sha256};

use super::{Exports, session};

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_blob_that_comes_later_changes_the_portable_form() {
    let mut exports = Exports::new();
    exports.options.mode = ExportMode::Portable;
    let name = hash(b"a long text");
    exports.import("s", &session("s", "/w", &[&format!("blob:sha256:{name}")]));
    exports.gives(&[("s", "written")]);
    exports.gives(&[("s", "unchanged")]);
    let blobs = exports.place.write(&format!("blobs/{name}"), "a long text");
    let options =
        ImportOptions { blobs: blobs.parent().map(Into::into), ..ImportOptions::default() };
    exports.place.import_with(&exports.place.path("imported/s.jsonl"), &options);
    exports.gives(&[("s", "written")]);
    let held = std::fs::read_to_string(exports.file("s")).unwrap();
    assert!(held.contains("\"a long text\"") && !held.contains("blob:sha256"), "{held}");
}

#[test]
fn the_files_of_references_are_looked_after() {
    let mut exports = Exports::new();
    let blobs = exports.place.path("out");
    exports.options.mode = ExportMode::References { blobs: blobs.clone() };
    let name = hash(b"a long text");
    let from = exports.place.write(&format!("blobs/{name}"), "a long text");
    let options =
        ImportOptions { blobs: from.parent().map(Into::into), ..ImportOptions::default() };
    let path =
        exports.place.write("s.jsonl", session("s", "/w", &[&format!("blob:sha256:{name}")]));
    exports.place.import_with(&path, &options);
    exports.gives(&[("s", "written")]);
    std::fs::remove_dir_all(&blobs).unwrap();
    exports.gives(&[("s", "unchanged")]);
    let blob = blobs.join(name);
    assert_eq!(std::fs::read(&blob).unwrap(), b"a long text");
    // One that is damaged, torn or longer is no blob of that name.
    for damaged in ["b long text", "a long", "", "a long text and more"] {
        std::fs::write(&blob, damaged).unwrap();
        exports.gives(&[("s", "unchanged")]);
        assert_eq!(std::fs::read(&blob).unwrap(), b"a long text");
    }
    let time = std::time::SystemTime::UNIX_EPOCH;
    super::set_modified(&blob, time);
    exports.gives(&[("s", "unchanged")]);
    let modified = std::fs::metadata(&blob).unwrap().modified().unwrap();
    assert_eq!(modified, time, "a good one is not written again");
}
