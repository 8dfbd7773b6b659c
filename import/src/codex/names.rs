//! `session_index.jsonl`: the names that users gave their sessions.

use crate::scan::Raw;
use crate::text::decode;
use crate::time::parse_timestamp;

/// A line of `session_index.jsonl`, beside the folder `sessions`. The rollouts themselves do not hold the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName {
    /// The session.
    pub id: String,
    /// Its name from here on. A fork gets that of its session.
    pub name: String,
    /// When it was given, in milliseconds since 1970.
    pub updated_ms: Option<i64>,
}

impl SessionName {
    /// What a line says; `None` where it is no such line. Of several lines with
    /// one id the last holds.
    ///
    /// ```
    /// use leafline_import::codex::SessionName;
    ///
    /// let line = br#"{"id":"0199f2b4","thread_name":"Tide clock","updated_at":"2026-11-20T10:00:00.921854306Z"}"#;
    /// assert_eq!(SessionName::of(line).map(|found| found.name).as_deref(), Some("Tide clock"));
    /// ```
    #[must_use]
    pub fn of(line: &[u8]) -> Option<Self> {
        let text = decode(line);
        let record = Raw::parse(&text).ok()?;
        let [id, name, updated] = record.members(["id", "thread_name", "updated_at"]);
        Some(Self {
            id: id?.to_string_lossy()?.into_owned(),
            name: name?.to_string_lossy()?.into_owned(),
            updated_ms: updated.and_then(Raw::to_string_lossy).and_then(|at| parse_timestamp(&at)),
        })
    }
}
