//! The whole tree of a session, without the text of its lines.

use std::io::Write;

use leafline_import::{EntryKind, MessageRole};

use super::reader::{SessionReader, is_entry};
use crate::error::{Error, Result};
use crate::store::node::Parent;

/// A session's tree. Nodes are named by their place in [`Tree::nodes`].
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<TreeNode>,
    roots: Vec<usize>,
    leaf: Option<usize>,
    unreachable: u64,
}

/// One entry in the tree.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TreeNode {
    /// The entry's line number.
    pub ordinal: u64,
    /// Its id, where it has one.
    pub id: Option<String>,
    /// Its kind.
    pub kind: EntryKind,
    /// Whose message it is.
    pub role: MessageRole,
    /// Its timestamp in milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// The label set on it.
    pub label: Option<String>,
    /// Whether it names a parent that the session does not have.
    pub is_orphan: bool,
    /// Its parent's place.
    pub parent: Option<usize>,
    /// Its children's places: oldest timestamp first, those without one before all, equal ones in the order
    /// of the file.
    pub children: Vec<usize>,
}

impl Tree {
    /// All entries in the order of the file.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// A node by its place.
    pub fn node(&self, place: usize) -> Option<&TreeNode> {
        self.nodes.get(place)
    }

    /// Entries without a parent in the session, in the order of the file.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The current leaf.
    pub fn leaf(&self) -> Option<usize> {
        self.leaf
    }

    /// Entries that hang in a loop of parents, or below one: no root leads to them.
    pub fn unreachable(&self) -> u64 {
        self.unreachable
    }

    /// Writes the tree as nested JSON, however deep: an array of
    /// `{"id","ordinal","type","role","timestamp","label","leaf","orphan","children"}`; members without a
    /// value are left out.
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
        let mut object = serde_json::Map::new();
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
        for (name, holds) in [("leaf", self.leaf == Some(place)), ("orphan", node.is_orphan)] {
            if holds {
                object.insert(name.into(), true.into());
            }
        }
        let mut text = serde_json::to_vec(&object)?;
        text.pop();
        out.write_all(&text)?;
        out.write_all(b",\"children\":[")
    }
}

impl SessionReader<'_> {
    /// The whole tree, in memory: some 250 bytes an entry.
    ///
    /// Siblings are in the order of their timestamps, as pi's `getTree` has them, roots in the order of the
    /// file. Entries of a loop have no root above them, and are counted only.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn get_tree(&self) -> Result<Tree> {
        let mut tree = Tree::default();
        let mut parents = Vec::new();
        let mut from = 0;
        while let Some((first, nodes)) = self.snapshot().nodes_from(self.key(), from)? {
            for (ordinal, node) in (first..).zip(nodes.iter()) {
                if !is_entry(node) {
                    continue;
                }
                parents.push(node.parent);
                tree.nodes.push(TreeNode {
                    ordinal,
                    id: None,
                    kind: EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown),
                    role: MessageRole::from_code(node.role).unwrap_or(MessageRole::None),
                    timestamp: node.time,
                    label: None,
                    is_orphan: node.parent == Parent::Orphan,
                    parent: None,
                    children: Vec::new(),
                });
            }
            from = first + nodes.len().max(1) as u64;
        }
        self.name_nodes(&mut tree)?;
        tree.leaf = self.leaf_ordinal()?.and_then(|leaf| place_of(&tree.nodes, leaf));
        for (place, parent) in parents.into_iter().enumerate() {
            let parent = parent.ordinal().and_then(|ordinal| place_of(&tree.nodes, ordinal));
            match parent {
                Some(parent) => {
                    if let Some(node) = tree.nodes.get_mut(place) {
                        node.parent = Some(parent);
                    }
                    if let Some(node) = tree.nodes.get_mut(parent) {
                        node.children.push(place);
                    }
                }
                None => tree.roots.push(place),
            }
        }
        let times: Vec<_> = tree.nodes.iter().map(|node| node.timestamp).collect();
        for node in &mut tree.nodes {
            node.children.sort_by_key(|&child| times.get(child).copied().flatten());
        }
        tree.unreachable = tree.nodes.len() as u64 - reachable(&tree);
        Ok(tree)
    }

    /// Fills in the ids and labels.
    fn name_nodes(&self, tree: &mut Tree) -> Result<()> {
        let key = self.key();
        for row in self.snapshot().entries()?.range((key, &b""[..])..(key + 1, &b""[..]))? {
            let (id, record) = row?;
            let record = crate::store::entry_record::EntryRecord::from_bytes(record.value())?;
            let place = place_of(&tree.nodes, record.ordinal);
            if let Some(node) = place.and_then(|place| tree.nodes.get_mut(place)) {
                node.id = Some(String::from_utf8_lossy(id.value().1).into_owned());
            }
        }
        for (target, label) in self.snapshot().labels_of(key)? {
            let Some(record) = self.snapshot().entry(key, &target)? else {
                continue;
            };
            let place = place_of(&tree.nodes, record.ordinal);
            if let Some(node) = place.and_then(|place| tree.nodes.get_mut(place)) {
                node.label = Some(String::from_utf8_lossy(&label.label).into_owned());
            }
        }
        // Of an id met twice only the later entry has a row: the others' ids stand in their lines.
        let unnamed: Vec<(usize, u64)> = (0..)
            .zip(&tree.nodes)
            .filter(|(_, node)| node.id.is_none())
            .map(|(place, node)| (place, node.ordinal))
            .collect();
        for (place, ordinal) in unnamed {
            let id = self.line(ordinal)?.and_then(|entry| entry.id());
            if let Some(node) = tree.nodes.get_mut(place) {
                node.id = id;
            }
        }
        Ok(())
    }
}

fn place_of(nodes: &[TreeNode], ordinal: u64) -> Option<usize> {
    nodes.binary_search_by_key(&ordinal, |node| node.ordinal).ok()
}

fn reachable(tree: &Tree) -> u64 {
    let mut count = 0;
    let mut waiting = tree.roots.clone();
    while let Some(place) = waiting.pop() {
        count += 1;
        waiting.extend(tree.nodes.get(place).into_iter().flat_map(|node| &node.children));
    }
    count
}
