//! Ways that take turns, block by block.

use std::time::Duration;

use super::support::latency::Latencies;
use super::ways::Way;

/// Operations of one way before the next one's turn.
const BLOCK: usize = 50;

/// The times of ways that took turns.
#[derive(Debug)]
pub(crate) struct Turns {
    /// By way, then by block.
    blocks: Vec<Vec<Latencies>>,
}

impl Turns {
    /// Runs each way this often, in blocks. One block before is not timed.
    pub(crate) fn take(ways: &mut [(&str, Way<'_>)], times: usize) -> Self {
        Self::in_blocks(ways, times.div_ceil(BLOCK), BLOCK)
    }

    /// The same, with the number of blocks and operations in each.
    pub(crate) fn in_blocks(ways: &mut [(&str, Way<'_>)], count: usize, size: usize) -> Self {
        let mut blocks: Vec<Vec<Latencies>> = ways.iter().map(|_| Vec::new()).collect();
        for (_, way) in &mut *ways {
            (0..size).for_each(|_| way());
        }
        for _ in 0..count {
            for ((_, way), blocks) in ways.iter_mut().zip(&mut blocks) {
                blocks.push(Latencies::measure(0..size, |_| way()));
            }
        }
        Self { blocks }
    }

    /// All times of a way.
    pub(crate) fn all(&self, way: usize) -> Latencies {
        Latencies::joined(self.blocks.get(way).expect("the way took part"))
    }

    /// The median over pairs of neighbouring blocks of the ratio of their medians.
    pub(crate) fn paired(&self, way: usize, other: usize) -> f64 {
        let medians = |way: usize| {
            let blocks = self.blocks.get(way).expect("the way took part");
            blocks.iter().map(|block| block.percentile(50))
        };
        let mut ratios: Vec<f64> =
            medians(way).zip(medians(other)).map(|(one, two)| ratio(one, two)).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().expect("there are blocks")
    }

    /// Prints all ways.
    pub(crate) fn print(&self, ways: &[(&str, Way<'_>)]) {
        for (way, (name, _)) in ways.iter().enumerate() {
            self.all(way).print(name);
        }
    }
}

/// One duration as a share of another.
pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
