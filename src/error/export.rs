//! Writing sessions out.

use std::path::PathBuf;

/// A file or folder that no output replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFile {
    /// The store that is being read, under any name.
    InUse,
    /// Another store, or another redb database.
    Database,
    /// A store's journal, or its place.
    Journal,
    /// The folder of a store's search index, or a path in it.
    SearchFolder,
    /// The folder of a store's terminals, or a path in it.
    TerminalsFolder,
    /// The file with the key of a store's placeholders, or its place.
    RedactionKey,
}

impl std::fmt::Display for StoreFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::InUse => "the store in use",
            Self::Database => "a store, or another redb database",
            Self::Journal => "the journal of a store",
            Self::SearchFolder => "the search folder of a store, or in it",
            Self::TerminalsFolder => "the terminals folder of a store, or in it",
            Self::RedactionKey => "the redaction key of a store",
        })
    }
}

/// Why a session was not exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The bytes that a session was imported from are not in the store.
    #[error("the file that session {session} came as is not held: {reason}")]
    OriginalNotHeld {
        /// The session's id.
        session: String,
        /// Why not.
        reason: &'static str,
    },
    /// A reference in the session names a blob whose bytes the store does not have.
    #[error(
        "session {session} refers to {count} blobs that the store does not hold (blob:sha256:{first}...)"
    )]
    BlobsMissing {
        /// The session's id.
        session: String,
        /// How many different blobs are missing.
        count: usize,
        /// The first missing blob's SHA-256 in hex.
        first: String,
    },
    /// The output would replace a store, or what belongs to one.
    #[error("{path} is {file}; nothing was written, name another file")]
    WouldReplaceStore {
        /// The file, as it was named.
        path: PathBuf,
        /// What it is.
        file: StoreFile,
    },
    /// The entry at which a conversation is to begin is not on the way to the one at which it is to end.
    #[error("entry {entry} of session {session} is not on the way to {to}")]
    NotOnPath {
        /// The session's id.
        session: String,
        /// The id of the entry to begin at.
        entry: String,
        /// The id of the entry to end at.
        to: String,
    },
    /// A pattern of what is to be redacted is no regular expression.
    #[error("the pattern {pattern} is no regular expression: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The user's home folder, in which the session's program has its own, is not known.
    #[error(
        "the folder in which the session's program looks for it is not known: there is no home folder"
    )]
    NoProgramFolder,
    /// A session's program cannot be told to go on with it.
    #[error("session {session} cannot be resumed: {problem}")]
    NotResumable {
        /// The session's id.
        session: String,
        /// Why not.
        problem: String,
    },
    /// Where a session's program looks for it, or for one that it continues, there is a file without all that the store has.
    #[error(
        "session {session} cannot be resumed: {path} is there and differs from what the store has; it was left as it is"
    )]
    OtherFile {
        /// The session's id.
        session: String,
        /// The file.
        path: PathBuf,
    },
    /// Writing exported bytes to the caller's writer failed.
    #[error("writing the export: {0}")]
    Output(#[source] std::io::Error),
}
