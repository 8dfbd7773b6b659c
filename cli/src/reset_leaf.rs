//! `leafline reset-leaf`.

use serde_json::json;

use super::Status;
use super::failure::Failure;
use super::output::Output;
use super::place::Place;

/// Go back before the first entry
///
/// Leaves the session without a leaf, so that the next appended entry is a new root. Deletes nothing. With --json
/// prints {"leaf": null}.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline reset-leaf 019c6605")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,
}

/// Resets the leaf.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_change()?;
    store.session(&arguments.session)?.reset_leaf()?;
    if out.is_json() {
        out.json(&json!({ "leaf": null }))?;
    }
    Ok(Status::Done)
}
