//! Resolves the parents of an irregular session exactly: each parent's id is looked up once all entries are known, as
//! in programs that read the whole file first.

use leafline_import::{Line, LineReader, ParentLink, text};

use super::super::view::{View, is_entry};
use crate::error::Result;
use crate::store::Store;
use crate::store::chunk::Chunk;
use crate::store::commit::{Batch, Creation, Rows};
use crate::store::node::{Node, Parent};
use crate::store::ordinal::Ordinal;
use crate::store::session_record::SessionRecord;

/// Bytes of rewritten chunks per commit.
const COMMIT_BYTES: usize = 24 << 20;

/// Rows of children per commit.
const COMMIT_CHILDREN: usize = 200_000;

/// Resolves every parent of a session again and rewrites what changes; the lines must be committed and counted in the
/// record. Returns the orphans.
pub(crate) fn resolve(
    store: &Store,
    creation: &mut Creation,
    record: &SessionRecord,
) -> Result<u64> {
    let mut batch = Batch::default();
    creation.rows(&mut batch).reset_children();
    let mut scanner = LineReader::new(record.reading());
    let mut orphans = 0;
    let mut next = Ordinal::FIRST;
    loop {
        let snapshot = store.snapshot()?;
        let view = View::new(snapshot.rows(creation.session()), record);
        let mut rows = creation.rows(&mut batch);
        orphans += resolve_part(view, &mut next, &mut scanner, &mut rows)?;
        drop(snapshot);
        creation.commit_part(store, &mut batch)?;
        if !next.is_within(record.lines) {
            return Ok(orphans);
        }
    }
}

/// Resolves the parents of as many lines as one commit takes, from `next` on. Returns the orphans.
fn resolve_part(
    view: View<'_>,
    next: &mut Ordinal,
    scanner: &mut LineReader,
    rows: &mut Rows<'_>,
) -> Result<u64> {
    let (mut orphans, mut bytes, mut children) = (0, 0, 0);
    let mut chunks = view.chunks();
    chunks.seek(*next);
    while bytes < COMMIT_BYTES
        && children < COMMIT_CHILDREN
        && let Some(chunk) = chunks.next()?
    {
        let first = chunk.first();
        let old = view.rows().nodes(&chunk)?;
        let new = parents_of(view, &chunk, &old, scanner)?;
        for (ordinal, node) in first.onwards().zip(&new).filter(|(_, node)| is_entry(node)) {
            orphans += u64::from(node.parent == Parent::Orphan);
            children += usize::from(rows.add_child(node.parent.ordinal(), ordinal));
        }
        if new != old {
            let renewed = chunk.with_nodes(&new);
            bytes += renewed.len();
            rows.renew_chunk(first, renewed);
        }
    }
    *next = chunks.position();
    Ok(orphans)
}

/// The nodes with the parents that their lines name.
fn parents_of(
    view: View<'_>,
    chunk: &Chunk<'_>,
    nodes: &[Node],
    scanner: &mut LineReader,
) -> Result<Vec<Node>> {
    let mut resolved = nodes.to_vec();
    let mut lines = chunk.first().onwards().zip(&mut resolved);
    let mut lengths = chunk.lengths().iter();
    for index in 0..chunk.frames().len() {
        let frame_text = view.rows().decompress_frame(chunk, index)?;
        let mut rest = &frame_text[..];
        let count = chunk.frames().get(index).map_or(0, |frame| frame.lines);
        for _ in 0..count {
            let (Some((ordinal, node)), Some(length)) = (lines.next(), lengths.next()) else {
                break;
            };
            let cut =
                usize::try_from(*length).ok().and_then(|length| rest.split_at_checked(length));
            let Some((line, behind)) = cut else {
                let problem = "a line is longer than its frame";
                return Err(view.rows().damaged(chunk.first(), problem).into());
            };
            rest = behind;
            if is_entry(node) {
                node.parent = parent_of(view, ordinal, line, scanner)?;
            }
        }
    }
    Ok(resolved)
}

fn parent_of(
    view: View<'_>,
    ordinal: Ordinal,
    line: &[u8],
    scanner: &mut LineReader,
) -> Result<Parent> {
    let decoded = text::decode(line);
    parent_named(view, ordinal, &scanner.read(text::trim_start_of_file(&decoded)))
}

/// The parent that a line names, given its ordinal, once all entries are known.
pub(crate) fn parent_named(view: View<'_>, ordinal: Ordinal, line: &Line<'_>) -> Result<Parent> {
    let id = match line.parent() {
        ParentLink::None => return Ok(Parent::None),
        ParentLink::NoId => return Ok(Parent::Orphan),
        ParentLink::Previous => {
            let before = entry_before(view, ordinal)?;
            return Ok(before.map_or(Parent::None, Parent::At));
        }
        ParentLink::Id(id) => id,
    };
    if line.names_itself() {
        return Ok(Parent::Orphan);
    }
    Ok(view.find(&id)?.map_or(Parent::Orphan, Parent::At))
}

/// The last entry before a line.
fn entry_before(view: View<'_>, ordinal: Ordinal) -> Result<Option<Ordinal>> {
    for before in Ordinal::FIRST.up_to(ordinal).rev() {
        if is_entry(&view.node(before)?) {
            return Ok(Some(before));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ImportError};

    #[test]
    fn a_session_that_was_swept_meanwhile_gets_no_rows() {
        let store = Store::in_memory().unwrap();
        let mut creation = Creation::new(store.reserve_sessions(1).unwrap());
        let mut batch = Batch::default();
        creation.mark(7, &mut batch);
        store.commit(batch).unwrap();
        // Going by the store, its owner is gone.
        store.sweep().unwrap();
        let resolved = resolve(&store, &mut creation, &SessionRecord::default());
        assert!(matches!(resolved, Err(Error::Import(ImportError::Lost { .. }))), "{resolved:?}");
    }
}
