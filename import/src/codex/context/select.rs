//! Which compaction the history starts from.

use crate::codex::context::fact::Turn;
use crate::codex::context::step::Step;

/// What is gathered about a turn while the steps are walked from last to first.
#[derive(Debug)]
struct Segment<P> {
    /// The turn id of the last settings in it. The ids at its end do not count.
    turn: Option<u32>,
    is_of_user: bool,
    checkpoint: Option<P>,
}

impl<P> Default for Segment<P> {
    fn default() -> Self {
        Self { turn: None, is_of_user: false, checkpoint: None }
    }
}

impl<P> Segment<P> {
    fn is_of_turn(&self, turn: u32) -> bool {
        self.turn.is_none_or(|own| own == turn)
    }
}

/// Searches upwards from the last step for the compaction that the history starts from. Steps above the one that ends
/// the search have no part in the history.
///
/// It is the last compaction with a replacement that no rollback removes. A rollback removes whole turns with their
/// compactions: the program walks upwards from the last line, and skips as many of the user's turns as were rolled
/// back. But if the very last compaction can stand alone, nothing before it comes back, whatever is rolled back after
/// it.
#[derive(Debug)]
pub(super) struct Search<P> {
    is_paginated: bool,
    has_met_compaction: bool,
    taken_back: u64,
    segment: Option<Segment<P>>,
}

impl<P: Copy> Search<P> {
    pub(super) fn new(is_paginated: bool) -> Self {
        Self { is_paginated, has_met_compaction: false, taken_back: 0, segment: None }
    }

    /// Takes the next step upwards, at `place`. Returns where the history starts, which ends the search.
    pub(super) fn step_up(&mut self, place: P, step: &Step) -> Option<P> {
        match step {
            Step::Compacted(compacted) => {
                let is_last = !std::mem::replace(&mut self.has_met_compaction, true);
                if is_last && compacted.stands_alone(self.is_paginated) {
                    return Some(place);
                }
                let segment = self.segment.get_or_insert_default();
                if compacted.replacement.is_some() {
                    segment.checkpoint.get_or_insert(place);
                }
            }
            Step::RolledBack(turns) => self.taken_back = self.taken_back.saturating_add(*turns),
            Step::TurnContext(turn) => {
                let segment = self.segment.get_or_insert_default();
                segment.turn = segment.turn.or(*turn);
            }
            Step::UserMessage => self.segment.get_or_insert_default().is_of_user = true,
            Step::Item(fact) => {
                self.segment.get_or_insert_default().is_of_user |= fact.turn == Turn::Start;
            }
            Step::TurnStarted(turn) => {
                let whole = self.segment.take_if(|segment| segment.is_of_turn(*turn));
                return self.close(whole?);
            }
        }
        None
    }

    /// Whether the steps above belong to another turn than those below, so that no id of the latter counts.
    pub(super) fn is_between_turns(&self) -> bool {
        self.segment.is_none()
    }

    /// Where the history starts, once all steps are taken; `None` if it starts from the first line.
    pub(super) fn finish(mut self) -> Option<P> {
        let first = self.segment.take()?;
        self.close(first)
    }

    fn close(&mut self, segment: Segment<P>) -> Option<P> {
        if self.taken_back > 0 {
            self.taken_back -= u64::from(segment.is_of_user);
            return None;
        }
        segment.checkpoint
    }
}
