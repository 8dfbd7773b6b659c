//! The search index and its queries.

use std::path::PathBuf;

/// Why the search index cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The query has no word.
    #[error("{query:?} has no word to search for; letters and numbers make words")]
    NoWords {
        /// The search.
        query: String,
    },
    /// Another process is updating the search index.
    #[error(
        "the search index {path} is being written by another process; try again when that is done"
    )]
    IndexBusy {
        /// The index's folder.
        path: PathBuf,
    },
    /// The search index cannot be read or written. The store is not affected.
    #[error("the search index {path} cannot be used: {problem}")]
    Index {
        /// The index's folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Something else than the search index, or than one of its files, is in its place. It is not touched.
    #[error("{path} is in the way of the search index: {problem}")]
    FolderTaken {
        /// The folder or the file.
        path: PathBuf,
        /// How that is known.
        problem: String,
    },
}
