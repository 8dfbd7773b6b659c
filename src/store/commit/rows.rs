//! The rows that result from a session's lines.

use super::slice::{BlobGain, Row, Slice};
use crate::store::blobs::Hash;
use crate::store::chunk::ChunkBuilder;
use crate::store::entry_record::EntryRows;
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::PointerRecord;
use crate::store::record::Record;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::settings_record::SettingsRecord;
use crate::store::tables::NOT_COUNTED;
use crate::store::usage_record::UsageRecord;

/// What a reference to a blob weighs besides the blob, in bytes.
const REFERENCE_WEIGHT: usize = 40;

/// Bytes that a pointer weighs.
const POINTER_WEIGHT: usize = 64;

/// Receives the rows of one session.
pub(crate) struct Rows<'b> {
    pub(super) slice: &'b mut Slice,
    pub(super) session: SessionKey,
    pub(super) tally: &'b mut Tally,
}

/// A reference from a line to a blob.
#[derive(Debug)]
pub(crate) struct BlobReference {
    pub(crate) hash: Hash,
    /// The blob's bytes, if they came with the line.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Whether the base64 was cut out of the line, which cannot be rendered without the bytes.
    pub(crate) was_cut: bool,
}

/// The totals of a session's rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) lines: u64,
    pub(super) text_bytes: u64,
    /// Rows in `entries`.
    pub(super) ids: u64,
    /// Rows in `settings`.
    pub(super) settings: u64,
}

impl Tally {
    /// The totals of the rows of a session with this record.
    pub(super) fn of(record: &SessionRecord) -> Self {
        Self {
            lines: record.lines,
            text_bytes: record.text_bytes,
            ids: record.addressed(),
            settings: record.settings,
        }
    }
}

impl Rows<'_> {
    /// The session of the rows.
    pub(crate) fn session(&self) -> SessionKey {
        self.session
    }

    fn row<K, V>(&self, key: K, value: V) -> Row<K, V> {
        Row { session: self.session, key, value }
    }

    /// Adds a chunk, and the references that its lines make, in order: one transaction counts them and stores who made
    /// them, so that a sweep releases what was counted. Does nothing if the chunk is empty.
    pub(crate) fn add_chunk(&mut self, chunk: ChunkBuilder, blobs: &mut Vec<BlobReference>) {
        assert_eq!(chunk.hole_count(), blobs.len(), "a blob for each hole");
        if chunk.is_empty() {
            return;
        }
        self.tally.lines += chunk.line_count();
        self.tally.text_bytes += chunk.text_bytes();
        let row = self.row(chunk.first(), chunk.finish());
        self.slice.weight += row.value.len();
        self.slice.chunks.push(row);
        for blob in blobs.drain(..) {
            self.refer(blob);
        }
    }

    /// Counts lines whose chunk is not closed yet.
    pub(crate) fn count_lines(&mut self, lines: u64) {
        self.slice.line_count += lines;
    }

    /// Removes the chunk with this first line: its lines are in other chunks from now on.
    pub(crate) fn remove_chunk(&mut self, first: Ordinal, lines: u64, text_bytes: u64) {
        self.tally.lines = self.tally.lines.wrapping_sub(lines);
        self.tally.text_bytes = self.tally.text_bytes.wrapping_sub(text_bytes);
        let row = self.row(first, ());
        self.slice.removed_chunks.push(row);
    }

    /// Adds a chunk of lines that were in other chunks, which are removed.
    pub(crate) fn rewrite_chunk(&mut self, chunk: ChunkBuilder) {
        self.tally.lines = self.tally.lines.wrapping_add(chunk.line_count());
        self.tally.text_bytes = self.tally.text_bytes.wrapping_add(chunk.text_bytes());
        let row = self.row(chunk.first(), chunk.finish());
        self.slice.rewritten_chunks.push(row);
    }

    /// Replaces the chunk with this first line: the lines stay the same, the nodes change.
    pub(crate) fn renew_chunk(&mut self, first: Ordinal, bytes: Vec<u8>) {
        self.slice.weight += bytes.len();
        let row = self.row(first, bytes);
        self.slice.rewritten_chunks.push(row);
    }

    /// Adds the ids of entries.
    pub(crate) fn add_entries(&mut self, entries: EntryRows) {
        self.tally.ids += entries.len() as u64;
        if !entries.is_empty() {
            self.slice.entries.push(entries);
        }
    }

    /// The ids of entries that were added to the batch.
    pub(crate) fn added_ids(&self) -> impl Iterator<Item = &[u8]> {
        let own = self.slice.entries.iter().filter(|rows| rows.session == self.session);
        own.flat_map(EntryRows::iter).map(|(id, _)| id)
    }

    /// Adds a child; a root if there is no parent. Returns whether that takes a row: a child directly after its parent
    /// has none.
    pub(crate) fn add_child(&mut self, parent: Option<Ordinal>, ordinal: Ordinal) -> bool {
        let is_next = parent.is_some_and(|parent| parent.next() == Some(ordinal));
        if !is_next {
            let row = self.row((parent, ordinal), ());
            self.slice.children.push(row);
        }
        !is_next
    }

    /// Removes all children that were added in earlier commits.
    pub(crate) fn reset_children(&mut self) {
        let row = self.row((), ());
        self.slice.reset_children.push(row);
    }

    /// Sets or clears the label of a target, as a line does.
    pub(crate) fn set_label(&mut self, target: Vec<u8>, line: Ordinal, label: Option<Vec<u8>>) {
        let row = self.row((target, line), label);
        self.slice.labels.push(row);
    }

    /// Adds settings that nodes name by this number.
    pub(crate) fn add_settings(&mut self, number: u64, settings: SettingsRecord) {
        self.tally.settings += 1;
        let row = self.row(number, settings);
        self.slice.settings.push(row);
    }

    /// Adds what a line points to.
    pub(crate) fn add_pointer(&mut self, ordinal: Ordinal, pointer: PointerRecord) {
        self.slice.weight += POINTER_WEIGHT;
        let row = self.row(ordinal, pointer);
        self.slice.pointers.push(row);
    }

    /// Adds a row of usage, or replaces the one with its number.
    pub(crate) fn put_usage(&mut self, number: u64, record: &UsageRecord) {
        let row = self.row(number, record.to_bytes());
        self.slice.weight += row.value.len();
        self.slice.usage.push(row);
    }

    /// Removes all rows of usage that were added in earlier commits.
    pub(crate) fn reset_usage(&mut self) {
        let row = self.row((), ());
        self.slice.reset_usage.push(row);
    }

    /// Notes that the session's usage is not what its rows say any more, and has to be counted again.
    pub(crate) fn forget_usage(&mut self) {
        let row = self.row(NOT_COUNTED, Vec::new());
        self.slice.usage.push(row);
    }

    /// Adds a piece of the imported file.
    pub(crate) fn add_original(&mut self, piece: u64, bytes: Vec<u8>) {
        self.slice.weight += bytes.len();
        let row = self.row(piece, bytes);
        self.slice.originals.push(row);
    }

    /// Counts a reference to a blob.
    pub(crate) fn refer(&mut self, blob: BlobReference) {
        let BlobReference { hash, bytes, was_cut } = blob;
        self.slice.weight += REFERENCE_WEIGHT + bytes.as_ref().map_or(0, Vec::len);
        let row = self.row(hash, BlobGain { bytes, was_cut, is_reference: true });
        self.slice.blobs.push(row);
    }

    /// Releases a reference that a line no longer makes.
    pub(crate) fn release(&mut self, hash: Hash, was_cut: bool) {
        let row = self.row(hash, was_cut);
        self.slice.released.push(row);
    }
}
