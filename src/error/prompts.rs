//! The history of prompts.

use std::path::PathBuf;

/// Why a history of prompts was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The file is not a prompt history of omp, or SQLite cannot read or write it.
    #[error("{path} cannot be used as omp's history.db: {problem}")]
    OmpFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}
