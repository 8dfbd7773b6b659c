//! The digest of a file as it is read, by which a later state of it is told from a change.

use xxhash_rust::xxh3::Xxh3;

use crate::store::session_record::ImportedBytes;

/// The digest of a file as it is read.
#[derive(Default)]
pub(super) struct Digest {
    hasher: Xxh3,
    length: u64,
    last: Option<u8>,
}

impl Digest {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        self.last = bytes.last().copied().or(self.last);
    }

    pub(super) fn finish(self) -> ImportedBytes {
        ImportedBytes {
            length: self.length,
            digest: self.hasher.digest128(),
            complete: self.last.is_none_or(|last| last == b'\n'),
        }
    }
}
