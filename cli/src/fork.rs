//! `leafline fork`.

use std::path::PathBuf;

use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;
use super::{Status, directory, live};

/// Copy a session, to continue it in two ways
///
/// Makes a new session with all entries of another, names that one as the parent in the header, and prints the new id;
/// with --json {"session": ID}. Leaves out lines that are not JSON, as the programs do. Images are shared. Not for
/// sessions of Opal and Codex. As Claude Code does, a fork of one of its sessions has only the conversation at the leaf, and names
/// no parent.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline fork 019c6605\n  leafline fork 019c6605 --cwd ~/work/tide-clock-2"
)]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The working directory that the new session is for [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

/// Makes the copy.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let cwd = directory::named_or_current(arguments.cwd.as_deref())?;
    let store = place.open_to_change()?;
    let spinner = Spinner::new("copying the session");
    let fork = store.fork_from(&arguments.session, &cwd)?;
    drop(spinner);
    live::print_session(fork.id(), out)?;
    Ok(Status::Done)
}
