//! Errors of storing a file.

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
}
