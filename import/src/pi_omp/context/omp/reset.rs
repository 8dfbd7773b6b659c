//! Where a `/clear` makes a context begin.

use super::super::selection::scan;
use crate::EntryKind;
use crate::conversation::{Above, Conversation, PathEnd, PathRuns};
use crate::scan::Scanner;

/// The `type` of the entries that `/clear` writes.
const RESET_BOUNDARY: &str = "reset_boundary";

/// The last reset on the path to an entry, below the compaction that counts there. The walk ends where it is found. For
/// sessions whose index can be trusted: there are no loops.
pub(super) fn on_indexed_path<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
    compaction: Option<u64>,
) -> Result<Option<u64>, C::Error> {
    let mut from = leaf;
    loop {
        let (path, _) = conversation.climb(from, |entry| {
            let node = conversation.node(entry)?;
            Ok(match node.parent {
                Some(parent) if node.kind != EntryKind::Unknown && Some(entry) != compaction => {
                    Above::Entry(parent)
                }
                _ => Above::End(PathEnd::Root),
            })
        })?;
        let Some(top) = path.highest().filter(|&top| Some(top) != compaction) else {
            return Ok(None);
        };
        if is_reset(conversation, top)? {
            return Ok(Some(top));
        }
        let Some(parent) = conversation.node(top)?.parent else { return Ok(None) };
        from = parent;
    }
}

/// The last reset of a path.
pub(super) fn on_path<C: Conversation>(
    conversation: &mut C,
    path: &PathRuns,
) -> Result<Option<u64>, C::Error> {
    for entry in path.upwards() {
        if is_reset(conversation, entry)? {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

/// Whether an entry is a reset. The index has no kind for resets, so the line is read.
pub(super) fn is_reset<C: Conversation>(
    conversation: &mut C,
    entry: u64,
) -> Result<bool, C::Error> {
    if conversation.node(entry)?.kind != EntryKind::Unknown {
        return Ok(false);
    }
    scan(conversation, &mut Scanner::new(), entry, |scan| {
        scan.members.entry_type.is_some_and(|name| name.is_text(RESET_BOUNDARY))
    })
}
