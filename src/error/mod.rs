//! What can go wrong, with the facts in it.

mod code;
mod export;
mod import;
mod live;
mod prompts;
mod search;
mod session;
mod storage;
mod store;

use std::path::PathBuf;

pub use self::export::{ExportError, StoreFile};
pub use self::import::ImportError;
pub use self::live::LiveError;
pub use self::prompts::PromptError;
pub use self::search::SearchError;
pub use self::session::SessionError;
pub use self::storage::StorageError;
pub use self::store::StoreError;
pub use crate::store::EngineError;

/// All errors of Leafline's library: a small enum for each subject.
///
/// ```
/// use leafline::error::SessionError;
/// use leafline::{Error, Store};
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// match store.session("019c6605") {
///     Err(Error::Session(SessionError::NotFound { id })) => println!("no session {id}"),
///     other => println!("{}", other?.id()),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store cannot be opened, or cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A session or an entry is missing or not suitable.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Nothing was written to a session.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// A file was not stored.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A session was not exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The search index cannot be used.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A history of prompts cannot be read or written.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// An operation of a session storage has no effect.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A record in the store is damaged.
    #[error(transparent)]
    Corrupted(#[from] Corruption),
    /// Reading or writing a file failed.
    #[error("{action} {path}: {source}")]
    File {
        /// What was being done, as in "reading".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The engine failed.
    #[error("store engine: {0}")]
    Engine(#[from] EngineError),
}

impl Error {
    /// Whether the cause is a full disk, or a file at its maximum size.
    pub(crate) fn is_for_want_of_room(&self) -> bool {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let kind = match self {
            Self::File { source, .. } => source.kind(),
            Self::Engine(error) => match error.io_error() {
                Some(error) => error.kind(),
                None => return false,
            },
            _ => return false,
        };
        matches!(kind, StorageFull | QuotaExceeded | FileTooLarge)
    }
}

/// A record that breaks its table's rules.
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

/// Names the file in an input or output error.
pub(crate) trait FileContext<T> {
    fn at(self, action: &'static str, path: &std::path::Path) -> Result<T>;
}

impl<T> FileContext<T> for std::io::Result<T> {
    fn at(self, action: &'static str, path: &std::path::Path) -> Result<T> {
        self.map_err(|source| Error::File { action, path: path.to_owned(), source })
    }
}
