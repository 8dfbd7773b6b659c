//! A folder of blobs that references are resolved from: omp's `blobs`, each file named by its SHA-256.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::session::index::prepare::Prepared;
use crate::store::blobs::{self, Hash};

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
}
