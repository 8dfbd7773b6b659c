//! The owners of rows that no session record shows yet.
//!
//! A bulk import commits in slices; until its last commit no session's record shows its rows. They are marked with the
//! token of their owner, which locks the byte of the store's file that stands for the token. The lock is on the file,
//! not on one of its names, and the system releases it when the process ends in any way. Then the next writer may sweep
//! the rows.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageError;

use super::engine_file::EngineFile;
use crate::error::Result;

/// Tokens are below this: each stands for a byte of the store's file beyond all data.
const TOKENS: u64 = 1 << 60;

/// The mark of rows that are being swept: they have no owner, and the process that wrote them notices that they are
/// gone.
pub(crate) const SWEPT: u64 = u64::MAX;

/// The owners of one open store.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owners {
    /// The store's file; a store in memory has none, and all of its owners are in `here`.
    file: Option<EngineFile>,
    /// Tokens whose locks this open file holds: a file does not see its own locks.
    here: Arc<Mutex<BTreeSet<u64>>>,
}

/// A live owner; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) token: u64,
    owners: Owners,
}

impl Owners {
    /// The owners of the store in a file, or of one in memory.
    pub(crate) fn new(file: Option<EngineFile>) -> Self {
        Self { file, here: Arc::default() }
    }

    /// A new owner.
    pub(crate) fn begin(&self) -> Result<Owner> {
        loop {
            let mut hasher = RandomState::new().build_hasher();
            hasher.write_u32(std::process::id());
            let token = hasher.finish() % TOKENS;
            let mut here = self.here();
            if here.contains(&token) {
                continue;
            }
            if let Some(file) = &self.file
                && !file.lock_owner(token).map_err(StorageError::from)?
            {
                continue;
            }
            here.insert(token);
            drop(here);
            return Ok(Owner { token, owners: self.clone() });
        }
    }

    /// Whether the owner with this token is still at work. If that is unknown, it is assumed to be.
    pub(crate) fn is_alive(&self, token: u64) -> bool {
        // Held while the file's lock is tested, since this process must not hold that lock itself.
        let here = self.here();
        if here.contains(&token) {
            return true;
        }
        match &self.file {
            // No owner ever had such a token: it is the mark of a sweep, or of a version before 0.1.0.
            _ if token >= TOKENS => false,
            Some(file) => file.is_owner_elsewhere(token).unwrap_or(true),
            None => false,
        }
    }

    fn here(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let mut here = self.owners.here();
        here.remove(&self.token);
        if let Some(file) = &self.owners.file {
            // A lock that cannot be released ends with the open file; until then the owner counts as alive.
            let _ = file.unlock_owner(self.token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::engine_file::{EngineFile, Recovery};
    use super::*;

    fn owners_of(path: &std::path::Path) -> Owners {
        let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
        Owners::new(Some(EngineFile::new(file, Recovery::Needed).unwrap()))
    }

    #[test]
    fn an_owner_is_alive_until_it_is_dropped_under_any_name_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        std::fs::write(&store, "").unwrap();
        let other_name = folder.path().join("other");
        std::fs::hard_link(&store, &other_name).unwrap();
        let (owners, others) = (owners_of(&store), owners_of(&other_name));
        let owner = owners.begin().unwrap();
        let token = owner.token;
        assert!(owners.is_alive(token));
        assert!(others.is_alive(token));
        let moved = folder.path().join("moved");
        std::fs::rename(&store, &moved).unwrap();
        assert!(owners_of(&moved).is_alive(token));
        assert!(!others.is_alive(token ^ 1));
        drop(owner);
        assert!(!owners.is_alive(token));
        assert!(!others.is_alive(token));
    }

    #[test]
    fn owners_of_a_store_in_memory_end_with_themselves() {
        let owners = Owners::new(None);
        let owner = owners.begin().unwrap();
        let token = owner.token;
        assert!(owners.is_alive(token));
        drop(owner);
        assert!(!owners.is_alive(token));
    }

    #[test]
    fn a_swept_mark_has_no_owner() {
        assert!(!Owners::new(None).is_alive(SWEPT));
    }
}
