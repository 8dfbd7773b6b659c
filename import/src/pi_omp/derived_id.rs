//! Ids for the entries of version 1 files, which have none.
//!
//! The programs draw random ids. Here they follow from the session's id and the entry's position, so that importing the
//! same file twice gives the same ids. A keyed permutation makes them, so that no two entries of a session get the same
//! id, without a set of used ids.

use sha2::{Digest, Sha256};

const ROUNDS: usize = 4;

/// A permutation of 32-bit numbers, chosen by a session's id.
#[derive(Debug, Clone)]
pub(super) struct IdPermutation {
    keys: [u64; ROUNDS],
}

impl IdPermutation {
    pub(super) fn new(session_id: &[u8]) -> Self {
        let digest = Sha256::digest(session_id);
        let mut keys = [0; ROUNDS];
        for (key, bytes) in keys.iter_mut().zip(digest.as_chunks::<8>().0) {
            *key = u64::from_le_bytes(*bytes);
        }
        Self { keys }
    }

    /// The id of the entry at a position: 8 lower-case hex digits, more only from position 2^32 on.
    pub(super) fn id(&self, position: u64) -> String {
        let low = self.permute(position & u64::from(u32::MAX));
        match position >> 32 {
            0 => format!("{low:08x}"),
            high => format!("{high:x}{low:08x}"),
        }
    }

    /// A Feistel network over two halves of 16 bits: a permutation for any round function.
    fn permute(&self, number: u64) -> u64 {
        let (mut left, mut right) = (number >> 16, number & 0xffff);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & 0xffff));
        }
        left << 16 | right
    }
}

/// The finaliser of SplitMix64: every input bit affects every output bit.
fn mix(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The id of the entry at `position` of a version 1 session: 8 lower-case hex digits, more only from position 2^32 on.
/// The header's position is 0; lines that do not parse have none.
///
/// ```
/// use leafline_import::pi_omp::derived_id;
///
/// let id = derived_id(b"d703a1a9-1b7b-4fb1-b512-c9738b1fe617", 1);
/// assert_eq!(id.len(), 8);
/// assert_eq!(id, derived_id(b"d703a1a9-1b7b-4fb1-b512-c9738b1fe617", 1));
/// assert_ne!(id, derived_id(b"d703a1a9-1b7b-4fb1-b512-c9738b1fe617", 2));
/// ```
#[must_use]
pub fn derived_id(session_id: &[u8], position: u64) -> String {
    IdPermutation::new(session_id).id(position)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_never_collide() {
        for session in [&b""[..], b"a", b"b"] {
            let permutation = IdPermutation::new(session);
            let ids: HashSet<String> =
                (0..200_000).map(|position| permutation.id(position)).collect();
            assert_eq!(ids.len(), 200_000);
        }
    }

    #[test]
    fn positions_past_32_bits_get_longer_ids() {
        let permutation = IdPermutation::new(b"a");
        assert_eq!(permutation.id(u64::from(u32::MAX)).len(), 8);
        assert_eq!(permutation.id(1 << 32), format!("1{}", permutation.id(0)));
        assert_eq!(permutation.id(u64::MAX).len(), 16);
    }

    /// Stored sessions have these ids: they must not change.
    #[test]
    fn ids_are_stable() {
        assert_eq!(
            [1, 2, 3].map(|position| derived_id(b"session", position)),
            ["a8f7a64d", "cb7f4cbb", "78984c29"]
        );
    }
}
