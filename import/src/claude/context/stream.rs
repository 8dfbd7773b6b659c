//! What the records of a conversation say, one at a time: those of its path, and beside it those of messages of which only a
//! part is on the path.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use super::block::{BlockKind, CallKey};
use super::chain::OnPath;
use super::item::{Item, Said, Speaker};
use super::near::{Known, Neighbour, Neighbours, near};
use crate::claude::{Record, Scanner};
use crate::conversation::{Conversation, Images, Node};
use crate::recover::whole_record;
use crate::scan::Shape;
use crate::{EntryKind, JsonText, MessageRole, text};

/// How many records are looked at ahead of one, at most.
const AHEAD: usize = 256;

/// How many entries are looked at beside the path for one message, at most.
const BESIDE: usize = 4096;

/// The records of a path, and of what is beside it.
pub(super) struct Stream<'c, C, P> {
    conversation: &'c mut C,
    scanner: Scanner,
    path: P,
    on_path: &'c OnPath,
    /// The model that the context is for.
    model: Option<JsonText>,
    /// Whether only what is on a sidechain counts.
    is_sidechain: bool,
    /// Records of the path that were read ahead.
    read: VecDeque<Item>,
    /// The message at hand, the last of its records on the path, and whether that was handed out.
    message: Vec<u8>,
    end: u64,
    is_over: bool,
    /// Records from beside the path that wait for their place.
    beside: VecDeque<(u64, Item)>,
    /// What was read beside the path.
    neighbours: Neighbours,
    /// The lines in which it is looked for.
    lines: Range<u64>,
    /// Records beside the path that were handed out.
    taken: HashSet<u64>,
    /// What comes next.
    ready: VecDeque<Item>,
    /// The message of the last record of the model's that was handed out, and whether it ended with a thought.
    last: Option<(Vec<u8>, bool)>,
    /// The message of the last record that said more than thoughts.
    spoken: Option<Vec<u8>>,
    /// The calls that have a result on the path, once somebody had to ask.
    answered: Option<HashSet<CallKey>>,
    entries: P,
}

impl<'c, C: Conversation, P: Iterator<Item = u64> + Clone> Stream<'c, C, P> {
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
            scanner: Scanner::new(),
            path: entries.clone(),
            on_path,
            model,
            is_sidechain,
            read: VecDeque::new(),
            message: Vec::new(),
            end: 0,
            is_over: false,
            beside: VecDeque::new(),
            neighbours: Neighbours::default(),
            lines,
            taken: HashSet::new(),
            ready: VecDeque::new(),
            last: None,
            spoken: None,
            answered: None,
            entries,
        }
    }

    /// What the next record says that is sent.
    pub(super) fn next(&mut self) -> Result<Option<Item>, C::Error> {
        while !self.ready.is_empty() || self.pull()? {
            let is_sent = match self.ready.front() {
                Some(item) if item.is_model() => self.is_sent()?,
                _ => true,
            };
            let Some(item) = self.ready.pop_front() else { continue };
            if !is_sent {
                continue;
            }
            if let Some(id) = item.id() {
                let ends_in_thought =
                    item.said.blocks().last().is_some_and(|block| block.kind == BlockKind::Thought);
                self.last = Some((id.to_vec(), ends_in_thought));
                if item.says_something() {
                    self.spoken = Some(id.to_vec());
                }
            }
            return Ok(Some(item));
        }
        Ok(None)
    }

    /// Whether the model's record that comes next is sent.
    fn is_sent(&mut self) -> Result<bool, C::Error> {
        let Some(item) = self.ready.front() else { return Ok(false) };
        if item.said.blocks().is_empty() {
            return Ok(false);
        }
        if item.calls().next().is_some() && !self.has_result(0)? {
            return Ok(false);
        }
        let Some(item) = self.ready.front() else { return Ok(false) };
        if item.says_something() {
            return Ok(true);
        }
        let Some(id) = item.id().map(<[u8]>::to_vec) else { return Ok(false) };
        if item.blocks_to_last_word().is_empty() {
            // White space stays where thoughts would meet without it.
            return Ok(self.last.as_ref().is_some_and(|(last, thought)| *last == id && *thought)
                && self.goes_on_with_thought(&id)?);
        }
        // Thoughts alone are not sent, unless the message has more.
        if self.spoken.as_ref() == Some(&id) {
            return Ok(true);
        }
        let mut at = 1;
        while at < AHEAD && (at < self.ready.len() || self.pull()?) {
            let other = &self.ready[at];
            if other.is_model() {
                if other.id() != Some(&id) {
                    return Ok(false);
                }
                let (says, calls) = (other.says_something(), other.calls().next().is_some());
                if says && (!calls || self.has_result(at)?) {
                    return Ok(true);
                }
            }
            at += 1;
        }
        Ok(false)
    }

    fn goes_on_with_thought(&mut self, id: &[u8]) -> Result<bool, C::Error> {
        if self.ready.len() < 2 && !self.pull()? {
            return Ok(false);
        }
        let thought = self.ready.get(1).filter(|next| next.id() == Some(id));
        let first = thought.and_then(|next| next.said.blocks().first());
        Ok(first.is_some_and(|block| block.kind == BlockKind::Thought))
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
                    said: Said::Blocks(vec![result]),
                })
                .collect();
            self.ready.extend(results);
            return Ok(true);
        }
        if open.len() < calls.len() || (at >= self.ready.len() && self.is_in_unfinished_turn(place))
        {
            return Ok(true);
        }
        let answered = self.answered()?;
        Ok(open.iter().any(|call| answered.contains(call)))
    }

    /// Whether the session ends in the midst of the turn of a record that is ready, with results behind that record. All that
    /// follows must be ready.
    fn is_in_unfinished_turn(&self, place: usize) -> bool {
        let rest = self.behind(place).filter(|item| item.speaker != Speaker::Command);
        let mut has_results = false;
        let mut ends_in_tools = false;
        for item in rest {
            has_results |= item.said.has_results();
            ends_in_tools = match item.speaker {
                Speaker::Model(_) => item.calls().next().is_some(),
                _ if item.said.has_results() => true,
                _ => return false,
            };
        }
        has_results && ends_in_tools
    }

    /// What is ready behind a record, but for messages of thoughts alone.
    fn behind(&self, place: usize) -> impl Iterator<Item = &Item> {
        let is_spoken = |id: &[u8]| {
            self.ready.iter().any(|item| item.id() == Some(id) && item.says_something())
        };
        self.ready.iter().skip(place + 1).filter(move |item| {
            !item.is_model()
                || item.said.blocks().is_empty()
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

    /// Makes at least one more record ready; `false` where there is none.
    fn pull(&mut self) -> Result<bool, C::Error> {
        if self.read.is_empty() && !self.read_on()? {
            let count = self.beside.len();
            self.ready.extend(self.beside.drain(..).map(|(_, item)| item));
            return Ok(count > 0);
        }
        let Some(next) = self.read.front() else { return Ok(false) };
        let is_of_message = next.id() == Some(&self.message);
        let is_over = self.is_over;
        let goes_before = |(place, item): &(u64, Item)| {
            *place < next.ordinal
                || (next.is_model() && !is_of_message)
                || (item.is_model() && is_over && !next.is_model() && !next.said.has_results())
        };
        if self.beside.front().is_some_and(goes_before) {
            self.ready.extend(self.beside.pop_front().map(|(_, item)| item));
            return Ok(true);
        }
        let Some(item) = self.read.pop_front() else { return Ok(false) };
        let id = item.id().map(<[u8]>::to_vec);
        let ordinal = item.ordinal;
        self.ready.push_back(item);
        if let Some(id) = id {
            if self.message != id {
                self.message = id;
                self.take_what_is_beside(ordinal)?;
            }
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
    fn take_what_is_beside(&mut self, first: u64) -> Result<(), C::Error> {
        let id = self.message.clone();
        let on_path = self.rest_of_message()?;
        self.end = on_path.last().copied().unwrap_or(first);
        let near = self.read_near(first, self.end)?;
        let mut found = Vec::new();
        // Results that do not hang on a record of the message.
        let mut deeper = HashSet::new();
        let mut met = HashSet::new();
        let mut waiting: VecDeque<(u64, Below)> =
            [first].into_iter().chain(on_path).map(|entry| (entry, Below::Message)).collect();
        for (place, known) in &near {
            if known.message.as_ref() == Some(&id)
                && !self.taken.contains(place)
                && self.is_named(*place, Some(&known.uuid))?
            {
                self.taken.insert(*place);
                found.extend(self.item(*place)?);
                waiting.push_back((*place, Below::Message));
            }
        }
        // Records of one message may hang on one parent.
        let parent = self.conversation.node(first)?.parent;
        waiting.extend(parent.map(|parent| (parent, Below::Parent)));
        while let Some((entry, below)) = waiting.pop_front() {
            for child in self.conversation.children(entry)? {
                if met.len() >= BESIDE || !met.insert(child) {
                    continue;
                }
                let node = self.conversation.node(child)?;
                let is_known = self.on_path.contains(child) || self.taken.contains(&child);
                if node.kind != EntryKind::Message {
                    if node.kind != EntryKind::Compaction {
                        waiting.push_back((child, below));
                    }
                } else if node.role == MessageRole::Assistant {
                    if is_known {
                        continue;
                    }
                    let Some(read) = self.record(child)? else { continue };
                    // Of several records with one uuid the program knows the last.
                    if read.message_id.as_ref() == Some(&id)
                        && self.is_named(child, read.uuid.as_deref())?
                    {
                        found.extend(read.item);
                        self.taken.insert(child);
                        waiting.push_back((child, Below::Message));
                    }
                } else if below != Below::Parent {
                    if is_known {
                        let is_result = node.role == MessageRole::ToolResult;
                        waiting.extend(is_result.then_some((child, Below::Result)));
                        continue;
                    }
                    let Some(read) = self.record(child)? else { continue };
                    let has_results = |item: &Item| item.said.has_results();
                    if read.item.as_ref().is_some_and(has_results)
                        && self.is_named(child, read.uuid.as_deref())?
                    {
                        found.extend(read.item);
                        deeper.extend((below == Below::Result).then_some(child));
                        waiting.push_back((child, Below::Result));
                    }
                }
            }
        }
        let is_of_message = |item: &&Item| item.id() == Some(&id);
        let known = self.ready.iter().chain(&self.read).chain(&found).filter(is_of_message);
        let calls: HashSet<CallKey> = known.flat_map(Item::calls).map(|(key, _)| key).collect();
        for (place, known) in &near {
            if known.results.iter().any(|key| calls.contains(key))
                && !met.contains(place)
                && !self.taken.contains(place)
                && self.is_named(*place, Some(&known.uuid))?
            {
                found.extend(self.item(*place)?);
                deeper.insert(*place);
            }
        }
        // What does not hang on the message is of it where it is the only result of one of its calls.
        let at_hand = found.iter().filter(|item| !deeper.contains(&item.ordinal));
        let answered: HashSet<CallKey> =
            self.read.iter().chain(at_hand).flat_map(Item::results).collect();
        found.retain(|item: &Item| {
            let is_wanted = |key: CallKey| calls.contains(&key) && !answered.contains(&key);
            !deeper.contains(&item.ordinal) || item.results().any(is_wanted)
        });
        self.taken.extend(found.iter().map(|item| item.ordinal));
        // A record stands in the place of the first with its uuid.
        let place = |item: &Item| {
            let own = near.iter().find(|(place, _)| *place == item.ordinal);
            let first =
                own.and_then(|(_, own)| near.iter().find(|(_, other)| other.uuid == own.uuid));
            first.map_or(item.ordinal, |(place, _)| *place)
        };
        self.beside.extend(found.into_iter().map(|item| (place(&item), item)));
        self.beside.make_contiguous().sort_by_key(|(place, _)| *place);
        Ok(())
    }

    /// What is beside the path near a message's records, in the order of the file. What stands ahead of the boundary that the path
    /// begins with is not looked at: lines that are read grow with the context.
    fn read_near(&mut self, first: u64, last: u64) -> Result<Vec<(u64, Known)>, C::Error> {
        let own_sidechain = self.conversation.node(first)?.is_sidechain;
        let mut found = Vec::new();
        for place in near(first, last, &self.lines) {
            if self.on_path.contains(place) {
                continue;
            }
            if self.neighbours.get(place).is_none() {
                let node = self.conversation.node_of_line(place)?;
                self.neighbours.insert(place, Neighbour::of(node));
            }
            match self.neighbours.get(place) {
                Some(Neighbour::Read { is_sidechain, known }) if *is_sidechain == own_sidechain => {
                    found.push((place, known.clone()));
                }
                Some(&Neighbour::Unread { is_sidechain }) if is_sidechain == own_sidechain => {
                    let neighbour = match self.known(place)? {
                        Some(known) => {
                            found.push((place, known.clone()));
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
        self.with_record(place, |record, node| {
            let message = record.message_id().filter(|_| node.role == MessageRole::Assistant);
            Some(Known {
                uuid: record.uuid()?.into_owned(),
                message: message.map(Cow::into_owned),
                results: Item::results_of(record),
            })
        })
        .map(Option::flatten)
    }

    /// What an entry says.
    fn item(&mut self, entry: u64) -> Result<Option<Item>, C::Error> {
        Ok(self.record(entry)?.and_then(|read| read.item))
    }

    /// Reads an entry; `None` of one that can say nothing.
    fn record(&mut self, entry: u64) -> Result<Option<Read>, C::Error> {
        let model = self.model.clone();
        self.with_record(entry, |record, _| Read {
            uuid: record.uuid().map(Cow::into_owned),
            message_id: record.message_id().map(Cow::into_owned),
            item: Item::read(record, entry, model.as_ref()),
        })
    }

    /// Makes something of an entry; `None` of one that can say nothing.
    fn with_record<T>(
        &mut self,
        entry: u64,
        make: impl FnOnce(&Record<'_>, Node) -> T,
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
        let mut record = self.scanner.scan(text);
        // Of a record that is torn the content is not read.
        if record.scan().shape == Shape::Malformed
            && recovers
            && let Some(whole) = whole_record(text)
        {
            record = self.scanner.scan(whole);
        }
        Ok(Some(make(&record, node)))
    }

    /// Whether an entry is the one that its uuid names.
    fn is_named(&self, entry: u64, uuid: Option<&[u8]>) -> Result<bool, C::Error> {
        let Some(uuid) = uuid else { return Ok(false) };
        Ok(self.conversation.find(uuid)? == Some(entry))
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
}

/// A record that was read.
struct Read {
    uuid: Option<Vec<u8>>,
    /// The message of the API that it is of.
    message_id: Option<Vec<u8>>,
    item: Option<Item>,
}
