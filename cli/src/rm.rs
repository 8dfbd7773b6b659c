//! `leafline rm`.

use super::failure::Failure;
use super::number::{bytes, counted};
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;
use super::{Status, text};

/// Delete sessions
///
/// Deletes the sessions with all their entries, and the blobs that no other session shares, in one step: all of them, or
/// none if one does not exist or the disk is too full. Later imports reuse the space; `leafline compact` returns it to
/// the file system.
///
/// Prints a line for each session. If a deleted session's space could not be freed at once, as on a full disk, the line
/// says so; with --json as `unswept`. The next import or compaction frees it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline rm 019c6605 b6a3a0c8")]
pub(super) struct Arguments {
    /// The sessions: ids, or unique prefixes of ids
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
    let spinner = Spinner::new("deleting");
    let all = store.remove_all(&arguments.sessions)?;
    drop(spinner);
    for removed in all {
        if out.is_json() {
            out.json(&removed)?;
            continue;
        }
        let id = text::printable(&removed.session);
        let lines = counted(removed.lines, "line", "lines");
        let own = bytes(removed.bytes);
        let space = match &removed.unswept {
            None => format!("{} of blobs freed", bytes(removed.blob_bytes)),
            Some(reason) => {
                let reason = text::printable(reason);
                format!("the space is given back by the next import or compaction ({reason})")
            }
        };
        out.line(format_args!("removed {id}: {lines}, {own}; {space}"))?;
    }
    out.show()?;
    Ok(Status::Done)
}
