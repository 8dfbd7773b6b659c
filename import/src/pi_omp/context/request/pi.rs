//! Messages of pi's contexts as pi hands them to its model layer: `convertToLlm` (observed).

use super::execution;
use super::object::{self, Object, is_truthy};
use super::words;
use crate::scan::Raw;

const BEFORE_COMPACTED: &[u8] =
    b"The conversation history before this point was compacted into the following summary:\n\n<summary>\n";
const AFTER_COMPACTED: &[u8] = b"\n</summary>";
const BEFORE_BRANCH: &[u8] =
    b"The following is a summary of a branch that this conversation came back from:\n\n<summary>\n";
const AFTER_BRANCH: &[u8] = b"</summary>";

/// Appends the message that pi makes of a message of its context, after clearing `out`. Returns whether it makes one.
/// Versions before 0.87 do not know system messages in a conversation.
pub(super) fn convert(message: Raw<'_>, has_system_messages: bool, out: &mut Vec<u8>) -> bool {
    out.clear();
    let [role, time] = message.members(["role", "timestamp"]);
    let Some(role) = role.and_then(Raw::to_string_lossy) else { return false };
    let content = match &*role {
        "user" | "assistant" | "toolResult" => {
            out.extend_from_slice(message.as_str().as_bytes());
            return true;
        }
        "system" => {
            if has_system_messages {
                out.extend_from_slice(message.as_str().as_bytes());
            }
            return has_system_messages;
        }
        "bashExecution" if is_truthy(message.member("excludeFromContext")) => return false,
        "bashExecution" => Some(one_text(&command(message))),
        "custom" => match message.member("content") {
            Some(content) if content.is_string() => {
                Some(object::list([&object::block_of(Some(content))[..]]))
            }
            // What is missing keeps its place, where the model layer puts an empty list.
            None if has_system_messages => Some(b"[]".to_vec()),
            content => content.map(|content| content.as_str().as_bytes().to_vec()),
        },
        "branchSummary" => Some(summary(BEFORE_BRANCH, message, AFTER_BRANCH)),
        "compactionSummary" => Some(summary(BEFORE_COMPACTED, message, AFTER_COMPACTED)),
        _ => return false,
    };
    let mut made = Object::of_role("user", out);
    if let Some(content) = content {
        made = made.json("content", &content);
    }
    made.member("timestamp", time).end();
    true
}

fn command(message: Raw<'_>) -> Vec<u8> {
    let mut text = execution::of_command(message);
    let [truncated, path] = message.members(["truncated", "fullOutputPath"]);
    if is_truthy(truncated) && is_truthy(path) {
        text.extend_from_slice(b"\n\n[Output truncated. Full output: ");
        words::push(path, &mut text);
        text.push(b']');
    }
    text
}

fn summary(before: &[u8], message: Raw<'_>, after: &[u8]) -> Vec<u8> {
    let mut text = before.to_vec();
    words::push(message.member("summary"), &mut text);
    text.extend_from_slice(after);
    one_text(&text)
}

fn one_text(text: &[u8]) -> Vec<u8> {
    object::list([&object::text_block(text)[..]])
}
