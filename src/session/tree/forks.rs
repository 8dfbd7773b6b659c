//! Finds where a conversation branches.

use leafline_import::EntryKind;
use leafline_import::forks::{ForkEntry, forks};

use super::outline::Outline;
use crate::store::node::Node;

/// The facts of a segment that the rule of the prompts needs. Entries of sidechains, and earlier copies of an entry, do
/// not count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prompts {
    /// Whether its first entry counts, its last, and each.
    first_counts: bool,
    last_counts: bool,
    all_count: bool,
    /// Whether it has a prompt, and whether only entries that count are above one.
    has_prompt: bool,
    begins_with_prompt: bool,
    /// Whether its first entry is a compact boundary.
    is_boundary: bool,
}

impl Prompts {
    /// For a segment that begins with this node, which must still be added.
    pub(super) fn new(first: &Node) -> Self {
        Self {
            first_counts: false,
            last_counts: false,
            all_count: true,
            has_prompt: false,
            begins_with_prompt: false,
            is_boundary: first.kind == EntryKind::Compaction.code(),
        }
    }

    /// Adds the segment's next entry.
    pub(super) fn add(&mut self, counts: bool, is_prompt: bool) {
        self.all_count &= counts;
        // Until now every entry counted: this is the first one, or follows only ones that count.
        self.first_counts |= self.all_count;
        self.last_counts = counts;
        self.has_prompt |= counts && is_prompt;
        self.begins_with_prompt |= self.all_count && is_prompt;
    }
}

impl Outline {
    /// Every entry with several children is a fork.
    pub(super) fn fork_at_every_child(&mut self) {
        let mut branches = self.roots().len();
        for place in 0..self.segments.len() {
            let children = self.children(place).to_vec();
            if children.len() > 1 {
                branches += children.len() - 1;
                self.mark(place, &children);
            }
        }
        self.branches = branches as u64;
    }

    /// An entry is a fork if its children lead to different prompts: there the user went back and asked something else.
    /// The search treats each segment as one entry, as nothing branches inside it.
    pub(super) fn fork_at_prompts(&mut self, prompts: &[Prompts]) {
        let ends = self.segments.len();
        // If an entry in a segment does not count, no path leads through it: then the last entry is treated separately.
        // So it is if the segment is a loop, whose first entry is below the last.
        let is_two = |place: usize| {
            let is_loop =
                |segment: &super::Segment| segment.parent() == Some(place) && segment.entries() > 1;
            prompts.get(place).is_some_and(|segment| !segment.all_count)
                || self.segment(place).is_some_and(is_loop)
        };
        let end_of = |place: usize| if is_two(place) { ends + place } else { place };
        let mut entries = Vec::with_capacity(ends);
        for ((place, segment), prompts) in (0..).zip(&self.segments).zip(prompts) {
            if prompts.first_counts {
                let parent = segment.parent().map(end_of);
                let is_prompt = prompts.begins_with_prompt;
                entries.push(ForkEntry { entry: place, parent, is_prompt });
            }
            if prompts.last_counts && is_two(place) {
                let parent = prompts.all_count.then_some(place);
                entries.push(ForkEntry { entry: end_of(place), parent, is_prompt: false });
            }
        }
        let found = forks(&entries);
        drop(entries);
        let begun = self.begun(prompts);
        let mut branches = begun.max(u64::from(!self.segments.is_empty()));
        for fork in found {
            branches += fork.branches.len() as u64 - 1;
            self.mark(fork.at % ends, &fork.branches);
        }
        self.branches = branches;
    }

    /// How many roots a conversation begins with: those that are or lead to a prompt, and are not compact boundaries.
    fn begun(&self, prompts: &[Prompts]) -> u64 {
        let mut begun = 0;
        let mut met = vec![false; self.segments.len()];
        for (place, _) in prompts.iter().enumerate().filter(|(_, segment)| segment.has_prompt) {
            let mut above = Some(place);
            while let Some(place) = above
                && let Some(met) = met.get_mut(place).filter(|met| !**met)
            {
                *met = true;
                above = self.segment(place).and_then(super::Segment::parent);
                let is_boundary = prompts.get(place).is_some_and(|segment| segment.is_boundary);
                begun += u64::from(above.is_none() && !is_boundary);
            }
        }
        begun
    }

    fn mark(&mut self, fork: usize, branches: &[usize]) {
        if let Some(segment) = self.segments.get_mut(fork) {
            segment.is_fork = true;
        }
        for &branch in branches {
            if let Some(segment) = self.segments.get_mut(branch) {
                segment.is_branch = true;
            }
        }
    }
}
