//! Payloads: the parts of a line that a store may keep separately.

use std::ops::Range;

/// The shortest base64 text that counts as a payload, in bytes: the length from which omp keeps images separately (omp
/// session storage document, persistence).
pub const SMALLEST_BASE64: usize = 1024;

/// What omp writes in place of an image that it keeps separately, before the 64 digits of its SHA-256.
pub const REFERENCE_PREFIX: &str = "blob:sha256:";

const REFERENCE_LENGTH: usize = REFERENCE_PREFIX.len() + 64;

/// A string of the line that is base64, or a reference to bytes kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    /// Where it starts in the scanned text, in bytes: after the string's quote or, in a data URL, within the string.
    pub start: usize,
    /// Where it ends, before its quote.
    pub end: usize,
    /// Where in the record it is.
    pub place: PayloadPlace,
    /// What it is.
    pub kind: PayloadKind,
}

impl Payload {
    /// The byte range of the content in the scanned text.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Where in the record a payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadPlace {
    /// It is the `data` of an image block in a `content` array, at any depth: the place where omp resolves references
    /// and keeps images separately (omp session storage document).
    ImageInContent,
    /// Anywhere else.
    Other,
}

/// What a payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadKind {
    /// The value of a member named `data`, or a value selected by a family's own rule, of at least [`SMALLEST_BASE64`]
    /// bytes, all in base64's alphabet and padded to a multiple of four. The store must check whether decoding and
    /// encoding reproduce the text.
    Base64,
    /// Exactly `blob:sha256:` and 64 lower-case hex digits.
    Reference,
}

/// Whether a string without escapes is a reference.
#[inline]
pub(crate) fn is_reference(content: &[u8]) -> bool {
    content.len() == REFERENCE_LENGTH
        && content.starts_with(REFERENCE_PREFIX.as_bytes())
        && content[REFERENCE_PREFIX.len()..]
            .iter()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a string without escapes looks like base64 that is worth keeping separately.
pub(crate) fn is_base64(content: &[u8]) -> bool {
    if content.len() < SMALLEST_BASE64 || !content.len().is_multiple_of(4) {
        return false;
    }
    let body = match content {
        [body @ .., b'=', b'='] | [body @ .., b'='] => body,
        body => body,
    };
    let (chunks, rest) = body.as_chunks::<64>();
    // The first chunk decides for nearly every text that is not base64.
    chunks.iter().all(|chunk| all_in_alphabet(chunk)) && all_in_alphabet(rest)
}

#[inline]
fn all_in_alphabet(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |all, &byte| {
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'0') < 10;
        all & (letter | digit | (byte == b'+') | (byte == b'/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_by_length_alphabet_and_padding() {
        let text = "Az09+/ab".repeat(128);
        assert!(is_base64(text.as_bytes()));
        assert!(!is_base64(&text.as_bytes()[..1020]));
        assert!(!is_base64(format!("{text}A").as_bytes()));
        assert!(is_base64(format!("{text}AA==").as_bytes()));
        assert!(is_base64(format!("{text}AAA=").as_bytes()));
        assert!(!is_base64(format!("{text}A===").as_bytes()));
        for foreign in 0..=255_u8 {
            let mut bytes = text.clone().into_bytes();
            bytes[700] = foreign;
            let expected = foreign.is_ascii_alphanumeric() || foreign == b'+' || foreign == b'/';
            assert_eq!(is_base64(&bytes), expected, "{foreign}");
        }
    }

    #[test]
    fn references_are_exact() {
        let hash = "0123456789abcdef".repeat(4);
        assert!(is_reference(format!("blob:sha256:{hash}").as_bytes()));
        assert!(!is_reference(format!("blob:sha256:{hash}0").as_bytes()));
        assert!(!is_reference(format!("blob:sha256:{}", hash.to_uppercase()).as_bytes()));
    }
}
