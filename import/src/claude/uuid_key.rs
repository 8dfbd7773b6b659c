//! A uuid in a fixed number of bytes.

use sha2::{Digest, Sha256};

/// Stands for a uuid, whatever its length: what is in the tree must not grow with what a file names its records.
///
/// The usual spelling is its own 128 bits. Any other text is the first 128 bits of its SHA-256; the tag keeps the two
/// apart, so that no text can be made that stands for another record's uuid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct UuidKey {
    bits: [u8; 16],
    is_hash: bool,
}

impl UuidKey {
    /// The key of a uuid, given as WTF-8.
    pub(super) fn of(uuid: &[u8]) -> Self {
        if let Some(bits) = bits_of_usual(uuid) {
            return Self { bits, is_hash: false };
        }
        let hash = Sha256::digest(uuid);
        let mut bits = [0; 16];
        bits.copy_from_slice(&hash[..16]);
        Self { bits, is_hash: true }
    }
}

/// The bits of a uuid as it is usually written: lower case, with dashes. Any other spelling is another name.
pub(super) fn bits_of_usual(uuid: &[u8]) -> Option<[u8; 16]> {
    if uuid.len() != 36 {
        return None;
    }
    let mut bits = [0; 16];
    let mut digits = 0;
    for (place, &byte) in uuid.iter().enumerate() {
        let digit = match byte {
            b'-' if matches!(place, 8 | 13 | 18 | 23) => continue,
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        *bits.get_mut(digits / 2)? |= if digits % 2 == 0 { digit << 4 } else { digit };
        digits += 1;
    }
    (digits == 32).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_stay_apart() {
        let usual = UuidKey::of(b"01234567-89ab-cdef-0123-456789abcdef");
        assert!(!usual.is_hash);
        assert_eq!(usual.bits[..4], [0x01, 0x23, 0x45, 0x67]);
        assert_eq!(usual.bits[15], 0xef);
        for other in [
            &b"01234567-89AB-cdef-0123-456789abcdef"[..],
            b"0123456789abcdef0123456789abcdef",
            b"0123456708-9ab-cdef-0123-456789abcde",
            b"012345678901234567890123456789012345",
            b"01234567-89ab-cdef-0123-456789abcdeg",
            b"a",
            b"",
            b"\xed\xa0\x80",
        ] {
            assert!(UuidKey::of(other).is_hash, "{}", other.escape_ascii());
        }
        assert_ne!(UuidKey::of(b"a"), UuidKey::of(b"b"));
    }
}
