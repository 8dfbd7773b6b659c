//! `leafline compact`.

use std::time::Duration;

use leafline::compact::CompactOptions;
use serde_json::json;

use super::Status;
use super::failure::Failure;
use super::number::bytes;
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Wait for a moment in which no one else has the store open, so many seconds at most; without a number, until it comes
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true)]
    wait: Option<Option<u64>>,

    /// Move pages within the file, with no room for another: beside others only some of them
    #[arg(long)]
    in_place: bool,

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
    let wait = match arguments.wait {
        None => Duration::ZERO,
        Some(seconds) => seconds.map_or(Duration::MAX, Duration::from_secs),
    };
    let options = CompactOptions { wait, in_place: arguments.in_place };
    let compaction = store.compact_with(&options)?;
    let (before, after) = (compaction.before, compaction.after);
    let path = store.path().to_owned();
    // Closing writes a little more, which makes the next opening fast, and gives free pages at the end back.
    drop(store);
    let now = std::fs::metadata(path).map_or(after, |metadata| metadata.len());
    // Longer than it was is what others have made it by their appends.
    let after = if now > before { after.min(now) } else { now };
    drop(spinner);
    if out.is_json() {
        out.json(&json!({ "before": before, "after": after, "shared": compaction.is_shared }))?;
    } else {
        let freed = bytes(before.saturating_sub(after));
        out.line(format_args!(
            "{} before, {} after: {freed} given back",
            bytes(before),
            bytes(after)
        ))?;
        if compaction.is_shared {
            out.line(format_args!(
                "the file will shrink when the last process that has it open closes it"
            ))?;
        }
    }
    Ok(Status::Done)
}
