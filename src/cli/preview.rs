//! An entry in a few words.

use leafline::{Entry, EntryKind, MessageRole};
use serde_json::Value;

use super::text;

/// Characters of an entry's text that are shown at most.
pub(super) const LONGEST: usize = 200;

/// What kind of entry it is, in a word: a message by its role, others by their type.
pub(super) fn kind_name(kind: EntryKind, role: MessageRole) -> &'static str {
    match (kind, role) {
        (EntryKind::Message, MessageRole::None | MessageRole::Other) => kind.name(),
        (EntryKind::Message, role) => role.name(),
        (kind, _) => kind.name(),
    }
}

/// As [`kind_name`], with the line's own word for a type that no document names.
pub(super) fn name(entry: &Entry) -> String {
    match entry.kind() {
        EntryKind::Unknown => plain(Some(&type_name(entry))),
        kind => kind_name(kind, entry.role()).to_owned(),
    }
}

/// The entry's type: as it stands in the line, or what the line is instead.
pub(super) fn type_name(entry: &Entry) -> String {
    let stated = entry.type_name().filter(|_| entry.kind() != EntryKind::Malformed);
    stated.unwrap_or_else(|| entry.kind().name().to_owned())
}

/// What the entry says, on one line and fit for a terminal; empty where it says nothing to a person.
pub(super) fn words(entry: &Entry) -> String {
    let Ok(line) = entry.json() else {
        return String::new();
    };
    match entry.kind() {
        EntryKind::Message => message(line.get("message").unwrap_or(&Value::Null)),
        EntryKind::Compaction | EntryKind::BranchSummary => quoted(member(&line, "summary")),
        EntryKind::ThinkingLevelChange => plain(member(&line, "thinkingLevel")),
        EntryKind::ModelChange => model(&line),
        EntryKind::Custom => plain(member(&line, "customType")),
        EntryKind::CustomMessage => {
            let content = content(line.get("content").unwrap_or(&Value::Null));
            format!("{} {content}", plain(member(&line, "customType")))
        }
        EntryKind::Label => label(&line),
        EntryKind::SessionInfo => quoted(member(&line, "name")),
        EntryKind::ModeChange => plain(member(&line, "mode")),
        EntryKind::SessionInit => quoted(member(&line, "task")),
        EntryKind::TtsrInjection => {
            let rules = line.get("injectedRules").and_then(Value::as_array);
            let rules: Vec<&str> = rules.into_iter().flatten().filter_map(Value::as_str).collect();
            plain(Some(&rules.join(", ")))
        }
        _ => String::new(),
    }
}

/// A member that is a string.
pub(super) fn member<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

fn plain(text: Option<&str>) -> String {
    text::one_line(text.unwrap_or_default(), LONGEST)
}

fn quoted(text: Option<&str>) -> String {
    match text {
        Some(text) if !text.trim().is_empty() => format!("\"{}\"", plain(Some(text))),
        _ => String::new(),
    }
}

fn model(line: &Value) -> String {
    match (member(line, "provider"), member(line, "modelId")) {
        (Some(provider), Some(model)) => plain(Some(&format!("{provider}/{model}"))),
        (_, model) => plain(model.or(member(line, "model"))),
    }
}

fn label(line: &Value) -> String {
    let target = plain(member(line, "targetId"));
    match quoted(member(line, "label")) {
        cleared if cleared.is_empty() => format!("cleared on {target}"),
        label => format!("{label} on {target}"),
    }
}

fn message(message: &Value) -> String {
    let words = content(message.get("content").unwrap_or(&Value::Null));
    if !words.is_empty() {
        return words;
    }
    match member(message, "command") {
        Some(command) => plain(Some(&format!("$ {command}"))),
        None => quoted(member(message, "summary").or(member(message, "errorMessage"))),
    }
}

/// The first text of a content; without one the tools that it calls, its thoughts, or that it is an image.
pub(super) fn content(content: &Value) -> String {
    let blocks = match content {
        Value::String(text) => return quoted(Some(text)),
        Value::Array(blocks) => blocks,
        _ => return String::new(),
    };
    let of_type =
        |name: &'static str| blocks.iter().filter(move |block| member(block, "type") == Some(name));
    let text =
        of_type("text").map(|block| quoted(member(block, "text"))).find(|text| !text.is_empty());
    let calls: Vec<&str> = of_type("toolCall").filter_map(|block| member(block, "name")).collect();
    if let Some(text) = text {
        return text;
    }
    if !calls.is_empty() {
        return plain(Some(&format!("→ {}", calls.join(", "))));
    }
    if let Some(thought) = of_type("thinking").next() {
        return quoted(member(thought, "thinking"));
    }
    let image = of_type("image").next();
    image
        .map(|image| plain(Some(&format!("[{}]", member(image, "mimeType").unwrap_or("image")))))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_shows_its_text_first() {
        let blocks = json!({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a\nb"}]});
        assert_eq!(message(&blocks), "\"a b\"");
        assert_eq!(message(&json!({"content": "plain\u{1b}"})), r#""plain\u{1b}""#);
        let call = json!({"content": [{"type": "toolCall", "name": "bash"}, {"type": "toolCall", "name": "read"}]});
        assert_eq!(message(&call), "→ bash, read");
        assert_eq!(message(&json!({"command": "ls"})), "$ ls");
        assert_eq!(
            message(&json!({"content": [{"type": "image", "mimeType": "image/png"}]})),
            "[image/png]"
        );
        assert_eq!(message(&json!(7)), "");
    }
}
