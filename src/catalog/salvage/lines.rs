//! The lines that are there of a damaged session, as a file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline_import::writing::Beginning;
use leafline_import::{Line, read_line};

use crate::error::{Error, FileContext, Result};
use crate::session::added_lines;
use crate::session::view::View;
use crate::store::blobs::{self, Hash};
use crate::store::chunk::Hole;
use crate::store::ordinal::Ordinal;
use crate::store::originals::read_originals;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;

/// What was written of a session.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) count: u64,
    /// The gaps: first and last line, counted from 1.
    pub(super) missing: Vec<(u64, Option<u64>)>,
    /// Lines that have a reference to a blob where its bytes were: counted from 1.
    pub(super) without_blobs: Vec<u64>,
    /// The id of the entry that is the leaf.
    pub(super) leaf: Option<String>,
    /// Whether they are the imported ones of a migrated session.
    pub(super) are_imported: bool,
    /// Whether it is not known what the leaf is.
    pub(super) is_without_leaf: bool,
}

/// Whether lines of a session have lost text to blobs whose bytes are not whole.
pub(super) fn lacks_blobs(view: View<'_>, broken: &[Hash]) -> Result<bool> {
    if broken.is_empty() {
        return Ok(false);
    }
    let mut chunks = view.chunks();
    while let Some(chunk) = chunks.next()? {
        let is_lost = |hole: &Hole| hole.kind.is_cut() && broken.binary_search(&hole.hash).is_ok();
        if chunk.holes().iter().any(is_lost) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The lines of a session, counted from 1, that name blobs whose bytes are not whole.
pub(super) fn lines_without_blobs(view: View<'_>, broken: &[Hash]) -> Result<Vec<u64>> {
    let mut lines = Vec::new();
    if broken.is_empty() {
        return Ok(lines);
    }
    let mut chunks = view.chunks();
    while let Some(chunk) = chunks.next()? {
        let first = chunk.first().number();
        let lost = chunk.holes().iter().filter(|hole| broken.binary_search(&hole.hash).is_ok());
        lines.extend(lost.map(|hole| first + hole.line));
        lines.dedup();
    }
    Ok(lines)
}

/// Writes the lines that are there of a session.
pub(super) fn write_lines(
    snapshot: &Snapshot,
    key: SessionKey,
    record: Option<&SessionRecord>,
    path: &Path,
) -> Result<Lines> {
    if let Some(record) = record
        && record.migrated
        && record.revision == 0
        && let Some(lines) = write_originals(snapshot, key, record, path)?
    {
        return Ok(lines);
    }
    let file = File::create(path).at("making", path)?;
    let mut out = BufWriter::new(file);
    let mut lines = Lines::default();
    let leaf = match snapshot.rows(key).leaf() {
        Ok(leaf) => leaf,
        Err(Error::Corrupted(_)) => {
            lines.is_without_leaf = true;
            None
        }
        Err(error) => return Err(error),
    };
    // Whatever chunks are there are read.
    let open = SessionRecord { lines: u64::MAX, ..record.cloned().unwrap_or_default() };
    let view = View::new(snapshot.rows(key), &open);
    let mut cursor = view.cursor();
    let mut next = 0;
    let mut bytes = Vec::new();
    let mut ends_line = true;
    for (first, count) in chunks(snapshot, key)? {
        for number in first.max(next)..first.saturating_add(count) {
            let line = match cursor.line(Ordinal::new(number)) {
                Ok(line) => line,
                Err(Error::Corrupted(_)) => continue,
                Err(error) => return Err(error),
            };
            if number > next {
                lines.missing.push((next + 1, Some(number)));
                if next == 0 {
                    out.write_all(&header(record)).at("writing", path)?;
                }
                if !ends_line {
                    // The end of that line is missing.
                    out.write_all(b"\n").at("writing", path)?;
                }
            }
            if let Some(record) = record.filter(|_| leaf == Some(line.ordinal)) {
                let id = |line: &Line<'_>| line.id().map(Cow::into_owned);
                let id = read_line(record.reading(), line.text, id);
                lines.leaf = id.map(|id| String::from_utf8_lossy(&id).into_owned());
            }
            bytes.clear();
            if !render(snapshot, line.text, line.holes, &mut bytes)? {
                lines.without_blobs.push(number + 1);
            }
            out.write_all(&bytes).at("writing", path)?;
            ends_line = bytes.ends_with(b"\n");
            lines.count += 1;
            next = number + 1;
        }
    }
    // What was appended last, and the tables could not take.
    for payload in snapshot.unfolded_of(key)? {
        let text = added_lines(&payload)?;
        if !ends_line {
            out.write_all(b"\n").at("writing", path)?;
            ends_line = true;
        }
        out.write_all(&text).at("writing", path)?;
        lines.count += text.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    let there = record.map(|record| record.lines);
    if there.is_none_or(|there| next < there) {
        lines.missing.push((next + 1, there));
    }
    out.flush().at("writing", path)?;
    Ok(lines)
}

/// Writes the file from which a migrated session was made, if all of it is there.
fn write_originals(
    snapshot: &Snapshot,
    key: SessionKey,
    record: &SessionRecord,
    path: &Path,
) -> Result<Option<Lines>> {
    let mut out = BufWriter::new(File::create(path).at("making", path)?);
    let written = read_originals(snapshot.rows(key), &record.imported, &mut |bytes| {
        out.write_all(bytes).at("writing", path)?;
        Ok(true)
    });
    match written {
        Ok(()) => {
            out.flush().at("writing", path)?;
            Ok(Some(Lines { count: record.lines, are_imported: true, ..Lines::default() }))
        }
        Err(Error::Corrupted(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The chunks of a session whose directories can be read: first line, and number of lines.
fn chunks(snapshot: &Snapshot, key: SessionKey) -> Result<Vec<(u64, u64)>> {
    let rows = snapshot.rows(key);
    let mut chunks = Vec::new();
    let mut from = Some(Ordinal::FIRST);
    while let Some(next) = from
        && let Some((first, count)) = rows.chunk_beginning(next)?
    {
        chunks.extend(count.map(|count| (first.raw(), count)));
        from = first.next();
    }
    Ok(chunks)
}

/// Puts blobs back into a line. One that is not whole is referred to by its hash; the answer is then `false`.
fn render(snapshot: &Snapshot, text: &[u8], holes: &[Hole], out: &mut Vec<u8>) -> Result<bool> {
    let mut at = 0;
    let mut is_whole = true;
    for hole in holes.iter().filter(|hole| hole.kind.is_cut()) {
        let offset = usize::try_from(hole.offset).unwrap_or(usize::MAX);
        out.extend_from_slice(text.get(at..offset).unwrap_or_default());
        at = offset.min(text.len());
        match snapshot.blob(&hole.hash) {
            Ok(Some(bytes)) => out.extend_from_slice(STANDARD.encode(bytes).as_bytes()),
            Ok(None) | Err(Error::Corrupted(_)) => {
                is_whole = false;
                out.extend_from_slice(b"blob:sha256:");
                out.extend_from_slice(blobs::hex(&hole.hash).as_bytes());
            }
            Err(error) => return Err(error),
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    Ok(is_whole)
}

/// The header of a session that has lost its own, if its program's is known.
fn header(record: Option<&SessionRecord>) -> Vec<u8> {
    let mut header = Vec::new();
    let Some(record) = record else { return header };
    let id = String::from_utf8_lossy(&record.external_id);
    let beginning = Beginning {
        id: &id,
        time_ms: record.created.unwrap_or(0),
        cwd: record.cwd.as_deref().unwrap_or(""),
        parent_session: record.parent_session.as_deref(),
        title: record.title.as_deref(),
    };
    if record.known_family().begin(&beginning, &mut header).is_err() {
        header.clear();
    }
    header
}
