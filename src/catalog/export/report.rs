//! The reports of an export of all sessions: one for each, and the totals.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::redact::Redactor;
use crate::session::ExportMode;

/// How all sessions are exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// The form.
    pub mode: ExportMode,
    /// Whether to overwrite a file that someone else has changed and that would otherwise be kept. Its contents are
    /// then lost.
    pub replace: bool,
    /// What replaces secrets, if they are to be replaced.
    #[cfg(feature = "redact")]
    pub redactor: Option<Redactor>,
}

impl From<ExportMode> for ExportOptions {
    /// The options that have only a form.
    fn from(mode: ExportMode) -> Self {
        Self { mode, ..Self::default() }
    }
}

impl ExportOptions {
    /// What replaces secrets.
    pub(crate) fn redactor(&self) -> Option<&Redactor> {
        #[cfg(feature = "redact")]
        return self.redactor.as_ref();
        #[cfg(not(feature = "redact"))]
        None
    }
}

/// The outcome for one file of an export.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportReport {
    /// The id of its session.
    pub session: String,
    /// The file.
    pub path: PathBuf,
    /// Whether it is one that the program keeps beside the session's file, and not that.
    pub is_beside: bool,
    /// What became of it.
    pub outcome: ExportOutcome,
}

/// What became of a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportOutcome {
    /// It was written.
    Written {
        /// Its bytes.
        bytes: u64,
    },
    /// It already had those bytes, and was not touched.
    Unchanged,
    /// It has something that the session lacks, and was not touched.
    Kept {
        /// Why.
        reason: KeptReason,
    },
    /// The session could not be exported. The old file is still there.
    Failed(Error),
    /// It was the old file of a session that has another path now, and had nothing that the new one lacks: it was
    /// removed.
    Removed,
    /// It was the file of a session that is gone, or that has another path now, and stays. It is not reported again.
    Left {
        /// Why.
        reason: String,
    },
}

/// Why a file that differs from the session was not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptReason {
    /// It has something that the session lacks. An import stores that; [`ExportOptions::replace`] overwrites it.
    HoldsMore,
    /// A folder, or something else that is not a file, is in its place.
    NoFile,
    /// It changed during the export.
    Changed,
    /// It has other bytes than the session, and is not to be overwritten.
    Differs,
}

impl fmt::Display for KeptReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::HoldsMore => "it holds what the session does not",
            Self::NoFile => "something that is not a file is in its place",
            Self::Differs => "there is another file in its place",
            Self::Changed => "it was changed while it was being exported",
        })
    }
}

impl ExportOutcome {
    /// The outcome in one word: `written`, `unchanged`, `kept`, `failed`, `removed` or `left`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Written { .. } => "written",
            Self::Unchanged => "unchanged",
            Self::Kept { .. } => "kept",
            Self::Failed(_) => "failed",
            Self::Removed => "removed",
            Self::Left { .. } => "left",
        }
    }
}

/// The outcome of an export of all sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExportTotals {
    /// Sessions: each is written, unchanged, kept or failed.
    pub sessions: u64,
    /// Sessions whose file was written.
    pub written: u64,
    /// Sessions whose file had the same bytes.
    pub unchanged: u64,
    /// Sessions whose file has other contents and was not touched.
    pub kept: u64,
    /// Sessions that could not be exported.
    pub failed: u64,
    /// Files that were removed, since their sessions have other paths now.
    pub removed: u64,
    /// Files that stay although their sessions are gone or have other paths.
    pub left: u64,
    /// Bytes that were written.
    pub bytes: u64,
    /// The files beside sessions, which the other numbers do not count.
    pub beside: BesideExportTotals,
}

/// The outcome of the files beside the sessions of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BesideExportTotals {
    /// Files that were written.
    pub written: u64,
    /// Files that were there with the same bytes.
    pub unchanged: u64,
    /// Files in whose place is another one, which was not touched.
    pub kept: u64,
    /// Files that could not be written.
    pub failed: u64,
    /// Bytes that were written.
    pub bytes: u64,
}

impl BesideExportTotals {
    fn add(&mut self, outcome: &ExportOutcome) {
        match outcome {
            ExportOutcome::Written { bytes } => {
                self.written += 1;
                self.bytes += bytes;
            }
            ExportOutcome::Unchanged => self.unchanged += 1,
            ExportOutcome::Failed(_) => self.failed += 1,
            ExportOutcome::Kept { .. } | ExportOutcome::Left { .. } | ExportOutcome::Removed => {
                self.kept += 1;
            }
        }
    }
}

impl ExportTotals {
    pub(super) fn add(&mut self, report: &ExportReport) {
        let outcome = &report.outcome;
        if report.is_beside {
            return self.beside.add(outcome);
        }
        let (count, is_session) = match outcome {
            ExportOutcome::Written { bytes } => {
                self.bytes += bytes;
                (&mut self.written, true)
            }
            ExportOutcome::Unchanged => (&mut self.unchanged, true),
            ExportOutcome::Kept { .. } => (&mut self.kept, true),
            ExportOutcome::Failed(_) => (&mut self.failed, true),
            ExportOutcome::Removed => (&mut self.removed, false),
            ExportOutcome::Left { .. } => (&mut self.left, false),
        };
        *count += 1;
        self.sessions += u64::from(is_session);
    }
}
