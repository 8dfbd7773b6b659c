//! What Codex requires of its own data, which it does not send: each member, with values that it takes and others.

use serde_json::{Value, json};

use super::{
    Alone, Case, compacted, event, item, line, message, replacement, rolled_back, talk,
    talk_behind, user,
};

/// What a member is changed to.
fn values() -> [Value; 12] {
    [
        json!(null),
        json!(true),
        json!(5),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!("user"),
        json!([]),
        json!({}),
        json!(["x"]),
        json!(["/root/z"]),
    ]
}

/// The paths of all members of an object, and of those within.
fn paths(value: &Value) -> Vec<Vec<String>> {
    let Value::Object(members) = value else { return Vec::new() };
    let mut all = Vec::new();
    for (name, member) in members {
        all.push(vec![name.clone()]);
        all.extend(paths(member).into_iter().map(|path| [vec![name.clone()], path].concat()));
    }
    all
}

/// An object without one of its members, or with another value for it; with what was changed.
fn changed(whole: &Value) -> Vec<(String, Value)> {
    let mut all = vec![("nothing".to_owned(), whole.clone())];
    for path in paths(whole) {
        let (name, above) = path.split_last().unwrap();
        let pointer: String = above.iter().map(|name| format!("/{name}")).collect();
        let mut without = whole.clone();
        without.pointer_mut(&pointer).unwrap().as_object_mut().unwrap().shift_remove(name);
        all.push((format!("no {}", path.join(".")), without));
        for value in values() {
            let mut with = whole.clone();
            with.pointer_mut(&pointer).unwrap()[name] = value.clone();
            all.push((format!("{} {value}", path.join(".")), with));
        }
    }
    all
}

fn metadata() -> Value {
    json!({
        "history_sequence": 1, "sampled_through_sequence": 0, "client_authored": false, "user_input_order": 1,
        "compaction_output": true, "fallback_token_limit_override": 3000,
        "retained_source": {
            "id": {"message_id": "m", "turn_id": "t", "role": "assistant"}, "revision": "retained_1", "complete": true,
        },
        "mcp_attribution": {"status": "none"}, "unheard": 1,
    })
}

fn passthrough() -> Value {
    json!({
        "turn_id": "t", "create_time": 1.5, "content_item_kinds": ["user.text"],
        "content_item_metadata": [{"provenance": {"type": "user"}}],
    })
}

pub(super) fn requirements() -> Vec<Case> {
    let with_metadata = |(name, metadata): (String, Value)| {
        let mut record: Value = serde_json::from_str(&user(&name)).unwrap();
        record["metadata"] = metadata;
        record.to_string()
    };
    let with_passthrough = |(name, passthrough): (String, Value)| {
        let mut payload = message("user", &name);
        payload["internal_chat_message_metadata_passthrough"] = passthrough;
        item(payload)
    };
    let communication = json!({
        "id": "am_1", "author": "/root", "recipient": "/root/w", "other_recipients": ["/root/z"], "content": "x",
        "encrypted_content": null, "trigger_turn": true, "internal_chat_message_metadata_passthrough": passthrough(),
    });
    let between_agents = |(name, mut payload): (String, Value)| {
        if payload["content"] == "x" {
            payload["content"] = json!(name);
        }
        line("inter_agent_communication", payload)
    };
    let mut cases = vec![
        Case::new("metadata", changed(&metadata()).into_iter().map(with_metadata).collect()),
        Case::new(
            "passthrough",
            changed(&passthrough()).into_iter().map(with_passthrough).collect(),
        ),
        // The program reads a list in place of the passthrough.
        Case::new(
            "messages between agents",
            changed(&communication)
                .into_iter()
                .filter(|(name, _)| {
                    !name.starts_with("internal_chat_message_metadata_passthrough [")
                })
                .map(between_agents)
                .collect(),
        ),
        Case::new("numbers", numbers()),
    ];
    cases.extend(turns());
    cases.extend(compactions());
    cases
}

/// Numbers in members that mean nothing.
fn numbers() -> Vec<String> {
    let numbers = [
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616.0",
        "1e25",
    ];
    let line = |number: &&str| {
        let line = user(number);
        [
            line.replacen('{', &format!("{{\"unheard\":{number},"), 1),
            line.replacen("\"role\"", &format!("\"unheard\":[{number}],\"role\""), 1),
        ]
    };
    numbers.iter().flat_map(line).collect()
}

/// Beginnings of a turn that is rolled back: one that the program ignores is none.
fn turns() -> Vec<Case> {
    let attribution = json!({
        "turn_id": "t3", "turn_trigger": null, "parent_turn_id": null, "initiating_agent_path": "/root",
        "root_turn_id": "t3",
    });
    let odd = [
        json!({}),
        json!({"turn_attribution": attribution, "root_turn_id": "t3", "started_at": 1}),
        json!({"turn_attribution": {}}),
        json!({"turn_attribution": {"turn_id": "t3", "initiating_agent_path": "x"}}),
        json!({"turn_attribution": {"turn_id": "t3", "parent_turn_id": 5}}),
        json!({"root_turn_id": 5}),
        json!({"started_at": 1.5}),
        json!({"started_at": -1, "model_context_window": null, "collaboration_mode_kind": "plan"}),
        json!({"model_context_window": []}),
        json!({"collaboration_mode_kind": null}),
        json!({"collaboration_mode_kind": "unheard"}),
    ];
    let case = |members: &Value| {
        let mut start = json!({"type": "task_started", "turn_id": "t3"});
        for (name, value) in members.as_object().unwrap() {
            start[name] = value.clone();
        }
        let kept = compacted("S", replacement(&["u1", "sum"]), Alone::No);
        let last = [vec![event(start)], talk(3)[1..].to_vec()].concat();
        let lines = [talk(1), talk_behind(2, kept), last, vec![rolled_back(1)]].concat();
        Case::new(format!("a turn begins: {members}"), lines)
    };
    odd.iter().map(case).collect()
}

/// Compactions behind a prompt: one that the program ignores leaves it.
fn compactions() -> Vec<Case> {
    let resume = json!({
        "dynamic_tools": {"thread_id": "0199f2b4-0000-7000-8000-000000000000", "tools": []}, "multi_agent_version": "v2",
        "last_started_turn_id": "t", "turn_attribution": {"turn_id": "t"},
        "previous_turn_settings": {"model": "m", "comp_hash": null, "realtime_active": false},
    });
    let said =
        json!({"turn_id": "t", "text": "x", "complete": true, "order": 0, "phase": "commentary"});
    let retained = json!({
        "verified_answers": [], "incomplete": false, "user_messages": [said], "assistant_messages": [said],
        "next_order": 1,
    });
    let usage = json!({
        "input_tokens": 1, "cached_input_tokens": 1, "cache_write_input_tokens": 1, "output_tokens": 1,
        "reasoning_output_tokens": 1, "total_tokens": 1,
    });
    let token_usage = json!({
        "thread_id": "0199f2b4-0000-7000-8000-000000000000", "turn_id": "t", "session_id": "0199f2b4-0000-7000-8000-000000000000", "root_turn_id": "t",
        "response_id": "r", "usage": usage, "turn_token_usage": usage, "thread_token_usage": usage,
    });
    let whole = json!({
        "window_number": 1, "window_id": "w", "first_window_id": "w", "previous_window_id": null,
        "compaction_response_id": "r", "resume_metadata": resume, "retained_context": retained,
        "latest_token_usage_record": token_usage, "replacement_history_metadata": [metadata()],
    });
    let odd = [
        ("/unheard", json!(1)),
        ("/window_number", json!(-1)),
        ("/window_number", json!("1")),
        ("/window_id", json!(5)),
        ("/window_id", json!(-5)),
        ("/first_window_id", json!(5)),
        ("/compaction_response_id", json!({})),
        ("/resume_metadata", json!([])),
        ("/resume_metadata", json!({})),
        ("/resume_metadata/multi_agent_version", json!("v3")),
        ("/resume_metadata/multi_agent_version", json!("disabled")),
        ("/resume_metadata/last_started_turn_id", json!(5)),
        ("/resume_metadata/turn_attribution", json!({})),
        ("/resume_metadata/previous_turn_settings", json!({})),
        ("/resume_metadata/previous_turn_settings/comp_hash", json!(5)),
        ("/resume_metadata/dynamic_tools/thread_id", json!("x")),
        ("/resume_metadata/dynamic_tools/tools", json!(null)),
        ("/retained_context", json!({})),
        ("/retained_context/incomplete", json!(null)),
        ("/retained_context/user_messages", json!(null)),
        (
            "/retained_context/user_messages/0",
            json!({"turn_id": "t", "text": "x", "complete": true}),
        ),
        ("/retained_context/user_messages/0/order", json!(-1)),
        ("/retained_context/assistant_messages/0/phase", json!("x")),
        ("/retained_context/next_order", json!("1")),
        ("/latest_token_usage_record", json!({})),
        ("/latest_token_usage_record/turn_id", json!(5)),
        ("/latest_token_usage_record/usage/input_tokens", json!("1")),
        ("/replacement_history_metadata/0", json!({})),
        ("/replacement_history_metadata/0/history_sequence", json!(-1)),
    ];
    let case = |(pointer, value): &(&str, Value)| {
        let mut payload = whole.clone();
        let (above, name) = pointer.rsplit_once('/').unwrap();
        match payload.pointer_mut(above).unwrap() {
            Value::Array(elements) => elements[name.parse::<usize>().unwrap()] = value.clone(),
            object => object[name] = value.clone(),
        }
        payload["message"] = json!("S");
        payload["replacement_history"] = json!([message("user", "r1")]);
        let lines = vec![user("u1"), line("compacted", payload), user("u2")];
        Case::new(format!("a compaction: {pointer} {value}"), lines)
    };
    odd.iter().map(case).collect()
}
