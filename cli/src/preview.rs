//! A short preview of an entry.

use leafline::view::{Part, Role, View};
use leafline::{Entry, EntryKind, MessageRole};
use serde_json::Value;

use super::text;

/// The most characters of an entry's text that are shown.
pub(super) const LONGEST: usize = 200;

/// The kind of an entry, in a word: a message by its role, others by their type.
pub(super) fn kind_name(kind: EntryKind, role: MessageRole) -> &'static str {
    match (kind, role) {
        (EntryKind::Message, MessageRole::None | MessageRole::Other | MessageRole::Meta) => {
            kind.name()
        }
        (EntryKind::Message, role) => role.name(),
        (kind, _) => kind.name(),
    }
}

/// Like [`kind_name`], but with the line's own word for a type or role without a name of its own.
pub(super) fn name(entry: &Entry, view: &View) -> String {
    let is_named = match entry.kind() {
        EntryKind::Message => {
            !matches!(entry.role(), MessageRole::None | MessageRole::Other | MessageRole::Meta)
        }
        kind => !matches!(kind, EntryKind::Unknown | EntryKind::System | EntryKind::Outside),
    };
    match &view.type_name {
        _ if view.role == Role::User && !is_named => Role::User.name().to_owned(),
        _ if is_named => kind_name(entry.kind(), entry.role()).to_owned(),
        Some(stated) => plain(stated),
        // A line that is not JSON has no view, but may have a readable type.
        None => plain(&type_name(entry)),
    }
}

/// The entry's type as the line spells it, or what the line is instead.
pub(super) fn type_name(entry: &Entry) -> String {
    let stated = entry.type_name().filter(|_| entry.kind() != EntryKind::Malformed);
    stated.unwrap_or_else(|| entry.kind().name().to_owned())
}

/// The entry's text on one line, safe for a terminal; empty if it has no readable text.
pub(super) fn words(entry: &Entry, view: &View) -> String {
    match entry.kind() {
        EntryKind::Label => label(entry, view),
        EntryKind::Custom => plain(view.type_name.as_deref().unwrap_or_default()),
        EntryKind::CustomMessage => {
            let name = plain(view.type_name.as_deref().unwrap_or_default());
            format!("{name} {}", said(view)).trim().to_owned()
        }
        EntryKind::SessionInfo => said(view),
        // The task says more than the system prompt before it.
        EntryKind::SessionInit => match view.parts.last() {
            Some(Part::Text(task)) => quoted(task),
            _ => String::new(),
        },
        _ if view.role == Role::Setting => plain(&view.text().replace('\n', ", ")),
        _ if view.role == Role::Shell => plain(&format!("$ {}", view.text())),
        _ => said(view),
    }
}

/// The text, or a tool's result; else the tools that are called, thoughts, or the name of another part.
fn said(view: &View) -> String {
    let has_words = view.parts.iter().any(|part| match part {
        Part::Text(text) | Part::ToolResult { text, .. } => !text.trim().is_empty(),
        _ => false,
    });
    if has_words {
        return quoted(&view.preview(LONGEST));
    }
    let calls = view.parts.iter().filter_map(|part| match part {
        Part::ToolCall { name, .. } => Some(name.as_str()),
        _ => None,
    });
    let calls: Vec<&str> = calls.collect();
    if !calls.is_empty() {
        return plain(&format!("→ {}", calls.join(", ")));
    }
    let is_thought = view.parts.iter().any(|part| matches!(part, Part::Thinking(_)));
    let thought = quoted(&view.preview(LONGEST));
    if is_thought && !thought.is_empty() {
        return thought;
    }
    match &view.error {
        Some(error) => quoted(error),
        None => view.parts.iter().find_map(block_name).unwrap_or_default(),
    }
}

/// The name of a part that is not text; `None` for the others.
pub(super) fn block_name(part: &Part) -> Option<String> {
    let name = match part {
        Part::Image { mime_type, .. } => mime_type.as_deref().unwrap_or("image"),
        Part::Other { type_name, title, .. } => {
            let title = title.as_deref().unwrap_or_default();
            return Some(plain(format!("[{type_name}] {title}").trim_end()));
        }
        _ => return None,
    };
    Some(plain(&format!("[{name}]")))
}

fn label(entry: &Entry, view: &View) -> String {
    let line = entry.json().unwrap_or_default();
    let target = plain(line.get("targetId").and_then(Value::as_str).unwrap_or_default());
    match said(view) {
        cleared if cleared.is_empty() => format!("cleared on {target}"),
        label => format!("{label} on {target}"),
    }
}

fn plain(text: &str) -> String {
    text::one_line(text, LONGEST)
}

/// The text in quotation marks; empty without text.
pub(super) fn quoted(text: &str) -> String {
    match plain(text) {
        nothing if nothing.is_empty() => nothing,
        text => format!("\"{text}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leafline_import::view;

    fn words_of(content: &str) -> String {
        let line =
            format!(r#"{{"type":"message","message":{{"role":"assistant","content":{content}}}}}"#);
        said(&view::pi_omp(&line))
    }

    #[test]
    fn a_message_shows_its_text_first() {
        for (content, expected) in [
            (r#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a\nb"}]"#, "\"a b\""),
            (r#""plain\u001b""#, r#""plain\u{1b}""#),
            (
                r#"[{"type":"toolCall","name":"bash"},{"type":"toolCall","name":"read"}]"#,
                "→ bash, read",
            ),
            (r#"[{"type":"thinking","thinking":"hm"}]"#, "\"hm\""),
            (r#"[{"type":"image","mimeType":"image/png"}]"#, "[image/png]"),
            (r#"[{"type":"document"}]"#, "[document]"),
            (
                r#"[{"type":"document","title":"t.pdf","source":{"type":"text","data":"a"}}]"#,
                "[document] t.pdf",
            ),
            ("7", ""),
        ] {
            assert_eq!(words_of(content), expected, "{content}");
        }
    }

    #[test]
    fn a_failed_answer_shows_why() {
        let line = r#"{"type":"message","message":{"role":"assistant","content":[],"errorMessage":"too much"}}"#;
        assert_eq!(said(&view::pi_omp(line)), "\"too much\"");
    }
}
