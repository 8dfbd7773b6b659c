//! Percentiles of single operations. Criterion times many at once, so its numbers are means.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The durations of single operations, sorted.
#[derive(Debug)]
pub(crate) struct Latencies {
    sorted: Vec<Duration>,
}

impl Latencies {
    /// Times `operation` on each item; its result is dropped outside the timing.
    pub(crate) fn measure<T, A>(
        items: impl Iterator<Item = T>,
        mut operation: impl FnMut(T) -> A,
    ) -> Self {
        let sorted: Vec<_> = items
            .map(|item| {
                let start = Instant::now();
                let answer = operation(item);
                let elapsed = start.elapsed();
                drop(black_box(answer));
                elapsed
            })
            .collect();
        Self::of(sorted)
    }

    /// Of durations that were measured elsewhere.
    pub(crate) fn of(mut durations: Vec<Duration>) -> Self {
        assert!(!durations.is_empty(), "at least one operation is timed");
        durations.sort_unstable();
        Self { sorted: durations }
    }

    /// All together.
    pub(crate) fn joined(parts: &[Self]) -> Self {
        Self::of(parts.iter().flat_map(|part| &part.sorted).copied().collect())
    }

    /// The longest.
    pub(crate) fn longest(&self) -> Duration {
        self.percentile(100)
    }

    /// The given percentile.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let index = (self.sorted.len() * percent / 100).min(self.sorted.len() - 1);
        self.sorted.get(index).copied().unwrap_or_default()
    }

    /// Prints the median and the tail on one line.
    pub(crate) fn print(&self, name: &str) {
        println!(
            "{name:<40} p50 {:>9.1?}  p90 {:>9.1?}  p99 {:>9.1?}  of {}",
            self.percentile(50),
            self.percentile(90),
            self.percentile(99),
            self.sorted.len()
        );
    }
}
