//! `leafline repair`.

use leafline::Store;
use leafline::salvage::RepairOptions;

use super::Status;
use super::failure::Failure;
use super::output::Output;
use super::place::{Place, shown};
use super::progress::Spinner;
use super::salvage::report;

/// Make a damaged store again from what is whole in it
///
/// Checks everything, and does nothing if nothing is wrong. Otherwise the store is made again beside, as by `leafline salvage`,
/// and takes the store's name; the damaged one is kept under another. Nobody may have the store open. The exit status is 1 if
/// something is missing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  leafline repair\n  leafline repair --from-sources")]
pub(super) struct Arguments {
    /// Make it again even if nothing is wrong: every index from the lines
    #[arg(long)]
    rebuild: bool,

    /// Import sessions of which something is missing from their files again, where these are still there
    #[arg(long)]
    from_sources: bool,
}

/// Repairs, and says what was done.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let path = place.checked_path()?;
    let options =
        RepairOptions { rebuild: arguments.rebuild, from_sources: arguments.from_sources };
    let spinner = Spinner::new("checking every page and line");
    let repair = Store::repair(path, &options).map_err(Failure::NotSaved)?;
    drop(spinner);
    let Some(repair) = repair else {
        if out.is_json() {
            out.json(&serde_json::Value::Null)?;
        } else {
            out.line(format_args!("nothing is wrong; nothing was changed"))?;
        }
        return Ok(Status::Done);
    };
    if out.is_json() {
        out.json(&repair)?;
    } else {
        report(&repair.salvage, out)?;
        out.line(format_args!("the store as it was is kept: {}", shown(&repair.kept)))?;
    }
    Ok(if repair.salvage.is_complete() { Status::Done } else { Status::Failed })
}
