//! What only the first lines of a session say, once there are more of them than when the session was begun.

use leafline_import::{Start, detect};

use super::super::view::View;
use crate::error::Result;
use crate::store::ordinal::Ordinal;
use crate::store::session_record::SessionRecord;

/// Bytes of a session's beginning that are looked at: as many as of a file's.
const PREFIX_BYTES: u64 = 256 << 10;

/// Takes what a session's beginning shows and the record lacks: a file may have been read when it had no line yet that says
/// where it is at work.
pub(crate) fn fill(record: &mut SessionRecord, start: &Start) {
    if record.imported_version.is_empty() {
        record.imported_version.clone_from(&start.version);
    }
    if record.cwd.is_none() {
        record.cwd.clone_from(&start.cwd);
    }
    record.created = record.created.or(start.created_ms);
}

/// The same for lines that follow those of a stored session.
pub(crate) fn fill_from(record: &mut SessionRecord, view: View<'_>, new: &[u8]) -> Result<()> {
    let family = record.known_family();
    let lacks = record.cwd.is_none() || record.created.is_none();
    if !lacks || view.record().bytes >= PREFIX_BYTES {
        return Ok(());
    }
    let mut prefix = Vec::new();
    for number in 0..view.record().lines {
        prefix.extend_from_slice(view.entry(Ordinal::new(number))?.line());
    }
    prefix.extend_from_slice(new);
    // A session that could not be told from its beginning was told by its caller.
    if let Ok(start) = detect(&prefix, Some(family), true) {
        fill(record, &start);
    }
    Ok(())
}
