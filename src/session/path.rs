//! Walking up a session's tree.

use std::collections::HashSet;

use super::order::Order;
use crate::error::Result;
use crate::store::node::Node;
use crate::store::snapshot::Snapshot;

/// Steps after which an irregular walk begins to look for a loop: most walks are no loop.
const UNCHECKED: u64 = 1024;

/// How far up a walk goes. A walk that does not come by the entry goes on to the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkEnd {
    /// To the root.
    Root,
    /// To the entry with this ordinal, which is the last.
    At(u64),
    /// Until the entry with this ordinal, which is not part of it.
    Before(u64),
}

/// The ordinals from an entry up to its root, the entry first, as runs of consecutive lines: a long
/// conversation is nearly one run, however long it is.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct PathRuns {
    /// (highest, lowest) ordinals, from the entry up.
    runs: Vec<(u64, u64)>,
}

/// A walk up a session's tree, step by step. An entry that is met twice ends it, so that no walk has more steps than the
/// session has lines. Each node is checked, and against the one below it.
#[derive(Debug)]
pub(crate) struct Climb<'a> {
    snapshot: &'a Snapshot,
    order: Order,
    /// Whether the walk may meet an entry twice: the session is irregular, or the walk has turned back.
    may_loop: bool,
    path: PathRuns,
    met: HashSet<u64>,
    steps: u64,
    next: Option<u64>,
    /// The entry that names the next one as its parent.
    child: Option<(u64, Node)>,
}

impl<'a> Climb<'a> {
    /// A walk whose first step is to `from` itself.
    pub(crate) fn new(snapshot: &'a Snapshot, order: Order, from: u64) -> Self {
        let (path, met) = (PathRuns::default(), HashSet::new());
        let may_loop = !order.is_regular();
        Self { snapshot, order, may_loop, path, met, steps: 0, next: Some(from), child: None }
    }

    /// Lets the walk go on at another entry than the parent of the one it has come to.
    pub(crate) fn go_on(&mut self, from: u64, to: u64) {
        // A walk that only ever goes to earlier lines meets none twice.
        self.may_loop |= to >= from;
        if self.next.replace(to) != Some(to) {
            self.child = None;
        }
    }

    /// Ends the walk at the entry it has come to.
    pub(crate) fn finish(self) -> PathRuns {
        self.path
    }

    /// The next entry up; `None` above the root, and where a loop closes.
    pub(crate) fn step(&mut self) -> Result<Option<(u64, Node)>> {
        let Some(ordinal) = self.next.take() else {
            return Ok(None);
        };
        if self.may_loop && self.has_met(ordinal) {
            return Ok(None);
        }
        let node = self.order.entry(self.snapshot, ordinal)?;
        if let Some((child, below)) = self.child.replace((ordinal, node)) {
            self.order.check_parent(child, &below, &node)?;
        }
        self.path.push(ordinal);
        self.next = node.parent.ordinal();
        Ok(Some((ordinal, node)))
    }

    /// Whether the walk has come by an entry, which is noted.
    fn has_met(&mut self, ordinal: u64) -> bool {
        self.steps += 1;
        // The first steps are checked once the walk is long: short paths cost no set.
        if self.steps == UNCHECKED {
            self.met.extend(self.path.ordinals());
        }
        if self.steps < UNCHECKED {
            return self.path.contains(ordinal);
        }
        !self.met.insert(ordinal)
    }
}

impl PathRuns {
    /// Walks up from `from` to the root. A loop ends the walk: the path is the part before it.
    pub(crate) fn walk(snapshot: &Snapshot, order: Order, from: u64) -> Result<Self> {
        Self::walk_to(Climb::new(snapshot, order, from), WalkEnd::Root)
    }

    /// Goes as far as `end` says.
    pub(crate) fn walk_to(mut climb: Climb<'_>, end: WalkEnd) -> Result<Self> {
        while climb.next.is_some_and(|next| WalkEnd::Before(next) != end)
            && let Some((ordinal, _)) = climb.step()?
        {
            if WalkEnd::At(ordinal) == end {
                break;
            }
        }
        Ok(climb.path)
    }

    fn push(&mut self, ordinal: u64) {
        match self.runs.last_mut() {
            Some((_, lowest)) if ordinal.checked_add(1) == Some(*lowest) => *lowest = ordinal,
            _ => self.runs.push((ordinal, ordinal)),
        }
    }

    /// Whether the entry is on the path.
    pub(crate) fn contains(&self, ordinal: u64) -> bool {
        self.runs.iter().any(|&(highest, lowest)| (lowest..=highest).contains(&ordinal))
    }

    fn ordinals(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|&(highest, lowest)| (lowest..=highest).rev())
    }

    /// The ordinals from the root down to the entry.
    pub(crate) fn downwards(&self) -> impl Iterator<Item = u64> + Clone {
        self.runs.iter().rev().flat_map(|&(highest, lowest)| lowest..=highest)
    }

    /// The last entry that the walk came to.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.runs.last().map(|&(_, lowest)| lowest)
    }

    /// How many entries the path has.
    pub(crate) fn len(&self) -> u64 {
        self.runs.iter().map(|&(highest, lowest)| highest - lowest + 1).sum()
    }
}
