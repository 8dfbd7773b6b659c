//! The value of the `sources` table: what was imported from a file.

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

impl Record for SourceRecord {
    const TABLE: &'static str = "sources";
}
