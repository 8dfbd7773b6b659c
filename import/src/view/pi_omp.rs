//! Entries of pi and omp (pi session file, omp session storage and omp session file documents).

use crate::pi_omp::{message_timestamp, session_name};
use crate::scan::{Members, Raw, Scan, Scanner};
use crate::time::parse_timestamp;
use crate::view::content::{self, Answer, is_true, push_made_text, push_result, push_text, string};
use crate::view::{Part, Role, View};
use crate::{EntryKind, MessageRole, omp};

/// What a line of a pi or omp session says. `line` is its text, with or without terminator, as [`crate::text::decode`]
/// returns it.
///
/// ```
/// use leafline_import::view::{self, Role};
///
/// let view = view::pi_omp(
///     r#"{"type":"model_change","id":"d4e5f6a7","parentId":null,"provider":"openai","modelId":"gpt-4o"}"#,
/// );
/// assert_eq!(view.role, Role::Setting);
/// assert_eq!((view.provider.as_deref(), view.model.as_deref()), (Some("openai"), Some("gpt-4o")));
/// assert_eq!(view.text(), "openai/gpt-4o");
/// ```
#[must_use]
pub fn pi_omp(line: &str) -> View {
    let mut scanner = Scanner::new();
    let scan = scanner.scan(line);
    let kind = EntryKind::of(&scan);
    if matches!(kind, EntryKind::Blank | EntryKind::Malformed | EntryKind::Scalar) {
        return View::default();
    }
    let timestamp = string(scan.members.timestamp);
    let time = timestamp.and_then(|text| parse_timestamp(&text));
    let mut view = View {
        role: role(kind),
        type_name: string(scan.members.entry_type),
        time: time.or_else(|| message_timestamp(&scan)),
        ..View::default()
    };
    match kind {
        EntryKind::Message => read_message(&scan, &mut view),
        EntryKind::ModelChange => read_model_change(&scan.members, &mut view),
        EntryKind::CustomMessage => {
            let record = Raw::parse(line).ok();
            read_custom_message(record, &mut view);
        }
        EntryKind::Custom => name_by_custom_type(scan.members.custom_type, &mut view),
        EntryKind::SessionInit => {
            let record = Raw::parse(line).ok();
            let [system_prompt, task] =
                record.map_or([None; 2], |record| record.members(["systemPrompt", "task"]));
            push_text(system_prompt, &mut view.parts);
            push_text(task, &mut view.parts);
        }
        EntryKind::SessionInfo | EntryKind::Title => {
            push_made_text(session_name(kind, &scan).unwrap_or_default(), &mut view.parts);
        }
        EntryKind::TtsrInjection => {
            let rules = scan.members.injected_rules.into_iter().flat_map(Raw::elements);
            let rules: Vec<String> = rules.filter_map(|rule| string(Some(rule))).collect();
            push_made_text(rules.join("\n"), &mut view.parts);
        }
        EntryKind::Compaction | EntryKind::BranchSummary => {
            push_text(scan.members.summary, &mut view.parts);
        }
        EntryKind::Header => push_text(scan.members.title, &mut view.parts),
        EntryKind::Label => push_text(scan.members.label, &mut view.parts),
        EntryKind::ThinkingLevelChange => push_text(scan.members.thinking_level, &mut view.parts),
        EntryKind::ModeChange => push_text(scan.members.mode, &mut view.parts),
        _ => {}
    }
    view
}

/// The role of an entry that is not a message.
fn role(kind: EntryKind) -> Role {
    match kind {
        EntryKind::Compaction | EntryKind::BranchSummary => Role::Summary,
        EntryKind::CustomMessage => Role::Custom,
        EntryKind::SessionInit => Role::System,
        EntryKind::ModelChange
        | EntryKind::ThinkingLevelChange
        | EntryKind::ModeChange
        | EntryKind::TtsrInjection
        | EntryKind::Label
        | EntryKind::SessionInfo
        | EntryKind::Header
        | EntryKind::Title => Role::Setting,
        _ => Role::Other,
    }
}

fn name_by_custom_type(custom_type: Option<Raw<'_>>, view: &mut View) {
    if let Some(name) = string(custom_type) {
        view.type_name = Some(name);
    }
}

/// An extension's message, as an entry or as the `message` of one.
fn read_custom_message(message: Option<Raw<'_>>, view: &mut View) {
    let names = ["customType", "content", "display"];
    let [custom_type, content, display] =
        message.map_or([None; 3], |message| message.members(names));
    name_by_custom_type(custom_type, view);
    content::read(content, &mut view.parts);
    view.is_hidden = display.is_some_and(|display| display.as_str() == "false");
}

/// pi's form has `provider` and `modelId`; omp's has both in `model`, separated by `/`, and may have the model's role.
fn read_model_change(members: &Members<'_>, view: &mut View) {
    let model = string(members.model).filter(|model| !model.is_empty());
    (view.provider, view.model) = match model {
        Some(model) => match model.split_once('/') {
            Some((provider, id)) if !provider.is_empty() => {
                (Some(provider.to_owned()), Some(id.to_owned()))
            }
            _ => (None, Some(model)),
        },
        None => (string(members.provider), string(members.model_id)),
    };
    let named = [view.provider.as_deref(), view.model.as_deref()];
    let mut text = named.into_iter().flatten().collect::<Vec<_>>().join("/");
    if let Some(role) = string(members.role).filter(|role| role != omp::DEFAULT_ROLE)
        && !text.is_empty()
    {
        text = format!("{role}: {text}");
    }
    push_made_text(text, &mut view.parts);
}

fn read_message(scan: &Scan<'_>, view: &mut View) {
    let members = &scan.members;
    let role_name = string(members.message_role);
    let content = members.message_content;
    view.provider = string(members.message_provider);
    view.model = string(members.message_model);
    view.role = message_role(MessageRole::of(scan), role_name.as_deref());
    view.type_name = role_name.or(view.type_name.take());
    let Some(message) = members.message else {
        return;
    };
    match view.role {
        Role::Tool => {
            let [call_id, name, is_error] = message.members(["toolCallId", "toolName", "isError"]);
            let answer = Answer { call_id, name, is_error: is_true(is_error) };
            push_result(answer, content, &mut view.parts);
        }
        Role::Shell => read_execution(message, &mut view.parts),
        Role::Summary => push_text(message.member("summary"), &mut view.parts),
        Role::Custom => {
            read_custom_message(Some(message), view);
            read_mentioned_files(message, &mut view.parts);
        }
        role => {
            content::read(content, &mut view.parts);
            if role == Role::Assistant {
                view.error = string(message.member("errorMessage"));
            }
        }
    }
}

/// The role of a message. Names that [`MessageRole`] does not have are those of omp's own messages (observed).
fn message_role(role: MessageRole, name: Option<&str>) -> Role {
    match role {
        MessageRole::User => Role::User,
        MessageRole::Assistant => Role::Assistant,
        MessageRole::ToolResult => Role::Tool,
        MessageRole::BashExecution => Role::Shell,
        MessageRole::Custom | MessageRole::HookMessage => Role::Custom,
        MessageRole::BranchSummary | MessageRole::CompactionSummary => Role::Summary,
        MessageRole::Other | MessageRole::None | MessageRole::Meta => match name {
            Some("developer" | "system") => Role::System,
            Some("pythonExecution") => Role::Shell,
            Some("fileMention") => Role::Custom,
            _ => Role::Other,
        },
    }
}

/// A command or code that the user ran, and its output.
fn read_execution(message: Raw<'_>, parts: &mut Vec<Part>) {
    let [command, code, output, exit_code, cancelled] =
        message.members(["command", "code", "output", "exitCode", "cancelled"]);
    push_text(command.or(code), parts);
    let failed = exit_code.and_then(Raw::as_f64).is_some_and(|code| code != 0.0);
    let answer = Answer { is_error: failed || is_true(cancelled), ..Answer::default() };
    push_result(answer, output, parts);
}

/// The files of an omp `fileMention`: the path of each, and the text read from it as a result.
fn read_mentioned_files(message: Raw<'_>, parts: &mut Vec<Part>) {
    for file in message.member("files").into_iter().flat_map(Raw::elements) {
        let [path, content, image] = file.members(["path", "content", "image"]);
        push_text(path, parts);
        if content.is_some_and(|content| content.as_str() != "\"\"") {
            push_result(Answer::default(), content, parts);
        }
        parts.extend(image.filter(|image| image.is_object()).map(content::image));
    }
}

#[cfg(test)]
mod tests;
