//! An entry as JSON.

use leafline::{Entry, MessageRole};
use serde::Serialize;

use super::preview::type_name;
use super::time;

/// An entry and its line. Members without a value are `null`.
#[derive(Debug, Serialize)]
pub(super) struct EntryJson {
    id: Option<String>,
    ordinal: u64,
    #[serde(rename = "type")]
    kind: String,
    role: Option<&'static str>,
    timestamp: Option<String>,
    #[serde(rename = "parentId")]
    parent_id: Option<String>,
    /// The exact line, its terminator included; what is not UTF-8 is U+FFFD.
    line: String,
}

impl EntryJson {
    /// The entry's.
    pub(super) fn new(entry: &Entry) -> Self {
        let role = entry.role();
        Self {
            id: entry.id(),
            ordinal: entry.ordinal(),
            kind: type_name(entry),
            role: (role != MessageRole::None).then(|| role.name()),
            timestamp: entry.timestamp().and_then(time::iso),
            parent_id: entry.parent_id(),
            line: String::from_utf8_lossy(entry.line()).into_owned(),
        }
    }
}
