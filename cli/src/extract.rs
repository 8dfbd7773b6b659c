//! `leafline extract`.

use super::entry_choice::entry_id;
use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;
use super::{Status, live};
use leafline::pi::PiSession;

/// Make a session of one branch
///
/// Makes a new session of only the path from the root to an entry, for the same working directory, and prints its id;
/// with --json {"session": ID}. Keeps the labels on the path, and names this session as the parent in the header; Claude
/// Code's sessions have neither. Not for sessions of Opal and Codex.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline extract 019c6605 5937c1f0")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The entry that the branch ends with: its id, or a unique prefix of it, or @leaf or @last
    entry: String,
}

/// Makes the session.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_change()?;
    let spinner = Spinner::new("copying the branch");
    let session = store.session(&arguments.session)?;
    let entry = entry_id(&session.reader()?, &arguments.entry)?;
    let branch = session.create_branched_session(&entry)?;
    drop(spinner);
    live::print_session(branch.id(), out)?;
    Ok(Status::Done)
}
