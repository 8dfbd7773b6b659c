//! Keeps the store in step with folders while others write to them.

mod folders;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use notify::Event;
use notify::event::{EventKind, ModifyKind};

use self::folders::{EACH_FOLDER, Folders};
use super::import::{
    BesideReport, BesideStatus, FileReport, ImportObserver, ImportOptions, ImportStatus, LeftOut,
    Refusal, file_beside, is_in_home, is_named_as_session,
};
use crate::destination::absolute_or_given;
use crate::error::{FileContext, Result};
use crate::store::opener::Opener;
use crate::store::{Store, StoreOptions};

/// How long a file is left alone after an event: a writer makes several calls in a row.
const SETTLING: Duration = Duration::from_millis(50);

/// After this a file is checked once more: by then a last line without an end counts, and the modification time is
/// reliable.
const QUIET: Duration = Duration::from_millis(2_200);

/// How long a request to stop can go unnoticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often it is checked whether the paths lead to where they led: folders come, go, and are replaced.
const CHECK: Duration = Duration::from_secs(1);

/// A store that is opened for each change is closed if nothing is due for so long.
const IDLE: Duration = Duration::from_secs(3);

/// After this a file that could not be stored is tried again, and then after twice as long each time, up to the longest.
const FIRST_RETRY: Duration = Duration::from_secs(5);
const LONGEST_RETRY: Duration = Duration::from_secs(600);

/// Files and folders that are kept in step; see [`Store::watch`] and [`Watch::of_file`].
#[derive(Debug)]
pub struct Watch {
    place: Place,
    options: ImportOptions,
    roots: Vec<Root>,
    events: Receiver<notify::Result<Event>>,
    /// When to check a path, and whether that is the last time for now.
    due: BTreeMap<PathBuf, (Instant, bool)>,
    /// The files that could not be stored.
    failures: BTreeMap<PathBuf, Failure>,
    /// The files that were reported as left out.
    left_out: BTreeSet<PathBuf>,
    checked: Instant,
    has_synced: bool,
    folders: Folders,
}

/// Where the store is.
#[derive(Debug)]
enum Place {
    /// The caller has it open.
    Open(Store),
    /// It is opened when there is something to store.
    File { path: PathBuf, options: StoreOptions, open: Option<Store> },
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Self::Open(store) => store.path(),
            Self::File { path, .. } => path,
        }
    }

    fn store(&mut self) -> Result<&Store> {
        match self {
            Self::Open(store) => Ok(store),
            Self::File { path, options, open } => match open {
                Some(store) => Ok(store),
                none => {
                    let store = Store::open_with(path, options)?;
                    // One that is away later, as its disk may be, is waited for.
                    options.create = false;
                    Ok(none.insert(store))
                }
            },
        }
    }

    /// Closes it, so that others may replace the file.
    fn close(&mut self) {
        if let Self::File { open, .. } = self {
            *open = None;
        }
    }
}

/// A path that is kept in step, and what the system watches for it.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    /// The folder that is watched, and which one that is. `None` while it is not there.
    watched: Option<(PathBuf, Identity)>,
}

impl Root {
    /// What is to be watched now: a file through its folder, as a file renamed to its path is another file.
    fn wanted(&self) -> Option<(PathBuf, Identity)> {
        let folder = if self.path.is_dir() { &*self.path } else { self.path.parent()? };
        let metadata = std::fs::metadata(folder).ok().filter(Metadata::is_dir)?;
        Some((folder.to_owned(), identity(&metadata)))
    }
}

/// What tells a folder from another one at the same path.
type Identity = (u64, u64, Option<SystemTime>);

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    // A number is given again at once; the time is not there on all systems.
    (metadata.dev(), metadata.ino(), metadata.created().ok())
}

#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> Identity {
    (0, 0, metadata.created().ok())
}

/// A file that could not be stored, and when it is tried again.
#[derive(Debug)]
struct Failure {
    reason: Option<String>,
    pause: Duration,
}

impl Store {
    /// Watches files, and folders with everything in them. Changes from now on are noticed; [`Watch::run`] treats them
    /// as [`Self::sync`] does, and begins with a sync of everything. A path that is not there yet is watched once it is.
    ///
    /// Places without events are polled by turns: folders beyond the limit of watches, those on network file systems and FUSE, and
    /// links to files elsewhere. Files that were written in the last hour, 256 at most, are looked at every two
    /// seconds, and everything every few minutes.
    ///
    /// The store stays open. [`Watch::of_file`] opens it for each change.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::Error::File) if the system gives no thread.
    pub fn watch(&self, paths: &[impl AsRef<Path>], options: &ImportOptions) -> Result<Watch> {
        Watch::new(Place::Open(self.clone()), paths, options)
    }
}

impl Watch {
    /// The same for the store in a file, which is opened when there is something to store and closed three seconds after the
    /// last change: so another process can compact, repair or replace it.
    ///
    /// # Errors
    ///
    /// Those of [`Store::watch`].
    pub fn of_file(
        store: impl AsRef<Path>,
        store_options: &StoreOptions,
        paths: &[impl AsRef<Path>],
        options: &ImportOptions,
    ) -> Result<Self> {
        let path = std::path::absolute(store.as_ref()).at("finding", store.as_ref())?;
        Self::new(Place::File { path, options: store_options.clone(), open: None }, paths, options)
    }

    fn new(place: Place, paths: &[impl AsRef<Path>], options: &ImportOptions) -> Result<Self> {
        let first = paths.first().map_or(Path::new("."), AsRef::as_ref);
        let (folders, events) = Folders::new(Opener::new(place.path().to_owned()), first)?;
        let absolute = |path: &Path| absolute_or_given(path.to_owned());
        let roots = paths
            .iter()
            .map(|path| Root { path: absolute(path.as_ref()), watched: None })
            .collect();
        let mut options = options.clone();
        options.blobs = options.blobs.as_deref().map(absolute);
        let mut watch = Self {
            place,
            options,
            roots,
            events,
            due: BTreeMap::new(),
            failures: BTreeMap::new(),
            left_out: BTreeSet::new(),
            checked: Instant::now(),
            has_synced: false,
            folders,
        };
        watch.check_roots();
        Ok(watch)
    }

    /// Keeps the store in step until `stop` is set, which is noticed within a tenth of a second, or after the current
    /// file, also during the initial sync of everything. What was stored until then stays.
    ///
    /// A file's new lines are stored some 50 ms after they were written; a last line without an end, once nothing was
    /// written for two seconds. Files that are gone are skipped, and their sessions stay. A file that could not be stored is
    /// tried again, after five seconds first and after ten minutes at most, and reported again only if the reason is
    /// another one.
    ///
    /// # Errors
    ///
    /// If the store itself fails; a file's failure is in its report. It can be called again then, and begins with a sync of
    /// everything.
    pub fn run(&mut self, observer: &mut dyn ImportObserver, stop: &AtomicBool) -> Result<()> {
        self.folders.opener.check()?;
        let ran = self.run_until(observer, stop);
        self.place.close();
        ran
    }

    /// Whether everything was in step at least once.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.has_synced
    }

    fn run_until(&mut self, observer: &mut dyn ImportObserver, stop: &AtomicBool) -> Result<()> {
        let roots: Vec<PathBuf> = self.roots.iter().map(|root| root.path.clone()).collect();
        // The sync says of a path that cannot be looked at why.
        let is_there = |root: &&PathBuf| {
            root.try_exists().unwrap_or_else(|error| error.kind() != ErrorKind::NotADirectory)
        };
        let there: Vec<&PathBuf> = roots.iter().filter(is_there).collect();
        self.sync((&there, &[]), (observer, stop), false)?;
        self.has_synced = true;
        let now = Instant::now();
        self.due.extend(roots.into_iter().map(|root| (root, (now + QUIET, true))));
        while !stop.load(Ordering::Relaxed) {
            if let Some(reason) = self.folders.news.take() {
                observer.unwatched(&reason);
            }
            self.wait();
            if self.checked.elapsed() >= CHECK {
                self.check_roots();
                self.take_turns();
            }
            self.look(observer, stop)?;
        }
        Ok(())
    }

    /// Watches the folders that have come or were replaced, whose files are then due.
    fn check_roots(&mut self) {
        self.checked = Instant::now();
        let is_other = |root: &&Root| root.watched.is_some() && root.watched != root.wanted();
        let others = self.roots.iter().filter(is_other);
        let folders: Vec<PathBuf> =
            others.filter_map(|root| Some(root.watched.as_ref()?.0.clone())).collect();
        for folder in folders {
            self.forget(&folder);
        }
        for root in self.roots.iter_mut().filter(|root| root.watched.is_none()) {
            let Some(wanted) = root.wanted() else { continue };
            if wanted.0 == root.path {
                self.folders.cover(&root.path);
            } else {
                self.folders.cover_folder(&wanted.0);
                if root.path.is_symlink() {
                    self.folders.turns.add(root.path.clone());
                }
            }
            root.watched = Some(wanted);
            self.due.insert(root.path.clone(), (Instant::now() + SETTLING, false));
        }
    }

    /// Looks at what the system reports nothing of.
    fn take_turns(&mut self) {
        let now = Instant::now();
        if self.folders.turns.is_due(now) {
            self.folders.cover_again();
            self.folders.turns.begin_round();
        }
        for path in self.folders.turns.look(now) {
            if path.is_dir() {
                self.folders.cover(&path);
            }
            self.note_path(path);
        }
    }

    /// Syncs these paths, and takes note of the files that could not be stored.
    fn sync(
        &mut self,
        paths: (&[&PathBuf], &[PathBuf]),
        (observer, stop): (&mut dyn ImportObserver, &AtomicBool),
        is_news_only: bool,
    ) -> Result<()> {
        let (failures, known_left_out) = (&mut self.failures, &mut self.left_out);
        let mut again = Vec::new();
        let mut until = Until {
            observer,
            stop,
            is_news_only,
            failures,
            again: &mut again,
            known_left_out,
            left_out: Vec::new(),
        };
        let synced = self.place.store()?.sync_with_beside(paths, &self.options, &mut until);
        until.left_out.iter().for_each(|left_out| until.observer.left_out(left_out));
        synced?;
        let now = Instant::now();
        self.due.extend(again.into_iter().map(|(path, pause)| (path, (now + pause, true))));
        Ok(())
    }

    /// Waits for events, but not past the time when something is due.
    fn wait(&mut self) {
        let next = self.due.values().map(|(at, _)| *at).min();
        let until = next.map_or(PATIENCE, |at| at.saturating_duration_since(Instant::now()));
        match self.events.recv_timeout(until.min(PATIENCE)) {
            Ok(event) => {
                self.note(event);
                while let Ok(event) = self.events.try_recv() {
                    self.note(event);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The watcher lives as long as this does, so this cannot happen; if it did, the loop must not spin.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(PATIENCE),
        }
    }

    fn note(&mut self, event: notify::Result<Event>) {
        match event {
            Ok(event) if !event.need_rescan() => {
                if matches!(event.kind, EventKind::Access(_)) {
                    return;
                }
                let is_removal = matches!(event.kind, EventKind::Remove(_));
                let may_be_new = matches!(
                    event.kind,
                    EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_))
                );
                for path in event.paths {
                    if is_removal {
                        self.forget(&path);
                    } else if may_be_new {
                        self.cover(&path);
                    }
                    self.note_path(path);
                }
            }
            // Events were lost: everything is checked.
            Ok(_) | Err(_) => {
                let soon = Instant::now() + SETTLING;
                for root in &mut self.roots {
                    root.watched = None;
                    self.due.insert(root.path.clone(), (soon, false));
                }
            }
        }
    }

    /// Watches what has come to a path.
    fn cover(&mut self, path: &Path) {
        if !self.is_watched(path) {
            return;
        }
        if path.is_dir() {
            // Other systems watch it with the folder that it is in.
            if EACH_FOLDER {
                self.folders.cover(path);
            }
        } else if path.is_symlink() {
            self.folders.turns.add(path.to_owned());
        }
    }

    /// Has a path checked soon, if it is one to be kept in step.
    fn note_path(&mut self, path: PathBuf) {
        if !self.is_watched(&path) {
            return;
        }
        let soon = (Instant::now() + SETTLING, false);
        let due = self.due.entry(path).or_insert(soon);
        // A path that is due soon stays due, however much is written meanwhile.
        if due.1 {
            *due = soon;
        }
    }

    /// Watches a folder no more, which is gone or another one: what is at its path is watched anew, for each path that needs it.
    fn forget(&mut self, folder: &Path) {
        let is_it = |watched: &mut (PathBuf, Identity)| watched.0 == folder;
        let mut was_watched = false;
        for root in &mut self.roots {
            was_watched |= root.watched.take_if(is_it).is_some();
        }
        if was_watched {
            self.folders.forget(folder);
        }
    }

    /// Whether a path can be a session's file, or a folder of such files, or stands beside one: other changes beside a watched
    /// file are ignored.
    fn is_watched(&self, path: &Path) -> bool {
        let is_below = |root: &Root| path.starts_with(&root.path) && root.path.is_dir();
        self.roots.iter().any(|root| path == root.path)
            || (self.roots.iter().any(is_below)
                && (is_named_as_session(path) || path.is_dir() || stands_beside(path)))
    }

    /// Whether a path that is watched is that of a file beside a session.
    fn is_beside(&self, path: &Path) -> bool {
        let is_named = is_named_as_session(path) && !is_in_home(path);
        let is_other = !is_named && self.roots.iter().all(|root| path != root.path);
        is_other && path.is_file()
    }

    /// Syncs what is due.
    fn look(&mut self, observer: &mut dyn ImportObserver, stop: &AtomicBool) -> Result<()> {
        let now = Instant::now();
        let due: Vec<(PathBuf, bool)> = self
            .due
            .iter()
            .filter(|(_, (at, _))| *at <= now)
            .map(|(path, (_, is_last))| (path.clone(), *is_last))
            .collect();
        if due.is_empty() {
            let is_idle = self.due.values().all(|(at, _)| at.saturating_duration_since(now) > IDLE);
            if is_idle {
                self.place.close();
            }
            return Ok(());
        }
        for (path, is_last) in &due {
            if *is_last {
                self.due.remove(path);
            } else {
                self.due.insert(path.clone(), (now + QUIET, true));
            }
        }
        let there: Vec<&PathBuf> =
            due.iter().map(|(path, _)| path).filter(|path| path.exists()).collect();
        for (gone, _) in due.iter().filter(|(path, _)| !there.contains(&path)) {
            self.failures.remove(gone);
        }
        if there.is_empty() {
            return Ok(());
        }
        let (beside, sessions): (Vec<&PathBuf>, Vec<&PathBuf>) =
            there.into_iter().partition(|path| self.is_beside(path));
        let beside: Vec<PathBuf> = beside.into_iter().cloned().collect();
        self.sync((&sessions, &beside), (observer, stop), true)
    }
}

/// Whether a file is in a folder with the name of a session's file that is there, or in a folder below such a one. The sync
/// knows whether that is a session.
fn stands_beside(path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| file_beside(folder).is_file())
}

/// Passes on what a sync has found, until it is stopped.
struct Until<'o> {
    observer: &'o mut dyn ImportObserver,
    stop: &'o AtomicBool,
    /// Whether files with nothing new, and how many there are, are left out.
    is_news_only: bool,
    failures: &'o mut BTreeMap<PathBuf, Failure>,
    /// Files that are to be tried again, each after a time.
    again: &'o mut Vec<(PathBuf, Duration)>,
    known_left_out: &'o mut BTreeSet<PathBuf>,
    /// The files that are left out and were not known, by the reason.
    left_out: Vec<LeftOut>,
}

impl Until<'_> {
    /// Notes a file that could not be stored, and whether it is to be tried again before it changes. Returns whether that is
    /// known already.
    fn is_known(&mut self, path: &Path, reason: Option<&String>, is_final: bool) -> bool {
        let known = self.failures.get(path);
        let pause = known.map_or(FIRST_RETRY, |known| (known.pause * 2).min(LONGEST_RETRY));
        let is_known = known.is_some_and(|known| known.reason.as_ref() == reason);
        if !is_final {
            self.again.push((path.to_owned(), pause));
        }
        self.failures.insert(path.to_owned(), Failure { reason: reason.cloned(), pause });
        is_known
    }
}

impl ImportObserver for Until<'_> {
    fn begin(&mut self, files: u64, bytes: u64) {
        if !self.is_news_only {
            self.observer.begin(files, bytes);
        }
    }

    fn read(&mut self, bytes: u64) {
        self.observer.read(bytes);
    }

    fn file(&mut self, report: &FileReport) {
        let is_known = match report.status {
            // What the store refuses stays refused until the file changes.
            ImportStatus::Failed => {
                self.is_known(&report.path, report.reason.as_ref(), report.refusal.is_some())
            }
            ImportStatus::LeftOut => {
                let is_known = !self.known_left_out.insert(report.path.clone());
                if let (false, Some(Refusal::LeftOut(reason))) = (is_known, report.refusal) {
                    LeftOut::count(&mut self.left_out, reason);
                }
                is_known
            }
            _ => {
                self.failures.remove(&report.path);
                false
            }
        };
        if !is_known && (!self.is_news_only || report.status != ImportStatus::Unchanged) {
            self.observer.file(report);
        }
    }

    fn beside(&mut self, report: &BesideReport) {
        let (path, reason) = (&report.path, report.reason.as_ref());
        let is_known = match report.status {
            BesideStatus::Failed => self.is_known(path, reason, false),
            BesideStatus::Skipped => self.is_known(path, reason, true),
            BesideStatus::Taken | BesideStatus::Unchanged => {
                self.failures.remove(path);
                false
            }
        };
        if !is_known && (!self.is_news_only || report.status != BesideStatus::Unchanged) {
            self.observer.beside(report);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.observer.is_stopped()
    }
}
