//! Which entry of an imported session is its leaf, by the rule of its family.

use leafline_import::leaf::{LeafFacts, LeafHint, LineNode, Pointer, SessionLines};
use leafline_import::{EXPLICIT, EntryKind, Family, KEEPS_MESSAGES, MessageRole};

use super::super::view::View;
use super::nodes::Ancestor;
use crate::error::{Error, Result};
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::{PointerKind, PointerRecord};
use crate::store::session_record::SessionRecord;

/// A session in its committed state.
pub(crate) struct Committed<'a> {
    pub(crate) view: View<'a>,
}

impl SessionLines for Committed<'_> {
    type Error = Error;

    fn find(&mut self, id: &[u8]) -> Result<Option<u64>> {
        Ok(self.view.find(id)?.map(Ordinal::raw))
    }

    fn node(&mut self, ordinal: u64) -> Result<LineNode> {
        Ok(Ancestor::from(&self.view.line_node(Ordinal::new(ordinal))?).into())
    }
}

impl From<Ancestor> for LineNode {
    fn from(node: Ancestor) -> Self {
        Self {
            kind: EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown),
            role: MessageRole::from_code(node.role).unwrap_or(MessageRole::None),
            is_sidechain: node.is_sidechain,
            time_ms: node.time,
            parent: node.parent().map(Ordinal::raw),
            depth: node.depth,
        }
    }
}

/// The part of a session's record that the leaf rule needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeafRecord {
    family: Family,
    lines: u64,
    is_regular: bool,
    last_message: Option<Ordinal>,
    last_sidechain_message: Option<Ordinal>,
}

impl From<&SessionRecord> for LeafRecord {
    fn from(record: &SessionRecord) -> Self {
        Self {
            family: record.known_family(),
            lines: record.lines,
            is_regular: !record.irregular,
            last_message: record.last_message,
            last_sidechain_message: record.last_sidechain_message,
        }
    }
}

impl LeafRecord {
    fn facts<'a>(
        &self,
        pointers: &'a [Pointer<'a>],
        hint: &'a LeafHint,
        last_entry: Option<Ordinal>,
    ) -> LeafFacts<'a> {
        let Self { lines, is_regular, last_message, last_sidechain_message, .. } = *self;
        LeafFacts {
            lines,
            is_regular,
            last_entry: last_entry.map(Ordinal::raw),
            last_message: last_message.map(Ordinal::raw),
            last_sidechain_message: last_sidechain_message.map(Ordinal::raw),
            pointers,
            hint,
        }
    }
}

/// What the lines of a session decide together.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    pub(crate) leaf: Option<Ordinal>,
    /// The text of the summary that describes the session.
    pub(crate) summary: Option<String>,
}

/// The leaf of a session whose lines and pointers are all stored; `last` is the last entry that leads. Also returns the
/// title that only the leaf rule can determine.
pub(crate) fn decide<L: SessionLines>(
    lines: &mut L,
    record: LeafRecord,
    pointers: &[(Ordinal, PointerRecord)],
    hint: &LeafHint,
    last: Option<Ordinal>,
) -> std::result::Result<Decided, L::Error> {
    let named = named(pointers);
    let decided = record.family.leaf(lines, &record.facts(&named, hint, last))?;
    let (leaf, summary) = (decided.leaf.map(Ordinal::new), decided.summary.map(Ordinal::new));
    Ok(Decided { leaf, summary: text_of(pointers, summary) })
}

/// The text of the summary that describes the session, if there is one.
pub(crate) fn summary<L: SessionLines>(
    lines: &mut L,
    record: LeafRecord,
    pointers: &[(Ordinal, PointerRecord)],
) -> std::result::Result<Option<String>, L::Error> {
    let named = named(pointers);
    let facts = record.facts(&named, &LeafHint::None, None);
    let summary = record.family.summary(lines, &facts)?;
    Ok(text_of(pointers, summary.map(Ordinal::new)))
}

fn named(pointers: &[(Ordinal, PointerRecord)]) -> Vec<Pointer<'_>> {
    let named = pointers.iter().map(|(ordinal, pointer)| Pointer {
        ordinal: ordinal.raw(),
        kind: pointer.kind.into(),
        target: pointer.target.as_deref(),
        is_explicit: pointer.kind == PointerKind::LastPrompt
            && pointer.text.as_deref() == Some(EXPLICIT),
        keeps_messages: pointer.kind == PointerKind::Boundary
            && pointer.text.as_deref() == Some(KEEPS_MESSAGES),
        message_before: pointer.message_before.map(Ordinal::raw),
    });
    named.collect()
}

fn text_of(pointers: &[(Ordinal, PointerRecord)], summary: Option<Ordinal>) -> Option<String> {
    let at = pointers.binary_search_by_key(&summary?, |(ordinal, _)| *ordinal).ok()?;
    pointers.get(at)?.1.text.clone()
}
