//! What pi's model layer makes of the messages before it writes them in a provider's form: pi-ai's `transformMessages`
//! for the session's own model (observed).
//!
//! The messages pass one after the other. What is kept of them is the calls that have no result yet, and system messages
//! that came between a call and its results.

use std::collections::HashSet;

use super::super::identity::is_same;
use super::super::omp::key::{Key, key};
use super::super::pi::Rules;
use super::object::{self, Object, is_nullish, is_text, is_truthy};
use crate::context::TakeMessage;
use crate::ecma::Document;
use crate::scan::Raw;
use crate::text::trim;
use crate::{ContextModel, JsonText};

/// The model layer on the way through a conversation.
pub(super) struct ModelLayer<'m> {
    /// The model that is asked; without one, no turn counts as another model's.
    model: Option<AskedModel<'m>>,
    rules: Rules,
    /// The calls of the last turn.
    calls: Vec<Call>,
    /// The ids of their results so far.
    answered: HashSet<Key>,
    /// System messages that go below those results.
    held: Vec<(Vec<u64>, Vec<u8>)>,
    out: Vec<u8>,
}

/// The model that is asked.
pub(in super::super) struct AskedModel<'m> {
    pub(in super::super) model: &'m ContextModel,
    /// Its `api` as JSON, where one of its turns names it.
    pub(in super::super) api: Option<String>,
}

/// A call of a tool.
struct Call {
    places: Vec<u64>,
    key: Option<Key>,
    id: Option<String>,
    name: Option<String>,
}

impl<'m> ModelLayer<'m> {
    /// For a model. Versions before 0.87 know no system messages in a conversation, and leave content as it is.
    pub(super) fn of(model: Option<AskedModel<'m>>, rules: Rules) -> Self {
        Self {
            model,
            rules,
            calls: Vec::new(),
            answered: HashSet::new(),
            held: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Takes a message, and passes on what can be sent now.
    pub(super) fn push<E>(
        &mut self,
        places: &[u64],
        message: Raw<'_>,
        take: TakeMessage<'_, E>,
    ) -> Result<(), E> {
        let [role, content] = message.members(["role", "content"]);
        let has_role = |name: &str| is_text(role, name);
        if has_role("assistant") || has_role("user") {
            self.end_of_turn(take)?;
        }
        if has_role("assistant") {
            let reason = message.member("stopReason");
            if is_text(reason, "error") || is_text(reason, "aborted") {
                return Ok(());
            }
            self.calls = calls(places, content);
            if let Some(content) = content.filter(|content| content.is_array())
                && let Some(content) = self.changed_content(message, content)
            {
                return self.take_with_content(places, message, content, take);
            }
        }
        if has_role("toolResult") && !self.calls.is_empty() {
            self.answered.extend(key(message.member("toolCallId")));
        }
        if self.rules.edits() {
            if has_role("system") && !self.calls.is_empty() {
                let message = message.as_str().as_bytes().to_vec();
                self.held.push((places.to_vec(), message));
                return Ok(());
            }
            if is_nullish(content) {
                return self.take_with_content(places, message, "[]".to_owned(), take);
            }
        }
        take(places, message.as_str().as_bytes())
    }

    /// Passes on what is sent after the last message.
    pub(super) fn finish<E>(mut self, take: TakeMessage<'_, E>) -> Result<(), E> {
        self.end_of_turn(take)
    }

    /// Gives each call without a result one, and passes on what waited for the results.
    fn end_of_turn<E>(&mut self, take: TakeMessage<'_, E>) -> Result<(), E> {
        for call in std::mem::take(&mut self.calls) {
            if call.key.is_some_and(|key| self.answered.contains(&key)) {
                continue;
            }
            self.out.clear();
            call.write_missing_result(&mut self.out);
            take(&call.places, &self.out)?;
        }
        self.answered.clear();
        for (places, message) in std::mem::take(&mut self.held) {
            take(&places, &message)?;
        }
        Ok(())
    }

    fn take_with_content<E>(
        &mut self,
        places: &[u64],
        message: Raw<'_>,
        content: String,
        take: TakeMessage<'_, E>,
    ) -> Result<(), E> {
        // A message is JSON.
        let Ok(mut document) = Document::parse(message.as_str()) else { return Ok(()) };
        document.set("content", content);
        self.out.clear();
        document.write(&mut self.out);
        take(places, &self.out)
    }

    /// The content of a turn as it is sent to the model, if that is another.
    fn changed_content(&self, message: Raw<'_>, content: Raw<'_>) -> Option<String> {
        let reader = match (self.is_own(message), self.rules) {
            (true, _) => Reader::Same,
            (false, Rules::Today) => Reader::Other,
            (false, Rules::Edited | Rules::Plain) => Reader::OtherWithThinking,
        };
        let sent: Vec<Sent<'_>> = content.elements().map(|block| Sent::of(block, reader)).collect();
        if sent.iter().all(|sent| matches!(sent, Sent::AsItIs(_))) {
            return None;
        }
        let blocks = sent.iter().filter_map(|sent| match sent {
            Sent::AsItIs(block) => Some(block.as_str().as_bytes()),
            Sent::Changed(block) => Some(&block[..]),
            Sent::Not => None,
        });
        let list = object::list(blocks);
        Some(String::from_utf8(list).expect("what is written of a text's blocks is text"))
    }

    /// Whether the model that is asked wrote a turn.
    fn is_own(&self, message: Raw<'_>) -> bool {
        let Some(AskedModel { model, api }) = &self.model else { return true };
        let [provider, id, its_api] = message.members(["provider", "model", "api"]);
        let is =
            |value: Option<Raw<'_>>, named: Option<&str>| is_same(value.map(Raw::as_str), named);
        is(provider, model.provider.as_ref().map(JsonText::as_str))
            && is(id, model.model_id.as_ref().map(JsonText::as_str))
            && is(its_api, api.as_deref())
    }
}

/// The model that a turn is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// The one that wrote it.
    Same,
    /// Another one, which is sent no thinking.
    Other,
    /// Another one, which is sent thinking as text (pi before 1.3).
    OtherWithThinking,
}

/// What is sent of a block of a turn.
enum Sent<'a> {
    AsItIs(Raw<'a>),
    Changed(Vec<u8>),
    Not,
}

impl<'a> Sent<'a> {
    fn of(block: Raw<'a>, reader: Reader) -> Self {
        let kind = block.member("type");
        if is_text(kind, "thinking") {
            return Self::of_thinking(block, reader);
        }
        if reader == Reader::Same {
            return Self::AsItIs(block);
        }
        if is_text(kind, "text") {
            return Self::Changed(object::block_of(block.member("text")));
        }
        // What only the model that made a call can read.
        if is_text(kind, "toolCall")
            && is_truthy(block.member("thoughtSignature"))
            && let Ok(mut call) = Document::parse(block.as_str())
        {
            call.remove("thoughtSignature");
            let mut out = Vec::new();
            call.write(&mut out);
            return Self::Changed(out);
        }
        Self::AsItIs(block)
    }

    fn of_thinking(block: Raw<'a>, reader: Reader) -> Self {
        let [thinking, signature, redacted] =
            block.members(["thinking", "thinkingSignature", "redacted"]);
        let is_empty = thinking.is_none_or(|thinking| {
            let text = thinking.to_string_lossy();
            text.map_or(!thinking.is_truthy(), |text| trim(&text).is_empty())
        });
        match reader {
            Reader::Same if is_truthy(redacted) || is_truthy(signature) || !is_empty => {
                Self::AsItIs(block)
            }
            // Only the model that wrote it can read what is redacted.
            Reader::OtherWithThinking if !is_truthy(redacted) && !is_empty => {
                Self::Changed(object::block_of(thinking))
            }
            Reader::Same | Reader::Other | Reader::OtherWithThinking => Self::Not,
        }
    }
}

fn calls(places: &[u64], content: Option<Raw<'_>>) -> Vec<Call> {
    let blocks = content.into_iter().flat_map(Raw::elements);
    blocks
        .filter(|block| is_text(block.member("type"), "toolCall"))
        .map(|block| {
            let [id, name] = block.members(["id", "name"]);
            let owned = |value: Option<Raw<'_>>| value.map(|value| value.as_str().to_owned());
            Call { places: places.to_vec(), key: key(id), id: owned(id), name: owned(name) }
        })
        .collect()
}

impl Call {
    /// The result that is sent for a call without one. pi gives it the time of the request.
    fn write_missing_result(&self, out: &mut Vec<u8>) {
        let mut made = Object::of_role("toolResult", out);
        for (member, json) in [("toolCallId", &self.id), ("toolName", &self.name)] {
            if let Some(json) = json {
                made = made.json(member, json.as_bytes());
            }
        }
        let content = object::list([&object::text_block(b"No result provided")[..]]);
        made.json("content", &content).json("isError", b"true").end();
    }
}
