//! The value of the `entries` table: where an entry's line is.

use std::ops::Range;

use redb::ReadableTable;

use super::record::{append, read};
use crate::error::{Corruption, Error, Result};

/// Where the entry with some id stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryRecord {
    /// The entry's line number in its session.
    pub(crate) ordinal: u64,
    /// The first ordinal of the chunk that held the line when the record was written: one look-up instead
    /// of a search. Where lines were sealed into other chunks since, the search finds it.
    pub(crate) chunk: u64,
}

/// Rows of one session for the `entries` table, ascending by id. The ids stand one behind the other: a value
/// of its own for each would cost more than the rest of the row.
#[derive(Debug, Default)]
pub(crate) struct EntryRows {
    pub(crate) session: u64,
    ids: Vec<u8>,
    rows: Vec<(Range<usize>, EntryRecord)>,
}

impl EntryRows {
    /// Rows whose ids are ranges of `ids`, in ascending order.
    pub(crate) fn new(
        session: u64,
        ids: Vec<u8>,
        rows: impl Iterator<Item = (Range<usize>, EntryRecord)>,
    ) -> Self {
        Self { session, ids, rows: rows.collect() }
    }

    /// Each id with its record.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], EntryRecord)> {
        self.rows
            .iter()
            .map(|(range, record)| (self.ids.get(range.clone()).unwrap_or_default(), *record))
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl EntryRecord {
    /// Writes the record's bytes over those in the buffer: the ordinal, and how far the chunk's first line is
    /// before it. No version byte: with one a line, it would be a fifth of the record; the store's format
    /// number covers it.
    pub(crate) fn write_to(self, bytes: &mut Vec<u8>) {
        bytes.clear();
        append(&self.ordinal, bytes);
        append(&(self.ordinal - self.chunk), bytes);
    }

    /// Reads a record back.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let decode = || {
            let (ordinal, taken) = read::<u64>(bytes)?;
            let (distance, _) = read::<u64>(bytes.get(taken..).unwrap_or_default())?;
            let chunk = ordinal.checked_sub(distance).ok_or("the chunk lies behind the line")?;
            Ok(Self { ordinal, chunk })
        };
        decode().map_err(|problem: String| {
            Error::Corrupted(Corruption {
                table: "entries",
                place: format!("value {bytes:02x?}"),
                problem,
            })
        })
    }

    /// Looks an id up.
    pub(crate) fn find(
        table: &impl ReadableTable<(u64, &'static [u8]), &'static [u8]>,
        session: u64,
        id: &[u8],
    ) -> Result<Option<Self>> {
        table.get((session, id))?.map(|value| Self::from_bytes(value.value())).transpose()
    }
}
