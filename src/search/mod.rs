//! Full-text search over sessions: an index in a folder beside the store, made from the store and needed for nothing
//! else.

mod dead;
mod directory;
mod filter;
mod find;
mod folder;
mod passages;
mod query;
mod schema;
mod snippet;
mod states;
mod update;
mod words;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use leafline_import::view::Role;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy, Searcher, TantivyError};

use self::directory::PrivateDirectory;
pub use self::find::{SearchHit, SearchHits, SearchOrder, SearchQuery};
use self::schema::{Fields, INDEX_VERSION};
pub use self::snippet::Snippet;
pub use self::update::{DamagedSession, IndexLag, IndexUpdate};
use crate::error::{Error, FileContext, Result, SearchError};
use crate::rights::Rights;
use crate::store::Store;

/// The words of all sessions' messages, and their places.
///
/// It is a folder beside the store, `<store>.search`, and has nothing that the store does not have: it may be deleted,
/// and [`Self::update`] makes it again. What is written to the store is found after the next update. Any number of
/// processes may search while one updates it.
///
/// ```
/// use leafline::Store;
/// use leafline::import::ImportOptions;
/// use leafline::search::{SearchIndex, SearchQuery};
///
/// # fn main() -> leafline::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let store = Store::open(folder.path().join("sessions.leafline"))?;
/// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/claude");
/// store.import(&[samples], &ImportOptions::default(), &mut ())?;
/// let index = SearchIndex::open_or_create(&store)?;
/// index.update(|_| true)?;
///
/// let hits = index.search(&SearchQuery::new("offset \"time zone\""))?;
/// for hit in &hits {
///     println!("{} {:?}: {}", hit.session, hit.entry, hit.snippet.text);
/// }
/// # assert!(!hits.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SearchIndex {
    store: Store,
    /// Empty for a store in memory.
    folder: PathBuf,
    index: Index,
    fields: Fields,
    reader: Mutex<OpenReader>,
}

/// The reader of an index and the commit that it shows.
struct OpenReader {
    reader: IndexReader,
    commit: u64,
}

impl std::fmt::Debug for OpenReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OpenReader").field("commit", &self.commit).finish_non_exhaustive()
    }
}

impl Store {
    /// Deletes the search index. A process that has it open can still search it. Files in its folder that Leafline did
    /// not create stay, and the folder stays with them.
    ///
    /// # Errors
    ///
    /// [`SearchError::FolderTaken`] if the folder is not ours, [`Error::File`] if the system refuses.
    pub fn remove_search_index(&self) -> Result<()> {
        self.check_process()?;
        folder::delete_all(&self.search_folder())
    }
}

impl SearchIndex {
    /// The roles whose entries are searched.
    pub const ROLES: &'static [Role] = passages::SEARCHED;

    /// The index of the store; `None` if there is none, or only one of another version or of another store.
    ///
    /// # Errors
    ///
    /// [`SearchError::Index`] if it cannot be read, [`SearchError::FolderTaken`] if its folder is not ours.
    pub fn open(store: &Store) -> Result<Option<Self>> {
        let folder = folder_of(store)?;
        if store.is_in_memory() || !folder::find(&store.search_folder(), &folder)? {
            return Ok(None);
        }
        let (schema, fields) = schema::schema();
        let index = Index::open(directory(&folder)?).map_err(|error| failed(&folder, &error))?;
        if index.schema() != schema {
            return Ok(None);
        }
        Self::with_index(store, folder, index, fields).map(Some)
    }

    /// The index of the store, empty if there was none. Indexes of other versions, and of a store that was at this path
    /// before, are deleted. The index of a store in memory is in memory.
    ///
    /// # Errors
    ///
    /// [`SearchError::Index`] if it cannot be read, [`SearchError::FolderTaken`] if its folder is not ours,
    /// [`Error::File`] if the folder cannot be created.
    pub fn open_or_create(store: &Store) -> Result<Self> {
        if let Some(found) = Self::open(store)? {
            return Ok(found);
        }
        let (schema, fields) = schema::schema();
        let builder = Index::builder().schema(schema).settings(IndexSettings::default());
        if store.is_in_memory() {
            let folder = PathBuf::new();
            let index = builder.create_in_ram().map_err(|error| failed(&folder, &error))?;
            return Self::with_index(store, folder, index, fields);
        }
        let folder = folder_of(store)?;
        let rights = Rights::at(store.path()).at("looking at", store.path())?;
        folder::make(&store.search_folder(), &folder, &rights)?;
        // With this index, the others are no longer needed. One that cannot be deleted stays.
        let _ = folder::delete_indexes(&store.search_folder(), Some(&folder));
        let opened = builder.open_or_create(directory(&folder)?);
        let index = opened.map_err(|error| failed(&folder, &error))?;
        Self::with_index(store, folder, index, fields)
    }

    fn with_index(
        store: &Store,
        folder: PathBuf,
        mut index: Index,
        fields: Fields,
    ) -> Result<Self> {
        index.set_tokenizers(schema::tokenizers());
        let metas = index.load_metas().map_err(|error| failed(&folder, &error))?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|error| failed(&folder, &error))?;
        let reader = Mutex::new(OpenReader { reader, commit: metas.opstamp });
        Ok(Self { store: store.clone(), folder, index, fields, reader })
    }

    /// Whether it is empty.
    ///
    /// # Errors
    ///
    /// [`SearchError::Index`] if it cannot be read.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.searcher()?.num_docs() == 0)
    }

    /// The current state of the index, whichever process wrote it.
    fn searcher(&self) -> Result<Searcher> {
        self.store.check_process()?;
        let mut open = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.commit()?;
        if now != open.commit {
            open.reader.reload().map_err(|error| self.failed(&error))?;
            open.commit = now;
        }
        Ok(open.reader.searcher())
    }

    /// The newest commit, whichever process made it.
    fn commit(&self) -> Result<u64> {
        Ok(self.index.load_metas().map_err(|error| self.failed(&error))?.opstamp)
    }

    fn failed(&self, error: &TantivyError) -> Error {
        failed(&self.folder, error)
    }
}

/// The folder of the index of this version and of this store.
fn folder_of(store: &Store) -> Result<PathBuf> {
    let number = store.number()?;
    Ok(store.search_folder().join(format!("{INDEX_VERSION}-{number:016x}")))
}

/// The system's error, if there is one.
fn io_error(error: &TantivyError) -> Option<&std::io::Error> {
    match error {
        TantivyError::IoError(error)
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError {
            io_error: error, ..
        })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: error, .. })
        | TantivyError::LockFailure(LockError::IoError(error), _) => Some(error),
        _ => None,
    }
}

fn directory(folder: &Path) -> Result<PrivateDirectory> {
    PrivateDirectory::open(folder).map_err(|error| failed(folder, &TantivyError::from(error)))
}

fn failed(folder: &Path, error: &TantivyError) -> Error {
    let is_lock = matches!(error, TantivyError::LockFailure(..));
    // What the system refuses, no other index mends.
    if let Some(error) = io_error(error)
        && (is_lock || error.raw_os_error().is_some())
    {
        let copied = || std::io::Error::new(error.kind(), error.to_string());
        return Error::File {
            action: if is_lock { "locking the search index" } else { "using the search index" },
            path: folder.to_owned(),
            source: error.raw_os_error().map_or_else(copied, std::io::Error::from_raw_os_error),
        };
    }
    match error {
        TantivyError::LockFailure(..) => {
            Error::Search(SearchError::IndexBusy { path: folder.to_owned() })
        }
        other => Error::Search(SearchError::Index {
            path: folder.to_owned(),
            problem: other.to_string(),
        }),
    }
}
