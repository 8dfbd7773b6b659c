//! The catalog's functions for session files that are not imported.

mod facts;
mod reading;
mod recent;
mod torn;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

pub use self::facts::FileFacts;
use self::reading::FileReader;
pub use self::recent::RecentSession;
use super::filter::{SessionFilter, Sieve};
use super::import::candidate::Candidate;
use super::import::report::{FileReport, ImportStatus, Recovery};
use super::import::{FoundFile, NotFound, beginning, find_files};
use super::order::Ordered;
use super::programs::program_folders;
use crate::destination::absolute_or_given;

/// Session files, and folders of them, that need not be imported.
///
/// It finds the files as [`crate::Store::import`] does, and lists for them what the store lists for sessions; no store
/// is needed, and nothing is written. [`Self::list`] reads whole files, as pi's `SessionManager.list` and `listAll` do
/// (observed). [`Self::get_recent_sessions`] and [`Self::find_most_recent`] read only 4,096 bytes of the newest files
/// (omp session storage document).
///
/// A file that is not a session is left out; one that cannot be read is reported in [`FileList::unreadable`].
///
/// ```
/// use leafline::files::SessionFiles;
/// use leafline::list::SessionFilter;
///
/// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples");
/// let files = SessionFiles::new([samples]);
/// for session in files.list(&SessionFilter::default()).sessions {
///     println!("{}: {} messages in {}", session.id, session.messages, session.path.display());
/// }
/// for session in files.get_recent_sessions(3).sessions {
///     println!("{}", session.name());
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFiles {
    paths: Vec<PathBuf>,
}

/// What was found in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileList<T> {
    /// The sessions.
    pub sessions: Vec<T>,
    /// The files that could not be read, in the order in which they were found.
    pub unreadable: Vec<UnreadableFile>,
}

/// A file or folder that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableFile {
    /// The file or folder.
    pub path: PathBuf,
    /// Why not, in words.
    pub reason: String,
}

/// What a file turned out to be.
enum Outcome {
    NoSession,
    Unreadable(UnreadableFile),
    Session(Box<FileFacts>),
    /// A session that the filter excludes, with its id.
    LeftOut(String),
}

impl SessionFiles {
    /// These files, and the `*.jsonl` files of these folders and of the folders in them. Relative paths begin in the working
    /// directory of this moment.
    pub fn new(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { paths: paths.into_iter().map(|path| absolute_or_given(path.into())).collect() }
    }

    /// The folders in which the programs keep their sessions: those of [`program_folders`] that exist.
    #[must_use]
    pub fn of_programs() -> Self {
        let folders = program_folders().into_iter().filter(super::programs::ProgramFolder::exists);
        let mut paths: Vec<PathBuf> = folders.map(|folder| folder.path).collect();
        // Programs may share a folder.
        paths.sort();
        paths.dedup();
        Self::new(paths)
    }

    /// The sessions that a filter accepts, in its order; equal ones follow by id, then by path. The facts of each are
    /// those that [`crate::Store::list`] would return once the files were imported, except as [`FileFacts`] says.
    ///
    /// Every file that the filter may accept is read whole, by as many threads as the machine has cores; each holds a
    /// block of a file and its longest line in memory. [`SessionFilter::without_agents`] excludes the conversations of
    /// agents whose session is among the files.
    #[must_use]
    pub fn list(&self, filter: &SessionFilter) -> FileList<FileFacts> {
        let (files, mut unreadable) = self.find();
        let mut sessions = Vec::new();
        let mut ids = HashSet::new();
        for outcome in read_files(&files, filter) {
            match outcome {
                Outcome::NoSession => {}
                Outcome::Unreadable(file) => unreadable.push(file),
                Outcome::LeftOut(id) => drop(ids.insert(id)),
                Outcome::Session(facts) => {
                    ids.insert(facts.id.clone());
                    sessions.push(*facts);
                }
            }
        }
        if filter.without_agents {
            let is_here = |parent: &String| ids.contains(parent);
            sessions.retain(|facts| {
                facts.agent.is_none() || !facts.parent_session.as_ref().is_some_and(is_here)
            });
        }
        sessions.sort_by(|a, b| a.path.cmp(&b.path));
        let mut listed = Ordered::new(filter);
        sessions.into_iter().for_each(|facts| listed.push(facts));
        FileList { sessions: listed.finish(), unreadable }
    }

    /// All sessions, the one with the latest message first.
    #[must_use]
    pub fn list_all(&self) -> FileList<FileFacts> {
        self.list(&SessionFilter::default())
    }

    fn find(&self) -> (Vec<FoundFile>, Vec<UnreadableFile>) {
        let mut unreadable = Vec::new();
        let files = find_files(&self.paths, &mut |path, problem| {
            if !matches!(problem, NotFound::LeftOut(_)) {
                let (path, reason) = (path.to_owned(), problem.to_string());
                unreadable.push(UnreadableFile { path, reason });
            }
        });
        (files, unreadable)
    }
}

/// Reads the files in parallel. Returns the results in their order.
fn read_files(files: &[FoundFile], filter: &SessionFilter) -> Vec<Outcome> {
    let sieve = Sieve::new(filter);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let read = || {
        let mut reader = FileReader::new();
        let mut read = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(place) else { return read };
            read.push((place, read_file(file, &sieve, &mut reader)));
        }
    };
    let mut outcomes = std::thread::scope(|scope| {
        // The system may give fewer threads, or none.
        let start = |_| Builder::new().spawn_scoped(scope, read).ok();
        let others: Vec<_> = (1..cores.min(files.len())).map_while(start).collect();
        let mut outcomes = read();
        for other in others {
            let others = other.join();
            outcomes.extend(others.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        outcomes
    });
    outcomes.sort_by_key(|(place, _)| *place);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn read_file(file: &FoundFile, sieve: &Sieve<'_>, reader: &mut FileReader) -> Outcome {
    let mut candidate = match Candidate::open(&file.path, None, Recovery::Documented) {
        Ok(candidate) => candidate,
        Err(report) => return unreadable(*report).map_or(Outcome::NoSession, Outcome::Unreadable),
    };
    let record = beginning::record_of(&candidate, 1);
    if !sieve.takes_place(&record) {
        return Outcome::LeftOut(record.id());
    }
    match reader.read(&mut candidate, record) {
        Ok(record) if sieve.takes(&record) => {
            Outcome::Session(Box::new(FileFacts::of(&candidate, record)))
        }
        Ok(record) => Outcome::LeftOut(record.id()),
        Err(error) => Outcome::Unreadable(UnreadableFile {
            path: file.path.clone(),
            reason: format!("reading it: {error}"),
        }),
    }
}

/// The file, if an import would report that it cannot be read; any other is not a session.
fn unreadable(report: FileReport) -> Option<UnreadableFile> {
    let reason = report.reason.unwrap_or_default();
    (report.status == ImportStatus::Failed).then_some(UnreadableFile { path: report.path, reason })
}
