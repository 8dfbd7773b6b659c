//! Waiting for the journal's locks, with errors that name the store.

use redb::BackendError;

use super::Store;
use crate::error::Result;
use crate::store::engine_file::{EngineFile, Held, NoProgress};

impl Store {
    /// Waits for a lock as [`EngineFile::wait_for`] does. `false`, too, if the system has no such locks.
    ///
    /// # Errors
    ///
    /// [`StoreError::HeldUp`](crate::error::StoreError::HeldUp) if its holder does not get on.
    pub(super) fn wait_for(
        &self,
        engine: &EngineFile,
        held: Held,
        try_take: impl Fn() -> Result<bool, BackendError>,
        last: impl FnMut() -> Option<u64>,
    ) -> Result<bool> {
        match engine.wait_for(held, try_take, last) {
            Err(BackendError::Unsupported) => Ok(false),
            is_held => is_held.map_err(|error| NoProgress::named(error.into(), self.path())),
        }
    }
}
