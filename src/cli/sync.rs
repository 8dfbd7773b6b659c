//! `leafline sync`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use leafline::{FileReport, ImportObserver, ImportOptions, ImportStatus, Store};

use super::Status;
use super::failure::{Failure, complain};
use super::import::{Sources, Teller, tell_totals};
use super::number::counted;
use super::output::Output;
use super::place::Place;

/// Bring the store in step with folders of session files
///
/// Does what import does, at the cost of what is new: a file with the size and the time that it had is not opened, and of
/// one that has grown only the beginning (4 KiB), the last block (1 MiB at most) and the new lines are read. Any other is
/// compared as a whole, and replaces its session only when nothing would be lost. A last line without an end is left for
/// later if the file was written less than two seconds ago. Sessions stay when their files are gone.
///
/// Prints a line for each file that brought something, could not be read or is refused, as import does, and the totals.
/// With --json one object for each of those files, then one with the totals.
///
/// With --watch it goes on, on the system's events, until ctrl-c: new lines are stored some 50 ms after they were written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline sync
  leafline sync --watch
  leafline sync ~/.claude/projects --json")]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Keep the store in step until ctrl-c
    #[arg(long)]
    watch: bool,
}

/// Brings the store in step.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let (paths, _) = arguments.sources.find()?;
    let options = ImportOptions {
        family: arguments.sources.family(),
        blobs: arguments.sources.blobs.clone(),
        ..ImportOptions::default()
    };
    let store = place.open_or_create()?;
    if arguments.watch {
        return watch(&store, &paths, &options, out);
    }
    let begun = Instant::now();
    let mut news = News(Teller::new(out));
    let synced = store.sync(&paths, &options, &mut news);
    let told = news.0.finish();
    let totals = synced?;
    told.and_then(|()| tell_totals(&totals, None, begun, out))?;
    if totals.failed > 0 {
        let failed = counted(totals.failed, "file is", "files are");
        complain(&format!("{failed} not in step; the lines that begin with \"failed\" say why"));
        return Ok(Status::Failed);
    }
    Ok(Status::Done)
}

fn watch(
    store: &Store,
    paths: &[PathBuf],
    options: &ImportOptions,
    out: &mut Output,
) -> Result<Status, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    ctrlc::set_handler(move || stopping.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::Watch(error.to_string()))?;
    let mut watching = store.watch(paths, options)?;
    let mut news = News(Teller::new(out));
    let watched = watching.run(&mut news, &stop);
    let told = news.0.finish();
    watched?;
    told.map(|()| Status::Done)
}

/// Tells of files that brought something, and of those that failed.
struct News<'o>(Teller<'o>);

impl ImportObserver for News<'_> {
    fn begin(&mut self, files: u64, bytes: u64) {
        self.0.begin(files, bytes);
    }

    fn read(&mut self, bytes: u64) {
        self.0.read(bytes);
    }

    fn file(&mut self, report: &FileReport) {
        if !matches!(report.status, ImportStatus::Unchanged | ImportStatus::Skipped) {
            self.0.file(report);
        }
    }
}
