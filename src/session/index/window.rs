//! The ids of a session's newest entries, in memory during an import, until they are loaded into the `entries` table,
//! sorted, all at once.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::store::entry_record::{EntryRow, EntryRows};
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;

/// Entries that are collected before they are loaded: about 27 MiB with ids of 8 bytes.
///
/// Inserted in smaller batches, random ids would rewrite most pages of the table with each batch.
pub(crate) const WINDOW_ENTRIES: usize = 600_000;

/// Bytes of ids that are collected, for files with long ids.
const WINDOW_ID_BYTES: usize = 32 << 20;

/// The first 8 bytes of an id as a number with the same order; a shorter id is padded with zeros.
fn prefix_of(id: &[u8]) -> u64 {
    let mut prefix = [0; 8];
    for (to, from) in prefix.iter_mut().zip(id) {
        *to = *from;
    }
    u64::from_be_bytes(prefix)
}

/// Ids and their entries; of an id that occurs twice, the later entry.
#[derive(Debug, Default)]
pub(crate) struct EntryWindow {
    ids: Vec<u8>,
    rows: Vec<EntryRow>,
    by_id: HashTable<u32>,
    chunks: Vec<Ordinal>,
}

impl EntryWindow {
    /// Adds an entry; returns the ordinal of the earlier entry with the same id.
    pub(crate) fn insert(&mut self, id: &[u8], ordinal: Ordinal) -> Option<Ordinal> {
        let hash = xxh3_64(id);
        if let Some(index) = self.position(hash, id) {
            let row = self.rows.get_mut(index as usize)?;
            return Some(std::mem::replace(&mut row.ordinal, ordinal));
        }
        let row = EntryRow {
            prefix: prefix_of(id),
            start: u32::try_from(self.ids.len())
                .expect("a window is loaded long before it holds 4 GiB"),
            length: u32::try_from(id.len())
                .expect("an id stands in a line, whose length a chunk can hold"),
            ordinal,
        };
        self.ids.extend_from_slice(id);
        let index =
            u32::try_from(self.rows.len()).expect("a window is loaded at a million entries");
        self.rows.push(row);
        let Self { ids, rows, by_id, .. } = self;
        by_id.insert_unique(hash, index, |&index| {
            let row = rows.get(index as usize);
            row.map_or(0, |row| xxh3_64(row.id_in(ids)))
        });
        None
    }

    fn position(&self, hash: u64, id: &[u8]) -> Option<u32> {
        self.by_id
            .find(hash, |&index| {
                self.rows.get(index as usize).is_some_and(|row| row.id_in(&self.ids) == id)
            })
            .copied()
    }

    /// The ordinal of the entry with this id.
    pub(crate) fn find(&self, id: &[u8]) -> Option<Ordinal> {
        let index = self.position(xxh3_64(id), id)?;
        self.rows.get(index as usize).map(|row| row.ordinal)
    }

    /// Notes that a chunk begins with this line.
    pub(crate) fn begin_chunk(&mut self, first: Ordinal) {
        self.chunks.push(first);
    }

    /// Whether the window must be loaded before more is added.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= WINDOW_ENTRIES || self.ids.len() >= WINDOW_ID_BYTES
    }

    /// Removes everything as rows of the session, sorted by id, each with the entry's chunk.
    pub(crate) fn drain_sorted(&mut self, session: SessionKey) -> EntryRows {
        let Self { ids, rows, chunks, .. } = std::mem::take(self);
        EntryRows::new(session, ids, rows, chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::entry_record::EntryRecord;

    #[test]
    fn the_documentation_has_the_bounds() {
        use crate::documented::{bound, number};
        let window =
            format!("{} entries, {} MiB of ids", number(WINDOW_ENTRIES), WINDOW_ID_BYTES >> 20);
        assert_eq!(bound("entry window"), window);
    }

    #[test]
    fn the_later_entry_wins() {
        let mut window = EntryWindow::default();
        let line = Ordinal::new;
        window.begin_chunk(line(0));
        assert_eq!(window.insert(b"b", line(1)), None);
        assert_eq!(window.insert(b"a", line(2)), None);
        window.begin_chunk(line(3));
        assert_eq!(window.insert(b"b", line(3)), Some(line(1)));
        assert_eq!(window.find(b"b"), Some(line(3)));
        assert_eq!(window.find(b"c"), None);
        let record = |ordinal, chunk| EntryRecord { ordinal: line(ordinal), chunk: line(chunk) };
        let sorted = window.drain_sorted(SessionKey::new(7));
        assert_eq!(
            sorted.iter().collect::<Vec<_>>(),
            [(&b"a"[..], record(2, 0)), (&b"b"[..], record(3, 3)),]
        );
        assert_eq!(window.find(b"a"), None);
    }
}
