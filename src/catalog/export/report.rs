//! What an export of all sessions reports about each, and about all.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::session::ExportMode;

/// How all sessions are exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// The form.
    pub mode: ExportMode,
    /// Whether a file is written over that someone else has changed, and that would be kept. What was in it is lost then.
    pub replace: bool,
}

/// What became of one file of an export.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportReport {
    /// The id of the session that it is of.
    pub session: String,
    /// The file.
    pub path: PathBuf,
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
    /// It had those bytes before, and was left alone.
    Unchanged,
    /// It holds what the session does not, and was left alone.
    Kept {
        /// Why.
        reason: KeptReason,
    },
    /// The session could not be exported. What was there before is still there.
    Failed(Error),
    /// It was the file of a session that has another place now, and had nothing that the new one lacks: it was removed.
    Removed,
    /// It was the file of a session that is gone, or that has another path now, and stays. It is not reported again.
    Left {
        /// Why.
        reason: String,
    },
}

/// Why a file was left alone that has not the session's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptReason {
    /// It holds what the session does not. An import stores that; [`ExportOptions::replace`] overwrites it.
    HoldsMore,
    /// A folder, or something else that is no file, is in its place.
    NoFile,
    /// It was changed while it was being exported.
    Changed,
}

impl fmt::Display for KeptReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::HoldsMore => "it holds what the session does not",
            Self::NoFile => "there is something in its place that is no file",
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
    /// Sessions whose file holds something else and was left alone.
    pub kept: u64,
    /// Sessions that could not be exported.
    pub failed: u64,
    /// Files that were removed, since their sessions have other places now.
    pub removed: u64,
    /// Files that stay though their sessions are gone or have other places.
    pub left: u64,
    /// Bytes that were written.
    pub bytes: u64,
}

impl ExportTotals {
    pub(super) fn add(&mut self, outcome: &ExportOutcome) {
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
