//! What the real Codex answers, for these tests and those of the store.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Codex gives the output that it adds for a missing one an id derived from the call's; ours has none.
pub(crate) fn without_derived_id(mut item: Value) -> Value {
    let is_made = item["output"] == "aborted" || item["type"] == "tool_search_output";
    if is_made && let Some(item) = item.as_object_mut() {
        item.remove("id");
    }
    item
}

/// The differences; empty if there are none.
pub(crate) fn difference(name: &str, ours: &Value, theirs: &[String]) -> Option<String> {
    let ours = ours.as_array().unwrap().iter().cloned().map(without_derived_id);
    let theirs = theirs.iter().map(|item| without_derived_id(serde_json::from_str(item).unwrap()));
    let (ours, theirs): (Vec<Value>, Vec<Value>) = (ours.collect(), theirs.collect());
    leafline_judges::difference("Codex", name, &ours, &theirs)
}

#[derive(Deserialize)]
pub(crate) struct Made {
    pub(crate) files: BTreeMap<String, String>,
    /// The same files after Codex has resumed the sessions.
    pub(crate) resumed: BTreeMap<String, String>,
    pub(crate) sessions: Vec<Session>,
}

#[derive(Deserialize)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) file: String,
    context: Option<Vec<String>>,
    error: Option<String>,
}

impl Session {
    /// What Codex sent when it resumed the session.
    pub(crate) fn context(&self) -> &[String] {
        self.context.as_deref().unwrap_or_else(|| panic!("{}: {:?}", self.name, self.error))
    }
}
