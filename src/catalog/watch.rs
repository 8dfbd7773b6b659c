//! Keeps the store in step with folders while others write to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::import::{FileReport, ImportObserver, ImportOptions, ImportStatus};
use crate::error::{Error, Result};
use crate::store::Store;

/// How long a file is left alone after an event: a writer makes several calls in a row.
const SETTLING: Duration = Duration::from_millis(50);

/// After this a file is checked once more: by then a last line without an end counts, and the modification time is
/// reliable.
const QUIET: Duration = Duration::from_millis(2_200);

/// How long a request to stop can go unnoticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Files and folders that are kept in step; see [`Store::watch`].
#[derive(Debug)]
pub struct Watch {
    store: Store,
    options: ImportOptions,
    roots: Vec<PathBuf>,
    events: Receiver<notify::Result<Event>>,
    /// When to check a path, and whether that is the last time for now.
    due: BTreeMap<PathBuf, (Instant, bool)>,
    /// Sends events while it exists.
    _watcher: RecommendedWatcher,
}

impl Store {
    /// Watches files, and folders with everything in them. Changes from now on are noticed; [`Watch::run`] treats them
    /// as [`Self::sync`] does, and begins with a sync of everything.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the system allows no more watches, or if a path cannot be watched.
    pub fn watch(&self, paths: &[impl AsRef<Path>], options: &ImportOptions) -> Result<Watch> {
        let (send, events) = unbounded();
        let failed = |path: &Path, error: notify::Error| Error::File {
            action: "watching",
            path: path.to_owned(),
            source: std::io::Error::other(error),
        };
        let first = paths.first().map_or(Path::new("."), AsRef::as_ref);
        // The receiver may be gone; then nothing is missed.
        let mut watcher = notify::recommended_watcher(move |event| drop(send.send(event)))
            .map_err(|error| failed(first, error))?;
        let mut roots = Vec::new();
        for path in paths.iter().map(AsRef::as_ref) {
            // A file is watched through its folder: a file renamed to its path is another file.
            let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let mode =
                if path.is_dir() { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            watcher.watch(folder, mode).map_err(|error| failed(path, error))?;
            roots.push(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        }
        let options = options.clone();
        Ok(Watch {
            store: self.clone(),
            options,
            roots,
            events,
            due: BTreeMap::new(),
            _watcher: watcher,
        })
    }
}

impl Watch {
    /// Keeps the store in step until `stop` is set, which is noticed within a tenth of a second, or after the current
    /// file, also during the initial sync of everything. What was stored until then stays.
    ///
    /// A file's new lines are stored some 50 ms after they were written; a last line without an end, once nothing was
    /// written for two seconds. Files that are gone are skipped, and their sessions stay.
    ///
    /// # Errors
    ///
    /// If the store itself fails; a file's failure is in its report.
    pub fn run(&mut self, observer: &mut dyn ImportObserver, stop: &AtomicBool) -> Result<()> {
        let mut all = Until { observer, stop, is_news_only: false };
        self.store.sync(&self.roots, &self.options, &mut all)?;
        let now = Instant::now();
        for root in self.roots.clone() {
            self.due.insert(root, (now + QUIET, true));
        }
        while !stop.load(Ordering::Relaxed) {
            self.wait();
            self.look(observer, stop)?;
        }
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
        let soon = (Instant::now() + SETTLING, false);
        match event {
            Ok(event) if !event.need_rescan() => {
                if matches!(event.kind, EventKind::Access(_)) {
                    return;
                }
                for path in event.paths {
                    if !self.is_watched(&path) {
                        continue;
                    }
                    let due = self.due.entry(path).or_insert(soon);
                    // A path that is due soon stays due, however much is written meanwhile.
                    if due.1 {
                        *due = soon;
                    }
                }
            }
            // Events were lost: everything is checked.
            Ok(_) | Err(_) => self.due.extend(self.roots.iter().map(|root| (root.clone(), soon))),
        }
    }

    /// Whether a path can be a session's file, or a folder of such files: other changes beside a watched file are
    /// ignored.
    fn is_watched(&self, path: &Path) -> bool {
        let is_file = path.extension().is_some_and(|extension| extension == "jsonl");
        let is_below = |root: &PathBuf| path.starts_with(root) && root.is_dir();
        self.roots.iter().any(|root| path == root)
            || ((is_file || path.is_dir()) && self.roots.iter().any(is_below))
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
        if there.is_empty() {
            return Ok(());
        }
        let mut news = Until { observer, stop, is_news_only: true };
        self.store.sync(&there, &self.options, &mut news).map(drop)
    }
}

/// Passes on what a sync has found, until it is stopped.
struct Until<'o> {
    observer: &'o mut dyn ImportObserver,
    stop: &'o AtomicBool,
    /// Whether files with nothing new, and how many there are, are left out.
    is_news_only: bool,
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
        if !self.is_news_only || report.status != ImportStatus::Unchanged {
            self.observer.file(report);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.observer.is_stopped()
    }
}
