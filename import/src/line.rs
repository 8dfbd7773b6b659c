//! The facts of one line of any family.

use std::borrow::Cow;
use std::fmt::Debug;

use crate::effect::Effect;
use crate::family::{LineScan, with_scan};
use crate::kind::{EntryKind, MessageRole};
use crate::recover::{Recovered, RecoveredParent};
use crate::scan::{Payload, Shape};
use crate::usage::UsageReport;

/// What a line says about its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParentLink<'a> {
    /// Nothing, null, or an empty id: it is a root, or not an entry.
    None,
    /// This id, as WTF-8 (see [`crate::text`]).
    Id(Cow<'a, [u8]>),
    /// A value that is not an id, and so can name no entry.
    NoId,
    /// The entry before it in the file, if any: the family's lines name no parents.
    Previous,
}

/// Scans the lines of a family, reusing its memory.
pub trait LineScanner: Debug + Default {
    /// What a scan gives.
    type Scan<'a>: LineFacts<'a> + Debug + Clone;

    /// Scans one line's decoded text, with or without its terminator.
    fn scan<'a>(&mut self, text: &'a str) -> Self::Scan<'a>;

    /// The payloads of the line scanned last, whose text this is, in the order of the text.
    fn payloads(&self, text: &str) -> &[Payload];
}

/// The facts of a scanned line, by the rules of its family. Each is read when it is needed.
pub trait LineFacts<'a> {
    /// What it is as JSON.
    fn shape(&self) -> Shape;

    /// What kind of line it is.
    fn kind(&self) -> EntryKind;

    /// Whose message it is, given its kind.
    fn role(&self, kind: EntryKind) -> MessageRole;

    /// The value of its `type`.
    fn type_name(&self) -> Option<Cow<'a, str>>;

    /// The name under which the line is counted, given its kind, which is that of an object; `None` if kind and role
    /// say it.
    fn count_name(&self, kind: EntryKind) -> Option<Cow<'a, str>> {
        (kind == EntryKind::Unknown).then(|| self.type_name().unwrap_or_default())
    }

    /// Whether it belongs to an agent's conversation beside the session's own.
    fn is_sidechain(&self) -> bool {
        false
    }

    /// Whether the entry becomes the leaf by being the last one, unless another rule decides. False for entries that
    /// take no part in the conversation.
    fn leads(&self) -> bool {
        true
    }

    /// Its timestamp in milliseconds since 1970.
    fn time(&self) -> Option<i64>;

    /// When the user or the model said something, given its role; in milliseconds since 1970.
    fn activity(&self, role: MessageRole) -> Option<i64>;

    /// The id by which others name it, as WTF-8 (see [`crate::text`]).
    fn id(&self) -> Option<Cow<'a, [u8]>>;

    /// Its parent.
    fn parent(&self) -> ParentLink<'a>;

    /// The API message that it is a part of, if the program writes one in several records.
    fn message_id(&self) -> Option<Cow<'a, [u8]>> {
        None
    }

    /// The session's title, if the line is the header.
    fn header_title(&self) -> Option<Cow<'a, str>> {
        None
    }

    /// What the user or the model says, in a line known to be a message of either.
    fn message_text(&self) -> Option<String>;

    /// What it reports of usage, given its kind and role, which [may](crate::format::Format::may_state_usage).
    fn usage(&self, kind: EntryKind, role: MessageRole) -> Vec<UsageReport> {
        let (_, _) = (kind, role);
        Vec::new()
    }

    /// What it changes besides adding itself, given its kind and role.
    fn effect(&self, kind: EntryKind, role: MessageRole) -> Option<Effect>;
}

/// A record of which only some members could be read, since it is not JSON.
#[derive(Debug, Clone)]
pub struct RecoveredLine<'a> {
    recovered: Recovered<'a>,
    kind: EntryKind,
    role: MessageRole,
    id: Option<Cow<'a, [u8]>>,
    parent: ParentLink<'a>,
    leads: bool,
}

impl<'a> RecoveredLine<'a> {
    /// A record that is not an entry.
    #[must_use]
    pub fn no_entry(recovered: Recovered<'a>) -> Self {
        Self {
            recovered,
            kind: EntryKind::Malformed,
            role: MessageRole::None,
            id: None,
            parent: ParentLink::None,
            leads: true,
        }
    }

    /// An entry of this kind.
    #[must_use]
    pub fn entry(
        recovered: Recovered<'a>,
        kind: EntryKind,
        id: Option<Cow<'a, [u8]>>,
        parent: Option<RecoveredParent<'a>>,
    ) -> Self {
        let parent = match parent {
            None | Some(RecoveredParent::Null) => ParentLink::None,
            Some(RecoveredParent::Id(id)) if id.is_empty() => ParentLink::None,
            Some(RecoveredParent::Id(id)) => ParentLink::Id(id),
            Some(RecoveredParent::Other) => ParentLink::NoId,
        };
        Self { recovered, kind, role: MessageRole::None, id, parent, leads: true }
    }

    /// The same with a message role.
    #[must_use]
    pub fn with_role(self, role: MessageRole) -> Self {
        Self { role, ..self }
    }

    /// The same, by whether it [leads](LineFacts::leads).
    #[must_use]
    pub fn with_leads(self, leads: bool) -> Self {
        Self { leads, ..self }
    }
}

impl<'a> LineFacts<'a> for RecoveredLine<'a> {
    fn shape(&self) -> Shape {
        Shape::Malformed
    }

    fn kind(&self) -> EntryKind {
        self.kind
    }

    fn role(&self, _: EntryKind) -> MessageRole {
        self.role
    }

    fn type_name(&self) -> Option<Cow<'a, str>> {
        let name = self.recovered.record_type.as_deref()?;
        Some(Cow::Owned(String::from_utf8_lossy(name).into_owned()))
    }

    fn is_sidechain(&self) -> bool {
        self.recovered.is_sidechain
    }

    fn leads(&self) -> bool {
        self.leads
    }

    fn time(&self) -> Option<i64> {
        self.recovered.time_ms()
    }

    fn activity(&self, _: MessageRole) -> Option<i64> {
        None
    }

    fn id(&self) -> Option<Cow<'a, [u8]>> {
        self.id.clone()
    }

    fn parent(&self) -> ParentLink<'a> {
        self.parent.clone()
    }

    fn message_text(&self) -> Option<String> {
        None
    }

    fn effect(&self, _: EntryKind, _: MessageRole) -> Option<Effect> {
        None
    }
}

/// One line, or one record of it, read by a [`LineReader`](crate::LineReader). Its facts are read from its text on
/// demand, except kind and role.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    scan: LineScan<'a>,
    is_malformed: bool,
    kind: EntryKind,
    role: MessageRole,
}

impl<'a> Line<'a> {
    pub(crate) fn new(scan: LineScan<'a>, is_malformed: bool) -> Self {
        let kind = with_scan!(&scan, line => LineFacts::kind(line));
        let role = with_scan!(&scan, line => LineFacts::role(line, kind));
        Self { scan, is_malformed, kind, role }
    }

    /// Whether it is not JSON, even if something could be recovered from it.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        self.is_malformed
    }

    /// What kind of line it is.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Whose message it is.
    #[must_use]
    pub fn role(&self) -> MessageRole {
        self.role
    }

    /// The value of its `type`.
    #[must_use]
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        with_scan!(&self.scan, line => LineFacts::type_name(line))
    }

    /// The name under which it is counted; `None` if kind and role say it.
    #[must_use]
    pub fn count_name(&self) -> Option<Cow<'a, str>> {
        if matches!(self.kind, EntryKind::Blank | EntryKind::Malformed | EntryKind::Scalar) {
            return None;
        }
        with_scan!(&self.scan, line => LineFacts::count_name(line, self.kind))
    }

    /// Whether it belongs to an agent's conversation beside the session's own.
    #[must_use]
    pub fn is_sidechain(&self) -> bool {
        with_scan!(&self.scan, line => LineFacts::is_sidechain(line))
    }

    /// Whether the entry becomes the leaf by being the last one, unless another rule decides.
    #[must_use]
    pub fn leads(&self) -> bool {
        with_scan!(&self.scan, line => LineFacts::leads(line))
    }

    /// Its timestamp in milliseconds since 1970.
    #[must_use]
    pub fn time(&self) -> Option<i64> {
        with_scan!(&self.scan, line => LineFacts::time(line))
    }

    /// When the user or the model said something, in milliseconds since 1970.
    #[must_use]
    pub fn activity(&self) -> Option<i64> {
        with_scan!(&self.scan, line => LineFacts::activity(line, self.role))
    }

    /// The id that it states, as WTF-8 (see [`crate::text`]). For families whose lines state none, see
    /// [`Reading::id_at`](crate::Reading::id_at).
    #[must_use]
    pub fn id(&self) -> Option<Cow<'a, [u8]>> {
        with_scan!(&self.scan, line => LineFacts::id(line))
    }

    /// Its parent.
    #[must_use]
    pub fn parent(&self) -> ParentLink<'a> {
        with_scan!(&self.scan, line => LineFacts::parent(line))
    }

    /// Whether it names itself as its parent.
    #[must_use]
    pub fn names_itself(&self) -> bool {
        match self.parent() {
            ParentLink::Id(parent) => self.id() == Some(parent),
            ParentLink::None | ParentLink::NoId | ParentLink::Previous => false,
        }
    }

    /// The API message that it is a part of, if the program writes one in several records.
    #[must_use]
    pub fn message_id(&self) -> Option<Cow<'a, [u8]>> {
        with_scan!(&self.scan, line => LineFacts::message_id(line))
    }

    /// The session's title, if the line is the header; never empty.
    #[must_use]
    pub fn header_title(&self) -> Option<Cow<'a, str>> {
        let title = with_scan!(&self.scan, line => LineFacts::header_title(line));
        title.filter(|title| !title.is_empty())
    }

    /// What the user or the model says in it: its text, or its text blocks joined by spaces, as pi lists sessions.
    /// `None` for other lines and for empty text.
    #[must_use]
    pub fn message_text(&self) -> Option<String> {
        if !matches!(self.role, MessageRole::User | MessageRole::Assistant) {
            return None;
        }
        with_scan!(&self.scan, line => LineFacts::message_text(line))
    }

    /// What it reports of usage. [`UsageCounter`](crate::UsageCounter) adds up what a session's lines report.
    #[must_use]
    pub fn usage(&self) -> Vec<UsageReport> {
        with_scan!(&self.scan, line => LineFacts::usage(line, self.kind, self.role))
    }

    /// What it changes besides adding itself.
    #[must_use]
    pub fn effect(&self) -> Option<Effect> {
        with_scan!(&self.scan, line => LineFacts::effect(line, self.kind, self.role))
    }
}
