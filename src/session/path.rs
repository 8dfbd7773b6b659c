//! Walking up a session's tree.

use std::collections::HashSet;

use crate::error::Result;
use crate::store::snapshot::Snapshot;

/// Steps after which an irregular walk begins to look for a loop: most walks are no loop.
const UNCHECKED: u64 = 1024;

/// The ordinals from an entry up to its root, the entry first, as runs of consecutive lines: a long
/// conversation is nearly one run, however long it is.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct PathRuns {
    /// (highest, lowest) ordinals, from the entry up.
    runs: Vec<(u64, u64)>,
}

impl PathRuns {
    /// Walks up from `from`. A parent that is met twice ends the walk: the path is the part before the loop.
    pub(crate) fn walk(
        snapshot: &Snapshot<'_>,
        session: u64,
        from: u64,
        irregular: bool,
    ) -> Result<Self> {
        let mut path = Self::default();
        let mut met = HashSet::new();
        let mut steps = 0u64;
        let mut next = Some(from);
        while let Some(ordinal) = next {
            steps += 1;
            if irregular {
                // The first steps are checked once the walk is long: short paths cost no set.
                if steps == UNCHECKED {
                    met.extend(path.ordinals());
                }
                let seen =
                    if steps >= UNCHECKED { !met.insert(ordinal) } else { path.contains(ordinal) };
                if seen {
                    break;
                }
            }
            path.push(ordinal);
            next = snapshot.node(session, ordinal)?.and_then(|node| node.parent.ordinal());
        }
        Ok(path)
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
    pub(crate) fn downwards(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().rev().flat_map(|&(highest, lowest)| lowest..=highest)
    }

    /// How many entries the path has.
    pub(crate) fn len(&self) -> u64 {
        self.runs.iter().map(|&(highest, lowest)| highest - lowest + 1).sum()
    }
}
