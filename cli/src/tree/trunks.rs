//! Which child goes on, and which ones branch off.

use leafline::Tree;

/// For each fork the child in which its trunk goes on: of those with which branches begin, the one that leads to the
/// session's leaf, else the one with the most entries below it, of equal ones the newest.
///
/// Whatever branches off beside the heaviest child holds at most half of what is below their parent; so a branch of
/// a branch is nested at most as often as a number of entries can be halved: 20 times in a million.
#[derive(Debug)]
pub(super) struct Trunks {
    onward: Vec<Option<usize>>,
}

impl Trunks {
    /// The tree's.
    pub(super) fn new(tree: &Tree) -> Self {
        let sizes = sizes(tree);
        let leads = leads_to_leaf(tree);
        let weight = |place: usize| {
            let leads = leads.get(place).copied().unwrap_or(false);
            (leads, sizes.get(place).copied().unwrap_or(0))
        };
        let is_branch = |place: &usize| tree.node(*place).is_some_and(|node| node.is_branch);
        let heaviest = |children: &[usize]| {
            children.iter().copied().filter(is_branch).max_by_key(|&child| weight(child))
        };
        Self { onward: tree.nodes().iter().map(|node| heaviest(&node.children)).collect() }
    }

    /// The child in which the trunk goes on from a fork.
    pub(super) fn onward(&self, place: usize) -> Option<usize> {
        self.onward.get(place).copied().flatten()
    }
}

/// How many entries each node has below it, itself counted; 0 where no root leads.
fn sizes(tree: &Tree) -> Vec<u64> {
    let mut order = Vec::with_capacity(tree.nodes().len());
    let mut waiting = tree.roots().to_vec();
    while let Some(place) = waiting.pop() {
        order.push(place);
        waiting.extend(tree.node(place).into_iter().flat_map(|node| &node.children));
    }
    let mut sizes = vec![0u64; tree.nodes().len()];
    for place in order.into_iter().rev() {
        let Some(node) = tree.node(place) else {
            continue;
        };
        let below: u64 = node.children.iter().filter_map(|&child| sizes.get(child)).sum();
        if let Some(size) = sizes.get_mut(place) {
            *size = below + 1;
        }
    }
    sizes
}

/// The nodes from the leaf up to its root.
fn leads_to_leaf(tree: &Tree) -> Vec<bool> {
    let mut leads = vec![false; tree.nodes().len()];
    let mut next = tree.leaf();
    while let Some(place) = next {
        match leads.get_mut(place) {
            // Met before: the leaf hangs in a loop.
            Some(true) | None => break,
            Some(leads) => *leads = true,
        }
        next = tree.node(place).and_then(|node| node.parent);
    }
    leads
}
