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
    role: Option<String>,
    model: Option<String>,
    timestamp: Option<String>,
    #[serde(rename = "parentId")]
    parent_id: Option<String>,
    /// The text of the message, without thoughts, calls and results.
    text: Option<String>,
    /// The exact line, including its terminator; bytes that are not UTF-8 become U+FFFD.
    line: String,
}

impl EntryJson {
    /// The entry's timestamp.
    pub(super) fn new(entry: &Entry) -> Self {
        let view = entry.view();
        let text = Some(view.text()).filter(|text| !text.is_empty());
        let role = match entry.role() {
            MessageRole::None => None,
            // A role that no document names is printed as the line spells it.
            MessageRole::Other | MessageRole::Meta => view.type_name,
            named => Some(named.name().to_owned()),
        };
        Self {
            id: entry.id(),
            ordinal: entry.ordinal(),
            kind: type_name(entry),
            role,
            model: view.model,
            timestamp: entry.timestamp().and_then(time::iso),
            parent_id: entry.parent_id(),
            text,
            line: String::from_utf8_lossy(entry.line()).into_owned(),
        }
    }
}
