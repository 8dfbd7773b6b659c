//! Brings a folder of files in step with the store.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::beside;
use super::file::{Item, export_file};
use super::file_tree::FileTree;
use super::manifest::{Entry, Manifest};
use super::moved;
use super::places::{self, Listed, Unnamed};
use super::report::{ExportOptions, ExportOutcome, ExportReport, ExportTotals};
use crate::destination::{folder_of, refuse_no_folder, refuse_store};
use crate::error::Result;
use crate::lasting::sync_folder;
use crate::session::SessionReader;
use crate::store::Store;
use crate::temporary::remove_left;

/// How often a long export writes the manifest: after a crash, files that it lacks are compared again.
const MANIFEST_AGE: Duration = Duration::from_secs(10);

/// How deep the folders of sessions' files are: that of a program, of its sessions, and three for a day, or for a project and
/// the agents of a session.
const DEEPEST: usize = 5;

/// An export of all sessions in progress.
pub(super) struct FolderExport<'a> {
    pub(super) store: &'a Store,
    pub(super) tree: FileTree<'a>,
    pub(super) options: &'a ExportOptions,
    pub(super) manifest: Manifest,
    /// When the manifest was last written or read.
    noted: Instant,
    /// Folders in which files were created or renamed since then.
    touched: BTreeSet<PathBuf>,
    totals: ExportTotals,
    /// Whether the store has files that may stand beside sessions.
    has_files: bool,
    on_report: &'a mut dyn FnMut(&ExportReport),
}

impl<'a> FolderExport<'a> {
    pub(super) fn new(
        store: &'a Store,
        folder: &'a Path,
        options: &'a ExportOptions,
        on_report: &'a mut dyn FnMut(&ExportReport),
    ) -> Result<Self> {
        for folder in [Some(folder), options.mode.blobs()].into_iter().flatten() {
            refuse_store(folder, store.path())?;
            refuse_no_folder(folder)?;
        }
        Manifest::refuse_store(folder, store)?;
        let tree = FileTree::new(folder)?;
        Ok(Self {
            store,
            manifest: Manifest::read(tree.root(), store.number()?)?,
            tree,
            options,
            noted: Instant::now(),
            touched: BTreeSet::new(),
            totals: ExportTotals::default(),
            has_files: store.snapshot_to_read()?.has_files()?,
            on_report,
        })
    }

    /// Brings the files of all sessions in step, or of the chosen ones, or of those before the stop.
    pub(super) fn run(
        mut self,
        chosen: Option<&HashSet<String>>,
        stop: &AtomicBool,
    ) -> Result<ExportTotals> {
        let (sessions, unnamed) =
            places::list(self.store, &self.manifest, self.options.redactor())?;
        self.tidy(&sessions);
        let is_chosen =
            |session: &&Listed| chosen.is_none_or(|chosen| chosen.contains(&session.id));
        for session in sessions.iter().filter(is_chosen) {
            if stop.load(Ordering::Relaxed) {
                self.note()?;
                return Ok(self.totals);
            }
            self.export_session(session);
            if self.noted.elapsed() >= MANIFEST_AGE {
                // If this fails now, it fails at the end too, and is an error then.
                let _ = self.note();
                self.noted = Instant::now();
            }
        }
        if chosen.is_none() {
            let ids = sessions.iter().map(|session| session.id.as_str());
            let known = ids.chain(unnamed.iter().map(|session| session.id.as_str()));
            self.forget(&known.collect());
        }
        for Unnamed { id, error } in unnamed {
            if chosen.is_none_or(|chosen| chosen.contains(&id)) {
                // Its file, if there is one, stays as it is.
                let noted = self.manifest.get(&id).map(|entry| entry.path.clone());
                let path = self.tree.path(noted.as_deref().unwrap_or_default());
                self.report(&id, path, ExportOutcome::Failed(error));
            }
        }
        self.note()?;
        Ok(self.totals)
    }

    /// Removes what killed exports left behind, in all folders to which this one may write.
    fn tidy(&self, sessions: &[Listed]) {
        let noted = self.manifest.entries().map(|entry| &entry.path);
        let paths = sessions.iter().map(|session| &session.path).chain(noted);
        let mut folders: BTreeSet<_> =
            paths.filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned())).collect();
        // The manifest no longer names a folder whose sessions are gone.
        folders.extend(self.tree.folders(DEEPEST));
        self.tree.remove_left(&folders);
        self.options.mode.blobs().into_iter().for_each(remove_left);
    }

    fn export_session(&mut self, session: &Listed) {
        match self.manifest.get(&session.id).cloned() {
            Some(noted) if noted.path != session.path => {
                moved::export_moved(self, session, &noted);
            }
            noted => drop(self.export_item(session, noted)),
        }
    }

    /// Brings the file of a session in step, and reports it. Returns whether it is there.
    pub(super) fn export_item(&mut self, session: &Listed, noted: Option<Entry>) -> bool {
        let outcome = self
            .tree
            .place(&session.path)
            .and_then(|place| export_file(self, &Item { session, place, noted }));
        let outcome = outcome.unwrap_or_else(ExportOutcome::Failed);
        let is_there = matches!(outcome, ExportOutcome::Written { .. } | ExportOutcome::Unchanged);
        let is_failed = matches!(outcome, ExportOutcome::Failed(_));
        self.report(&session.id, self.tree.path(&session.path), outcome);
        if self.has_files && !is_failed {
            beside::export(self, session);
        }
        is_there
    }

    /// The session as it is now.
    pub(super) fn reader(&self, session: &Listed) -> Result<SessionReader> {
        SessionReader::open(self.store.snapshot_to_read()?, (session.key, &session.id))
    }

    /// A file has got its name.
    pub(super) fn touch(&mut self, path: &Path) {
        let folder = folder_of(path);
        if !self.touched.contains(folder) {
            self.touched.insert(folder.to_owned());
        }
    }

    /// Makes the names of files and folders durable before the manifest records them: it must not name a file that a system crash
    /// could undo.
    fn note(&mut self) -> Result<()> {
        self.touched.extend(self.tree.take_grown());
        std::mem::take(&mut self.touched).iter().for_each(|folder| sync_folder(folder));
        if self.manifest.is_changed() {
            self.manifest.write(&self.tree.make_root()?, self.store)
        } else {
            Ok(())
        }
    }

    /// Reports the files whose sessions are gone, for the last time.
    fn forget(&mut self, known: &HashSet<&str>) {
        for entry in self.manifest.forget_all_but(known) {
            let path = self.tree.path(&entry.path);
            let place = self.tree.place(&entry.path);
            if place.is_ok_and(|place| matches!(place.look(), Ok(Some(_)))) {
                let reason = "its session is not in the store any longer".to_owned();
                self.report(&entry.session, path, ExportOutcome::Left { reason });
            }
        }
    }

    pub(super) fn report(&mut self, session: &str, path: PathBuf, outcome: ExportOutcome) {
        let (session, is_beside) = (session.to_owned(), false);
        self.tell(&ExportReport { session, path, is_beside, outcome });
    }

    /// Counts a report, and passes it on.
    pub(super) fn tell(&mut self, report: &ExportReport) {
        self.totals.add(report);
        (self.on_report)(report);
    }
}
