//! Records of one message as one node.

use std::collections::HashMap;

use leafline_import::text;

use super::super::index::reading::{LineReader, LineScan};
use super::super::reader::SessionReader;
use super::{Tree, TreeNode, TreeRecord};
use crate::error::Result;
use leafline_import::{EntryKind, MessageRole};

/// A step of a walk down a tree.
enum Step {
    /// Into a node.
    Into(usize),
    /// Out of the topmost record of a message.
    OutOf(u32),
}

/// Puts the records of each message together, given a number that stands for its id at each node that has one. Answers
/// the new tree, and for each of its nodes the one that answers look-ups of its id.
///
/// Records are put together where one hangs below the other, with whatever stands between them, and where they hang on
/// one parent. So no node comes to hang below itself, which it might if an id were met again on another branch.
pub(super) fn fold(
    mut tree: Tree,
    copies: &[usize],
    messages: &[Option<u32>],
) -> (Tree, Vec<usize>) {
    let tops = tops(&tree, messages);
    // The first record of each message, by the message and the parent of the topmost one.
    let mut firsts: HashMap<(u32, Option<usize>), usize> = HashMap::new();
    let mut places = Vec::with_capacity(tree.nodes.len());
    let mut parents = Vec::new();
    let mut nodes: Vec<TreeNode> = Vec::new();
    let old = std::mem::take(&mut tree.nodes);
    let parent_of = |place: usize| old.get(place).and_then(|node| node.parent);
    for (place, node) in old.iter().enumerate() {
        let reached = tops.get(place).copied().flatten();
        let top = reached.unwrap_or(place);
        let parent = parent_of(top);
        let message = messages.get(place).copied().flatten().filter(|_| reached.is_some());
        let next = nodes.len();
        let folded = match message {
            Some(message) => *firsts.entry((message, parent)).or_insert(next),
            None => next,
        };
        places.push(folded);
        let record = TreeRecord { ordinal: node.ordinal, id: node.id.clone() };
        match nodes.get_mut(folded) {
            Some(known) => known.records.push(record),
            None => {
                parents.push(parent);
                let is_orphan = old.get(top).is_some_and(|top| top.is_orphan);
                let node =
                    TreeNode { children: Vec::new(), parent: None, is_orphan, ..node.clone() };
                nodes.push(TreeNode { records: vec![record], ..node });
            }
        }
    }
    for node in &mut nodes {
        if node.records.len() == 1 {
            node.records = Vec::new();
        }
    }
    let new_place = |place: usize| places.get(place).copied();
    let mut folded = Tree {
        nodes,
        leaf: tree.leaf.and_then(new_place),
        unreachable: tree.unreachable,
        ..Tree::default()
    };
    let parents: Vec<_> = parents.into_iter().map(|parent| parent.and_then(new_place)).collect();
    folded.hang(&parents);
    let mut new_copies: Vec<usize> = (0..folded.nodes.len()).collect();
    for (place, &copy) in copies.iter().enumerate() {
        if let (Some(place), Some(copy)) = (new_place(place), new_place(copy))
            && let Some(known) = new_copies.get_mut(place)
            && place != copy
        {
            *known = copy;
        }
    }
    (folded, new_copies)
}

/// For each node the topmost one on its path that is a record of the same message, itself where there is none; `None`
/// where no root leads.
fn tops(tree: &Tree, messages: &[Option<u32>]) -> Vec<Option<usize>> {
    let mut tops = vec![None; tree.nodes.len()];
    // The topmost record of each message on the path at hand.
    let mut above: HashMap<u32, usize> = HashMap::new();
    let mut steps: Vec<Step> = tree.roots.iter().rev().map(|&root| Step::Into(root)).collect();
    while let Some(step) = steps.pop() {
        let place = match step {
            Step::OutOf(message) => {
                above.remove(&message);
                continue;
            }
            Step::Into(place) => place,
        };
        let mut top = place;
        if let Some(message) = messages.get(place).copied().flatten() {
            top = *above.entry(message).or_insert(place);
            if top == place {
                steps.push(Step::OutOf(message));
            }
        }
        if let Some(known) = tops.get_mut(place) {
            *known = Some(top);
        }
        let children = tree.nodes.get(place).map(|node| node.children.as_slice());
        steps.extend(children.unwrap_or_default().iter().map(|&child| Step::Into(child)));
    }
    tops
}

impl SessionReader {
    /// A number for the message of the API at each node that is a record of one.
    pub(super) fn message_ids(&self, tree: &Tree) -> Result<Vec<Option<u32>>> {
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut ids = Vec::with_capacity(tree.nodes.len());
        let mut lines = LineReader::new(self.reading());
        let mut cursor = self.cursor(0);
        for node in &tree.nodes {
            let is_part = node.kind == EntryKind::Message && node.role == MessageRole::Assistant;
            if !is_part {
                ids.push(None);
                continue;
            }
            let line = cursor.line(node.ordinal)?;
            // Nothing that was cut out of the line is an id.
            let decoded = text::decode(line.text);
            let read = lines.read(text::trim_start_of_file(&decoded));
            let id = match read.scan() {
                LineScan::Claude(record) => record.message_id(),
                _ => None,
            };
            let next = u32::try_from(numbers.len()).ok();
            ids.push(match id {
                Some(id) => match numbers.get(&*id) {
                    Some(&known) => Some(known),
                    None => next.inspect(|&next| {
                        numbers.insert(id.into_owned(), next);
                    }),
                },
                None => None,
            });
        }
        Ok(ids)
    }
}
