//! What the nodes of a session's lines promise each other, checked where one leads to another.
//!
//! Nodes have no check of their own, and a walk believes them. In a regular session each promise follows from the way in
//! which an import sets the nodes (docs/storage.md, nodes), so that a node that breaks one is damaged; without them a
//! single wrong bit would send a walk round in a loop, or to a part of the tree that the entry is no part of.

use super::ancestor::jump_depth;
use super::reader::is_entry;
use crate::error::{Error, Result};
use crate::store::node::{Node, Parent};
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::{Snapshot, damaged};
use leafline_import::EntryKind;

/// What a session's nodes have to say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    session: u64,
    lines: u64,
    /// In an irregular session only parents are to be trusted, and they may come later, or be a loop.
    is_regular: bool,
}

impl Order {
    pub(crate) fn of(session: u64, record: &SessionRecord) -> Self {
        Self { session, lines: record.lines, is_regular: !record.irregular }
    }

    pub(crate) fn session(self) -> u64 {
        self.session
    }

    /// How many lines the session has: no walk takes more steps.
    pub(crate) fn lines(self) -> u64 {
        self.lines
    }

    pub(crate) fn is_regular(self) -> bool {
        self.is_regular
    }

    /// The node of a line that must be there.
    pub(crate) fn line(self, snapshot: &Snapshot, ordinal: u64) -> Result<Node> {
        if ordinal >= self.lines {
            let problem = format!("the session has {} lines, and none {ordinal}", self.lines);
            return Err(self.damage(ordinal, problem));
        }
        snapshot.node(self.session, ordinal)
    }

    /// The node of a line that must be there and an entry, checked by itself.
    pub(crate) fn entry(self, snapshot: &Snapshot, ordinal: u64) -> Result<Node> {
        let node = self.line(snapshot, ordinal)?;
        self.check(ordinal, &node)?;
        Ok(node)
    }

    /// Checks the node of an entry by itself.
    pub(crate) fn check(self, ordinal: u64, node: &Node) -> Result<()> {
        let wrong = |problem| Err(self.damage(ordinal, format!("line {ordinal}: {problem}")));
        if !is_entry(node) {
            return wrong("it is led to as an entry, and is none");
        }
        let parent = node.parent.ordinal();
        if parent.is_some_and(|parent| parent >= self.lines) {
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
        wrong("its compaction is no compaction at it or above it")
    }

    /// Checks that an entry's node agrees with its parent's.
    pub(crate) fn check_parent(self, ordinal: u64, node: &Node, above: &Node) -> Result<()> {
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

    /// Checks that a line which is listed as a child names this parent, or, as a root, none.
    pub(crate) fn check_child(self, ordinal: u64, node: &Node, parent: Option<u64>) -> Result<()> {
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

    /// The error of a line that is not what leads to it says.
    pub(crate) fn damage(self, ordinal: u64, problem: String) -> Error {
        damaged(self.session, ordinal, problem).into()
    }
}

/// Whether an entry's jump pointer leads to its parent, where its depth says so, and farther up where not.
fn jumps_to(node: &Node, parent: u64) -> bool {
    let is_to_parent = node.depth > 0 && jump_depth(node.depth) == node.depth - 1;
    if is_to_parent { node.jump == parent } else { node.jump < parent }
}

#[cfg(test)]
mod tests;
