//! Messages of Opal (Opal session document; the members are observed).

use crate::opal::{Line, LineKind, Scanner};
use crate::scan::Raw;
use crate::view::content::{
    self, Answer, push_call, push_result, push_text, push_thinking, string,
};
use crate::view::{Part, Role, View};

/// The `metadata.type` of messages that summarise others: those that were compacted, or an abandoned branch (observed).
const SUMMARIES: [&str; 2] = ["compaction_summary", "branch_summary"];

/// What a line of an Opal session says. `line` is its text, with or without terminator, as [`crate::text::decode`]
/// returns it.
///
/// Opal's members are in no particular order, so the parts are in the order of the conversation: what the model
/// thought, what it said, the tools that it calls.
///
/// ```
/// use leafline_import::view::{self, Part, Role};
///
/// let view = view::opal(
///     r#"{"id":"m2","role":"assistant","tool_calls":[{"call_id":"c1","name":"edit","arguments":{"path":"app.ts"}}],"content":"I'll edit app.ts"}"#,
/// );
/// assert_eq!((view.role, view.text()), (Role::Assistant, "I'll edit app.ts".to_owned()));
/// assert!(matches!(&view.parts[1], Part::ToolCall { name, .. } if name == "edit"));
/// ```
#[must_use]
pub fn opal(line: &str) -> View {
    let mut scanner = Scanner::new();
    let line = scanner.scan(line);
    let mut view = View::default();
    match line.kind() {
        LineKind::Blank | LineKind::Malformed | LineKind::Scalar => {}
        LineKind::Header => {
            view.role = Role::Setting;
            let title = line.members.metadata.and_then(|metadata| metadata.member("title"));
            push_text(title, &mut view.parts);
        }
        LineKind::Message => read_message(&line, &mut view),
    }
    view
}

fn read_message(line: &Line<'_>, view: &mut View) {
    let members = &line.members;
    view.type_name = string(members.role);
    view.time = line.timestamp();
    view.role = match view.type_name.as_deref() {
        Some("user") => Role::User,
        Some("assistant" | "tool_call") => Role::Assistant,
        Some("tool_result") => Role::Tool,
        _ => Role::Other,
    };
    let metadata_type = members.metadata.and_then(|metadata| metadata.member("type"));
    let is_summary =
        metadata_type.is_some_and(|name| SUMMARIES.into_iter().any(|known| name.is_text(known)));
    if view.role == Role::User && is_summary {
        view.role = Role::Summary;
        view.type_name = string(metadata_type);
    }
    let parts = &mut view.parts;
    push_thinking(members.thinking, parts);
    match view.type_name.as_deref() {
        Some("tool_call") => parts.push(Part::ToolCall {
            id: string(members.call_id),
            name: string(members.name).unwrap_or_default(),
            // Opal writes the arguments' JSON text as the content (observed).
            arguments: string(members.content).unwrap_or_default(),
        }),
        Some("tool_result") => {
            let answer =
                Answer { call_id: members.call_id, name: members.name, is_error: line.is_error() };
            push_result(answer, members.content, parts);
        }
        _ => content::read(members.content, parts),
    }
    let calls = members.tool_calls.into_iter().flat_map(Raw::elements);
    for call in calls.filter(|call| call.is_object()) {
        let [id, name, arguments] = call.members(["call_id", "name", "arguments"]);
        push_call(id, name, arguments, parts);
    }
}

#[cfg(test)]
mod tests;
