//! A store and a database with the same sessions, of a size.

use std::path::PathBuf;

use leafline::Store;
use leafline_generate::Shape;
use tempfile::TempDir;

use super::support::leafline_store::{self, Ending};
use super::support::session_file::{SessionFile, folder};
use super::support::sqlite_baseline;

/// The largest session: what is larger has several.
const MOST: u64 = 1_000_000_000;

/// A store and a database with the same sessions; deleted when dropped.
#[derive(Debug)]
pub(crate) struct Stores {
    folder: TempDir,
    /// The first session's id in the store; in the database it is session 1.
    pub(crate) session: String,
}

impl Stores {
    /// Both with generated sessions of so many bytes of JSONL.
    pub(crate) fn make(bytes: u64) -> Self {
        let folder = TempDir::new_in(folder()).expect("a folder can be made");
        let mut stores = Self { folder, session: String::new() };
        let mut left = bytes;
        let mut number = 1;
        while left > 0 {
            let shape = Shape { seed: number, bytes: left.min(MOST), ..Shape::default() };
            let file = SessionFile::of_shape(&shape);
            if number == 1 {
                stores.session = file.session_id();
            }
            leafline_store::import(&file, &stores.leafline(), Ending::AsItIs);
            let session = i64::try_from(number).expect("there are few sessions");
            sqlite_baseline::import_as(session, &file, &stores.sqlite());
            // Only the first is worth its place on the disk.
            if number > 1 {
                std::fs::remove_file(file.path()).expect("the file was just made");
            }
            left -= shape.bytes;
            number += 1;
        }
        stores
    }

    pub(crate) fn leafline(&self) -> PathBuf {
        self.path("sessions.leafline")
    }

    pub(crate) fn sqlite(&self) -> PathBuf {
        self.path("sessions.sqlite")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(self.leafline()).expect("the store can be opened")
    }
}
