//! Where a message has images that omp resolves when it loads a session.

use crate::EntryKind;
use crate::ecma::Document;
use crate::scan::Raw;

/// The offsets in a line at which references stand that omp resolves.
///
/// omp writes references for images in any `content` array, and resolves those alone that are blocks of a message's or
/// a custom message's own content (omp session storage document, persistence).
pub(super) fn resolved_by_omp(kind: EntryKind, line: &str) -> Vec<usize> {
    let Ok(document) = Document::parse(line) else { return Vec::new() };
    let content = match kind {
        EntryKind::Message => document.get_within("message", "content"),
        EntryKind::CustomMessage => document.get("content"),
        _ => None,
    };
    content.map_or_else(Vec::new, |content| image_data(line, content))
}

/// Where the `data` of each image block begins in the line, after its quote.
fn image_data(line: &str, content: Raw<'_>) -> Vec<usize> {
    let data = |block: Raw<'_>| {
        let is_image = block.member("type").is_some_and(|name| name.is_text("image"));
        let data = block.member("data").filter(|data| is_image && data.is_string())?;
        // Both point into the same text.
        let offset = data.as_str().as_ptr().addr().checked_sub(line.as_ptr().addr())?;
        Some(offset + 1)
    };
    content.elements().filter_map(data).collect()
}
