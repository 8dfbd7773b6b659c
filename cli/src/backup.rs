//! `leafline backup`.

use std::path::PathBuf;

use leafline::backup::{Backup, BackupOptions};

use super::Status;
use super::failure::Failure;
use super::number::{bytes, counted};
use super::output::Output;
use super::place::Place;
use super::progress::Bar;

/// Copy the store into a file, while others use it
///
/// Writes the store as it is at this moment, what is in its journal included. A new file is read again before it gets its name.
/// One that is there is brought up to date in one step, for which nothing is read of sessions that have not changed; then all
/// of it is read again, unless --quick is given.
///
/// The copy is a store: look into it with --store FILE. To put it back, copy it to the store's place while nobody uses that,
/// and remove what is there as <store>.journal.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline backup /mnt/disk/sessions.leafline\n  leafline ls --store /mnt/disk/sessions.leafline"
)]
pub(super) struct Arguments {
    /// The backup's file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Compare every row with a backup that is there, not only those of sessions that have changed
    #[arg(long)]
    compare_all: bool,

    /// Do not read again what a backup that is there has from before
    #[arg(long, conflicts_with = "compare_all")]
    quick: bool,
}

/// Makes the copy, or brings it up to date.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let options = BackupOptions { compare_all: arguments.compare_all, quick: arguments.quick };
    let size = std::fs::metadata(store.path()).map_or(0, |metadata| metadata.len());
    let mut bar = Bar::of_bytes(size);
    let backup = store.backup(&arguments.file, &options, |read| bar.advance(read))?;
    drop(bar);
    if out.is_json() {
        out.json(&backup)?;
    } else {
        out.line(format_args!("{}", described(&backup)))?;
    }
    Ok(Status::Done)
}

fn described(backup: &Backup) -> String {
    let sessions = counted(backup.sessions, "session", "sessions");
    let size = bytes(backup.bytes);
    if backup.is_new {
        return format!("{sessions} copied, {size}");
    }
    format!(
        "{sessions}, {} new or changed, {} removed since the last backup, {size}",
        backup.changed, backup.removed
    )
}
