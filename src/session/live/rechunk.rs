//! Writes lines again in other chunks: appended ones are sealed, changed ones replace the old ones.

use std::sync::Arc;

use super::super::index::frames::FrameEncoder;
use super::super::index::prepare::type_name;
use super::super::lines::LineView;
use super::super::view::View;
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

/// Writes the lines from `from` up to `to` again, each as `change` says, or as it is. `from` begins a chunk, and `to`
/// begins one or is the end. The nodes stay the same.
pub(super) fn rechunk(
    view: View<'_>,
    from: Ordinal,
    to: Ordinal,
    mut change: impl FnMut(&LineView<'_>) -> Option<StoredText>,
    rows: &mut Rows<'_>,
) -> Result<()> {
    let dictionary = tail_dictionary(view, to)?;
    let mut encoder = FrameEncoder::new();
    let mut frames = EncodedFrames::default();
    let mut nodes = Vec::new();
    let mut cursor = view.cursor_from(from);
    for ordinal in from.up_to(to) {
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
    remove(view, from, to, rows)?;
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

/// Removes the chunks that begin with `from`, or after it and before `to`.
fn remove(view: View<'_>, from: Ordinal, to: Ordinal, rows: &mut Rows<'_>) -> Result<()> {
    let mut chunks = view.chunks();
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
    view: View<'_>,
    record: &mut SessionRecord,
    chunks_follow: bool,
    (extension, batch): (&mut Extension, &mut Batch),
) -> Result<()> {
    let mut ended = end_last_line(view, record)?;
    let enough = if chunks_follow { 1 } else { LOOSE_LINES };
    if record.lines - record.sealed < enough && ended.is_none() {
        return Ok(());
    }
    let from = first_to_seal(view, record.sealed, ended.is_some())?;
    let change = |line: &LineView<'_>| {
        ended.take_if(|(ordinal, _)| *ordinal == line.ordinal).map(|(_, text)| text)
    };
    let end = Ordinal::after(record.lines);
    rechunk(view, from, end, change, &mut extension.rows(batch))?;
    extension.seal(record.lines);
    Ok(())
}

/// If the session's last line has no line feed: its ordinal, and the line with one. The record then counts the line feed.
pub(super) fn end_last_line(
    view: View<'_>,
    record: &mut SessionRecord,
) -> Result<Option<(Ordinal, StoredText)>> {
    let found = view.record();
    // Only an imported file can end without one, and only while nothing follows its bytes.
    if found.imported.complete || found.migrated || found.bytes != found.imported.length {
        return Ok(None);
    }
    let Some(last) = Ordinal::last_of(found.lines) else { return Ok(None) };
    let line = view.line(last)?;
    if line.text().ends_with(b"\n") {
        return Ok(None);
    }
    record.bytes += 1;
    record.text_bytes += 1;
    let name = type_name(view.reading(), line.text());
    record.types.change_bytes(&name, 0, 1);
    let text = [line.text(), b"\n"].concat();
    Ok(Some((last, StoredText { text, holes: line.holes })))
}

/// The line at which sealing begins, given how many are sealed: the first of the last sealed chunk if that is less than half
/// full or may hold the line that gets a line feed, else the first loose line.
fn first_to_seal(view: View<'_>, sealed: u64, ends_line: bool) -> Result<Ordinal> {
    let Some(last) = Ordinal::last_of(sealed) else { return Ok(Ordinal::FIRST) };
    let mut chunks = view.chunks();
    let chunk = chunks.holding(last)?;
    let is_sealed_too = ends_line || chunk.bytes().len() < CHUNK_CAPACITY / 2;
    Ok(if is_sealed_too { chunk.first() } else { Ordinal::after(sealed) })
}

/// The dictionary of the chunk before the line `end`; the store's newest one if no line comes before it.
pub(crate) fn tail_dictionary(view: View<'_>, end: Ordinal) -> Result<Arc<Dictionary>> {
    let store = view.snapshot().store();
    let id = match end.previous() {
        // The record may be older than the snapshot: another process may have added later lines to the last chunk.
        Some(last) => view.rows().chunks_left().holding(last)?.dictionary(),
        None => store.dictionary_ids()?.last().copied().unwrap_or(NO_DICTIONARY),
    };
    store.dictionary(id)
}
