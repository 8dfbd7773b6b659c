//! The images of an entry, from the blobs that were cut out of its line or that it refers to.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::error::Result;
use crate::session::{Entry, SessionReader};
use crate::store::blobs::Hash;
use crate::store::chunk::HoleKind;

/// Images of an entry that are not shown yet.
#[derive(Debug)]
pub(super) struct Images<'r> {
    reader: &'r SessionReader,
    /// Each with the length of its base64 in the line; 0 for one to which the line only refers.
    left: Vec<(Hash, u64)>,
}

impl<'r> Images<'r> {
    /// Those of an entry.
    pub(super) fn of(reader: &'r SessionReader, entry: &Entry) -> Result<Self> {
        let line = reader.view().line(entry.place())?;
        let mut left = Vec::new();
        for hole in &line.holes {
            let length = match hole.kind {
                HoleKind::ImageReference => 0,
                HoleKind::TextReference => continue,
                HoleKind::Image | HoleKind::Payload => {
                    let size =
                        reader.snapshot().blob_record(&hole.hash)?.and_then(|record| record.size);
                    size.unwrap_or_default().div_ceil(3) * 4
                }
            };
            left.push((hole.hash, length));
        }
        Ok(Self { reader, left })
    }

    /// The image whose base64 has this length, as a `data:` URL of its own type; `None` if the store does not have it, or if
    /// it is of no type that is only a picture.
    pub(super) fn next(&mut self, base64_length: usize) -> Result<Option<String>> {
        let length = base64_length as u64;
        let Some(place) = self.left.iter().position(|(_, found)| *found == length) else {
            return Ok(None);
        };
        let (hash, _) = self.left.remove(place);
        let Some(bytes) = self.reader.snapshot().blob(&hash)? else { return Ok(None) };
        Ok(kind(&bytes).map(|kind| format!("data:{kind};base64,{}", STANDARD.encode(&bytes))))
    }
}

/// The type of an image by its first bytes. What else a line says of it does not count, and an SVG is none: it can hold
/// scripts and references.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    let begins = |beginning: &[u8]| bytes.starts_with(beginning);
    if begins(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if begins(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if begins(b"GIF87a") || begins(b"GIF89a") {
        Some("image/gif")
    } else if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn images_are_known_by_their_bytes() {
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n...."), Some("image/png"));
        assert_eq!(kind(b"RIFF....WEBPVP8 "), Some("image/webp"));
        for bytes in [&b"<svg onload=\"alert(1)\">"[..], b"", b"RIFF....WAVE", b"<html>"] {
            assert_eq!(kind(bytes), None);
        }
    }
}
