//! What can go wrong, with the facts in it.

use std::path::PathBuf;

use leafline_import::Family;

/// Everything that Leafline's library can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No session has this id, nor an id that begins with it.
    #[error("no session has the id {id:?} or one that begins with it")]
    SessionNotFound {
        /// What was asked for.
        id: String,
    },
    /// Several sessions' ids begin with the text that was given.
    #[error("{prefix:?} is the beginning of {count} session ids ({}); give more of it", .examples.join(", "))]
    SessionAmbiguous {
        /// What was asked for.
        prefix: String,
        /// How many ids begin with it.
        count: usize,
        /// The first few of them.
        examples: Vec<String>,
    },
    /// The session holds no entry with this id.
    #[error("session {session} has no entry {entry:?}")]
    EntryNotFound {
        /// The session's id.
        session: String,
        /// The entry's id.
        entry: String,
    },
    /// A session was to be made under an id that another one has.
    #[error("a session with the id {id:?} exists already; open it, or choose another id")]
    SessionExists {
        /// The id.
        id: String,
    },
    /// What was to be appended, or to take the place of an entry, is no entry of the formats.
    #[error("{problem}")]
    InvalidEntry {
        /// What is wrong with it.
        problem: String,
    },
    /// The bytes that a session was imported from are not in the store.
    #[error(
        "the file that session {session} came as is not held: {reason}; `leafline export --as current` gives it as it is now"
    )]
    OriginalNotHeld {
        /// The session's id.
        session: String,
        /// Why not.
        reason: &'static str,
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
    /// Messages that were to be replaced are no part of a path.
    #[error("the messages are no part of a path of session {session}: {problem}")]
    NotASegment {
        /// The session's id.
        session: String,
        /// Why not, in words.
        problem: String,
    },
    /// Others changed the session each time before it was written again.
    #[error(
        "session {id} was changed by others while it was written again, several times over; try again"
    )]
    SessionContended {
        /// The session's id.
        id: String,
    },
    /// Rows of a session that is written in several commits were gone before the last one: another process took them for
    /// those of a dead one. Nothing of the session is there.
    #[error(
        "what was written of session {id} was removed before it was complete ({problem}); nothing of it is stored: import it again"
    )]
    SessionLost {
        /// The session's id.
        id: String,
        /// What is not there.
        problem: String,
    },
    /// An earlier entry of this handle could not be stored, so that nothing may be appended behind it.
    #[error(
        "session {session} takes no more entries, since an earlier one could not be stored: {first}; open the session again to go on from what is stored"
    )]
    Latched {
        /// The session's id.
        session: String,
        /// The first error, in words.
        first: String,
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
    /// The store's file may be read only, and the operation writes.
    #[error("store {path} cannot be written: its file or its folder is read-only")]
    ReadOnly {
        /// The store's file.
        path: PathBuf,
    },
    /// There is no room on the disk for the commit that deletes sessions: they are all there.
    #[error(
        "nothing was deleted: there is no room on the disk of {path} ({source}); make about {} kB free and try again, deleting then gives its own space back",
        .needed.div_ceil(1000)
    )]
    NoRoomToRemove {
        /// The store's file.
        path: PathBuf,
        /// Bytes that must be free, about.
        needed: u64,
        /// What failed.
        source: Box<Error>,
    },
    /// There is no store in this place, and none was to be made.
    #[error("store {path} does not exist")]
    StoreNotFound {
        /// The store's file.
        path: PathBuf,
    },
    /// The file is a redb database of something else, or of a later Leafline.
    #[error("{path} is no store of this version of Leafline: {problem}")]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        problem: String,
    },
    /// The store's format is not known to this version of Leafline.
    #[error("store {path} has format {format}, which this Leafline does not know; {}", reads(*.reader))]
    UnknownFormat {
        /// The store's file.
        path: PathBuf,
        /// Its format.
        format: u64,
        /// The first version of Leafline that reads it, where the store says so: major, minor, patch.
        reader: Option<[u16; 3]>,
    },
    /// The store is in use by others, and the operation needs it alone.
    #[error(
        "store {path} is in use by another process or handle; try again when no one else has it open"
    )]
    StoreInUse {
        /// The store's file.
        path: PathBuf,
    },
    /// What was to be written would take the place of the store, or of another redb database.
    #[error(
        "{path} is {}; nothing was written, name another file",
        if *.is_in_use { "the store in use" } else { "a store, or another redb database" }
    )]
    WouldReplaceStore {
        /// The file, as it was named.
        path: PathBuf,
        /// Whether it is the store that is to be read, by whatever name.
        is_in_use: bool,
    },
    /// The file is no prompt history of omp's, or SQLite cannot read or write it.
    #[error("{path} cannot be used as omp's history.db: {problem}")]
    HistoryFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A search that asks for no word.
    #[error("{query:?} has no word to search for; letters and numbers make words")]
    NoSearchWords {
        /// The search.
        query: String,
    },
    /// Another process brings the search index in step.
    #[error(
        "the search index {path} is being written by another process; try again when that is done"
    )]
    SearchIndexBusy {
        /// The index's folder.
        path: PathBuf,
    },
    /// The search index cannot be read or written. The store is not concerned.
    #[error("the search index {path} cannot be used: {problem}")]
    SearchIndex {
        /// The index's folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// What is in the place of the search index, or of one of its files, is somebody else's. It is left alone.
    #[error("{path} is in the way of the search index: {problem}")]
    SearchFolderTaken {
        /// The folder or the file.
        path: PathBuf,
        /// How that is known.
        problem: String,
    },
    /// A record in the store is damaged.
    #[error(transparent)]
    Corrupted(#[from] Corruption),
    /// Reading or writing a file failed.
    #[error("{action} {path}: {source}")]
    File {
        /// What was done, as in "reading".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Writing exported bytes to the caller's writer failed.
    #[error("writing the export: {0}")]
    Output(#[source] std::io::Error),
    /// The engine failed.
    #[error("store engine: {0}")]
    Engine(#[from] Box<redb::Error>),
}

impl Error {
    /// Whether it is that a disk is full, or a file as large as it may be.
    pub(crate) fn is_for_want_of_room(&self) -> bool {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let kind = match self {
            Self::File { source, .. } => source.kind(),
            Self::Engine(error) => match &**error {
                redb::Error::Io(error) => error.kind(),
                _ => return false,
            },
            _ => return false,
        };
        matches!(kind, StorageFull | QuotaExceeded | FileTooLarge)
    }
}

fn reads(reader: Option<[u16; 3]>) -> String {
    match reader {
        Some([major, minor, patch]) => {
            format!("Leafline {major}.{minor}.{patch} and later read it")
        }
        None => "another version made it".to_owned(),
    }
}

/// A record that does not say what its table promises.
#[derive(Debug, Clone, thiserror::Error)]
#[error("damaged record in table `{table}` at {place}: {problem}")]
pub struct Corruption {
    /// The table.
    pub table: &'static str,
    /// The key, in words.
    pub place: String,
    /// What is wrong with the value.
    pub problem: String,
}

/// A result of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! engine_errors {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Error {
            fn from(error: $kind) -> Self {
                Self::Engine(Box::new(error.into()))
            }
        }
    )*};
}

engine_errors!(
    redb::CommitError,
    redb::CompactionError,
    redb::CursorError,
    redb::DatabaseError,
    redb::Error,
    redb::StorageError,
    redb::TableError,
    redb::TransactionError
);

/// Names the file in an input or output error.
pub(crate) trait FileContext<T> {
    fn at(self, action: &'static str, path: &std::path::Path) -> Result<T>;
}

impl<T> FileContext<T> for std::io::Result<T> {
    fn at(self, action: &'static str, path: &std::path::Path) -> Result<T> {
        self.map_err(|source| Error::File { action, path: path.to_owned(), source })
    }
}
