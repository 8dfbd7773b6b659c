//! Which entry of an imported session is its leaf, by the rule of its family.

use leafline_import::claude::{
    self, Boundary, LeafEntry, LeafFacts, LeafLookup, LeafPointer, LeafSource,
};
use leafline_import::opal::{CurrentId, last_of_longest_path};
use leafline_import::{EntryKind, Family};

use super::super::order::Order;
use super::super::reader::is_entry;
use super::nodes::Ancestor;
use crate::error::{Error, Result};
use crate::store::pointer_record::{PointerKind, PointerRecord};
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;

/// What a file's header says of the leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum LeafHint {
    /// Nothing: the family's rule decides.
    #[default]
    None,
    /// Opal's `current_id`.
    Opal(CurrentId),
}

/// A session's lines, to look up in.
pub(crate) trait LeafSourceLines {
    /// The last entry with an id.
    fn find(&mut self, id: &[u8]) -> Result<Option<u64>>;

    /// The node of a line, which must be there.
    fn node(&mut self, ordinal: u64) -> Result<Ancestor>;
}

/// A session as it is committed.
pub(crate) struct Committed<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) order: Order,
}

impl LeafSourceLines for Committed<'_> {
    fn find(&mut self, id: &[u8]) -> Result<Option<u64>> {
        Ok(self.snapshot.entry(self.order.session(), id)?.map(|record| record.ordinal))
    }

    fn node(&mut self, ordinal: u64) -> Result<Ancestor> {
        let node = self.order.line(self.snapshot, ordinal)?;
        if is_entry(&node) {
            self.order.check(ordinal, &node)?;
        }
        Ok(Ancestor::from(&node))
    }
}

/// The leaf of a session whose lines and pointers are all known; `last` is its last entry. A title is set that only the
/// rule of the leaf can tell.
pub(crate) fn decide(
    lines: &mut impl LeafSourceLines,
    record: &SessionRecord,
    pointers: &[(u64, PointerRecord)],
    hint: &LeafHint,
    last: Option<u64>,
) -> Result<Decided> {
    match record.known_family() {
        Family::Claude => {
            let facts = leaf_facts(record, pointers);
            let mut lookup = Lookup(lines);
            let leaf = claude::leaf(&mut lookup, &facts)?.map(|(leaf, _)| leaf);
            Ok(Decided { leaf, summary: summary_text(&mut lookup, &facts, pointers)? })
        }
        Family::Opal => {
            let current = match hint {
                LeafHint::Opal(CurrentId::Null) => return Ok(Decided::default()),
                LeafHint::Opal(CurrentId::Id(id)) => lines.find(id)?,
                LeafHint::Opal(CurrentId::Absent) | LeafHint::None => None,
            };
            let leaf = match current {
                Some(current) => Some(current),
                None => longest(lines, record)?,
            };
            Ok(Decided { leaf, summary: None })
        }
        _ => Ok(Decided { leaf: last, summary: None }),
    }
}

/// The text of the summary that describes the session, where it has one.
pub(crate) fn summary(
    lines: &mut impl LeafSourceLines,
    record: &SessionRecord,
    pointers: &[(u64, PointerRecord)],
) -> Result<Option<String>> {
    if record.known_family() != Family::Claude {
        return Ok(None);
    }
    summary_text(&mut Lookup(lines), &leaf_facts(record, pointers), pointers)
}

fn summary_text<L: LeafSourceLines>(
    lookup: &mut Lookup<'_, L>,
    facts: &LeafFacts,
    pointers: &[(u64, PointerRecord)],
) -> Result<Option<String>> {
    let summary = claude::summary(lookup, facts)?;
    Ok(summary.and_then(|index| facts.pointers.get(index)).and_then(|named| {
        let at = pointers.binary_search_by_key(&named.place, |(ordinal, _)| *ordinal).ok()?;
        pointers.get(at)?.1.text.clone()
    }))
}

/// What the lines of a session decide together.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    pub(crate) leaf: Option<u64>,
    /// The text of the summary that describes the session.
    pub(crate) summary: Option<String>,
}

fn leaf_facts(record: &SessionRecord, pointers: &[(u64, PointerRecord)]) -> LeafFacts {
    let mut facts = LeafFacts {
        last_message: record.last_message,
        last_sidechain_message: record.last_sidechain_message,
        end: record.lines,
        parents_first: !record.irregular,
        ..LeafFacts::default()
    };
    for (ordinal, pointer) in pointers {
        let source = match pointer.kind {
            PointerKind::Summary => LeafSource::Summary,
            PointerKind::LastPrompt => LeafSource::LastPrompt,
            PointerKind::Boundary => {
                facts.boundaries.push(Boundary {
                    place: *ordinal,
                    logical_parent: pointer.target.clone(),
                    message_before: pointer.message_before,
                });
                continue;
            }
        };
        let uuid = pointer.target.clone().unwrap_or_default();
        facts.pointers.push(LeafPointer { source, place: *ordinal, uuid });
    }
    facts
}

struct Lookup<'l, L>(&'l mut L);

impl<L: LeafSourceLines> LeafLookup for Lookup<'_, L> {
    type Error = Error;

    fn find(&mut self, uuid: &[u8]) -> Result<Option<u64>> {
        self.0.find(uuid)
    }

    fn entry(&mut self, place: u64) -> Result<Option<LeafEntry>> {
        let node = self.0.node(place)?;
        let kind = EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown);
        Ok(kind.is_entry().then(|| LeafEntry {
            parent: node.parent().filter(|&parent| parent != place),
            is_message: kind == EntryKind::Message,
            is_sidechain: node.is_sidechain,
        }))
    }
}

/// The last message of the longest path; of several the one that stands last. Depths of a regular session are exact.
fn longest(lines: &mut impl LeafSourceLines, record: &SessionRecord) -> Result<Option<u64>> {
    let mut longest = None;
    let mut all = Vec::new();
    for ordinal in 0..record.lines {
        let node = lines.node(ordinal)?;
        if !EntryKind::from_code(node.kind).is_some_and(EntryKind::is_entry) {
            continue;
        }
        if record.irregular {
            all.push((ordinal, node.parent()));
        } else {
            longest = longest.max(Some((node.depth, ordinal)));
        }
    }
    if record.irregular {
        return Ok(last_of_longest_path(all));
    }
    Ok(longest.map(|(_, ordinal)| ordinal))
}
