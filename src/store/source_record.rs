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

/// The path that is a key of the table; `None` on a system where it cannot be made of these bytes.
#[cfg(unix)]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

/// On other systems a path that is not Unicode cannot be made from its bytes.
#[cfg(not(unix))]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

impl Record for SourceRecord {
    const TABLE: &'static str = "sources";
}
