//! Writing to a session.

/// Why nothing was written to a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The new entry or message is not one of the formats.
    #[error("{problem}")]
    InvalidEntry {
        /// What is wrong with it.
        problem: String,
    },
    /// The key under which an agent kit keeps a session is none.
    #[error("the {part} of the session's key {problem}")]
    InvalidKey {
        /// Which part of it.
        part: &'static str,
        /// What is wrong with that.
        problem: &'static str,
    },
    /// Messages that were to be replaced are not part of a path.
    #[error("the messages are not part of a path of session {session}: {problem}")]
    NotASegment {
        /// The session's id.
        session: String,
        /// Why not, in words.
        problem: String,
    },
    /// Others changed the session each time before it could be rewritten.
    #[error(
        "session {id} was changed by others while it was written again, several times over; try again"
    )]
    Contended {
        /// The session's id.
        id: String,
    },
    /// An earlier entry of this handle could not be stored, so nothing may be appended after it.
    #[error(
        "session {session} takes no more entries, since an earlier one could not be stored: {first}; open the session again to go on from what is stored"
    )]
    Latched {
        /// The session's id.
        session: String,
        /// The first error, in words.
        first: String,
    },
}
