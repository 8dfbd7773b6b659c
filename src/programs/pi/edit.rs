//! What may be changed in a context, and into what.

use leafline_import::conversation::PathLimit;
use leafline_import::{EntryKind, MessageRole};
use serde_json::{Value, json};

use crate::error::{Error, LiveError, Result};
use crate::session::SessionReader;

/// The member `replacement` of a change of the entry `target`, as pi makes it of the content; null without any.
pub(super) fn replacement(
    reader: &SessionReader,
    target: &str,
    content: Option<&str>,
) -> Result<String> {
    let entry = reader.get_entry(target)?;
    let path = match reader.view().leaf()? {
        Some(leaf) => Some(reader.view().walk(leaf).up_to(PathLimit::Root)?),
        None => None,
    };
    let is_on_path = path.is_some_and(|path| path.upwards().any(|it| it == entry.ordinal()));
    if !is_on_path {
        return Err(invalid(format!("entry {target} is not on the path to the leaf")));
    }
    let role = entry.role();
    let is_of_program = matches!(role, MessageRole::Assistant | MessageRole::ToolResult);
    let is_editable = match entry.kind() {
        EntryKind::CustomMessage => true,
        EntryKind::Message => is_of_program || role == MessageRole::User,
        _ => false,
    };
    if !is_editable {
        return Err(invalid(format!("entry {target} gives the context no content of its own")));
    }
    let Some(content) = content else { return Ok("null".to_owned()) };
    let content: Value = serde_json::from_str(content)
        .map_err(|problem| invalid(format!("the new content is not JSON: {problem}")))?;
    let content = match content {
        Value::String(text) if is_of_program => json!([{"type": "text", "text": text}]),
        Value::String(_) | Value::Array(_) => content,
        _ => return Err(invalid("the new content is neither a string nor an array".to_owned())),
    };
    Ok(json!({"content": content}).to_string())
}

fn invalid(problem: String) -> Error {
    Error::Live(LiveError::InvalidEntry { problem })
}
