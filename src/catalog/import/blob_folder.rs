//! A folder of blobs that references are resolved from: omp's `blobs`, each file named by its SHA-256.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::session::index::prepare::Prepared;
use crate::store::Store;
use crate::store::blobs::{self, Hash};
use crate::store::slice::{BlobGain, Slice};
use crate::store::snapshot::Snapshot;

/// The folder, and what was read from it in this import.
#[derive(Debug)]
pub(super) struct BlobFolder {
    folder: PathBuf,
    /// What need not be read again, since bytes of it are on their way to a commit. That commit may be given up, so this
    /// says nothing of what the store has: [`BlobFolder::complete`] sees to that.
    read: Mutex<HashSet<Hash>>,
}

impl BlobFolder {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, read: Mutex::default() }
    }

    /// Adds the bytes of referenced blobs that were not read yet and stand in the folder.
    pub(super) fn bring(&self, prepared: &mut Prepared) {
        for blob in prepared.blobs.iter_mut().filter(|blob| blob.bytes.is_none()) {
            let known = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
            if known().contains(&blob.hash) {
                continue;
            }
            blob.bytes = self.bytes(&blob.hash);
            if blob.bytes.is_some() {
                known().insert(blob.hash);
            }
        }
    }

    /// Adds the bytes of referenced blobs to a slice that is about to be committed, where neither the slice nor the store
    /// has them: what [`Self::bring`] gave to another slice may have been dropped with that.
    pub(super) fn complete(&self, store: &Store, slice: &mut Slice) -> Result<()> {
        let lacks_bytes = |gain: &BlobGain| gain.bytes.is_none() && !gain.hole;
        if !slice.blobs.iter().any(lacks_bytes) {
            return Ok(());
        }
        let has_bytes = |gain: &&BlobGain| gain.bytes.is_some();
        let mut there: HashSet<Hash> =
            slice.blobs.iter().filter(has_bytes).map(|gain| gain.hash).collect();
        let snapshot = store.snapshot()?;
        for gain in slice.blobs.iter_mut().filter(|gain| lacks_bytes(gain)) {
            if there.insert(gain.hash)
                && snapshot.blob_record(&gain.hash)?.is_none_or(|record| record.size.is_none())
            {
                gain.bytes = self.bytes(&gain.hash);
            }
        }
        Ok(())
    }

    /// A blob's bytes; `None` where the folder does not have them. A file whose bytes do not have the hash in its name is
    /// not the blob.
    fn bytes(&self, hash: &Hash) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.folder.join(blobs::hex(hash))).ok()?;
        (blobs::hash(&bytes) == *hash).then_some(bytes)
    }

    /// Adds the blobs to the slice that a session refers to, the store lacks, and the folder has.
    pub(super) fn bring_missing(
        &self,
        store: &Store,
        session: u64,
        slice: &mut Slice,
    ) -> Result<()> {
        let snapshot = store.snapshot()?;
        let Some(record) = snapshot.session(session)? else { return Ok(()) };
        let mut asked = HashSet::new();
        let mut next = 0;
        while next < record.lines {
            let bytes = snapshot.chunk_at(session, next)?;
            let chunk = Snapshot::parse(session, next, &bytes)?;
            next += chunk.line_count();
            for hole in chunk.holes().iter().filter(|hole| !hole.kind.is_cut()) {
                let is_missing = asked.insert(hole.hash)
                    && snapshot.blob_record(&hole.hash)?.is_none_or(|record| record.size.is_none());
                if is_missing && let Some(bytes) = self.bytes(&hole.hash) {
                    slice.blobs.push(BlobGain {
                        session,
                        hash: hole.hash,
                        bytes: Some(bytes),
                        hole: false,
                        reference: false,
                    });
                }
            }
        }
        Ok(())
    }
}
