//! pi's contexts, as pi 0.87.1 and pi 0.73.1 build them (observed).

mod edits;
mod message;
mod rules;

use self::edits::{Edits, Replacement};
use self::message::Place;
use self::rules::Rules;
use super::request::OfPi;
use super::selection::Selection;
use super::{Program, settings};
use crate::ContextSettings;
use crate::EntryKind;
use crate::context::TakeMessage;
use crate::conversation::{Conversation, HistoryScope, PathLimit, PathSettings};
use crate::pi::Pi;

impl Program for Pi {
    const CONTEXT_NAME: &'static str = "context of pi";

    fn settings(set: &PathSettings) -> ContextSettings {
        settings::of_pi(set)
    }

    fn append_settings(settings: &ContextSettings, json: &mut String) {
        settings::append_of_pi(settings, json);
    }

    fn hand_out<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        pass_on(conversation, leaf, (scope, &Replacement::NoContent), take)
    }

    fn hand_out_request<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
        settings: &ContextSettings,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        let has_system_messages = Rules::of(conversation.as_of()) == Rules::Edited;
        let mut request = OfPi::new(settings.model.as_ref(), has_system_messages);
        // The model layer puts an empty list where content is missing, and would not know its place.
        let empty = Replacement::Content("[]".to_owned());
        pass_on(conversation, leaf, (scope, &empty), &mut |places, message| {
            request.push(places, message, take)
        })?;
        request.finish(take)
    }
}

/// Passes on the messages of the context at an entry, or of the whole path to it, with this in place of a content that an
/// edit takes away without another one.
fn pass_on<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
    (scope, no_content): (HistoryScope, &Replacement),
    take: TakeMessage<'_, C::Error>,
) -> Result<(), C::Error> {
    let selection = match scope {
        HistoryScope::Context => Selection::at(conversation, leaf)?,
        HistoryScope::Full => Selection::of_path(conversation.path(leaf, PathLimit::Root)?),
    };
    let rules = Rules::of(conversation.as_of());
    let edits = match rules {
        Rules::Edited => Edits::among(conversation, selection.entries(), leaf)?,
        Rules::Plain => Edits::default(),
    };
    let mut out = Vec::new();
    let mut make = |entry, place| -> Result<(), C::Error> {
        let kind = conversation.node_ahead_of_line(entry)?.kind;
        // A compaction gives messages only where it is the one that counts.
        if kind == EntryKind::Compaction && place == Place::Kept {
            return Ok(());
        }
        let edit = edits.of(conversation, entry)?;
        let edit = edit.as_ref().map(|edit| match edit {
            Replacement::NoContent => no_content,
            edit => edit,
        });
        message::make((conversation, rules), (entry, kind), (place, edit), &mut out, take)
    };
    if let Some(compaction) = selection.compaction {
        make(compaction, Place::Boundary)?;
    }
    for entry in selection.kept.downwards() {
        make(entry, Place::Kept)?;
    }
    for entry in selection.below.downwards() {
        make(entry, Place::Below)?;
    }
    Ok(())
}
