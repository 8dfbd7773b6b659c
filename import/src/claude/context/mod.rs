//! Claude Code's contexts: what the program sends to the model when it resumes a session.

mod block;
mod chain;
mod content;
mod item;
mod kept;
mod near;
mod pairs;
mod stream;
mod turns;

use self::chain::{OnPath, chain};
use self::kept::Kept;
use self::pairs::Pairs;
use self::stream::Stream;
use self::turns::Turns;
use super::{ClaudeCode, Lookup, Scanner, above};
use crate::context::{Contexts, TakeMessage};
use crate::conversation::{Before, Conversation, History, HistoryScope, Images, Link, PathEnd};
use crate::{ContextSettings, EntryKind, Family, JsonText, MessageRole, text};

impl Contexts for ClaudeCode {
    fn context_name() -> &'static str {
        "context of Claude Code"
    }

    /// The entries of the path. A context has besides what hangs beside it: see `docs/formats.md`.
    fn history<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: u64,
        scope: HistoryScope,
    ) -> Result<History, C::Error> {
        let extent = Self::extent(scope);
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
        let kept = match scope {
            HistoryScope::Context => Kept::at(conversation, leaf)?,
            HistoryScope::Full => None,
        };
        let history = chain(conversation, leaf, scope, kept.as_ref())?;
        let model = last_model(conversation, &history)?;
        let is_sidechain = conversation.node(leaf)?.is_sidechain;
        let on_path = OnPath::of(&history);
        let entries = history.ordinals();
        let mut lines = near::lines(conversation)?;
        if history.end() == Some(PathEnd::Boundary) {
            lines.start = history.ordinals().next().unwrap_or(0);
        }
        if let Some(kept) = &kept {
            lines.start = kept.boundary();
        }
        let mut stream =
            Stream::new(conversation, entries, &on_path, model.clone(), is_sidechain, lines);
        let (mut turns, mut pairs) = (Turns::default(), Pairs::default());
        loop {
            let next = stream.next()?;
            let is_last = next.is_none();
            match next {
                Some(item) => turns.take(item),
                None => turns.finish(),
            }
            while let Some(turn) = turns.next() {
                let is_open = is_last && turns.is_empty() && stream.ends_with_model();
                for message in pairs.messages(turn, is_open) {
                    take(&message.ordinals, &message.json)?;
                }
            }
            if is_last {
                return Ok(ContextSettings::of_model(Family::Claude, model));
            }
        }
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

/// The model that the last record of the model's on a path names.
fn last_model<C: Conversation>(
    conversation: &mut C,
    history: &History,
) -> Result<Option<JsonText>, C::Error> {
    let mut scanner = Scanner::new();
    for entry in history.ordinals().rev() {
        let node = conversation.node(entry)?;
        if node.kind != EntryKind::Message || node.role != MessageRole::Assistant {
            continue;
        }
        let decoded = text::decode(conversation.line(entry, Images::Omitted)?);
        let record = scanner.scan(text::trim_start_of_file(&decoded));
        let model = record.scan().members.message_model.and_then(item::model_name);
        if model.is_some() {
            return Ok(model);
        }
    }
    Ok(None)
}
