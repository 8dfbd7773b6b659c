//! Which compaction the history starts from.

use crate::codex::context::fact::Turn;
use crate::codex::context::step::Step;

/// What is gathered of a turn while the steps are walked from the last to the first.
#[derive(Debug, Default)]
struct Segment {
    /// The turn of the last settings in it. The ids of its end do not count.
    turn: Option<u32>,
    is_of_user: bool,
    checkpoint: Option<usize>,
}

impl Segment {
    fn is_of_turn(&self, turn: u32) -> bool {
        self.turn.is_none_or(|own| own == turn)
    }
}

/// The step that reading begins with: the last compaction, where it can stand alone. Nothing that was ahead of it comes back,
/// whatever is taken back behind it.
pub(super) fn bound(steps: &[Step], is_paginated: bool) -> Option<usize> {
    let last = steps.iter().rposition(|step| matches!(step, Step::Compacted(_)))?;
    let Step::Compacted(compacted) = &steps[last] else { return None };
    let stands_alone = compacted.replacement.is_some()
        && compacted.has_window
        && (is_paginated || compacted.has_resume_metadata);
    stands_alone.then_some(last)
}

/// The last compaction with a replacement that no rollback takes back, as the place of its step.
///
/// A rollback takes back whole turns, and with them the compactions that were made in them: the program walks from the
/// last line upwards, and leaves out as many turns of the user as were taken back.
pub(super) fn checkpoint(steps: &[Step]) -> Option<usize> {
    let mut taken_back = 0_u64;
    let mut found = None;
    let mut segment: Option<Segment> = None;
    let mut close = |segment: Segment, taken_back: &mut u64| {
        if *taken_back > 0 {
            *taken_back -= u64::from(segment.is_of_user);
        } else if found.is_none() {
            found = segment.checkpoint;
        }
        found.is_some()
    };
    for (at, step) in steps.iter().enumerate().rev() {
        match step {
            Step::Compacted(compacted) => {
                let segment = segment.get_or_insert_default();
                if compacted.replacement.is_some() {
                    segment.checkpoint.get_or_insert(at);
                }
            }
            Step::RolledBack(turns) => taken_back = taken_back.saturating_add(*turns),
            Step::TurnContext(turn) => {
                let segment = segment.get_or_insert_default();
                segment.turn = segment.turn.or(*turn);
            }
            Step::UserMessage => segment.get_or_insert_default().is_of_user = true,
            Step::Item(fact) => {
                segment.get_or_insert_default().is_of_user |= fact.turn == Turn::Start;
            }
            Step::TurnStarted(turn) => {
                if let Some(whole) = segment.take_if(|segment| segment.is_of_turn(*turn))
                    && close(whole, &mut taken_back)
                {
                    return found;
                }
            }
        }
    }
    if let Some(first) = segment {
        close(first, &mut taken_back);
    }
    found
}
