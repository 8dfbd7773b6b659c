//! Real files: every message has the role and the parts that its document gives it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use leafline_import::view::{self, Part, Role, View};
use leafline_import::{lines, text};
use serde_json::Value;

use crate::oracle;
use crate::reading::{call, parts, result, rewritten};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

/// The expected view of a line with a message of user, model or tool, with its text.
type Expected = Option<(Role, Vec<Part>)>;

fn of_pi_or_omp(line: &Value) -> Expected {
    let message = line.get("message").filter(|_| line["type"] == "message")?;
    let content = &message["content"];
    match message["role"].as_str()? {
        "user" => Some((Role::User, parts(content))),
        "assistant" => Some((Role::Assistant, parts(content))),
        "toolResult" => {
            let [id, name, is_error] =
                ["toolCallId", "toolName", "isError"].map(|name| &message[name]);
            Some((Role::Tool, result(id, name, is_error, content)))
        }
        _ => None,
    }
}

fn of_claude(line: &Value) -> Expected {
    let content = &line["message"]["content"];
    let only_results = content.as_array().is_some_and(|blocks| {
        !blocks.is_empty() && blocks.iter().all(|block| block["type"] == "tool_result")
    });
    let role = match line["type"].as_str()? {
        "user" if line["isCompactSummary"] == true => Role::Summary,
        "user" if only_results => Role::Tool,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "attachment" if line["attachment"]["commandMode"] == "prompt" => {
            return Some((Role::User, parts(&line["attachment"]["prompt"])));
        }
        _ => return None,
    };
    Some((role, parts(content)))
}

fn of_opal(line: &Value) -> Expected {
    let content = &line["content"];
    match line["role"].as_str()? {
        "user" if line["metadata"]["type"] == "compaction_summary" => {
            Some((Role::Summary, parts(content)))
        }
        "user" => Some((Role::User, parts(content))),
        "assistant" => {
            let thinking = line["thinking"].as_str().map(|text| Part::Thinking(text.to_owned()));
            let calls = line["tool_calls"].as_array().into_iter().flatten();
            let calls = calls.map(|one| call(&one["call_id"], &one["name"], one.get("arguments")));
            Some((
                Role::Assistant,
                thinking.into_iter().chain(parts(content)).chain(calls).collect(),
            ))
        }
        "tool_result" => {
            Some((Role::Tool, result(&line["call_id"], &line["name"], &line["is_error"], content)))
        }
        _ => None,
    }
}

/// Whether a value contains a text that a reader would call one.
fn has_text(message: &Value) -> bool {
    match &message["content"] {
        Value::String(text) => !text.is_empty(),
        Value::Array(blocks) => blocks.iter().any(|block| {
            block.as_str().or(block["text"].as_str()).is_some_and(|text| !text.is_empty())
        }),
        _ => false,
    }
}

/// Whether a text begins or ends with a tag: what those say is the view's.
fn has_tags(parts: &[Part]) -> bool {
    let is_tag = |text: &str| text.trim_start().starts_with('<') || text.trim_end().ends_with('>');
    parts.iter().any(|part| matches!(part, Part::Text(text) if is_tag(text)))
}

#[test]
fn every_message_is_what_its_document_says() {
    let test = "every_message_is_what_its_document_says";
    let Some(corpus) = oracle::folder_of("LEAFLINE_CORPUS", test) else {
        return;
    };
    type Family = (&'static str, fn(&str) -> View, fn(&Value) -> Expected);
    let families: [Family; 4] = [
        ("pi", view::pi_omp, of_pi_or_omp),
        ("omp", view::pi_omp, of_pi_or_omp),
        ("claude", view::claude, of_claude),
        ("opal", view::opal, of_opal),
    ];
    for (folder, view_of, expected_of) in families {
        let mut met = BTreeMap::<Role, usize>::new();
        for path in files(&corpus.join(folder)) {
            for line in lines::split(&fs::read(&path).unwrap()) {
                let text = text::decode(line);
                let view = view_of(&text);
                *met.entry(view.role).or_default() += 1;
                let value: Value = serde_json::from_str(&text).unwrap_or_default();
                assert_eq!(view.role == Role::None, !value.is_object(), "{text}");
                let Some((role, parts)) = expected_of(&value) else {
                    let messages = [Role::User, Role::Assistant, Role::Tool];
                    assert!(!messages.contains(&view.role), "{text}");
                    continue;
                };
                if folder == "claude" && role == Role::User && has_tags(&parts) {
                    assert_eq!(view.role, role, "{text}");
                    continue;
                }
                let message = if folder == "opal" { &value } else { &value["message"] };
                if has_text(message) {
                    assert!(!view.parts.is_empty() && !view.preview(40).is_empty(), "{text}");
                }
                assert_eq!(view.model.as_deref(), message["model"].as_str(), "{text}");
                assert_eq!(view.is_sidechain, value["isSidechain"] == true, "{text}");
                assert_eq!(view.time.is_some(), value["timestamp"].is_string(), "{text}");
                assert_eq!((view.role, rewritten(view.parts)), (role, parts), "{text}");
            }
        }
        println!("{folder}: {met:?}");
        for role in [Role::User, Role::Assistant, Role::Tool] {
            assert!(met.contains_key(&role), "{folder} has no {role}");
        }
    }
}
