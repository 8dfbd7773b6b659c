//! The value of the `sources` table: what was imported from a file.

use std::path::PathBuf;

use bincode::{Decode, Encode};

use super::record::Record;
use super::session_key::SessionKey;

/// The state of a file when it was imported.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct SourceRecord {
    /// The session it went to.
    pub(crate) session: SessionKey,
    /// The file's size in bytes.
    pub(crate) size: u64,
    /// The file's time of modification in nanoseconds since 1970; `None` if the system has none.
    pub(crate) modified: Option<i128>,
}

/// The byte with which a key begins that is no path: a program gives the session's lines under a name of its own. No path has
/// a NUL.
pub(crate) const NAME: u8 = 0;

/// Whether a key of the table is a program's own name for the session.
pub(crate) fn is_name(key: &[u8]) -> bool {
    key.first() == Some(&NAME)
}

/// The path that is a key of the table; `None` for a name, and on a system where it cannot be made of these bytes.
pub(crate) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    if is_name(bytes) { None } else { path(bytes) }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "on other systems not all bytes are a path")]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

/// On other systems a path that is not Unicode cannot be made from its bytes.
#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

impl Record for SourceRecord {
    const TABLE: &'static str = "sources";
}
