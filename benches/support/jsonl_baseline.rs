//! The JSONL file loaded as agents load it to resume a session: as a whole, parsed, indexed by id.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

/// A session in memory.
#[derive(Debug)]
pub(crate) struct LoadedSession {
    entries: Vec<Value>,
    by_id: HashMap<String, usize>,
}

impl LoadedSession {
    /// Reads and parses the whole file; skips lines that are not JSON.
    pub(crate) fn load(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("the session file is there");
        let mut entries = Vec::new();
        let mut by_id = HashMap::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(entry) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            if let Some(id) = entry.get("id").and_then(Value::as_str) {
                by_id.insert(id.to_owned(), entries.len());
            }
            entries.push(entry);
        }
        Self { entries, by_id }
    }

    pub(crate) fn entry(&self, id: &str) -> Option<&Value> {
        self.entries.get(*self.by_id.get(id)?)
    }

    /// The context at the last entry, as pi builds it: existing messages, and a few that are made.
    pub(crate) fn context(&self) -> Vec<Cow<'_, Value>> {
        let mut path: Vec<&Value> = Vec::new();
        let mut next = self.entries.last();
        while let Some(entry) = next {
            path.push(entry);
            next = entry["parentId"].as_str().and_then(|id| self.entry(id));
        }
        path.reverse();
        let is_compaction = |entry: &&Value| entry["type"] == "compaction";
        let Some(place) = path.iter().rposition(is_compaction) else {
            return path.into_iter().filter_map(message).collect();
        };
        let (above, below) = path.split_at(place);
        let Some((compaction, below)) = below.split_first() else {
            return Vec::new();
        };
        let kept = above.iter().skip_while(|entry| entry["id"] != compaction["firstKeptEntryId"]);
        let summary = Cow::Owned(json!({
            "role": "compactionSummary",
            "summary": compaction["summary"],
            "tokensBefore": compaction["tokensBefore"],
        }));
        let others = kept.chain(below).filter_map(|entry| message(entry));
        std::iter::once(summary).chain(others).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// The message that an entry adds.
fn message(entry: &Value) -> Option<Cow<'_, Value>> {
    match entry["type"].as_str()? {
        "message" => entry.get("message").map(Cow::Borrowed),
        "custom_message" => Some(Cow::Owned(json!({
            "role": "custom",
            "customType": entry["customType"],
            "content": entry["content"],
            "display": entry["display"],
        }))),
        "branch_summary" if entry["summary"] != "" => Some(Cow::Owned(json!({
            "role": "branchSummary",
            "summary": entry["summary"],
            "fromId": entry["fromId"],
        }))),
        _ => None,
    }
}
