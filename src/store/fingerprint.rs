//! A digest of a file's bytes that can be continued when the file has grown, without reading its beginning again.

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Bytes of a block: the most that must be read again before continuing.
pub(crate) const BLOCK_BYTES: u64 = 1 << 20;

/// The digest of a stream of bytes.
///
/// Whole blocks form a chain of XXH3s, 128 bits each: of the chain before and of the block's own XXH3. The digest is
/// that of the chain and of the bytes after the last whole block. All numbers are hashed as 16 bytes, little endian.
#[derive(Clone, Default)]
pub(crate) struct Fingerprint {
    chain: u128,
    tail: Xxh3,
    length: u64,
}

impl Fingerprint {
    /// Continues after the whole blocks of `length` bytes that had this chain: it must be given the bytes from
    /// [`block_start`] on.
    pub(crate) fn resume(chain: u128, length: u64) -> Self {
        Self { chain, tail: Xxh3::new(), length: block_start(length) }
    }

    /// Takes the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = BLOCK_BYTES - self.length % BLOCK_BYTES;
            let most = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at(most);
            self.tail.update(now);
            self.length += now.len() as u64;
            rest = later;
            if self.length.is_multiple_of(BLOCK_BYTES) {
                self.chain = joined(self.chain, self.tail.digest128());
                self.tail = Xxh3::new();
            }
        }
    }

    /// How many bytes it was given, including those before the point where it resumed.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The chain of the whole blocks so far.
    pub(crate) fn chain(&self) -> u128 {
        self.chain
    }

    /// The digest of the bytes so far.
    pub(crate) fn digest(&self) -> u128 {
        joined(self.chain, self.tail.digest128())
    }
}

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Fingerprint").field("length", &self.length).finish_non_exhaustive()
    }
}

/// The start of the block that contains the byte after `length` bytes.
pub(crate) fn block_start(length: u64) -> u64 {
    length - length % BLOCK_BYTES
}

fn joined(chain: u128, digest: u128) -> u128 {
    let mut bytes = [0; 32];
    let (first, second) = bytes.split_at_mut(16);
    first.copy_from_slice(&chain.to_le_bytes());
    second.copy_from_slice(&digest.to_le_bytes());
    xxh3_128(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8], piece: usize) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        bytes.chunks(piece).for_each(|piece| fingerprint.take(piece));
        fingerprint
    }

    #[test]
    fn pieces_do_not_matter_and_a_digest_is_gone_on_with() {
        let bytes: Vec<u8> = (0..3_500_000_u32).flat_map(|number| number.to_le_bytes()).collect();
        let whole = of(&bytes, 1 << 30);
        assert_eq!(of(&bytes, 777_777).digest(), whole.digest());
        for length in [0, 1, 1 << 20, (1 << 20) + 5, 5 << 20] {
            let known = of(&bytes[..length], 4096);
            let mut resumed = Fingerprint::resume(known.chain(), length as u64);
            let start = usize::try_from(block_start(length as u64)).unwrap();
            resumed.take(&bytes[start..length]);
            assert_eq!(resumed.digest(), known.digest(), "{length}");
            resumed.take(&bytes[length..]);
            assert_eq!(resumed.digest(), whole.digest(), "{length}");
            assert_eq!(resumed.length(), bytes.len() as u64);
        }
    }

    #[test]
    fn other_bytes_have_another_digest() {
        assert_ne!(of(b"a", 1).digest(), of(b"b", 1).digest());
        assert_ne!(of(&[0; 1 << 20], 1 << 20).digest(), of(&[0; 1 << 21], 1 << 20).digest());
        assert_ne!(of(b"", 1).digest(), of(&[0; 1 << 20], 1 << 20).digest());
    }
}
