//! A name for each error, for programs in other languages.

use super::{
    Error, ExportError, ImportError, LiveError, PromptError, SearchError, SessionError,
    StorageError, StoreError,
};

impl Error {
    /// The error's name: capital letters and `_`, as `ENTRY_NOT_FOUND`. It stays the same when the message's words
    /// change, and is what the bindings for other languages give as the error's code.
    ///
    /// ```
    /// let error = leafline::Store::in_memory()?.session("019c6605").unwrap_err();
    /// assert_eq!(error.code(), "SESSION_NOT_FOUND");
    /// # Ok::<(), leafline::Error>(())
    /// ```
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Session(error) => error.code(),
            Self::Live(error) => error.code(),
            Self::Import(ImportError::Lost { .. }) => "IMPORT_LOST",
            Self::Import(ImportError::Unreadable { .. }) => "IMPORT_UNREADABLE",
            Self::Export(error) => error.code(),
            Self::Search(error) => error.code(),
            Self::Prompt(error) => error.code(),
            Self::Storage(error) => error.code(),
            Self::Corrupted(_) => "CORRUPTED",
            Self::File { .. } => "FILE",
            Self::Engine(_) => "ENGINE",
        }
    }
}

impl StoreError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "STORE_NOT_FOUND",
            Self::NotAStore { .. } => "NOT_A_STORE",
            Self::UnknownFormat { .. } => "UNKNOWN_FORMAT",
            Self::InUse { .. } => "STORE_IN_USE",
            Self::BeingRead { .. } => "STORE_BEING_READ",
            Self::Inherited { .. } => "STORE_INHERITED",
            Self::Broken { .. } => "STORE_BROKEN",
            Self::ReadOnly { .. } => "STORE_READ_ONLY",
            Self::NoJournal { .. } => "NO_JOURNAL",
            Self::JournalDenied { .. } => "JOURNAL_DENIED",
            Self::NoLocks { .. } => "NO_LOCKS",
            Self::PlaceOfJournal { .. } => "PLACE_OF_JOURNAL",
            Self::HeldUp { .. } => "HELD_UP",
            Self::ForeignJournal { .. } => "FOREIGN_JOURNAL",
            Self::JournalAhead { .. } => "JOURNAL_AHEAD",
            Self::NotABackup { .. } => "NOT_A_BACKUP",
            Self::NoRoomToRemove { .. } => "NO_ROOM_TO_REMOVE",
        }
    }
}

impl SessionError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "SESSION_NOT_FOUND",
            Self::Rewritten { .. } => "SESSION_REWRITTEN",
            Self::BaseNotFound { .. } => "BASE_NOT_FOUND",
            Self::Ambiguous { .. } => "AMBIGUOUS_SESSION",
            Self::Exists { .. } => "SESSION_EXISTS",
            Self::InvalidId { .. } => "INVALID_SESSION_ID",
            Self::EmptyDirectory => "EMPTY_DIRECTORY",
            Self::EntryNotFound { .. } => "ENTRY_NOT_FOUND",
            Self::AmbiguousEntry { .. } => "AMBIGUOUS_ENTRY",
            Self::FileNotFound { .. } => "SESSION_FILE_NOT_FOUND",
            Self::WrongFamily { .. } => "WRONG_FAMILY",
        }
    }
}

impl LiveError {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidEntry { .. } => "INVALID_ENTRY",
            Self::InvalidKey { .. } => "INVALID_KEY",
            Self::NotASegment { .. } => "NOT_A_SEGMENT",
            Self::Contended { .. } => "CONTENDED",
            Self::Latched { .. } => "LATCHED",
        }
    }
}

impl ExportError {
    fn code(&self) -> &'static str {
        match self {
            Self::OriginalNotHeld { .. } => "ORIGINAL_NOT_HELD",
            Self::BlobsMissing { .. } => "BLOBS_MISSING",
            Self::WouldReplaceStore { .. } => "WOULD_REPLACE_STORE",
            Self::NotOnPath { .. } => "NOT_ON_PATH",
            Self::Pattern { .. } => "PATTERN",
            Self::NoProgramFolder => "NO_PROGRAM_FOLDER",
            Self::NotResumable { .. } => "NOT_RESUMABLE",
            Self::OtherFile { .. } => "OTHER_FILE",
            Self::Output(_) => "OUTPUT",
        }
    }
}

impl SearchError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoWords { .. } => "NO_WORDS",
            Self::IndexBusy { .. } => "INDEX_BUSY",
            Self::Index { .. } => "INDEX",
            Self::FolderTaken { .. } => "INDEX_FOLDER_TAKEN",
        }
    }
}

impl StorageError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "FILE_NOT_FOUND",
            Self::Conflict { .. } => "FILE_CONFLICT",
            Self::IsFolder { .. } => "IS_FOLDER",
            Self::NotAFolder { .. } => "NOT_A_FOLDER",
            Self::NoName { .. } => "NO_FILE_NAME",
            Self::Closed { .. } => "WRITER_CLOSED",
            Self::Writer { source, .. } => source.code(),
        }
    }
}

impl PromptError {
    fn code(&self) -> &'static str {
        "PROMPTS"
    }
}
