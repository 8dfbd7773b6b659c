//! The entries that a command is given.

use leafline::error::SessionError;
use leafline::{EntryKind, SessionReader};

use super::failure::Failure;

/// The session's leaf, and the last entry of its file.
const LEAF: &str = "@leaf";
const LAST: &str = "@last";

/// The id of the entry that is named: by its id, by the beginning of no other id, or as `@leaf` or `@last`.
///
/// # Errors
///
/// If there is no such entry, if several ids begin so, or if the leaf or the last entry has no id.
pub(super) fn entry_id(reader: &SessionReader, named: &str) -> Result<String, Failure> {
    // An id may be anything, and comes first.
    let found = reader.find_entry_id(named);
    let Err(leafline::Error::Session(SessionError::EntryNotFound { .. })) = &found else {
        return Ok(found?);
    };
    let id = match named {
        LEAF => reader.get_leaf_id()?,
        LAST => last_id(reader)?,
        _ => return Ok(found?),
    };
    id.ok_or_else(|| Failure::NoEntryId { session: reader.id(), named: named.to_owned() })
}

/// The id of the last entry that has one.
fn last_id(reader: &SessionReader) -> Result<Option<String>, Failure> {
    for ordinal in (0..reader.facts().lines).rev() {
        let line = reader.line(ordinal)?;
        let id = line.filter(|line| line.kind() != EntryKind::Header).and_then(|line| line.id());
        // A line that is no entry may state an id all the same.
        if let Some(id) = id
            && reader.find_entry_id(&id).is_ok_and(|found| found == id)
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}
