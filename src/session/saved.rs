//! A session as its program would save it: the export of one that was changed here.
//!
//! The header's line comes first, with the leaf in it; then the entries in their stored order, each as the program
//! would write the stored line. Lines that it cannot read are left out: blank and malformed ones, those that are not an
//! object, and headers after the first.

use leafline_import::{EntryKind, read_line};

use super::export::{BUFFER_BYTES, Read, expect};
use super::lines::LineView;
use super::render::Renderer;
use super::view::{View, rendered};
use crate::error::{Corruption, Result};
use crate::store::session_key::SessionKey;

/// Passes on the lines, until `take` returns `false`.
pub(super) fn saved_lines(
    renderer: &mut Renderer<'_>,
    view: View<'_>,
    take: &mut dyn FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    let (session, record) = (view.key(), view.record());
    let family = record.known_family();
    let leaf = leaf_id(view)?;
    let mut cursor = view.cursor();
    let mut entries = 0;
    let (mut stored, mut saved) = (Vec::new(), Vec::new());
    let mut read = Read::default();
    while let Some(line) = cursor.next()? {
        read.count(&line);
        stored.clear();
        match EntryKind::from_code(line.node.kind) {
            Some(EntryKind::Header) if line.ordinal == record.header => {
                renderer.render(line.text, line.holes, &mut stored)?;
                family
                    .save_header(&stored, &record.external_id, leaf.as_deref(), &mut saved)
                    .map_err(|problem| damaged(session, &line, problem))?;
            }
            Some(kind) if kind.is_entry() => {
                entries += 1;
                renderer.render(line.text, line.holes, &mut stored)?;
                family
                    .save_line(&stored, &mut saved)
                    .map_err(|problem| damaged(session, &line, problem))?;
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
    expect(record, "entries", entries, record.entries)?;
    take(&saved)?;
    Ok(())
}

/// The leaf's id as WTF-8.
fn leaf_id(view: View<'_>) -> Result<Option<Vec<u8>>> {
    let Some(leaf) = view.leaf()? else { return Ok(None) };
    let line = view.line(leaf)?;
    let bytes = rendered(view.snapshot(), line.text(), &line.holes)?;
    Ok(read_line(view.reading(), &bytes, |line| {
        view.reading().id_at(line, leaf.raw()).map(std::borrow::Cow::into_owned)
    }))
}

fn damaged(
    session: SessionKey,
    line: &LineView<'_>,
    problem: impl std::fmt::Display,
) -> Corruption {
    Corruption {
        table: "lines",
        place: format!("session key {session}, line {}", line.ordinal.number()),
        problem: format!("the line is not what its node says: {problem}"),
    }
}
