//! The history from the compaction that it starts from to the end.

use crate::codex::context::Use;
use crate::codex::context::fact::{Fact, Turn};
use crate::codex::context::step::{Compacted, Step};
use crate::codex::truncate::tokens;

/// How much of the prompts an early compaction keeps, in tokens.
const PROMPT_TOKENS: u64 = 20_000;

/// The items of the history, given the place of the compaction that it starts from.
pub(super) fn replay(steps: &[Step], checkpoint: Option<usize>) -> Vec<Fact> {
    let mut history = History::default();
    if let Some(Step::Compacted(compacted)) = checkpoint.map(|at| &steps[at]) {
        compacted.replacement.iter().flatten().cloned().for_each(|fact| history.push(fact));
    }
    for step in &steps[checkpoint.map_or(0, |at| at + 1)..] {
        match step {
            Step::Item(fact) => history.push(fact.clone()),
            Step::Compacted(compacted) if compacted.replacement.is_none() => {
                history.compact_early(compacted);
            }
            Step::RolledBack(turns) => history.take_back(*turns),
            // Another compaction that has a replacement was taken back with its turn.
            _ => {}
        }
    }
    history.items
}

#[derive(Debug, Default)]
struct History {
    items: Vec<Fact>,
    /// The places at which turns begin.
    starts: Vec<usize>,
}

impl History {
    fn push(&mut self, fact: Fact) {
        if fact.turn == Turn::Start {
            self.starts.push(self.items.len());
        }
        self.items.push(fact);
    }

    /// Takes back the last turns of the user. What stands ahead of the first turn stays.
    fn take_back(&mut self, turns: u64) {
        let Some(&first) = self.starts.first().filter(|_| turns > 0) else { return };
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let left = self.starts.len().saturating_sub(turns);
        let mut end = self.starts[left];
        while end > first && self.items[end - 1].turn == Turn::Ahead {
            end -= 1;
        }
        self.starts.truncate(left);
        self.items.truncate(end);
    }

    /// Leaves of the history the last prompts, as many as there is room for, and the summary.
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
