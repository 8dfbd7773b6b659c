//! A message's content: a text, or blocks.
//!
//! One table reads the blocks of all families. If two of them have a block of one name, it is the same block except for
//! the names of its members, and no member means something else in another family.

use crate::scan::{Raw, is_reference};
use crate::view::{Part, block};

/// A string's value; `None` for anything else.
pub(super) fn string(raw: Option<Raw<'_>>) -> Option<String> {
    Some(raw?.to_string_lossy()?.into_owned())
}

/// Whether the value is `true`.
pub(super) fn is_true(raw: Option<Raw<'_>>) -> bool {
    raw.is_some_and(|raw| raw.as_str() == "true")
}

/// Adds a text, unless it is not a string or empty.
pub(super) fn push_text(raw: Option<Raw<'_>>, parts: &mut Vec<Part>) {
    push_made_text(string(raw).unwrap_or_default(), parts);
}

/// Adds a text that is not in the line in this form, unless it is empty.
pub(super) fn push_made_text(text: String, parts: &mut Vec<Part>) {
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
}

/// Adds a reasoning text, unless it is not a string or empty.
pub(super) fn push_thinking(raw: Option<Raw<'_>>, parts: &mut Vec<Part>) {
    parts.extend(string(raw).filter(|text| !text.is_empty()).map(Part::Thinking));
}

/// Adds a call of a tool.
pub(super) fn push_call(
    id: Option<Raw<'_>>,
    name: Option<Raw<'_>>,
    arguments: Option<Raw<'_>>,
    parts: &mut Vec<Part>,
) {
    parts.push(Part::ToolCall {
        id: string(id),
        name: string(name).unwrap_or_default(),
        arguments: arguments.map_or_else(String::new, |arguments| arguments.as_str().to_owned()),
    });
}

/// The facts of a tool's result besides its content.
#[derive(Clone, Copy, Default)]
pub(super) struct Answer<'a> {
    pub(super) call_id: Option<Raw<'a>>,
    pub(super) name: Option<Raw<'a>>,
    pub(super) is_error: bool,
}

/// Adds a tool's result: the texts of its content, followed by the rest of the content.
pub(super) fn push_result(answer: Answer<'_>, content: Option<Raw<'_>>, parts: &mut Vec<Part>) {
    let place = parts.len();
    parts.push(Part::ToolResult {
        call_id: string(answer.call_id),
        name: string(answer.name),
        is_error: answer.is_error,
        text: String::new(),
    });
    read_within(content, Place::InResult, parts);
    let mut joined = String::new();
    let mut rest = Vec::new();
    for part in parts.drain(place + 1..) {
        match part {
            Part::Text(text) if joined.is_empty() => joined = text,
            Part::Text(text) => {
                joined.push('\n');
                joined.push_str(&text);
            }
            other => rest.push(other),
        }
    }
    if let Some(Part::ToolResult { text, .. }) = parts.last_mut() {
        *text = joined;
    }
    parts.append(&mut rest);
}

/// Where the blocks are. Results contain no results, so that reading them never recurses further.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    InMessage,
    InResult,
}

/// Adds the parts of a content: its string, or its blocks. Anything else has none.
pub(super) fn read(content: Option<Raw<'_>>, parts: &mut Vec<Part>) {
    read_within(content, Place::InMessage, parts);
}

fn read_within(content: Option<Raw<'_>>, place: Place, parts: &mut Vec<Part>) {
    push_text(content, parts);
    for block in content.into_iter().flat_map(Raw::elements) {
        if block.is_object() {
            read_block(block, place, parts);
        } else {
            push_text(Some(block), parts);
        }
    }
}

fn read_block(block: Raw<'_>, place: Place, parts: &mut Vec<Part>) {
    let [type_name, id, name] = block.members(["type", "id", "name"]);
    let Some(type_name) = type_name.and_then(Raw::to_string_lossy) else {
        return;
    };
    match &*type_name {
        "text" => {
            push_text(block.member("text"), parts);
            parts.extend(block::citations(block));
        }
        "thinking" => push_thinking(block.member("thinking"), parts),
        "toolCall" => push_call(id, name, block.member("arguments"), parts),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            push_call(id, name, block.member("input"), parts);
        }
        "tool_result" | "mcp_tool_result" if place == Place::InMessage => {
            let [call_id, is_error, content] =
                block.members(["tool_use_id", "is_error", "content"]);
            let answer = Answer { call_id, name: None, is_error: is_true(is_error) };
            push_result(answer, content, parts);
        }
        "image" => parts.push(image(block)),
        name if name.ends_with("_tool_result") => push_server_result(block, parts),
        _ => parts.push(block::other(block, type_name.into_owned())),
    }
}

/// Adds the result of a tool that the API ran itself.
fn push_server_result(block: Raw<'_>, parts: &mut Vec<Part>) {
    let [call_id, is_error, content] = block.members(["tool_use_id", "is_error", "content"]);
    let kind = content.and_then(|content| content.member("type")).and_then(Raw::to_string_lossy);
    parts.push(Part::ToolResult {
        call_id: string(call_id),
        name: None,
        is_error: is_true(is_error) || kind.is_some_and(|kind| kind.ends_with("_error")),
        text: content.map_or_else(String::new, |content| block::text_of(content, &[])),
    });
}

/// An image block: pi and omp have `mimeType` and `data` in it, Claude Code has `media_type` and `data` in its
/// `source`.
pub(super) fn image(block: Raw<'_>) -> Part {
    let [mut mime_type, mut data, source] = block.members(["mimeType", "data", "source"]);
    if let Some(source) = source.filter(|source| source.is_object()) {
        [mime_type, data] = source.members(["media_type", "data"]);
    }
    let base64 = data.filter(|data| data.is_string()).map_or("", |data| {
        let quoted = data.as_str();
        &quoted[1..quoted.len() - 1]
    });
    let base64_length = if is_reference(base64.as_bytes()) { 0 } else { base64.len() };
    Part::Image { mime_type: string(mime_type), base64_length }
}

#[cfg(test)]
mod tests;
