//! The JSONL file loaded as agents do when they resume a session: all of it, parsed, by id.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

/// A session in memory.
#[derive(Debug)]
pub(crate) struct LoadedSession {
    entries: Vec<Value>,
    by_id: HashMap<String, usize>,
}

impl LoadedSession {
    /// Reads and parses the whole file; a line that is not JSON is passed over.
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

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
