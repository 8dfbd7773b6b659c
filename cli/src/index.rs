//! `leafline index`, and the index after an import or a sync.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use leafline::error::SearchError;
use leafline::search::{DamagedSession, IndexUpdate, SearchIndex};
use leafline::{Error, Store};
use serde_json::json;

use super::Status;
use super::advice::advised;
use super::failure::{Failure, complain, complaint};
use super::interrupt::Interrupt;
use super::number::{bytes, counted};
use super::output::Output;
use super::place::Place;
use super::progress::Bar;

/// Up to this many new bytes, an import or a sync leaves the indexing to the next search, which does it quickly.
const LEFT_TO_SEARCH: u64 = 4 << 20;

/// Up to this many new bytes are indexed before an import or a sync ends: a second or two.
const DONE_IN_A_MOMENT: u64 = 64 << 20;

/// While a folder is watched, the index is updated when this many bytes are new, or after this time: an update creates and syncs
/// files, some 60 writes even for one line. A search indexes the rest.
const WORTH_AN_UPDATE: u64 = 1 << 20;
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How often the follower checks.
const PAUSE: Duration = Duration::from_millis(500);

/// How long a search waits for another process that updates the index and commits nothing, and how often it checks. A
/// commit comes every 512 MB of lines, which take some ten seconds on two cores.
const PATIENCE: Duration = Duration::from_secs(120);
const SHORT_PAUSE: Duration = Duration::from_millis(50);

/// Update the search index
///
/// `leafline search` uses an index in a folder beside the store, named after the store's file with .search appended. It
/// is built from the store, so it may be deleted. An import or a sync updates it at its end (in the background for more
/// than 64 MiB; less than 4 MiB is left to the next search), and a search waits for that and adds the rest; so this
/// command is for an index that was deleted, that --no-index left behind, or whose build was stopped.
///
/// Reports damaged sessions, indexes all others, and then exits with status 1.
///
/// ctrl-c stops it; the next run continues from there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  leafline index\n  leafline index --rebuild")]
pub(super) struct Arguments {
    /// Delete the index and build it again
    #[arg(long)]
    rebuild: bool,
}

/// Whether an import or a sync updates the search index.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Indexing {
    /// Do not update the search index; `leafline index` does it later
    #[arg(long)]
    no_index: bool,
}

impl Indexing {
    /// Whether it does.
    pub(super) fn is_wanted(self) -> bool {
        !self.no_index
    }

    /// Updates the index after so many new bytes: at once if that is quick, else in a separate process, without waiting
    /// for it. The sessions are safe, so a failure to update is reported but does not fail the command.
    pub(super) fn follow(
        self,
        store: &Store,
        new_bytes: u64,
        interrupt: &Interrupt,
        is_quiet: bool,
    ) {
        if self.no_index || new_bytes < LEFT_TO_SEARCH || interrupt.is_set() {
            return;
        }
        if new_bytes > DONE_IN_A_MOMENT && start(store).is_ok() {
            let told = format!(
                "leafline: {} are made searchable in the background; a search waits for it",
                bytes(new_bytes)
            );
            if !is_quiet {
                // A hint; nothing depends on it.
                let _ = writeln!(std::io::stderr(), "{told}");
            }
            return;
        }
        match update(store, interrupt) {
            // The updating process will find the new lines, or the next search does.
            Err(Error::Search(SearchError::IndexBusy { .. })) => {}
            Ok(done) => {
                report_damaged(&done);
                if !done.is_complete {
                    complain(
                        "the sessions are stored, but not all of them are searchable yet; a search or `leafline index` goes on with that",
                    );
                }
            }
            Err(error) => complain(&format!("the sessions are stored, but {}", advised(&error))),
        }
    }
}

/// Takes the words of deleted sessions out of the search index, if there is one. What else it lacks is left to the next
/// search or import. The sessions are gone, so a failure is reported but does not fail the command.
pub(super) fn forget_removed(store: &Store) {
    let index = match SearchIndex::open(store) {
        Ok(Some(index)) => index,
        Ok(None) => return,
        Err(error) => {
            return complain(&format!("the sessions are deleted, but {}", advised(&error)));
        }
    };
    match index.update(|_| false) {
        // The updating process will find that they are gone, or the next search does.
        Ok(_) | Err(Error::Search(SearchError::IndexBusy { .. })) => {}
        Err(error) => complain(&format!("the sessions are deleted, but {}", advised(&error))),
    }
}

/// Starts `leafline index` for the store.
fn start(store: &Store) -> std::io::Result<Child> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.arg("--store").arg(store.path()).arg("index");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A signal from the terminal that ends this command must not end that process.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// If much is new, runs `leafline index` and waits for it as long as `goes_on` returns true. The system gets that process's memory
/// back, unlike the memory of a process that stays.
pub(super) fn complete_apart(
    store: &Store,
    index: &SearchIndex,
    goes_on: &dyn Fn() -> bool,
) -> leafline::Result<()> {
    if index.lag()?.bytes < LEFT_TO_SEARCH {
        return Ok(());
    }
    let Ok(mut process) = start(store) else { return Ok(()) };
    while matches!(process.try_wait(), Ok(None)) {
        if !goes_on() {
            // The process goes on; a thread waits for its end.
            std::thread::spawn(move || process.wait());
            return Ok(());
        }
        std::thread::sleep(SHORT_PAUSE);
    }
    Ok(())
}

/// Updates the index.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    if arguments.rebuild {
        store.remove_search_index()?;
    }
    let begun = Instant::now();
    let done = update(&store, &Interrupt::listen()?)?;
    print_update(&done, begun, out)?;
    report_damaged(&done);
    if !done.is_complete {
        complain("stopped; the next `leafline index` goes on from here");
        return Ok(Status::Stopped);
    }
    Ok(if done.damaged.is_empty() { Status::Done } else { Status::Failed })
}

fn print_update(done: &IndexUpdate, begun: Instant, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(&json!({
            "sessions": done.sessions,
            "entries": done.entries,
            "bytes": done.bytes,
            "removed": done.removed,
            "damaged": done.damaged.iter().map(|left| &left.session).collect::<Vec<_>>(),
            "complete": done.is_complete,
        }));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let sessions = counted(done.sessions, "session", "sessions");
    let entries = counted(done.entries, "entry", "entries");
    let removed = match done.removed {
        0 => String::new(),
        gone => format!("; {} removed", counted(gone, "session", "sessions")),
    };
    out.line(format_args!(
        "{sessions} read: {entries}; {} in {seconds:.1} s{removed}",
        bytes(done.bytes)
    ))
}

/// Reports the sessions that the index lacks because they are damaged.
fn report_damaged(done: &IndexUpdate) {
    for left in &done.damaged {
        let damage = &left.damage;
        complain(&format!(
            "session {} is not in the index, or not all of it: {damage}",
            left.session
        ));
    }
}

/// Updates the index until it is interrupted.
fn update(store: &Store, interrupt: &Interrupt) -> leafline::Result<IndexUpdate> {
    let index = SearchIndex::open_or_create(store)?;
    let mut bar = Bar::of_index(index.lag()?.bytes);
    index.update(|read| {
        bar.advance(read);
        !interrupt.is_set()
    })
}

/// Keeps the index up to date on its own thread, until it is dropped.
#[derive(Debug)]
pub(super) struct Follower {
    stop: Arc<AtomicBool>,
    /// Bytes that the index lacks, about.
    behind: Arc<AtomicU64>,
}

impl Follower {
    /// Starts with what the store already has, which is opened for each update.
    ///
    /// # Errors
    ///
    /// If the system gives no thread.
    pub(super) fn start<'scope>(
        place: &'scope Place,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<Self, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        let behind = Arc::new(AtomicU64::new(WORTH_AN_UPDATE));
        let follower = Self { stop: Arc::clone(&stop), behind: Arc::clone(&behind) };
        let follow = move || {
            let mut updated = Instant::now();
            while !stop.load(Ordering::Relaxed) {
                let bytes = behind.load(Ordering::Relaxed);
                let is_due = bytes >= WORTH_AN_UPDATE || updated.elapsed() >= LONGEST_WAIT;
                if bytes > 0 && is_due {
                    behind.fetch_sub(bytes, Ordering::Relaxed);
                    if !catch_up(place, &stop) {
                        behind.fetch_add(bytes, Ordering::Relaxed);
                    }
                    updated = Instant::now();
                }
                std::thread::sleep(PAUSE);
            }
        };
        Builder::new().spawn_scoped(scope, follow).map_err(Failure::Thread)?;
        Ok(follower)
    }

    /// Reports new lines of this many bytes.
    pub(super) fn notice(&self, bytes: u64) {
        self.behind.fetch_add(bytes.max(1), Ordering::Relaxed);
    }
}

/// Returns whether the update is complete.
fn catch_up(place: &Place, stop: &AtomicBool) -> bool {
    let updated = place.open_to_read().and_then(|store| {
        let index = SearchIndex::open_or_create(&store)?;
        Ok(index.update(|_| !stop.load(Ordering::Relaxed))?)
    });
    match updated {
        Ok(_) => true,
        // Another process is updating, perhaps from an earlier state.
        Err(Failure::Library(Error::Search(SearchError::IndexBusy { .. }))) => false,
        // The next new lines try again.
        Err(failure) => {
            complain(&failure.to_string());
            true
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Why the index is incomplete for a search, if it is.
#[derive(Debug)]
pub(super) enum Readiness {
    /// The index has everything.
    Complete,
    /// The index lacks this many sessions, and why it could not be updated, if it was tried.
    Behind(u64, Option<Error>),
    /// The index has all that can be read: these sessions are damaged.
    Damaged(Vec<DamagedSession>),
    /// The index is empty, and lacks this many bytes of sessions.
    Missing(u64),
}

/// Brings the index up to date for a search, for as long as it may go on. While another process is at it, waits for that, as
/// long as the other gets on.
pub(super) fn complete(
    index: &SearchIndex,
    goes_on: &dyn Fn() -> bool,
    shows_progress: bool,
) -> leafline::Result<Readiness> {
    let mut lag = index.lag()?;
    let mut bar = shows_progress.then(|| Bar::of_index(lag.bytes));
    let mut advance = |read| bar.iter_mut().for_each(|bar| bar.advance(read));
    // Others add lines meanwhile: there is progress if the index lacks less than ever.
    let (mut moved, mut least) = (Instant::now(), lag.bytes);
    let mut failed = None;
    while lag.sessions > 0 && goes_on() {
        let updated = index.update(|read| {
            advance(read);
            goes_on()
        });
        match updated {
            Ok(done) if !done.is_complete => break,
            Ok(done) if done.damaged.is_empty() => return Ok(Readiness::Complete),
            Ok(done) => return Ok(Readiness::Damaged(done.damaged)),
            Err(Error::Search(SearchError::IndexBusy { .. })) if moved.elapsed() < PATIENCE => {}
            Err(Error::Search(SearchError::IndexBusy { .. })) => break,
            // The indexed part can be searched, also where the index may only be read.
            Err(error @ (Error::Search(SearchError::Index { .. }) | Error::File { .. })) => {
                failed = Some(error);
                break;
            }
            Err(error) => return Err(error),
        }
        std::thread::sleep(SHORT_PAUSE);
        let now = index.lag()?;
        if now.bytes < least {
            (moved, least) = (Instant::now(), now.bytes);
        }
        advance(lag.bytes.saturating_sub(now.bytes));
        lag = now;
    }
    match (readiness(index)?, failed) {
        // There is nothing to search, for this reason.
        (Readiness::Missing(_), Some(error)) => Err(error),
        (Readiness::Behind(sessions, _), failed) => Ok(Readiness::Behind(sessions, failed)),
        (readiness, _) => Ok(readiness),
    }
}

/// What the index has as it is.
pub(super) fn readiness(index: &SearchIndex) -> leafline::Result<Readiness> {
    let lag = index.lag()?;
    Ok(match lag.sessions {
        0 => Readiness::Complete,
        _ if index.is_empty()? => Readiness::Missing(lag.bytes),
        sessions => Readiness::Behind(sessions, None),
    })
}

/// Says that the index lacks sessions, and why it could not be updated.
pub(super) fn behind(sessions: u64, failed: Option<&Error>) -> String {
    let sessions = counted(sessions, "session is", "sessions are");
    complaint(&match failed {
        None => format!("{sessions} not in the search index yet; `leafline index` updates it"),
        Some(error) => {
            format!("{sessions} not in the search index yet, which cannot be updated: {error}")
        }
    })
}
