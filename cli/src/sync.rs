//! `leafline sync`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use leafline::error::StoreError;
use leafline::import::{
    BesideReport, FileReport, ImportObserver, ImportOptions, ImportStatus, LeftOut, Watch,
};
use leafline::{Error, StoreOptions};

use super::Status;
use super::advice::advised;
use super::failure::{Failure, complain};
use super::import::{Listing, Sources, Teller, beside_failed, print_totals, totals_of};
use super::index::{Follower, Indexing};
use super::interrupt::Interrupt;
use super::number::counted;
use super::output::Output;
use super::place::Place;
use super::prompts;

/// Import what is new in folders of session files
///
/// Does what import does, at the cost of what is new: does not open a file whose size and time have not changed, and of
/// one that has grown reads only the beginning (4 KiB), the last block (1 MiB at most) and the new lines. Compares any
/// other as a whole. If both the store and the program have changed a session, merges the two; a file that cannot be merged
/// becomes a session of its own, ID~2. Leaves an unfinished last line for later if the file was written less than two seconds
/// ago. Sessions stay when their files are gone, and sessions that
/// `leafline rm` deleted stay deleted. Takes what Claude Code and omp keep beside sessions, and the prompts typed in Claude Code,
/// as import does; those files stay, too.
///
/// Prints a line for each file that added something, could not be read, was refused or is of a deleted session, as import
/// does, and the totals. --verbose lists all files, --quiet only failures. With --json, one object for each of those
/// files, then one with the totals. The files that are left out are counted, as in an import; a watch says it once, with --json
/// as {left_out: [{reason, files}]}.
///
/// With --watch, follows the system's file events until ctrl-c or SIGTERM, and stores new lines some 50 ms after they were
/// written; folders that are not there yet, once they are. The store is open only while there is something to store, so that
/// others can compact or replace it. When the disk is full or the store fails, says so and tries again, at least once a
/// minute. `leafline keep on` has the system run this. Without --watch, ctrl-c stops as in an import.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline sync
  leafline sync --watch
  leafline sync ~/.claude/projects --json")]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Keep importing until ctrl-c or SIGTERM
    #[arg(long)]
    watch: bool,

    /// Let a file replace its session even if the session holds what the file lacks
    #[arg(long, conflicts_with = "watch")]
    replace: bool,

    #[command(flatten)]
    listing: Listing,

    #[command(flatten)]
    indexing: Indexing,
}

/// How long a watch waits after the store has failed, first and at most, and how soon an interrupt ends the wait.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const SHORT_PAUSE: Duration = Duration::from_millis(100);

/// What is usually not listed.
const USUALLY_HIDDEN: &[ImportStatus] =
    &[ImportStatus::Unchanged, ImportStatus::Skipped, ImportStatus::LeftOut];

/// Syncs the store.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let paths = match arguments.watch {
        true => arguments.sources.to_watch()?,
        false => arguments.sources.to_sync()?,
    };
    let options = ImportOptions {
        family: arguments.sources.family(),
        blobs: arguments.sources.blobs.clone(),
        longest_line: arguments.sources.longest_line,
        replace: arguments.replace,
        ..ImportOptions::default()
    };
    let (store, interrupt) = place.open_to_import()?;
    let listing = arguments.listing;
    if arguments.watch {
        out.at_once();
    }
    let teller = Teller::new(out, (listing, USUALLY_HIDDEN), interrupt.clone());
    if arguments.watch {
        // It is opened for each change, so that others may compact or replace it meanwhile.
        drop(store);
        return watch(place, (&paths, &options), (arguments.indexing, &interrupt), teller);
    }
    let begun = Instant::now();
    let mut teller = teller;
    let synced = store.sync(&paths, &options, &mut teller);
    let told = teller.finish();
    let totals = totals_of(synced)?;
    told.and_then(|()| print_totals(&totals, None, begun, listing, out))?;
    let has_prompts = prompts::take(&store, &paths, listing.is_quiet(), out)?;
    arguments.indexing.follow(&store, totals.new_bytes, &interrupt, listing.is_quiet());
    if interrupt.is_set() {
        return Ok(Status::Stopped);
    }
    if totals.beside.failed > 0 {
        complain(&beside_failed(&totals));
    }
    if totals.failed > 0 {
        let failed = counted(totals.failed, "file is", "files are");
        complain(&format!("{failed} not in step; the lines that begin with \"failed\" say why"));
    }
    let has_failed = totals.failed + totals.beside.failed > 0 || !has_prompts;
    Ok(if has_failed { Status::Failed } else { Status::Done })
}

fn watch(
    place: &Place,
    (paths, options): (&[PathBuf], &ImportOptions),
    (indexing, interrupt): (Indexing, &Interrupt),
    teller: Teller<'_>,
) -> Result<Status, Failure> {
    let path = std::path::absolute(place.path()?).map_err(Failure::NoCurrentDirectory)?;
    // It has been opened.
    let store_options = StoreOptions { create: false, ..Place::options_of_import() };
    let mut watching = Watch::of_file(path, &store_options, paths, options)?;
    let mut news = News { teller, follower: None };
    let is_over = AtomicBool::new(false);
    let watched = std::thread::scope(|scope| {
        let started = prompts::follow(place, paths, (interrupt, &is_over), scope);
        let started = started.and_then(|()| {
            news.follower =
                indexing.is_wanted().then(|| Follower::start(place, scope)).transpose()?;
            Ok(())
        });
        let watched = started.and_then(|()| keep_watching(&mut watching, &mut news, interrupt));
        news.follower = None;
        is_over.store(true, Ordering::Relaxed);
        watched
    });
    let told = news.teller.finish();
    watched?;
    told.map(|()| Status::Done)
}

/// Watches until it is interrupted. Once everything was in step, no failure of the store ends it: a full disk gets room again,
/// and a damaged store is repaired.
fn keep_watching(
    watching: &mut Watch,
    news: &mut News<'_>,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let mut pause = FIRST_PAUSE;
    let mut was_away = false;
    loop {
        let begun = Instant::now();
        let Err(error) = watching.run(news, interrupt.flag()) else { return Ok(()) };
        if !watching.has_synced() {
            return Err(error.into());
        }
        if begun.elapsed() > LONGEST_PAUSE {
            (pause, was_away) = (FIRST_PAUSE, false);
        }
        let is_away = matches!(error, Error::Store(StoreError::NotFound { .. }));
        if is_away {
            pause = FIRST_PAUSE;
        }
        match (is_away, was_away) {
            (true, true) => {}
            (true, false) => complain(&format!("{error}; goes on once it is back")),
            (false, _) => {
                complain(&format!("{}; tried again in {} s", advised(&error), pause.as_secs()));
            }
        }
        was_away = is_away;
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if interrupt.is_set() {
                return Ok(());
            }
            std::thread::sleep(SHORT_PAUSE);
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Reports files, and has the search index follow those that added something.
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
        self.teller.file(report);
        if let Some(follower) = &self.follower
            && !USUALLY_HIDDEN.contains(&report.status)
        {
            follower.notice(report.stored);
        }
    }

    fn beside(&mut self, report: &BesideReport) {
        self.teller.beside(report);
    }

    fn left_out(&mut self, left_out: &LeftOut) {
        self.teller.left_out(left_out);
    }

    fn unwatched(&mut self, reason: &str) {
        complain(&format!(
            "{reason}: folders are looked at by turns, and new lines may come later"
        ));
    }
}
