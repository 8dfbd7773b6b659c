//! Imports one JSONL file, reads entries by id in random order, and prints how long a read takes.
//!
//! ```text
//! cargo run --release --example random_access session.jsonl sessions.leafline [READS]
//! ```
//!
//! The store is made where it does not exist; a session that it has already is not imported again.

use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use leafline::import::{ImportOptions, ImportStatus};
use leafline::{Store, StoreOptions};

const READS: usize = 10_000;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [file, store, reads @ ..] = arguments.as_slice() else {
        eprintln!("usage: random_access FILE.jsonl STORE [READS]");
        return Ok(ExitCode::from(2));
    };
    let reads = match reads.first() {
        Some(reads) => reads.to_string_lossy().parse()?,
        None => READS,
    };

    // Without a cache of lines every read decompresses what it needs.
    let options = StoreOptions { line_cache_bytes: 0, ..StoreOptions::default() };
    let store = Store::open_with(store, &options)?;
    let started = Instant::now();
    let mut first_report = FirstReport::default();
    let totals = store.import(&[file], &ImportOptions::default(), &mut first_report)?;
    let Some((status, id)) = first_report.outcome else {
        eprintln!("{}: not imported: {}", file.to_string_lossy(), first_report.reason);
        return Ok(ExitCode::FAILURE);
    };
    println!("{status:?}: session {id}, {} entries in {:.1?}", totals.entries, started.elapsed());

    let session = store.session(&id)?;
    let tree = session.reader()?.get_tree()?;
    let ids: Vec<&str> = tree.nodes().iter().filter_map(|node| node.id.as_deref()).collect();
    if ids.is_empty() || reads == 0 {
        println!("nothing to read");
        return Ok(ExitCode::SUCCESS);
    }

    let mut times = Vec::with_capacity(reads);
    let mut bytes = 0;
    let random = RandomState::new();
    for read in 0..reads {
        let place = random.hash_one(read) % ids.len() as u64;
        let id = ids[usize::try_from(place)?];
        let started = Instant::now();
        let entry = session.get_entry(id)?;
        times.push(started.elapsed());
        bytes += entry.line().len();
    }
    times.sort_unstable();
    println!("{reads} entries by id, {bytes} bytes");
    for (name, share) in [("50%", 0.5), ("90%", 0.9), ("99%", 0.99), ("99.9%", 0.999)] {
        println!("  {name:>6} within {:.1?}", percentile(&times, share));
    }
    println!("  slowest       {:.1?}", times.last().copied().unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

/// The time within which this share of the reads was done.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list that fits memory"
)]
fn percentile(sorted: &[Duration], share: f64) -> Duration {
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or_default()
}

/// Keeps what became of the one file.
#[derive(Default)]
struct FirstReport {
    outcome: Option<(ImportStatus, String)>,
    reason: String,
}

impl leafline::import::ImportObserver for FirstReport {
    fn file(&mut self, report: &leafline::import::FileReport) {
        self.outcome = report.session.clone().map(|id| (report.status, id));
        self.reason = report.reason.clone().unwrap_or_default();
    }
}
