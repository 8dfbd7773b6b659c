//! How much of each session the index has.

use std::collections::HashMap;

use tantivy::columnar::ColumnIndex;
use tantivy::{Searcher, TantivyDocument};
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
    /// Tells the session from another one that has its key in an older copy of the store.
    pub(super) stamp: u64,
}

impl State {
    /// That of an index that has all of a session.
    pub(super) fn of(record: &SessionRecord) -> Self {
        Self { lines: record.lines, revision: record.revision, stamp: stamp(record) }
    }

    /// Where to go on reading the session that has this state in the index; `None` if all was read. What is after
    /// that line is to be taken out of the index.
    ///
    /// The last line is read again: it may have had no end.
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
        let mut add = |document| {
            if let Some(session) = keys.first(document)
                && segment.alive_bitset().is_none_or(|alive| alive.is_alive(document))
            {
                let value = |column: &tantivy::columnar::Column<u64>| {
                    column.first(document).unwrap_or_default()
                };
                let state = State {
                    lines: value(&lines),
                    revision: value(&revisions),
                    stamp: value(&stamps),
                };
                states.insert(SessionKey::new(session), state);
            }
        };
        match &keys.index {
            ColumnIndex::Optional(index) => index.iter_non_null_docs().for_each(&mut add),
            _ => (0..segment.max_doc()).for_each(&mut add),
        }
    }
    Ok(states)
}
