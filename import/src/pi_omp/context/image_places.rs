//! Where a message has images that omp resolves when it loads a session.

use crate::pi_omp::context::omp::record_of;
use crate::scan::{PayloadKind, PayloadPlace, Raw, Scanner};

/// The offsets in a line of the references that omp resolves: those of images in `content` arrays, at any depth
/// (observed).
pub(super) fn resolved_by_omp(line: &str) -> Vec<usize> {
    let mut scanner = Scanner::new();
    scanner.scan(line);
    let images = scanner.payloads().iter().filter(|payload| {
        payload.kind == PayloadKind::Reference && payload.place == PayloadPlace::ImageInContent
    });
    images.map(|payload| payload.range().start).collect()
}

/// Of these, the ones that omp 14.9.9 resolves: the images among the blocks of the content of a message or of a custom
/// message, but not those that a block holds (observed).
pub(super) fn resolved_in_own_content(line: &str) -> Vec<usize> {
    let content = record_of(line).and_then(|record| {
        let name = record.member("type")?;
        if name.is_text("message") {
            record.member("message")?.member("content")
        } else {
            record.member("content").filter(|_| name.is_text("custom_message"))
        }
    });
    let own: Vec<usize> = content
        .into_iter()
        .flat_map(Raw::elements)
        .filter_map(|block| block.member("data"))
        // Both point into the same text; the reference begins after its quote.
        .filter_map(|data| {
            Some(data.as_str().as_ptr().addr().checked_sub(line.as_ptr().addr())? + 1)
        })
        .collect();
    resolved_by_omp(line).into_iter().filter(|place| own.binary_search(place).is_ok()).collect()
}
