//! Locks on whole files, which end with the open file.
//!
//! They are those of `flock`, as other versions of this program take them. Where the file system has none, they are on the first
//! byte, by the kind of lock that the store's file needs itself.

use std::fs::{File, TryLockError};
use std::io::{Error, Result};
use std::ops::Bound;

use redb::StorageBackend as _;
use redb::backends::FileBackend;

const FIRST: Bound<u64> = Bound::Included(0);

/// Takes the lock; `false` if another open file has it.
pub(crate) fn try_lock(file: &File) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(_)) => Ok(by_range(file)?.try_lock_range(FIRST, FIRST)?),
    }
}

/// Waits for the lock.
pub(crate) fn lock(file: &File) -> Result<()> {
    file.lock().or_else(|_| Ok(by_range(file)?.lock_range(FIRST, FIRST)?))
}

/// The same open file. Its locks stay when this is dropped.
fn by_range(file: &File) -> Result<FileBackend> {
    FileBackend::new(file.try_clone()?).map_err(Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_keep_others_out_until_the_file_is_closed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = || File::options().read(true).write(true).open(file.path()).unwrap();
        let by_byte = |file: &File| by_range(file).unwrap().try_lock_range(FIRST, FIRST).unwrap();
        for take in [|file: &File| try_lock(file).unwrap(), by_byte] {
            let (first, second) = (open(), open());
            assert!(take(&first) && !take(&second));
            drop(first);
            assert!(take(&second));
        }
    }
}
