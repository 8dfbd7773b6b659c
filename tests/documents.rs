//! Every example in the documents of pi's and omp's formats is imported, means what the document says, and is exported
//! unchanged. The package `leafline-import` tests them as entries that are written.
//!
//! Guards against a reading of the formats that their own documents contradict.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::context::ContextLeaf;
use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::omp::OmpReader;
use leafline::{EntryKind, Family, MessageRole, SessionReader};
use place::Place;
use serde_json::{Value, json};

/// The examples in pi's document, in its order. Lines that the document breaks are one line here.
const PI: &[&str] = &[
    r#"{"type":"session","version":3,"id":"uuid","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/path/to/project"}"#,
    r#"{"type":"message","id":"a1b2c3d4","parentId":"prev1234","timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"user","content":"Hello"}}"#,
    r#"{"type":"message","id":"b2c3d4e5","parentId":"a1b2c3d4","timestamp":"2024-12-03T14:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Hi!"}],"provider":"anthropic","model":"claude-sonnet-4-5","usage":{},"stopReason":"stop"}}"#,
    r#"{"type":"message","id":"c3d4e5f6","parentId":"b2c3d4e5","timestamp":"2024-12-03T14:00:03.000Z","message":{"role":"toolResult","toolCallId":"call_123","toolName":"bash","content":[{"type":"text","text":"output"}],"isError":false}}"#,
    r#"{"type":"model_change","id":"d4e5f6g7","parentId":"c3d4e5f6","timestamp":"2024-12-03T14:05:00.000Z","provider":"openai","modelId":"gpt-4o"}"#,
    r#"{"type":"thinking_level_change","id":"e5f6g7h8","parentId":"d4e5f6g7","timestamp":"2024-12-03T14:06:00.000Z","thinkingLevel":"high"}"#,
    r#"{"type":"compaction","id":"f6g7h8i9","parentId":"e5f6g7h8","timestamp":"2024-12-03T14:10:00.000Z","summary":"User discussed X, Y, Z...","firstKeptEntryId":"c3d4e5f6","tokensBefore":50000}"#,
    r#"{"type":"branch_summary","id":"g7h8i9j0","parentId":"a1b2c3d4","timestamp":"2024-12-03T14:15:00.000Z","fromId":"f6g7h8i9","summary":"Branch explored approach A..."}"#,
    r#"{"type":"custom","id":"h8i9j0k1","parentId":"g7h8i9j0","timestamp":"2024-12-03T14:20:00.000Z","customType":"my-extension","data":{"count":42}}"#,
    r#"{"type":"custom_message","id":"i9j0k1l2","parentId":"h8i9j0k1","timestamp":"2024-12-03T14:25:00.000Z","customType":"my-extension","content":"Injected context...","display":true}"#,
    r#"{"type":"label","id":"j0k1l2m3","parentId":"i9j0k1l2","timestamp":"2024-12-03T14:30:00.000Z","targetId":"a1b2c3d4","label":"checkpoint-1"}"#,
    r#"{"type":"session_info","id":"k1l2m3n4","parentId":"j0k1l2m3","timestamp":"2024-12-03T14:35:00.000Z","name":"Refactor auth module"}"#,
];

/// The examples of omp's document of session storage. The header's values are those of the document.
const OMP: &[&str] = &[
    r#"{"type": "session", "version": 3, "id": "1f9d2a6b9c0d1234", "timestamp": "2026-02-16T10:20:30.000Z", "cwd": "/work/pi", "title": "optional session title", "parentSession": "optional lineage marker"}"#,
    r#"{"type": "message", "id": "a1b2c3d4", "parentId": null, "timestamp": "2026-02-16T10:21:00.000Z", "message": {"role": "assistant", "provider": "anthropic", "model": "claude-sonnet-4-5", "content": [{ "type": "text", "text": "Done." }], "usage": { "input": 100, "output": 20, "cacheRead": 0, "cacheWrite": 0, "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 } }, "timestamp": 1760000000000}}"#,
    r#"{"type": "model_change", "id": "b1c2d3e4", "parentId": "a1b2c3d4", "timestamp": "2026-02-16T10:21:30.000Z", "model": "openai/gpt-4o", "role": "default"}"#,
    r#"{"type": "thinking_level_change", "id": "c1d2e3f4", "parentId": "b1c2d3e4", "timestamp": "2026-02-16T10:22:00.000Z", "thinkingLevel": "high"}"#,
    r#"{"type": "compaction", "id": "d1e2f3a4", "parentId": "c1d2e3f4", "timestamp": "2026-02-16T10:23:00.000Z", "summary": "Conversation summary", "shortSummary": "Short recap", "firstKeptEntryId": "a1b2c3d4", "tokensBefore": 42000, "details": { "readFiles": ["src/a.ts"] }, "preserveData": { "hookState": true }, "fromExtension": false}"#,
    r#"{"type": "branch_summary", "id": "e1f2a3b4", "parentId": "a1b2c3d4", "timestamp": "2026-02-16T10:24:00.000Z", "fromId": "a1b2c3d4", "summary": "Summary of abandoned path", "details": { "note": "optional" }, "fromExtension": true}"#,
    r#"{"type": "custom", "id": "f1a2b3c4", "parentId": "e1f2a3b4", "timestamp": "2026-02-16T10:25:00.000Z", "customType": "my-extension", "data": { "state": 1 }}"#,
    r#"{"type": "custom_message", "id": "a2b3c4d5", "parentId": "f1a2b3c4", "timestamp": "2026-02-16T10:26:00.000Z", "customType": "my-extension", "content": "Injected context", "display": true, "details": { "debug": false }}"#,
    r#"{"type": "label", "id": "b2c3d4e5", "parentId": "a2b3c4d5", "timestamp": "2026-02-16T10:27:00.000Z", "targetId": "a1b2c3d4", "label": "checkpoint"}"#,
    r#"{"type": "ttsr_injection", "id": "c2d3e4f5", "parentId": "b2c3d4e5", "timestamp": "2026-02-16T10:28:00.000Z", "injectedRules": ["ruleA", "ruleB"]}"#,
    r#"{"type": "session_init", "id": "d2e3f4a5", "parentId": "c2d3e4f5", "timestamp": "2026-02-16T10:29:00.000Z", "systemPrompt": "...", "task": "...", "tools": ["read", "edit"], "outputSchema": { "type": "object" }}"#,
    r#"{"type": "mode_change", "id": "e2f3a4b5", "parentId": "d2e3f4a5", "timestamp": "2026-02-16T10:30:00.000Z", "mode": "plan", "data": { "planFile": "/tmp/plan.md" }}"#,
];

/// Imports the lines as a file; returns its bytes.
fn import(place: &Place, lines: &[&str]) -> Vec<u8> {
    let bytes =
        lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect::<Vec<u8>>();
    let file = place.write("s.jsonl", &bytes);
    let report = place.import(&file);
    assert_eq!(report.malformed, 0);
    bytes
}

fn context(reader: &SessionReader, leaf: &str) -> Value {
    let context = reader.build_context(ContextLeaf::Entry(leaf), None).unwrap();
    serde_json::from_str(&context.to_json()).unwrap()
}

fn path(reader: &SessionReader, from: &str) -> Vec<String> {
    let mut ids = Vec::new();
    reader
        .get_path(Some(from), |entry| {
            ids.push(entry.id().unwrap());
            Ok(())
        })
        .unwrap();
    ids
}

#[test]
fn pis_examples() {
    let place = Place::new();
    let bytes = import(&place, PI);
    assert_eq!(place.exact("uuid"), bytes);
    assert_eq!(place.export("uuid", &ExportMode::Current), bytes);
    let reader = place.store.reader("uuid").unwrap();
    assert_eq!(reader.family(), Family::Pi);
    let kinds: Vec<EntryKind> = {
        let mut kinds = Vec::new();
        reader
            .get_entries(|entry| {
                kinds.push(entry.kind());
                Ok(true)
            })
            .unwrap();
        kinds
    };
    assert_eq!(
        kinds,
        [
            EntryKind::Message,
            EntryKind::Message,
            EntryKind::Message,
            EntryKind::ModelChange,
            EntryKind::ThinkingLevelChange,
            EntryKind::Compaction,
            EntryKind::BranchSummary,
            EntryKind::Custom,
            EntryKind::CustomMessage,
            EntryKind::Label,
            EntryKind::SessionInfo,
        ]
    );
    assert_eq!(reader.get_entry("c3d4e5f6").unwrap().role(), MessageRole::ToolResult);
    assert_eq!(reader.get_label("a1b2c3d4").unwrap().as_deref(), Some("checkpoint-1"));
    assert_eq!(reader.get_session_name().as_deref(), Some("Refactor auth module"));
    // The first message names a parent that is not in the file, so it is a root.
    let children = reader.get_children(Some("a1b2c3d4")).unwrap();
    let ids: Vec<_> = children.iter().filter_map(|entry| entry.id()).collect();
    assert_eq!(ids, ["b2c3d4e5", "g7h8i9j0"]);
    assert_eq!(
        path(&reader, "k1l2m3n4"),
        ["a1b2c3d4", "g7h8i9j0", "h8i9j0k1", "i9j0k1l2", "j0k1l2m3", "k1l2m3n4"]
    );
    // The branch with the compaction: summary, what is kept, nothing after it.
    let compacted = context(&reader, "f6g7h8i9");
    assert_eq!(compacted["model"], json!({"provider": "openai", "modelId": "gpt-4o"}));
    assert_eq!(compacted["thinkingLevel"], "high");
    let roles: Vec<_> =
        compacted["messages"].as_array().unwrap().iter().map(|m| &m["role"]).collect();
    assert_eq!(roles, ["compactionSummary", "toolResult"]);
    // The other branch: the summary of the abandoned one, and the extension's message.
    let other = context(&reader, "k1l2m3n4");
    assert_eq!(
        other["messages"][1],
        json!({"role": "branchSummary", "summary": "Branch explored approach A...", "fromId": "f6g7h8i9", "timestamp": 1_733_235_300_000u64})
    );
    assert_eq!(
        other["messages"][2],
        json!({"role": "custom", "customType": "my-extension", "content": "Injected context...", "display": true, "timestamp": 1_733_235_900_000u64})
    );
    assert_eq!((&other["model"], &other["thinkingLevel"]), (&Value::Null, &json!("off")));
    drop(reader);
    place.assert_sound();
}

#[test]
fn omps_examples() {
    let place = Place::new();
    let bytes = import(&place, OMP);
    assert_eq!(place.exact("1f9d2a6b9c0d1234"), bytes);
    assert_eq!(place.export("1f9d2a6b9c0d1234", &ExportMode::Current), bytes);
    let reader = place.store.reader("1f9d2a6b9c0d1234").unwrap();
    assert_eq!(reader.family(), Family::Omp);
    let facts = reader.facts();
    assert_eq!(facts.cwd.as_deref(), Some("/work/pi"));
    assert_eq!(facts.title.as_deref(), Some("optional session title"));
    assert_eq!(facts.parent_session.as_deref(), Some("optional lineage marker"));
    assert_eq!(reader.get_label("a1b2c3d4").unwrap().as_deref(), Some("checkpoint"));
    assert_eq!(reader.get_injected_rules().unwrap(), ["ruleA", "ruleB"]);
    let usage = reader.usage_statistics().unwrap();
    assert_eq!((usage.messages, usage.input, usage.output), (1, 100, 20));
    let at_the_leaf = context(&reader, "e2f3a4b5");
    assert_eq!(at_the_leaf["mode"], "plan");
    assert_eq!(at_the_leaf["modeData"], json!({"planFile": "/tmp/plan.md"}));
    assert_eq!(at_the_leaf["injectedTtsrRules"], json!(["ruleA", "ruleB"]));
    assert_eq!(at_the_leaf["models"], json!({"default": "anthropic/claude-sonnet-4-5"}));
    let roles: Vec<_> = at_the_leaf["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(roles, ["assistant", "branchSummary", "custom"]);
    assert_eq!(at_the_leaf["messages"][2]["details"], json!({"debug": false}));
    let compacted = context(&reader, "d1e2f3a4");
    assert_eq!(compacted["models"], json!({"default": "openai/gpt-4o"}));
    assert_eq!(compacted["thinkingLevel"], "high");
    assert_eq!(compacted["mode"], "none");
    assert_eq!(
        compacted["messages"][0],
        json!({"role": "compactionSummary", "summary": "Conversation summary", "shortSummary": "Short recap", "tokensBefore": 42000, "timestamp": 1_771_237_380_000u64})
    );
    assert_eq!(compacted["messages"][1]["role"], "assistant");
    drop(reader);
    place.assert_sound();
}

/// The examples of the older omp document: those of pi's, but for `session_info`, below a header of version 2.
#[test]
fn the_older_omp_examples() {
    let place = Place::new();
    let header = PI[0].replace("\"version\":3", "\"version\":2");
    let mut lines = vec![&*header];
    lines.extend(&PI[1..PI.len() - 1]);
    let bytes =
        lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect::<Vec<u8>>();
    let file = place.write("s.jsonl", &bytes);
    let options = ImportOptions { family: Some(Family::Omp), ..ImportOptions::default() };
    place.import_with(&file, &options);
    assert_eq!(place.export("uuid", &ExportMode::Original), bytes);
    let reader = place.store.reader("uuid").unwrap();
    assert_eq!(reader.family(), Family::Omp);
    assert_eq!(reader.get_label("a1b2c3d4").unwrap().as_deref(), Some("checkpoint-1"));
    let compacted = context(&reader, "f6g7h8i9");
    // A provider and a model's id count as one name for the default role.
    assert_eq!(compacted["models"], json!({"default": "openai/gpt-4o"}));
    assert_eq!(compacted["thinkingLevel"], "high");
    assert_eq!(
        compacted["messages"][0],
        json!({"role": "compactionSummary", "summary": "User discussed X, Y, Z...", "tokensBefore": 50000, "timestamp": 1_733_235_000_000u64})
    );
    let other = context(&reader, "j0k1l2m3");
    let roles: Vec<_> =
        other["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "branchSummary", "custom"]);
    drop(reader);
    place.assert_sound();
}

/// The parsing example of both documents of the file format prints these of each entry.
#[test]
fn what_the_parsing_example_prints() {
    let place = Place::new();
    import(&place, PI);
    let reader = place.store.reader("uuid").unwrap();
    let member = |id: &str, name: &str| reader.get_entry(id).unwrap().json().unwrap()[name].clone();
    let header = reader.get_header().unwrap().unwrap().json().unwrap();
    assert_eq!((&header["version"], &header["id"]), (&json!(3), &json!("uuid")));
    assert_eq!(member("a1b2c3d4", "message")["content"], "Hello");
    assert_eq!(member("f6g7h8i9", "tokensBefore"), 50000);
    assert_eq!(member("g7h8i9j0", "fromId"), "f6g7h8i9");
    assert_eq!(member("h8i9j0k1", "data"), json!({"count": 42}));
    assert_eq!(member("i9j0k1l2", "content"), "Injected context...");
    assert_eq!(member("j0k1l2m3", "targetId"), "a1b2c3d4");
    assert_eq!(member("d4e5f6g7", "modelId"), "gpt-4o");
    assert_eq!(member("e5f6g7h8", "thinkingLevel"), "high");
}

/// The header of a session with a parent, in both documents of the session file format, and the header of version 2.
#[test]
fn headers_with_a_parent() {
    for version in [2, 3] {
        let place = Place::new();
        let header = format!(
            r#"{{"type":"session","version":{version},"id":"uuid","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/path/to/project","parentSession":"/path/to/original/session.jsonl"}}"#
        );
        let bytes = import(&place, &[&header]);
        assert_eq!(place.exact("uuid"), bytes);
        let facts = place.store.sessions().unwrap().remove(0);
        assert_eq!(facts.parent_session.as_deref(), Some("/path/to/original/session.jsonl"));
        assert_eq!(facts.imported_version, version.to_string().as_str());
        assert_eq!(facts.migrated, version == 2);
        let current = String::from_utf8(place.export("uuid", &ExportMode::Current)).unwrap();
        assert!(current.contains(r#""version":3,"#));
    }
}

/// The tree that both documents show: a branch at the second answer, the leaf on the first of its branches.
#[test]
fn the_drawn_tree() {
    let place = Place::new();
    let message = |id: &str, parent: &str, role: &str, second: u32| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2024-12-03T14:00:{second:02}.000Z","message":{{"role":"{role}","content":"{id}"}}}}"#
        )
    };
    let summary = r#"{"type":"branch_summary","id":"b","parentId":"a2","timestamp":"2024-12-03T14:00:05.000Z","fromId":"u3","summary":"left"}"#;
    let lines = [
        PI[0].to_owned(),
        message("u1", "", "user", 1),
        message("a1", "u1", "assistant", 2),
        message("u2", "a1", "user", 3),
        message("a2", "u2", "assistant", 4),
        summary.to_owned(),
        message("u4", "b", "user", 6),
        message("u3", "a2", "user", 7),
    ];
    import(&place, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let reader = place.store.reader("uuid").unwrap();
    assert_eq!(reader.get_leaf_id().unwrap().as_deref(), Some("u3"));
    assert_eq!(path(&reader, "u3"), ["u1", "a1", "u2", "a2", "u3"]);
    assert_eq!(path(&reader, "u4"), ["u1", "a1", "u2", "a2", "b", "u4"]);
    let tree = reader.get_tree().unwrap();
    let branching: Vec<_> = tree
        .nodes()
        .iter()
        .filter(|node| node.children.len() > 1)
        .filter_map(|node| node.id.clone())
        .collect();
    assert_eq!(branching, ["a2"]);
    assert_eq!(tree.roots().len(), 1);
}

/// `label: undefined` clears a label, and so does an empty one.
#[test]
fn cleared_labels() {
    for cleared in ["", r#","label":"""#, r#","label":null"#] {
        let place = Place::new();
        let clear = format!(
            r#"{{"type":"label","id":"x","parentId":"k1l2m3n4","timestamp":"2024-12-03T14:40:00.000Z","targetId":"a1b2c3d4"{cleared}}}"#
        );
        let lines: Vec<&str> = PI.iter().copied().chain([&*clear]).collect();
        import(&place, &lines);
        let reader = place.store.reader("uuid").unwrap();
        assert_eq!(reader.get_label("a1b2c3d4").unwrap(), None, "{cleared}");
    }
}
