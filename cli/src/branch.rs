//! `leafline branch`.

use leafline::error::SessionError;
use leafline::{Error, Session};
use serde_json::json;

use super::entry_choice::entry_id;
use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::{Status, live};

/// The name of the place before all entries.
const ROOT: &str = "root";

/// Go back to an entry and continue from there
///
/// Makes an entry the session's leaf, so that the next entry is appended below it. Deletes nothing: what follows the
/// entry becomes another branch of the tree. With --summary, appends a branch_summary entry below it, makes that the
/// leaf, and prints its id; ENTRY can then be `root`, the place before all entries, unless an entry has that id. In a
/// session of Opal, the summary is a message marked as one in its metadata. With --json, prints {"leaf": ENTRY}, or
/// {"id": ID} of the summary.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline branch 019c6605 39f90f81
  leafline branch 019c6605 39f90f81 --summary \"Fake timers were tried; the test timed out.\"")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The entry's id, or a unique prefix of it, or @leaf or @last
    entry: String,

    /// A summary of the abandoned branch
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

/// Moves the leaf.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_change()?;
    let mut session = store.session(&arguments.session)?;
    if let Some(summary) = &arguments.summary {
        let entry = origin(&session, &arguments.entry)?;
        let id = session.branch_with_summary(entry.as_deref(), summary, None::<&()>, None)?;
        live::print_entry(&id, out)?;
        return Ok(Status::Done);
    }
    let entry = entry_id(&session.reader()?, &arguments.entry)?;
    session.branch(&entry)?;
    if out.is_json() {
        out.json(&json!({ "leaf": entry }))?;
    }
    Ok(Status::Done)
}

/// The entry that is meant; `None` for the place before all.
fn origin(session: &Session, named: &str) -> Result<Option<String>, Failure> {
    if named == ROOT {
        return match session.get_entry(named) {
            Ok(_) => Ok(Some(named.to_owned())),
            Err(Error::Session(SessionError::EntryNotFound { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        };
    }
    entry_id(&session.reader()?, named).map(Some)
}
