//! Bulk import: files and folders become sessions.

pub(crate) mod agents;
pub(crate) mod beginning;
mod beside;
mod blob_folder;
mod budget;
pub(crate) mod candidate;
mod dictionary;
pub(crate) mod digest;
mod folder;
mod grow;
mod input;
mod items;
mod journaled;
pub(crate) mod known;
mod losses;
mod merged;
mod name;
mod notes;
pub(super) mod pipeline;
mod quick;
mod read;
pub(super) mod report;
pub(crate) mod saved_state;
mod standing;
mod writer;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};

use crossbeam_channel::unbounded;

use self::beside::Taking;
use self::blob_folder::BlobFolder;
use self::folder::find_with_beside;
pub(super) use self::folder::{FoundFile, NotFound, find as find_files};
#[cfg(feature = "watch")]
pub(super) use self::folder::{file_beside, is_in_home, is_named_as_session};
use self::input::Input;
use self::notes::Notes;
use self::pipeline::Stopped;
use self::read::{Mode, Reader};
pub use self::report::{
    BesideReport, BesideStatus, BesideTotals, FileReport, ImportObserver, ImportOptions,
    ImportStatus, ImportTotals, LeftOut, Recovery, Refusal,
};
pub use self::standing::{FileBehind, FolderStanding, LastSeen};
use self::writer::Writer;
use super::programs;
use crate::error::{FileContext, ImportError, Result};
use crate::store::Store;
use crate::store::owner::Owner;

/// A compaction is worthwhile if an import has added a quarter of the file.
const COMPACT_SHARE: u64 = 4;

/// And if the file is at least this large: 16 MiB.
const COMPACT_FROM: u64 = 16 << 20;

/// The reason given for a file that fails after that many attempts.
const KEPT_CHANGING: &str =
    "another process kept changing this session; import it again when that is done";

/// How often an import retries a file whose session another process changes at the same time.
const ATTEMPTS: u32 = 8;

/// What a stream is called in its report.
const STREAM: &str = "-";

/// How files are imported.
struct How<'h> {
    options: &'h ImportOptions,
    mode: Mode,
    /// The paths that the caller has named.
    named: &'h HashSet<PathBuf>,
}

impl Store {
    /// Imports files, and the `*.jsonl` files of folders and of the folders in them.
    ///
    /// Each file is stored as a whole or not at all; what a report calls imported is on disk. A file that is not a
    /// session, or that cannot be read, is reported and does not affect the others. One that is not a session is skipped if it
    /// is in one of the folders, and has failed if its own path is given. A path that is given and cannot be read is an error, after
    /// all others are imported. The totals count the files of folders that are
    /// [left out](ImportTotals::left_out), because their names show a form of sessions that is not read. Memory is bounded by
    /// 256 MB and the longest line, whatever the files' sizes.
    ///
    /// What a program keeps beside its sessions, such as long outputs of tools, comes after them: files in the folder with the name
    /// of a session's file without `.jsonl`, and below it, and those that Claude Code keeps for a session elsewhere in its home. They
    /// are stored as they are, by their paths;
    /// [`SessionReader::files_beside`](crate::SessionReader::files_beside) lists them. One of the same size and time of
    /// modification as in the store is not opened. One that is gone stays in the store.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("session.jsonl");
    /// std::fs::write(&file, concat!(
    ///     r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#, "\n",
    ///     r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi"}}"#, "\n",
    /// )).unwrap();
    /// let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// let totals = store.import(&[&file], &leafline::import::ImportOptions::default(), &mut ())?;
    /// assert_eq!((totals.imported, totals.entries), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ImportError::Unreadable`] if one of the paths is not there or cannot be read; [`Error::File`](crate::Error::File) if the folder of
    /// blobs is not there; if the store itself fails. The failure of a file in a folder is in its report.
    pub fn import(
        &self,
        paths: &[impl AsRef<Path>],
        options: &ImportOptions,
        observer: &mut dyn ImportObserver,
    ) -> Result<ImportTotals> {
        check_blobs(options)?;
        let named = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        let how = How { options, mode: Mode::Import, named: &named };
        self.import_by((paths, &[]), &how, observer)
    }

    /// Brings the store in step with files and folders: does what [`Self::import`] does, at the cost of what is new.
    ///
    /// A file with the same size and time of modification as when it was imported is not opened. Of a longer file, only
    /// the beginning (4 KiB) and the last block (1 MiB at most) are compared, and its new lines are added; any other
    /// file is compared as a whole. A last line without an end is left for later if the file was written less than two
    /// seconds ago. Sessions whose files are gone stay.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("session.jsonl");
    /// # let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
    /// # std::fs::write(&file, format!("{header}\n")).unwrap();
    /// let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// let totals = store.sync(&[folder.path()], &leafline::import::ImportOptions::default(), &mut ())?;
    /// assert_eq!(totals.imported, 1);
    /// let totals = store.sync(&[folder.path()], &leafline::import::ImportOptions::default(), &mut ())?;
    /// assert_eq!(totals.unchanged, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Self::import`].
    pub fn sync(
        &self,
        paths: &[impl AsRef<Path>],
        options: &ImportOptions,
        observer: &mut dyn ImportObserver,
    ) -> Result<ImportTotals> {
        check_blobs(options)?;
        let named = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        let how = How { options, mode: Mode::Sync, named: &named };
        self.import_by((paths, &[]), &how, observer)
    }

    /// The same, and takes these files beside sessions.
    #[cfg(feature = "watch")]
    pub(super) fn sync_with_beside(
        &self,
        paths: (&[&PathBuf], &[PathBuf]),
        options: &ImportOptions,
        observer: &mut dyn ImportObserver,
    ) -> Result<ImportTotals> {
        let how = How { options, mode: Mode::Follow, named: &HashSet::new() };
        self.import_by(paths, &how, observer)
    }

    /// Imports one session from a stream: what [`Self::import`] does with a file that has these bytes.
    ///
    /// There is no file to find again, so the session gets no path: it does not count among those
    /// [without files](Self::without_files), and a file with the same session that is imported later becomes its file. Its
    /// id is the one that its lines state; without one it is skipped. The report has `-` as its path. The bytes are
    /// kept until the end of the import in a file without a name, beside the store, and not in memory.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// let store = leafline::Store::in_memory()?;
    /// let session = concat!(
    ///     r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#, "\n",
    /// );
    /// let options = leafline::import::ImportOptions::default();
    /// let totals = store.import_from(&mut session.as_bytes(), &options, &mut ())?;
    /// assert_eq!(totals.imported, 1);
    /// let totals = store.import_from(&mut session.as_bytes(), &options, &mut ())?;
    /// assert_eq!(totals.unchanged, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ImportError::Unreadable`] if the stream cannot be read; those of [`Self::import`] otherwise.
    pub fn import_from(
        &self,
        input: &mut dyn Read,
        options: &ImportOptions,
        observer: &mut dyn ImportObserver,
    ) -> Result<ImportTotals> {
        check_blobs(options)?;
        self.sweep()?;
        let temporary = std::env::temp_dir();
        let beside = self.path().parent().filter(|_| !self.is_in_memory());
        let folder = match beside {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => &temporary,
        };
        let kept = input::keep(input, options.family, folder, &|| observer.is_stopped());
        let named = HashSet::from([PathBuf::from(STREAM)]);
        let how = How { options, mode: Mode::Import, named: &named };
        let mut outcome = Outcome::new(observer, how.named);
        let mut report = FileReport::new(STREAM.into(), ImportStatus::Failed);
        let measured = |file: std::fs::File| Ok((file.metadata()?, file));
        let (metadata, file) = match kept {
            Ok(Input::Stopped) => return outcome.finish(),
            Ok(Input::NoSession { bytes, reason }) => {
                report.status = ImportStatus::Skipped;
                report.bytes = bytes;
                outcome.add(&report.with_reason(reason.to_string()));
                return outcome.finish();
            }
            Ok(Input::Whole(file)) => match measured(file) {
                Ok(measured) => measured,
                Err(error) => return outcome.failed(report, &error),
            },
            Err(error) => return outcome.failed(report, &error),
        };
        let found = FoundFile::kept(STREAM.into(), file, &metadata);
        self.import_found((vec![found], Vec::new()), &how, options.blobs.clone(), outcome)
    }

    fn import_by(
        &self,
        (paths, beside): (&[impl AsRef<Path>], &[PathBuf]),
        how: &How<'_>,
        observer: &mut dyn ImportObserver,
    ) -> Result<ImportTotals> {
        self.sweep()?;
        let mut outcome = Outcome::new(observer, how.named);
        let snapshot = self.committed()?;
        // If this row is damaged, that is found where it matters.
        let is_known = |path: &Path| {
            matches!(snapshot.session_at(path.as_os_str().as_encoded_bytes()), Ok(Some(_)))
        };
        let mut failed = |path: &Path, problem: &NotFound| outcome.add(&not_found(path, problem));
        let (files, mut found) =
            find_with_beside((paths, how.options.restore), &is_known, &mut failed);
        drop(snapshot);
        found.extend_from_slice(beside);
        let blobs = how.options.blobs.clone().or_else(|| programs::blobs_of(paths));
        self.import_found((files, found), how, blobs, outcome)
    }

    fn import_found(
        &self,
        (files, beside): (Vec<FoundFile>, Vec<PathBuf>),
        how: &How<'_>,
        blobs: Option<PathBuf>,
        mut outcome: Outcome<'_>,
    ) -> Result<ImportTotals> {
        outcome.expect(&files);
        let owner = self.begin_owner()?;
        let blobs = blobs.map(BlobFolder::new);
        let run = self.import_files(files, how, blobs.as_ref(), &owner, &mut outcome);
        let largest = how.options.largest_file_beside;
        let run = run.and_then(|()| Taking::new(self, largest, &mut outcome).take(beside));
        let swept = self.sweep_own(&owner);
        let totals = outcome.finish();
        run?;
        swept?;
        totals
    }

    fn import_files(
        &self,
        files: Vec<FoundFile>,
        how: &How<'_>,
        blobs: Option<&BlobFolder>,
        owner: &Owner,
        outcome: &mut Outcome<'_>,
    ) -> Result<()> {
        let mut files = files;
        let mut apart = HashMap::new();
        for attempt in 1.. {
            let notes = Notes::new(self, attempt == 1);
            let again =
                self.import_once((&files, &mut apart), how, blobs, (owner, notes), outcome)?;
            if again.is_empty() || outcome.observer.is_stopped() {
                break;
            }
            files.retain(|file| again.contains(&file.path));
            if attempt == ATTEMPTS {
                for FoundFile { path, .. } in &files {
                    let report = FileReport::new(path.clone(), ImportStatus::Failed);
                    outcome.add(&report.with_reason(KEPT_CHANGING));
                }
                break;
            }
        }
        Ok(())
    }

    /// Imports the files. Returns those that must be examined again: another process has changed their session meanwhile, or they
    /// cannot be merged with it. These are added to `apart`, with the reason.
    fn import_once(
        &self,
        (files, apart): (&[FoundFile], &mut HashMap<PathBuf, String>),
        how: &How<'_>,
        blobs: Option<&BlobFolder>,
        (owner, notes): (&Owner, Notes<'_>),
        outcome: &mut Outcome<'_>,
    ) -> Result<Vec<PathBuf>> {
        let (send, ended) = unbounded();
        let writer = Writer::new(self, owner, blobs, send);
        let mut again = Again::default();
        let mut reader_error = None;
        let written = pipeline::run(writer, blobs, |feeder| {
            let choice = dictionary::Choice::new(self, files);
            let how = (how.options, how.mode);
            let mut reader = Reader::new(self, how, blobs, choice, (notes, &*apart));
            let mut in_flight = HashSet::new();
            for file in files {
                if outcome.observer.is_stopped() {
                    break;
                }
                while let Ok(ended) = ended.try_recv() {
                    outcome.end(ended, &mut again);
                }
                match reader.read_file(file, &mut in_flight, feeder, outcome) {
                    Ok(Ok(())) => {}
                    // In the middle of the file; the notes on those before it count.
                    Ok(Err(Stopped)) if outcome.observer.is_stopped() => break,
                    Ok(Err(Stopped)) => return Err(Stopped),
                    Err(error) => {
                        reader_error = Some(error);
                        return Err(Stopped);
                    }
                }
            }
            match reader.finish(outcome) {
                Ok(files) => again.files.extend(files),
                Err(error) => {
                    reader_error = Some(error);
                    return Err(Stopped);
                }
            }
            Ok(())
        });
        for ended in ended {
            outcome.end(ended, &mut again);
        }
        written?;
        apart.extend(again.apart);
        reader_error.map_or(Ok(again.files), Err)
    }

    /// Whether compacting the store is worthwhile after an import: what was new is a quarter of the file or more, and nobody
    /// else has the store open, so that the file gets shorter.
    ///
    /// # Errors
    ///
    /// [`crate::Error::File`] if the file's size cannot be read.
    pub fn is_worth_compacting(&self, totals: &ImportTotals) -> Result<bool> {
        let file = self.file_bytes()?;
        let is_much =
            file >= COMPACT_FROM && totals.new_bytes.saturating_mul(COMPACT_SHARE) >= file;
        Ok(is_much && !self.is_open_elsewhere())
    }
}

/// Fails if the caller has named a folder of blobs that is not there.
fn check_blobs(options: &ImportOptions) -> Result<()> {
    match &options.blobs {
        Some(blobs) => std::fs::read_dir(blobs).map(drop).at("looking for blobs in", blobs),
        None => Ok(()),
    }
}

/// The report of a file or folder that cannot be examined.
fn not_found(path: &Path, problem: &NotFound) -> FileReport {
    let (status, refusal) = match problem {
        NotFound::Failed(_) => (ImportStatus::Failed, Some(Refusal::Unreadable)),
        NotFound::Loop | NotFound::Nowhere => (ImportStatus::Skipped, None),
        NotFound::LeftOut(reason) => (ImportStatus::LeftOut, Some(Refusal::LeftOut(*reason))),
    };
    let report = FileReport::new(path.to_owned(), status).with_reason(problem.to_string());
    FileReport { refusal, ..report }
}

/// Adds up reports, and passes them on in the order of the files: a report waits for those before it.
struct Outcome<'o> {
    totals: ImportTotals,
    observer: &'o mut dyn ImportObserver,
    /// The paths that the caller has named, and the reports of those that cannot be read.
    named: &'o HashSet<PathBuf>,
    unreadable: Vec<FileReport>,
    /// The indices of each path among the files; a path may be named more than once.
    places: HashMap<PathBuf, VecDeque<usize>>,
    waiting: BTreeMap<usize, FileReport>,
    next: usize,
}

impl<'o> Outcome<'o> {
    fn new(observer: &'o mut dyn ImportObserver, named: &'o HashSet<PathBuf>) -> Self {
        Self {
            totals: ImportTotals::default(),
            observer,
            named,
            unreadable: Vec::new(),
            places: HashMap::new(),
            waiting: BTreeMap::new(),
            next: 0,
        }
    }

    /// Takes the list of files; their reports arrive in any order.
    fn expect(&mut self, files: &[FoundFile]) {
        for (place, file) in files.iter().enumerate() {
            self.places.entry(file.path.clone()).or_default().push_back(place);
        }
        self.observer.begin(files.len() as u64, files.iter().map(|file| file.bytes).sum());
    }

    fn add(&mut self, report: &FileReport) {
        let mut report = Cow::Borrowed(report);
        if self.named.contains(&report.path) {
            if report.status == ImportStatus::Skipped && !report.path.is_dir() {
                let report = report.to_mut();
                report.status = ImportStatus::Failed;
                report.refusal = Some(Refusal::NotASession);
            }
            if report.refusal == Some(Refusal::Unreadable) {
                self.unreadable.push(report.clone().into_owned());
            }
        }
        self.totals.add(&report);
        let place = self.places.get_mut(&report.path).and_then(VecDeque::pop_front);
        let Some(place) = place else {
            // Not one of the files: a path that could not be read.
            self.observer.file(&report);
            return;
        };
        self.waiting.insert(place, report.into_owned());
        while let Some(report) = self.waiting.remove(&self.next) {
            self.observer.file(&report);
            self.next += 1;
        }
    }

    /// Ends an import whose only file could not be read.
    fn failed(mut self, report: FileReport, error: &std::io::Error) -> Result<ImportTotals> {
        self.add(&report.refused(Refusal::Unreadable, error.to_string()));
        self.finish()
    }

    fn end(&mut self, ended: writer::Outcome, again: &mut Again) {
        match ended {
            writer::Outcome::Final(report) => self.add(&report),
            writer::Outcome::Again(path) => again.files.push(path),
            writer::Outcome::Apart(path, reason) => {
                again.files.push(path.clone());
                again.apart.push((path, reason));
            }
        }
    }

    /// Passes on the reports that are still waiting after an import that was cut short.
    fn finish(self) -> Result<ImportTotals> {
        for report in self.waiting.values() {
            self.observer.file(report);
        }
        let (reports, totals) = (self.unreadable, self.totals);
        if reports.is_empty() {
            return Ok(totals);
        }
        Err(ImportError::Unreadable { reports, totals: Box::new(totals) }.into())
    }
}

/// The files that must be examined again.
#[derive(Default)]
struct Again {
    files: Vec<PathBuf>,
    /// Those that cannot be merged with their session, and why.
    apart: Vec<(PathBuf, String)>,
}

/// A step of reading: the outer result is the store's, the inner says whether the pipeline goes on.
type Step<T = ()> = Result<Result<T, Stopped>>;

/// Unwraps a step of the pipeline within a function that returns a [`Step`].
macro_rules! go_on {
    ($step:expr) => {
        match $step {
            Ok(value) => value,
            Err(stopped) => return Ok(Err(stopped)),
        }
    };
}
use go_on;
