//! What one record says.

use std::borrow::Cow;

use super::block::{Block, BlockKind, CallKey};
use crate::claude::kind::RecordKind;
use crate::claude::record::Record;
use crate::ecma::Document;
use crate::scan::Raw;
use crate::{JsonText, ecma};

/// What the program calls the model of messages that it made up itself (observed).
pub(super) const NO_MODEL: &str = "<synthetic>";

/// Who says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The model, in the message of the API with this id.
    Model(Option<Vec<u8>>),
    /// The user, a tool, or the program in the user's name.
    User,
    /// A command of the user's that the program ran itself.
    Command,
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// A string, as JSON.
    Text(Vec<u8>),
    /// Blocks.
    Blocks(Vec<Block>),
}

impl Said {
    pub(super) fn blocks(&self) -> &[Block] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    pub(super) fn into_blocks(self) -> Vec<Block> {
        match self {
            Self::Text(string) => vec![Block::text(&string)],
            Self::Blocks(blocks) => blocks,
        }
    }

    pub(super) fn has_results(&self) -> bool {
        self.blocks().iter().any(Block::is_result)
    }

    pub(super) fn is_results_only(&self) -> bool {
        !self.blocks().is_empty() && self.blocks().iter().all(Block::is_result)
    }
}

/// What a record says that is part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) ordinal: u64,
    pub(super) speaker: Speaker,
    pub(super) said: Said,
    /// Whether it tells of an error of the API. It is not sent, but the turn ended with it.
    pub(super) is_error: bool,
    /// Whether the program wrote it in the user's name.
    pub(super) is_meta: bool,
}

impl Item {
    /// What a record says to a model; `None` if it says nothing. `model` is the one that the context is for.
    pub(super) fn read(
        record: &Record<'_>,
        content: Option<&mut Document<'_>>,
        ordinal: u64,
        model: Option<&JsonText>,
    ) -> Option<Self> {
        if record.is_local_command() {
            let text = record.own_content().filter(|text| text.is_string());
            let text =
                text.filter(|text| !text.is_text("")).map_or("\"(no content)\"", Raw::as_str);
            return Some(Self {
                ordinal,
                speaker: Speaker::Command,
                said: Said::Text(written(text)?),
                is_error: false,
                is_meta: false,
            });
        }
        let content = content?;
        match record.kind() {
            RecordKind::User => {
                let said = heard(content)?;
                let is_meta = record.is_meta();
                Some(Self { ordinal, speaker: Speaker::User, said, is_error: false, is_meta })
            }
            RecordKind::Assistant => {
                let id = record.message_id().map(Cow::into_owned);
                let said = Said::Blocks(answered(record, content, model)?);
                let is_error = is_made_up(record) && record.is_api_error_message();
                Some(Self { ordinal, speaker: Speaker::Model(id), said, is_error, is_meta: false })
            }
            _ => None,
        }
    }

    /// The calls whose results a record has, without reading the rest of it.
    pub(super) fn results_of(content: &Document<'_>) -> Vec<CallKey> {
        let blocks = content.elements(content.value());
        blocks.filter_map(|block| Block::result_of(content, block)).collect()
    }

    /// The id of the message of the API.
    pub(super) fn id(&self) -> Option<&[u8]> {
        match &self.speaker {
            Speaker::Model(id) => id.as_deref(),
            Speaker::User | Speaker::Command => None,
        }
    }

    pub(super) fn is_model(&self) -> bool {
        matches!(self.speaker, Speaker::Model(_))
    }

    /// Whether the user said it.
    pub(super) fn is_prompt(&self) -> bool {
        self.speaker == Speaker::User && !self.is_meta && !self.said.has_results()
    }

    /// Its calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = (CallKey, &Block)> {
        self.said.blocks().iter().filter_map(|block| match block.kind {
            BlockKind::Call(key) => Some((key, block)),
            _ => None,
        })
    }

    /// The calls whose results it has.
    pub(super) fn results(&self) -> impl Iterator<Item = CallKey> {
        self.said.blocks().iter().filter_map(|block| match block.kind {
            BlockKind::Result(key) => Some(key),
            _ => None,
        })
    }

    /// Its blocks without white space at the end.
    pub(super) fn blocks_to_last_word(&self) -> &[Block] {
        let blocks = self.said.blocks();
        let end = blocks.iter().rposition(|block| !block.is_blank()).map_or(0, |last| last + 1);
        &blocks[..end]
    }

    /// Whether it is more than thoughts and white space.
    pub(super) fn says_something(&self) -> bool {
        let says = |block: &Block| {
            !matches!(block.kind, BlockKind::Thought | BlockKind::Nothing) && !block.is_empty_text()
        };
        self.blocks_to_last_word().iter().any(says)
    }
}

/// The content of a message of the user's.
fn heard(content: &mut Document<'_>) -> Option<Said> {
    if let Some(string) = string(content) {
        return Some(Said::Text(string));
    }
    let mut blocks = blocks(content);
    if blocks.iter().any(|block| block.loads_tools) {
        blocks.push(Block::tool_loaded());
    }
    (!blocks.is_empty()).then_some(Said::Blocks(blocks))
}

/// A content that is a string, as JSON.
fn string(content: &Document<'_>) -> Option<Vec<u8>> {
    let raw = content.raw_of(content.value()).filter(|raw| raw.is_string())?;
    let mut string = Vec::with_capacity(raw.as_str().len());
    content.write(&mut string);
    Some(string)
}

/// The blocks of a content.
fn blocks(content: &mut Document<'_>) -> Vec<Block> {
    let all = content.value();
    let mut blocks = Vec::new();
    for place in 0.. {
        let Some(block) = content.element(all, place) else { break };
        blocks.extend(Block::read(content, block));
    }
    blocks
}

/// The content of a record of the model's.
fn answered(
    record: &Record<'_>,
    content: &mut Document<'_>,
    model: Option<&JsonText>,
) -> Option<Vec<Block>> {
    let is_array = content.raw_of(content.value()).is_some_and(Raw::is_array);
    let mut blocks: Vec<Block> = if let Some(string) = string(content) {
        vec![Block::text(&string)]
    } else if is_array && content.element(content.value(), 0).is_none() {
        return Some(vec![Block::nothing_said()]);
    } else {
        blocks(content)
    };
    if blocks.is_empty() {
        return None;
    }
    // A model cannot read what another one thought.
    let own_model = record.scan().members.message_model.and_then(model_name);
    if !is_made_up(record) && model.is_some_and(|model| own_model.as_ref() != Some(model)) {
        blocks.retain(|block| block.kind != BlockKind::Thought);
    }
    Some(blocks)
}

/// Whether the program made a message of the model's up.
fn is_made_up(record: &Record<'_>) -> bool {
    record.scan().members.message_model.is_some_and(|model| model.is_text(NO_MODEL))
}

/// The model that a record names.
pub(super) fn model_name(raw: Raw<'_>) -> Option<JsonText> {
    JsonText::of_raw(raw.as_str()).ok().filter(|_| raw.is_string() && !raw.is_text(NO_MODEL))
}

/// A value as JSON text.
fn written(text: &str) -> Option<Vec<u8>> {
    let mut written = Vec::with_capacity(text.len());
    // What a scan gives has been walked before.
    ecma::restringify(text, &mut written).ok()?;
    Some(written)
}
