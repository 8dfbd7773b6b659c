//! Who is writing rows that no session record shows yet.
//!
//! A bulk import commits in slices; until its last commit its rows belong to nobody's session. They are
//! marked with the token of their owner, who holds a lock on a small file beside the store. The system
//! drops the lock when the process ends, however it ends, and then the next writer may sweep the rows.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use crate::error::{FileContext, Result};

/// A live owner; dropping it gives the lock back.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) token: u64,
    /// The locked file; a store in memory has none, since its owners end with it.
    lock: Option<(PathBuf, File)>,
}

impl Owner {
    /// Makes a new owner for rows of the store in `store`.
    pub(crate) fn new(store: &Path) -> Result<Self> {
        loop {
            let mut hasher = RandomState::new().build_hasher();
            hasher.write_u32(std::process::id());
            let token = hasher.finish();
            if is_in_memory(store) {
                return Ok(Self { token, lock: None });
            }
            let path = lock_path(store, token);
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .at("making the lock", &path)?;
            file.lock().at("locking", &path)?;
            // Someone who tidies up may have taken the file for a dead owner's before it was locked.
            if path.exists() {
                return Ok(Self { token, lock: Some((path, file)) });
            }
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file that stays behind is removed by whoever sweeps.
        if let Some((path, _)) = &self.lock {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether the owner with this token is still at work.
pub(crate) fn is_alive(store: &Path, token: u64) -> bool {
    if is_in_memory(store) {
        return true;
    }
    let path = lock_path(store, token);
    let Ok(file) = OpenOptions::new().write(true).open(&path) else {
        return false;
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
        Ok(()) => {
            let _ = std::fs::remove_file(&path);
            false
        }
    }
}

/// Removes the lock files of owners that are gone.
pub(crate) fn tidy(store: &Path) {
    if is_in_memory(store) {
        return;
    }
    let folder = match store.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let prefix = lock_name(store, "");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let token = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        let token = token.and_then(|token| std::str::from_utf8(token).ok());
        if let Some(token) = token.and_then(|token| u64::from_str_radix(token, 16).ok()) {
            is_alive(store, token);
        }
    }
}

fn is_in_memory(store: &Path) -> bool {
    store.as_os_str().is_empty()
}

fn lock_name(store: &Path, token: &str) -> OsString {
    let mut name = store.file_name().map_or_else(OsString::new, ToOwned::to_owned);
    name.push(".writing-");
    name.push(token);
    name
}

fn lock_path(store: &Path, token: u64) -> PathBuf {
    store.with_file_name(lock_name(store, &format!("{token:016x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_alive_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        let owner = Owner::new(&store).unwrap();
        let token = owner.token;
        assert!(is_alive(&store, token));
        drop(owner);
        assert!(!is_alive(&store, token));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_lock_file_without_its_process_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        let owner = Owner::new(&store).unwrap();
        for token in [7, 8] {
            std::fs::write(lock_path(&store, token), "").unwrap();
        }
        assert!(!is_alive(&store, 7));
        assert!(!lock_path(&store, 7).exists());
        tidy(&store);
        assert!(!lock_path(&store, 8).exists());
        assert!(is_alive(&store, owner.token), "a live owner's file stays");
    }
}
