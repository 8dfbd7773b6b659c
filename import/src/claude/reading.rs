//! What a record of Claude Code says to an index.

use std::borrow::Cow;

use crate::claude::kind::RecordKind;
use crate::claude::leaf::LeafSource;
use crate::claude::members::Content;
use crate::claude::node::Node;
use crate::claude::record::{Parent, Record};
use crate::claude::scanner::Scanner;
use crate::claude::usage::usage;
use crate::effect::{EXPLICIT, Effect, KEEPS_MESSAGES, PointerKind, beginning};
use crate::kind::{EntryKind, MessageRole};
use crate::line::{LineFacts, LineScanner, ParentLink, RecoveredLine};
use crate::recover::Recovered;
use crate::scan::{Payload, Shape};
use crate::usage::UsageReport;

/// The rank of a title that the user gave.
const CUSTOM_TITLE: u8 = 3;

/// The rank of a title that the model gave.
const AI_TITLE: u8 = 2;

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
        self.scan().shape
    }

    fn kind(&self) -> EntryKind {
        if self.is_compact_boundary() {
            return EntryKind::Compaction;
        }
        kind_of(Self::kind(self), self.is_entry())
    }

    /// The user's are prompts alone, queued ones too.
    fn role(&self, kind: EntryKind) -> MessageRole {
        if kind != EntryKind::Message {
            let is_prompt = kind == EntryKind::Unknown && self.queued_prompt().is_some();
            return if is_prompt { MessageRole::User } else { MessageRole::None };
        }
        match Self::kind(self) {
            RecordKind::Assistant => MessageRole::Assistant,
            _ if self.is_compact_summary() => MessageRole::CompactionSummary,
            _ if self.is_meta() => MessageRole::Meta,
            _ if self.is_prompt() => MessageRole::User,
            _ => match self.content() {
                Content::ToolResults => MessageRole::ToolResult,
                _ => MessageRole::Other,
            },
        }
    }

    fn type_name(&self) -> Option<Cow<'a, str>> {
        Self::type_name(self)
    }

    fn count_name(&self, _: EntryKind) -> Option<Cow<'a, str>> {
        Some(match self.subtype() {
            Some(subtype) if Self::kind(self) == RecordKind::System => {
                Cow::Owned(format!("system/{subtype}"))
            }
            _ => Self::type_name(self).unwrap_or_default(),
        })
    }

    fn is_sidechain(&self) -> bool {
        Self::is_sidechain(self)
    }

    /// What a tool reports while it runs is no part of the conversation (observed).
    fn leads(&self) -> bool {
        Self::kind(self) != RecordKind::Progress
    }

    fn time(&self) -> Option<i64> {
        self.timestamp_ms()
    }

    fn activity(&self, _: MessageRole) -> Option<i64> {
        Self::kind(self).is_message().then(|| self.timestamp_ms()).flatten()
    }

    fn id(&self) -> Option<Cow<'a, [u8]>> {
        self.uuid()
    }

    fn parent(&self) -> ParentLink<'a> {
        match Self::parent(self) {
            Parent::Root => ParentLink::None,
            Parent::Uuid(uuid) => ParentLink::Id(uuid),
            Parent::Unusable => ParentLink::NoId,
        }
    }

    fn message_id(&self) -> Option<Cow<'a, [u8]>> {
        Self::message_id(self)
    }

    fn message_text(&self) -> Option<String> {
        Self::message_text(self)
    }

    fn usage(&self, _: EntryKind, _: MessageRole) -> Vec<UsageReport> {
        usage(self)
    }

    fn effect(&self, _: EntryKind, _: MessageRole) -> Option<Effect> {
        if self.is_compact_boundary() {
            let target = self.logical_parent().map(Cow::into_owned);
            let text = self.keeps_messages().then(|| KEEPS_MESSAGES.to_owned());
            return Some(Effect::Pointer { kind: PointerKind::Boundary, target, text });
        }
        match Self::kind(self) {
            RecordKind::User | RecordKind::Attachment => Effect::prompt(&self.prompt_text()?),
            RecordKind::Relocated => {
                self.relocated_cwd().map(|cwd| Effect::Moved(cwd.into_owned()))
            }
            RecordKind::CustomTitle => title(self.custom_title(), CUSTOM_TITLE),
            RecordKind::AiTitle => title(self.ai_title(), AI_TITLE),
            kind => {
                let source = LeafSource::of(kind)?;
                let target = self.leaf_uuid().map(Cow::into_owned);
                if target.is_none() && !self.is_explicit() {
                    return None;
                }
                Some(match source {
                    LeafSource::Summary => Effect::Pointer {
                        kind: PointerKind::Summary,
                        target,
                        text: self.summary().and_then(|text| beginning(&text)),
                    },
                    _ => Effect::Pointer {
                        kind: PointerKind::LastPrompt,
                        target,
                        text: self.is_explicit().then(|| EXPLICIT.to_owned()),
                    },
                })
            }
        }
    }
}

fn title(title: Option<Cow<'_, str>>, rank: u8) -> Option<Effect> {
    let title = title?.trim().to_owned();
    (!title.is_empty()).then_some(Effect::Title { title: Some(title), rank })
}

/// The kind of a record that is no compact boundary.
fn kind_of(kind: RecordKind, is_entry: bool) -> EntryKind {
    match kind {
        RecordKind::Blank => EntryKind::Blank,
        RecordKind::Malformed => EntryKind::Malformed,
        RecordKind::Scalar => EntryKind::Scalar,
        RecordKind::Summary if !is_entry => EntryKind::Summary,
        _ if !is_entry => EntryKind::Outside,
        RecordKind::User | RecordKind::Assistant => EntryKind::Message,
        RecordKind::System => EntryKind::System,
        _ => EntryKind::Unknown,
    }
}

/// What could be read of a record that is not JSON.
pub(super) fn recovered(recovered: Recovered<'_>) -> RecoveredLine<'_> {
    let node = Node::of_recovered(&recovered);
    if !node.is_entry {
        return RecoveredLine::no_entry(recovered);
    }
    let kind = kind_of(node.kind, true);
    let role = match kind {
        EntryKind::Message if node.kind == RecordKind::Assistant => MessageRole::Assistant,
        EntryKind::Message => MessageRole::Other,
        _ => MessageRole::None,
    };
    let (id, parent) = (recovered.uuid.clone(), recovered.parent_uuid.clone());
    let leads = node.kind != RecordKind::Progress;
    RecoveredLine::entry(recovered, kind, id, parent).with_role(role).with_leads(leads)
}
