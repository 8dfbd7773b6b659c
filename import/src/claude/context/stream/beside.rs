//! What is beside the path and of a message on it: its other records, the results of its calls, and what came with them.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use super::{AHEAD, Read, Stream};
use crate::claude::RecordKind;
use crate::claude::context::block::CallKey;
use crate::claude::context::item::{Item, Speaker};
use crate::claude::context::near::{Known, Neighbour, near};
use crate::conversation::{Conversation, Images};
use crate::{EntryKind, MessageRole, text};

/// How many entries are looked at beside the path for one message, at most.
pub(super) const BESIDE: usize = 4096;

impl<C: Conversation, P: DoubleEndedIterator<Item = u64> + Clone> Stream<'_, C, P> {
    /// The records of the message at hand that follow on the path, before one of another message.
    fn rest_of_message(&mut self) -> Result<Vec<u64>, C::Error> {
        let mut rest = Vec::new();
        let mut at = 0;
        while at < AHEAD && (at < self.read.len() || self.read_on()?) {
            let next = &self.read[at];
            if next.is_model() {
                if next.id() != Some(&self.message) {
                    break;
                }
                rest.push(next.ordinal);
            }
            at += 1;
        }
        Ok(rest)
    }

    /// Keeps the records of the message at hand that are beside the path, and the results of its calls that are, until their
    /// places come.
    pub(super) fn take_what_is_beside(&mut self, first: u64) -> Result<(), C::Error> {
        let id = self.message.clone();
        self.is_on_sidechain = self.conversation.node(first)?.is_sidechain;
        let on_path = self.rest_of_message()?;
        self.end = on_path.last().copied().unwrap_or(first);
        let near = self.read_near(first, self.end)?;
        let aside = self.take_tail();
        self.beside.extend(aside.map(|item| (Place(item.ordinal, 0), item)));
        self.beside.make_contiguous().sort_by_key(|(place, _)| *place);
        let mut found = Vec::new();
        // Results that do not hang on a record of the message.
        let mut deeper = HashSet::new();
        // What else hangs on them and is no part of another conversation.
        let mut notes = HashSet::new();
        let mut met = HashSet::new();
        let mut waiting: VecDeque<(u64, Below)> = [first]
            .into_iter()
            .chain(on_path.iter().copied())
            .map(|entry| (entry, Below::Message))
            .collect();
        for (place, known) in &near {
            if known.message.as_ref() == Some(&id)
                && known.named == *place
                && self.taken.insert(*place)
            {
                found.extend(self.item(*place)?);
                waiting.push_back((*place, Below::Message));
            }
        }
        // Records of one message may hang on one parent.
        let parent = self.conversation.node(first)?.parent;
        waiting.extend(parent.map(|parent| (parent, Below::Parent)));
        while let Some((entry, below)) = waiting.pop_front() {
            for child in self.children(entry)? {
                if met.len() >= BESIDE {
                    break;
                }
                let node = self.conversation.node(child)?;
                let is_message = node.kind == EntryKind::Message;
                if (below == Below::Parent && is_message && node.role != MessageRole::Assistant)
                    || !met.insert(child)
                {
                    continue;
                }
                let is_on_path = self.on_path.contains(child);
                let is_known = is_on_path || self.taken.contains(&child);
                if !is_message {
                    if node.kind != EntryKind::Compaction {
                        let below = self.below(child, below, is_on_path)?;
                        waiting.push_back((child, below));
                        if matches!(below, Below::Note { .. })
                            && let Some(read) = self.record(child)?
                            && self.is_named(child, &read)?
                        {
                            found.extend(read.item);
                            notes.insert(child);
                        }
                    }
                } else if node.role == MessageRole::Assistant {
                    if is_known {
                        continue;
                    }
                    let Some(read) = self.record(child)? else { continue };
                    // Of several records with one uuid the program knows the last.
                    if read.message_id.as_ref() == Some(&id) && self.is_named(child, &read)? {
                        found.extend(read.item);
                        self.taken.insert(child);
                        waiting.push_back((child, Below::Message));
                    }
                } else {
                    if is_known {
                        let is_result = node.role == MessageRole::ToolResult;
                        waiting.extend(is_result.then_some((child, Below::Result)));
                        continue;
                    }
                    let Some(read) = self.record(child)? else { continue };
                    if !self.is_named(child, &read)? {
                        continue;
                    }
                    if read.item.as_ref().is_some_and(|item| item.said.has_results()) {
                        found.extend(read.item);
                        let is_deep = below.is_deep() || self.hangs_on_note(child)?;
                        deeper.extend(is_deep.then_some(child));
                        waiting.push_back((child, Below::Result));
                    } else if node.role == MessageRole::Meta
                        && let note @ Below::Note { .. } = self.below(child, below, is_on_path)?
                    {
                        found.extend(read.item);
                        notes.insert(child);
                        waiting.push_back((child, note));
                    }
                }
            }
        }
        if near.is_empty() && found.is_empty() {
            self.first_copies.clear();
            return Ok(());
        }
        let is_of_message = |item: &&Item| item.id() == Some(&id);
        let known = self.ready.iter().chain(&self.read).chain(&found).filter(is_of_message);
        let calls: HashSet<CallKey> = known.flat_map(Item::calls).map(|(key, _)| key).collect();
        for (place, known) in &near {
            let is_wanted =
                known.named == *place && known.results.iter().any(|key| calls.contains(key));
            if is_wanted
                && !met.contains(place)
                && !self.taken.contains(place)
                && !self.is_of_another(*place, &known.results)?
            {
                found.extend(self.item(*place)?);
                deeper.insert(*place);
            }
        }
        // What does not hang on the message is of it where it is the only result of one of its calls.
        let at_hand = found.iter().filter(|item| !deeper.contains(&item.ordinal));
        let mut answered: HashSet<CallKey> =
            self.read.iter().chain(at_hand).flat_map(Item::results).collect();
        // Those of the whole path so far: they are many.
        let answered_beside = &self.answered_beside;
        found.sort_by_key(|item| item.ordinal);
        found.retain(|item: &Item| {
            if notes.contains(&item.ordinal) {
                return !calls.is_empty();
            }
            let is_wanted = |key: CallKey| {
                calls.contains(&key) && !answered.contains(&key) && !answered_beside.contains(&key)
            };
            if deeper.contains(&item.ordinal) && !item.results().any(is_wanted) {
                return false;
            }
            answered.extend(item.results());
            true
        });
        self.taken.extend(found.iter().map(|item| item.ordinal));
        self.answered_beside.extend(found.iter().flat_map(Item::results));
        // A record stands in the place of the first with its uuid.
        self.first_copies.clear();
        for (place, known) in near.iter().rev().filter(|(place, known)| known.named != *place) {
            self.first_copies.insert(known.named, *place);
        }
        let place = |ordinal: u64| self.first_copies.get(&ordinal).copied().unwrap_or(ordinal);
        // A result that does not hang on the message stands behind all its records.
        let beside = found.iter().filter(is_of_message).map(|item| item.ordinal);
        let last = on_path.iter().copied().chain(beside).map(place).fold(place(first), u64::max);
        let place_of = |item: &Item| match place(item.ordinal) {
            own if deeper.contains(&item.ordinal) && own < last => Place(last, own + 1),
            own => Place(own, 0),
        };
        let found: Vec<_> = found.into_iter().map(|item| (place_of(&item), item)).collect();
        self.beside.extend(found);
        self.beside.make_contiguous().sort_by_key(|(place, _)| *place);
        Ok(())
    }

    /// Takes the commands with which the path ends behind a result or a record of the message at hand, if they stand ahead of it
    /// in the file: to the program the path ends there, and what came with the message has its place in the file.
    fn take_tail(&mut self) -> impl Iterator<Item = Item> + use<C, P> {
        let is_command = |item: &&Item| item.speaker == Speaker::Command;
        let tail = self.read.iter().rev().take_while(is_command).count();
        let start = self.read.len() - tail;
        let last = self.read.range(..start).next_back();
        let end = last.map_or(self.ready.back(), Some).map_or(0, |item| item.ordinal);
        let is_of_message =
            last.is_none_or(|item| item.said.has_results() || item.id() == Some(&self.message));
        let ordinals = self.read.range(start..).map(|item| item.ordinal);
        let is_displaced = ![end].into_iter().chain(ordinals).is_sorted();
        let mut of_message =
            self.ready.iter().chain(&self.read).filter(|item| item.id() == Some(&self.message));
        let has_calls = of_message.any(|item| item.calls().next().is_some());
        let is_taken =
            is_of_message && has_calls && is_displaced && self.path.clone().next().is_none();
        let tail = self.read.split_off(if is_taken { start } else { self.read.len() });
        tail.into_iter()
    }

    /// What the children of an entry beside the path are below.
    fn below(&mut self, entry: u64, below: Below, is_on_path: bool) -> Result<Below, C::Error> {
        Ok(match below {
            Below::Message | Below::Result if is_on_path => below,
            Below::Message | Below::Result => {
                let id = self.message.clone();
                let is_deep = below.is_deep();
                if self.is_note(entry, Some(&id))? {
                    Below::Note { is_deep }
                } else {
                    Below::Branch { is_deep }
                }
            }
            Below::Parent | Below::Note { .. } | Below::Branch { .. } => below,
        })
    }

    /// Whether what an entry hangs on is no message; what a tool reports is not counted between.
    fn hangs_on_note(&mut self, entry: u64) -> Result<bool, C::Error> {
        let mut above = self.conversation.node(entry)?.parent;
        for _ in 0..BESIDE {
            let Some(entry) = above else { break };
            let node = self.conversation.node(entry)?;
            if node.kind != EntryKind::Unknown {
                return Ok(node.kind != EntryKind::Message);
            }
            let decoded = text::decode(self.conversation.line(entry, Images::Omitted)?);
            let kind = self.scanner.scan(&decoded, false, |record, _| record.kind());
            if kind != RecordKind::Progress {
                return Ok(true);
            }
            above = node.parent;
        }
        Ok(true)
    }

    /// Whether nothing hangs on an entry that is of another conversation than the path's: no prompt, and no message of the
    /// model's but the one with an id.
    pub(super) fn is_note(&mut self, entry: u64, id: Option<&[u8]>) -> Result<bool, C::Error> {
        let is_sidechain = self.is_on_sidechain;
        let (mut waiting, mut met) = (vec![entry], HashSet::new());
        while let Some(entry) = waiting.pop() {
            if met.len() >= BESIDE || !met.insert(entry) {
                continue;
            }
            let node = self.conversation.node(entry)?;
            if node.is_sidechain != is_sidechain || self.on_path.contains(entry) {
                return Ok(false);
            }
            if node.kind == EntryKind::Message {
                let Some(read) = self.record(entry)? else { return Ok(false) };
                let is_part = match node.role {
                    MessageRole::Assistant => id.is_some() && read.message_id.as_deref() == id,
                    MessageRole::ToolResult | MessageRole::Meta => true,
                    _ => read.item.is_some_and(|item| item.said.has_results()),
                };
                if !is_part {
                    return Ok(false);
                }
            }
            waiting.extend(self.children(entry)?);
        }
        Ok(true)
    }

    /// Whether a result hangs on a record of another message that has one of its calls.
    fn is_of_another(&mut self, place: u64, results: &[CallKey]) -> Result<bool, C::Error> {
        let Some(parent) = self.conversation.node(place)?.parent else { return Ok(false) };
        let item = self.item(parent)?.filter(Item::is_model);
        Ok(item.is_some_and(|item| item.calls().any(|(key, _)| results.contains(&key))))
    }

    /// What is beside the path near a message's records, in the order of the file. What stands ahead of the boundary that the path
    /// begins with is not looked at: lines that are read grow with the context.
    fn read_near(&mut self, first: u64, last: u64) -> Result<Vec<(u64, Rc<Known>)>, C::Error> {
        let mut found = Vec::new();
        for place in self.on_path.gaps(near(first, last, &self.lines)) {
            if self.neighbours.get(place).is_none() {
                let node = self.conversation.node_of_line(place)?;
                self.neighbours.insert(place, Neighbour::of(node));
            }
            let own = self.is_on_sidechain;
            match self.neighbours.get(place) {
                Some(Neighbour::Read { is_sidechain, known }) if *is_sidechain == own => {
                    found.push((place, Rc::clone(known)));
                }
                Some(&Neighbour::Unread { is_sidechain }) if is_sidechain == own => {
                    let neighbour = match self.known(place)? {
                        Some(known) => {
                            let known = Rc::new(known);
                            found.push((place, Rc::clone(&known)));
                            Neighbour::Read { is_sidechain, known }
                        }
                        None => Neighbour::Silent,
                    };
                    self.neighbours.insert(place, neighbour);
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Reads of a record what is asked of those near others; `None` of one that can say nothing.
    fn known(&mut self, place: u64) -> Result<Option<Known>, C::Error> {
        let read = self.with_record(place, |record, content, node, _| {
            let message = record.message_id().filter(|_| node.role == MessageRole::Assistant);
            let message = message.map(Cow::into_owned);
            let results = content.map(|content| Item::results_of(content)).unwrap_or_default();
            Some((record.uuid()?.into_owned(), message, results))
        })?;
        let Some((uuid, message, results)) = read.flatten() else { return Ok(None) };
        let named = self.conversation.last_copy(place, &uuid)?.unwrap_or(place);
        Ok(Some(Known { message, results, named }))
    }

    /// Whether an entry is the one that its uuid names.
    fn is_named(&self, entry: u64, read: &Read) -> Result<bool, C::Error> {
        let Some(uuid) = &read.uuid else { return Ok(false) };
        Ok(self.conversation.last_copy(entry, uuid)? == Some(entry))
    }
}

/// Where a record from beside the path belongs: the place in the file, and an order behind the record that stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u64, u64);

impl Place {
    /// Whether it is ahead of a place in the file.
    pub(super) fn is_ahead_of(self, place: u64) -> bool {
        self.0 < place
    }
}

/// What an entry hangs on that is looked at beside the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    /// The parent of the first record of a message.
    Parent,
    /// A record of the message.
    Message,
    /// A result of one of its calls.
    Result,
    /// What came with one of these, and with nothing of another conversation.
    Note { is_deep: bool },
    /// Another conversation.
    Branch { is_deep: bool },
}

impl Below {
    /// Whether a result of the message is between.
    fn is_deep(self) -> bool {
        matches!(self, Self::Result | Self::Note { is_deep: true } | Self::Branch { is_deep: true })
    }
}
