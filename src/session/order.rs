//! The rules that the nodes of a session's lines satisfy, checked wherever one leads to another.
//!
//! Nodes have no checksum of their own, and walks trust them. In a regular session each rule follows from how an import
//! sets the nodes (docs/storage.md, nodes), so a node that breaks one is damaged; without these checks a single wrong
//! bit would send a walk into a loop, or to an unrelated part of the tree.

use super::ancestor::jump_depth;
use super::view::is_entry;
use crate::error::{Error, Result};
use crate::store::node::{Node, Parent};
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use leafline_import::EntryKind;

/// The rules for a session's nodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    session: SessionKey,
    lines: u64,
    /// In an irregular session only parents are valid, and they may come later, or form a loop.
    is_regular: bool,
}

impl Order {
    pub(crate) fn of(session: SessionKey, record: &SessionRecord) -> Self {
        Self { session, lines: record.lines, is_regular: !record.irregular }
    }

    pub(crate) fn is_regular(self) -> bool {
        self.is_regular
    }

    /// Checks that the session has this line.
    pub(crate) fn check_line(self, ordinal: Ordinal) -> Result<()> {
        if ordinal.is_within(self.lines) {
            return Ok(());
        }
        let problem = format!("the session has {} lines, and none {ordinal}", self.lines);
        Err(self.damage(ordinal, problem))
    }

    /// Checks the node of an entry by itself.
    pub(crate) fn check(self, ordinal: Ordinal, node: &Node) -> Result<()> {
        let wrong = |problem| Err(self.damage(ordinal, format!("line {ordinal}: {problem}")));
        if !is_entry(node) {
            return wrong("it is led to as an entry, and is none");
        }
        let parent = node.parent.ordinal();
        if parent.is_some_and(|parent| !parent.is_within(self.lines)) {
            return wrong("its parent is behind the session's end");
        }
        if !self.is_regular {
            return Ok(());
        }
        let is_compaction = node.kind == EntryKind::Compaction.code();
        let (is_depth_right, is_jump_right, may_have_compaction) = match parent {
            Some(parent) if parent >= ordinal => {
                return wrong("its parent does not come before it");
            }
            Some(parent) => (node.depth > 0, jumps_to(node, parent), true),
            None => (node.depth == 0, node.jump == ordinal, is_compaction),
        };
        if !is_depth_right {
            return wrong("its depth is not what its parent says");
        }
        if !is_jump_right {
            return wrong("its jump pointer leads to no entry above it");
        }
        match node.compaction {
            Some(compaction) if is_compaction != (compaction == ordinal) => {}
            Some(compaction) if compaction <= ordinal && may_have_compaction => return Ok(()),
            None if !is_compaction => return Ok(()),
            _ => {}
        }
        wrong("its compaction is not a compaction at or above it")
    }

    /// Checks that an entry's node agrees with its parent's.
    pub(crate) fn check_parent(self, ordinal: Ordinal, node: &Node, above: &Node) -> Result<()> {
        if !self.is_regular {
            return Ok(());
        }
        let wrong = |problem| Err(self.damage(ordinal, format!("line {ordinal}: {problem}")));
        if above.depth.checked_add(1) != Some(node.depth) {
            return wrong("its depth is not one more than its parent's");
        }
        if node.kind != EntryKind::Compaction.code() && node.compaction != above.compaction {
            return wrong("its compaction is not its parent's");
        }
        Ok(())
    }

    /// Checks that a line listed as a child names this parent, or none if it is listed as a root.
    pub(crate) fn check_child(
        self,
        ordinal: Ordinal,
        node: &Node,
        parent: Option<Ordinal>,
    ) -> Result<()> {
        self.check(ordinal, node)?;
        let is_right = match (node.parent, parent) {
            (Parent::At(named), Some(parent)) => named == parent,
            (Parent::None | Parent::Orphan, None) => true,
            _ => false,
        };
        if is_right {
            return Ok(());
        }
        Err(self.damage(ordinal, format!("line {ordinal} is listed as a child of another entry")))
    }

    /// The error for a line that is not what the index says.
    pub(crate) fn damage(self, ordinal: Ordinal, problem: String) -> Error {
        self.session.damaged_chunk(ordinal, problem).into()
    }
}

/// Whether an entry's jump pointer leads to its parent if its depth says so, and farther up otherwise.
fn jumps_to(node: &Node, parent: Ordinal) -> bool {
    let is_to_parent = node.depth > 0 && jump_depth(node.depth) == node.depth - 1;
    if is_to_parent { node.jump == parent } else { node.jump < parent }
}

#[cfg(test)]
mod tests;
