//! Images and audio that the program does not send, and what it sends in their place (observed).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::codex::json::Object;
use crate::scan::Raw;

/// How many characters of base64 are examined: enough for the first bytes of any image, and a multiple of four.
const BEGINNING: usize = 32;

/// The text that replaces an image or audio block; `None` if the block itself is sent.
pub(super) fn stand_in(block: Raw<'_>) -> Option<&'static str> {
    let block = Object::of(block);
    let name = block.get("type")?;
    if name.is_text("input_audio") {
        return Some("audio content omitted because you do not support audio input");
    }
    if !name.is_text("input_image") {
        return None;
    }
    let url = block.value("image_url")?.to_string_lossy()?;
    if url.starts_with("http://") || url.starts_with("https://") {
        return Some("image content omitted because remote image URLs are not supported");
    }
    if block.value("detail").is_some_and(|detail| detail.is_text("low")) {
        return Some(
            "image content omitted because detail 'low' is not supported; use 'high', 'original', or 'auto'",
        );
    }
    if url.starts_with("data:") && !is_image(&url) {
        return Some("image content omitted because it could not be processed");
    }
    None
}

/// Whether a `data:` URL begins as an image does. The program decodes it as a whole and shrinks large images; here they
/// stay unchanged.
fn is_image(url: &str) -> bool {
    let Some((_, base64)) = url.split_once(";base64,") else { return false };
    let beginning = base64.get(..BEGINNING).unwrap_or(base64);
    let Ok(bytes) = STANDARD.decode(beginning) else { return false };
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let beginnings: [&[u8]; 3] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8"];
    is_webp || beginnings.iter().any(|beginning| bytes.starts_with(beginning))
}
