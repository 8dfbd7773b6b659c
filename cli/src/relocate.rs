//! `leafline move` and `leafline relocate`.

use serde::Serialize;

use super::failure::Failure;
use super::number::counted;
use super::output::Output;
use super::place::Place;
use super::{Status, text};

/// Move a session to another working directory
///
/// Records that the session's project is now in another directory, for lists, `relocate` and `new --continue`. The
/// session's lines, including its header, do not change, so an import still recognises its file. Moving it back to the
/// header's directory removes the record.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline move 019c6605 ~/work/new-name")]
pub(super) struct MoveArguments {
    /// The session: an id, or a unique prefix of one
    session: String,

    /// The working directory
    cwd: String,
}

/// Tell the store that a folder was moved
///
/// Moves all sessions of a directory and of the directories below it, as `move` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline relocate ~/work/app ~/projects/app")]
pub(super) struct Arguments {
    /// The old directory
    old: String,

    /// The new directory
    new: String,
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
    let store = place.open_to_change()?;
    let id = store.session(&arguments.session)?.id().to_owned();
    store.move_session(&id, &arguments.cwd)?;
    if out.is_json() {
        out.json(&Moved { session: &id, cwd: &arguments.cwd })?;
    } else {
        let (id, cwd) = (text::printable(&id), text::printable(&arguments.cwd));
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
    let sessions = place.open_to_change()?.relocate(&arguments.old, &arguments.new)?;
    if out.is_json() {
        out.json(&Relocated { sessions })?;
    } else {
        let moved = counted(sessions, "session is", "sessions are");
        out.line(format_args!("{moved} below {} now", text::printable(&arguments.new)))?;
    }
    Ok(Status::Done)
}
