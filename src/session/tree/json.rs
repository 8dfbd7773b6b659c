//! A tree as nested JSON.

use std::io::Write;

use leafline_import::MessageRole;
use serde_json::{Map, Value};

use super::outline::Outline;
use super::walk::OutlineReader;
use super::{Tree, TreeNode, TreeRecord};
use crate::error::{ExportError, Result};
use crate::session::SessionReader;
use crate::store::ordinal::Ordinal;

impl Tree {
    /// Writes the tree as nested JSON, as [`SessionReader::write_tree`] does.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`] of the writer.
    pub fn write_json(&self, out: &mut dyn Write) -> Result<()> {
        let open = |place: usize, out: &mut dyn Write| {
            let Some(node) = self.nodes.get(place) else { return Ok((0, &[][..])) };
            open_node(node, self.leaf == Some(place), out).map_err(ExportError::Output)?;
            Ok((1, node.children.as_slice()))
        };
        nest(&self.roots, open, out)
    }
}

impl SessionReader {
    /// Writes the tree of an [`Outline`] of this session as nested JSON, however deep: an array of
    /// `{"id","ordinal","type","role","timestamp","label","leaf","orphan","sidechain","fork","branch","records","children"}`;
    /// members without a value, and those that are false, are left out. `fork` marks where the conversation branches,
    /// `branch` each child with which a branch begins; `records` has the `id` and `ordinal` of those that were folded
    /// into the node.
    ///
    /// The entries are read for their ids while writing; memory does not grow with their number.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`] of the writer; [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn write_tree(&self, outline: &Outline, out: &mut dyn Write) -> Result<()> {
        let mut walk = self.read_outline(outline);
        let open = |place: usize, out: &mut dyn Write| {
            let opened = open_segment(&mut walk, outline, place, out)?;
            Ok((opened, outline.children(place)))
        };
        nest(outline.roots(), open, out)
    }
}

/// Writes nested nodes. `open` writes one, or several with one child each, up to the bracket that opens the children of
/// the last; it returns the number of nodes written, and those children.
fn nest<'t>(
    roots: &'t [usize],
    mut open: impl FnMut(usize, &mut dyn Write) -> Result<(u64, &'t [usize])>,
    out: &mut dyn Write,
) -> Result<()> {
    // Each level: the children still to be written, and the number of nodes to close after them. A conversation is as
    // deep as it is long.
    let mut levels = vec![(roots.iter(), 0)];
    let mut is_first = true;
    out.write_all(b"[").map_err(ExportError::Output)?;
    while let Some((level, opened)) = levels.last_mut() {
        if let Some(&place) = level.next() {
            if !is_first {
                out.write_all(b",").map_err(ExportError::Output)?;
            }
            let (opened, children) = open(place, out)?;
            levels.push((children.iter(), opened));
            is_first = true;
        } else {
            for _ in 0..*opened {
                out.write_all(b"]}").map_err(ExportError::Output)?;
            }
            levels.pop();
            is_first = false;
        }
    }
    Ok(out.write_all(b"]\n").map_err(ExportError::Output)?)
}

/// Writes the entries of a segment, each the only child of the one before.
fn open_segment(
    walk: &mut OutlineReader<'_>,
    outline: &Outline,
    place: usize,
    out: &mut dyn Write,
) -> Result<u64> {
    let mut opened = 0;
    walk.begin(place);
    while let Some(entry) = walk.next_entry()? {
        let mut records = Vec::new();
        for ordinal in outline.records(entry.ordinal) {
            records.push(TreeRecord { ordinal, id: walk.id(Ordinal::new(ordinal))? });
        }
        let id = match records.first() {
            Some(first) => first.id.clone(),
            None => walk.id(Ordinal::new(entry.ordinal))?,
        };
        let label = outline.label(entry.ordinal).map(str::to_owned);
        let node = TreeNode { id, label, records, ..TreeNode::of(&entry) };
        open_node(&node, outline.leaf() == Some(entry.ordinal), out)
            .map_err(ExportError::Output)?;
        opened += 1;
    }
    Ok(opened)
}

/// Writes a node up to and including the bracket that opens its children.
fn open_node(node: &TreeNode, is_leaf: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let mut object = Map::new();
    if let Some(id) = &node.id {
        object.insert("id".into(), id.clone().into());
    }
    object.insert("ordinal".into(), node.ordinal.into());
    object.insert("type".into(), node.kind.name().into());
    if node.role != MessageRole::None {
        object.insert("role".into(), node.role.name().into());
    }
    if let Some(time) = node.timestamp {
        object.insert("timestamp".into(), leafline_import::time::format_timestamp(time).into());
    }
    if let Some(label) = &node.label {
        object.insert("label".into(), label.clone().into());
    }
    for (name, holds) in [
        ("leaf", is_leaf),
        ("orphan", node.is_orphan),
        ("sidechain", node.is_sidechain),
        ("fork", node.is_fork),
        ("branch", node.is_branch),
    ] {
        if holds {
            object.insert(name.into(), true.into());
        }
    }
    if !node.records.is_empty() {
        let records = node.records.iter().map(record).collect();
        object.insert("records".into(), Value::Array(records));
    }
    let mut text = serde_json::to_vec(&object)?;
    text.pop();
    out.write_all(&text)?;
    out.write_all(b",\"children\":[")
}

fn record(record: &TreeRecord) -> Value {
    let mut object = Map::new();
    if let Some(id) = &record.id {
        object.insert("id".into(), id.clone().into());
    }
    object.insert("ordinal".into(), record.ordinal.into());
    Value::Object(object)
}
