//! Walking up a session's tree: each node is checked by itself, and against the one below it.

mod page;
mod path;

use super::order::Order;
use crate::error::Result;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

pub(crate) use self::page::PageWalk;
pub(crate) use self::path::PathWalk;

/// The step that every walk up is made of. What ends a walk in a loop of parents is the walk's own affair.
#[derive(Debug)]
struct Steps {
    order: Order,
    /// The entry that the walk has come from, and names the one it comes to as its parent.
    child: Option<(Ordinal, Node)>,
}

impl Steps {
    fn new(order: Order) -> Self {
        Self { order, child: None }
    }

    /// Comes to the entry with this ordinal and node. Returns its parent.
    fn come_to(&mut self, ordinal: Ordinal, node: &Node) -> Result<Option<Ordinal>> {
        self.order.check(ordinal, node)?;
        if let Some((child, below)) = self.child.replace((ordinal, *node)) {
            self.order.check_parent(child, &below, node)?;
        }
        Ok(node.parent.ordinal())
    }

    /// Lets the next step lead to another entry than the parent.
    fn jump(&mut self) {
        self.child = None;
    }
}
