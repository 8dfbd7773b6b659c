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

/// The folder, and what was brought from it in this import.
#[derive(Debug)]
pub(super) struct BlobFolder {
    folder: PathBuf,
    brought: Mutex<HashSet<Hash>>,
}

impl BlobFolder {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, brought: Mutex::default() }
    }

    /// Adds the bytes of referenced blobs that were not brought yet and stand in the folder.
    pub(super) fn bring(&self, prepared: &mut Prepared) {
        for blob in &mut prepared.blobs {
            if blob.bytes.is_none() {
                blob.bytes = self.read(&blob.hash);
            }
        }
    }

    /// A blob's bytes, once; `None` where the folder does not have them. A file whose bytes do not have the
    /// hash in its name is not the blob.
    pub(super) fn read(&self, hash: &Hash) -> Option<Vec<u8>> {
        let brought = || self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        if brought().contains(hash) {
            return None;
        }
        let bytes = std::fs::read(self.folder.join(blobs::hex(hash))).ok()?;
        (blobs::hash(&bytes) == *hash && brought().insert(*hash)).then_some(bytes)
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
                if is_missing && let Some(bytes) = self.read(&hole.hash) {
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
