//! The facts of an Opal line.

use std::borrow::Cow;

use crate::effect::Effect;
use crate::kind::{EntryKind, MessageRole};
use crate::line::{LineFacts, LineScanner, ParentLink};
use crate::opal::{Line, LineKind, Parent, Scanner};
use crate::scan::{self, Payload, Raw, Shape};

/// Scans lines, and finds their payloads.
#[derive(Debug, Default)]
pub struct PayloadScanner {
    line: Scanner,
    payloads: scan::Scanner,
}

/// The length in bytes of the shortest line that can contain a payload.
const SHORTEST_WITH_PAYLOAD: usize = scan::SMALLEST_BASE64;

impl LineScanner for PayloadScanner {
    type Scan<'a> = Line<'a>;

    fn scan<'a>(&mut self, text: &'a str) -> Line<'a> {
        if text.len() >= SHORTEST_WITH_PAYLOAD {
            self.payloads.scan(text);
        }
        self.line.scan(text)
    }

    fn payloads(&self, text: &str) -> &[Payload] {
        if text.len() < SHORTEST_WITH_PAYLOAD { &[] } else { self.payloads.payloads() }
    }
}

impl<'a> LineFacts<'a> for Line<'a> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn kind(&self) -> EntryKind {
        match Self::kind(self) {
            LineKind::Blank => EntryKind::Blank,
            LineKind::Malformed => EntryKind::Malformed,
            LineKind::Scalar => EntryKind::Scalar,
            LineKind::Header => EntryKind::Header,
            LineKind::Message => EntryKind::Message,
        }
    }

    fn role(&self, _: EntryKind) -> MessageRole {
        summary_role(self).unwrap_or_else(|| Self::role(self))
    }

    fn type_name(&self) -> Option<Cow<'a, str>> {
        self.members.entry_type.and_then(Raw::to_string_lossy)
    }

    fn count_name(&self, kind: EntryKind) -> Option<Cow<'a, str>> {
        (kind == EntryKind::Message)
            .then(|| self.members.role.and_then(Raw::to_string_lossy).unwrap_or_default())
    }

    fn time(&self) -> Option<i64> {
        self.timestamp()
    }

    fn activity(&self, _: MessageRole) -> Option<i64> {
        self.timestamp()
    }

    fn id(&self) -> Option<Cow<'a, [u8]>> {
        Self::id(self)
    }

    fn parent(&self) -> ParentLink<'a> {
        match Self::parent(self) {
            Parent::Root => ParentLink::None,
            Parent::Id(id) => ParentLink::Id(id),
            Parent::NoId => ParentLink::NoId,
        }
    }

    fn header_title(&self) -> Option<Cow<'a, str>> {
        self.members
            .metadata
            .filter(|metadata| metadata.is_object())?
            .member("title")?
            .to_string_lossy()
    }

    fn message_text(&self) -> Option<String> {
        self.content().map(Cow::into_owned).filter(|text| !text.is_empty())
    }

    fn effect(&self, _: EntryKind, role: MessageRole) -> Option<Effect> {
        if role == MessageRole::User { Effect::prompt(&self.content()?) } else { None }
    }
}

/// The role of a message that summarises others, which only its metadata shows.
fn summary_role(line: &Line<'_>) -> Option<MessageRole> {
    let kind = line.members.metadata?.member("type")?;
    match kind.as_string().as_deref() {
        Some(b"compaction_summary") => Some(MessageRole::CompactionSummary),
        Some(b"branch_summary") => Some(MessageRole::BranchSummary),
        _ => None,
    }
}
