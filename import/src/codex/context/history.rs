//! The history, from the compaction that it starts from to the end.

use crate::codex::context::Use;
use crate::codex::context::fact::{Fact, Turn};
use crate::codex::context::step::{Compacted, Step};
use crate::codex::truncate::tokens;

/// How many tokens of prompts an early compaction keeps.
const PROMPT_TOKENS: u64 = 20_000;

/// Something that a rollback can remove with its turn.
pub(super) trait Said {
    /// What it is to a rollback.
    fn turn(&self) -> Turn;
}

impl Said for Fact {
    fn turn(&self) -> Turn {
        self.turn
    }
}

/// What was said and not rolled back.
#[derive(Debug)]
pub(super) struct History<S> {
    items: Vec<S>,
    /// The places at which turns begin.
    starts: Vec<usize>,
}

impl<S> Default for History<S> {
    fn default() -> Self {
        Self { items: Vec::new(), starts: Vec::new() }
    }
}

impl<S: Said> History<S> {
    pub(super) fn push(&mut self, item: S) {
        if item.turn() == Turn::Start {
            self.starts.push(self.items.len());
        }
        self.items.push(item);
    }

    pub(super) fn into_items(self) -> Vec<S> {
        self.items
    }

    /// Rolls back the last turns of the user. Items before the first turn stay.
    pub(super) fn take_back(&mut self, turns: u64) {
        let Some(&first) = self.starts.first().filter(|_| turns > 0) else { return };
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let left = self.starts.len().saturating_sub(turns);
        let mut end = self.starts[left];
        while end > first && self.items[end - 1].turn() == Turn::Ahead {
            end -= 1;
        }
        self.starts.truncate(left);
        self.items.truncate(end);
    }
}

impl History<Fact> {
    /// The history that starts from a compaction; without a replacement, from nothing.
    pub(super) fn starting_from(compacted: &Compacted) -> Self {
        let mut history = Self::default();
        compacted.replacement.iter().flatten().cloned().for_each(|fact| history.push(fact));
        history
    }

    /// Takes the next step downwards, after the compaction that the history starts from.
    pub(super) fn step_down(&mut self, step: &Step) {
        match step {
            Step::Item(fact) => self.push(fact.clone()),
            Step::Compacted(compacted) if compacted.replacement.is_none() => {
                self.compact_early(compacted);
            }
            Step::RolledBack(turns) => self.take_back(*turns),
            // Another compaction with a replacement was rolled back with its turn.
            _ => {}
        }
    }

    /// Keeps of the history only the last prompts, as many as fit, and the summary.
    fn compact_early(&mut self, compacted: &Compacted) {
        let mut left = PROMPT_TOKENS;
        let mut kept = Vec::new();
        self.starts.clear();
        for mut fact in self.items.drain(..).rev() {
            let Some(bytes) = fact.prompt_bytes else { continue };
            if left == 0 {
                break;
            }
            let needed = tokens(bytes);
            if fact.item.use_as == Use::Item {
                fact.item.use_as = Use::Prompt(Vec::new());
            }
            if needed > left
                && let Use::Prompt(limits) = &mut fact.item.use_as
            {
                limits.push(left);
            }
            left = left.saturating_sub(needed);
            kept.push(fact);
        }
        kept.into_iter().rev().for_each(|fact| self.push(fact));
        self.push(compacted.summary.clone());
    }
}
