//! A session of Opal's as Opal would save it: what becomes of one that was changed here when it is exported.
//!
//! The header's line comes first, with the leaf as its `current_id`; then the messages in the order in which they are
//! stored. Each is what Opal's encoder gives for the stored line, with all its members. Lines that Opal cannot read are
//! left out: blank and malformed ones, those that are no object, and headers after the first.

use leafline_import::opal::{ParentId, encode, with_session};
use leafline_import::{EntryKind, text};

use super::export::{BUFFER_BYTES, Read, expect};
use super::index::reading::{Reading, read_line};
use super::lines::{LineCursor, LineView};
use super::render::{Renderer, Rendering};
use crate::error::{Corruption, Result};
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;

/// Hands out the lines, until `take` answers `false`.
pub(super) fn saved_lines(
    renderer: &mut Renderer<'_>,
    snapshot: &Snapshot,
    session: u64,
    record: &SessionRecord,
    take: &mut dyn FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    let current_id = current_id(snapshot, session, record)?;
    let mut cursor = LineCursor::new(snapshot, session, record, 0);
    let mut messages = 0;
    let (mut stored, mut saved) = (Vec::new(), Vec::new());
    let mut read = Read::default();
    while let Some(line) = cursor.next()? {
        read.count(&line);
        stored.clear();
        match EntryKind::from_code(line.node.kind) {
            Some(EntryKind::Header) if line.ordinal == record.header => {
                renderer.render(line.text, line.holes, &mut stored)?;
                let current_id = current_id.as_deref().map_or(ParentId::Null, ParentId::Id);
                let mut header = Vec::with_capacity(stored.len());
                with_session(&stored, &record.external_id, current_id, &mut header)
                    .map_err(|problem| damaged(session, &line, problem))?;
                write_line(session, &line, &header, &mut saved)?;
            }
            Some(EntryKind::Message) => {
                messages += 1;
                renderer.render(line.text, line.holes, &mut stored)?;
                write_line(session, &line, &stored, &mut saved)?;
            }
            _ => continue,
        }
        if saved.len() >= BUFFER_BYTES {
            if !take(&saved)? {
                return Ok(());
            }
            saved.clear();
            saved.shrink_to(4 * BUFFER_BYTES);
            stored.shrink_to(4 * BUFFER_BYTES);
        }
    }
    read.check(record)?;
    expect(record, "messages", messages, record.messages)?;
    take(&saved)?;
    Ok(())
}

/// Appends the line that Opal writes for what it reads from this one.
fn write_line(session: u64, line: &LineView<'_>, stored: &[u8], saved: &mut Vec<u8>) -> Result<()> {
    let decoded = text::decode(stored);
    encode(text::trim_start_of_file(&decoded), saved)
        .map_err(|problem| damaged(session, line, problem))?;
    saved.push(b'\n');
    Ok(())
}

/// The leaf's id as WTF-8.
fn current_id(
    snapshot: &Snapshot,
    session: u64,
    record: &SessionRecord,
) -> Result<Option<Vec<u8>>> {
    let Some(leaf) = snapshot.leaf(session)? else { return Ok(None) };
    let line = snapshot.line(session, leaf, None)?;
    let mut bytes = Vec::with_capacity(line.text().len());
    Renderer::new(snapshot, Rendering::Exact).render(line.text(), &line.holes, &mut bytes)?;
    Ok(read_line(Reading::of(record), &bytes, |line| line.id().map(|id| id.into_owned())))
}

fn damaged(session: u64, line: &LineView<'_>, problem: impl std::fmt::Display) -> Corruption {
    Corruption {
        table: "lines",
        place: format!("session key {session}, line {}", line.ordinal + 1),
        problem: format!("the line is not what its node says: {problem}"),
    }
}
