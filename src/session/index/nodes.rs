//! The nodes of a session's newest lines, in memory during an import.

use std::collections::VecDeque;

use crate::store::commit::BATCH_LINES;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// The number of lines kept: 12 MiB. Twice as many as a batch has, so that older ones are committed.
const NODE_WINDOW: usize = 2 * BATCH_LINES;

/// The facts of a line that a child, or the leaf rule, needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ancestor {
    /// `u64::MAX` for none.
    parent: u64,
    pub(crate) kind: u8,
    pub(crate) is_sidechain: bool,
    pub(crate) depth: u64,
    pub(crate) jump: u64,
    pub(crate) settings: u64,
    /// `u64::MAX` for none: half the size of an `Option`.
    compaction: u64,
}

impl Ancestor {
    pub(crate) fn parent(self) -> Option<u64> {
        (self.parent != u64::MAX).then_some(self.parent)
    }

    pub(crate) fn compaction(self) -> Option<u64> {
        (self.compaction != u64::MAX).then_some(self.compaction)
    }
}

impl From<&Node> for Ancestor {
    fn from(node: &Node) -> Self {
        Self {
            parent: node.parent.ordinal().map_or(u64::MAX, Ordinal::raw),
            kind: node.kind,
            is_sidechain: node.is_sidechain,
            depth: node.depth,
            jump: node.jump.raw(),
            settings: node.settings,
            compaction: node.compaction.map_or(u64::MAX, Ordinal::raw),
        }
    }
}

/// The newest nodes by ordinal.
#[derive(Debug)]
pub(crate) struct NodeWindow {
    first: u64,
    nodes: VecDeque<Ancestor>,
}

impl NodeWindow {
    /// An empty window before the line `next`.
    pub(crate) fn new(next: u64) -> Self {
        Self { first: next, nodes: VecDeque::new() }
    }

    /// Adds the next line's node.
    pub(crate) fn push(&mut self, node: &Node) {
        if self.nodes.len() >= NODE_WINDOW {
            self.nodes.pop_front();
            self.first += 1;
        }
        self.nodes.push_back(Ancestor::from(node));
    }

    /// Whether the line is too old to be kept, so that it must be committed.
    pub(crate) fn forgot(&self, ordinal: u64) -> bool {
        ordinal < self.first
    }

    /// The node of a line, if it is kept.
    pub(crate) fn get(&self, ordinal: u64) -> Option<Ancestor> {
        let index = usize::try_from(ordinal.checked_sub(self.first)?).ok()?;
        self.nodes.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_bounds() {
        use crate::documented::{bound, number};
        assert_eq!(bound("node window"), format!("{} lines", number(NODE_WINDOW)));
    }
}
