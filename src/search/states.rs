//! How much of each session is in the index.

use std::collections::HashMap;

use tantivy::columnar::{Column, ColumnIndex};
use tantivy::error::DataCorruption;
use tantivy::{Searcher, TantivyDocument, TantivyError};
use xxhash_rust::xxh3::xxh3_64;

use super::schema::{Fields, LINES, REVISION, STAMP, STATE};
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;

/// How much of a session was read for the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// Lines that were read, from the first one on.
    pub(super) lines: u64,
    /// The session's revision then.
    pub(super) revision: u64,
    /// Distinguishes the session from another one that has its key in an older copy of the store.
    pub(super) stamp: u64,
}

impl State {
    /// The state of an index that has all of a session.
    pub(super) fn of(record: &SessionRecord) -> Self {
        Self { lines: record.lines, revision: record.revision, stamp: stamp(record) }
    }

    /// The line from which to go on reading the session that has this state in the index; `None` if all was read.
    /// Entries from that line on must be removed from the index.
    ///
    /// The last line is read again: it may not have been complete.
    pub(super) fn next_line(known: Option<&Self>, record: &SessionRecord) -> Option<Ordinal> {
        let Some(known) = known else { return Some(Ordinal::FIRST) };
        let is_same = known.stamp == stamp(record)
            && record.changed_at <= known.revision
            && known.lines <= record.lines;
        if !is_same {
            return Some(Ordinal::FIRST);
        }
        let is_read = known.lines == record.lines && known.revision == record.revision;
        (!is_read).then(|| Ordinal::last_of(known.lines).unwrap_or(Ordinal::FIRST))
    }

    pub(super) fn document(&self, fields: &Fields, session: SessionKey) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_u64(fields.state, session.raw());
        document.add_u64(fields.lines, self.lines);
        document.add_u64(fields.revision, self.revision);
        document.add_u64(fields.stamp, self.stamp);
        document
    }
}

fn stamp(record: &SessionRecord) -> u64 {
    xxh3_64(&record.external_id) ^ u64::from(record.number)
}

/// The states of all sessions in the index, by key.
pub(super) fn read_states(searcher: &Searcher) -> tantivy::Result<HashMap<SessionKey, State>> {
    let mut states = HashMap::new();
    for segment in searcher.segment_readers() {
        let columns = segment.fast_fields();
        let Some(keys) = columns.column_opt::<u64>(STATE)? else { continue };
        let [lines, revisions, stamps] =
            [columns.u64(LINES)?, columns.u64(REVISION)?, columns.u64(STAMP)?];
        let mut add = |document| -> tantivy::Result<()> {
            let Some(session) = keys.first(document) else { return Ok(()) };
            if segment.alive_bitset().is_some_and(|alive| !alive.is_alive(document)) {
                return Ok(());
            }
            let value = |column: &Column<u64>| column.first(document).ok_or_else(incomplete);
            let state = State {
                lines: value(&lines)?,
                revision: value(&revisions)?,
                stamp: value(&stamps)?,
            };
            states.insert(SessionKey::new(session), state);
            Ok(())
        };
        match &keys.index {
            ColumnIndex::Optional(index) => index.iter_non_null_docs().try_for_each(&mut add)?,
            _ => (0..segment.max_doc()).try_for_each(&mut add)?,
        }
    }
    Ok(states)
}

/// The error of a session's state that lacks a number.
fn incomplete() -> TantivyError {
    let problem = "the state of a session is incomplete";
    TantivyError::DataCorruption(DataCorruption::comment_only(problem))
}
