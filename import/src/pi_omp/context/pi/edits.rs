//! Entries that edit what another entry gives to the context.

use std::collections::HashMap;

use super::super::identity::is_same;
use super::super::selection::scan;
use crate::conversation::{Conversation, Images};
use crate::ecma::Document;
use crate::scan::{Raw, Scanner};
use crate::{EntryKind, text};

/// The `type` of an entry that edits.
const EDIT: &str = "context_edit";

/// The edits in force in a context: the last one of each edited entry.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// From the edited entry to the one that edits it.
    by_target: HashMap<u64, u64>,
}

/// What an edit replaces an entry's content with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Replacement {
    /// The entry gives nothing.
    Nothing,
    /// It does not say: pi throws where it would use it.
    Missing,
    /// Messages of the entry have no content.
    NoContent,
    /// This JSON, as `JSON.stringify` writes it.
    Content(String),
}

impl Edits {
    /// The edits among the entries of the context at a leaf.
    pub(super) fn among<C: Conversation>(
        conversation: &mut C,
        entries: impl Iterator<Item = u64>,
        leaf: u64,
    ) -> Result<Self, C::Error> {
        let mut edits = Self::default();
        let mut scanner = Scanner::new();
        for entry in entries {
            // Kinds are those of the documents, and this is not one of them.
            if conversation.node(entry)?.kind != EntryKind::Unknown {
                continue;
            }
            let target = scan(conversation, &mut scanner, entry, |scan| {
                let is_edit = scan.members.entry_type.is_some_and(|name| name.is_text(EDIT));
                is_edit.then(|| Target::of(scan.members.target_id))
            })?;
            let target = match target {
                None => None,
                Some(Target::Id(id)) => conversation.find(&id)?,
                // Only the last entry of a path can have an id that is no string, or none.
                Some(Target::Other(target)) => {
                    let is_leaf = scan(conversation, &mut scanner, leaf, |scan| {
                        is_same(scan.members.id.map(Raw::as_str), target.as_deref())
                    })?;
                    is_leaf.then_some(leaf)
                }
            };
            if let Some(target) = target {
                edits.by_target.insert(target, entry);
            }
        }
        Ok(edits)
    }

    /// What the last edit of an entry replaces its content with; `None` if there is no edit.
    pub(super) fn of<C: Conversation>(
        &self,
        conversation: &mut C,
        entry: u64,
    ) -> Result<Option<Replacement>, C::Error> {
        let Some(&edit) = self.by_target.get(&entry) else { return Ok(None) };
        let decoded = text::decode(conversation.line(edit, Images::AsWritten)?);
        // What is an entry has been parsed before.
        let replacement = Document::parse(&decoded).ok();
        let replacement = replacement.and_then(|document| document.get("replacement"));
        Ok(Some(replacement.map_or(Replacement::Missing, Replacement::of)))
    }
}

/// The entry that an edit names.
enum Target {
    /// By an id, as WTF-8.
    Id(Vec<u8>),
    /// By JSON that is not a string, or by nothing.
    Other(Option<String>),
}

impl Target {
    fn of(target: Option<Raw<'_>>) -> Self {
        let id = target.and_then(Raw::as_string);
        id.map_or_else(
            || Self::Other(target.map(|target| target.as_str().to_owned())),
            |id| Self::Id(id.into_owned()),
        )
    }
}

impl Replacement {
    fn of(replacement: Raw<'_>) -> Self {
        if replacement.is_null() {
            return Self::Nothing;
        }
        let mut content = Vec::new();
        let is_there = Document::parse(replacement.as_str())
            .is_ok_and(|replacement| replacement.write_member("content", &mut content));
        // Lone surrogates are written as escapes.
        match String::from_utf8(content) {
            Ok(content) if is_there => Self::Content(content),
            _ => Self::NoContent,
        }
    }
}
