//! From an entry's line to the message that pi makes of it.

use super::instant::milliseconds;
use crate::conversation::{Conversation, Images};
use crate::ecma::Document;
use crate::scan::Raw;
use crate::{EntryKind, text};

/// Appends the message that pi makes of an entry. Returns whether it makes one.
pub(super) fn append<C: Conversation>(
    conversation: &mut C,
    (entry, kind): (u64, EntryKind),
    out: &mut Vec<u8>,
) -> Result<bool, C::Error> {
    use EntryKind::{BranchSummary, Compaction, CustomMessage, Message};
    if !matches!(kind, Message | CustomMessage | BranchSummary | Compaction) {
        return Ok(false);
    }
    let decoded = text::decode(conversation.line(entry, Images::AsWritten)?);
    // What is an entry has been parsed before.
    let Ok(document) = Document::parse(&decoded) else {
        return Ok(false);
    };
    Ok(append_message(kind, &document, out))
}

fn append_message(kind: EntryKind, document: &Document<'_>, out: &mut Vec<u8>) -> bool {
    match kind {
        EntryKind::Message => {
            // The programs throw where it is missing or null: there is nothing to be like.
            let is_there = document.get("message").is_some_and(|message| !message.is_null());
            is_there && document.write_member("message", out)
        }
        EntryKind::CustomMessage => {
            make("custom", &["customType", "content", "display", "details"], document, out)
        }
        EntryKind::BranchSummary => {
            document.get("summary").is_some_and(Raw::is_truthy)
                && make("branchSummary", &["summary", "fromId"], document, out)
        }
        EntryKind::Compaction => {
            make("compactionSummary", &["summary", "tokensBefore"], document, out)
        }
        _ => false,
    }
}

/// A message of a role, with these members of the entry, as far as it has them, and its time.
fn make(role: &str, members: &[&str], document: &Document<'_>, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(format!("{{\"role\":\"{role}\"").as_bytes());
    for name in members {
        let before = out.len();
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        if !document.write_member(name, out) {
            out.truncate(before);
        }
    }
    let time = match milliseconds(document.get("timestamp")) {
        Some(time) => format!(",\"timestamp\":{time}}}"),
        // JSON has no NaN.
        None => ",\"timestamp\":null}".to_owned(),
    };
    out.extend_from_slice(time.as_bytes());
    true
}
