//! The path from an entry to the root.

use std::collections::HashSet;

use leafline_import::conversation::{PathLimit, PathRuns};

use super::super::view::View;
use super::Steps;
use crate::error::Result;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// Steps after which an irregular walk begins to check for a loop: most walks are not loops.
const UNCHECKED: u64 = 1024;

/// A walk that records its path. It ends when it meets an entry twice, so that no walk has more steps than the session
/// has lines.
#[derive(Debug)]
pub(crate) struct PathWalk<'s> {
    view: View<'s>,
    walk: Steps,
    /// Whether the walk may meet an entry twice: the session is irregular, or the walk has turned back.
    may_loop: bool,
    path: PathRuns,
    met: HashSet<Ordinal>,
    steps: u64,
    next: Option<Ordinal>,
}

impl<'s> PathWalk<'s> {
    /// A walk whose first step is to `from` itself.
    pub(crate) fn new(view: View<'s>, from: Ordinal) -> Self {
        let (path, met) = (PathRuns::default(), HashSet::new());
        let may_loop = !view.order().is_regular();
        let walk = Steps::new(view.order());
        Self { view, walk, may_loop, path, met, steps: 0, next: Some(from) }
    }

    /// Goes as far as `limit` says.
    pub(crate) fn up_to(mut self, limit: PathLimit) -> Result<PathRuns> {
        while self.next.is_some_and(|next| PathLimit::Before(next.raw()) != limit)
            && let Some((ordinal, _)) = self.step()?
        {
            if PathLimit::At(ordinal.raw()) == limit {
                break;
            }
        }
        Ok(self.path)
    }

    /// Continues the walk at another entry than the parent of the current one.
    pub(crate) fn go_on(&mut self, from: Ordinal, to: Ordinal) {
        // A walk that only goes to earlier lines meets none twice.
        self.may_loop |= to >= from;
        if self.next.replace(to) != Some(to) {
            self.walk.jump();
        }
    }

    /// Ends the walk at the current entry.
    pub(crate) fn finish(self) -> PathRuns {
        self.path
    }

    /// The next entry up; `None` above the root, and at the end of a loop.
    pub(crate) fn step(&mut self) -> Result<Option<(Ordinal, Node)>> {
        let Some(ordinal) = self.next.take() else {
            return Ok(None);
        };
        if self.may_loop && self.has_met(ordinal) {
            return Ok(None);
        }
        let node = self.view.node(ordinal)?;
        self.next = self.walk.come_to(ordinal, &node)?;
        self.path.push(ordinal.raw());
        Ok(Some((ordinal, node)))
    }

    /// Whether the walk has already met an entry. Notes the entry.
    fn has_met(&mut self, ordinal: Ordinal) -> bool {
        self.steps += 1;
        // The first steps are only checked once the walk is long: short paths need no set.
        if self.steps == UNCHECKED {
            self.met.extend(self.path.upwards().map(Ordinal::new));
        }
        if self.steps < UNCHECKED {
            return self.path.contains(ordinal.raw());
        }
        !self.met.insert(ordinal)
    }
}
