//! Session files in a form that is not read.

use std::fmt;

/// Why the search of a folder leaves a session's file out, as its name shows.
///
/// ```
/// use leafline_import::{Family, LeftOutReason};
///
/// let name = "rollout-2026-11-20T10-00-00-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61.jsonl.zst";
/// assert_eq!(Family::Codex.left_out(name), Some(LeftOutReason::Compressed));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// Codex has compressed it.
    Compressed,
    /// It is one JSON value, as versions 0.1 of Codex wrote. Today's Codex does not read it.
    EarlyVersion,
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compressed => "compressed with Zstandard (rollout-*.jsonl.zst)",
            Self::EarlyVersion => "written by an early version of Codex (rollout-*.json)",
        })
    }
}
