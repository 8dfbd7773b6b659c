//! What ends a command early.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::text;

/// Why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The library's.
    #[error(transparent)]
    Library(#[from] leafline::Error),
    /// Standard output took no more.
    #[error("writing to standard output: {0}")]
    Output(#[from] std::io::Error),
    /// A value that is no JSON.
    #[error("writing JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// No place for the store is known.
    #[error(
        "no folder for the store is known ({0}); name its file with --store FILE or in LEAFLINE_STORE"
    )]
    NoDataFolder(#[source] etcetera::HomeDirError),
    /// The folder that --blobs names is not there.
    #[error("--blobs {path}: there is no such folder; name the one that holds the blobs")]
    NoBlobFolder {
        /// What was named.
        path: PathBuf,
    },
    /// Arguments that clap takes and that do not go together.
    #[error("{0}")]
    Usage(clap::Error),
}

impl Failure {
    /// Whether the reader of standard output has gone.
    pub(super) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Output(error) | Self::Library(leafline::Error::Output(error)) => {
                error.kind() == ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }

    /// Says on standard error what went wrong.
    pub(super) fn tell(&self) {
        match self {
            // There is nowhere left to complain.
            Self::Usage(error) => drop(error.print()),
            other => complain(&other.to_string()),
        }
    }

    /// The process's exit status.
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

/// Writes a message to standard error, as the command's.
pub(super) fn complain(message: &str) {
    // Ids and paths in a message may hold anything. When standard error is gone, nobody is there to be told.
    let _ = writeln!(std::io::stderr(), "leafline: {}", text::printable(message));
}
