//! Guards: the conditions under which a session's rows are written.

use std::collections::HashSet;

use redb::WriteTransaction;

use super::files;
use super::slice::Slice;
use crate::error::Result;
use crate::store::file_record::FileRecord;
use crate::store::pages::ReadableTable;
use crate::store::record::Record;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::tables;

/// The state on which the rows are based, and which another process may have changed since.
#[derive(Debug)]
pub(super) enum Guard {
    /// No session has this address.
    Free { address: Vec<u8> },
    /// The session exists and was not written since.
    Same { session: SessionKey, revision: u64 },
    /// The path has this file, or none.
    File { path: Vec<u8>, record: Option<FileRecord> },
}

/// Removes the sessions whose guards do not hold from the slice, and returns them. `has_journaled` says whether the journal
/// has a change of a session that is not in the tables.
pub(super) fn leave_out_conflicts(
    transaction: &WriteTransaction,
    slice: &mut Slice,
    has_journaled: impl Fn(SessionKey) -> bool,
) -> Result<Vec<SessionKey>> {
    let mut conflicts = Vec::new();
    if slice.guards.is_empty() {
        return Ok(conflicts);
    }
    let ids = transaction.open_table(tables::SESSION_IDS)?;
    let sessions = transaction.open_table(tables::SESSIONS)?;
    let files = transaction.open_table(tables::FILES)?;
    let mut taken = HashSet::new();
    for row in &slice.guards {
        let holds = match &row.value {
            Guard::Free { address } => {
                let is_free = ids.get(address.as_slice())?.is_none();
                is_free && taken.insert(address)
            }
            Guard::Same { session, revision } => match sessions.get(session.raw())? {
                Some(value) => {
                    let record = SessionRecord::from_bytes(value.value(), || session.to_string())?;
                    record.revision == *revision && !has_journaled(*session)
                }
                None => false,
            },
            Guard::File { path, record } => *record == files::at(&files, path)?,
        };
        if !holds {
            conflicts.push(row.session);
        }
    }
    for session in &conflicts {
        slice.forget(*session);
    }
    Ok(conflicts)
}
