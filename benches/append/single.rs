//! Single appends, to stores of several sizes.

use std::time::Duration;

use super::stores::Stores;
use super::support::latency::Latencies;
use super::support::size::{megabytes, store_bytes};
use super::support::sqlite_baseline::{self, Appender};
use super::turns::{Turns, ratio};
use super::ways::{self, BATCH, Way, session};

/// Appends of each way.
const APPENDS: usize = 3_000;

/// Blocks of appends of many, and how many are in each.
const BATCH_BLOCKS: (usize, usize) = (20, 5);

/// Where Leafline, SQLite and the bare write are among the ways.
pub(crate) const WAYS: [&str; 3] = ["leafline", "sqlite", "write in place, fdatasync"];

pub(crate) fn run() {
    let mut medians: Vec<Duration> = Vec::new();
    for bytes in store_bytes() {
        println!("single appends, {} of sessions:", megabytes(bytes));
        let stores = Stores::make(bytes);
        let turns = at(&stores, true);
        let [ours, theirs] = [turns.all(0), turns.all(1)];
        medians.push(ours.percentile(50));
        println!(
            "leafline to sqlite: p50 {:.2}, p99 {:.2}, paired blocks {:.2}",
            ratio(ours.percentile(50), theirs.percentile(50)),
            ratio(ours.percentile(99), theirs.percentile(99)),
            turns.paired(0, 1),
        );
        println!("leafline to the bare write, paired blocks {:.2}", turns.paired(0, 2));
    }
    if let (Some(least), Some(most)) = (medians.iter().min(), medians.iter().max()) {
        println!("the slowest of these stores to the fastest, p50: {:.2}", ratio(*most, *least));
    }
}

/// Measures single appends to the stores, and prints them; with `batches` also appends of many at once.
pub(crate) fn at(stores: &Stores, batches: bool) -> Turns {
    let store = stores.open();
    let database = sqlite_baseline::open(&stores.sqlite());
    let mut ways: [(&str, Way<'_>); 3] = [
        (WAYS[0], ways::leafline(session(&store, &stores.session))),
        (WAYS[1], ways::sqlite(Appender::new(&database, 1))),
        (WAYS[2], ways::bare(&stores.path("bare"))),
    ];
    let turns = Turns::take(&mut ways, APPENDS);
    turns.print(&ways);
    drop(ways);
    if batches {
        let mut ways: [(&str, Way<'_>); 2] = [
            ("leafline, many at once", ways::leafline_batch(session(&store, &stores.session))),
            ("sqlite, many in one transaction", ways::sqlite_batch(Appender::new(&database, 1))),
        ];
        let (count, size) = BATCH_BLOCKS;
        println!("{BATCH} at once:");
        Turns::in_blocks(&mut ways, count, size).print(&ways);
    }
    turns
}

/// The median and the 99th percentile.
pub(crate) fn median_and_tail(latencies: &Latencies) -> (Duration, Duration) {
    (latencies.percentile(50), latencies.percentile(99))
}
