//! Claude Code's contexts: the records of a conversation, those of one message of the API as one.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::{ClaudeCode, Extent, Lookup, RecordKind, Scanner, above};
use crate::context::{Contexts, TakeMessage};
use crate::conversation::{Before, Conversation, History, HistoryScope, Images, Link};
use crate::recover::whole_record;
use crate::scan::{Raw, Shape};
use crate::{ContextSettings, EntryKind, Family, JsonText, MessageRole, ecma, text};

/// What the program calls the model of messages that it made up itself (observed).
const NO_MODEL: &str = "<synthetic>";

impl Contexts for ClaudeCode {
    fn context_name() -> &'static str {
        "context of Claude Code"
    }

    fn history<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: u64,
        scope: HistoryScope,
    ) -> Result<History, C::Error> {
        let extent = match scope {
            HistoryScope::Context => Extent::Context,
            HistoryScope::Full => Extent::FullHistory,
        };
        let conversation = &*conversation;
        let lookup = InConversation(conversation);
        let path = conversation.climb(leaf, |entry| above(&lookup, extent, entry))?;
        Ok(History::of(path))
    }

    fn context<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        let Some(leaf) = leaf else { return Ok(ContextSettings::none(Family::Claude)) };
        let history = Self::history(conversation, &mut [], leaf, scope)?;
        let mut maker = RecordMaker::new(conversation, leaf)?;
        maker.hand_out(&history, take)?;
        Ok(ContextSettings::of_model(Family::Claude, maker.model))
    }
}

/// The rule of paths over any conversation.
struct InConversation<'c, C>(&'c C);

impl<C: Conversation> Lookup for InConversation<'_, C> {
    type Entry = u64;
    type Error = C::Error;

    fn parent(&self, entry: u64) -> Result<Link<u64>, C::Error> {
        self.0.parent(entry)
    }

    fn is_compact_boundary(&self, entry: u64) -> Result<bool, C::Error> {
        Ok(self.0.node(entry)?.kind == EntryKind::Compaction)
    }

    fn logical_parent(&self, entry: u64) -> Result<Link<u64>, C::Error> {
        self.0.pointer(entry)
    }
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
struct RecordMaker<'c, C> {
    conversation: &'c mut C,
    scanner: Scanner,
    /// Whether the conversation is one on a sidechain.
    is_sidechain: bool,
    /// The model that the last record of the model's names.
    model: Option<JsonText>,
}

impl<'c, C: Conversation> RecordMaker<'c, C> {
    fn new(conversation: &'c mut C, leaf: u64) -> Result<Self, C::Error> {
        let is_sidechain = conversation.node(leaf)?.is_sidechain;
        Ok(Self { conversation, scanner: Scanner::new(), is_sidechain, model: None })
    }

    /// Hands out the messages of a history.
    fn hand_out(
        &mut self,
        history: &History,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        let mut path = history.ordinals();
        // Records that were looked at ahead of their place: parts of the message at hand, and the one that is no more.
        let mut joined = VecDeque::new();
        let mut ahead = None;
        while let Some(entry) = path.next() {
            if joined.front() == Some(&entry) {
                joined.pop_front();
                continue;
            }
            let made = match ahead.take_if(|(at, _)| *at == entry) {
                Some((_, made)) => Some(made),
                None => self.make(entry)?,
            };
            let Some(mut message) = made else { continue };
            for next in path.clone() {
                match self.role_at(next)? {
                    Some(MessageRole::Assistant) if message.id.is_some() => {}
                    // Tools may have run before the message was complete.
                    None | Some(MessageRole::ToolResult) if message.id.is_some() => continue,
                    _ => break,
                }
                let Some(made) = self.make(next)? else { continue };
                if let Some(other) = message.join(made, next) {
                    ahead = Some((next, other));
                    break;
                }
                joined.push_back(next);
            }
            take(&message.ordinals, &message.json())?;
        }
        Ok(())
    }

    /// Whose message an entry is; `None` if it is not part of the conversation.
    fn role_at(&self, entry: u64) -> Result<Option<MessageRole>, C::Error> {
        let node = self.conversation.node(entry)?;
        let is_of_conversation =
            node.kind == EntryKind::Message && node.is_sidechain == self.is_sidechain;
        Ok(is_of_conversation.then_some(node.role))
    }

    /// The message that a record gives; `None` if it gives none.
    fn make(&mut self, entry: u64) -> Result<Option<Made>, C::Error> {
        if self.role_at(entry)?.is_none() {
            return Ok(None);
        }
        let recovers = self.conversation.recovers();
        let decoded = text::decode(self.conversation.line(entry, Images::AsWritten)?);
        let text = text::trim_start_of_file(&decoded);
        let mut record = self.scanner.scan(text);
        // Of a record that is torn the content is not read.
        if record.scan().shape == Shape::Malformed
            && recovers
            && let Some(whole) = whole_record(text)
        {
            record = self.scanner.scan(whole);
        }
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
            id: record.message_id().filter(|_| is_model).map(Cow::into_owned),
            role: role.unwrap_or_else(|| default.to_vec()),
            content,
            ordinals: vec![entry],
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
