//! Which of the model's records are sent.

use std::collections::HashSet;

use super::beside::BESIDE;
use super::{AHEAD, Stream};
use crate::claude::context::block::{Block, CallKey};
use crate::claude::context::item::{Item, Said, Speaker};
use crate::conversation::{Conversation, Images};
use crate::{EntryKind, MessageRole, text};

/// What a turn has come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Reached {
    /// The user has spoken, and the model has called tools at most.
    #[default]
    Heard,
    /// The model has spoken, or an error has ended the turn.
    Said,
    /// A tool has answered.
    InTools,
}

/// The turn at hand.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    reached: Reached,
    /// The message that called tools last, what it called, and whether one of these has answered.
    caller: Option<Vec<u8>>,
    calls: HashSet<CallKey>,
    is_answered: bool,
}

impl Turn {
    /// Takes the next record. Commands are no part of a turn, nor are the thoughts and the white space of a message none of
    /// whose calls has a result so far.
    pub(super) fn take(&mut self, item: &Item) {
        match item.speaker {
            Speaker::User => {
                self.is_answered |= item.results().any(|key| self.calls.contains(&key));
                let has_results = item.said.has_results();
                self.reached = if has_results { Reached::InTools } else { Reached::Heard };
            }
            Speaker::Model(_) if item.is_error => self.reached = Reached::Said,
            Speaker::Model(_) if item.calls().next().is_some() => {
                if self.caller.is_none() || self.caller.as_deref() != item.id() {
                    self.caller = item.id().map(<[u8]>::to_vec);
                    self.calls.clear();
                    self.is_answered = false;
                }
                self.calls.extend(item.calls().map(|(key, _)| key));
            }
            Speaker::Model(_) => {
                let is_of_answered =
                    self.is_answered && item.id().is_some() && self.caller.as_deref() == item.id();
                if item.says_something() || is_of_answered {
                    self.reached = Reached::Said;
                }
            }
            Speaker::Command => {}
        }
    }
}

impl<C: Conversation, P: DoubleEndedIterator<Item = u64> + Clone> Stream<'_, C, P> {
    /// Whether the model's record that comes next is sent.
    pub(super) fn is_sent(&mut self) -> Result<bool, C::Error> {
        let Some(item) = self.ready.front() else { return Ok(false) };
        if item.is_error {
            return Ok(false);
        }
        if item.calls().next().is_some() && !self.has_result(0)? {
            return Ok(false);
        }
        let Some(item) = self.ready.front() else { return Ok(false) };
        if item.says_something() || item.said.blocks().iter().any(Block::is_nothing) {
            return Ok(true);
        }
        // Thoughts and white space alone are not sent, unless the message has more.
        let Some(id) = item.id().map(<[u8]>::to_vec) else { return Ok(false) };
        if self.spoken.contains(&id) {
            return Ok(true);
        }
        let mut at = 1;
        while at < AHEAD && (at < self.ready.len() || self.pull()?) {
            let other = &self.ready[at];
            if other.id() == Some(&id) && !other.is_error && other.says_something() {
                let calls = other.calls().next().is_some();
                if !calls || self.has_result(at)? {
                    return Ok(true);
                }
            }
            at += 1;
        }
        Ok(false)
    }

    /// Whether one of the calls of a record that is ready has a result. Where the session ends with it, those that have none
    /// are given one.
    fn has_result(&mut self, place: usize) -> Result<bool, C::Error> {
        let calls: Vec<CallKey> = self.ready[place].calls().map(|(key, _)| key).collect();
        let mut open: HashSet<CallKey> = calls.iter().copied().collect();
        let mut at = place + 1;
        while !open.is_empty() && at < place + AHEAD && (at < self.ready.len() || self.pull()?) {
            for key in self.ready[at].results() {
                open.remove(&key);
            }
            at += 1;
        }
        if open.is_empty() {
            return Ok(true);
        }
        let answered = self.answered()?;
        open.retain(|call| !answered.contains(call));
        open.retain(|call| !self.answered_beside.contains(call));
        if open.is_empty() {
            return Ok(true);
        }
        if at >= self.ready.len() && self.ends_session(place) {
            let item = &self.ready[place];
            let ordinal = item.ordinal;
            let results: Vec<Item> = item
                .calls()
                .filter(|(key, _)| open.contains(key))
                .filter_map(|(_, call)| call.interrupted_result())
                .map(|result| Item {
                    ordinal,
                    speaker: Speaker::User,
                    is_error: false,
                    is_meta: false,
                    said: Said::Blocks(vec![result]),
                })
                .collect();
            self.ready.extend(results);
            return Ok(true);
        }
        Ok(open.len() < calls.len()
            || (at >= self.ready.len() && self.is_in_unfinished_turn(place)?))
    }

    /// Whether the session ends in the midst of the turn of a record that is ready: behind a result, over whatever the model
    /// said before it, or behind an attachment where the model has said nothing yet. What came with a message that has results
    /// is behind all its records, and the results too. All that follows must be ready.
    fn is_in_unfinished_turn(&mut self, place: usize) -> Result<bool, C::Error> {
        let is_heard = |item: &Item| item.speaker == Speaker::User && !item.said.has_results();
        if self.behind(place).any(is_heard) {
            return Ok(false);
        }
        let mut turn = self.turn.clone();
        self.ready
            .iter()
            .take(place + 1)
            .chain(self.behind(place))
            .for_each(|item| turn.take(item));
        Ok(match turn.reached {
            Reached::InTools => true,
            Reached::Said => match turn.caller {
                Some(id) if turn.is_answered => self.has_note_in_last_message(place, &id)?,
                _ => false,
            },
            Reached::Heard => self.has_attachment_in_turn()?,
        })
    }

    /// Whether something was attached since the user spoke last, on the path or beside it.
    fn has_attachment_in_turn(&mut self) -> Result<bool, C::Error> {
        let mut waiting = Vec::new();
        for entry in self.entries.clone().rev() {
            let node = self.conversation.node(entry)?;
            if node.kind == EntryKind::Message && node.role != MessageRole::Assistant {
                break;
            }
            if node.kind == EntryKind::Message {
                waiting.extend(self.children(entry)?);
            } else if self.is_attachment(entry)? {
                return Ok(true);
            }
        }
        let mut met = 0;
        while let Some(entry) = waiting.pop()
            && met < BESIDE
        {
            met += 1;
            let node = self.conversation.node(entry)?;
            if matches!(node.kind, EntryKind::Message | EntryKind::Compaction)
                || self.on_path.contains(entry)
            {
                continue;
            }
            if self.is_attachment(entry)? && self.is_note(entry, None)? {
                return Ok(true);
            }
            waiting.extend(self.children(entry)?);
        }
        Ok(false)
    }

    /// Whether a message with an id is the last that is ready, and something that says nothing came with it ahead of its last
    /// record.
    fn has_note_in_last_message(&mut self, place: usize, id: &[u8]) -> Result<bool, C::Error> {
        let is_own = |item: &Item| !item.is_error && item.id() == Some(id);
        let of_model = || {
            let all = self.behind(place).filter(|item| item.is_model());
            all.skip_while(|item| !is_own(item))
        };
        if !of_model().all(is_own) {
            return Ok(false);
        }
        let mut on_path =
            of_model().map(|item| item.ordinal).filter(|&own| self.on_path.contains(own));
        let Some(first) = on_path.next() else { return Ok(false) };
        let Some(last) = on_path.last() else { return Ok(false) };
        let mut waiting = Vec::new();
        let part = self.entries.clone().rev().skip_while(|&entry| entry != last).skip(1);
        for entry in part.take(BESIDE) {
            waiting.extend(self.children(entry)?);
            if entry == first {
                break;
            }
            if self.is_silent(entry)? {
                return Ok(true);
            }
        }
        let mut met = 0;
        while let Some(entry) = waiting.pop()
            && met < BESIDE
        {
            met += 1;
            let node = self.conversation.node(entry)?;
            if node.kind == EntryKind::Compaction || self.on_path.contains(entry) {
                continue;
            }
            if node.kind == EntryKind::Message && node.role != MessageRole::ToolResult {
                continue;
            }
            if self.is_silent(entry)? && self.is_note(entry, None)? {
                return Ok(true);
            }
            waiting.extend(self.children(entry)?);
        }
        Ok(false)
    }

    /// Whether an entry is an attachment, or one of the program's that says nothing.
    fn is_silent(&mut self, entry: u64) -> Result<bool, C::Error> {
        match self.conversation.node(entry)?.kind {
            EntryKind::System => Ok(self.item(entry)?.is_none()),
            _ => self.is_attachment(entry),
        }
    }

    fn is_attachment(&mut self, entry: u64) -> Result<bool, C::Error> {
        if self.conversation.node(entry)?.kind != EntryKind::Unknown {
            return Ok(false);
        }
        let decoded = text::decode(self.conversation.line(entry, Images::Omitted)?);
        Ok(self.scanner.scan(&decoded, false, |record, _| record.is_attachment()))
    }

    /// What is ready behind a record, but for messages of thoughts alone.
    fn behind(&self, place: usize) -> impl Iterator<Item = &Item> {
        let is_spoken = |id: &[u8]| {
            self.ready.iter().any(|item| item.id() == Some(id) && item.says_something())
        };
        self.ready.iter().skip(place + 1).filter(move |item| {
            !item.is_model()
                || item.is_error
                || item.says_something()
                || item.id().is_some_and(is_spoken)
        })
    }

    /// Whether nothing follows a record that is ready but its message, results and commands. All that follows must be ready.
    fn ends_session(&self, place: usize) -> bool {
        let id = self.ready[place].id();
        self.behind(place).all(|item| match item.speaker {
            Speaker::Model(_) => id.is_some() && item.id() == id,
            Speaker::User => item.said.has_results(),
            Speaker::Command => true,
        })
    }

    /// The calls that have a result somewhere on the path.
    fn answered(&mut self) -> Result<&HashSet<CallKey>, C::Error> {
        if self.answered.is_none() {
            let mut answered = HashSet::new();
            for entry in self.entries.clone() {
                if self.is_of_user(entry)?
                    && let Some(item) = self.item(entry)?
                {
                    answered.extend(item.results());
                }
            }
            self.answered = Some(answered);
        }
        Ok(self.answered.get_or_insert_default())
    }

    fn is_of_user(&self, entry: u64) -> Result<bool, C::Error> {
        let node = self.conversation.node(entry)?;
        Ok(node.kind == EntryKind::Message && node.role != MessageRole::Assistant)
    }
}
