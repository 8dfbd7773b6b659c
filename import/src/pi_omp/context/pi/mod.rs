//! pi's contexts, as pi 1.6.0, 0.87.1 and 0.73.1 build them (observed).

mod edits;
mod message;
mod rules;

use self::edits::{Edits, Replacement};
use self::message::Place;
pub(super) use self::rules::Rules;
use super::identity::is_same;
use super::request::{AskedModel, OfPi};
use super::selection::{self, Selection};
use super::{Program, settings};
use crate::context::TakeMessage;
use crate::conversation::{Conversation, HistoryScope, PathLimit, PathSettings};
use crate::pi::Pi;
use crate::scan::{Raw, Scanner};
use crate::{ContextModel, ContextSettings, EntryKind, JsonText};

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
        let selection = select(conversation, leaf, scope)?;
        pass_on(conversation, leaf, &selection, &Replacement::NoContent, take)
    }

    fn hand_out_request<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
        settings: &ContextSettings,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        let selection = select(conversation, leaf, scope)?;
        let model = match &settings.model {
            Some(model) => Some(asked(conversation, &selection, model)?),
            None => None,
        };
        let mut request = OfPi::new(model, Rules::of(conversation.as_of()));
        // The model layer puts an empty list where content is missing, and would not know its place.
        let empty = Replacement::Content("[]".to_owned());
        pass_on(conversation, leaf, &selection, &empty, &mut |places, message| {
            request.push(places, message, take)
        })?;
        request.finish(take)
    }
}

fn select<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
    scope: HistoryScope,
) -> Result<Selection, C::Error> {
    match scope {
        HistoryScope::Context => Selection::at(conversation, leaf),
        HistoryScope::Full => Ok(Selection::of_path(conversation.path(leaf, PathLimit::Root)?)),
    }
}

/// The model of a request, with the `api` of its last turn: a context does not name it.
fn asked<'m, C: Conversation>(
    conversation: &mut C,
    selection: &Selection,
    model: &'m ContextModel,
) -> Result<AskedModel<'m>, C::Error> {
    let mut scanner = Scanner::new();
    for entry in selection.below.upwards().chain(selection.kept.upwards()) {
        if conversation.node(entry)?.kind != EntryKind::Message {
            continue;
        }
        let api = selection::scan(conversation, &mut scanner, entry, |scan| {
            let members = &scan.members;
            let is = |value: Option<Raw<'_>>, named: &Option<JsonText>| {
                is_same(value.map(Raw::as_str), named.as_ref().map(JsonText::as_str))
            };
            let is_its_turn = members.message_role.is_some_and(|role| role.is_text("assistant"))
                && is(members.message_provider, &model.provider)
                && is(members.message_model, &model.model_id);
            let api = || members.message.and_then(|message| message.member("api"));
            is_its_turn.then(|| api().map(|api| api.as_str().to_owned()))
        })?;
        if let Some(api) = api {
            return Ok(AskedModel { model, api });
        }
    }
    Ok(AskedModel { model, api: None })
}

/// Passes on the messages of a context, with `no_content` in place of a content that an edit takes away without another
/// one.
fn pass_on<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
    selection: &Selection,
    no_content: &Replacement,
    take: TakeMessage<'_, C::Error>,
) -> Result<(), C::Error> {
    let rules = Rules::of(conversation.as_of());
    let edits = if rules.edits() {
        Edits::among(conversation, selection.entries(), leaf)?
    } else {
        Edits::default()
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
