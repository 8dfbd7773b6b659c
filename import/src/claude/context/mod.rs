//! Claude Code's contexts: what the program sends to the model when it resumes a session.

mod block;
mod chain;
mod content;
mod fork;
mod item;
mod kept;
mod near;
mod pairs;
mod stream;
mod turns;

use self::chain::{OnPath, chain};
use self::item::Item;
use self::kept::Kept;
use self::pairs::Pairs;
use self::stream::Stream;
use self::turns::Turns;
use super::{ClaudeCode, Lookup, Scanner, above};
use crate::context::{Contexts, TakeMessage};
use crate::conversation::{
    Base, Before, Conversation, History, HistoryScope, Images, Link, PathEnd,
};
use crate::{ContextSettings, EntryKind, Family, JsonText, MessageRole, text};

impl Contexts for ClaudeCode {
    fn context_name() -> &'static str {
        "context of Claude Code"
    }

    /// The conversation that an agent began with (read in 2.1.332).
    fn base<C: Conversation>(conversation: &mut C) -> Result<Option<Base>, C::Error> {
        fork::base(conversation)
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

    /// What an agent began with and its own records are one row of turns: a message may have parts of both.
    fn context<C: Conversation>(
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        let Some(leaf) = leaf else { return Ok(ContextSettings::none(Family::Claude)) };
        let own = Part::at(conversation, leaf, scope)?;
        let mut model = last_model(conversation, &own.history)?;
        let (mut turns, mut pairs) = (Turns::default(), Pairs::default());
        let before = before.first_mut().and_then(|before| {
            let leaf = before.lines.checked_sub(1)?;
            Some((&mut before.conversation, leaf))
        });
        if let Some((conversation, leaf)) = before {
            let part = Part { is_own: false, ..Part::at(conversation, leaf, scope)? };
            if model.is_none() {
                model = last_model(conversation, &part.history)?;
            }
            part.pass(conversation, model.clone(), (&mut turns, &mut pairs), take)?;
        }
        own.pass(conversation, model.clone(), (&mut turns, &mut pairs), take)?;
        Ok(ContextSettings::of_model(Family::Claude, model))
    }
}

/// The ordinal of records that are not the session's own.
const ELSEWHERE: u64 = u64::MAX;

/// The part of a context that one session has.
struct Part {
    leaf: u64,
    kept: Option<Kept>,
    history: History,
    is_own: bool,
}

impl Part {
    fn at<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
    ) -> Result<Self, C::Error> {
        let kept = match scope {
            HistoryScope::Context => Kept::at(conversation, leaf)?,
            HistoryScope::Full => None,
        };
        let history = chain(conversation, leaf, scope, kept.as_ref())?;
        Ok(Self { leaf, kept, history, is_own: true })
    }

    /// Passes on its messages; the last turn of a part that is not the session's own stays for what follows.
    fn pass<C: Conversation>(
        &self,
        conversation: &mut C,
        model: Option<JsonText>,
        (turns, pairs): (&mut Turns, &mut Pairs),
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        let history = &self.history;
        let is_sidechain = conversation.node(self.leaf)?.is_sidechain;
        let on_path = OnPath::of(history);
        let mut lines = near::lines(conversation)?;
        if history.end() == Some(PathEnd::Boundary) {
            lines.start = history.ordinals().next().unwrap_or(0);
        }
        if let Some(kept) = &self.kept {
            lines.start = kept.boundary();
        }
        let entries = history.ordinals();
        let mut stream = Stream::new(conversation, entries, &on_path, model, is_sidechain, lines);
        loop {
            let next = stream.next()?;
            let is_over = next.is_none();
            match next {
                Some(item) if self.is_own => turns.take(item),
                Some(item) => turns.take(Item { ordinal: ELSEWHERE, ..item }),
                None if self.is_own => turns.finish(),
                None => {}
            }
            while let Some(turn) = turns.next() {
                let is_open =
                    is_over && self.is_own && turns.is_empty() && stream.ends_with_model();
                for mut message in pairs.messages(turn, is_open) {
                    message.ordinals.retain(|ordinal| *ordinal != ELSEWHERE);
                    take(&message.ordinals, &message.json)?;
                }
            }
            if is_over {
                return Ok(());
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
