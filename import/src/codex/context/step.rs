//! What a line does to the history.

use crate::codex::context::Place;
use crate::codex::context::fact::{self, Fact, Names};
use crate::codex::item::{Item, ItemKind};
use crate::codex::json::{Object, whole_number};
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::codex::requirements::{is_compaction, is_metadata, is_turn_started};
use crate::scan::Raw;

/// A line that takes part.
#[derive(Debug)]
pub(super) enum Step {
    /// An item is added.
    Item(Fact),
    /// The history is replaced.
    Compacted(Compacted),
    /// This many of the user's last turns are rolled back.
    RolledBack(u64),
    /// A turn begins, of this id.
    TurnStarted(u32),
    /// The settings of a turn.
    TurnContext(Option<u32>),
    /// The user said something.
    UserMessage,
}

/// A compaction.
#[derive(Debug)]
pub(super) struct Compacted {
    /// Its items; `None` in early versions, which have only a summary.
    pub(super) replacement: Option<Vec<Fact>>,
    /// It has a `window_number`.
    pub(super) has_window: bool,
    /// It has `resume_metadata`.
    pub(super) has_resume_metadata: bool,
    /// Its `message` is not empty.
    pub(super) has_message: bool,
    /// Its summary, as the message by which an early compaction replaces the history.
    pub(super) summary: Fact,
}

impl Compacted {
    /// Whether nothing above it is read if it is the last compaction.
    pub(super) fn stands_alone(&self, is_paginated: bool) -> bool {
        self.replacement.is_some() && self.has_window && (is_paginated || self.has_resume_metadata)
    }
}

impl Step {
    /// Whether it alone can change what the model is sent: it is more than a boundary of a turn.
    pub(super) fn changes_history(&self) -> bool {
        matches!(self, Self::Item(_) | Self::Compacted(_) | Self::RolledBack(_))
    }
}

/// What a line does; `None` if it does nothing or is not read.
pub(super) fn of(line: u64, record: &Record<'_>, names: &mut Names) -> Option<Step> {
    let kind = record.kind();
    let takes_part = matches!(
        kind,
        RecordKind::ResponseItem
            | RecordKind::InterAgentCommunication
            | RecordKind::Compacted
            | RecordKind::EventMsg
            | RecordKind::TurnContext
    );
    if !takes_part || !record.is_read() {
        return None;
    }
    let place = Place { line, index: None };
    let payload = record.payload()?;
    match kind {
        RecordKind::ResponseItem => {
            let metadata = record.metadata().filter(|metadata| !metadata.is_null());
            if !metadata.is_none_or(is_metadata) {
                return None;
            }
            let item = Item::read(payload)?;
            fact::is_sent(&item).then(|| Step::Item(Fact::of(place, &item, names)))
        }
        RecordKind::InterAgentCommunication => {
            fact::Communication::read(payload)?;
            Some(Step::Item(Fact::of_communication(place)))
        }
        RecordKind::Compacted => compacted(line, payload, names).map(Step::Compacted),
        RecordKind::TurnContext => {
            let is_text = |name| payload.member(name).is_some_and(Raw::is_string);
            let is_read = is_text("model") && is_text("cwd");
            is_read.then(|| Step::TurnContext(turn_id(record, names)))
        }
        _ => event(record, payload, names),
    }
}

fn turn_id(record: &Record<'_>, names: &mut Names) -> Option<u32> {
    let id = record.payload_members().turn_id?.as_string()?;
    Some(names.number(&id))
}

fn event(record: &Record<'_>, payload: Raw<'_>, names: &mut Names) -> Option<Step> {
    let name = record.payload_members().payload_type?.as_string()?;
    match &*name {
        // The second is its name in the program's own code, which the program reads as well.
        b"task_started" | b"turn_started" => {
            is_turn_started(payload).then_some(())?;
            Some(Step::TurnStarted(turn_id(record, names)?))
        }
        b"user_message" => record
            .payload_members()
            .message
            .is_some_and(Raw::is_string)
            .then_some(Step::UserMessage),
        b"thread_rolled_back" => {
            let turns = whole_number(payload.member("num_turns")?)?;
            u32::try_from(turns).is_ok().then_some(Step::RolledBack(turns))
        }
        _ => None,
    }
}

fn compacted(line: u64, payload: Raw<'_>, names: &mut Names) -> Option<Compacted> {
    let object = Object::of(payload);
    let message = object.get("message")?.to_string_lossy()?;
    if !is_compaction(&object) {
        return None;
    }
    let replacement = match object.value("replacement_history") {
        None => None,
        Some(list) if list.is_array() => Some(replacement(line, list, names)?),
        Some(_) => return None,
    };
    if let Some(metadata) = object.value("replacement_history_metadata") {
        let items = replacement.as_ref()?.len();
        let is_whole = metadata.is_array() && metadata.elements().count() == items;
        if !(is_whole && metadata.elements().all(is_metadata)) {
            return None;
        }
    }
    Some(Compacted {
        replacement,
        has_window: object.value("window_number").is_some_and(|n| whole_number(n).is_some()),
        has_resume_metadata: object.value("resume_metadata").is_some(),
        has_message: !message.is_empty(),
        summary: Fact::of_summary(Place { line, index: None }, &message),
    })
}

/// The items that replace the history. If the program cannot read one of them, it drops the compaction. Snapshots of
/// early versions and updates of the configuration are left out.
fn replacement(line: u64, list: Raw<'_>, names: &mut Names) -> Option<Vec<Fact>> {
    let mut facts = Vec::new();
    for (index, raw) in (0..).zip(list.elements()) {
        if raw.member("type").is_some_and(|name| name.is_text("ghost_snapshot")) {
            continue;
        }
        let item = Item::read(raw)?;
        if item.kind != ItemKind::ConfigurationUpdate {
            facts.push(Fact::of(Place { line, index: Some(index) }, &item, names));
        }
    }
    Some(facts)
}
