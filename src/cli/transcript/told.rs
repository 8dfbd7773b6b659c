//! What an entry, or a message for the model, tells a person.

use leafline::{Entry, EntryKind, Family, JsonText, Part, Role, View};
use leafline_import::view;

use crate::cli::{preview, text};

/// An entry or a message, as far as a person reads it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Whose words they are; `None` where they stand below what is before them: a tool's result below its call.
    pub(super) heading: Option<String>,
    /// The time that it states, in milliseconds since 1970.
    pub(super) time: Option<i64>,
    /// The model that it is from.
    pub(super) model: Option<String>,
    /// Whether the model said it: what it says in several pieces has one heading.
    pub(super) is_answer: bool,
    pub(super) parts: Vec<ToldPart>,
}

/// A part of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToldPart {
    /// Text to be shown whole.
    Text(String),
    /// What is cut to a line, unless everything is to be shown.
    Aside {
        /// What it is.
        sign: &'static str,
        /// What stands ahead of its text, fit for a terminal.
        name: String,
        text: String,
        /// Whether its words are shown between quotation marks.
        is_quoted: bool,
        is_error: bool,
    },
}

/// What a message of a context tells: it is what a line of the family has inside.
pub(super) fn message(family: Family, json: &JsonText) -> Told {
    let message = json.as_str();
    let entry = |entry_type| format!(r#"{{"type":"{entry_type}","message":{message}}}"#);
    let view = match family {
        Family::Opal => view::opal(message),
        Family::Claude => match view::pi_omp(&entry("message")).role {
            Role::Assistant => view::claude(&entry("assistant")),
            _ => view::claude(&entry("user")),
        },
        _ => view::pi_omp(&entry("message")),
    };
    // The model in force is told once, for all of them.
    Told { model: None, ..conversation(&view, "message") }
}

/// What an entry of a path tells. What is no part of the conversation takes a line.
pub(super) fn entry(entry: &Entry, shows_all: bool) -> Told {
    let view = entry.view();
    let is_message = entry.kind() == EntryKind::Message;
    let is_conversation = match view.role {
        Role::Setting | Role::Other | Role::None => is_message,
        Role::System => is_message || shows_all,
        _ => true,
    };
    if is_conversation {
        return conversation(&view, &preview::name(entry, &view));
    }
    let words = format!("{} {}", preview::name(entry, &view), preview::words(entry, &view));
    Told { parts: vec![aside("·", words.trim_end().to_owned(), String::new())], ..Told::default() }
}

fn conversation(view: &View, name: &str) -> Told {
    let name = view.type_name.as_deref().unwrap_or(name);
    let name = text::one_line(name, preview::LONGEST);
    let heading = match view.role {
        Role::Tool => None,
        // The name is that of what the extension calls it.
        Role::Custom => Some(format!("custom {name}")),
        Role::Summary if name == "user" => Some("summary".to_owned()),
        _ => Some(name),
    };
    let mut parts: Vec<ToldPart> =
        view.parts.iter().map(|part| told_part(part, view.role)).collect();
    parts.extend(view.error.as_ref().map(|error| ToldPart::Aside {
        sign: "!",
        name: String::new(),
        text: error.clone(),
        is_quoted: false,
        is_error: true,
    }));
    let is_answer = view.role == Role::Assistant;
    Told { heading, time: view.time, model: view.model.clone(), is_answer, parts }
}

fn told_part(part: &Part, role: Role) -> ToldPart {
    match part {
        Part::Text(command) if role == Role::Shell => aside("$", String::new(), command.clone()),
        Part::Text(text) => ToldPart::Text(text.clone()),
        Part::Thinking(thought) => aside("~", String::new(), thought.clone()),
        Part::ToolCall { name, arguments, .. } => {
            let name = if name.is_empty() { "tool" } else { name };
            aside("→", text::one_line(name, preview::LONGEST), arguments.clone())
        }
        Part::ToolResult { text, .. } if role != Role::Tool => {
            aside("←", String::new(), text.clone())
        }
        Part::ToolResult { name, is_error, text, .. } => {
            let name = name.as_deref().unwrap_or_default();
            let name = format!("{name} {}", if *is_error { "failed" } else { "" });
            ToldPart::Aside {
                sign: "←",
                name: text::one_line(&name, preview::LONGEST),
                text: text.clone(),
                is_quoted: true,
                is_error: *is_error,
            }
        }
        other => ToldPart::Text(preview::block_name(other).unwrap_or_default()),
    }
}

fn aside(sign: &'static str, name: String, text: String) -> ToldPart {
    ToldPart::Aside { sign, name, text, is_quoted: false, is_error: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_may_go_without_a_name() {
        let view =
            view::opal(r#"{"id":"a","role":"tool_result","content":"none","is_error":true}"#);
        let told = conversation(&view, "toolResult");
        assert_eq!(told.heading, None);
        let [ToldPart::Aside { name, is_error: true, .. }] = &told.parts[..] else {
            panic!("{told:?}")
        };
        assert_eq!(name, "failed");
    }

    #[test]
    fn the_model_and_the_user_are_told_apart() {
        for role in ["assistant", "user"] {
            let json = format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"x"}}]}}"#);
            let line = format!(r#"{{"type":"{role}","message":{json}}}"#);
            let told = conversation(&view::claude(&line), "message");
            assert_eq!(
                (told.heading.as_deref(), told.is_answer),
                (Some(role), role == "assistant")
            );
        }
    }
}
