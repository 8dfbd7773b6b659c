//! pi's and omp's contexts (pi session file and omp session storage documents, context building).

mod identity;
mod image_places;
mod instant;
mod omp;
mod pi;
mod request;
mod selection;
mod settings;

use std::borrow::Cow;

use self::selection::Selection;
use crate::context::{Contexts, NamedEntry, TakeMessage};
use crate::conversation::{
    Above, Before, Conversation, History, HistoryScope, Images, PathEnd, PathSettings,
};
use crate::omp::DEFAULT_ROLE;
use crate::scan::{Raw, Scanner};
use crate::{ContextSettings, EntryKind, text};

/// What tells pi's contexts from omp's.
trait Program {
    /// See [`Contexts::context_name`].
    const CONTEXT_NAME: &'static str;

    /// What the program makes of the settings that were set on the path.
    fn settings(set: &PathSettings) -> ContextSettings;

    /// See [`Contexts::append_settings`].
    fn append_settings(settings: &ContextSettings, json: &mut String);

    /// The parts of the context at an entry.
    fn select<C: Conversation>(conversation: &mut C, leaf: u64) -> Result<Selection, C::Error> {
        Selection::at(conversation, leaf)
    }

    /// Passes on the messages of the context at an entry, or of the whole path to it.
    fn hand_out<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error>;

    /// Passes on the same messages as the program sends them, with these settings in force.
    fn hand_out_request<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
        settings: &ContextSettings,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error>;
}

impl<P: Program> Contexts for P {
    fn context_name() -> &'static str {
        P::CONTEXT_NAME
    }

    /// An id that the session does not have means its last entry (observed).
    fn find_leaf<C: Conversation>(conversation: &C, id: &str) -> Result<NamedEntry, C::Error> {
        // JavaScript takes an empty id for false, and does not look it up.
        let named = if id.is_empty() { None } else { conversation.find(id.as_bytes())? };
        let entry = match named {
            Some(entry) => Some(entry),
            None => conversation.last_entry()?,
        };
        Ok(entry.map_or(NamedEntry::Nothing, NamedEntry::At))
    }

    /// A leaf whose id is null is the place before the first entry, as if it had been reset (observed). One without an id
    /// is a leaf like others.
    fn at_current_leaf<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
    ) -> Result<Option<u64>, C::Error> {
        if conversation.is_indexed() {
            return Ok(Some(leaf));
        }
        let is_null = selection::scan(conversation, &mut Scanner::new(), leaf, |scan| {
            scan.members.id.is_some_and(Raw::is_null)
        })?;
        Ok((!is_null).then_some(leaf))
    }

    fn history<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: u64,
        scope: HistoryScope,
    ) -> Result<History, C::Error> {
        if scope == HistoryScope::Context {
            let selection = P::select(conversation, leaf)?;
            if let Some(boundary) = selection.compaction.or(selection.reset) {
                let history = History::beginning(PathEnd::Boundary).and_entry(boundary);
                return Ok(history.and_path(&selection.kept).and_path(&selection.below));
            }
        }
        History::of_path(conversation, leaf)
    }

    fn context<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        let Some(leaf) = leaf else { return Ok(P::settings(&PathSettings::default())) };
        let settings = P::settings(&conversation.settings(leaf)?);
        P::hand_out(conversation, leaf, scope, take)?;
        Ok(settings)
    }

    fn request<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        let Some(leaf) = leaf else { return Ok(P::settings(&PathSettings::default())) };
        let settings = P::settings(&conversation.settings(leaf)?);
        P::hand_out_request(conversation, leaf, scope, &settings, take)?;
        Ok(settings)
    }

    fn injected_rules<C: Conversation>(
        conversation: &C,
        leaf: u64,
    ) -> Result<Vec<String>, C::Error> {
        Ok(conversation.settings(leaf)?.injected_rules)
    }

    fn last_model_change_role<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
    ) -> Result<Option<String>, C::Error> {
        last_model_change_role(conversation, leaf)
    }

    fn append_settings(settings: &ContextSettings, json: &mut String) {
        <P as Program>::append_settings(settings, json);
    }
}

fn last_model_change_role<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
) -> Result<Option<String>, C::Error> {
    let is_change = |entry| Ok(conversation.node(entry)?.kind == EntryKind::ModelChange);
    let (path, _) = conversation.climb(leaf, |entry| {
        Ok(match conversation.node(entry)?.parent {
            Some(parent) if !is_change(entry)? => Above::Entry(parent),
            _ => Above::End(PathEnd::Root),
        })
    })?;
    let Some(change) = path.highest() else { return Ok(None) };
    if !is_change(change)? {
        return Ok(None);
    }
    let decoded = text::decode(conversation.line(change, Images::AsWritten)?);
    let role = Scanner::new().scan(&decoded).members.role.and_then(Raw::to_string_lossy);
    Ok(Some(role.map_or_else(|| DEFAULT_ROLE.to_owned(), Cow::into_owned)))
}
