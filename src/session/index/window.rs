//! The ids of a session's newest entries, in memory while an import goes on, until they are loaded into the
//! `entries` table, sorted, all at once.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::store::entry_record::{EntryRecord, EntryRows};

/// Entries that are collected before they are loaded: about 45 MiB with ids of 8 bytes.
///
/// Inserted in smaller heaps, random ids rewrite most pages of the table with each heap.
pub(crate) const WINDOW_ENTRIES: usize = 1_000_000;

/// Bytes of ids that are collected, for files whose ids are long.
const WINDOW_ID_BYTES: usize = 32 << 20;

#[derive(Debug, Clone, Copy)]
struct Row {
    /// The id's first bytes: nearly every comparison of a sort ends here, without a look at the id.
    prefix: u64,
    start: u32,
    length: u32,
    ordinal: u64,
}

/// The first 8 bytes of an id as a number that sorts as they do; a shorter id is filled with zeros.
fn prefix_of(id: &[u8]) -> u64 {
    let mut prefix = [0; 8];
    for (to, from) in prefix.iter_mut().zip(id) {
        *to = *from;
    }
    u64::from_be_bytes(prefix)
}

/// Ids and where their entries stand; of an id met twice, the later entry.
#[derive(Debug, Default)]
pub(crate) struct EntryWindow {
    ids: Vec<u8>,
    rows: Vec<Row>,
    by_id: HashTable<u32>,
    chunks: Vec<u64>,
}

impl EntryWindow {
    fn id_of(&self, row: Row) -> &[u8] {
        let start = row.start as usize;
        self.ids.get(start..start + row.length as usize).unwrap_or_default()
    }

    /// Adds an entry; answers the ordinal of the earlier entry with the same id.
    pub(crate) fn insert(&mut self, id: &[u8], ordinal: u64) -> Option<u64> {
        let hash = xxh3_64(id);
        if let Some(index) = self.position(hash, id) {
            let row = self.rows.get_mut(index as usize)?;
            return Some(std::mem::replace(&mut row.ordinal, ordinal));
        }
        let row = Row {
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
            row.map_or(0, |row| {
                let start = row.start as usize;
                xxh3_64(ids.get(start..start + row.length as usize).unwrap_or_default())
            })
        });
        None
    }

    fn position(&self, hash: u64, id: &[u8]) -> Option<u32> {
        self.by_id
            .find(hash, |&index| {
                self.rows.get(index as usize).is_some_and(|row| self.id_of(*row) == id)
            })
            .copied()
    }

    /// The ordinal of the entry with this id.
    pub(crate) fn find(&self, id: &[u8]) -> Option<u64> {
        let index = self.position(xxh3_64(id), id)?;
        self.rows.get(index as usize).map(|row| row.ordinal)
    }

    /// Notes that a chunk begins at this ordinal.
    pub(crate) fn begin_chunk(&mut self, first: u64) {
        self.chunks.push(first);
    }

    /// Whether the window is to be loaded before more is added.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= WINDOW_ENTRIES || self.ids.len() >= WINDOW_ID_BYTES
    }

    /// Takes everything out as rows of the session, sorted by id, each with the chunk that holds it.
    pub(crate) fn drain_sorted(&mut self, session: u64) -> EntryRows {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable_by(|a, b| {
            a.prefix.cmp(&b.prefix).then_with(|| self.id_of(*a).cmp(self.id_of(*b)))
        });
        let Self { ids, chunks, .. } = std::mem::take(self);
        let sorted = rows.into_iter().map(|row| {
            let behind = chunks.partition_point(|&first| first <= row.ordinal);
            let chunk = behind.checked_sub(1).and_then(|index| chunks.get(index)).copied();
            let start = row.start as usize;
            let record = EntryRecord { ordinal: row.ordinal, chunk: chunk.unwrap_or(row.ordinal) };
            (start..start + row.length as usize, record)
        });
        EntryRows::new(session, ids, sorted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        window.begin_chunk(0);
        assert_eq!(window.insert(b"b", 1), None);
        assert_eq!(window.insert(b"a", 2), None);
        window.begin_chunk(3);
        assert_eq!(window.insert(b"b", 3), Some(1));
        assert_eq!(window.find(b"b"), Some(3));
        assert_eq!(window.find(b"c"), None);
        let sorted = window.drain_sorted(7);
        assert_eq!(
            sorted.iter().collect::<Vec<_>>(),
            [
                (&b"a"[..], EntryRecord { ordinal: 2, chunk: 0 }),
                (&b"b"[..], EntryRecord { ordinal: 3, chunk: 3 }),
            ]
        );
        assert_eq!(window.find(b"a"), None);
    }
}
