//! A session of its own for one conversation of another, in families whose programs copy no more.

use leafline_import::conversation::HistoryScope;
use leafline_import::writing::Copy;
use leafline_import::{EntryKind, Reading};

use super::super::index::finish::NewLeaf;
use super::super::{Session, SessionReader};
use super::append::exact_id;
use super::build::Builder;
use super::create::{Begun, NewSession};
use super::persistence::Persistence;
use crate::error::Result;
use crate::store::Store;
use crate::store::ordinal::Ordinal;

/// Makes a session with the conversation at an entry: what was said up to it, with the records beside the path that the
/// program sends along, and the titles.
pub(super) fn copy(
    store: &Store,
    source: &SessionReader,
    leaf: Option<Ordinal>,
    cwd: &str,
    persistence: Option<Persistence>,
) -> Result<Session> {
    let family = source.family();
    let mut new = NewSession::new(family, cwd);
    new.persistence = persistence;
    if family.states_source() {
        new.parent_session = Some(source.id());
    }
    let Begun { header, mut record, persistence } = new.begin(None)?;
    record.cwd = Some(cwd.to_owned()).filter(|cwd| !cwd.is_empty());
    let (id, new_id) = (record.id(), record.external_id.clone());
    let from = source.record();
    let moved = from.directory().filter(|from| !cwd.is_empty() && *from != cwd);
    let copy =
        Copy { id: &new_id, source_id: &from.external_id, moved: moved.map(|from| (from, cwd)) };
    let kept = conversation(source, leaf)?;
    let is_tip = kept.last().copied() == leaf.map(Ordinal::raw);
    let mut kept = kept.into_iter().peekable();
    let mut builder = Builder::new(store, record, None)?;
    builder.push(&header)?;
    let mut pushed = header.iter().filter(|byte| **byte == b'\n').count() as u64;
    let mut new_leaf = None;
    source.lines(0, |entry| {
        let is_kept = kept.next_if(|kept| *kept == entry.ordinal()).is_some();
        let goes_along = |line| entry.kind() == EntryKind::Outside && family.copies_outside(line);
        let mut line = Vec::with_capacity(entry.line().len());
        if (is_kept || goes_along(entry.line())) && family.copy_line(entry.line(), &copy, &mut line)
        {
            builder.push(&line)?;
            if leaf == Some(entry.place()) {
                new_leaf = Some((Ordinal::new(pushed), exact_id(source.reading(), &line)));
            }
            pushed += 1;
        }
        Ok(true)
    })?;
    // Where records beside the path follow, such as the results of other calls, the last of them is the new leaf, as for the
    // program.
    let new_leaf = match new_leaf.filter(|_| is_tip && family.names_leaf()) {
        Some((ordinal, Some(id))) => {
            let mut line = Vec::new();
            family.leaf_line(&id, None, &new_id, &mut line);
            builder.push(&line)?;
            NewLeaf::Line(Some(ordinal))
        }
        _ => NewLeaf::ByRule,
    };
    let key = builder.finish(new_leaf)?;
    Ok(Session::stored(store, key, id, Reading::plain(family), persistence))
}

/// The lines of a conversation, in the order of the session: the path to the entry, over compactions, and what is beside it
/// in the messages.
fn conversation(source: &SessionReader, leaf: Option<Ordinal>) -> Result<Vec<u64>> {
    let Some(leaf) = leaf else { return Ok(Vec::new()) };
    let mut lines: Vec<u64> = source.history_at(leaf, HistoryScope::Full)?.ordinals().collect();
    source.for_each_message_at(leaf, HistoryScope::Full, &mut |ordinals, _| {
        lines.extend_from_slice(ordinals);
        Ok(())
    })?;
    lines.sort_unstable();
    lines.dedup();
    Ok(lines)
}
