//! What the model is sent when a session is resumed (observed; see the chapter on Codex in `docs/formats.md`).
//!
//! Lines are passed in the order of the file, one at a time; only the place and a few facts of each are kept. Which of
//! them make the context is decided at the end, as a rollback can restore what a compaction had replaced.

mod conversation;
mod fact;
mod history;
mod input;
mod pairs;
mod select;
mod step;

pub use input::{InputError, render, write_input};

use crate::codex::header::{Header, HistoryMode};
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use fact::Names;
use history::History;
use select::Search;
use step::Step;

/// The place of an item of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The line, as it was named to [`ContextBuilder::observe`].
    pub line: u64,
    /// The number of the item in `payload.replacement_history` of a `compacted` line, from 0.
    pub index: Option<u32>,
}

/// How the item at a place is used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Use {
    /// It is sent: a `response_item`, an `inter_agent_communication`, or an item of a compaction.
    Item,
    /// Its texts are sent as a user message: what an early compaction, one without `replacement_history`, keeps of a
    /// prompt. Each number is a limit in tokens; the texts were shortened to these limits, in that order.
    Prompt(Vec<u64>),
    /// The `message` of a `compacted` line is sent as a user message.
    Summary,
    /// The output `aborted` is sent, for a call without an output.
    Aborted,
}

/// An item that the model is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextItem {
    /// Where it stands.
    pub place: Place,
    /// What becomes of it.
    pub use_as: Use,
}

/// Finds out what the model is sent when a session is resumed.
///
/// It keeps some dozens of bytes for each item of the conversation, items of compactions included, and none of their
/// texts.
///
/// For a rollout with a [`HistoryBase`](crate::codex::HistoryBase), pass first the lines of the base that belong to it;
/// before those, the lines of the base's own base, and so on. `line` can be any number by which the caller finds a line
/// again.
///
/// ```
/// use leafline_import::codex::{ContextBuilder, Scanner, Truncation, write_input};
///
/// let file = [
///     r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}"#,
///     r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"One"}]}}"#,
///     r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Two"}]}}"#,
///     r#"{"timestamp":"t","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#,
/// ];
/// let mut scanner = Scanner::new();
/// let mut builder = ContextBuilder::new();
/// for (line, text) in (0..).zip(file) {
///     builder.observe(line, &scanner.scan(text));
/// }
/// let items = builder.finish();
/// let text_of = |line| Ok::<_, std::convert::Infallible>(file[line as usize]);
/// let mut input = Vec::new();
/// write_input(&items, text_of, Truncation::UNKNOWN_MODEL, &mut input)?;
/// assert_eq!(input, br#"[{"type":"message","role":"user","content":[{"type":"input_text","text":"One"}]}]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ContextBuilder {
    steps: Vec<Step>,
    names: Names,
    /// What the first header says.
    is_paginated: Option<bool>,
}

impl ContextBuilder {
    /// A builder that has seen no line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next line.
    pub fn observe(&mut self, line: u64, record: &Record<'_>) {
        if record.kind() == RecordKind::SessionMeta {
            self.is_paginated = self.is_paginated.or_else(|| is_paginated(record));
        }
        self.steps.extend(step::of(line, record, &mut self.names));
    }

    /// The items that the model is sent, in their order, if the session is resumed after the last line.
    #[must_use]
    pub fn finish(&self) -> Vec<ContextItem> {
        let mut search = Search::new(self.is_paginated.unwrap_or_default());
        let mut upwards = self.steps.iter().enumerate().rev();
        let found = upwards.find_map(|(at, step)| search.step_up(at, step));
        let start = found.or_else(|| search.finish());
        let mut history = match start.map(|at| &self.steps[at]) {
            Some(Step::Compacted(compacted)) => History::starting_from(compacted),
            _ => History::default(),
        };
        let below = start.map_or(0, |at| at + 1);
        self.steps[below..].iter().for_each(|step| history.step_down(step));
        pairs::complete(history.into_items())
    }
}

/// Whether a header is of a paginated rollout; `None` if the program would not accept it.
fn is_paginated(record: &Record<'_>) -> Option<bool> {
    Some(Header::of(record)?.history_mode == HistoryMode::Paginated)
}

/// Whether a line takes part in what the model is sent: an item, a compaction, a rollback, or a boundary of a turn. The
/// last such line is the leaf of the session (ours); later lines are about the conversation but not part of it.
#[must_use]
pub fn takes_part(record: &Record<'_>) -> bool {
    step::of(0, record, &mut Names::default()).is_some_and(|step| step.changes_history())
}
