//! The facts about an item that decide what happens to it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::codex::context::{ContextItem, Place, Use};
use crate::codex::contextual;
use crate::codex::item::{Item, ItemKind};
use crate::codex::json::Object;
use crate::codex::requirements::{is_agent, is_passthrough};
use crate::scan::Raw;

/// The beginning of the summaries that the program writes.
const SUMMARY: &str = "Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:\n";

/// Numbers for names, so that a name is kept once.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<Box<[u8]>, u32>);

impl Names {
    pub(super) fn number(&mut self, name: &[u8]) -> u32 {
        // A file with four thousand million names would run out of space before the numbers do.
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        match self.0.get(name) {
            Some(&number) => number,
            None => *self.0.entry(name.into()).or_insert(next),
        }
    }
}

/// How calls and outputs are paired: an output belongs only to a call of its own class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Class {
    Function,
    Custom,
    ToolSearch,
}

/// Which side of a pair an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Call,
    Output,
}

/// The pair that an item is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) side: Side,
    pub(super) class: Class,
    /// The number of its `call_id`.
    pub(super) call: u32,
}

/// What an item means to a rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// A turn of the user begins here.
    Start,
    /// It gives the model information before a turn, and is rolled back with it.
    Ahead,
    /// Neither.
    Within,
}

/// An item of the history.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) item: ContextItem,
    pub(super) turn: Turn,
    pub(super) pair: Option<Pair>,
    /// The bytes of the texts that an early compaction keeps: of a prompt, or of a summary that does not begin as the
    /// program's do.
    pub(super) prompt_bytes: Option<u64>,
}

/// Whether a `response_item` becomes part of the history.
pub(super) fn is_sent(item: &Item<'_>) -> bool {
    match item.kind {
        ItemKind::Message => item.role().as_deref() != Some(b"system"),
        ItemKind::Other | ItemKind::CompactionTrigger | ItemKind::ConfigurationUpdate => false,
        _ => true,
    }
}

impl Fact {
    fn new(place: Place, use_as: Use, turn: Turn) -> Self {
        let item = ContextItem { place, use_as };
        Self { item, turn, pair: None, prompt_bytes: None }
    }

    pub(super) fn of(place: Place, item: &Item<'_>, names: &mut Names) -> Self {
        let mut fact = Self::new(place, Use::Item, turn_of(item));
        fact.pair = pair_of(item, names);
        let is_prompt = fact.turn == Turn::Start && item.role().as_deref() == Some(b"user");
        if is_prompt {
            fact.prompt_bytes = Some(prompt_texts(item).iter().map(|text| text.len() as u64).sum());
        }
        fact
    }

    pub(super) fn of_communication(place: Place) -> Self {
        Self::new(place, Use::Item, Turn::Start)
    }

    /// The message that stands for a summary; for an empty summary it says that there is none.
    pub(super) fn of_summary(place: Place, message: &str) -> Self {
        if message.starts_with(SUMMARY) {
            return Self::new(place, Use::Summary, Turn::Within);
        }
        let mut fact = Self::new(place, Use::Summary, Turn::Start);
        fact.prompt_bytes = Some(summary_text(message).len() as u64);
        fact
    }
}

/// A summary as it is sent.
pub(super) fn summary_text(message: &str) -> &str {
    if message.is_empty() { "(no summary available)" } else { message }
}

/// The texts of a prompt, as an early compaction keeps them: one empty text if it has only other blocks.
pub(super) fn prompt_texts<'a>(item: &Item<'a>) -> Vec<Cow<'a, str>> {
    let texts: Vec<_> = item.texts("input_text").collect();
    if texts.is_empty() && item.blocks().next().is_some() { vec![Cow::Borrowed("")] } else { texts }
}

fn turn_of(item: &Item<'_>) -> Turn {
    if item.kind == ItemKind::AgentMessage {
        return Turn::Start;
    }
    if item.kind != ItemKind::Message {
        return Turn::Within;
    }
    match item.role().as_deref() {
        Some(b"user") if item.texts("input_text").any(|text| contextual::is_of_user(&text)) => {
            Turn::Ahead
        }
        Some(b"user")
            if item.texts("input_text").next().is_some_and(|text| text.starts_with(SUMMARY)) =>
        {
            Turn::Within
        }
        Some(b"user") => Turn::Start,
        Some(b"developer")
            if item.texts("input_text").any(|text| contextual::is_of_developer(&text)) =>
        {
            Turn::Ahead
        }
        Some(b"assistant") if is_communication(item) => Turn::Start,
        _ => Turn::Within,
    }
}

/// Whether an assistant message is one from agent to agent, written as JSON.
fn is_communication(item: &Item<'_>) -> bool {
    let mut blocks = item.blocks();
    let (Some(block), None) = (blocks.next(), blocks.next()) else { return false };
    let Some(text) = block.member("text").and_then(Raw::to_string_lossy) else { return false };
    Raw::parse(&text).is_ok_and(|json| Communication::read(json).is_some())
}

fn pair_of(item: &Item<'_>, names: &mut Names) -> Option<Pair> {
    let (side, class) = match item.kind {
        ItemKind::FunctionCall | ItemKind::LocalShellCall => (Side::Call, Class::Function),
        ItemKind::FunctionCallOutput => (Side::Output, Class::Function),
        ItemKind::CustomToolCall => (Side::Call, Class::Custom),
        ItemKind::CustomToolCallOutput => (Side::Output, Class::Custom),
        ItemKind::ToolSearchCall => (Side::Call, Class::ToolSearch),
        ItemKind::ToolSearchOutput => (Side::Output, Class::ToolSearch),
        _ => return None,
    };
    Some(Pair { side, class, call: names.number(&item.call_id()?) })
}

/// The payload of an `inter_agent_communication`.
#[derive(Debug)]
pub(super) struct Communication<'a> {
    pub(super) id: Option<Raw<'a>>,
    pub(super) author: Raw<'a>,
    pub(super) recipient: Raw<'a>,
    pub(super) content: Raw<'a>,
    pub(super) encrypted_content: Option<Raw<'a>>,
    pub(super) triggers_turn: bool,
}

impl<'a> Communication<'a> {
    /// Reads it; `None` if the program would not accept it.
    pub(super) fn read(payload: Raw<'a>) -> Option<Self> {
        let object = Object::of(payload);
        let text = |name| object.get(name).filter(|value| value.is_string());
        let path = |name| object.get(name).filter(|path| is_agent(*path));
        let triggers_turn = match object.get("trigger_turn")?.as_str() {
            "true" => true,
            "false" => false,
            _ => return None,
        };
        let id = object.value("id");
        let are_agents = |list: Raw<'_>| list.is_array() && list.elements().all(is_agent);
        let is_read = id.is_none_or(Raw::is_string)
            && object.value("encrypted_content").is_none_or(Raw::is_string)
            && object.get("other_recipients").is_none_or(are_agents)
            && object
                .value("internal_chat_message_metadata_passthrough")
                .is_none_or(is_passthrough);
        if !is_read {
            return None;
        }
        Some(Self {
            id,
            author: path("author")?,
            recipient: path("recipient")?,
            content: text("content")?,
            encrypted_content: text("encrypted_content"),
            triggers_turn,
        })
    }
}
