//! Errors about sessions and entries, and about operations that a family does not have.

use std::path::PathBuf;

use leafline_import::Family;

/// A session or an entry is missing or ambiguous, or the family does not have the operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// No session has this id, or an id that begins with it.
    #[error("no session has the id {id:?} or one that begins with it")]
    NotFound {
        /// What was asked for.
        id: String,
    },
    /// Lines of the session were changed after its reader was [paused](crate::SessionReader::pause).
    #[error("lines of session {session} were changed after it was read; make a new reader")]
    Rewritten {
        /// The session's id.
        session: String,
    },
    /// A session continues another one without repeating its lines, and the store does not have that one.
    #[error(
        "session {session} continues session {base}, which is not in the store; import its file as well"
    )]
    BaseNotFound {
        /// The session.
        session: String,
        /// The id of the session that it continues.
        base: String,
    },
    /// The ids of several sessions begin with the given text.
    #[error("{prefix:?} is the beginning of {count} session ids ({}); give more of it", .examples.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// How many ids begin with it.
        count: usize,
        /// The first few of them.
        examples: Vec<String>,
    },
    /// A new session was given an id that another one has.
    #[error("a session with the id {id:?} exists already; open it, or choose another id")]
    Exists {
        /// The id.
        id: String,
    },
    /// No new session can have this id.
    #[error("{id:?} cannot be the id of a new session: {problem}")]
    InvalidId {
        /// The id.
        id: String,
        /// Why not.
        problem: &'static str,
    },
    /// A working directory was named by an empty path.
    #[error("the path of a working directory is empty")]
    EmptyDirectory,
    /// The session has no entry with this id.
    #[error("session {session} has no entry {entry:?}")]
    EntryNotFound {
        /// The session's id.
        session: String,
        /// The entry's id.
        entry: String,
    },
    /// The ids of several entries of the session begin with the given text.
    #[error("{prefix:?} is the beginning of {count} entry ids of session {session} ({}); give more of it", .examples.join(", "))]
    AmbiguousEntry {
        /// The session's id.
        session: String,
        /// What was asked for.
        prefix: String,
        /// How many ids begin with it.
        count: usize,
        /// The first few of them.
        examples: Vec<String>,
    },
    /// The session has no file of this name beside it.
    #[error("session {session} has no file {} beside it", .name.display())]
    FileNotFound {
        /// The session's id.
        session: String,
        /// The file's path in the folder beside the session's file.
        name: PathBuf,
    },
    /// The session's program has no such operation, or Leafline does not write its family.
    #[error("session {id} is one of {family}, for which there is no {operation}")]
    WrongFamily {
        /// The session's id.
        id: String,
        /// Its family.
        family: Family,
        /// The operation, as in "fork".
        operation: &'static str,
    },
}
