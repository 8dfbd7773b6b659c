//! `leafline compact`.

use std::time::{Duration, Instant};

use leafline::error::StoreError;
use leafline::{Error, Store};
use serde_json::json;

use super::Status;
use super::failure::Failure;
use super::number::bytes;
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;

/// How often to try, while others use the store.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Wait for a moment in which no one else reads or writes, so many seconds at most; without a number, until it comes
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true)]
    wait: Option<Option<u64>>,

    /// Go on without a journal that is lost, or of a later state than the store's file: what it alone had is given up
    #[arg(long)]
    without_journal: bool,
}

/// Returns the store's free space to the system.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let mut store = match arguments.without_journal {
        true => place.open_without_journal()?,
        false => place.open_to_change()?,
    };
    let spinner = Spinner::new("compacting the store");
    let (before, after) = compact(&mut store, arguments.wait)?;
    let path = store.path().to_owned();
    // Closing writes a little more, which makes the next opening fast.
    drop(store);
    let after = std::fs::metadata(path).map_or(after, |metadata| metadata.len());
    drop(spinner);
    if out.is_json() {
        out.json(&json!({ "before": before, "after": after }))?;
    } else {
        let freed = bytes(before.saturating_sub(after));
        out.line(format_args!(
            "{} before, {} after: {freed} given back",
            bytes(before),
            bytes(after)
        ))?;
    }
    Ok(Status::Done)
}

/// Compacts, and waits for it as long as is asked for.
fn compact(store: &mut Store, wait: Option<Option<u64>>) -> Result<(u64, u64), Failure> {
    let begun = Instant::now();
    loop {
        match store.compact() {
            Err(Error::Store(StoreError::InUse { .. }))
                if wait.is_some_and(|limit| {
                    limit.is_none_or(|seconds| begun.elapsed() < Duration::from_secs(seconds))
                }) =>
            {
                std::thread::sleep(PAUSE);
            }
            compacted => return Ok(compacted?),
        }
    }
}
