//! What new lines of a session follow, and whether they leave what its earlier lines mean as it is.

use std::collections::HashSet;

use leafline_import::{EntryKind, ParentLink, read_line};

use super::super::view::View;
use crate::error::Result;
use crate::store::commit::Rows;
use crate::store::node::Parent;
use crate::store::ordinal::Ordinal;

/// Whether the session has to be read again from its beginning, with the new rows: an entry has an id that was there before,
/// or one that an earlier entry names as its parent in vain. `view` shows the session before them.
pub(crate) fn changes_earlier_lines(view: View<'_>, rows: &Rows<'_>) -> Result<bool> {
    Ok(repeats_ids(view, rows)? || adopts_orphans(view, rows)?)
}

/// The entry that is the last one to lead, for families whose rule asks for it whatever the leaf has become; for others the
/// leaf.
pub(crate) fn last_that_leads(view: View<'_>) -> Result<Option<Ordinal>> {
    if view.record().known_family().names_leaf() {
        last_leading_entry(view)
    } else {
        view.rows().leaf()
    }
}

/// The last entry that leads.
pub(crate) fn last_leading_entry(view: View<'_>) -> Result<Option<Ordinal>> {
    for ordinal in Ordinal::FIRST.up_to(Ordinal::after(view.record().lines)).rev() {
        let node = view.line_node(ordinal)?;
        let kind = EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown);
        if kind.is_entry() && (kind != EntryKind::Unknown || view.entry(ordinal)?.leads()) {
            return Ok(Some(ordinal));
        }
    }
    Ok(None)
}

/// Whether a new entry has an id that the session already has.
fn repeats_ids(view: View<'_>, rows: &Rows<'_>) -> Result<bool> {
    for id in rows.added_ids() {
        if view.rows().entry(id)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a new entry has the id that an orphan of the session names as its parent.
fn adopts_orphans(view: View<'_>, rows: &Rows<'_>) -> Result<bool> {
    if view.record().orphans == 0 {
        return Ok(false);
    }
    let new: HashSet<&[u8]> = rows.added_ids().collect();
    for root in view.rows().children(None)? {
        let ordinal = root?;
        let node = view.node(ordinal)?;
        view.order().check_child(ordinal, &node, None)?;
        if node.parent != Parent::Orphan {
            continue;
        }
        let line = view.line(ordinal)?;
        // Blobs cut out of the line contain no id.
        let is_adopted = read_line(view.reading(), line.text(), |line| match line.parent() {
            ParentLink::Id(parent) => new.contains(&*parent) && line.id() != Some(parent),
            ParentLink::None | ParentLink::NoId | ParentLink::Previous => false,
        });
        if is_adopted {
            return Ok(true);
        }
    }
    Ok(false)
}
