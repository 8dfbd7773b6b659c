//! Sampling of whole-file work: one run per sample, since a run takes seconds.

use std::path::Path;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};
use tempfile::TempDir;

use super::session_file::folder;
use super::size::with_size;

/// The fewest samples that Criterion accepts.
const SAMPLES: usize = 10;

/// A group whose runs each process `bytes` bytes.
pub(crate) fn whole_file_group<'c>(
    criterion: &'c mut Criterion,
    name: &str,
    bytes: u64,
) -> BenchmarkGroup<'c, WallTime> {
    whole_file(criterion.benchmark_group(with_size(name)), bytes)
}

/// A group whose runs each represent a file of `bytes` bytes.
pub(crate) fn whole_file(
    mut group: BenchmarkGroup<'_, WallTime>,
    bytes: u64,
) -> BenchmarkGroup<'_, WallTime> {
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(SAMPLES)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_secs(1))
        .throughput(Throughput::Bytes(bytes));
    group
}

/// Times `work` on a path in an empty folder of its own, which is created and removed outside the timing.
pub(crate) fn time_in_fresh_folders(iterations: u64, mut work: impl FnMut(&Path)) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..iterations {
        let folder = TempDir::new_in(folder()).expect("a folder can be made");
        let path = folder.path().join("made");
        let start = Instant::now();
        work(&path);
        total += start.elapsed();
    }
    total
}
