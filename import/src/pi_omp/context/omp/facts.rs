//! The facts of an entry's message on which the messages around it depend.

use super::key::{Key, key};
use crate::conversation::{Conversation, Images};
use crate::recover::first_record;
use crate::scan::Raw;
use crate::text::{self, trim};
use crate::{EntryKind, MessageRole};

/// The custom messages that omp puts after a turn whose thinking was interrupted.
const INTERRUPTED_THINKING: &str = "interrupted-thinking";

/// Custom messages that are not sent again.
const FOR_ONE_TURN: [&str; 2] = ["prewalk-plan", "vibe-mode-context"];

/// Custom messages that begin a turn if they are the user's.
const REQUESTS: [&str; 2] = ["skill-prompt", "collab-prompt"];

/// What other messages depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Facts {
    /// A message on which nothing depends, and that depends on nothing.
    Plain,
    /// The note that keeps the failed turn before it in the context.
    InterruptedThinking,
    /// The result of the tool call with this id; `None` for an id that is equal to no other.
    Result(Option<Key>),
    /// A turn of the model.
    Turn(Turn),
}

/// The facts of a turn of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    /// It was aborted, or ended in an error.
    pub(super) has_failed: bool,
    /// The ids of its tool calls; `None` for one that is equal to no other.
    pub(super) calls: Vec<Option<Key>>,
    /// Whether anything is left of it without its calls.
    pub(super) has_more: bool,
}

/// The facts of an entry's message; `None` if the entry gives none.
pub(super) fn of<C: Conversation>(
    conversation: &mut C,
    entry: u64,
) -> Result<Option<Facts>, C::Error> {
    let node = conversation.node_ahead_of_line(entry)?;
    let read = match (node.kind, node.role) {
        (EntryKind::Message, MessageRole::Assistant) => of_turn,
        (EntryKind::Message, MessageRole::ToolResult) => of_result,
        (EntryKind::Message, MessageRole::Custom) => of_extension,
        (EntryKind::Message, MessageRole::None) => of_other,
        (EntryKind::Message, _) => return Ok(Some(Facts::Plain)),
        (EntryKind::CustomMessage, _) => of_custom_message,
        (EntryKind::BranchSummary, _) => of_branch_summary,
        _ => return Ok(None),
    };
    // Of a turn even what looks like base64 counts.
    let images = match node.role {
        MessageRole::Assistant => Images::AsWritten,
        _ => Images::Omitted,
    };
    let decoded = text::decode(conversation.line(entry, images)?);
    Ok(record_of(&decoded).and_then(read))
}

/// The record of an entry's line; anything after it on the line is ignored.
pub(in crate::pi_omp::context) fn record_of(line: &str) -> Option<Raw<'_>> {
    Raw::parse(line).ok().or_else(|| Raw::parse(first_record(line)?).ok())
}

/// The id of the call whose result an entry is; `None` for an id that is equal to no other. Only for results.
pub(super) fn result_of<C: Conversation>(
    conversation: &mut C,
    entry: u64,
) -> Result<Option<Key>, C::Error> {
    let decoded = text::decode(conversation.line(entry, Images::Omitted)?);
    Ok(match record_of(&decoded).and_then(of_result) {
        Some(Facts::Result(key)) => key,
        _ => None,
    })
}

/// Whether an entry is a request of the user: a user message, or a custom message that begins a turn for the user.
pub(super) fn is_request<C: Conversation>(
    conversation: &mut C,
    entry: u64,
) -> Result<bool, C::Error> {
    let node = conversation.node(entry)?;
    let is_custom = node.kind == EntryKind::CustomMessage;
    if !is_custom && (node.kind, node.role) != (EntryKind::Message, MessageRole::Custom) {
        return Ok((node.kind, node.role) == (EntryKind::Message, MessageRole::User));
    }
    let decoded = text::decode(conversation.line(entry, Images::Omitted)?);
    let record = record_of(&decoded);
    let message = if is_custom { record } else { record.and_then(|it| it.member("message")) };
    Ok(message.is_some_and(|message| {
        let [name, content, by] = message.members(["customType", "content", "attribution"]);
        let is_sent =
            !is_custom || content.is_some_and(|content| content.is_string() || content.is_array());
        let begins_turn = REQUESTS.iter().any(|it| name.is_some_and(|name| name.is_text(it)));
        is_sent && begins_turn && by.is_some_and(|by| by.is_text("user"))
    }))
}

fn of_result(record: Raw<'_>) -> Option<Facts> {
    Some(Facts::Result(key(record.member("message")?.member("toolCallId"))))
}

fn of_extension(record: Raw<'_>) -> Option<Facts> {
    let name = record.member("message")?.member("customType");
    let is_note = name.is_some_and(|name| name.is_text(INTERRUPTED_THINKING));
    Some(if is_note { Facts::InterruptedThinking } else { Facts::Plain })
}

fn of_other(record: Raw<'_>) -> Option<Facts> {
    record.member("message").filter(|message| !message.is_null()).map(|_| Facts::Plain)
}

fn of_custom_message(record: Raw<'_>) -> Option<Facts> {
    let [name, content] = record.members(["customType", "content"]);
    if !content.is_some_and(|content| content.is_string() || content.is_array()) {
        return None;
    }
    let is = |other: &str| name.is_some_and(|name| name.is_text(other));
    if FOR_ONE_TURN.into_iter().any(is) {
        return None;
    }
    Some(if is(INTERRUPTED_THINKING) { Facts::InterruptedThinking } else { Facts::Plain })
}

fn of_branch_summary(record: Raw<'_>) -> Option<Facts> {
    record.member("summary").filter(|summary| summary.is_truthy()).map(|_| Facts::Plain)
}

fn of_turn(record: Raw<'_>) -> Option<Facts> {
    let message = record.member("message")?;
    let [reason, content, recovery] = message.members(["stopReason", "content", "retryRecovery"]);
    let has_ended = |name: &str| reason.is_some_and(|reason| reason.is_text(name));
    let has_erred = has_ended("error");
    let says_nothing = has_erred && content.is_some_and(|content| is_empty(content));
    if says_nothing || recovery.is_some_and(Raw::is_truthy) {
        return None;
    }
    let mut turn =
        Turn { has_failed: has_erred || has_ended("aborted"), calls: Vec::new(), has_more: false };
    for block in content.into_iter().flat_map(Raw::elements) {
        let [name, id] = block.members(["type", "id"]);
        if name.is_some_and(|name| name.is_text("toolCall")) {
            turn.calls.push(key(id));
        } else {
            turn.has_more |= !name.is_some_and(|name| name.is_text("redactedThinking"));
        }
    }
    Some(Facts::Turn(turn))
}

/// Whether the content of a turn that ended in an error is empty. Blocks of unknown types count as content.
fn is_empty(content: Raw<'_>) -> bool {
    content.is_array() && !content.elements().any(is_something)
}

fn is_something(block: Raw<'_>) -> bool {
    let has_text = |name: &str| {
        let text = block.member(name).and_then(Raw::to_string_lossy);
        text.is_some_and(|text| !trim(&text).is_empty())
    };
    match block.member("type").and_then(Raw::to_string_lossy).as_deref() {
        Some("text") => has_text("text"),
        Some("thinking") => has_text("thinking") || has_text("thinkingSignature"),
        Some("redactedThinking") => has_text("data"),
        Some("fallback") => false,
        _ => true,
    }
}
