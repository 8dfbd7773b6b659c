//! A line of a rollout as a reader of the conversation sees it.

use std::borrow::Cow;

use crate::codex::author;
use crate::codex::facts::is_image_tag;
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::codex::scanner::Scanner;
use crate::scan::Raw;
use crate::view::{Part, Role, View, block};

/// What a line of a rollout says. `line` is its text, with or without terminator, as [`crate::text::decode`] returns
/// it.
///
/// The conversation is read from the items. Events that repeat them (`user_message`, `agent_message`, `item_completed`
/// and so on) have no parts, so that nothing is shown or found twice.
///
/// ```
/// use leafline_import::codex;
/// use leafline_import::view::{Part, Role};
///
/// let view = codex::view(
///     r#"{"timestamp":"1970-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}}"#,
/// );
/// assert_eq!((view.role, view.time), (Role::Assistant, Some(1000)));
/// let [Part::ToolCall { name, arguments, .. }] = &view.parts[..] else { panic!("one call") };
/// assert_eq!((&**name, &**arguments), ("exec_command", r#"{"cmd":"ls"}"#));
/// ```
#[must_use]
pub fn view(line: &str) -> View {
    let mut scanner = Scanner::new();
    let record = scanner.scan(line);
    let kind = record.kind();
    let mut view = View::default();
    if !kind.is_record() {
        return view;
    }
    view.time = record.timestamp_ms();
    view.type_name = record.type_name().map(Cow::into_owned);
    view.role = Role::Other;
    let Some(payload) = record.payload() else { return view };
    match kind {
        RecordKind::ResponseItem => read_item(&record, payload, &mut view),
        RecordKind::Compacted => {
            view.role = Role::Summary;
            push_text(payload.member("message"), &mut view.parts);
        }
        RecordKind::SessionMeta => view.role = Role::Setting,
        RecordKind::TurnContext => {
            view.role = Role::Setting;
            view.model = record.model().map(Cow::into_owned);
            push_text(record.payload_members().model, &mut view.parts);
        }
        RecordKind::InterAgentCommunication => {
            view.role = Role::Custom;
            push_text(record.payload_members().content, &mut view.parts);
        }
        RecordKind::EventMsg => {
            if let Some(name) = record.payload_type() {
                view.type_name = Some(name.into_owned());
            }
        }
        _ => {}
    }
    view
}

fn text(raw: Option<Raw<'_>>) -> Option<String> {
    Some(raw?.to_string_lossy()?.into_owned())
}

fn push_text(raw: Option<Raw<'_>>, parts: &mut Vec<Part>) {
    parts.extend(text(raw).filter(|text| !text.is_empty()).map(Part::Text));
}

fn read_item(record: &Record<'_>, payload: Raw<'_>, view: &mut View) {
    let Some(name) = record.payload_type() else { return };
    let members = record.payload_members();
    let member = |name| payload.member(name);
    view.type_name = Some(name.clone().into_owned());
    let call = |arguments: Option<Raw<'_>>| Part::ToolCall {
        id: text(members.call_id),
        name: text(members.name).unwrap_or_default(),
        // A function's arguments are JSON in a string.
        arguments: arguments.map_or_else(String::new, |arguments| {
            text(Some(arguments)).unwrap_or_else(|| arguments.as_str().to_owned())
        }),
    };
    view.role = author::of_item(&name);
    match &*name {
        "message" => read_message(record, view),
        "agent_message" => read_blocks(members.content, &mut view.parts),
        "reasoning" => read_thought(payload, &mut view.parts),
        "function_call" | "tool_search_call" => view.parts.push(call(member("arguments"))),
        "custom_tool_call" => view.parts.push(call(member("input"))),
        "local_shell_call" | "web_search_call" => {
            view.parts.push(Part::ToolCall {
                id: text(members.call_id),
                name: name.trim_end_matches("_call").to_owned(),
                arguments: member("action").map_or_else(String::new, |it| it.as_str().to_owned()),
            });
        }
        "function_call_output" | "custom_tool_call_output" => {
            read_output(record, member("output"), &mut view.parts);
        }
        "image_generation_call" => {
            let base64_length = member("result").filter(|it| it.is_string());
            let base64_length = base64_length.map_or(0, |it| it.as_str().len() - 2);
            view.parts.push(Part::Image { mime_type: None, base64_length });
        }
        "tool_search_output" | "compaction" | "compaction_summary" | "context_compaction" => {
            view.parts.push(Part::named(name));
        }
        _ => {}
    }
}

fn read_message(record: &Record<'_>, view: &mut View) {
    let content = record.payload_members().content;
    read_blocks(content, &mut view.parts);
    let texts = view.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    let role = author::of_message(record.role().as_deref(), texts);
    view.role = role;
    // What the program says to the model is not shown to the user.
    view.is_hidden = role == Role::System;
    if role == Role::User {
        view.parts.retain(|part| !matches!(part, Part::Text(text) if is_image_tag(text)));
    }
}

fn read_blocks(content: Option<Raw<'_>>, parts: &mut Vec<Part>) {
    for block in content.into_iter().flat_map(Raw::elements) {
        let [name, text_of, url] = block.members(["type", "text", "image_url"]);
        let Some(name) = name.and_then(Raw::to_string_lossy) else { continue };
        match &*name {
            "input_text" | "output_text" => push_text(text_of, parts),
            "input_image" => parts.push(image(url)),
            _ => parts.push(block::other(block, name.into_owned())),
        }
    }
}

/// An image by its URL: `data:<type>;base64,<data>`, or the address of one stored elsewhere.
fn image(url: Option<Raw<'_>>) -> Part {
    let url = text(url).unwrap_or_default();
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match data {
        Some((mime_type, base64)) => Part::Image {
            mime_type: (!mime_type.is_empty()).then(|| mime_type.to_owned()),
            base64_length: base64.len(),
        },
        None => Part::Image { mime_type: None, base64_length: 0 },
    }
}

/// The model's reasoning: its texts if the file has them, otherwise their summaries, otherwise only the fact.
fn read_thought(payload: Raw<'_>, parts: &mut Vec<Part>) {
    let [content, summary] = payload.members(["content", "summary"]);
    for texts in [content, summary] {
        let before = parts.len();
        for part in texts.into_iter().flat_map(Raw::elements) {
            let thought = text(part.member("text")).filter(|text| !text.is_empty());
            parts.extend(thought.map(Part::Thinking));
        }
        if parts.len() > before {
            return;
        }
    }
    parts.push(Part::named("reasoning"));
}

/// A tool's output: its texts joined by line breaks, followed by its other parts. Whether the tool failed is only said by the
/// exit code of a command's older form.
fn read_output(record: &Record<'_>, output: Option<Raw<'_>>, parts: &mut Vec<Part>) {
    let mut joined = text(output).unwrap_or_default();
    let command = output_of_command(&joined);
    let is_error = command.as_ref().is_some_and(|(_, has_failed)| *has_failed);
    joined = command.map_or(joined, |(text, _)| text);
    let mut blocks = Vec::new();
    read_blocks(output, &mut blocks);
    let mut rest = Vec::new();
    for part in blocks {
        match part {
            Part::Text(text) => {
                if !joined.is_empty() {
                    joined.push('\n');
                }
                joined.push_str(&text);
            }
            other => rest.push(other),
        }
    }
    parts.push(Part::ToolResult {
        call_id: text(record.payload_members().call_id),
        name: text(record.payload_members().name),
        is_error,
        text: joined,
    });
    parts.append(&mut rest);
}

/// What a command has written, and whether it failed, if `text` has both as Codex gave them to the model in 2025: as
/// `{"output":"…","metadata":{"exit_code":0,"duration_seconds":0.1}}`.
fn output_of_command(text: &str) -> Option<(String, bool)> {
    let whole = Some(text).filter(|text| text.starts_with('{'))?;
    let [output, metadata] = Raw::parse(whole).ok()?.members(["output", "metadata"]);
    let [exit_code, duration] = metadata?.members(["exit_code", "duration_seconds"]);
    duration.filter(|duration| duration.is_number())?;
    let has_failed = exit_code?.as_f64()? != 0.0;
    Some((output?.to_string_lossy()?.into_owned(), has_failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result_of(output: &str) -> (String, bool) {
        let line = format!(
            r#"{{"timestamp":"1970-01-01T00:00:01.000Z","type":"response_item","payload":{{"type":"function_call_output","call_id":"c1","output":{output}}}}}"#
        );
        let parts = view(&line).parts;
        let [Part::ToolResult { text, is_error, .. }] = &parts[..] else { panic!("{parts:?}") };
        (text.clone(), *is_error)
    }

    #[test]
    fn the_output_of_a_command_is_shown_without_what_surrounds_it() {
        let of_command = |code: i32| {
            let whole = format!(
                r#"{{"output":"a\n\"b\"\n","metadata":{{"exit_code":{code},"duration_seconds":0.1}}}}"#
            );
            result_of(&format!("\"{}\"", whole.escape_default()))
        };
        assert_eq!(of_command(0), ("a\n\"b\"\n".to_owned(), false));
        assert_eq!(of_command(1), ("a\n\"b\"\n".to_owned(), true));
    }

    #[test]
    fn json_that_a_command_has_written_is_shown_as_it_is() {
        for text in [
            r#"{"output":"a","metadata":{}}"#,
            r#"{"output":"a","metadata":{"exit_code":"0","duration_seconds":0.1}}"#,
            r#"{"metadata":{"exit_code":0,"duration_seconds":0.1}}"#,
            r#"{"output":1,"metadata":{"exit_code":0,"duration_seconds":0.1}}"#,
            "{",
            "plain",
        ] {
            let line = format!("\"{}\"", text.escape_default());
            assert_eq!(result_of(&line), (text.to_owned(), false));
        }
    }
}
