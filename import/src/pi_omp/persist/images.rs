//! The reference that replaces an image.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::ExternalisedImage;
use crate::scan::REFERENCE_PREFIX;

/// The bytes of an image's `data`, if that has at least `fewest` characters and is base64 that encoding the bytes
/// reproduces exactly.
pub(super) fn decode(data: &str, fewest: usize) -> Option<Vec<u8>> {
    if data.len() < fewest {
        return None;
    }
    // The strict decoder refuses padding and trailing bits that encoding would not reproduce.
    STANDARD.decode(data).ok()
}

impl ExternalisedImage {
    /// The reference as a JSON string.
    pub(super) fn reference(&self) -> String {
        let mut reference = format!("\"{REFERENCE_PREFIX}");
        for byte in self.hash {
            for digit in [byte >> 4, byte & 15] {
                reference.extend(char::from_digit(u32::from(digit), 16));
            }
        }
        reference.push('"');
        reference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_base64_that_comes_back() {
        assert_eq!(decode("QUJDRA==", 8).as_deref(), Some(&b"ABCD"[..]));
        assert_eq!(decode("QUJDRA==", 9), None);
        for data in
            ["QUJDRB==", "QUJDRA=", "QUJDRA", "QUJD RA==", "QUJ-", "QUJ\n", "blob:sha256:0f"]
        {
            assert_eq!(decode(data, 0), None, "{data}");
        }
    }

    #[test]
    fn references_are_the_documented_ones() {
        let image = ExternalisedImage { hash: [0x0f; 32], bytes: Vec::new() };
        assert_eq!(image.reference(), format!("\"blob:sha256:{}\"", "0f".repeat(32)));
    }
}
