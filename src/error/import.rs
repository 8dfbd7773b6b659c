//! Errors of storing a file.

use crate::catalog::import::{FileReport, ImportTotals};

/// Why a file was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Rows of a session that is written in several commits were gone before the last one: another process took them
    /// for those of a dead process. Nothing of the session is stored.
    #[error(
        "what was written of session {id} was removed before it was complete ({problem}); nothing of it is stored: import it again"
    )]
    Lost {
        /// The session's id.
        id: String,
        /// What is not there.
        problem: String,
    },
    /// Paths that the caller has named are not there or cannot be read. The others are imported.
    #[error("{}", reasons(.reports))]
    Unreadable {
        /// The reports of these paths, as the observer has them.
        reports: Vec<FileReport>,
        /// The outcome of all files, in which these have failed.
        totals: Box<ImportTotals>,
    },
}

/// The paths, each with its reason.
fn reasons(reports: &[FileReport]) -> String {
    let one = |report: &FileReport| {
        format!("{}: {}", report.path.display(), report.reason.as_deref().unwrap_or_default())
    };
    reports.iter().map(one).collect::<Vec<_>>().join("; ")
}
