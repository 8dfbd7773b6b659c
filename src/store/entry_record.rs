//! The value of the `entries` table: where an entry's line is.

use super::ordinal::Ordinal;
use super::record::{append, read};
use super::session_key::SessionKey;
use crate::error::{Corruption, Error, Result};
use crate::store::pages::ReadableTable;

/// Where the entry with an id is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryRecord {
    /// The entry's line number in its session.
    pub(crate) ordinal: Ordinal,
    /// The first ordinal of the chunk that had the line when the record was written: one look-up instead of a search.
    /// If lines were sealed into other chunks since, the search finds it.
    pub(crate) chunk: Ordinal,
}

/// An entry's id and line, before its row is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryRow {
    /// The id's first bytes: nearly every comparison of a sort is decided by them, without reading the id.
    pub(crate) prefix: u64,
    /// The offset of the id among the ids.
    pub(crate) start: u32,
    /// The id's bytes.
    pub(crate) length: u32,
    /// The entry's line.
    pub(crate) ordinal: Ordinal,
}

impl EntryRow {
    /// The id, given all ids one after the other.
    pub(crate) fn id_in(self, ids: &[u8]) -> &[u8] {
        let start = self.start as usize;
        ids.get(start..start + self.length as usize).unwrap_or_default()
    }
}

/// Rows of one session for the `entries` table, ascending by id. They are used in the form in which they were
/// collected: a million of them take 24 MB, and a second copy would take as much again.
#[derive(Debug)]
pub(crate) struct EntryRows {
    pub(crate) session: SessionKey,
    ids: Vec<u8>,
    rows: Vec<EntryRow>,
    /// The first ordinals of the entries' chunks, ascending.
    chunks: Vec<Ordinal>,
}

impl EntryRows {
    /// Sorts rows by their ids.
    pub(crate) fn new(
        session: SessionKey,
        ids: Vec<u8>,
        mut rows: Vec<EntryRow>,
        chunks: Vec<Ordinal>,
    ) -> Self {
        rows.sort_unstable_by(|a, b| {
            a.prefix.cmp(&b.prefix).then_with(|| a.id_in(&ids).cmp(b.id_in(&ids)))
        });
        Self { session, ids, rows, chunks }
    }

    /// Each id with its record.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], EntryRecord)> {
        self.rows.iter().map(|row| {
            let after = self.chunks.partition_point(|&first| first <= row.ordinal);
            let chunk = after.checked_sub(1).and_then(|index| self.chunks.get(index)).copied();
            let chunk = chunk.unwrap_or(row.ordinal);
            (row.id_in(&self.ids), EntryRecord { ordinal: row.ordinal, chunk })
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl EntryRecord {
    /// Overwrites the buffer with the record's bytes: the ordinal, and its distance from the chunk's first line. No
    /// version byte: one per line would be a fifth of the record; the store's format number covers it.
    pub(crate) fn write_to(self, bytes: &mut Vec<u8>) {
        bytes.clear();
        append(&self.ordinal.raw(), bytes);
        let distance = self.ordinal.lines_since(self.chunk);
        append(&distance.expect("a chunk begins with the entry's line or before it"), bytes);
    }

    /// Reads a record back.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let decode = || {
            let (ordinal, taken) = read::<u64>(bytes)?;
            let (distance, _) = read::<u64>(bytes.get(taken..).unwrap_or_default())?;
            let chunk = ordinal.checked_sub(distance).ok_or("the chunk lies behind the line")?;
            Ok(Self { ordinal: Ordinal::new(ordinal), chunk: Ordinal::new(chunk) })
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
        session: SessionKey,
        id: &[u8],
    ) -> Result<Option<Self>> {
        table.get((session.raw(), id))?.map(|value| Self::from_bytes(value.value())).transpose()
    }
}
