//! What stands near an entry in the file. The program finds records by their ids in the whole session; time has to grow
//! with the context, and records that belong together stand near each other.

use std::ops::Range;
use std::rc::Rc;

use super::block::CallKey;
use crate::MessageRole;
use crate::conversation::{Conversation, Node};

/// How many lines before and behind an entry are searched.
const NEIGHBOURS: u64 = 64;

/// How many lines are remembered: of those whose places differ by a multiple of it, the one that was looked at last.
const REMEMBERED: u64 = 1024;

/// All lines up to the last entry.
pub(super) fn lines<C: Conversation>(conversation: &C) -> Result<Range<u64>, C::Error> {
    Ok(0..conversation.last_entry()?.map_or(0, |last| last + 1))
}

/// Of some lines, those near the ones from one entry to another.
pub(super) fn near(first: u64, last: u64, of: &Range<u64>) -> Range<u64> {
    let end = last.saturating_add(NEIGHBOURS + 1).min(of.end);
    first.saturating_sub(NEIGHBOURS).max(of.start)..end
}

/// What is asked of a record near another one.
#[derive(Debug)]
pub(super) struct Known {
    /// The message of the API that it is of.
    pub(super) message: Option<Vec<u8>>,
    /// The calls whose results it has.
    pub(super) results: Vec<CallKey>,
    /// The place that its uuid names: its own, or that of a later copy.
    pub(super) named: u64,
}

/// A line beside a path.
#[derive(Debug, Clone)]
pub(super) enum Neighbour {
    /// It says nothing.
    Silent,
    /// A message that was not read; whether it is on a sidechain.
    Unread { is_sidechain: bool },
    /// A message that was read.
    Read { is_sidechain: bool, known: Rc<Known> },
}

impl Neighbour {
    /// What the index says of a line; `None` of one that is no entry.
    pub(super) fn of(node: Option<Node>) -> Self {
        match node {
            Some(Node {
                role: MessageRole::Assistant | MessageRole::ToolResult | MessageRole::User,
                is_sidechain,
                ..
            }) => Self::Unread { is_sidechain },
            _ => Self::Silent,
        }
    }
}

/// The lines beside a path that were looked at, so that each is read once.
#[derive(Debug, Default)]
pub(super) struct Neighbours(Vec<Option<(u64, Neighbour)>>);

impl Neighbours {
    pub(super) fn get(&self, place: u64) -> Option<&Neighbour> {
        let (own, neighbour) = self.0.get(Self::slot(place))?.as_ref()?;
        (*own == place).then_some(neighbour)
    }

    pub(super) fn insert(&mut self, place: u64, neighbour: Neighbour) {
        let slot = Self::slot(place);
        if self.0.len() <= slot {
            self.0.resize_with(slot + 1, || None);
        }
        self.0[slot] = Some((place, neighbour));
    }

    fn slot(place: u64) -> usize {
        usize::try_from(place % REMEMBERED).unwrap_or(0)
    }
}
