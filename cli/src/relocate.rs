//! `leafline move` and `leafline relocate`.

use std::path::PathBuf;

use serde::Serialize;

use super::failure::{Failure, wrong_value};
use super::number::counted;
use super::output::Output;
use super::place::Place;
use super::{Status, directory, text};

/// Move a session to another working directory
///
/// Records that the session's project is now in another directory, for lists, `relocate` and `new --continue`. The
/// session's lines, including its header, do not change, so an import still recognises its file. Moving it back to the
/// header's directory removes the record.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline move 019c6605 ~/work/new-name")]
pub(super) struct MoveArguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The working directory, relative to the current one; it need not exist
    cwd: PathBuf,
}

/// Tell the store that a folder was moved
///
/// Moves all sessions of a directory and of the directories below it, as `move` does. Relative paths are below the
/// current directory. Fails if no session is there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline relocate ~/work/app ~/projects/app")]
pub(super) struct Arguments {
    /// The old directory
    old: PathBuf,

    /// The new directory
    new: PathBuf,
}

#[derive(Serialize)]
struct Moved<'a> {
    session: &'a str,
    cwd: &'a str,
}

#[derive(Serialize)]
struct Relocated {
    sessions: u64,
}

/// Moves a session.
pub(super) fn move_session(
    arguments: &MoveArguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let cwd = directory::whole(&arguments.cwd)?;
    let store = place.open_to_change()?;
    let id = store.session(&arguments.session)?.id().to_owned();
    store.move_session(&id, &cwd)?;
    if out.is_json() {
        out.json(&Moved { session: &id, cwd: &cwd })?;
    } else {
        let (id, cwd) = (text::printable(&id), text::printable(&cwd));
        out.line(format_args!("{id} is in {cwd} now"))?;
    }
    Ok(Status::Done)
}

/// Moves the sessions of a folder.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let (old, new) = (directory::whole(&arguments.old)?, directory::whole(&arguments.new)?);
    if old == new {
        return Err(wrong_value(&format!("OLD and NEW are the same directory, {old}")));
    }
    let sessions = place.open_to_change()?.relocate(&old, &new)?;
    if sessions == 0 {
        return Err(Failure::NothingToRelocate { old });
    }
    if out.is_json() {
        out.json(&Relocated { sessions })?;
    } else {
        let moved = counted(sessions, "session is", "sessions are");
        out.line(format_args!("{moved} below {} now", text::printable(&new)))?;
    }
    Ok(Status::Done)
}
