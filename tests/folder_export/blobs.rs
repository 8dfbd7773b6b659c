//! Forms whose bytes depend on blobs.

use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::{Family, Store};
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

/// A session of omp that refers to an image in the store and to one that is not.
fn session_of_omp(hash: &str) -> String {
    let missing = "0".repeat(64);
    let header = r#"{"type":"session","version":3,"id":"o","cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z"}"#;
    let image =
        |hash| format!(r#"{{"type":"image","mimeType":"image/png","data":"blob:sha256:{hash}"}}"#);
    let blocks = [image(hash), image(&missing), image(hash)].join(",");
    let message = format!(r#"{{"role":"user","content":[{blocks}]}}"#);
    format!(
        "{header}\n{{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"message\":{message}}}\n"
    )
}

#[test]
fn the_blobs_of_omps_sessions_are_written_where_omp_looks_for_them() {
    let exports = Exports::new();
    let name = exports.store().put_blob(b"a picture").unwrap();
    let path = exports.place.write("o.jsonl", session_of_omp(&name));
    let options = ImportOptions { family: Some(Family::Omp), ..ImportOptions::default() };
    exports.place.import_with(&path, &options);
    exports.import("p", &session("p", "/w", &[&format!("blob:sha256:{name}")]));
    exports.gives(&[("o", "written"), ("p", "written")]);
    let blobs = exports.folder.join("omp/blobs");
    let files = || -> Vec<_> {
        std::fs::read_dir(&blobs).unwrap().map(|file| file.unwrap().file_name()).collect()
    };
    assert_eq!(files(), [name.as_str()]);
    assert_eq!(std::fs::read(blobs.join(&name)).unwrap(), b"a picture");
    assert!(!exports.folder.join("pi/blobs").exists(), "pi does not look for blobs");
    let reader = exports.store().reader("o").unwrap();
    assert_eq!(reader.blob_references().unwrap(), [name.as_str()]);

    // It comes back when it is gone.
    std::fs::remove_file(blobs.join(&name)).unwrap();
    exports.gives(&[("o", "unchanged"), ("p", "unchanged")]);
    assert_eq!(files(), [name.as_str()]);

    // Another store takes the folder with its blobs.
    let other = Store::in_memory().unwrap();
    other.import(&[&exports.folder], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!(other.get_blob(&name).unwrap().as_deref(), Some(&b"a picture"[..]));
}

#[test]
fn a_form_with_all_in_it_has_no_blobs() {
    let mut exports = Exports::new();
    let name = exports.store().put_blob(b"a picture").unwrap();
    let file = session_of_omp(&name).replace(&"0".repeat(64), &name);
    let path = exports.place.write("o.jsonl", file);
    let options = ImportOptions { family: Some(Family::Omp), ..ImportOptions::default() };
    exports.place.import_with(&path, &options);
    exports.options.mode = ExportMode::Portable;
    exports.gives(&[("o", "written")]);
    assert!(!exports.folder.join("omp/blobs").exists());
}
