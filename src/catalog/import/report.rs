//! The reports of an import: one for each file, and the totals.

use std::io;
use std::path::PathBuf;

use leafline_import::lines::{LONGEST_LINE, LineTooLong};
use leafline_import::{Family, LeftOutReason};
use serde::{Serialize, Serializer};

use super::beside::LARGEST;
use crate::catalog::path_text;
use crate::store::removed_record::RemovedRecord;
use crate::store::session_record::SessionRecord;

/// How an import works.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The family of the files; `None` detects it from their content.
    pub family: Option<Family>,
    /// A folder of blobs, each named by the SHA-256 of its bytes in hex, from which references are resolved. `None`
    /// uses omp's own, `.omp/agent/blobs`, if a path of the import is, or is in, `.omp/agent/sessions` beside it.
    pub blobs: Option<PathBuf>,
    /// Which records are recovered from lines that are not JSON.
    pub recovery: Recovery,
    /// Lets a file replace the session it was imported as even if the session has something that the file lacks. Otherwise the
    /// two are merged if both continue the same beginning, and both are kept if not.
    pub replace: bool,
    /// Imports files of sessions again that were removed from the store. For a named file, the agents in the folder beside it are
    /// imported too, since they were removed with it.
    pub restore: bool,
    /// The most bytes of a line, its terminator aside: [`LONGEST_LINE`] by default, 1 GiB. A line is held in memory as a
    /// whole. A file with a longer one fails, with the byte at which the line begins, and does not affect the others.
    pub longest_line: u64,
    /// The most bytes of a file beside a session: 256 MiB by default. It is held in memory as a whole. A larger one is reported
    /// and left.
    pub largest_file_beside: u64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            family: None,
            blobs: None,
            recovery: Recovery::default(),
            replace: false,
            restore: false,
            longest_line: LONGEST_LINE,
            largest_file_beside: LARGEST,
        }
    }
}

/// Which records are recovered from lines that are not JSON, because they have several records or a torn one whose id
/// can be read. They become entries; the line's bytes stay the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// Those in Claude Code's files. pi and omp skip such lines, and so does Leafline with this rule.
    #[default]
    Documented,
    /// Those in pi's and omp's files as well. A migration still reads lines as its program does.
    All,
    /// None.
    None,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ImportStatus {
    /// A new session.
    Imported,
    /// The session had the file's beginning, and now has all of it; lines that only the session had follow the file's.
    Grown,
    /// The session has all of the file.
    Unchanged,
    /// The session's lines differed, and were replaced by the file's.
    Replaced,
    /// The file is not a session, and was found in a folder.
    Skipped,
    /// The file was found in a folder, and holds a session in a form that is not read; [`Refusal::LeftOut`] has the reason.
    #[serde(rename = "left_out")]
    LeftOut,
    /// Its session was removed from the store, and stays so; [`Refusal::Removed`] says when. With
    /// [`ImportOptions::restore`] it is imported again.
    Removed,
    /// Nothing was stored, for the reason given.
    Failed,
}

/// Why the store did not accept a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The file is not a session, and its own path was given; in a folder it is [skipped](ImportStatus::Skipped).
    NotASession,
    /// The file was found in a folder, and its form is not read.
    LeftOut(LeftOutReason),
    /// The session is damaged, and the file cannot restore it. [`crate::Store::verify`] says more.
    Damaged,
    /// The session was removed from the store. [`ImportOptions::restore`] imports it again.
    Removed {
        /// When, in milliseconds since 1970.
        at: i64,
    },
    /// A line of the file is longer than [`ImportOptions::longest_line`].
    LongLine,
    /// The file or folder is not there, or the system does not let it be read.
    Unreadable,
}

/// Why a file could not be read to its end.
pub(super) fn unread(error: &io::Error) -> (Refusal, String) {
    let is_long = error.get_ref().is_some_and(|inner| inner.is::<LineTooLong>());
    let refusal = if is_long { Refusal::LongLine } else { Refusal::Unreadable };
    (refusal, format!("reading it: {error}"))
}

/// One file's outcome.
#[derive(Debug, Clone, Serialize)]
pub struct FileReport {
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// What became of it.
    pub status: ImportStatus,
    /// The id under which the session is addressed.
    pub session: Option<String>,
    /// The family.
    pub family: Option<Family>,
    /// The version that the file's header states; 1 if it states none.
    pub version: Option<u32>,
    /// Lines of the session.
    pub lines: u64,
    /// Entries of the session.
    pub entries: u64,
    /// Lines that are not JSON.
    pub malformed: u64,
    /// The file's size in bytes.
    pub bytes: u64,
    /// Why it was skipped or failed, or another remark.
    pub reason: Option<String>,
    /// If it was not stored: the reason, where a caller may act on it.
    #[serde(skip)]
    pub refusal: Option<Refusal>,
    /// Bytes of the file that this import stored: all, what it had gained, or none.
    #[serde(skip)]
    pub stored: u64,
}

impl FileReport {
    pub(super) fn new(path: PathBuf, status: ImportStatus) -> Self {
        Self {
            path,
            status,
            session: None,
            family: None,
            version: None,
            lines: 0,
            entries: 0,
            malformed: 0,
            bytes: 0,
            reason: None,
            refusal: None,
            stored: 0,
        }
    }

    /// Puts the session's counts into the report.
    pub(super) fn describe(&mut self, record: &SessionRecord) {
        self.session = Some(record.id());
        self.lines = record.physical_lines();
        self.entries = record.entries;
        self.malformed = record.malformed + record.dropped;
    }

    pub(super) fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.add_reason(reason);
        self
    }

    /// The report on a file that could not be read to its end.
    pub(super) fn unread(self, error: &io::Error) -> Self {
        let (refusal, reason) = unread(error);
        self.refused(refusal, reason)
    }

    /// The report on a file of a session that was removed.
    pub(super) fn of_removed(mut self, removed: &RemovedRecord) -> Self {
        self.session = Some(removed.id());
        let refusal = Refusal::Removed { at: removed.at };
        self.refused(refusal, "its session was removed from the store")
    }

    pub(super) fn refused(mut self, refusal: Refusal, reason: impl Into<String>) -> Self {
        self.refusal = Some(refusal);
        self.with_reason(reason)
    }

    pub(super) fn add_reason(&mut self, reason: impl Into<String>) {
        match &mut self.reason {
            Some(known) => {
                known.push_str("; ");
                known.push_str(&reason.into());
            }
            none => *none = Some(reason.into()),
        }
    }
}

/// What happened to a file beside a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BesideStatus {
    /// The store did not have it, or not with these bytes: now it has.
    Taken,
    /// The store has it as it is.
    Unchanged,
    /// It is larger than [`ImportOptions::largest_file_beside`], and was left.
    Skipped,
    /// It could not be read.
    Failed,
}

/// The outcome of one file that a session's program keeps beside the session's file.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct BesideReport {
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// What became of it.
    pub status: BesideStatus,
    /// The id under which the session is addressed that it stands beside.
    pub beside: String,
    /// Its bytes; 0 if it could not be read.
    pub bytes: u64,
    /// Why it was left or failed.
    pub reason: Option<String>,
}

impl BesideReport {
    pub(super) fn taken(path: PathBuf, beside: String, bytes: u64) -> Self {
        Self { path, status: BesideStatus::Taken, beside, bytes, reason: None }
    }

    pub(super) fn unchanged(path: PathBuf, beside: String, bytes: u64) -> Self {
        Self { path, status: BesideStatus::Unchanged, beside, bytes, reason: None }
    }

    pub(super) fn too_large(path: PathBuf, beside: String, bytes: u64, largest: u64) -> Self {
        let reason = Some(format!("it is larger than {largest} bytes, the most that is taken"));
        Self { path, status: BesideStatus::Skipped, beside, bytes, reason }
    }

    pub(super) fn failed(path: PathBuf, beside: String, reason: String) -> Self {
        Self { path, status: BesideStatus::Failed, beside, bytes: 0, reason: Some(reason) }
    }
}

/// The outcome of all files beside sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BesideTotals {
    /// Files that the store has since this import.
    pub taken: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that it had as they are.
    pub unchanged: u64,
    /// Files that are too large.
    pub skipped: u64,
    /// Files that could not be read.
    pub failed: u64,
}

impl BesideTotals {
    pub(super) fn add(&mut self, report: &BesideReport) {
        match report.status {
            BesideStatus::Taken => {
                self.taken += 1;
                self.bytes += report.bytes;
            }
            BesideStatus::Unchanged => self.unchanged += 1,
            BesideStatus::Skipped => self.skipped += 1,
            BesideStatus::Failed => self.failed += 1,
        }
    }
}

/// Files in folders that hold sessions in a form that is not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Why they were left out.
    #[serde(serialize_with = "text")]
    pub reason: LeftOutReason,
    /// How many.
    pub files: u64,
}

impl LeftOut {
    /// Counts a file among those of its reason.
    pub(in crate::catalog) fn count(all: &mut Vec<Self>, reason: LeftOutReason) {
        match all.iter_mut().find(|left_out| left_out.reason == reason) {
            Some(left_out) => left_out.files += 1,
            None => all.push(Self { reason, files: 1 }),
        }
    }
}

fn text<S: Serializer>(reason: &LeftOutReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(reason)
}

/// All files' outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportTotals {
    /// Files that were examined.
    pub files: u64,
    /// New sessions.
    pub imported: u64,
    /// Sessions that gained new lines.
    pub grown: u64,
    /// Files without anything new.
    pub unchanged: u64,
    /// Sessions that were replaced by their file.
    pub replaced: u64,
    /// Files that are not sessions.
    pub skipped: u64,
    /// Files whose sessions were removed from the store.
    pub removed: u64,
    /// Files that could not be stored.
    pub failed: u64,
    /// Lines of all sessions that were reported.
    pub lines: u64,
    /// Entries of all sessions that were reported.
    pub entries: u64,
    /// Malformed lines.
    pub malformed: u64,
    /// Bytes of the files that are sessions.
    pub bytes: u64,
    /// Bytes of them that this import stored: what grown files had gained, and all of those that were stored as a
    /// whole.
    pub new_bytes: u64,
    /// The files beside sessions, which the other numbers do not count.
    pub beside: BesideTotals,
    /// The files that were left out, which the other numbers do not count.
    pub left_out: Vec<LeftOut>,
}

impl ImportTotals {
    pub(super) fn add(&mut self, report: &FileReport) {
        let of_status = match report.status {
            ImportStatus::Imported => &mut self.imported,
            ImportStatus::Grown => &mut self.grown,
            ImportStatus::Unchanged => &mut self.unchanged,
            ImportStatus::Replaced => &mut self.replaced,
            ImportStatus::Skipped => &mut self.skipped,
            ImportStatus::LeftOut => {
                if let Some(Refusal::LeftOut(reason)) = report.refusal {
                    LeftOut::count(&mut self.left_out, reason);
                }
                return;
            }
            ImportStatus::Removed => &mut self.removed,
            ImportStatus::Failed => &mut self.failed,
        };
        *of_status += 1;
        self.files += 1;
        let is_stored = !matches!(
            report.status,
            ImportStatus::Skipped | ImportStatus::Removed | ImportStatus::Failed
        );
        if is_stored {
            self.lines += report.lines;
            self.entries += report.entries;
            self.malformed += report.malformed;
            self.bytes += report.bytes;
        }
        self.new_bytes += report.stored;
    }
}

/// Observes an import while it runs.
pub trait ImportObserver {
    /// The files that will be read are known: how many, and their bytes.
    fn begin(&mut self, files: u64, bytes: u64) {
        let _ = (files, bytes);
    }

    /// Bytes were read.
    fn read(&mut self, bytes: u64) {
        let _ = bytes;
    }

    /// A file's outcome is final, and durable.
    fn file(&mut self, report: &FileReport) {
        let _ = report;
    }

    /// The outcome of a file beside a session is final, and durable. They come after all sessions.
    fn beside(&mut self, report: &BesideReport) {
        let _ = report;
    }

    /// A watch has found files that it leaves out, and has not reported before. Those of an import or a sync are in its
    /// [totals](ImportTotals::left_out).
    fn left_out(&mut self, left_out: &LeftOut) {
        let _ = left_out;
    }

    /// A watch looks at folders by turns, as the system does not watch them, for this reason. It names the system's setting, if there
    /// is one.
    fn unwatched(&mut self, reason: &str) {
        let _ = reason;
    }

    /// Whether the import is to end now. It asks before each file and each block of one (1 MiB). What is stored by then
    /// stays; a file that is only half read leaves nothing, and is not reported.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Observes nothing.
impl ImportObserver for () {}
