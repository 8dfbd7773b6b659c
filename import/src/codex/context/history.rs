//! The history from the compaction that it starts from to the end.

use crate::codex::context::Use;
use crate::codex::context::fact::{Fact, Turn};
use crate::codex::context::step::{Compacted, Step};
use crate::codex::truncate::tokens;

/// How much of the prompts an early compaction keeps, in tokens.
const PROMPT_TOKENS: u64 = 20_000;

/// The items of the history, given the place of the compaction that it starts from.
pub(super) fn replay(steps: &[Step], checkpoint: Option<usize>) -> Vec<Fact> {
    let mut history = Vec::new();
    if let Some(Step::Compacted(compacted)) = checkpoint.map(|at| &steps[at]) {
        history.extend(compacted.replacement.iter().flatten().cloned());
    }
    for step in &steps[checkpoint.map_or(0, |at| at + 1)..] {
        match step {
            Step::Item(fact) => history.push(fact.clone()),
            Step::Compacted(compacted) if compacted.replacement.is_none() => {
                compact_early(&mut history, compacted);
            }
            Step::RolledBack(turns) => take_back(&mut history, *turns),
            // Another compaction that has a replacement was taken back with its turn.
            _ => {}
        }
    }
    history
}

/// Takes back the last turns of the user. What stands ahead of the first turn stays.
fn take_back(history: &mut Vec<Fact>, turns: u64) {
    let is_start = |fact: &Fact| fact.turn == Turn::Start;
    let Some(first) = history.iter().position(is_start) else { return };
    let Some(further) = usize::try_from(turns).unwrap_or(usize::MAX).checked_sub(1) else { return };
    let starts = history.iter().enumerate().rev().filter(|(_, fact)| is_start(fact));
    let mut end = starts.map(|(at, _)| at).nth(further).unwrap_or(first);
    while end > first && history[end - 1].turn == Turn::Ahead {
        end -= 1;
    }
    history.truncate(end);
}

/// Leaves of the history the last prompts, as many as there is room for, and the summary.
fn compact_early(history: &mut Vec<Fact>, compacted: &Compacted) {
    let mut left = PROMPT_TOKENS;
    let mut kept = Vec::new();
    for mut fact in history.drain(..).rev() {
        let Some(bytes) = fact.prompt_bytes else { continue };
        if left == 0 {
            break;
        }
        let needed = tokens(bytes);
        fact.item.use_as = match fact.item.use_as {
            Use::Item => Use::Prompt(Vec::new()),
            other => other,
        };
        if needed > left
            && let Use::Prompt(limits) = &mut fact.item.use_as
        {
            limits.push(left);
        }
        fact.pair = None;
        left = left.saturating_sub(needed);
        kept.push(fact);
    }
    history.extend(kept.into_iter().rev());
    history.push(compacted.summary.clone());
}
