//! Where a message has images that omp resolves when it loads a session.

use crate::scan::{PayloadKind, PayloadPlace, Scanner};

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
