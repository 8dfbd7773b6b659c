//! The tree of a session, without the text of its lines: its outline, which takes little memory, and the whole of it.

mod fold;
mod forks;
mod ids;
mod json;
mod outline;
mod walk;

use leafline_import::{EntryKind, MessageRole};

pub use self::outline::{Outline, Segment};
use self::walk::NearLines;
pub use self::walk::{OutlineEntry, OutlineReader};
use super::reader::SessionReader;
use crate::error::Result;
use crate::store::ordinal::Ordinal;

/// A session's tree. Nodes are named by their index in [`Tree::nodes`].
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<TreeNode>,
    roots: Vec<usize>,
    leaf: Option<usize>,
    unreachable: u64,
    branches: u64,
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
    /// Whether it belongs to an agent's conversation beside the session's own (Claude Code).
    pub is_sidechain: bool,
    /// Whether the conversation branches here: see [`Tree::forks`].
    pub is_fork: bool,
    /// Whether a branch begins with it: its parent is a fork, and a way on from there begins with it.
    pub is_branch: bool,
    /// The records of a message that were folded into one node, in the order of the file, if there are several;
    /// otherwise empty. See [`SessionReader::get_folded_tree`].
    pub records: Vec<TreeRecord>,
    /// Its parent's place.
    pub parent: Option<usize>,
    /// The indices of its children: by timestamp, the oldest first; those without one come before all others, equal
    /// ones are in the order of the file. In Claude Code's sessions all are in the order of the file.
    pub children: Vec<usize>,
}

/// A record that is part of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeRecord {
    /// Its ordinal.
    pub ordinal: u64,
    /// Its id, where it has one.
    pub id: Option<String>,
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

    /// The indices of the nodes at which the conversation branches, in the order of the file.
    ///
    /// In pi, omp and Opal every entry with several children is a fork. In a Claude Code session most of those are
    /// tools at work; there an entry is a fork if its children lead to different prompts of the user, as
    /// [`forks`](leafline_import::forks::forks) finds them. Its other children belong to the conversation before the
    /// fork; [`TreeNode::is_branch`] distinguishes them.
    pub fn forks(&self) -> impl Iterator<Item = usize> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.is_fork).map(|(place, _)| place)
    }

    /// Branches of the conversation: one for each root, and one for each way on from a fork except the first. In a
    /// Claude Code session only those roots count that are or lead to prompts, and are neither compact boundaries,
    /// where a conversation continues, nor on a sidechain; if there are none, it is one branch.
    pub fn branches(&self) -> u64 {
        self.branches
    }

    /// Entries in a loop of parents, or below one: no root leads to them.
    pub fn unreachable(&self) -> u64 {
        self.unreachable
    }
}

impl TreeNode {
    /// The facts of a node in an outline.
    fn of(entry: &OutlineEntry) -> Self {
        Self {
            ordinal: entry.ordinal,
            id: None,
            kind: entry.kind,
            role: entry.role,
            timestamp: entry.timestamp,
            label: None,
            is_orphan: entry.is_orphan,
            is_sidechain: entry.is_sidechain,
            is_fork: entry.is_fork,
            is_branch: entry.is_branch,
            records: Vec::new(),
            parent: None,
            children: Vec::new(),
        }
    }
}

impl SessionReader {
    /// The whole tree, in memory: some 280 bytes per entry, which is 140 MB for a session of 1 GB. To go through the
    /// tree once, from the roots down, use [`Self::get_outline`] and read the entries on the way.
    ///
    /// Siblings are ordered by timestamp, as in pi's `getTree`, roots by their order in the file. Siblings in Claude
    /// Code's sessions are in the order of the file. Entries of a loop have no root above them, and are only counted.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn get_tree(&self) -> Result<Tree> {
        self.tree_of(&self.get_outline()?)
    }

    /// The tree with the records of each API message as one node, at the place of the first of them. The assistant's
    /// lines are read for it, since only they say which message they belong to. It takes as much memory as
    /// [`Self::get_tree`]; [`Self::get_folded_outline`] takes little.
    ///
    /// Only Claude Code writes a message in several records. A session of another family has nothing to fold: its tree is
    /// that of [`Self::get_tree`].
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/claude/projects/-home-robin-work-tide-clock/5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl");
    /// # store.import(&[file], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let reader = store.reader("5b0c7a52")?;
    /// let folded = reader.get_folded_tree()?;
    /// assert_eq!(folded.nodes().len() + 1, reader.get_tree()?.nodes().len());
    /// let message = folded.nodes().iter().find(|node| !node.records.is_empty());
    /// assert_eq!(message.map(|message| message.records.len()), Some(2));
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn get_folded_tree(&self) -> Result<Tree> {
        self.tree_of(&self.get_folded_outline()?)
    }

    /// All nodes of an outline.
    fn tree_of(&self, outline: &Outline) -> Result<Tree> {
        let mut nodes = Vec::new();
        let mut walk = self.read_outline(outline);
        // The indices of each segment's first and last node.
        let mut ends: Vec<(usize, usize)> = Vec::with_capacity(outline.segments().len());
        for place in 0..outline.segments().len() {
            let first = nodes.len();
            walk.begin(place);
            while let Some(entry) = walk.next_entry()? {
                nodes.push(self.node_of(outline, &entry));
            }
            ends.push((first, nodes.len().saturating_sub(1)));
        }
        let first = |&place: &usize| ends.get(place).map(|(first, _)| *first);
        for (place, segment) in outline.segments().iter().enumerate() {
            let Some(&(from, to)) = ends.get(place) else { continue };
            let mut parent = segment.parent().and_then(|parent| ends.get(parent)).map(|end| end.1);
            let row = nodes.get_mut(from..=to).into_iter().flatten();
            for (at, node) in (from..).zip(row) {
                node.parent = parent.replace(at);
                node.children = match at == to {
                    true => outline.children(place).iter().filter_map(first).collect(),
                    false => vec![at + 1],
                };
            }
        }
        let mut tree = Tree {
            nodes,
            roots: outline.roots().iter().filter_map(first).collect(),
            leaf: None,
            unreachable: outline.unreachable(),
            branches: outline.branches(),
        };
        tree.leaf = outline.leaf.and_then(|leaf| tree.place_of(leaf));
        self.name_nodes(outline, &mut tree)?;
        Ok(tree)
    }

    fn node_of(&self, outline: &Outline, entry: &OutlineEntry) -> TreeNode {
        let records = outline.records(entry.ordinal);
        TreeNode {
            label: outline.label(entry.ordinal).map(str::to_owned),
            records: records.map(|ordinal| TreeRecord { ordinal, id: None }).collect(),
            ..TreeNode::of(entry)
        }
    }

    /// Fills in the ids.
    fn name_nodes(&self, outline: &Outline, tree: &mut Tree) -> Result<()> {
        let view = self.view();
        view.rows().each_entry(|id, record| {
            let ordinal = record.ordinal;
            let place = tree.place_of(outline.folds.node_of(ordinal));
            let Some(node) = place.and_then(|place| tree.nodes.get_mut(place)) else {
                let problem = format!("line {ordinal} has an id, but is not an entry");
                return Err(view.order().damage(ordinal, problem));
            };
            node.name(ordinal, &String::from_utf8_lossy(id));
            Ok(())
        })?;
        // Of an id that occurs twice only the later entry has a row: the others' ids are only in their lines.
        let mut lines = NearLines::new(self);
        for node in &mut tree.nodes {
            let records = node.records.iter().filter(|record| record.id.is_none());
            let mut unnamed: Vec<Ordinal> =
                records.map(|record| Ordinal::new(record.ordinal)).collect();
            if node.id.is_none() && node.records.is_empty() {
                unnamed.push(Ordinal::new(node.ordinal));
            }
            for ordinal in unnamed {
                if let Some(id) = lines.id(ordinal)? {
                    node.name(ordinal, &String::from_utf8_lossy(&id));
                }
            }
        }
        Ok(())
    }
}

impl TreeNode {
    /// Notes the id of the node, or of one of its records.
    fn name(&mut self, ordinal: Ordinal, id: &str) {
        let ordinal = ordinal.raw();
        if ordinal == self.ordinal {
            self.id = Some(id.to_owned());
        }
        let place = self.records.binary_search_by_key(&ordinal, |record| record.ordinal);
        if let Some(record) = place.ok().and_then(|place| self.records.get_mut(place)) {
            record.id = Some(id.to_owned());
        }
    }
}

impl Tree {
    fn place_of(&self, ordinal: Ordinal) -> Option<usize> {
        self.nodes.binary_search_by_key(&ordinal.raw(), |node| node.ordinal).ok()
    }
}
