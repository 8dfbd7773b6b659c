//! From an entry's line to the messages that pi makes of it.

use super::super::instant::milliseconds;
use super::edits::Replacement;
use super::rules::Rules;
use crate::context::TakeMessage;
use crate::conversation::{Conversation, Images};
use crate::ecma::Document;
use crate::scan::Raw;
use crate::{EntryKind, text};

/// Roles of messages whose own content pi edits.
const EDITED_ROLES: [&str; 4] = ["user", "assistant", "toolResult", "custom"];

/// Roles whose content is an array.
const ROLES_WITH_BLOCKS: [&str; 2] = ["assistant", "toolResult"];

/// Where in a context an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the compaction with which the context begins.
    Boundary,
    /// The compaction keeps it.
    Kept,
    /// Below the compaction, or anywhere if there is none.
    Below,
}

/// Passes on the messages that pi makes of an entry, none if it makes none.
pub(super) fn make<C: Conversation>(
    (conversation, rules): (&mut C, Rules),
    (entry, kind): (u64, EntryKind),
    (place, edit): (Place, Option<&Replacement>),
    out: &mut Vec<u8>,
    take: TakeMessage<'_, C::Error>,
) -> Result<(), C::Error> {
    use EntryKind::{BranchSummary, Compaction, CustomMessage, Message};
    if !matches!(kind, Message | CustomMessage | BranchSummary | Compaction)
        || edit == Some(&Replacement::Nothing)
    {
        return Ok(());
    }
    let decoded = text::decode(conversation.line(entry, Images::AsWritten)?);
    // What is an entry has been parsed before.
    let Ok(document) = Document::parse(&decoded) else { return Ok(()) };
    let made = Made { document: &document, rules, place, edit };
    if kind == Compaction && place == Place::Boundary {
        out.clear();
        if made.append_system_message(out) {
            take(&[entry], out)?;
        }
    }
    out.clear();
    if made.append(kind, out) {
        take(&[entry], out)?;
    }
    Ok(())
}

/// An entry from which messages are made.
struct Made<'a> {
    document: &'a Document<'a>,
    rules: Rules,
    place: Place,
    edit: Option<&'a Replacement>,
}

impl Made<'_> {
    fn append(&self, kind: EntryKind, out: &mut Vec<u8>) -> bool {
        match kind {
            EntryKind::Message => self.append_message(out),
            EntryKind::CustomMessage => self.append_custom_message(out),
            EntryKind::BranchSummary => {
                self.document.get("summary").is_some_and(Raw::is_truthy)
                    && self.append_made("branchSummary", &["summary", "fromId"], out)
            }
            EntryKind::Compaction => {
                self.append_made("compactionSummary", &["summary", "tokensBefore"], out)
            }
            _ => false,
        }
    }

    fn append_message(&self, out: &mut Vec<u8>) -> bool {
        // pi throws where it is missing or null: there is nothing to be like.
        let Some(message) = self.document.get("message").filter(|message| !message.is_null())
        else {
            return false;
        };
        if !self.rules.edits() {
            return self.document.write_member("message", out);
        }
        let role = self.document.get_within("message", "role").and_then(Raw::to_string_lossy);
        let role = role.as_deref();
        if role == Some("system") && self.place == Place::Kept {
            return false;
        }
        let content = self.document.get_within("message", "content");
        let empty = match role {
            Some("system") => Some("\"\""),
            Some("user" | "assistant" | "toolResult") => Some("[]"),
            _ => None,
        };
        let empty = empty.filter(|_| content.is_none_or(Raw::is_null));
        self.append_edited(message, role, empty, out)
    }

    /// The system message that was in force at a compaction, which the compaction repeats.
    fn append_system_message(&self, out: &mut Vec<u8>) -> bool {
        if !self.rules.edits() {
            return false;
        }
        let message = self.document.get("systemMessage").filter(|message| message.is_truthy());
        let Some(message) = message else { return false };
        let role = self.document.get_within("systemMessage", "role").and_then(Raw::to_string_lossy);
        self.append_edited(message, role.as_deref(), None, out)
    }

    /// A message that an entry holds, with its edited content, or else with `content` if that is given.
    fn append_edited(
        &self,
        message: Raw<'_>,
        role: Option<&str>,
        content: Option<&str>,
        out: &mut Vec<u8>,
    ) -> bool {
        let Ok(mut message) = Document::parse(message.as_str()) else { return false };
        if let Some(content) = content {
            message.set("content", content.to_owned());
        }
        let edit = self.edit.filter(|_| role.is_some_and(|role| EDITED_ROLES.contains(&role)));
        match edit {
            None => {}
            Some(Replacement::Nothing | Replacement::Missing) => return false,
            Some(Replacement::NoContent) => message.remove("content"),
            Some(Replacement::Content(content)) => {
                let has_blocks = role.is_some_and(|role| ROLES_WITH_BLOCKS.contains(&role));
                message
                    .set("content", if has_blocks { as_blocks(content) } else { content.clone() });
            }
        }
        message.write(out);
        true
    }

    fn append_custom_message(&self, out: &mut Vec<u8>) -> bool {
        let content = match self.edit {
            Some(Replacement::Nothing | Replacement::Missing) => return false,
            Some(Replacement::NoContent) => None,
            Some(Replacement::Content(content)) => Some(content.clone()),
            None => {
                let content = self.document.get("content");
                let is_missing = content.is_none_or(Raw::is_null);
                if self.rules.edits() && is_missing {
                    Some("[]".to_owned())
                } else {
                    self.member("content")
                }
            }
        };
        out.extend_from_slice(b"{\"role\":\"custom\"");
        append_member("customType", self.member("customType"), out);
        append_member("content", content, out);
        append_member("display", self.member("display"), out);
        append_member("details", self.member("details"), out);
        self.append_time(out);
        true
    }

    /// A message of a role, with those of these members that the entry has, and its time.
    fn append_made(&self, role: &str, members: &[&str], out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(format!("{{\"role\":\"{role}\"").as_bytes());
        for name in members {
            append_member(name, self.member(name), out);
        }
        self.append_time(out);
        true
    }

    /// A member of the entry, as `JSON.stringify` writes it.
    fn member(&self, name: &str) -> Option<String> {
        let mut json = Vec::new();
        let is_there = self.document.write_member(name, &mut json);
        // Lone surrogates are written as escapes.
        String::from_utf8(json).ok().filter(|_| is_there)
    }

    fn append_time(&self, out: &mut Vec<u8>) {
        let time = match milliseconds(self.document.get("timestamp")) {
            Some(time) => format!(",\"timestamp\":{time}}}"),
            // JSON has no NaN.
            None => ",\"timestamp\":null}".to_owned(),
        };
        out.extend_from_slice(time.as_bytes());
    }
}

fn append_member(name: &str, json: Option<String>, out: &mut Vec<u8>) {
    if let Some(json) = json {
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        out.extend_from_slice(json.as_bytes());
    }
}

/// Text as a list of one text block; anything else as it is.
fn as_blocks(content: &str) -> String {
    if content.starts_with('"') {
        format!("[{{\"type\":\"text\",\"text\":{content}}}]")
    } else {
        content.to_owned()
    }
}
