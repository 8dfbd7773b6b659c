//! Which compaction the history starts from.

use crate::codex::context::fact::Turn;
use crate::codex::context::step::Step;

/// What is gathered of a turn while the steps are walked from the last to the first.
#[derive(Debug)]
struct Segment<P> {
    /// The turn of the last settings in it. The ids of its end do not count.
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

/// Looks for the compaction that the history starts from, from the last step upwards. What stands above the step that ends
/// the search has no part in the history.
///
/// It is the last compaction with a replacement that no rollback takes back. A rollback takes back whole turns, and with
/// them the compactions that were made in them: the program walks from the last line upwards, and leaves out as many turns
/// of the user as were taken back. But where the last compaction of all can stand alone, nothing that was ahead of it comes
/// back, whatever is taken back behind it.
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

    /// Takes the next step upwards, which stands at `place`. The answer is where the history starts, and ends the search.
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

    /// Whether the steps above are of another turn than those below, so that no id of the latter counts.
    pub(super) fn is_between_turns(&self) -> bool {
        self.segment.is_none()
    }

    /// Where the history starts, once there is no step above; `None` where it starts from the first line.
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
