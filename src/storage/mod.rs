//! The documents' session storage: the files of a program's sessions, wherever they are.
//!
//! An agent that was written for files keeps its code (omp session storage document, storage abstractions): it names files by
//! paths, and a [`SessionStorage`] says where they are. [`StoreSessionStorage`] keeps them in a [`Store`](crate::Store), where
//! each session is listed, searched and read like any other, [`FileSessionStorage`] in the file system, and
//! [`MemorySessionStorage`] in memory.
//!
//! ```
//! use std::path::Path;
//!
//! use leafline::Store;
//! use leafline::storage::{SessionStorage, StoreSessionStorage, WriterOptions};
//!
//! # fn main() -> leafline::Result<()> {
//! let store = Store::in_memory()?;
//! let storage = StoreSessionStorage::new(store.clone());
//! let path = Path::new("/sessions/s1.jsonl");
//! storage.write(path, b"{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"cwd\":\"/work\"}\n")?;
//! let mut writer = storage.open_writer(path, WriterOptions::default())?;
//! writer.write_line(
//!     br#"{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"Hi"}}"#,
//! )?;
//! assert_eq!(store.sessions()?[0].messages, 1);
//! assert_eq!(storage.list(Path::new("/sessions"), "*.jsonl")?, [path]);
//! # Ok(())
//! # }
//! ```

mod file;
mod memory;
mod pattern;
mod store;
mod writer;

use std::path::{Path, PathBuf};

pub use self::file::FileSessionStorage;
pub use self::memory::MemorySessionStorage;
pub use self::store::StoreSessionStorage;
pub use self::writer::{SessionStorageWriter, WriterOptions};
use crate::destination::plain_path;
use crate::error::{FileContext, Result, StorageError};

/// The size and the time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileStat {
    /// Bytes.
    pub size: u64,
    /// When it was written last, in milliseconds since 1970.
    pub modified: i64,
}

/// What a writer believes of the file that it replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExpectedSize {
    /// Nothing: whatever is there is replaced.
    #[default]
    Any,
    /// There is no file.
    NoFile,
    /// The file has so many bytes.
    Bytes(u64),
}

impl ExpectedSize {
    /// Fails if a file is not what it is believed to be.
    ///
    /// # Errors
    ///
    /// [`StorageError::Conflict`].
    fn check(self, path: &Path, actual: Option<u64>) -> Result<()> {
        let expected = match self {
            Self::Any => return Ok(()),
            Self::NoFile => None,
            Self::Bytes(bytes) => Some(bytes),
        };
        if expected == actual {
            return Ok(());
        }
        Err(StorageError::Conflict { path: path.to_owned(), expected, actual }.into())
    }
}

/// The files of a program's sessions (omp session storage document, storage abstractions).
///
/// Paths are made absolute and compared name by name; `..` leads to the folder above. Folders are there as long as a file is
/// below them, and need not be made. What any file has are its bytes, whatever they are; they come back as they were written.
///
/// Every operation takes effect as a whole or not at all, and may be called by several threads and processes at once.
pub trait SessionStorage: Send + Sync + std::fmt::Debug {
    /// Makes a folder, if it is not there, and those above it.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotAFolder`] if a file is in its place or in that of a folder above.
    fn ensure(&self, folder: &Path) -> Result<()>;

    /// Whether there is a file at a path. A folder is none.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn exists(&self, path: &Path) -> Result<bool>;

    /// All bytes of a file.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`].
    fn read(&self, path: &Path) -> Result<Vec<u8>>;

    /// The first bytes of a file and its last: so many, or all if there are fewer. The rest is not read, however long the
    /// file is.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`].
    fn read_slices(&self, path: &Path, head: u64, tail: u64) -> Result<(Vec<u8>, Vec<u8>)>;

    /// Writes a file as a whole; what was there is replaced.
    ///
    /// # Errors
    ///
    /// [`StorageError::IsFolder`], [`StorageError::NotAFolder`].
    fn write(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.write_if(path, content, ExpectedSize::Any)
    }

    /// Writes a file as a whole, if it is what the writer believes. No line that somebody else has appended meanwhile is lost.
    ///
    /// # Errors
    ///
    /// [`StorageError::Conflict`] if it is not: then nothing is written. Those of [`Self::write`].
    fn write_if(&self, path: &Path, content: &[u8], expected: ExpectedSize) -> Result<()>;

    /// Writes over the first bytes of a file and leaves those behind them. omp rewrites the line with a session's title so.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`].
    fn write_start(&self, path: &Path, start: &[u8]) -> Result<()>;

    /// Opens a file to append lines, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write`].
    fn open_writer(
        &self,
        path: &Path,
        options: WriterOptions,
    ) -> Result<Box<dyn SessionStorageWriter>>;

    /// The paths of the files in a folder whose names match a pattern, in order; those in the folders below it are none of
    /// them. In a pattern `*` is any run of characters and `?` any one; a name that begins with a dot matches only if the
    /// pattern does as well. A folder that is not there has no files.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn list(&self, folder: &Path, pattern: &str) -> Result<Vec<PathBuf>>;

    /// The size and the time of a file.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`].
    fn stat(&self, path: &Path) -> Result<FileStat>;

    /// Gives a file another path; a file that was there is replaced. Writers of the file's old path do not follow it.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`]; those of [`Self::write`] for the new path.
    fn rename(&self, path: &Path, to: &Path) -> Result<()>;

    /// Deletes a file.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`].
    fn delete(&self, path: &Path) -> Result<()>;

    /// Deletes a file if `decide` says so of its bytes. Nobody can change the file in between: then `decide` is asked again.
    /// Returns whether the file was deleted.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`].
    fn delete_if(&self, path: &Path, decide: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool>;

    /// Deletes all files in a folder and below it. A folder that is not there has none.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn delete_folder(&self, folder: &Path) -> Result<()>;
}

/// A path from the root, without `.` and `..`.
fn absolute(path: &Path) -> Result<PathBuf> {
    plain_path(path).at("finding", path)
}

/// The same of a file, which has a name.
fn absolute_file(path: &Path) -> Result<PathBuf> {
    let plain = absolute(path)?;
    match plain.file_name() {
        Some(_) => Ok(plain),
        None => Err(StorageError::NoName { path: path.to_owned() }.into()),
    }
}

fn not_found(path: &Path) -> crate::Error {
    StorageError::NotFound { path: path.to_owned() }.into()
}
