//! Walking up a session's tree.

use std::collections::HashSet;

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

/// A walk up a session's tree, step by step. An entry that is met twice ends it.
#[derive(Debug)]
pub(crate) struct Climb<'a, 's> {
    snapshot: &'a Snapshot<'s>,
    session: u64,
    /// Whether the walk may meet an entry twice: the session is irregular, or the walk has turned back.
    may_loop: bool,
    path: PathRuns,
    met: HashSet<u64>,
    steps: u64,
    next: Option<u64>,
}

impl<'a, 's> Climb<'a, 's> {
    /// A walk whose first step is to `from` itself.
    pub(crate) fn new(
        snapshot: &'a Snapshot<'s>,
        session: u64,
        from: u64,
        irregular: bool,
    ) -> Self {
        let (path, met) = (PathRuns::default(), HashSet::new());
        let may_loop = irregular;
        Self { snapshot, session, may_loop, path, met, steps: 0, next: Some(from) }
    }

    /// Lets the walk go on at another entry than the parent of the one it has come to.
    pub(crate) fn go_on(&mut self, from: u64, to: u64) {
        // A walk that only ever goes to earlier lines meets none twice.
        self.may_loop |= to >= from;
        self.next = Some(to);
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
        self.path.push(ordinal);
        let node = self.snapshot.node(self.session, ordinal)?;
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
    pub(crate) fn walk(
        snapshot: &Snapshot<'_>,
        session: u64,
        from: u64,
        irregular: bool,
    ) -> Result<Self> {
        Self::walk_to(Climb::new(snapshot, session, from, irregular), WalkEnd::Root)
    }

    /// Goes as far as `end` says.
    pub(crate) fn walk_to(mut climb: Climb<'_, '_>, end: WalkEnd) -> Result<Self> {
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

    /// How many entries the path has.
    pub(crate) fn len(&self) -> u64 {
        self.runs.iter().map(|&(highest, lowest)| highest - lowest + 1).sum()
    }
}
