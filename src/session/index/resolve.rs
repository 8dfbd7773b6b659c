//! The exact way to the parents of an irregular session: each parent's id is looked up once all entries are
//! known, as the programs do that read the whole file first.

use leafline_import::EntryKind;
use leafline_import::text;

use super::reading::{Line, LineReader, ParentLink, Reading};
use crate::error::Result;
use crate::store::Store;
use crate::store::chunk::Chunk;
use crate::store::node::{Node, Parent};
use crate::store::session_record::SessionRecord;
use crate::store::slice::Slice;
use crate::store::snapshot::{Snapshot, damaged};
use crate::store::tables::NO_PARENT;

/// Bytes of rewritten chunks that one commit takes.
const SLICE_BYTES: usize = 24 << 20;

/// Rows of children that one commit takes.
const SLICE_CHILDREN: usize = 200_000;

/// Resolves every parent of a session that this is the record of again, and rewrites what changes. Answers the orphans.
pub(crate) fn resolve(store: &Store, session: u64, record: &SessionRecord) -> Result<u64> {
    let mut slice = Slice { reset_children: vec![session], ..Slice::default() };
    let mut snapshot = store.snapshot()?;
    let mut scanner = LineReader::new(Reading::of(record)?);
    let mut orphans = 0;
    let mut next = 0;
    while next < record.lines {
        let first = next;
        let bytes = snapshot.chunk_at(session, first)?;
        let chunk = Snapshot::parse(session, first, &bytes)?;
        next += chunk.line_count();
        let old = chunk.nodes().map_err(|problem| damaged(session, first, problem))?;
        let new = parents_of(&snapshot, session, &chunk, &old, &mut scanner)?;
        for (ordinal, node) in (first..).zip(&new) {
            if !is_entry(node) {
                continue;
            }
            orphans += u64::from(node.parent == Parent::Orphan);
            match node.parent.ordinal() {
                Some(parent) if parent.checked_add(1) == Some(ordinal) => {}
                Some(parent) => slice.children.push((session, parent, ordinal)),
                None => slice.children.push((session, NO_PARENT, ordinal)),
            }
        }
        if new != old {
            let rewritten = chunk.with_nodes(&new);
            slice.weight += rewritten.len();
            slice.rewrites.push(((session, first), rewritten));
        }
        if slice.weight >= SLICE_BYTES || slice.children.len() >= SLICE_CHILDREN {
            drop(snapshot);
            store.commit(std::mem::take(&mut slice))?;
            snapshot = store.snapshot()?;
        }
    }
    drop(snapshot);
    store.commit(slice)?;
    Ok(orphans)
}

/// The nodes with the parents that their lines name.
fn parents_of(
    snapshot: &Snapshot<'_>,
    session: u64,
    chunk: &Chunk<'_>,
    nodes: &[Node],
    scanner: &mut LineReader,
) -> Result<Vec<Node>> {
    let mut resolved = nodes.to_vec();
    let mut lines = resolved.iter_mut();
    let mut lengths = chunk.lengths().iter();
    for index in 0..chunk.frames().len() {
        let frame_text = snapshot.decompress_frame(session, chunk, index)?;
        let mut rest = &frame_text[..];
        let count = chunk.frames().get(index).map_or(0, |frame| frame.lines);
        for _ in 0..count {
            let (Some(node), Some(length)) = (lines.next(), lengths.next()) else {
                break;
            };
            let cut =
                usize::try_from(*length).ok().and_then(|length| rest.split_at_checked(length));
            let Some((line, behind)) = cut else {
                return Err(damaged(
                    session,
                    chunk.first(),
                    "a line is longer than its frame".into(),
                )
                .into());
            };
            rest = behind;
            if is_entry(node) {
                node.parent = parent_of(snapshot, session, line, scanner)?;
            }
        }
    }
    Ok(resolved)
}

fn is_entry(node: &Node) -> bool {
    EntryKind::from_code(node.kind).is_some_and(EntryKind::is_entry)
}

fn parent_of(
    snapshot: &Snapshot<'_>,
    session: u64,
    line: &[u8],
    scanner: &mut LineReader,
) -> Result<Parent> {
    let decoded = text::decode(line);
    parent_named(snapshot, session, &scanner.read(text::trim_start_of_file(&decoded)))
}

/// The parent that a line names, once all entries are known.
pub(crate) fn parent_named(
    snapshot: &Snapshot<'_>,
    session: u64,
    line: &Line<'_>,
) -> Result<Parent> {
    let id = match line.parent() {
        ParentLink::None => return Ok(Parent::None),
        ParentLink::NoId => return Ok(Parent::Orphan),
        ParentLink::Id(id) => id,
    };
    if line.id().is_some_and(|own| own == id) {
        return Ok(Parent::Orphan);
    }
    Ok(match snapshot.entry(session, &id)? {
        Some(record) => Parent::At(record.ordinal),
        None => Parent::Orphan,
    })
}
