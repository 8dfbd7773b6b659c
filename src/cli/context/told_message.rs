//! What a message tells a person.

use leafline::JsonText;
use serde_json::Value;

use super::super::preview::{self, LONGEST, member};
use super::super::text;

/// A message, as far as a person reads it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ToldMessage {
    /// What its heading says; `None` for tools' results, which stand below their calls.
    pub(super) role: Option<String>,
    /// The time that it states, in milliseconds since 1970.
    pub(super) time: Option<i64>,
    pub(super) parts: Vec<Told>,
}

/// A part of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Text to be shown whole.
    Text(String),
    /// A line to be cut where the terminal ends; its words are fit for one.
    Line {
        /// What it is.
        sign: &'static str,
        words: String,
        is_error: bool,
    },
}

/// What a message tells.
pub(super) fn told(json: &JsonText) -> ToldMessage {
    let Some(message) = value(json) else {
        let words = format!("a message of {} bytes that --json shows", json.as_str().len());
        return ToldMessage {
            role: Some("message".to_owned()),
            parts: vec![line("…", words)],
            ..ToldMessage::default()
        };
    };
    if matches!(member(&message, "role"), Some("toolResult" | "tool_result")) {
        return ToldMessage { parts: vec![result(&message)], ..ToldMessage::default() };
    }
    if has_results_only(&message) {
        return ToldMessage { parts: parts(&message), ..ToldMessage::default() };
    }
    let role = text::one_line(member(&message, "role").unwrap_or("message"), LONGEST);
    let role = match member(&message, "customType") {
        Some(custom) => format!("{role} {}", text::one_line(custom, LONGEST)),
        None => role,
    };
    ToldMessage {
        role: Some(role),
        time: message.get("timestamp").and_then(Value::as_i64),
        parts: parts(&message),
    }
}

/// Whether it is a message in the user's name in which tools answer, as Claude Code has them.
fn has_results_only(message: &Value) -> bool {
    let is_result = |block: &Value| member(block, "type") == Some("tool_result");
    let blocks = message.get("content").and_then(Value::as_array);
    blocks.is_some_and(|blocks| !blocks.is_empty() && blocks.iter().all(is_result))
}

fn parts(message: &Value) -> Vec<Told> {
    let mut parts = Vec::new();
    // Opal has thoughts and calls beside the content.
    if let Some(thinking) = member(message, "thinking") {
        parts.push(line("~", text::one_line(thinking, LONGEST)));
    }
    match message.get("content") {
        Some(Value::String(content)) => parts.push(Told::Text(content.clone())),
        Some(Value::Array(blocks)) => parts.extend(blocks.iter().map(block)),
        _ => {}
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    parts.extend(calls.into_iter().flatten().map(|one| call(one, "arguments")));
    // Who runs something himself shows the model a command, or code, and what came of it.
    if let Some(run) = member(message, "command").or(member(message, "code")) {
        parts.push(line("$", text::one_line(run, LONGEST)));
    }
    if let Some(output) = member(message, "output") {
        parts.push(line("←", text::one_line(output, LONGEST)));
    }
    parts.extend(member(message, "summary").map(|summary| Told::Text(summary.to_owned())));
    if let Some(error) = member(message, "errorMessage") {
        parts.push(Told::Line { sign: "!", words: text::one_line(error, LONGEST), is_error: true });
    }
    parts
}

fn block(block: &Value) -> Told {
    match member(block, "type") {
        Some("text") => Told::Text(member(block, "text").unwrap_or_default().to_owned()),
        Some("thinking") => {
            line("~", text::one_line(member(block, "thinking").unwrap_or_default(), LONGEST))
        }
        Some("toolCall") => call(block, "arguments"),
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => call(block, "input"),
        Some("tool_result") => result(block),
        Some("image") => {
            let source = block.get("source").and_then(|source| member(source, "media_type"));
            let name = member(block, "mimeType").or(source).unwrap_or("image");
            Told::Text(format!("[{name}]"))
        }
        other => Told::Text(format!("[{}]", other.unwrap_or("unknown content"))),
    }
}

/// A call of a tool, with its arguments in a member of this name.
fn call(call: &Value, arguments: &str) -> Told {
    let arguments = call.get(arguments).map(Value::to_string).unwrap_or_default();
    let words = format!("{} {arguments}", member(call, "name").unwrap_or("tool"));
    line("→", text::one_line(&words, LONGEST))
}

/// A tool's result, whether a message or a block of one; the programs spell its members differently.
fn result(message: &Value) -> Told {
    let is_true = |name| message.get(name) == Some(&Value::Bool(true));
    let is_error = is_true("isError") || is_true("is_error");
    let name = member(message, "toolName").or(member(message, "name")).unwrap_or("tool");
    let name = text::one_line(name, LONGEST);
    let failed = if is_error { " failed" } else { "" };
    let content = preview::content(message.get("content").unwrap_or(&Value::Null));
    let words = format!("{name}{failed} {content}").trim_end().to_owned();
    Told::Line { sign: "←", words, is_error }
}

fn line(sign: &'static str, words: String) -> Told {
    Told::Line { sign, words, is_error: false }
}

/// The message as a value; `None` where it is nested too deep. Programs cut text between the halves of a character;
/// a half is shown as U+FFFD.
fn value(json: &JsonText) -> Option<Value> {
    json.value().ok().or_else(|| serde_json::from_str(&without_lone_surrogates(json.as_str())).ok())
}

/// The text that `JSON.stringify` gave, which has escapes of surrogates only where they are alone, with U+FFFD for
/// each of them.
fn without_lone_surrogates(json: &str) -> String {
    let mut whole = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(place) = rest.find('\\') {
        let (before, escape) = rest.split_at(place);
        whole.push_str(before);
        let is_surrogate = escape.starts_with("\\ud") && escape.len() >= "\\ud83d".len();
        let length = if is_surrogate { "\\ud83d".len() } else { "\\n".len() };
        whole.push_str(if is_surrogate { "\\ufffd" } else { &escape[..length] });
        rest = &escape[length..];
    }
    whole.push_str(rest);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced() {
        let cut = r#"{"content":"\\ud83d \ud83d \u001b \"\ud83dx\\"}"#;
        let whole = r#"{"content":"\\ud83d \ufffd \u001b \"\ufffdx\\"}"#;
        assert_eq!(without_lone_surrogates(cut), whole);
        assert!(serde_json::from_str::<Value>(whole).is_ok());
    }
}
