//! Files of a session storage.

use std::path::PathBuf;
use std::sync::Arc;

use super::Error;

/// Why an operation of a session storage has no effect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no file at this path.
    #[error("there is no file {path}")]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// The file is not as long as the writer believes: somebody else has written it.
    #[error(
        "{path} was changed by somebody else: {} expected, {} found; nothing was written, load it again",
        size(*.expected), size(*.actual)
    )]
    Conflict {
        /// The path.
        path: PathBuf,
        /// The bytes that the writer believes it has; `None` for no file.
        expected: Option<u64>,
        /// The bytes that it has; `None` for no file.
        actual: Option<u64>,
    },
    /// The path is that of a folder: files are below it.
    #[error("{path} is a folder")]
    IsFolder {
        /// The path.
        path: PathBuf,
    },
    /// A file is where a folder would have to be.
    #[error("{path} is a file, so no other file can be below it")]
    NotAFolder {
        /// The path of the file.
        path: PathBuf,
    },
    /// The path names no file: it ends in no name.
    #[error("{path:?} does not name a file")]
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// The writer was closed.
    #[error("the writer of {path} is closed")]
    Closed {
        /// The path.
        path: PathBuf,
    },
    /// A line could not be written. Nothing more is written through the same writer, so that no line is missing between
    /// others.
    #[error("{path}: {source}")]
    Writer {
        /// The path.
        path: PathBuf,
        /// The first error of the writer.
        source: Arc<Error>,
    },
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "no file".to_owned(), |bytes| format!("{bytes} bytes"))
}
