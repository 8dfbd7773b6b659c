//! Deleting sessions.

use serde::Serialize;

use crate::error::Result;
use crate::store::Store;
use crate::store::slice::Slice;

/// What a deletion took away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Removed {
    /// The session's id.
    pub session: String,
    /// Its lines.
    pub lines: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of blobs that no other session refers to.
    pub blob_bytes: u64,
}

impl Store {
    /// Deletes a session, and the blobs that no other session shares.
    ///
    /// When this returns the deletion is on disk. The session is gone for every reader with the first commit;
    /// the next import or compaction finishes a deletion that is cut off.
    ///
    /// # Errors
    ///
    /// [`crate::Error::SessionNotFound`], [`crate::Error::SessionAmbiguous`].
    pub fn remove(&self, session: &str) -> Result<Removed> {
        let session = self.session(session)?;
        let reader = session.reader()?;
        let (lines, bytes) = (reader.record().lines, reader.record().bytes);
        drop(reader);
        let owner = self.begin_owner()?;
        self.commit(Slice {
            retired: vec![(session.key(), owner.token, session.key())],
            ..Slice::default()
        })?;
        let blob_bytes = self.sweep_own(&owner)?;
        Ok(Removed { session: session.id().to_owned(), lines, bytes, blob_bytes })
    }
}
