//! Replaces the arguments of a tool call, in a message that otherwise stays the same.

use leafline_import::scan::Raw;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The members of an entry that lead to its message's blocks.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    block_type: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The line with other arguments, as JSON, for the call with this id; `None` if it makes no such call. No other value
/// is parsed and written again, so none changes.
pub(super) fn with_arguments(line: &str, id: &str, arguments: &str) -> Option<String> {
    let parsed: Line<'_> = serde_json::from_str(line.trim_start_matches('\u{feff}')).ok()?;
    for block in parsed.message.content {
        let Ok(call) = serde_json::from_str::<Block<'_>>(block.get()) else { continue };
        if !is_text(call.block_type, "toolCall") || !is_text(call.id, id) {
            continue;
        }
        let (from, to, before) = match call.arguments {
            Some(old) => {
                let from = offset(line, old.get());
                (from, from + old.get().len(), "")
            }
            None => {
                let closing = offset(line, block.get()) + block.get().len() - 1;
                (closing, closing, ",\"arguments\":")
            }
        };
        return Some([line.get(..from)?, before, arguments, line.get(to..)?].concat());
    }
    None
}

fn is_text(json: Option<&RawValue>, text: &str) -> bool {
    let found = json.and_then(|json| Raw::parse(json.get()).ok()).and_then(Raw::as_string);
    found.is_some_and(|found| *found == *text.as_bytes())
}

/// Where a part of the line begins.
fn offset(line: &str, part: &str) -> usize {
    part.as_ptr().addr() - line.as_ptr().addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_arguments_change() {
        let line = r#"{"type":"message","n":123456789012345678901,"message":{"content":[{"type":"text","text":"\ud800"},{"type":"toolCall","id":"a","arguments":{"x":[1]},"n":1.0},{"type":"toolCall","id":"b"}]}}"#;
        assert_eq!(with_arguments(line, "a", "{}").unwrap(), line.replace(r#"{"x":[1]}"#, "{}"));
        assert_eq!(
            with_arguments(line, "b", "[2]").unwrap(),
            line.replace(r#""id":"b""#, r#""id":"b","arguments":[2]"#)
        );
        assert_eq!(with_arguments(line, "c", "{}"), None);
        assert_eq!(with_arguments("{torn", "a", "{}"), None);
        assert_eq!(with_arguments(r#"{"message":{"content":"text"}}"#, "a", "{}"), None);
    }
}
