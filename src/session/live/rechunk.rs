//! Writes lines again in other chunks: appended ones are sealed, changed ones replace the old ones.

use std::sync::Arc;

use super::super::index::frames::FrameEncoder;
use super::super::index::prepare::type_name;
use super::super::lines::LineView;
use super::super::reader::SessionReader;
use crate::error::Result;
use crate::store::chunk::{CHUNK_CAPACITY, ChunkBuilder, EncodedFrames, Hole};
use crate::store::commit::{Batch, Extension, Rows};
use crate::store::compression::{Dictionary, NO_DICTIONARY};
use crate::store::ordinal::Ordinal;
use crate::store::session_record::SessionRecord;

/// How many lines are appended one by one before they are sealed: each is written once alone and once together with
/// others, so that an append costs a small page and not the rewriting of a chunk.
pub(super) const LOOSE_LINES: u64 = 16;

/// A line in its stored form: its text without what is cut out, and its holes.
pub(super) struct StoredText {
    pub(super) text: Vec<u8>,
    pub(super) holes: Vec<Hole>,
}

/// Writes the lines of whole chunks up to `to` again, which begins a chunk or is the end: changed as `change` says, or
/// unchanged. Their nodes stay.
pub(super) fn rechunk(
    reader: &SessionReader,
    from: u64,
    to: u64,
    mut change: impl FnMut(&LineView<'_>) -> Option<StoredText>,
    rows: &mut Rows<'_>,
) -> Result<()> {
    let dictionary = tail_dictionary(reader, to)?;
    let mut encoder = FrameEncoder::new();
    let mut frames = EncodedFrames::default();
    let mut nodes = Vec::new();
    let mut cursor = reader.view().cursor(from);
    for ordinal in from..to {
        let line = cursor.line(ordinal)?;
        nodes.push(*line.node);
        let changed = change(&line);
        let (text, holes) = match &changed {
            Some(stored) => (&*stored.text, &*stored.holes),
            None => (line.text, line.holes),
        };
        if encoder.is_full_for(text.len()) {
            encoder.close(&mut frames, &dictionary);
        }
        encoder.push([text].into_iter(), holes.iter().cloned());
    }
    encoder.close(&mut frames, &dictionary);
    remove(reader, from, to, rows)?;
    let mut chunk = ChunkBuilder::new(from, dictionary.id);
    let mut left = &*nodes;
    for frame in frames.iter() {
        let (of_frame, behind) = left.split_at(frame.lengths.len());
        left = behind;
        if !chunk.is_empty() && !chunk.has_room(&frame, of_frame) {
            let next = ChunkBuilder::new(chunk.next_ordinal(), dictionary.id);
            let full = std::mem::replace(&mut chunk, next);
            rows.rewrite_chunk(full);
        }
        chunk.push(&frame, of_frame);
    }
    if !chunk.is_empty() {
        rows.rewrite_chunk(chunk);
    }
    Ok(())
}

/// Removes the chunks whose first lines are in the range.
fn remove(reader: &SessionReader, from: u64, to: u64, rows: &mut Rows<'_>) -> Result<()> {
    let mut chunks = reader.view().chunks();
    chunks.seek(from);
    while chunks.position() < to
        && let Some(chunk) = chunks.next()?
    {
        rows.remove_chunk(chunk.first(), chunk.line_count(), chunk.lengths().iter().sum());
    }
    Ok(())
}

/// Seals the lines that were appended one by one, once there are enough of them or the following ones are worth chunks
/// of their own, and completes the last line if an imported file had no final line feed, as the next line would be
/// joined to it.
pub(super) fn seal(
    reader: &SessionReader,
    record: &mut SessionRecord,
    chunks_follow: bool,
    (extension, batch): (&mut Extension, &mut Batch),
) -> Result<()> {
    let mut ended = end_last_line(reader, record)?;
    let enough = if chunks_follow { 1 } else { LOOSE_LINES };
    if record.lines - record.sealed < enough && ended.is_none() {
        return Ok(());
    }
    let from = first_to_seal(reader, record.sealed, ended.is_some())?;
    let change = |line: &LineView<'_>| {
        ended.take_if(|(ordinal, _)| *ordinal == line.ordinal).map(|(_, text)| text)
    };
    rechunk(reader, from, record.lines, change, &mut extension.rows(batch))?;
    extension.seal(record.lines);
    Ok(())
}

/// The session's last line with a line feed added, if it has none, and its ordinal. The record's byte count is updated.
pub(super) fn end_last_line(
    reader: &SessionReader,
    record: &mut SessionRecord,
) -> Result<Option<(u64, StoredText)>> {
    let found = reader.record();
    // Only an imported file can end like that, and only as long as nothing follows its bytes.
    if found.imported.complete || found.migrated || found.bytes != found.imported.length {
        return Ok(None);
    }
    let Some(last) = found.lines.checked_sub(1) else { return Ok(None) };
    let line = reader.view().line(Ordinal::new(last))?;
    if line.text().ends_with(b"\n") {
        return Ok(None);
    }
    record.bytes += 1;
    record.text_bytes += 1;
    let name = type_name(reader.reading(), line.text());
    record.types.change_bytes(&name, 0, 1);
    let text = [line.text(), b"\n"].concat();
    Ok(Some((last, StoredText { text, holes: line.holes })))
}

/// Where sealing begins: at the chunk before the loose lines if that is less than half full, or may have the line that
/// is completed; otherwise at the first of them.
fn first_to_seal(reader: &SessionReader, sealed: u64, ends_line: bool) -> Result<u64> {
    let Some(last) = sealed.checked_sub(1) else { return Ok(sealed) };
    let mut chunks = reader.view().chunks();
    let chunk = chunks.holding(last)?;
    let is_sealed_too = ends_line || chunk.bytes().len() < CHUNK_CAPACITY / 2;
    Ok(if is_sealed_too { chunk.first() } else { sealed })
}

/// The dictionary of the chunk before the line `end`; for a session without lines the store's newest one.
pub(crate) fn tail_dictionary(reader: &SessionReader, end: u64) -> Result<Arc<Dictionary>> {
    let store = reader.snapshot().store();
    let id = match end.checked_sub(1) {
        // The record may be older than the snapshot: somebody else may have packed later lines into its chunk.
        Some(last) => reader.view().rows().chunks_left().holding(last)?.dictionary(),
        None => store.dictionary_ids()?.last().copied().unwrap_or(NO_DICTIONARY),
    };
    store.dictionary(id)
}
