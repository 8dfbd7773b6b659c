//! A path in little memory, however long.

/// The places from an entry up to its root, the entry first, as runs of consecutive lines: a long conversation is
/// hardly more than one run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PathRuns {
    /// (highest, lowest) places, from the entry up.
    runs: Vec<(u64, u64)>,
}

impl PathRuns {
    /// Adds the next entry up.
    pub fn push(&mut self, place: u64) {
        match self.runs.last_mut() {
            Some((_, lowest)) if place.checked_add(1) == Some(*lowest) => *lowest = place,
            _ => self.runs.push((place, place)),
        }
    }

    /// Whether the entry is on the path.
    #[must_use]
    pub fn contains(&self, place: u64) -> bool {
        self.runs.iter().any(|&(highest, lowest)| (lowest..=highest).contains(&place))
    }

    /// The places from the entry up to the root.
    pub fn upwards(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|&(highest, lowest)| (lowest..=highest).rev())
    }

    /// The places from the root down to the entry.
    pub fn downwards(&self) -> impl Iterator<Item = u64> + Clone {
        self.runs.iter().rev().flat_map(|&(highest, lowest)| lowest..=highest)
    }

    /// The runs from the root down: the first place and the last one of each.
    pub(super) fn runs_downwards(&self) -> impl Iterator<Item = (u64, u64)> {
        self.runs.iter().rev().map(|&(highest, lowest)| (lowest, highest))
    }

    /// The last entry that was added.
    #[must_use]
    pub fn highest(&self) -> Option<u64> {
        self.runs.last().map(|&(_, lowest)| lowest)
    }

    /// How many entries the path has.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|&(highest, lowest)| highest - lowest + 1).sum()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_lines_are_one_run() {
        let mut path = PathRuns::default();
        assert!(path.is_empty());
        for place in [9, 8, 7, 3, 4, 2] {
            path.push(place);
        }
        assert_eq!(path.upwards().collect::<Vec<_>>(), [9, 8, 7, 3, 4, 2]);
        assert_eq!(path.downwards().collect::<Vec<_>>(), [2, 4, 3, 7, 8, 9]);
        assert_eq!((path.len(), path.highest(), path.runs.len()), (6, Some(2), 4));
        assert!(path.contains(8) && !path.contains(5));
    }
}
