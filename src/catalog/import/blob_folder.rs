//! A folder of blobs that references are resolved from: omp's `blobs`, each file named by its SHA-256.

use std::collections::HashSet;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::regular_file::open_regular;
use crate::session::index::prepare::Prepared;
use crate::store::Store;
use crate::store::blobs::{self, Hash};
use crate::store::commit::{Batch, Edit};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// The most bytes of a blob in a folder: 256 MiB. It is held in memory as a whole.
const LONGEST_BLOB: usize = 256 << 20;

/// The folder, and what this import has read from it.
#[derive(Debug)]
pub(super) struct BlobFolder {
    folder: PathBuf,
    /// Blobs that need not be read again, since their bytes are on their way to a commit. That commit may be abandoned,
    /// so this says nothing about the store: [`BlobFolder::fetch_missing`] checks that.
    read: Mutex<HashSet<Hash>>,
}

impl BlobFolder {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, read: Mutex::default() }
    }

    /// Adds the bytes of referenced blobs that are in the folder and were not read yet.
    pub(super) fn fetch(&self, prepared: &mut Prepared) {
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

    /// Adds the bytes of referenced blobs to a batch that is about to be committed, if neither the batch nor the store
    /// has them: what [`Self::fetch`] added to another batch may have been dropped with it.
    pub(super) fn fetch_missing(&self, store: &Store, batch: &mut Batch) -> Result<()> {
        let mut snapshot = None;
        batch.fill_blobs(|hash| {
            let snapshot = match &mut snapshot {
                Some(snapshot) => snapshot,
                none => none.insert(store.snapshot()?),
            };
            Ok(if lacks(snapshot, hash)? { self.bytes(hash) } else { None })
        })
    }

    /// A blob's bytes; `None` if the folder does not have them. What is not a file, what is longer than
    /// [`LONGEST_BLOB`], and a file whose bytes do not have the hash in its name is not the blob.
    fn bytes(&self, hash: &Hash) -> Option<Vec<u8>> {
        let file = open_regular(&self.folder.join(blobs::hex(hash))).ok()?;
        let length = file.metadata().ok()?.len();
        let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_BLOB)?;
        let mut bytes = Vec::with_capacity(length);
        // If it grows meanwhile, it is not the blob.
        file.take(length as u64).read_to_end(&mut bytes).ok()?;
        (blobs::hash(&bytes) == *hash).then_some(bytes)
    }

    /// Adds the blobs that a session refers to, the store lacks, and the folder has.
    pub(super) fn attach_missing(
        &self,
        snapshot: &Snapshot,
        session: SessionKey,
        (edit, batch): (&Edit, &mut Batch),
    ) -> Result<()> {
        let Some(record) = snapshot.session(session)? else { return Ok(()) };
        let mut asked = HashSet::new();
        let mut chunks = snapshot.rows(session).chunks(record.lines);
        while let Some(chunk) = chunks.next()? {
            for hole in chunk.holes().iter().filter(|hole| !hole.kind.is_cut()) {
                if asked.insert(hole.hash)
                    && lacks(snapshot, &hole.hash)?
                    && let Some(bytes) = self.bytes(&hole.hash)
                {
                    edit.attach_blob(batch, hole.hash, bytes);
                }
            }
        }
        Ok(())
    }
}

/// Whether the store does not have a blob's bytes.
fn lacks(snapshot: &Snapshot, hash: &Hash) -> Result<bool> {
    Ok(snapshot.blob_record(hash)?.is_none_or(|record| record.size.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_bound() {
        let stated = crate::documented::bound("a blob of a folder");
        assert_eq!(stated, format!("{} MiB", LONGEST_BLOB >> 20));
    }
}
