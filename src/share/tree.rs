//! The tree of a conversation as a page has it: one way from the root on, and branches beside it.

use crate::session::Outline;

/// A step of a walk through the tree, in the order in which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The entries of a segment, without what comes before its beginning.
    Segment(usize),
    /// Branches follow, which can be opened in place of the way on.
    OpenFork,
    /// A branch that begins with this segment.
    OpenBranch(usize),
    CloseBranch,
    CloseFork,
}

/// Which child of each segment the way goes on with, and how many entries are below each.
#[derive(Debug)]
pub(super) struct Ways<'o> {
    outline: &'o Outline,
    is_to_leaf: Vec<bool>,
    entries: Vec<u64>,
    /// The segment of the leaf.
    leaf: Option<usize>,
}

impl<'o> Ways<'o> {
    /// Those on which the conversation goes on to an entry: its leaf, or another one.
    pub(super) fn of(outline: &'o Outline, end: Option<u64>) -> Self {
        let segments = outline.segments();
        let mut is_to_leaf = vec![false; segments.len()];
        // Another end has nothing behind it, or is not above the leaf.
        let leaf = outline.leaf().filter(|&leaf| end == Some(leaf));
        let leaf = leaf.and_then(|leaf| outline.segment_of(leaf));
        let mut above = end.and_then(|end| outline.segment_of(end));
        while let Some(place) = above
            && let Some(met) = is_to_leaf.get_mut(place).filter(|met| !**met)
        {
            *met = true;
            above = outline.segment(place).and_then(crate::session::Segment::parent);
        }
        let mut entries: Vec<u64> = segments.iter().map(crate::session::Segment::entries).collect();
        // Each segment after those below it.
        let (mut order, mut next) = (Vec::with_capacity(segments.len()), outline.roots().to_vec());
        while let Some(place) = next.pop() {
            order.push(place);
            next.extend(outline.children(place));
        }
        for &place in order.iter().rev() {
            let below = entries.get(place).copied().unwrap_or_default();
            let parent = outline.segment(place).and_then(crate::session::Segment::parent);
            if let Some(sum) = parent.and_then(|parent| entries.get_mut(parent)) {
                *sum += below;
            }
        }
        Self { outline, is_to_leaf, entries, leaf }
    }

    /// Whether a segment is on the way to the leaf.
    pub(super) fn is_to_leaf(&self, place: usize) -> bool {
        self.is_to_leaf.get(place) == Some(&true)
    }

    /// How many entries a branch has.
    pub(super) fn entries(&self, place: usize) -> u64 {
        self.entries.get(place).copied().unwrap_or_default()
    }

    /// The steps of the roots, in reverse.
    pub(super) fn begin(&self) -> Vec<Step> {
        self.ways_on(self.outline.roots(), false)
    }

    /// The steps that follow a segment, in reverse.
    pub(super) fn behind(&self, place: usize) -> Vec<Step> {
        self.ways_on(self.outline.children(place), self.leaf == Some(place))
    }

    /// Of several ways on, all but one are branches beside it: the one to the leaf, or else the last. Those of which the
    /// outline says that the conversation does not branch there are parts of it. Behind the leaf all are branches.
    fn ways_on(&self, children: &[usize], is_behind_leaf: bool) -> Vec<Step> {
        let to_leaf =
            children.iter().copied().find(|&child| self.is_to_leaf.get(child) == Some(&true));
        let main = if is_behind_leaf { None } else { to_leaf.or(children.last().copied()) };
        let is_branch = |child: usize| {
            is_behind_leaf
                || self
                    .outline
                    .segment(child)
                    .is_some_and(|segment| segment.is_branch() || segment.parent().is_none())
        };
        let others = || children.iter().copied().filter(|child| Some(*child) != main);
        let mut steps: Vec<Step> =
            others().filter(|&child| !is_branch(child)).map(Step::Segment).collect();
        let branches: Vec<usize> = others().filter(|&child| is_branch(child)).collect();
        if !branches.is_empty() {
            steps.push(Step::OpenFork);
            for child in branches {
                steps.extend([Step::OpenBranch(child), Step::Segment(child), Step::CloseBranch]);
            }
            steps.push(Step::CloseFork);
        }
        steps.extend(main.map(Step::Segment));
        steps.reverse();
        steps
    }
}
