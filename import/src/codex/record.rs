//! The facts of one line.

use std::borrow::Cow;

use crate::codex::json::{is_taken_by_the_program, whole_number};
use crate::codex::kind::RecordKind;
use crate::scan::{Raw, Shape};
use crate::time::parse_timestamp;

/// The members of a record. The last of repeated members counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Members<'a> {
    pub(super) timestamp: Option<Raw<'a>>,
    pub(super) ordinal: Option<Raw<'a>>,
    pub(super) record_type: Option<Raw<'a>>,
    pub(super) payload: Option<Raw<'a>>,
    pub(super) metadata: Option<Raw<'a>>,
}

/// The members of the payload that say what it is; of the last `payload` if there are several.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Payload<'a> {
    pub(super) payload_type: Option<Raw<'a>>,
    pub(super) id: Option<Raw<'a>>,
    pub(super) role: Option<Raw<'a>>,
    pub(super) content: Option<Raw<'a>>,
    pub(super) call_id: Option<Raw<'a>>,
    pub(super) name: Option<Raw<'a>>,
    pub(super) turn_id: Option<Raw<'a>>,
    pub(super) model: Option<Raw<'a>>,
    pub(super) cwd: Option<Raw<'a>>,
    pub(super) message: Option<Raw<'a>>,
}

/// The facts of a line of a rollout, made by [`Scanner::scan`](crate::codex::Scanner::scan).
///
/// A fact whose value is not of the expected JSON type is absent. Texts have U+FFFD for a lone surrogate.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    text: &'a str,
    shape: Shape,
    members: Members<'a>,
    payload: Payload<'a>,
}

fn text(raw: Option<Raw<'_>>) -> Option<Cow<'_, str>> {
    raw.and_then(Raw::to_string_lossy)
}

impl<'a> Record<'a> {
    pub(super) fn new(
        text: &'a str,
        shape: Shape,
        members: Members<'a>,
        payload: Payload<'a>,
    ) -> Self {
        Self { text, shape, members, payload }
    }

    /// What it is as JSON.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> RecordKind {
        let name = self.members.record_type.and_then(Raw::as_string);
        RecordKind::of(self.shape, name.as_deref())
    }

    /// `type`, known or not.
    #[must_use]
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        text(self.members.record_type)
    }

    /// `payload`.
    #[must_use]
    pub fn payload(&self) -> Option<Raw<'a>> {
        self.members.payload
    }

    /// `metadata`: the program's own data about an item, which it does not send.
    #[must_use]
    pub fn metadata(&self) -> Option<Raw<'a>> {
        self.members.metadata
    }

    /// `timestamp`, in milliseconds since 1970; `None` if it is not an ISO time.
    #[must_use]
    pub fn timestamp_ms(&self) -> Option<i64> {
        parse_timestamp(&text(self.members.timestamp)?)
    }

    /// `ordinal`: the record's number in its history. Only paginated rollouts have it; a fork's continue where it left
    /// its base.
    #[must_use]
    pub fn ordinal(&self) -> Option<u64> {
        self.members.ordinal.and_then(whole_number)
    }

    /// `payload.type`: which item or event it is.
    #[must_use]
    pub fn payload_type(&self) -> Option<Cow<'a, str>> {
        text(self.payload.payload_type)
    }

    /// `payload.id`: an item's own id (`msg_…`, `fc_…`), or in the header the session's. A compaction repeats the items
    /// that it keeps, so an item's id is not a key.
    #[must_use]
    pub fn payload_id(&self) -> Option<Cow<'a, str>> {
        text(self.payload.id)
    }

    /// `payload.role` of a message.
    #[must_use]
    pub fn role(&self) -> Option<Cow<'a, str>> {
        text(self.payload.role)
    }

    /// `payload.call_id` of a tool's call or output.
    #[must_use]
    pub fn call_id(&self) -> Option<Cow<'a, str>> {
        text(self.payload.call_id)
    }

    /// `payload.turn_id` of an event or of a turn's settings.
    #[must_use]
    pub fn turn_id(&self) -> Option<Cow<'a, str>> {
        text(self.payload.turn_id)
    }

    /// `payload.model` of a turn's settings.
    #[must_use]
    pub fn model(&self) -> Option<Cow<'a, str>> {
        text(self.payload.model)
    }

    pub(super) fn payload_members(&self) -> &Payload<'a> {
        &self.payload
    }

    /// Whether the program accepts the line as a record: an object with a string `timestamp`, an `ordinal` that is
    /// missing, null or a whole number, and nothing that its parser refuses (observed).
    pub(super) fn is_read(&self) -> bool {
        let ordinal = self.members.ordinal.filter(|ordinal| !ordinal.is_null());
        self.shape == Shape::Object
            && self.members.timestamp.is_some_and(Raw::is_string)
            && ordinal.is_none_or(|ordinal| whole_number(ordinal).is_some())
            && is_taken_by_the_program(self.text)
    }
}
