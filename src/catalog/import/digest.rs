//! The digest of a file as it is read, which distinguishes later growth from a change.

use crate::store::fingerprint::Fingerprint;
use crate::store::session_record::ImportedBytes;

/// The digest of a file as it is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Digest {
    fingerprint: Fingerprint,
    last: Option<u8>,
}

impl Digest {
    /// Goes on from what was imported before: it must be given the bytes from the beginning of the block in which that
    /// ends.
    pub(super) fn resume(imported: &ImportedBytes) -> Self {
        Self { fingerprint: Fingerprint::resume(imported.chain, imported.length), last: None }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.fingerprint.take(bytes);
        self.last = bytes.last().copied().or(self.last);
    }

    pub(crate) fn finish(self) -> ImportedBytes {
        ImportedBytes {
            length: self.fingerprint.length(),
            digest: self.fingerprint.digest(),
            chain: self.fingerprint.chain(),
            complete: self.last.is_none_or(|last| last == b'\n'),
        }
    }
}
