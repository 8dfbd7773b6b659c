//! A tree as JSON: a record a line, each after its parent.

use std::io::Write;

use leafline_import::{MessageRole, ecma};

use super::outline::Outline;
use super::walk::OutlineReader;
use super::{Tree, TreeNode, TreeRecord};
use crate::error::{ExportError, Result};
use crate::session::SessionReader;
use crate::store::ordinal::Ordinal;

impl Tree {
    /// Writes the tree as [`SessionReader::write_tree`] does.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`] of the writer.
    pub fn write_json(&self, out: &mut dyn Write) -> Result<()> {
        let mut line = Vec::new();
        each(&self.roots, |place, above| {
            let Some(node) = self.nodes.get(place) else { return Ok((above.clone(), &[][..])) };
            write_node(node, above, self.leaf == Some(place), (&mut line, out))?;
            Ok((above.below(node.id.clone()), node.children.as_slice()))
        })
    }
}

impl SessionReader {
    /// Writes the tree of an [`Outline`] of this session, however deep: a JSON object a line,
    /// `{"id","parent","depth","ordinal","type","role","timestamp","label","leaf","orphan","sidechain","fork","branch","records"}`,
    /// each after its parent, and after its elder siblings with all that hangs on them. `parent` is the parent's id and
    /// null for a root, `depth` the number of entries above. Other members without a value, and those that are false, are
    /// left out. `fork` marks where the conversation branches, `branch` each child with which a branch begins; `records`
    /// has the `id` and `ordinal` of those that were folded into the node.
    ///
    /// The ids take some 12 bytes an entry, or 44 where they are UUIDs. If that is more than 64 MiB, the entries are read
    /// for them while writing.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`] of the writer; [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn write_tree(&self, outline: &Outline, out: &mut dyn Write) -> Result<()> {
        let mut walk = self.read_outline(outline);
        let mut line = Vec::new();
        each(outline.roots(), |place, above| {
            let last = write_segment(&mut walk, (outline, place), above, (&mut line, out))?;
            Ok((last, outline.children(place)))
        })
    }
}

/// What a node hangs on.
#[derive(Debug, Clone, Default)]
struct Above {
    /// The id of the node above.
    parent: Option<String>,
    /// How many are above.
    depth: u64,
}

impl Above {
    /// What the children of the node hang on that hangs on this, and has this id.
    fn below(&self, id: Option<String>) -> Self {
        Self { parent: id, depth: self.depth + 1 }
    }
}

/// Goes through a tree, each node before its children. `write` writes one, or several with one child each; it returns
/// what the children of the last hang on, and those children.
fn each<'t>(
    roots: &'t [usize],
    mut write: impl FnMut(usize, &Above) -> Result<(Above, &'t [usize])>,
) -> Result<()> {
    // Each level: the children still to be written.
    let mut levels = vec![(roots.iter(), Above::default())];
    while let Some((level, above)) = levels.last_mut() {
        match level.next() {
            Some(&place) => {
                let (below, children) = write(place, above)?;
                if !children.is_empty() {
                    levels.push((children.iter(), below));
                }
            }
            None => drop(levels.pop()),
        }
    }
    Ok(())
}

/// Writes the entries of a segment, each the only child of the one before.
fn write_segment(
    walk: &mut OutlineReader<'_>,
    (outline, place): (&Outline, usize),
    above: &Above,
    (line, out): (&mut Vec<u8>, &mut dyn Write),
) -> Result<Above> {
    let mut above = above.clone();
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
        write_node(&node, &above, outline.leaf() == Some(entry.ordinal), (line, out))?;
        above = above.below(node.id);
    }
    Ok(above)
}

/// Writes a node's line, made in `line`.
fn write_node(
    node: &TreeNode,
    above: &Above,
    is_leaf: bool,
    (line, out): (&mut Vec<u8>, &mut dyn Write),
) -> Result<()> {
    line.clear();
    line.push(b'{');
    if let Some(id) = &node.id {
        text_member("id", id, line);
    }
    match &above.parent {
        Some(parent) => text_member("parent", parent, line),
        None => member("parent", b"null", line),
    }
    member("depth", above.depth.to_string().as_bytes(), line);
    member("ordinal", node.ordinal.to_string().as_bytes(), line);
    text_member("type", node.kind.name(), line);
    if node.role != MessageRole::None {
        text_member("role", node.role.name(), line);
    }
    if let Some(time) = node.timestamp {
        text_member("timestamp", &leafline_import::time::format_timestamp(time), line);
    }
    if let Some(label) = &node.label {
        text_member("label", label, line);
    }
    for (name, holds) in [
        ("leaf", is_leaf),
        ("orphan", node.is_orphan),
        ("sidechain", node.is_sidechain),
        ("fork", node.is_fork),
        ("branch", node.is_branch),
    ] {
        if holds {
            member(name, b"true", line);
        }
    }
    if !node.records.is_empty() {
        member("records", b"[", line);
        for (place, record) in node.records.iter().enumerate() {
            line.extend_from_slice(if place > 0 { b",{" } else { b"{" });
            if let Some(id) = &record.id {
                text_member("id", id, line);
            }
            member("ordinal", record.ordinal.to_string().as_bytes(), line);
            line.push(b'}');
        }
        line.push(b']');
    }
    line.extend_from_slice(b"}\n");
    Ok(out.write_all(line).map_err(ExportError::Output)?)
}

/// Appends a member whose value is JSON.
fn member(name: &str, json: &[u8], line: &mut Vec<u8>) {
    if line.last() != Some(&b'{') {
        line.push(b',');
    }
    line.push(b'"');
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":");
    line.extend_from_slice(json);
}

/// Appends a member whose value is a text.
fn text_member(name: &str, value: &str, line: &mut Vec<u8>) {
    member(name, b"", line);
    ecma::write_string(value.as_bytes(), line);
}
