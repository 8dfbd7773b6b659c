//! `leafline label`.

use super::entry_choice::entry_id;
use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::{Status, live};
use leafline::pi::PiSession;

/// Label an entry
///
/// Sets the label of an entry, or clears it if TEXT is missing or empty. A label is an entry itself: it is appended below
/// the leaf, becomes the leaf, and its id is printed, with --json as {"id": ID}. Only sessions of pi and omp have labels.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline label 019c6605 b6d75031 cause\n  leafline label 019c6605 b6d75031"
)]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The entry to label: its id, or a unique prefix of it, or @leaf or @last
    entry: String,

    /// The label
    text: Option<String>,
}

/// Sets or clears the label.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_change()?;
    let mut session = store.session(&arguments.session)?;
    let label = arguments.text.as_deref().filter(|label| !label.is_empty());
    let entry = entry_id(&session.reader()?, &arguments.entry)?;
    live::print_entry(&session.append_label_change(&entry, label)?, out)?;
    Ok(Status::Done)
}
