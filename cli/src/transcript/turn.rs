//! The readable parts of an entry, or of a message for the model.

use std::collections::HashMap;

use crate::{preview, text};
use leafline::context::JsonText;
use leafline::view::{Part, Role, View};
use leafline::{Entry, EntryKind, Family};

/// The names of the tools that were called, by call id: not every family repeats them in the results.
pub(crate) type Calls = HashMap<String, String>;

/// The readable parts of an entry or a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The speaker; `None` if the text belongs below the one before it, as a tool's result below its call.
    pub(crate) heading: Option<String>,
    /// Its time, in milliseconds since 1970.
    pub(crate) time: Option<i64>,
    /// Its model.
    pub(crate) model: Option<String>,
    /// Whether the model said it: consecutive pieces share one heading.
    pub(crate) is_answer: bool,
    pub(crate) parts: Vec<TurnPart>,
}

/// One part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TurnPart {
    /// Text to be shown whole.
    Text(String),
    /// Text that is cut to a line unless `--full` is given.
    Aside {
        /// What kind of part it is.
        sign: &'static str,
        /// A prefix of its text, safe for a terminal.
        name: String,
        text: String,
        /// Whether its text is shown in quotation marks.
        is_quoted: bool,
        is_error: bool,
    },
}

/// The parts of a message of a context, which is what a line of the family contains.
pub(crate) fn message(family: Family, json: &JsonText, calls: &mut Calls) -> Turn {
    let view = family.view_message(json.as_str());
    // The model in force is shown once for the whole context.
    let name = view.type_name.as_deref().unwrap_or("message");
    Turn { model: None, ..conversation(&view, name, calls) }
}

/// The parts of an entry of a path. An entry outside the conversation takes one line.
pub(crate) fn entry(entry: &Entry, shows_all: bool, calls: &mut Calls) -> Turn {
    let view = entry.view();
    let is_message = entry.kind() == EntryKind::Message;
    let is_conversation = match view.role {
        Role::Setting | Role::Other | Role::None => is_message,
        Role::System => is_message || shows_all,
        _ => true,
    };
    if is_conversation {
        return conversation(&view, &preview::name(entry, &view), calls);
    }
    let words = format!("{} {}", preview::name(entry, &view), preview::words(entry, &view));
    Turn { parts: vec![aside("·", words.trim_end().to_owned(), String::new())], ..Turn::default() }
}

fn conversation(view: &View, name: &str, calls: &mut Calls) -> Turn {
    let heading = match view.role {
        Role::Tool => None,
        // An extension's message is labelled with the extension's own name for it.
        Role::Custom => Some(format!("custom {}", view.type_name.as_deref().unwrap_or_default())),
        _ => Some(name.to_owned()),
    };
    let heading = heading.map(|heading| text::one_line(&heading, preview::LONGEST));
    let mut parts: Vec<TurnPart> =
        view.parts.iter().map(|part| turn_part(part, view.role, calls)).collect();
    parts.extend(view.error.as_ref().map(|error| TurnPart::Aside {
        sign: "!",
        name: String::new(),
        text: error.clone(),
        is_quoted: false,
        is_error: true,
    }));
    let is_answer = view.role == Role::Assistant;
    Turn { heading, time: view.time, model: view.model.clone(), is_answer, parts }
}

fn turn_part(part: &Part, role: Role, calls: &mut Calls) -> TurnPart {
    match part {
        Part::Text(command) if role == Role::Shell => aside("$", String::new(), command.clone()),
        Part::Text(text) => TurnPart::Text(text.clone()),
        Part::Thinking(thought) => aside("~", String::new(), thought.clone()),
        Part::ToolCall { id, name, arguments } => {
            calls.extend(id.clone().map(|id| (id, name.clone())));
            let name = if name.is_empty() { "tool" } else { name };
            aside("→", text::one_line(name, preview::LONGEST), arguments.clone())
        }
        Part::ToolResult { text, .. } if role != Role::Tool => {
            aside("←", String::new(), text.clone())
        }
        Part::ToolResult { call_id, name, is_error, text } => {
            let called = call_id.as_ref().and_then(|id| calls.remove(id));
            let name = name.clone().or(called).unwrap_or_default();
            let name = format!("{name} {}", if *is_error { "failed" } else { "" });
            TurnPart::Aside {
                sign: "←",
                name: text::one_line(&name, preview::LONGEST),
                text: text.clone(),
                is_quoted: true,
                is_error: *is_error,
            }
        }
        Part::Other { text, .. } if !text.is_empty() => {
            let name = preview::block_name(part).unwrap_or_default();
            aside("+", name, text.clone())
        }
        other => TurnPart::Text(preview::block_name(other).unwrap_or_default()),
    }
}

fn aside(sign: &'static str, name: String, text: String) -> TurnPart {
    TurnPart::Aside { sign, name, text, is_quoted: false, is_error: false }
}

#[cfg(test)]
mod tests {
    use leafline_import::view;

    use super::*;

    fn name_of_result(view: &View, calls: &mut Calls) -> String {
        let turn = conversation(view, "toolResult", calls);
        assert_eq!(turn.heading, None);
        match &turn.parts[..] {
            [TurnPart::Aside { sign: "←", name, .. }] => name.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_tool_may_go_without_a_name() {
        let view =
            view::opal(r#"{"id":"a","role":"tool_result","content":"none","is_error":true}"#);
        assert_eq!(name_of_result(&view, &mut Calls::new()), "failed");
        let view = view::claude(
            r#"{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"no"}]}}"#,
        );
        let mut calls = Calls::from([("t1".to_owned(), "Read".to_owned())]);
        assert_eq!(name_of_result(&view, &mut calls), "Read");
        assert_eq!(name_of_result(&view, &mut calls), "");
    }
}
