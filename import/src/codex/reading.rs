//! The facts of a rollout's line.

use std::borrow::Cow;

use crate::codex::author;
use crate::codex::context::takes_part;
use crate::codex::facts::is_image_tag;
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::codex::scanner::Scanner;
use crate::codex::usage::usage;
use crate::effect::Effect;
use crate::kind::{EntryKind, MessageRole};
use crate::line::{LineFacts, LineScanner, ParentLink};
use crate::scan::{Payload, Raw, Shape};
use crate::usage::UsageReport;
use crate::view::Role;

impl LineScanner for Scanner {
    type Scan<'a> = Record<'a>;

    fn scan<'a>(&mut self, text: &'a str) -> Record<'a> {
        Self::scan(self, text)
    }

    fn payloads(&self, _: &str) -> &[Payload] {
        Self::payloads(self)
    }
}

impl<'a> LineFacts<'a> for Record<'a> {
    fn shape(&self) -> Shape {
        Self::shape(self)
    }

    fn kind(&self) -> EntryKind {
        match Self::kind(self) {
            RecordKind::Blank => EntryKind::Blank,
            RecordKind::Malformed => EntryKind::Malformed,
            RecordKind::Scalar => EntryKind::Scalar,
            RecordKind::SessionMeta => EntryKind::Header,
            RecordKind::ResponseItem if is_said(self) => EntryKind::Message,
            RecordKind::InterAgentCommunication => EntryKind::Message,
            RecordKind::Compacted => EntryKind::Compaction,
            RecordKind::EventMsg => EntryKind::System,
            _ => EntryKind::Unknown,
        }
    }

    fn role(&self, kind: EntryKind) -> MessageRole {
        if kind != EntryKind::Message {
            return MessageRole::None;
        }
        match author_of(self) {
            Role::User => MessageRole::User,
            Role::Assistant => MessageRole::Assistant,
            Role::Tool => MessageRole::ToolResult,
            Role::System => MessageRole::Meta,
            Role::Summary => MessageRole::CompactionSummary,
            Role::Shell => MessageRole::BashExecution,
            Role::Custom => MessageRole::Custom,
            _ => MessageRole::Other,
        }
    }

    fn type_name(&self) -> Option<Cow<'a, str>> {
        Self::type_name(self)
    }

    /// A message counts by its role, any other item by its own type, an event as `event_msg/<type>`.
    fn count_name(&self, kind: EntryKind) -> Option<Cow<'a, str>> {
        let own = self.payload_type();
        match Self::kind(self) {
            RecordKind::ResponseItem if own.as_deref() == Some("message") => None,
            RecordKind::ResponseItem => own.or_else(|| Self::type_name(self)),
            RecordKind::EventMsg => {
                Some(Cow::Owned(format!("event_msg/{}", own.unwrap_or_default())))
            }
            _ if kind == EntryKind::Header => None,
            _ => Some(Self::type_name(self).unwrap_or_default()),
        }
    }

    fn leads(&self) -> bool {
        takes_part(self)
    }

    fn time(&self) -> Option<i64> {
        self.timestamp_ms()
    }

    /// Only messages count: tools run while nobody says anything.
    fn activity(&self, role: MessageRole) -> Option<i64> {
        let is_of_either = matches!(role, MessageRole::User | MessageRole::Assistant);
        (is_of_either && self.role().is_some()).then(|| self.timestamp_ms()).flatten()
    }

    fn id(&self) -> Option<Cow<'a, [u8]>> {
        None
    }

    fn parent(&self) -> ParentLink<'a> {
        ParentLink::Previous
    }

    fn message_text(&self) -> Option<String> {
        if self.payload_type().as_deref() != Some("message") {
            return None;
        }
        let is_of_user = self.role().as_deref() == Some("user");
        let texts = texts(self).filter(|text| !text.is_empty());
        let texts: Vec<_> = texts.filter(|text| !(is_of_user && is_image_tag(text))).collect();
        Some(texts.join(" ")).filter(|text| !text.is_empty())
    }

    fn usage(&self, _: EntryKind, _: MessageRole) -> Vec<UsageReport> {
        usage(self)
    }

    fn effect(&self, _: EntryKind, role: MessageRole) -> Option<Effect> {
        if role != MessageRole::User {
            return None;
        }
        Effect::prompt(&LineFacts::message_text(self)?)
    }
}

/// Whether an item is part of the conversation.
fn is_said(record: &Record<'_>) -> bool {
    let item_type = record.payload_type();
    item_type.is_some_and(|name| name == "message" || author::of_item(&name) != Role::Other)
}

/// The author of a message or another item.
fn author_of(record: &Record<'_>) -> Role {
    if Record::kind(record) == RecordKind::InterAgentCommunication {
        return Role::Custom;
    }
    match record.payload_type().as_deref() {
        Some("message") => author::of_message(record.role().as_deref(), texts(record)),
        Some(item_type) => author::of_item(item_type),
        None => Role::Other,
    }
}

/// The texts of a message.
fn texts<'a>(record: &Record<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    let blocks = record.payload_members().content.into_iter().flat_map(Raw::elements);
    blocks.filter_map(|block| {
        let [name, text] = block.members(["type", "text"]);
        let is_text =
            name.is_some_and(|name| name.is_text("input_text") || name.is_text("output_text"));
        text.filter(|_| is_text)?.to_string_lossy()
    })
}
