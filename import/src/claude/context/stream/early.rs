//! Results that stand ahead of their calls.

use std::collections::{HashSet, VecDeque};

use super::{AHEAD, Stream};
use crate::claude::context::block::CallKey;
use crate::claude::context::item::{Item, Speaker};
use crate::conversation::Conversation;

/// How many messages of the model's are remembered that have begun.
const BEGUN: usize = 8;

/// What is known of results that stand ahead of their calls.
#[derive(Debug, Default)]
pub(super) struct Early {
    /// The calls so far.
    calls: HashSet<CallKey>,
    /// The messages that began last.
    begun: VecDeque<Vec<u8>>,
    /// The results that were put behind their calls.
    moved: HashSet<u64>,
}

impl Early {
    /// Takes note of the next record.
    pub(super) fn pass(&mut self, item: &Item) {
        self.calls.extend(item.calls().map(|(key, _)| key));
        let Some(id) = item.id().filter(|_| item.says_something()) else { return };
        if self.begun.iter().any(|begun| begun == id) {
            return;
        }
        if self.begun.len() >= BEGUN {
            self.begun.pop_front();
        }
        self.begun.push_back(id.to_vec());
    }
}

impl<C: Conversation, P: DoubleEndedIterator<Item = u64> + Clone> Stream<'_, C, P> {
    /// Puts the record that comes next behind the calls of the message that follows if all its results are of them; says whether
    /// it did. The message may follow others of the model's, but nothing that the user says in between.
    pub(super) fn put_behind_calls(&mut self) -> Result<bool, C::Error> {
        let Some(item) = self.ready.front() else { return Ok(false) };
        if !item.said.has_results() || self.early.moved.contains(&item.ordinal) {
            return Ok(false);
        }
        if item.results().any(|key| self.early.calls.contains(&key)) {
            return Ok(false);
        }
        let mut open: HashSet<CallKey> = item.results().collect();
        // The message, and the first of its records that has one of the calls.
        let mut found: Option<(Vec<u8>, usize)> = None;
        let mut at = 1;
        while at < AHEAD && (at < self.ready.len() || self.pull()?) {
            let next = &self.ready[at];
            match &next.speaker {
                Speaker::User if next.said.has_results() => {}
                Speaker::User | Speaker::Command => break,
                Speaker::Model(Some(id)) if self.early.begun.contains(id) => {}
                Speaker::Model(id) => {
                    let is_same =
                        found.as_ref().is_some_and(|(found, _)| Some(found) == id.as_ref());
                    let has_call = next.calls().any(|(key, _)| open.contains(&key));
                    if has_call && (is_same || found.is_none()) {
                        for (key, _) in next.calls() {
                            open.remove(&key);
                        }
                        found.get_or_insert_with(|| (id.clone().unwrap_or_default(), at));
                    }
                }
            }
            at += 1;
        }
        let Some((id, first)) = found.filter(|_| open.is_empty()) else { return Ok(false) };
        // Those that were put there stay ahead of this one.
        let of_message = self.ready.iter().filter(|item| item.id() == Some(&id));
        let calls: HashSet<CallKey> =
            of_message.flat_map(Item::calls).map(|(key, _)| key).collect();
        let is_moved = |item: &Item| {
            self.early.moved.contains(&item.ordinal)
                && item.results().any(|key| calls.contains(&key))
        };
        let last = self.ready.iter().rposition(is_moved).map_or(first, |moved| moved.max(first));
        let Some(item) = self.ready.pop_front() else { return Ok(false) };
        self.early.moved.insert(item.ordinal);
        self.ready.insert(last, item);
        Ok(true)
    }
}
