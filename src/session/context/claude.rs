//! The messages of Claude Code's contexts: the records of a conversation, those of one message of the API as one.

use std::collections::VecDeque;

use leafline_import::claude::{Extent, RecordKind};
use leafline_import::scan::Raw;
use leafline_import::{EntryKind, Family, MessageRole, ecma, text};

use super::super::history::{HistoryScope, walk};
use super::super::index::reading::{LineReader, LineScan};
use super::super::lines::LineCursor;
use super::super::reader::SessionReader;
use super::super::render::{Renderer, Rendering};
use super::Take;
use super::json_text::JsonText;
use super::settings::ContextSettings;
use crate::error::Result;
use crate::store::node::Node;

/// What the program calls the model of messages that it made up itself (observed).
const NO_MODEL: &str = "<synthetic>";

/// Hands out the messages of the context, or of the full history, at an entry, and answers the settings in force.
pub(super) fn tell(
    reader: &SessionReader,
    leaf: Option<u64>,
    scope: HistoryScope,
    take: Take<'_>,
) -> Result<ContextSettings> {
    let mut settings = ContextSettings::without_path(Family::Claude);
    let Some(leaf) = leaf else { return Ok(settings) };
    let extent = match scope {
        HistoryScope::Context => Extent::Context,
        HistoryScope::Full => Extent::FullHistory,
    };
    let history = walk(reader, leaf, extent)?;
    let mut maker = RecordMaker::new(reader, leaf)?;
    let mut path = history.ordinals();
    // Records that were looked at ahead of their place: parts of the message at hand, and the one that is no more.
    let mut joined = VecDeque::new();
    let mut ahead = None;
    while let Some(ordinal) = path.next() {
        if joined.front() == Some(&ordinal) {
            joined.pop_front();
            continue;
        }
        let made = match ahead.take_if(|(at, _)| *at == ordinal) {
            Some((_, made)) => Some(made),
            None => maker.make(ordinal)?,
        };
        let Some(mut message) = made else { continue };
        for next in path.clone() {
            match maker.role_at(next)? {
                Some(MessageRole::Assistant) if message.id.is_some() => {}
                // Tools may have run before the message was complete.
                None | Some(MessageRole::ToolResult) if message.id.is_some() => continue,
                _ => break,
            }
            let Some(made) = maker.make(next)? else { continue };
            if let Some(other) = message.join(made, next) {
                ahead = Some((next, other));
                break;
            }
            joined.push_back(next);
        }
        take(&message.ordinals, &message.json())?;
    }
    settings.set_model(maker.model);
    Ok(settings)
}

/// A message on its way.
#[derive(Debug)]
struct Made {
    /// The message of the API that it is of; the model's messages alone have one.
    id: Option<Vec<u8>>,
    role: Vec<u8>,
    /// JSON text.
    content: Vec<u8>,
    ordinals: Vec<u64>,
}

impl Made {
    /// Takes another record of the same message in; gives back one that is of another.
    fn join(&mut self, other: Self, ordinal: u64) -> Option<Self> {
        if self.id != other.id {
            return Some(other);
        }
        let (Some(mut blocks), Some(more)) = (blocks(&self.content), blocks(&other.content)) else {
            return Some(other);
        };
        if !blocks.is_empty() && !more.is_empty() {
            blocks.push(b',');
        }
        blocks.extend_from_slice(&more);
        self.content = [b"[", &blocks[..], b"]"].concat();
        self.ordinals.push(ordinal);
        None
    }

    fn json(&self) -> Vec<u8> {
        [b"{\"role\":", &self.role[..], b",\"content\":", &self.content, b"}"].concat()
    }
}

/// The blocks of a content with commas between them; a string is a block of text.
fn blocks(content: &[u8]) -> Option<Vec<u8>> {
    match content {
        [b'[', blocks @ .., b']'] => Some(blocks.to_vec()),
        [b'"', ..] => Some([b"{\"type\":\"text\",\"text\":", content, b"}"].concat()),
        _ => None,
    }
}

/// Makes messages of records.
struct RecordMaker<'r> {
    reader: &'r SessionReader,
    lines: LineReader,
    cursor: LineCursor<'r>,
    renderer: Renderer<'r>,
    /// Whether the conversation is one on a sidechain.
    is_sidechain: bool,
    /// The line at hand, whole.
    line: Vec<u8>,
    /// The model that the last record of the model's names.
    model: Option<JsonText>,
}

impl<'r> RecordMaker<'r> {
    fn new(reader: &'r SessionReader, leaf: u64) -> Result<Self> {
        Ok(Self {
            reader,
            lines: LineReader::new(reader.reading()),
            cursor: reader.cursor(0),
            renderer: Renderer::new(reader.snapshot(), Rendering::Exact),
            is_sidechain: reader.entry_node(leaf)?.is_sidechain,
            line: Vec::new(),
            model: None,
        })
    }

    fn is_of_conversation(&self, node: &Node) -> bool {
        node.kind == EntryKind::Message.code() && node.is_sidechain == self.is_sidechain
    }

    /// Whose message an entry is; `None` where it is none of the conversation.
    fn role_at(&self, ordinal: u64) -> Result<Option<MessageRole>> {
        let node = self.reader.entry_node(ordinal)?;
        Ok(MessageRole::from_code(node.role).filter(|_| self.is_of_conversation(&node)))
    }

    /// The message that a record gives; `None` where it gives none.
    fn make(&mut self, ordinal: u64) -> Result<Option<Made>> {
        if self.role_at(ordinal)?.is_none() {
            return Ok(None);
        }
        let line = self.cursor.line(ordinal)?;
        self.line.clear();
        self.renderer.render(line.text, line.holes, &mut self.line)?;
        let decoded = text::decode(&self.line);
        let read = self.lines.read(text::trim_start_of_file(&decoded));
        // Of a record that is torn the content was not read.
        let LineScan::Claude(record) = read.scan() else {
            return Ok(None);
        };
        let members = &record.scan().members;
        let is_model = record.kind() == RecordKind::Assistant;
        if is_model && let Some(model) = members.message_model.filter(|model| model.is_string()) {
            let model = Some(model).filter(|model| !model.is_text(NO_MODEL));
            self.model =
                model.and_then(|model| JsonText::of_raw(model.as_str()).ok()).or(self.model.take());
        }
        let content = members.message_content.filter(|content| !content.is_null());
        let Some(content) = content.and_then(written) else {
            return Ok(None);
        };
        let role = members.message_role.filter(|role| role.is_string()).and_then(written);
        let default = if is_model { &b"\"assistant\""[..] } else { b"\"user\"" };
        Ok(Some(Made {
            id: record.message_id().filter(|_| is_model).map(std::borrow::Cow::into_owned),
            role: role.unwrap_or_else(|| default.to_vec()),
            content,
            ordinals: vec![ordinal],
        }))
    }
}

/// A value as JSON text.
fn written(raw: Raw<'_>) -> Option<Vec<u8>> {
    let mut written = Vec::with_capacity(raw.as_str().len());
    // What a scan gives has been walked before.
    ecma::restringify(raw.as_str(), &mut written).ok()?;
    Some(written)
}
