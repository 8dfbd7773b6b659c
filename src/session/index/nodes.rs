//! The nodes of a session's newest lines, in memory during an import.

use std::collections::VecDeque;

use crate::store::commit::BATCH_LINES;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// The number of lines kept: 16 MiB. Twice as many as a batch has, so that older ones are committed.
const NODE_WINDOW: usize = 2 * BATCH_LINES;

/// No line, where an `Option` would take twice the memory.
const NONE: Ordinal = Ordinal::new(u64::MAX);

/// What a child, or the rule of the leaf, needs to know about a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ancestor {
    /// [`NONE`] for a root.
    parent: Ordinal,
    pub(crate) kind: u8,
    pub(crate) role: u8,
    pub(crate) is_sidechain: bool,
    pub(crate) time: Option<i64>,
    pub(crate) depth: u64,
    pub(crate) jump: Ordinal,
    pub(crate) settings: u64,
    /// [`NONE`] if there is none at or above the line.
    compaction: Ordinal,
}

impl Ancestor {
    pub(crate) fn parent(self) -> Option<Ordinal> {
        (self.parent != NONE).then_some(self.parent)
    }

    pub(crate) fn compaction(self) -> Option<Ordinal> {
        (self.compaction != NONE).then_some(self.compaction)
    }
}

impl From<&Node> for Ancestor {
    fn from(node: &Node) -> Self {
        Self {
            parent: node.parent.ordinal().unwrap_or(NONE),
            kind: node.kind,
            role: node.role,
            is_sidechain: node.is_sidechain,
            time: node.time,
            depth: node.depth,
            jump: node.jump,
            settings: node.settings,
            compaction: node.compaction.unwrap_or(NONE),
        }
    }
}

/// The newest nodes by ordinal.
#[derive(Debug)]
pub(crate) struct NodeWindow {
    first: Ordinal,
    nodes: VecDeque<Ancestor>,
}

impl NodeWindow {
    /// An empty window before the line `next`.
    pub(crate) fn new(next: Ordinal) -> Self {
        Self { first: next, nodes: VecDeque::new() }
    }

    /// Adds the next line's node.
    pub(crate) fn push(&mut self, node: &Node) {
        if self.nodes.len() >= NODE_WINDOW {
            self.nodes.pop_front();
            self.first = self.first.next().expect("a line after it is remembered");
        }
        self.nodes.push_back(Ancestor::from(node));
    }

    /// Whether the line is older than all that are remembered: then it is committed.
    pub(crate) fn forgot(&self, ordinal: Ordinal) -> bool {
        ordinal < self.first
    }

    /// The node of a line, if it is kept.
    pub(crate) fn get(&self, ordinal: Ordinal) -> Option<Ancestor> {
        self.nodes.get(ordinal.index_from(self.first)?).copied()
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
