//! `leafline rm`.

use super::failure::Failure;
use super::number::{bytes, counted};
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;
use super::{Status, text};

/// Delete sessions
///
/// Deletes each session with all its entries, and the blobs that no other session shares. All of the given
/// sessions must be there, or none is deleted. The space is used again by later imports; `leafline compact`
/// gives it back to the file system.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline rm 019c6605 b6a3a0c8")]
pub(super) struct Arguments {
    /// The sessions: ids, or unique beginnings of ids
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
}

/// Deletes the sessions.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_change()?;
    let mut ids = Vec::new();
    for session in &arguments.sessions {
        let id = store.session(session)?.id().to_owned();
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for id in ids {
        let spinner = Spinner::new("deleting");
        let removed = store.remove(&id)?;
        drop(spinner);
        if out.is_json() {
            out.json(&removed)?;
        } else {
            let id = text::printable(&removed.session);
            let lines = counted(removed.lines, "line", "lines");
            let (own, blobs) = (bytes(removed.bytes), bytes(removed.blob_bytes));
            out.line(format_args!("removed {id}: {lines}, {own}; {blobs} of blobs freed"))?;
        }
        out.show()?;
    }
    Ok(Status::Done)
}
