//! The row of the `journal` table: how far the tables are.

use bincode::{Decode, Encode};

use super::super::record::Record;

/// What the tables know of the journal. There is one row, under [`KEY`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct JournalRow {
    /// The random number of the epoch, which each record of the journal repeats; 0 while no journal is in use, and all
    /// is in the tables.
    pub(crate) epoch: u64,
    /// What the tables have of the journal.
    pub(crate) folded: Place,
    /// Commits that folded the journal or changed sessions beside it, since the store was made. A record of the journal
    /// has the number that its writer saw: if the tables have a smaller one, they are older than the journal.
    pub(crate) commits: u64,
    /// The journal's file, as an absolute path in the bytes of the system's paths.
    pub(crate) path: Vec<u8>,
}

/// A place in the journal: behind a record, where the next one begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Place {
    /// The sequence number of the record before. It grows by one with each record, over all epochs.
    pub(crate) sequence: u64,
    /// The checksum of that record, which the next one repeats.
    pub(crate) check: u64,
    /// The byte of the file at which the next record begins, if it still fits in that area.
    pub(crate) at: u64,
}

impl Place {
    /// Whether both are behind the same record.
    pub(crate) fn is_behind_same(&self, other: &Self) -> bool {
        (self.sequence, self.check) == (other.sequence, other.check)
    }
}

/// The key of the row.
pub(crate) const KEY: u64 = 0;

impl Record for JournalRow {
    const TABLE: &'static str = "journal";
}
