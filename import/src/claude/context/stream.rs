//! What the records of a conversation say, one at a time: those of its path, and beside it those of messages of which only a
//! part is on the path.

mod beside;
mod early;
mod sent;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use self::beside::Place;
use self::early::Early;
use self::sent::Turn;
use super::block::CallKey;
use super::chain::OnPath;
use super::content::ContentScanner;
use super::item::{Item, Speaker};
use super::near::Neighbours;
use super::turns::KEPT;
use crate::claude::Record;
use crate::conversation::{Conversation, Images, Node};
use crate::ecma::Document;
use crate::{EntryKind, JsonText, text};

/// How many records are looked at ahead of one, at most.
const AHEAD: usize = 256;

/// The records of a path, and of what is beside it.
pub(super) struct Stream<'c, C, P> {
    conversation: &'c mut C,
    scanner: ContentScanner,
    path: P,
    on_path: &'c OnPath,
    /// The model that the context is for.
    model: Option<JsonText>,
    /// Whether only what is on a sidechain counts.
    is_sidechain: bool,
    /// Records of the path that were read ahead.
    read: VecDeque<Item>,
    /// The message at hand, the last of its records on the path, whether that was handed out, and whether it is on a
    /// sidechain.
    message: Vec<u8>,
    end: u64,
    is_over: bool,
    is_on_sidechain: bool,
    /// Records from beside the path that wait for their place.
    beside: VecDeque<(Place, Item)>,
    /// What was read beside the path.
    neighbours: Neighbours,
    /// The lines in which it is looked for.
    lines: Range<u64>,
    /// Records beside the path that were handed out, and the calls whose results they have.
    taken: HashSet<u64>,
    answered_beside: HashSet<CallKey>,
    /// The place of the first copy of records of the path near the message at hand that are there several times.
    first_copies: HashMap<u64, u64>,
    /// What comes next.
    ready: VecDeque<Item>,
    /// The messages that said more than thoughts and white space last.
    spoken: VecDeque<Vec<u8>>,
    /// What the turn at hand has come to.
    turn: Turn,
    /// Results that stand ahead of their calls.
    early: Early,
    ends_with_model: bool,
    /// The calls that have a result on the path, once somebody had to ask.
    answered: Option<HashSet<CallKey>>,
    entries: P,
}

impl<'c, C: Conversation, P: DoubleEndedIterator<Item = u64> + Clone> Stream<'c, C, P> {
    pub(super) fn new(
        conversation: &'c mut C,
        entries: P,
        on_path: &'c OnPath,
        model: Option<JsonText>,
        is_sidechain: bool,
        lines: Range<u64>,
    ) -> Self {
        Self {
            conversation,
            scanner: ContentScanner::default(),
            path: entries.clone(),
            on_path,
            model,
            is_sidechain,
            read: VecDeque::new(),
            message: Vec::new(),
            end: 0,
            is_over: false,
            is_on_sidechain: false,
            beside: VecDeque::new(),
            neighbours: Neighbours::default(),
            lines,
            taken: HashSet::new(),
            answered_beside: HashSet::new(),
            first_copies: HashMap::new(),
            ready: VecDeque::new(),
            spoken: VecDeque::new(),
            turn: Turn::default(),
            early: Early::default(),
            ends_with_model: false,
            answered: None,
            entries,
        }
    }

    /// What the next record says that is sent.
    pub(super) fn next(&mut self) -> Result<Option<Item>, C::Error> {
        while !self.ready.is_empty() || self.pull()? {
            if self.put_behind_calls()? {
                continue;
            }
            let is_sent = match self.ready.front() {
                Some(item) if item.is_model() => self.is_sent()?,
                _ => true,
            };
            let Some(item) = self.ready.pop_front() else { continue };
            self.turn.take(&item);
            self.early.pass(&item);
            match item.speaker {
                Speaker::Model(_) => self.ends_with_model |= is_sent || item.is_error,
                Speaker::User => self.ends_with_model = false,
                Speaker::Command => {}
            }
            if !is_sent {
                continue;
            }
            if let Some(id) = item.id()
                && item.says_something()
                && !self.spoken.iter().any(|spoken| spoken == id)
            {
                if self.spoken.len() >= KEPT {
                    self.spoken.pop_front();
                }
                self.spoken.push_back(id.to_vec());
            }
            return Ok(Some(item));
        }
        Ok(None)
    }

    /// Whether the model had the last word so far, commands apart: a prompt that follows is then one message with what the user
    /// said before.
    pub(super) fn ends_with_model(&self) -> bool {
        self.ends_with_model
    }

    /// Makes at least one more record ready; `false` where there is none.
    fn pull(&mut self) -> Result<bool, C::Error> {
        if self.read.is_empty() && !self.read_on()? {
            let count = self.beside.len();
            self.ready.extend(self.beside.drain(..).map(|(_, item)| item));
            return Ok(count > 0);
        }
        let Some(next) = self.read.front() else { return Ok(false) };
        let is_of_message = next.id() == Some(&self.message);
        let place = self.first_copies.get(&next.ordinal).copied().unwrap_or(next.ordinal);
        let is_answer = next.is_model() && !is_of_message;
        let is_prompt = self.is_over && next.is_prompt();
        let goes_before =
            |(own, _): &(Place, Item)| own.is_ahead_of(place) || is_answer || is_prompt;
        if self.beside.front().is_some_and(goes_before) {
            self.ready.extend(self.beside.pop_front().map(|(_, item)| item));
            return Ok(true);
        }
        let Some(item) = self.read.pop_front() else { return Ok(false) };
        let ordinal = item.ordinal;
        let other = item.id().filter(|_| !is_of_message).map(<[u8]>::to_vec);
        self.ready.push_back(item);
        let is_of_another = other.is_some();
        if let Some(id) = other {
            self.message = id;
            self.take_what_is_beside(ordinal)?;
        }
        if is_of_message || is_of_another {
            self.is_over = self.end == ordinal;
        }
        Ok(true)
    }

    /// Reads the next record of the path that says something.
    fn read_on(&mut self) -> Result<bool, C::Error> {
        while let Some(entry) = self.path.next() {
            if let Some(item) = self.item(entry)? {
                self.read.push_back(item);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What hangs on an entry, without what the context begins behind.
    fn children(&self, entry: u64) -> Result<Vec<u64>, C::Error> {
        let mut children = self.conversation.children(entry)?;
        children.retain(|&child| child >= self.lines.start || self.on_path.contains(child));
        Ok(children)
    }

    /// What an entry says.
    fn item(&mut self, entry: u64) -> Result<Option<Item>, C::Error> {
        let item = self.with_record(entry, |record, content, _, model| {
            Item::read(record, content, entry, model)
        })?;
        Ok(item.flatten())
    }

    /// Reads an entry; `None` of one that can say nothing.
    fn record(&mut self, entry: u64) -> Result<Option<Read>, C::Error> {
        self.with_record(entry, |record, content, _, model| Read {
            uuid: record.uuid().map(Cow::into_owned),
            message_id: record.message_id().map(Cow::into_owned),
            item: Item::read(record, content, entry, model),
        })
    }

    /// Makes something of an entry, the content of its message, its node and the model that the context is for; `None` of one
    /// that can say nothing.
    fn with_record<T>(
        &mut self,
        entry: u64,
        make: impl FnOnce(&Record<'_>, Option<&mut Document<'_>>, Node, Option<&JsonText>) -> T,
    ) -> Result<Option<T>, C::Error> {
        let node = self.conversation.node_ahead_of_line(entry)?;
        if !matches!(node.kind, EntryKind::Message | EntryKind::System)
            || (self.is_sidechain && !node.is_sidechain)
        {
            return Ok(None);
        }
        let recovers = self.conversation.recovers();
        let decoded = text::decode(self.conversation.line(entry, Images::AsWritten)?);
        let text = text::trim_start_of_file(&decoded);
        let model = self.model.as_ref();
        Ok(Some(
            self.scanner.scan(text, recovers, |record, content| make(record, content, node, model)),
        ))
    }
}

/// A record that was read.
struct Read {
    uuid: Option<Vec<u8>>,
    /// The message of the API that it is of.
    message_id: Option<Vec<u8>>,
    item: Option<Item>,
}
