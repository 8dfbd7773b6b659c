//! Records of Claude Code (session JSONL format document; most types are observed).

use std::borrow::Cow;

use crate::claude::markup::{self, Piece};
use crate::claude::{Content, Record, RecordKind, Scanner};
use crate::scan::Raw;
use crate::view::content::{self, push_text, string};
use crate::view::{Part, Role, View};

/// The name of a prompt that waited while the model worked.
const QUEUED: &str = "queued_command";

/// What a line of a Claude Code session says. `line` is its text, with or without terminator, as
/// [`crate::text::decode`] returns it. For the records in a malformed line use [`recover`](crate::recover::recover()).
///
/// ```
/// use leafline_import::view::{self, Part, Role};
///
/// let view = view::claude(
///     r#"{"type":"user","isSidechain":true,"message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"no such file","is_error":true}]}}"#,
/// );
/// assert!(view.role == Role::Tool && view.is_sidechain);
/// let [Part::ToolResult { call_id, is_error: true, text, .. }] = &view.parts[..] else { panic!("one result") };
/// assert_eq!((call_id.as_deref(), &**text), (Some("t1"), "no such file"));
/// ```
#[must_use]
pub fn claude(line: &str) -> View {
    let mut scanner = Scanner::new();
    let record = scanner.scan(line);
    let kind = record.kind();
    if matches!(kind, RecordKind::Blank | RecordKind::Malformed | RecordKind::Scalar) {
        return View::default();
    }
    let mut view = View {
        role: role(&record),
        type_name: record.type_name().map(Cow::into_owned),
        time: record.timestamp_ms(),
        model: record.model().map(Cow::into_owned),
        is_sidechain: record.is_sidechain(),
        is_hidden: record.is_meta(),
        ..View::default()
    };
    if let Some(prompt) = record.queued_prompt() {
        content::read(Some(prompt), &mut view.parts);
        view.type_name = Some(QUEUED.to_owned());
    } else if kind.is_message() {
        content::read(record.scan().members.message_content, &mut view.parts);
    } else {
        read_other(&record, line, &mut view);
    }
    if view.role == Role::User || record.is_local_command() {
        view.parts = view.parts.into_iter().flat_map(without_tags).collect();
    }
    view
}

/// The parts of what a text says by its tags; any other part stays.
fn without_tags(part: Part) -> Vec<Part> {
    match part {
        Part::Text(text) if text.contains('<') => {
            let pieces = markup::pieces(&text);
            pieces.iter().filter_map(part_of).collect()
        }
        other => vec![other],
    }
}

fn part_of(piece: &Piece<'_>) -> Option<Part> {
    let text = piece.shown();
    Some(match piece {
        Piece::Output(_) => Part::ToolResult { call_id: None, name: None, is_error: false, text },
        Piece::Added { text: "", .. } => return None,
        Piece::Added { name, .. } => {
            Part::Other { type_name: (*name).to_owned(), title: None, text }
        }
        Piece::Text(_) | Piece::Command { .. } | Piece::Shell(_) => Part::Text(text),
    })
}

fn role(record: &Record<'_>) -> Role {
    match record.kind() {
        RecordKind::User if record.is_compact_summary() => Role::Summary,
        RecordKind::User if record.content() == Content::ToolResults => Role::Tool,
        RecordKind::User => Role::User,
        RecordKind::Attachment if record.queued_prompt().is_some() => Role::User,
        RecordKind::Assistant => Role::Assistant,
        RecordKind::System => Role::System,
        RecordKind::Summary => Role::Summary,
        RecordKind::CustomTitle
        | RecordKind::AiTitle
        | RecordKind::AgentName
        | RecordKind::Mode
        | RecordKind::PermissionMode => Role::Setting,
        _ => Role::Other,
    }
}

/// The text of a record that is not a message, for the types known to have one.
fn read_other(record: &Record<'_>, line: &str, view: &mut View) {
    let parts = &mut view.parts;
    let members = &record.scan().members;
    let member = |name| Raw::parse(line).ok()?.member(name);
    match record.kind() {
        RecordKind::Summary => push_text(members.summary, parts),
        RecordKind::Mode => push_text(members.mode, parts),
        RecordKind::PermissionMode => push_text(member("permissionMode"), parts),
        RecordKind::CustomTitle => push_text(member("customTitle"), parts),
        RecordKind::AiTitle => push_text(member("aiTitle"), parts),
        RecordKind::AgentName => push_text(member("agentName"), parts),
        RecordKind::LastPrompt => push_text(member("lastPrompt"), parts),
        RecordKind::PrLink => push_text(member("prUrl"), parts),
        // Without `fullOutput`, which each progress repeats from the start, and an agent's messages, which have their
        // own records.
        RecordKind::Progress => read_carried(members.data, ["output", "prompt"], view),
        RecordKind::Attachment => read_carried(member("attachment"), ["content", "prompt"], view),
        RecordKind::System => {
            content::read(member("content").or(members.message_content), parts);
            if let Some(subtype) = record.subtype() {
                view.type_name = Some(subtype.into_owned());
            }
        }
        _ => content::read(member("content").or(members.message_content), parts),
    }
}

/// The contents of an attachment or a progress: its type, and the first present member of the two that can hold its
/// content.
fn read_carried(carried: Option<Raw<'_>>, [first, second]: [&str; 2], view: &mut View) {
    let Some(carried) = carried else { return };
    let [type_name, content, instead] = carried.members(["type", first, second]);
    if let Some(name) = string(type_name) {
        view.type_name = Some(name);
    }
    content::read(content.or(instead), &mut view.parts);
}

#[cfg(test)]
mod tests;
