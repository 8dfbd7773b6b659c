//! The value of the `entries` table: where an entry's line is.

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

impl EntryRecord {
    /// The record's bytes: the ordinal, and how far the chunk's first line is before it. No version byte:
    /// with one a line, it would be a fifth of the record; the store's format number covers it.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8);
        append(&self.ordinal, &mut bytes);
        append(&(self.ordinal - self.chunk), &mut bytes);
        bytes
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
