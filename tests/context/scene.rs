//! A session in a store, and the contexts read from it.

use leafline::Family;
use leafline::context::{Context, ContextLeaf};
use leafline::import::ImportOptions;
use serde_json::{Value, json};

use super::place::Place;

/// The time of every entry.
const TIME: &str = "2026-03-01T08:00:00.000Z";

/// [`TIME`] in milliseconds since 1970.
pub(crate) const MILLISECONDS: i64 = 1_772_352_000_000;

/// A session of one family in a store of its own.
pub(crate) struct Scene {
    pub(crate) place: Place,
}

impl Scene {
    pub(crate) fn new(family: Family, lines: &[String]) -> Self {
        let place = Place::new();
        let header = json!({"type": "session", "version": 3, "id": "s", "timestamp": TIME});
        let text = format!("{header}\n{}\n", lines.join("\n"));
        let options = ImportOptions { family: Some(family), ..ImportOptions::default() };
        place.import_with(&place.write("s.jsonl", text), &options);
        place.assert_sound();
        Self { place }
    }

    pub(crate) fn pi(lines: &[String]) -> Self {
        Self::new(Family::Pi, lines)
    }

    pub(crate) fn omp(lines: &[String]) -> Self {
        Self::new(Family::Omp, lines)
    }

    pub(crate) fn context(&self, leaf: ContextLeaf<'_>) -> Context {
        let reader = self.place.store.reader("s").unwrap();
        let context = reader.build_context(leaf, None).unwrap();
        let mut written = Vec::new();
        let length = reader.write_context(leaf, None, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), context.to_json());
        assert_eq!(length, context.to_json().len() as u64);
        context
    }

    /// The text of each message in the context at an entry.
    pub(crate) fn said(&self, leaf: ContextLeaf<'_>) -> Vec<String> {
        let said = |message: Value| {
            let text = message.get("content").or(message.get("summary")).unwrap();
            text.as_str().unwrap().to_owned()
        };
        self.context(leaf).messages.iter().map(|message| said(message.value().unwrap())).collect()
    }

    pub(crate) fn said_at(&self, id: &str) -> String {
        self.said(ContextLeaf::Entry(id)).join(" ")
    }
}

/// An entry; its members follow `members`.
pub(crate) fn entry(kind: &str, id: &str, parent: &str, members: Value) -> String {
    let parent = if parent.is_empty() { Value::Null } else { json!(parent) };
    let mut entry = json!({"type": kind, "id": id, "parentId": parent, "timestamp": TIME});
    entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    entry.to_string()
}

/// A user message whose text is its id.
pub(crate) fn user(id: &str, parent: &str) -> String {
    entry("message", id, parent, json!({"message": {"role": "user", "content": id}}))
}

pub(crate) fn assistant(id: &str, parent: &str, provider: &str, model: &str) -> String {
    let message = json!({"role": "assistant", "content": id, "provider": provider, "model": model});
    entry("message", id, parent, json!({ "message": message }))
}

pub(crate) fn compaction(id: &str, parent: &str, kept: &str) -> String {
    let summary = format!("[{id}]");
    entry(
        "compaction",
        id,
        parent,
        json!({"summary": summary, "tokensBefore": 5, "firstKeptEntryId": kept}),
    )
}
