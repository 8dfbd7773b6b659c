//! What a host gives: paths.
//!
//! Guards against a path that is wrong and that only an observer hears of.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::io::Read;

use leafline::error::ImportError;
use leafline::import::{ImportOptions, ImportTotals};
use leafline::{Error, Result};
use place::Place;

const SESSION: &str = concat!(
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#,
    "\n",
);

/// The paths that a call could not read, its message, and its totals.
fn unreadable(imported: Result<ImportTotals>) -> (Vec<String>, String, ImportTotals) {
    let error = imported.unwrap_err();
    assert_eq!(error.code(), "IMPORT_UNREADABLE", "{error}");
    let message = error.to_string();
    let Error::Import(ImportError::Unreadable { reports, totals }) = error else { unreachable!() };
    (reports.iter().map(|report| report.path.display().to_string()).collect(), message, *totals)
}

#[test]
fn a_named_path_that_cannot_be_read_is_an_error_once_the_others_are_imported() {
    let place = Place::new();
    let session = place.write("s.jsonl", SESSION);
    let below_a_file = session.join("x");
    let too_long = place.path(&"x".repeat(300));
    let paths = [place.path("nope"), below_a_file, session, too_long];
    let wrong: Vec<String> = [0, 1, 3].map(|at: usize| paths[at].display().to_string()).into();
    let options = ImportOptions::default();
    for imported in
        [place.store.import(&paths, &options, &mut ()), place.store.sync(&paths, &options, &mut ())]
    {
        let (named, message, totals) = unreadable(imported);
        assert_eq!((&named, totals.failed), (&wrong, 3));
        assert!(wrong.iter().all(|path| message.contains(path.as_str())), "{message}");
    }
    assert_eq!(place.store.sessions().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_of_a_folder_that_cannot_be_read_is_reported_alone() {
    let place = Place::new();
    place.write("in/s.jsonl", SESSION);
    std::os::unix::fs::symlink("nowhere", place.path("in/x.jsonl")).unwrap();
    let options = ImportOptions::default();
    let totals = place.store.import(&[place.path("in")], &options, &mut ()).unwrap();
    assert_eq!((totals.imported, totals.failed), (1, 1));
    // The same file is an error if the caller names it.
    let link = place.path("in/x.jsonl");
    let named =
        unreadable(place.store.sync(&[place.path("in"), link.clone()], &options, &mut ())).0;
    assert!(named.contains(&link.display().to_string()));
}

struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the line is cut"))
    }
}

#[test]
fn a_stream_that_cannot_be_read_is_an_error() {
    let place = Place::new();
    let imported = place.store.import_from(&mut Failing, &ImportOptions::default(), &mut ());
    assert!(unreadable(imported).1.contains("the line is cut"));
}

#[test]
fn a_folder_of_blobs_must_be_there() {
    let place = Place::new();
    let session = place.write("s.jsonl", SESSION);
    for blobs in [place.path("nope"), session.clone()] {
        let options = ImportOptions { blobs: Some(blobs.clone()), ..ImportOptions::default() };
        let calls = [
            place.store.import(&[&session], &options, &mut ()),
            place.store.sync(&[&session], &options, &mut ()),
            place.store.import_from(&mut SESSION.as_bytes(), &options, &mut ()),
        ];
        for imported in calls {
            let error = imported.unwrap_err();
            assert!(matches!(&error, Error::File { path, .. } if *path == blobs), "{error}");
        }
    }
    assert!(place.store.sessions().unwrap().is_empty());
}
