//! A tree as nested JSON.

use std::io::Write;

use leafline_import::MessageRole;
use serde_json::{Map, Value};

use super::{Tree, TreeNode, TreeRecord};
use crate::error::{Error, Result};

impl Tree {
    /// Writes the tree as nested JSON, however deep: an array of
    /// `{"id","ordinal","type","role","timestamp","label","leaf","orphan","sidechain","fork","branch","records","children"}`;
    /// members without a value, and those that are false, are left out. `fork` marks where the conversation branches,
    /// `branch` each child with which a branch begins; `records` has the `id` and `ordinal` of those that were folded into
    /// the node.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] of the writer.
    pub fn write_json(&self, out: &mut dyn Write) -> Result<()> {
        self.nest(out).map_err(Error::Output)
    }

    fn nest(&self, out: &mut dyn Write) -> std::io::Result<()> {
        // Each level: the children that are still to be written. A conversation is as deep as it is long.
        let mut levels = vec![self.roots.iter()];
        let mut first = true;
        out.write_all(b"[")?;
        while let Some(level) = levels.last_mut() {
            let Some(&place) = level.next() else {
                levels.pop();
                out.write_all(if levels.is_empty() { b"]" } else { b"]}" })?;
                first = false;
                continue;
            };
            if !first {
                out.write_all(b",")?;
            }
            let Some(node) = self.nodes.get(place) else {
                continue;
            };
            self.open_node(place, node, out)?;
            levels.push(node.children.iter());
            first = true;
        }
        out.write_all(b"\n")
    }

    /// Writes a node up to and including the bracket that opens its children.
    fn open_node(&self, place: usize, node: &TreeNode, out: &mut dyn Write) -> std::io::Result<()> {
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
            ("leaf", self.leaf == Some(place)),
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
}

fn record(record: &TreeRecord) -> Value {
    let mut object = Map::new();
    if let Some(id) = &record.id {
        object.insert("id".into(), id.clone().into());
    }
    object.insert("ordinal".into(), record.ordinal.into());
    Value::Object(object)
}
