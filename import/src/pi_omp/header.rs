//! The facts of a session's header that an index keeps.

use crate::pi_omp::HeaderVersion;
use crate::scan::{Raw, Scan};
use crate::time::parse_timestamp;

/// The facts of a session's header. Texts other than the id have U+FFFD for lone surrogates.
#[derive(Debug, Clone, PartialEq)]
pub struct HeaderFacts {
    /// The session's id as WTF-8 (see [`crate::text`]).
    pub id: Vec<u8>,
    /// The format version.
    pub version: HeaderVersion,
    /// Milliseconds since 1970; `None` if `timestamp` is not an ISO time.
    pub timestamp_ms: Option<i64>,
    /// The working folder.
    pub cwd: Option<String>,
    /// The title: what the title line before the header states, which may be none; without such a line the header's.
    pub title: Option<String>,
    /// Lineage: a session id or a path, as in the file (omp session storage document: to be taken literally).
    pub parent_session: Option<String>,
    /// The ordinal of the header's line, from 0.
    pub line: u64,
}

impl HeaderFacts {
    /// The facts of a scanned header on line `line`; `None` if its id is not a string.
    #[must_use]
    pub fn of(scan: &Scan<'_>, line: u64) -> Option<Self> {
        let members = &scan.members;
        let owned = |raw: Option<Raw<'_>>| Some(raw?.to_string_lossy()?.into_owned());
        Some(Self {
            id: members.id?.as_string()?.into_owned(),
            version: HeaderVersion::of(members.version),
            timestamp_ms: owned(members.timestamp).and_then(|text| parse_timestamp(&text)),
            cwd: owned(members.cwd),
            title: owned(members.title),
            parent_session: owned(members.parent_session),
            line,
        })
    }
}
