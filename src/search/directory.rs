//! The folder of an index as tantivy reads and writes it: tantivy's own, but new files have the rights to the folder,
//! and no link is written through.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Result as IoResult, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, INDEX_WRITER_LOCK, Lock, MmapDirectory,
    OwnedBytes, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use crate::lasting::sync_folder;
use crate::private::new_file;
use crate::regular_file::open_regular;
use crate::rights::Rights;
use crate::store::whole_lock;

/// A folder of files that are read through memory maps.
#[derive(Debug, Clone)]
pub(super) struct PrivateDirectory {
    inner: MmapDirectory,
    folder: PathBuf,
    /// The rights to the folder, for new files.
    rights: Rights,
    /// The writer's lock, if it was taken before tantivy requested it.
    writer: Arc<Mutex<Option<File>>>,
}

impl PrivateDirectory {
    /// An existing folder.
    pub(super) fn open(folder: &Path) -> Result<Self, OpenDirectoryError> {
        let rights = Rights::at(folder)
            .map_err(|error| OpenDirectoryError::wrap_io_error(error, folder.to_owned()))?;
        let (inner, folder) = (MmapDirectory::open(folder)?, folder.to_owned());
        Ok(Self { inner, folder, rights, writer: Arc::default() })
    }

    /// Takes the writer's lock, for the writer that is made with this folder. tantivy reads the list of the index's files when it
    /// opens the index, and writes the list back later; files that another writer added in between would be lost from it.
    pub(super) fn lock_to_write(&self) -> Result<(), LockError> {
        let file = self.lock(&INDEX_WRITER_LOCK)?;
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = file;
        Ok(())
    }

    /// The file of a lock that was taken; `None` if it does not exist and may not be created.
    fn lock(&self, lock: &Lock) -> Result<Option<File>, LockError> {
        let path = self.folder.join(&lock.filepath);
        let file = match new_file().write(true).create(true).truncate(false).open(&path) {
            // The lock for opening the index to read it; the file exists if any other process has opened the index.
            Err(error) if lock.is_blocking && is_refused(&error) => match open_regular(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                file => file,
            },
            file => file,
        };
        let file = file.map_err(LockError::wrap_io_error)?;
        let _ = self.rights.lend(&file);
        let is_taken = match lock.is_blocking {
            true => whole_lock::lock(&file).map(|()| true),
            // If the system refuses the lock, waiting for it would be in vain.
            false => whole_lock::try_lock(&file),
        };
        match is_taken.map_err(LockError::wrap_io_error)? {
            true => Ok(Some(file)),
            false => Err(LockError::LockBusy),
        }
    }
}

impl Directory for PrivateDirectory {
    /// Some file systems have no shared memory maps: there a file is read as a whole.
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.inner.get_file_handle(path) {
            Err(OpenReadError::IoError { .. }) => {
                let bytes = self.inner.atomic_read(path)?;
                Ok(Arc::new(OwnedBytes::new(bytes)))
            }
            mapped => mapped,
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = new_file().write(true).create_new(true).open(self.folder.join(path));
        let file = file.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        let _ = self.rights.lend(&file);
        Ok(BufWriter::new(Box::new(Written(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    /// Through a temporary file, which only its user can open until it has its name.
    fn atomic_write(&self, path: &Path, data: &[u8]) -> IoResult<()> {
        self.inner.atomic_write(path, data)?;
        let _ = self.rights.lend(&open_regular(&self.folder.join(path))?);
        Ok(())
    }

    /// If the system can: some file systems cannot sync a folder.
    fn sync_directory(&self) -> IoResult<()> {
        sync_folder(&self.folder);
        Ok(())
    }

    /// The same lock as tantivy's: other versions of this program may hold it.
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let held = match lock.filepath == INDEX_WRITER_LOCK.filepath {
            true => self.writer.lock().unwrap_or_else(PoisonError::into_inner).take(),
            false => None,
        };
        let file = match held {
            Some(file) => Some(file),
            None => self.lock(lock)?,
        };
        Ok(DirectoryLock::from(Box::new(file)))
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

/// Whether the folder or the file may only be read.
fn is_refused(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// A file that is on disk once it is complete.
struct Written(File);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> IoResult<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Written {
    fn terminate_ref(&mut self, _: AntiCallToken) -> IoResult<()> {
        self.0.sync_data()
    }
}
