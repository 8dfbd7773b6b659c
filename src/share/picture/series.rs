//! Amounts over time, in a bounded number of steps however long it took.

use std::collections::BTreeMap;

/// The most bars of a drawing.
pub(super) const MOST_STEPS: i64 = 120;

/// Amounts by step of time: steps grow as the time gets longer.
#[derive(Debug)]
pub(super) struct Series<const PARTS: usize> {
    /// The length of a step, in the unit of the times.
    step: i64,
    steps: BTreeMap<i64, [u64; PARTS]>,
    /// The first time and the last one.
    ends: Option<(i64, i64)>,
}

impl<const PARTS: usize> Series<PARTS> {
    pub(super) fn new() -> Self {
        Self { step: 1, steps: BTreeMap::new(), ends: None }
    }

    /// Adds amounts at a time.
    pub(super) fn add(&mut self, time: i64, amounts: [u64; PARTS]) {
        let (first, last) = self.ends.unwrap_or((time, time));
        self.ends = Some((first.min(time), last.max(time)));
        add(&mut self.steps, time.div_euclid(self.step), amounts);
        while self.span() > MOST_STEPS {
            self.step = self.step.saturating_mul(2);
            let before = std::mem::take(&mut self.steps);
            for (place, amounts) in before {
                add(&mut self.steps, place.div_euclid(2), amounts);
            }
        }
    }

    /// The length of a step, in the unit of the times.
    pub(super) fn step(&self) -> i64 {
        self.step
    }

    /// The first time and the last one that anything was added at.
    pub(super) fn ends(&self) -> Option<(i64, i64)> {
        self.ends
    }

    /// How many steps lie between the first and the last, both included.
    pub(super) fn span(&self) -> i64 {
        match (self.steps.keys().next(), self.steps.keys().next_back()) {
            (Some(first), Some(last)) => last.saturating_sub(*first).saturating_add(1),
            _ => 0,
        }
    }

    /// The steps with anything: the place among all, when it begins and ends, and the amounts. None begins before the first
    /// time, or ends behind the last one.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, (i64, i64), [u64; PARTS])> {
        let first = self.steps.keys().next().copied().unwrap_or_default();
        let (earliest, latest) = self.ends.unwrap_or_default();
        self.steps.iter().map(move |(place, amounts)| {
            let begin = place.saturating_mul(self.step);
            let end = begin.saturating_add(self.step - 1).min(latest);
            let begin = begin.max(earliest);
            (place.saturating_sub(first), (begin, end), *amounts)
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The largest sum of a step.
    pub(super) fn largest(&self) -> u64 {
        self.steps.values().map(sum).max().unwrap_or_default()
    }

    /// The same beyond what a sum can be, by which bars are as high as their parts.
    pub(super) fn tallest(&self) -> f64 {
        let heights = self.steps.values();
        let heights = heights.map(|amounts| amounts.iter().map(|&amount| amount as f64).sum());
        heights.fold(0.0, f64::max)
    }

    /// The sum of all.
    pub(super) fn total(&self) -> u64 {
        self.steps.values().map(sum).fold(0, u64::saturating_add)
    }
}

fn add<const PARTS: usize>(
    steps: &mut BTreeMap<i64, [u64; PARTS]>,
    place: i64,
    amounts: [u64; PARTS],
) {
    let step = steps.entry(place).or_insert([0; PARTS]);
    for (sum, amount) in step.iter_mut().zip(amounts) {
        *sum = sum.saturating_add(amount);
    }
}

pub(super) fn sum<const PARTS: usize>(amounts: &[u64; PARTS]) -> u64 {
    amounts.iter().copied().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_and_nothing_is_lost() {
        let mut series = Series::new();
        for time in [5, 6, 6, 1_000_000, -3, i64::MAX, i64::MIN] {
            series.add(time, [1, 2]);
            assert!(series.span() <= MOST_STEPS);
        }
        assert_eq!((series.total(), series.is_empty()), (21, false));
        let mut near = Series::new();
        for time in 0..300 {
            near.add(time, [1]);
        }
        assert_eq!(near.iter().next(), Some((0, (0, 3), [4])));
        assert_eq!(near.iter().count(), 75);
        assert_eq!((near.step(), near.ends()), (4, Some((0, 299))));
        // What is named is what there is, not where a step could have begun.
        let mut late = Series::new();
        for time in 3..300 {
            late.add(time, [1]);
        }
        assert_eq!(late.iter().next(), Some((0, (3, 3), [1])));
        assert_eq!(late.iter().last(), Some((74, (296, 299), [4])));
        late.add(299, [u64::MAX]);
        assert_eq!(late.largest(), u64::MAX);
    }
}
