//! Folds the records of one message into one node.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Known;

use leafline_import::{EntryKind, MessageRole};
use xxhash_rust::xxh3::xxh3_128;

use super::super::reader::SessionReader;
use super::outline::Outline;
use super::walk::{NearLines, OutlineEntry};
use crate::error::Result;
use crate::store::node::{Node, Parent};
use crate::store::ordinal::Ordinal;

/// Which records are folded together.
///
/// Records of one message are folded if one is below the other, whatever is between them, and if they have the same
/// parent. So no node becomes its own descendant, which could happen if an id recurred on another branch. A node is at
/// the place of its first record in the file, and below the parent of the topmost one.
#[derive(Debug, Clone, Default)]
pub(super) struct Folds {
    /// The records that are part of an earlier one's node, each with that one; ascending.
    hidden: Vec<(Ordinal, Ordinal)>,
    /// The reverse: nodes with their further records, ascending.
    records: Vec<(Ordinal, Ordinal)>,
    /// The nodes whose first record is not the topmost, each with the topmost one's parent; ascending.
    parents: Vec<(Ordinal, Parent)>,
}

impl Folds {
    /// Whether nothing was folded.
    pub(super) fn is_empty(&self) -> bool {
        self.hidden.is_empty()
    }

    /// Whether a record is part of an earlier one's node.
    pub(super) fn hides(&self, ordinal: Ordinal) -> bool {
        self.node_of(ordinal) != ordinal
    }

    /// The node that a record is part of.
    pub(super) fn node_of(&self, ordinal: Ordinal) -> Ordinal {
        look_up(&self.hidden, ordinal).unwrap_or(ordinal)
    }

    /// The parent in the folded tree of a node whose first record this is.
    pub(super) fn parent(&self, ordinal: Ordinal, node: &Node) -> Parent {
        match look_up(&self.parents, ordinal).unwrap_or(node.parent) {
            Parent::At(parent) => Parent::At(self.node_of(parent)),
            none => none,
        }
    }

    /// The records of a node; none if it is a single record.
    pub(super) fn records(&self, ordinal: Ordinal) -> impl Iterator<Item = Ordinal> {
        let from = self.records.partition_point(|(node, _)| *node < ordinal);
        let to = self.records.partition_point(|(node, _)| *node <= ordinal);
        let further = self.records.get(from..to).unwrap_or_default();
        let first = (!further.is_empty()).then_some(ordinal);
        first.into_iter().chain(further.iter().map(|(_, record)| *record))
    }

    /// The folds of a session with this outline.
    pub(super) fn of(reader: &SessionReader, outline: &Outline) -> Result<Self> {
        let mut together = together(reader, outline)?;
        together.sort_unstable();
        let mut folds = Self::default();
        for group in together.chunk_by(|(top, _), (other, _)| top == other) {
            let Some(&(top, earliest)) = group.first() else { continue };
            let node = top.min(earliest);
            if node != top {
                folds.parents.push((node, reader.view().entry_node(top)?.parent));
                folds.hidden.push((top, node));
            }
            let others = group.iter().map(|(_, record)| *record).filter(|&record| record != node);
            folds.hidden.extend(others.map(|record| (record, node)));
        }
        drop(together);
        folds.hidden.sort_unstable();
        folds.parents.sort_unstable_by_key(|(node, _)| *node);
        folds.records = folds.hidden.iter().map(|&(record, node)| (node, record)).collect();
        folds.records.sort_unstable();
        Ok(folds)
    }
}

fn look_up<T: Copy>(pairs: &[(Ordinal, T)], ordinal: Ordinal) -> Option<T> {
    let place = pairs.binary_search_by_key(&ordinal, |(key, _)| *key).ok()?;
    pairs.get(place).map(|(_, value)| *value)
}

/// An API message, by a hash of its id: 16 bytes for an id of 30.
type Message = [u64; 2];

/// A step of a walk down a tree.
enum Step {
    /// Into a segment.
    Into(usize),
    /// Back out of the descendants of an entry that had this many messages above it.
    OutOf(usize),
}

/// The records to fold: each with the topmost record of its message, which is not listed itself.
fn together(reader: &SessionReader, outline: &Outline) -> Result<Vec<(Ordinal, Ordinal)>> {
    let mut together = Vec::new();
    let mut walk = reader.read_outline(outline);
    let mut lines = NearLines::new(reader);
    // The messages on the current path, and the topmost record of each.
    let mut path: Vec<Message> = Vec::new();
    let mut tops: HashMap<Message, Ordinal> = HashMap::new();
    // The first of the records with one parent, by the message and the parent's segment.
    let mut siblings: HashMap<(Message, Option<usize>), Ordinal> = HashMap::new();
    let mut steps: Vec<Step> = outline.roots().iter().rev().map(|&root| Step::Into(root)).collect();
    while let Some(step) = steps.pop() {
        let place = match step {
            Step::OutOf(above) => {
                while path.len() > above
                    && let Some(message) = path.pop()
                {
                    tops.remove(&message);
                }
                continue;
            }
            Step::Into(place) => place,
        };
        steps.push(Step::OutOf(path.len()));
        let parent = outline.segment(place).and_then(super::Segment::parent);
        let mut is_head = true;
        walk.begin(place);
        while let Some(entry) = walk.next_entry()? {
            let ordinal = Ordinal::new(entry.ordinal);
            if let Some(message) = message_of(&entry, &mut lines)? {
                let top = match tops.entry(message) {
                    Known::Occupied(known) => *known.get(),
                    Known::Vacant(unknown) => {
                        path.push(message);
                        *unknown.insert(match is_head {
                            true => *siblings.entry((message, parent)).or_insert(ordinal),
                            false => ordinal,
                        })
                    }
                };
                if top != ordinal {
                    together.push((top, ordinal));
                }
            }
            is_head = false;
        }
        steps.extend(outline.children(place).iter().rev().map(|&child| Step::Into(child)));
    }
    Ok(together)
}

/// The API message that an entry is a record of.
fn message_of(entry: &OutlineEntry, lines: &mut NearLines<'_>) -> Result<Option<Message>> {
    if entry.kind != EntryKind::Message || entry.role != MessageRole::Assistant {
        return Ok(None);
    }
    lines.read(Ordinal::new(entry.ordinal), |line| {
        line.message_id().map(|id| {
            let hash = xxh3_128(&id).to_le_bytes();
            let (low, high) = hash.split_at(8);
            [low, high]
                .map(|half| half.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
        })
    })
}
