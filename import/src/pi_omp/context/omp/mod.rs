//! omp's contexts, as omp 18.3.4, 18.2.3 and 14.9.9 build them (observed).

mod above;
mod compaction;
mod content;
mod facts;
pub(super) mod key;
mod message;
mod plain;
mod reset;
mod rules;
mod turns;

use self::compaction::{Compacted, Retained};
pub(super) use self::facts::record_of;
use self::rules::Rules;
use super::request::OfOmp;
use super::selection::Selection;
use super::{Program, settings};
use crate::ContextSettings;
use crate::context::TakeMessage;
use crate::conversation::{Conversation, HistoryScope, PathLimit, PathRuns, PathSettings};
use crate::omp::Omp;

impl Program for Omp {
    const CONTEXT_NAME: &'static str = "context of omp";

    fn settings(set: &PathSettings) -> ContextSettings {
        settings::of_omp(set)
    }

    fn append_settings(settings: &ContextSettings, json: &mut String) {
        settings::append_of_omp(settings, json);
    }

    fn select<C: Conversation>(conversation: &mut C, leaf: u64) -> Result<Selection, C::Error> {
        match Rules::of(conversation.as_of()) {
            Rules::Plain => plain::select(conversation, leaf),
            Rules::Resets | Rules::Today => Ok(select(conversation, leaf)?.0),
        }
    }

    fn hand_out<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        if Rules::of(conversation.as_of()) == Rules::Plain {
            return plain::hand_out(conversation, leaf, scope, take);
        }
        let mut message = Vec::new();
        if scope == HistoryScope::Full {
            for entry in conversation.path(leaf, PathLimit::Root)?.downwards() {
                if message::append(conversation, entry, None, &mut message)? {
                    take(&[entry], &message)?;
                }
            }
            return Ok(());
        }
        let (selection, compacted) = select(conversation, leaf)?;
        if let (Some(entry), Some(compacted)) = (selection.compaction, compacted) {
            message::append_summary(conversation, entry, compacted.retained, &mut message)?;
            take(&[entry], &message)?;
        }
        turns::hand_out(conversation, selection.entries(), take)
    }

    fn hand_out_request<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
        _: &ContextSettings,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        let mut request = OfOmp::default();
        Self::hand_out(conversation, leaf, scope, &mut |places, message| {
            request.push(places, message, take)
        })?;
        request.finish(take)
    }
}

/// What the context at an entry is made of, and the facts of its compaction, if one counts.
fn select<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
) -> Result<(Selection, Option<Compacted>), C::Error> {
    let mut selection = Selection::default();
    if conversation.is_indexed() {
        let compaction = conversation.node(leaf)?.compaction;
        selection.reset = reset::on_indexed_path(conversation, leaf, compaction)?;
    }
    if selection.reset.is_none() {
        selection = Selection::at(conversation, leaf)?;
        if !conversation.is_indexed() {
            selection.reset = reset::on_path(conversation, &selection.below)?;
        }
    }
    if let Some(reset) = selection.reset {
        let below = if reset == leaf {
            PathRuns::default()
        } else {
            conversation.path(leaf, PathLimit::Before(reset))?
        };
        return Ok((Selection { reset: Some(reset), below, ..Selection::default() }, None));
    }
    let compacted = Compacted::of(conversation, leaf, &mut selection)?;
    Ok((selection, compacted))
}
