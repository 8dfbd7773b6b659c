//! `leafline sync`.

use std::path::PathBuf;
use std::time::Instant;

use leafline::Store;
use leafline::import::{FileReport, ImportObserver, ImportOptions, ImportStatus};

use super::Status;
use super::failure::{Failure, complain};
use super::import::{Sources, Teller, print_totals};
use super::index::{Follower, Indexing, stop_on_ctrl_c};
use super::number::counted;
use super::output::Output;
use super::place::Place;

/// Import what is new in folders of session files
///
/// Does what import does, at the cost of what is new: does not open a file whose size and time have not changed, and of
/// one that has grown reads only the beginning (4 KiB), the last block (1 MiB at most) and the new lines. Compares any
/// other as a whole, and lets it replace its session only if nothing would be lost. Leaves an unfinished last line for
/// later if the file was written less than two seconds ago. Sessions stay when their files are gone, and sessions that
/// `leafline rm` deleted stay deleted.
///
/// Prints a line for each file that added something, could not be read, was refused or is of a deleted session, as import
/// does, and the totals.
/// With --json, one object for each of those files, then one with the totals.
///
/// With --watch, follows the system's file events until ctrl-c, and stores new lines some 50 ms after they were
/// written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline sync
  leafline sync --watch
  leafline sync ~/.claude/projects --json")]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Keep importing until ctrl-c
    #[arg(long)]
    watch: bool,

    #[command(flatten)]
    indexing: Indexing,
}

/// Syncs the store.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let (paths, _) = arguments.sources.find()?;
    let options = ImportOptions {
        family: arguments.sources.family(),
        blobs: arguments.sources.blobs.clone(),
        longest_line: arguments.sources.longest_line,
        ..ImportOptions::default()
    };
    let store = place.open_or_create()?;
    if arguments.watch {
        return watch(&store, &paths, &options, arguments.indexing, out);
    }
    let begun = Instant::now();
    let mut news = News { teller: Teller::new(out), follower: None };
    let synced = store.sync(&paths, &options, &mut news);
    let told = news.teller.finish();
    let totals = synced?;
    told.and_then(|()| print_totals(&totals, None, begun, out))?;
    arguments.indexing.follow(&store, totals.new_bytes);
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
    indexing: Indexing,
    out: &mut Output,
) -> Result<Status, Failure> {
    let stop = stop_on_ctrl_c()?;
    let mut watching = store.watch(paths, options)?;
    let mut news = News { teller: Teller::new(out), follower: None };
    let watched = std::thread::scope(|scope| {
        news.follower = indexing.is_wanted().then(|| Follower::start(store, scope));
        let watched = watching.run(&mut news, &stop);
        news.follower = None;
        watched
    });
    let told = news.teller.finish();
    watched?;
    told.map(|()| Status::Done)
}

/// Reports files that added something, and those that failed.
struct News<'o> {
    teller: Teller<'o>,
    /// Adds the new lines to the search index.
    follower: Option<Follower>,
}

impl ImportObserver for News<'_> {
    fn begin(&mut self, files: u64, bytes: u64) {
        self.teller.begin(files, bytes);
    }

    fn read(&mut self, bytes: u64) {
        self.teller.read(bytes);
    }

    fn file(&mut self, report: &FileReport) {
        if matches!(report.status, ImportStatus::Unchanged | ImportStatus::Skipped) {
            return;
        }
        self.teller.file(report);
        if let Some(follower) = &self.follower {
            follower.notice();
        }
    }
}
