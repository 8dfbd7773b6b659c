//! Small sessions, one for each rule of the context.
//!
//! `cases.jsonl` has one on each line, and `kept.jsonl` those of messages that a compaction keeps: its name and its records, each as `["user", uuid, parent, content, more]`,
//! `["assistant", uuid, parent, message id, content, more]`, `["record", uuid, parent, members]`, or a line as it stands.
//! Of the blocks, `{"t"}` is a text, `{"h"}` a thought, `{"c"}` a call and `{"r"}` its result.

use serde_json::{Map, Value, json};

use crate::conversation::MODEL;

/// A session.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) file: String,
}

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    let files = [include_str!("cases.jsonl"), include_str!("kept.jsonl")];
    files.iter().flat_map(|file| file.lines()).map(case).collect()
}

/// The one with a name.
pub(crate) fn named(name: &str) -> Case {
    all().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"))
}

fn case(line: &str) -> Case {
    let parts: Vec<Value> = serde_json::from_str(line).unwrap();
    let (name, records) = parts.split_first().unwrap();
    let lines = (0..).zip(records).map(|(place, written)| match written {
        Value::String(line) => format!("{line}\n"),
        written => format!("{}\n", record(place, written.as_array().unwrap())),
    });
    Case { name: name.as_str().unwrap().to_owned(), file: lines.collect() }
}

fn record(place: u64, parts: &[Value]) -> Value {
    let kind = parts[0].as_str().unwrap();
    let mut members = Map::new();
    members.insert("parentUuid".into(), parts[2].clone());
    members.insert("isSidechain".into(), json!(false));
    members.insert("sessionId".into(), json!("s"));
    members.insert("type".into(), json!(kind));
    let more = match kind {
        "user" => {
            members
                .insert("message".into(), json!({"role": "user", "content": content(&parts[3])}));
            parts.get(4)
        }
        "assistant" => {
            let model = match parts.get(5).and_then(|more| more.get("model")) {
                Some(model) => model.clone(),
                None => json!(MODEL),
            };
            let mut message = json!({"id": parts[3], "type": "message", "role": "assistant", "model": model, "content": content(&parts[4])});
            // A member that is null in the list is one that the record lacks.
            for name in ["id", "model"] {
                if message[name].is_null() {
                    message.as_object_mut().unwrap().remove(name);
                }
            }
            members.insert("message".into(), message);
            parts.get(5)
        }
        _ => parts.get(3),
    };
    members.insert("uuid".into(), parts[1].clone());
    let time = format!("2025-06-15T15:{:02}:{:02}.000Z", place / 60, place % 60);
    members.insert("timestamp".into(), json!(time));
    for (name, value) in more.and_then(Value::as_object).into_iter().flatten() {
        match (name.as_str(), value) {
            ("model", _) if kind == "assistant" => {}
            ("timestamp", Value::Null) => drop(members.remove("timestamp")),
            _ => drop(members.insert(name.clone(), value.clone())),
        }
    }
    Value::Object(members)
}

fn content(content: &Value) -> Value {
    match content {
        Value::Array(blocks) => blocks.iter().map(block).collect(),
        other => other.clone(),
    }
}

fn block(block: &Value) -> Value {
    if let Some(text) = block.get("t") {
        return json!({"type": "text", "text": text});
    }
    if let Some(thought) = block.get("h") {
        return json!({"type": "thinking", "thinking": thought, "signature": "sig"});
    }
    if let Some(id) = block.get("c") {
        return json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
    }
    if let Some(id) = block.get("r") {
        let content = format!("out {}", id.as_str().unwrap());
        return json!({"type": "tool_result", "tool_use_id": id, "content": content});
    }
    block.clone()
}
