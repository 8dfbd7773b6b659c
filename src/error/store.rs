//! The store itself: its file, opening it, and writing it.

use std::path::PathBuf;

use super::Error;

/// Why a store cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store at this path, and none should be created.
    #[error("store {path} does not exist")]
    NotFound {
        /// The store's file.
        path: PathBuf,
    },
    /// The file is a redb database of something else, or of a later Leafline.
    #[error("{path} is not a store of this version of Leafline: {problem}")]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        problem: String,
    },
    /// This version of Leafline does not know the store's format.
    #[error("store {path} has format {format}, which this Leafline does not know; {}", reads(*.reader))]
    UnknownFormat {
        /// The store's file.
        path: PathBuf,
        /// Its format.
        format: u64,
        /// The first version of Leafline that reads it, if the store says so: major, minor, patch.
        reader: Option<[u16; 3]>,
    },
    /// Others are using the store, and the operation needs it exclusively.
    #[error(
        "store {path} is in use by another process or handle; try again when no one else has it open"
    )]
    InUse {
        /// The store's file.
        path: PathBuf,
    },
    /// The store's file is read-only, and the operation writes.
    #[error("store {path} cannot be written: its file or its folder is read-only")]
    ReadOnly {
        /// The store's file.
        path: PathBuf,
    },
    /// The disk has no room for the commit that deletes sessions: none is deleted.
    #[error(
        "nothing was deleted: there is no room on the disk of {path} ({source}); make about {} kB free and try again, deleting then gives its own space back",
        .needed.div_ceil(1000)
    )]
    NoRoomToRemove {
        /// The store's file.
        path: PathBuf,
        /// Approximate bytes that must be free.
        needed: u64,
        /// What failed.
        source: Box<Error>,
    },
}

fn reads(reader: Option<[u16; 3]>) -> String {
    match reader {
        Some([major, minor, patch]) => {
            format!("Leafline {major}.{minor}.{patch} and later read it")
        }
        None => "another version made it".to_owned(),
    }
}
