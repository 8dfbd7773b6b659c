//! Which segment continues the trunk, and which ones branch off.

use leafline::tree::{Outline, Segment};

/// The weight of each segment. Among the segments that begin at a fork, the trunk continues with the one that leads to
/// the session's leaf, else with the one with the most entries below it, else with the newest.
///
/// Any other branch at a fork holds at most half of the entries below it, so branches are nested at most as often as
/// the number of entries can be halved: 20 times in a million.
#[derive(Debug)]
pub(super) struct Trunks {
    sizes: Vec<u64>,
    leads_to_leaf: Vec<bool>,
}

impl Trunks {
    /// The trunks of an outline.
    pub(super) fn new(outline: &Outline) -> Self {
        Self { sizes: sizes(outline), leads_to_leaf: leads_to_leaf(outline) }
    }

    /// The segment that continues the trunk from the fork at the end of one.
    pub(super) fn onward(&self, outline: &Outline, fork: usize) -> Option<usize> {
        let children = outline.children(fork).iter().copied();
        let branches = children.filter(|&child| begins_branch(outline, child));
        branches.max_by_key(|&child| (self.leads_to_leaf.get(child), self.sizes.get(child)))
    }
}

/// Whether a branch begins with a segment.
pub(super) fn begins_branch(outline: &Outline, place: usize) -> bool {
    outline.segment(place).is_some_and(Segment::is_branch)
}

/// The number of entries in and below each segment; 0 if no root reaches it.
fn sizes(outline: &Outline) -> Vec<u64> {
    let mut order = Vec::with_capacity(outline.segments().len());
    let mut waiting = outline.roots().to_vec();
    while let Some(place) = waiting.pop() {
        order.push(place);
        waiting.extend(outline.children(place));
    }
    let mut sizes = vec![0u64; outline.segments().len()];
    for place in order.into_iter().rev() {
        let below: u64 = outline.children(place).iter().filter_map(|&child| sizes.get(child)).sum();
        if let (Some(size), Some(segment)) = (sizes.get_mut(place), outline.segment(place)) {
            *size = below + segment.entries();
        }
    }
    sizes
}

/// The segments from the leaf up to its root.
fn leads_to_leaf(outline: &Outline) -> Vec<bool> {
    let mut leads = vec![false; outline.segments().len()];
    let mut next = outline.leaf().and_then(|leaf| outline.segment_of(leaf));
    while let Some(place) = next {
        match leads.get_mut(place) {
            // Already visited: the leaf is in a loop.
            Some(true) | None => break,
            Some(leads) => *leads = true,
        }
        next = outline.segment(place).and_then(Segment::parent);
    }
    leads
}
