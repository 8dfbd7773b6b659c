//! `leafline compact`.

use serde_json::json;

use super::Status;
use super::failure::Failure;
use super::number::bytes;
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
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
    let (before, after) = store.compact()?;
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
