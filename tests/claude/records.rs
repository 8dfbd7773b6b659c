//! Sessions written record by record.

use leafline::context::{ContextLeaf, HistoryScope};
use leafline::page::PageLimit;
use leafline::{Entry, SessionReader};
use serde_json::{Value, json};

use crate::place::Place;

/// A record of a type, below another or none; its time is derived from its uuid's length and means nothing.
pub(crate) fn record(kind: &str, uuid: &str, parent: &str) -> Value {
    json!({
        "type": kind,
        "uuid": uuid,
        "parentUuid": if parent.is_empty() { Value::Null } else { parent.into() },
        "sessionId": "s",
        "isSidechain": false,
        "timestamp": "2026-02-18T09:00:00.000Z",
    })
}

/// The record with other values of some members.
pub(crate) fn with(mut record: Value, members: Value) -> Value {
    let Value::Object(members) = members else { panic!("{members} is no object") };
    record.as_object_mut().unwrap().extend(members);
    record
}

/// A prompt.
pub(crate) fn user(uuid: &str, parent: &str) -> Value {
    let message = json!({"role": "user", "content": format!("prompt {uuid}")});
    with(record("user", uuid, parent), json!({ "message": message }))
}

/// A part of a message of the model.
pub(crate) fn assistant(uuid: &str, parent: &str, message_id: &str) -> Value {
    let block = json!({"type": "text", "text": format!("answer {uuid}")});
    with_block(uuid, parent, message_id, block)
}

/// A part of a message in which the model calls a tool.
pub(crate) fn call(uuid: &str, parent: &str, message_id: &str) -> Value {
    let block =
        json!({"type": "tool_use", "id": format!("call-{uuid}"), "name": "Read", "input": {}});
    with_block(uuid, parent, message_id, block)
}

fn with_block(uuid: &str, parent: &str, message_id: &str, block: Value) -> Value {
    let message = json!({"id": message_id, "role": "assistant", "model": "claude-opus-4-6", "content": [block]});
    with(record("assistant", uuid, parent), json!({ "message": message }))
}

/// A tool's result.
pub(crate) fn result(uuid: &str, parent: &str) -> Value {
    let block =
        json!({"type": "tool_result", "tool_use_id": "call", "content": format!("result {uuid}")});
    let message = json!({"role": "user", "content": [block]});
    with(record("user", uuid, parent), json!({ "message": message }))
}

/// The result of the call of a record.
pub(crate) fn result_of(call: &str, uuid: &str, parent: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": format!("call-{call}"), "content": format!("result {uuid}")});
    with(result(uuid, parent), json!({"message": {"role": "user", "content": [block]}}))
}

/// A compact boundary; its logical parent may be missing.
pub(crate) fn boundary(uuid: &str, logical_parent: &str) -> Value {
    with(
        record("system", uuid, ""),
        json!({"subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": logical_parent}),
    )
}

/// The summary that replaced the compacted conversation.
pub(crate) fn compact_summary(uuid: &str, parent: &str) -> Value {
    with(user(uuid, parent), json!({"isCompactSummary": true}))
}

/// The record on a sidechain.
pub(crate) fn side(record: Value) -> Value {
    with(record, json!({"isSidechain": true}))
}

/// A summary of the session.
pub(crate) fn summary(leaf: &str, text: &str) -> Value {
    json!({"type": "summary", "summary": text, "leafUuid": leaf})
}

/// The prompt typed last.
pub(crate) fn last_prompt(leaf: &str) -> Value {
    json!({"type": "last-prompt", "lastPrompt": "x", "leafUuid": leaf, "sessionId": "s"})
}

/// Records, a line each.
pub(crate) fn file(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

/// A store with one session of these bytes, as `s`. The session is exported unchanged, and nothing is damaged.
pub(crate) fn place_of(bytes: &[u8]) -> Place {
    let place = Place::new();
    let report = place.import(&place.write("s.jsonl", bytes));
    assert_eq!(report.session.as_deref(), Some("s"), "{report:?}");
    assert!(place.exact("s") == bytes);
    place.assert_sound();
    place
}

/// A store with one session of these records.
pub(crate) fn place(records: &[Value]) -> Place {
    place_of(&file(records))
}

fn name(entry: &Entry) -> String {
    entry.id().unwrap_or_else(|| format!("#{}", entry.ordinal()))
}

/// Uuids on the path to an entry, or to the leaf.
pub(crate) fn path(reader: &SessionReader, from: Option<&str>) -> Vec<String> {
    let mut path = Vec::new();
    let count = reader
        .get_path(from, |entry| {
            path.push(name(entry));
            Ok(())
        })
        .unwrap();
    assert_eq!(count, path.len() as u64);
    path
}

/// Uuids on the path, read upwards in pages of a size; the root first.
pub(crate) fn path_in_pages(
    reader: &SessionReader,
    from: Option<&str>,
    entries: usize,
) -> Vec<String> {
    let limit = PageLimit { entries, ..PageLimit::default() };
    let mut path = Vec::new();
    let mut page = reader.path_backwards(from, &limit).unwrap();
    loop {
        path.extend(page.entries.iter().map(name));
        let Some(next) = page.next else { break };
        page = reader.path_backwards_from(next, &limit).unwrap();
    }
    path.reverse();
    path
}

/// Uuids of the context's entries at an entry, or of its full history's.
pub(crate) fn history(
    reader: &SessionReader,
    at: ContextLeaf<'_>,
    scope: HistoryScope,
) -> Vec<String> {
    let history = reader.get_history(at, scope).unwrap();
    let names: Vec<String> =
        history.ordinals().map(|ordinal| name(&reader.line(ordinal).unwrap().unwrap())).collect();
    assert_eq!(history.len(), names.len() as u64);
    assert_eq!(history.end().is_none(), names.is_empty());
    names
}

/// Uuids of the children.
pub(crate) fn children(reader: &SessionReader, id: Option<&str>) -> Vec<String> {
    reader.get_children(id).unwrap().iter().map(name).collect()
}
