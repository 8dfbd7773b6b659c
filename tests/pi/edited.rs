//! Random sessions with the kinds of entry that pi has since 0.87, and damaged ones.

use serde_json::{Map, Value, json};

use super::Case;
use super::random::Random;

/// The random session of a number.
pub(crate) fn edited_session(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0x0ed1);
    let mut ids: Vec<String> = Vec::new();
    let header = json!({
        "type": "session", "version": 3, "id": format!("edited-{seed}"),
        "timestamp": "2026-09-21T10:00:00.000Z", "cwd": "/work",
    });
    let mut lines = vec![header.to_string()];
    for number in 0..random.between(2, 40) {
        let id = format!("{number:08x}");
        let mut entry = entry(&mut random, &ids, &id);
        // Mostly a chain, with a branch now and then.
        let parent = if random.chance(85) { ids.last() } else { named(&mut random, &ids) };
        entry.insert("id".to_owned(), json!(id));
        entry.insert("parentId".to_owned(), json!(parent));
        entry.insert("timestamp".to_owned(), json!("2026-09-21T10:00:01.000Z"));
        lines.push(Value::Object(entry).to_string());
        ids.push(id);
    }
    if random.chance(10) {
        // Only the last entry can have an id that is no string, or none.
        let id = random.pick(&[json!(7), json!(true), json!({}), json!("")]).clone();
        let edit = json!({
            "type": "context_edit", "id": "edit", "parentId": ids.last(), "targetId": id, "replacement": {"content": "r"},
        });
        lines.push(edit.to_string());
        let last = json!({
            "type": "message", "id": id, "parentId": "edit", "message": {"role": "user", "content": "last"},
        });
        lines.push(last.to_string());
    }
    Case { name: format!("edited {seed}"), bytes: (lines.join("\n") + "\n").into_bytes() }
}

fn named<'i>(random: &mut Random, ids: &'i [String]) -> Option<&'i String> {
    (!ids.is_empty()).then(|| random.pick(ids))
}

fn entry(random: &mut Random, ids: &[String], id: &str) -> Map<String, Value> {
    let value = match random.below(20) {
        0..=7 => json!({"type": "message", "message": message(random)}),
        8..=12 => edit(random, ids),
        13 => {
            let mut message = json!({"type": "custom_message", "customType": "c", "display": true});
            put(&mut message, "content", content(random));
            message
        }
        14 => {
            json!({"type": "branch_summary", "summary": "s", "fromId": "root", "usage": {"input": 3}})
        }
        15 | 16 => compaction(random, ids, id),
        17 => {
            json!({"type": "usage", "kind": "k", "provider": "p", "model": "m", "usage": {"input": 1}})
        }
        18 => json!({"type": "model_change", "provider": "p", "modelId": "m"}),
        _ => json!({"type": "label", "targetId": named(random, ids), "label": "l"}),
    };
    let Value::Object(entry) = value else { unreachable!("an entry is an object") };
    entry
}

fn message(random: &mut Random) -> Value {
    let roles = [
        "system",
        "user",
        "user",
        "assistant",
        "assistant",
        "toolResult",
        "custom",
        "bashExecution",
    ];
    let mut message = json!({"role": random.pick(&roles)});
    put(&mut message, "content", content(random));
    if random.chance(50) {
        put(&mut message, "timestamp", Some(json!(1_790_000_000_000_u64)));
    }
    message
}

/// Content, which may be null or missing.
fn content(random: &mut Random) -> Option<Value> {
    match random.below(8) {
        0 => None,
        1 => Some(Value::Null),
        2 => Some(json!([])),
        3 | 4 => Some(json!([{"type": "text", "text": "one \u{1f600} \"two\""}])),
        5 => Some(json!("")),
        _ => Some(json!("text\n")),
    }
}

fn edit(random: &mut Random, ids: &[String]) -> Value {
    let mut edit = json!({"type": "context_edit", "targetId": named(random, ids)});
    let replacement = match random.below(10) {
        0..=3 => Value::Null,
        4 => json!({}),
        5 => random.pick(&[json!(7), json!("text"), json!([]), json!(false)]).clone(),
        _ => json!({"content": content(random).unwrap_or(Value::Null), "more": 1}),
    };
    put(&mut edit, "replacement", Some(replacement));
    edit
}

fn compaction(random: &mut Random, ids: &[String], id: &str) -> Value {
    // pi 0.87 names the compaction itself where nothing is kept.
    let first = if random.chance(20) { Some(id.to_owned()) } else { named(random, ids).cloned() };
    let mut compaction = json!({
        "type": "compaction", "summary": "s", "firstKeptEntryId": first, "tokensBefore": 9, "usage": {"input": 2},
    });
    let system = match random.below(6) {
        0 => Some(json!({"role": "user", "content": null, "timestamp": 5})),
        1 => Some(json!("text")),
        2 => Some(json!(0)),
        3 | 4 => Some(json!({"role": "system", "content": "be kind", "timestamp": 5})),
        _ => None,
    };
    put(&mut compaction, "systemMessage", system);
    compaction
}

fn put(object: &mut Value, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        object[name] = value;
    }
}

/// The damaged session of a number. Its header is whole: without one there is nothing to compare.
pub(crate) fn damaged_session(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0xdead);
    let mut bytes = edited_session(seed + 1_000_000).bytes;
    let body = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for _ in 0..random.between(1, 3) {
        let at = body + random.below(bytes.len() - body);
        match random.below(6) {
            0 if at > body => bytes.truncate(at),
            1 => bytes[at] = *random.pick(b"{}[]\",:\\ \n0x"),
            2 => bytes.insert(at, *random.pick(b"{}[]\",:\\ \n\r0x")),
            3 => drop(bytes.drain(at..(at + random.between(1, 60)).min(bytes.len()))),
            4 => drop(bytes.splice(at..at, b"\n\n".iter().copied())),
            // Two records on a line.
            _ => bytes.retain({
                let end = bytes[at..].iter().position(|&byte| byte == b'\n').map(|end| at + end);
                let mut place = 0;
                move |_| {
                    place += 1;
                    Some(place - 1) != end
                }
            }),
        }
        if bytes.len() <= body {
            break;
        }
    }
    Case { name: format!("damaged {seed}"), bytes }
}
