//! One session at one moment: the only way in which lines, nodes and the rows that lead to them are read.

use leafline_import::{EntryKind, Reading};

use super::entry::Entry;
use super::lines::{LineCursor, LineView};
use super::order::Order;
use super::render::{Renderer, Rendering};
use super::walk::PathWalk;
use crate::error::{Corruption, Error, Result, SessionError};
use crate::store::chunk::Hole;
use crate::store::chunks::Chunks;
use crate::store::line_rows::StoredLine;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::session_rows::SessionRows;
use crate::store::snapshot::Snapshot;

/// A session's rows in a snapshot with the record that says what they must be. A missing row is damage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'s> {
    rows: SessionRows<'s>,
    record: &'s SessionRecord,
}

impl<'s> View<'s> {
    /// The session with these rows and this record.
    pub(crate) fn new(rows: SessionRows<'s>, record: &'s SessionRecord) -> Self {
        Self { rows, record }
    }

    /// The session's rows.
    pub(crate) fn rows(self) -> SessionRows<'s> {
        self.rows
    }

    /// The session's key.
    pub(crate) fn key(self) -> SessionKey {
        self.rows.key()
    }

    /// The snapshot in which the session is read.
    pub(crate) fn snapshot(self) -> &'s Snapshot {
        self.rows.snapshot()
    }

    /// The session's record.
    pub(crate) fn record(self) -> &'s SessionRecord {
        self.record
    }

    /// How the session's lines are read.
    pub(crate) fn reading(self) -> Reading {
        self.record.reading()
    }

    /// The rules that the session's nodes satisfy.
    pub(crate) fn order(self) -> Order {
        Order::of(self.key(), self.record)
    }

    /// The session's chunks, from its first line to its last.
    pub(crate) fn chunks(self) -> Chunks<'s> {
        self.rows.chunks(self.record.lines)
    }

    /// All lines.
    pub(crate) fn cursor(self) -> LineCursor<'s> {
        self.cursor_from(Ordinal::FIRST)
    }

    /// The lines from one on.
    pub(crate) fn cursor_from(self, from: Ordinal) -> LineCursor<'s> {
        LineCursor::new(self, from)
    }

    /// A line that the session must have, since its index names it.
    pub(crate) fn line(self, ordinal: Ordinal) -> Result<StoredLine> {
        self.rows.line(ordinal, None)
    }

    /// The same line, with what was cut out of it.
    pub(crate) fn entry(self, ordinal: Ordinal) -> Result<Entry> {
        let line = self.line(ordinal)?;
        let bytes = rendered(self.snapshot(), line.text(), &line.holes)?;
        Ok(Entry::new(self.reading(), ordinal, bytes))
    }

    /// A cursor's line, with what was cut out of it.
    pub(crate) fn entry_of(self, line: &LineView<'_>) -> Result<Entry> {
        let bytes = rendered(self.snapshot(), line.text, line.holes)?;
        Ok(Entry::with_node(self.reading(), line.ordinal, line.node, bytes))
    }

    /// The node of a line, which must exist.
    pub(crate) fn node(self, ordinal: Ordinal) -> Result<Node> {
        self.order().check_line(ordinal)?;
        self.rows.node(ordinal)
    }

    /// The node of a line that must be there and an entry, checked by itself.
    pub(crate) fn entry_node(self, ordinal: Ordinal) -> Result<Node> {
        let node = self.node(ordinal)?;
        self.order().check(ordinal, &node)?;
        Ok(node)
    }

    /// The node of a line that must be there, checked by itself where it is an entry.
    pub(crate) fn line_node(self, ordinal: Ordinal) -> Result<Node> {
        let node = self.node(ordinal)?;
        if is_entry(&node) {
            self.order().check(ordinal, &node)?;
        }
        Ok(node)
    }

    /// The ordinal of the entry with an id; of an id met twice, of the later entry.
    pub(crate) fn find(self, id: &[u8]) -> Result<Option<Ordinal>> {
        Ok(self.rows.entry(id)?.map(|record| record.ordinal))
    }

    /// The ordinal of the entry that a caller names by its id.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`].
    pub(crate) fn named(self, id: &str) -> Result<Ordinal> {
        self.find(id.as_bytes())?.ok_or_else(|| self.not_found(id))
    }

    /// The error for an id that no entry has.
    pub(crate) fn not_found(self, id: &str) -> Error {
        let session = self.record.id();
        Error::Session(SessionError::EntryNotFound { session, entry: id.to_owned() })
    }

    /// The ordinal of the session's leaf.
    pub(crate) fn leaf(self) -> Result<Option<Ordinal>> {
        let leaf = self.rows.leaf()?;
        if let Some(leaf) = leaf.filter(|leaf| !leaf.is_within(self.record.lines)) {
            let place = format!("session {}", self.record.id());
            let problem = format!("the leaf is line {}, behind the last", leaf.number());
            return Err(Corruption { table: "leaves", place, problem }.into());
        }
        Ok(leaf)
    }

    /// The ordinals of an entry's children, in the order of the file; of `None`, of the roots.
    pub(crate) fn children(self, parent: Option<Ordinal>) -> Result<Vec<Ordinal>> {
        let mut children = Vec::new();
        if let Some(next) = parent.and_then(Ordinal::next)
            && next.is_within(self.record.lines)
            && self.node(next)?.parent.ordinal() == parent
        {
            children.push(next);
        }
        for child in self.rows.children(parent)? {
            children.push(child?);
        }
        for &child in &children {
            self.order().check_child(child, &self.node(child)?, parent)?;
        }
        children.sort_unstable();
        Ok(children)
    }

    /// The walk from an entry up to the root, whose first step is to the entry itself.
    pub(crate) fn walk(self, from: Ordinal) -> PathWalk<'s> {
        PathWalk::new(self, from)
    }
}

/// The bytes of a line with what was cut out of it.
pub(super) fn rendered(snapshot: &Snapshot, text: &[u8], holes: &[Hole]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    Renderer::new(snapshot, Rendering::Exact).render(text, holes, &mut bytes)?;
    Ok(bytes)
}

/// Whether a node is one of an entry.
pub(crate) fn is_entry(node: &Node) -> bool {
    EntryKind::from_code(node.kind).is_some_and(EntryKind::is_entry)
}
