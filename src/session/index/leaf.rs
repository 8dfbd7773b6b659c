//! Which entry of an imported session is its leaf, by the rule of its family.

use leafline_import::leaf::{LeafFacts, LeafHint, LineNode, Pointer, SessionLines};
use leafline_import::{EntryKind, Family};

use super::super::view::View;
use super::nodes::Ancestor;
use crate::error::{Error, Result};
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::PointerRecord;
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
            is_sidechain: node.is_sidechain,
            parent: node.parent(),
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
    last_message: Option<u64>,
    last_sidechain_message: Option<u64>,
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
        last_entry: Option<u64>,
    ) -> LeafFacts<'a> {
        let Self { lines, is_regular, last_message, last_sidechain_message, .. } = *self;
        LeafFacts {
            lines,
            is_regular,
            last_entry,
            last_message,
            last_sidechain_message,
            pointers,
            hint,
        }
    }
}

/// What the lines of a session decide together.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    pub(crate) leaf: Option<u64>,
    /// The text of the summary that describes the session.
    pub(crate) summary: Option<String>,
}

/// The leaf of a session whose lines and pointers are all stored; `last` is the last entry that leads. Also returns the
/// title that only the leaf rule can determine.
pub(crate) fn decide<L: SessionLines>(
    lines: &mut L,
    record: LeafRecord,
    pointers: &[(u64, PointerRecord)],
    hint: &LeafHint,
    last: Option<u64>,
) -> std::result::Result<Decided, L::Error> {
    let named = named(pointers);
    let decided = record.family.leaf(lines, &record.facts(&named, hint, last))?;
    Ok(Decided { leaf: decided.leaf, summary: text_of(pointers, decided.summary) })
}

/// The text of the summary that describes the session, if there is one.
pub(crate) fn summary<L: SessionLines>(
    lines: &mut L,
    record: LeafRecord,
    pointers: &[(u64, PointerRecord)],
) -> std::result::Result<Option<String>, L::Error> {
    let named = named(pointers);
    let facts = record.facts(&named, &LeafHint::None, None);
    Ok(text_of(pointers, record.family.summary(lines, &facts)?))
}

fn named(pointers: &[(u64, PointerRecord)]) -> Vec<Pointer<'_>> {
    let named = pointers.iter().map(|(ordinal, pointer)| Pointer {
        ordinal: *ordinal,
        kind: pointer.kind.into(),
        target: pointer.target.as_deref(),
        message_before: pointer.message_before,
    });
    named.collect()
}

fn text_of(pointers: &[(u64, PointerRecord)], summary: Option<u64>) -> Option<String> {
    let at = pointers.binary_search_by_key(&summary?, |(ordinal, _)| *ordinal).ok()?;
    pointers.get(at)?.1.text.clone()
}
