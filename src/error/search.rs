//! The search index and its queries.

use std::path::PathBuf;

/// Why the search index does not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A search that asks for no word.
    #[error("{query:?} has no word to search for; letters and numbers make words")]
    NoWords {
        /// The search.
        query: String,
    },
    /// Another process brings the search index in step.
    #[error(
        "the search index {path} is being written by another process; try again when that is done"
    )]
    IndexBusy {
        /// The index's folder.
        path: PathBuf,
    },
    /// The search index cannot be read or written. The store is not concerned.
    #[error("the search index {path} cannot be used: {problem}")]
    Index {
        /// The index's folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// What is in the place of the search index, or of one of its files, is somebody else's. It is left alone.
    #[error("{path} is in the way of the search index: {problem}")]
    FolderTaken {
        /// The folder or the file.
        path: PathBuf,
        /// How that is known.
        problem: String,
    },
}
