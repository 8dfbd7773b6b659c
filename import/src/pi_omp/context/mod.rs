//! pi's and omp's contexts (pi session file and omp session storage documents, context building).

mod identity;
mod image_places;
mod instant;
mod message;
mod pi;
mod selection;
mod settings;

use std::borrow::Cow;

use self::selection::Selection;
use crate::context::{Contexts, NamedEntry, TakeMessage};
use crate::conversation::{
    Above, Before, Conversation, History, HistoryScope, Images, PathEnd, PathLimit, PathSettings,
};
use crate::omp::{DEFAULT_ROLE, Omp};
use crate::scan::{Raw, Scanner};
use crate::{ContextSettings, EntryKind, Family, text};

/// What tells pi's contexts from omp's.
trait Program {
    const FAMILY: Family;
    /// See [`Contexts::context_name`].
    const CONTEXT_NAME: &'static str;

    /// What the program makes of the settings that were set on the path.
    fn settings(set: &PathSettings) -> ContextSettings;

    /// See [`Contexts::append_settings`].
    fn append_settings(settings: &ContextSettings, json: &mut String);

    /// Hands out the messages of the context at an entry, or of the whole path to it.
    fn hand_out<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<(), C::Error> {
        hand_out(conversation, leaf, (Self::FAMILY, scope), take)
    }
}

impl Program for Omp {
    const FAMILY: Family = Family::Omp;
    const CONTEXT_NAME: &'static str = "context of omp";

    fn settings(set: &PathSettings) -> ContextSettings {
        settings::of_omp(set)
    }

    fn append_settings(settings: &ContextSettings, json: &mut String) {
        settings::append_of_omp(settings, json);
    }
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

    fn history<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: u64,
        scope: HistoryScope,
    ) -> Result<History, C::Error> {
        if scope == HistoryScope::Context {
            let selection = Selection::at(conversation, leaf)?;
            if let Some(compaction) = selection.compaction {
                let history = History::beginning(PathEnd::Boundary).and_entry(compaction);
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
        let set = conversation.settings(leaf)?;
        P::hand_out(conversation, leaf, scope, take)?;
        Ok(P::settings(&set))
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

/// Hands out the messages of the context at an entry, or of the whole path to it.
fn hand_out<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
    (family, scope): (Family, HistoryScope),
    take: TakeMessage<'_, C::Error>,
) -> Result<(), C::Error> {
    let selection = match scope {
        HistoryScope::Context => Selection::at(conversation, leaf)?,
        HistoryScope::Full => Selection::of_path(conversation.path(leaf, PathLimit::Root)?),
    };
    let mut message = Vec::new();
    let mut make = |entry, is_summary| -> Result<(), C::Error> {
        let kind = conversation.node_ahead_of_line(entry)?.kind;
        message.clear();
        // A compaction gives a message only where it is the one that counts.
        let gives = is_summary || kind != EntryKind::Compaction;
        if gives && message::append(conversation, family, (entry, kind), &mut message)? {
            take(&[entry], &message)?;
        }
        Ok(())
    };
    if let Some(compaction) = selection.compaction {
        make(compaction, true)?;
    }
    for entry in selection.entries() {
        make(entry, scope == HistoryScope::Full)?;
    }
    Ok(())
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
