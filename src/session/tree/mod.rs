//! The whole tree of a session, without the text of its lines.

mod fold;
mod forks;
mod json;

use leafline_import::{EntryKind, Family, MessageRole};

use super::index::reading::read_line;
use super::reader::{SessionReader, is_entry};
use crate::error::Result;
use crate::store::node::Parent;

/// A session's tree. Nodes are named by their place in [`Tree::nodes`].
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
    /// Whether it is part of an agent's conversation beside the session's own (Claude Code).
    pub is_sidechain: bool,
    /// Whether the conversation branches here: see [`Tree::forks`].
    pub is_fork: bool,
    /// Whether a branch begins with it: its parent is a fork, and it is one of the ways on from there.
    pub is_branch: bool,
    /// The records of a message that were folded into one node, in the order of the file, where there are several; else
    /// empty. See [`SessionReader::get_folded_tree`].
    pub records: Vec<TreeRecord>,
    /// Its parent's place.
    pub parent: Option<usize>,
    /// Its children's places: oldest timestamp first, those without one before all, equal ones in the order
    /// of the file. Of Claude Code's sessions all in the order of the file.
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

    /// The nodes at which the conversation branches, by their places, in the order of the file.
    ///
    /// Of pi, omp and Opal every entry with several children is one. In a session of Claude Code most of those are tools at
    /// work; there it is one whose children lead to different prompts of the user, as
    /// [`forks`](leafline_import::claude::forks) finds them. Its other children are part of what goes on ahead of the
    /// fork; [`TreeNode::is_branch`] tells them apart.
    pub fn forks(&self) -> impl Iterator<Item = usize> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.is_fork).map(|(place, _)| place)
    }

    /// Branches of the conversation: one for each root, and one for each way on from a fork but the first. Of the roots in
    /// a session of Claude Code only those count that are prompts or lead to one, and are neither compact boundaries, where
    /// a conversation goes on, nor on a sidechain; where there are none it is one branch.
    pub fn branches(&self) -> u64 {
        self.branches
    }

    /// Entries that hang in a loop of parents, or below one: no root leads to them.
    pub fn unreachable(&self) -> u64 {
        self.unreachable
    }
}

impl SessionReader {
    /// The whole tree, in memory: some 280 bytes an entry.
    ///
    /// Siblings are in the order of their timestamps, as pi's `getTree` has them, roots in the order of the
    /// file. Siblings of Claude Code's sessions are in the order of the file. Entries of a loop have no root above them, and
    /// are counted only.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) where the store is damaged.
    pub fn get_tree(&self) -> Result<Tree> {
        let (mut tree, copies) = self.read_tree()?;
        tree.find_forks(self.family(), &copies);
        Ok(tree)
    }

    /// The tree with the records of each message of the API as one node, at the place of the first of them. The assistant's
    /// lines are read for it, since only they tell of which message they are.
    ///
    /// Only Claude Code writes a message in several records. A session of another family has nothing to fold: its tree is
    /// that of [`Self::get_tree`].
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/claude/projects/-home-robin-work-tide-clock/5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl");
    /// # store.import(&[file], &leafline::ImportOptions::default(), &mut ())?;
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
    /// [`Error::Corrupted`](crate::Error::Corrupted) where the store is damaged.
    pub fn get_folded_tree(&self) -> Result<Tree> {
        if self.family() != Family::Claude {
            return self.get_tree();
        }
        let (tree, copies) = self.read_tree()?;
        let messages = self.message_ids(&tree)?;
        let (mut tree, copies) = fold::fold(tree, &copies, &messages);
        tree.find_forks(Family::Claude, &copies);
        Ok(tree)
    }

    /// The tree without its forks, and for each node the one that answers look-ups of its id.
    fn read_tree(&self) -> Result<(Tree, Vec<usize>)> {
        let order = self.order();
        let mut tree = Tree::default();
        let mut entries = Vec::new();
        let mut first = 0;
        while first < order.lines() {
            let nodes = self.snapshot().nodes_at(self.key(), first)?;
            for (ordinal, node) in (first..).zip(nodes.iter()) {
                if !is_entry(node) {
                    continue;
                }
                order.check(ordinal, node)?;
                entries.push(*node);
                tree.nodes.push(TreeNode {
                    ordinal,
                    id: None,
                    kind: EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown),
                    role: MessageRole::from_code(node.role).unwrap_or(MessageRole::None),
                    timestamp: node.time,
                    label: None,
                    is_orphan: node.parent == Parent::Orphan,
                    is_sidechain: node.is_sidechain,
                    is_fork: false,
                    is_branch: false,
                    records: Vec::new(),
                    parent: None,
                    children: Vec::new(),
                });
            }
            first += nodes.len() as u64;
        }
        let copies = self.name_nodes(&mut tree)?;
        let place = |ordinal: u64| {
            let no_entry = || order.damage(ordinal, format!("line {ordinal} is no entry"));
            place_of(&tree.nodes, ordinal).ok_or_else(no_entry)
        };
        let leaf = self.leaf_ordinal()?.map(place).transpose()?;
        let mut parents = Vec::with_capacity(entries.len());
        for (node, read) in tree.nodes.iter().zip(&entries) {
            let parent = read.parent.ordinal().map(place).transpose()?;
            if let Some(above) = parent.and_then(|parent| entries.get(parent)) {
                order.check_parent(node.ordinal, read, above)?;
            }
            parents.push(parent);
        }
        tree.leaf = leaf;
        tree.hang(&parents);
        if self.family() != Family::Claude {
            tree.sort_by_time();
        }
        tree.unreachable = tree.nodes.len() as u64 - tree.reachable();
        Ok((tree, copies))
    }

    /// Fills in the ids and labels. Answers, for each node, the place of the one that answers look-ups of its id.
    fn name_nodes(&self, tree: &mut Tree) -> Result<Vec<usize>> {
        let key = self.key();
        let mut copies: Vec<usize> = (0..tree.nodes.len()).collect();
        for row in self.snapshot().entries()?.range((key, &b""[..])..(key + 1, &b""[..]))? {
            let (id, record) = row?;
            let record = crate::store::entry_record::EntryRecord::from_bytes(record.value())?;
            let ordinal = record.ordinal;
            let place = place_of(&tree.nodes, ordinal);
            let Some(node) = place.and_then(|place| tree.nodes.get_mut(place)) else {
                let problem = format!("line {ordinal} has an id, and is no entry");
                return Err(self.order().damage(ordinal, problem));
            };
            node.id = Some(String::from_utf8_lossy(id.value().1).into_owned());
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
            let line = self.snapshot().line(key, ordinal, None)?;
            // Nothing that was cut out of the line is an id.
            let id = read_line(self.reading(), line.text(), |line| {
                line.id().map(std::borrow::Cow::into_owned)
            });
            let Some(id) = id else { continue };
            let later = self.snapshot().entry(key, &id)?;
            if let Some(later) = later.and_then(|later| place_of(&tree.nodes, later.ordinal))
                && let Some(copy) = copies.get_mut(place)
            {
                *copy = later;
            }
            if let Some(node) = tree.nodes.get_mut(place) {
                node.id = Some(String::from_utf8_lossy(&id).into_owned());
            }
        }
        Ok(copies)
    }
}

impl Tree {
    /// Hangs each node on its parent's place, in the order of the file.
    fn hang(&mut self, parents: &[Option<usize>]) {
        for (place, &parent) in parents.iter().enumerate() {
            match parent {
                Some(parent) => {
                    if let Some(node) = self.nodes.get_mut(place) {
                        node.parent = Some(parent);
                    }
                    if let Some(node) = self.nodes.get_mut(parent) {
                        node.children.push(place);
                    }
                }
                None => self.roots.push(place),
            }
        }
    }

    fn sort_by_time(&mut self) {
        let times: Vec<_> = self.nodes.iter().map(|node| node.timestamp).collect();
        for node in &mut self.nodes {
            node.children.sort_by_key(|&child| times.get(child).copied().flatten());
        }
    }

    /// How many nodes the roots lead to.
    fn reachable(&self) -> u64 {
        let mut count = 0;
        let mut waiting = self.roots.clone();
        while let Some(place) = waiting.pop() {
            count += 1;
            waiting.extend(self.nodes.get(place).into_iter().flat_map(|node| &node.children));
        }
        count
    }
}

fn place_of(nodes: &[TreeNode], ordinal: u64) -> Option<usize> {
    nodes.binary_search_by_key(&ordinal, |node| node.ordinal).ok()
}
