//! Which session or entry is meant, and whether its family has what was asked for.

use leafline_import::Family;

/// A session or an entry that is not there or not the only one, or whose family has no such thing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// No session has this id, nor an id that begins with it.
    #[error("no session has the id {id:?} or one that begins with it")]
    NotFound {
        /// What was asked for.
        id: String,
    },
    /// A session goes on from another one without repeating its lines, and the store does not have that.
    #[error(
        "session {session} goes on from session {base}, which is not in the store; import its file as well"
    )]
    BaseNotFound {
        /// The session.
        session: String,
        /// The id of the one that it goes on from.
        base: String,
    },
    /// Several sessions' ids begin with the text that was given.
    #[error("{prefix:?} is the beginning of {count} session ids ({}); give more of it", .examples.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// How many ids begin with it.
        count: usize,
        /// The first few of them.
        examples: Vec<String>,
    },
    /// A session was to be made under an id that another one has.
    #[error("a session with the id {id:?} exists already; open it, or choose another id")]
    Exists {
        /// The id.
        id: String,
    },
    /// The session holds no entry with this id.
    #[error("session {session} has no entry {entry:?}")]
    EntryNotFound {
        /// The session's id.
        session: String,
        /// The entry's id.
        entry: String,
    },
    /// The session is of a family whose program does no such thing, or that Leafline does not write.
    #[error("session {id} is one of {family}, for which there is no {operation}")]
    WrongFamily {
        /// The session's id.
        id: String,
        /// Its family.
        family: Family,
        /// What was to be done, as in "fork".
        operation: &'static str,
    },
}
