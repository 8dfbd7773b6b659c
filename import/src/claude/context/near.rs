//! What stands near an entry in the file. The program finds records by their ids in the whole session; time has to grow
//! with the context, and records that belong together stand near each other.

use std::collections::HashMap;
use std::ops::Range;

use super::block::CallKey;
use crate::conversation::Conversation;

/// How many lines before and behind an entry are searched.
const NEIGHBOURS: u64 = 64;

/// How many records are remembered.
const REMEMBERED: usize = 1024;

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
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) uuid: Vec<u8>,
    /// The message of the API that it is of.
    pub(super) message: Option<Vec<u8>>,
    /// The calls whose results it has.
    pub(super) results: Vec<CallKey>,
    /// Whether it is the one that its uuid names.
    pub(super) is_named: bool,
}

/// The records beside a path that were read, so that each is read once; `None` of one that says nothing.
#[derive(Debug, Default)]
pub(super) struct Neighbours(HashMap<u64, Option<Known>>);

impl Neighbours {
    pub(super) fn get(&self, place: u64) -> Option<&Option<Known>> {
        self.0.get(&place)
    }

    pub(super) fn insert(&mut self, place: u64, known: Option<Known>) {
        if self.0.len() >= REMEMBERED {
            self.0.clear();
        }
        self.0.insert(place, known);
    }
}
