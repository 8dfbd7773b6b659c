//! Which entry the conversation has come to.

use std::collections::HashMap;

use crate::claude::kind::RecordKind;
use crate::claude::node::Node;
use crate::claude::tree::SessionTree;
use crate::claude::uuid_key::UuidKey;

/// What showed the leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeafSource {
    /// The `leafUuid` of a `summary` (document).
    Summary,
    /// The `leafUuid` of a `last-prompt` (observed).
    LastPrompt,
    /// It is the last entry of the conversation (observed).
    LastEntry,
}

/// The leaf of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The entry, by its number in the [`SessionTree`].
    pub entry: usize,
    /// The line it stands on, as it was given to [`LeafFinder::observe`].
    pub line: u64,
    /// What showed it.
    pub source: LeafSource,
}

/// Finds the leaf of a session from its records in the order of the file.
///
/// 1. What counts is the conversation that the file is of: the entries on no sidechain; in an agent's file, whose
///    messages are all on one, those on it. A *message* is a `user` or `assistant` record of it.
/// 2. The last `summary` whose `leafUuid` names such an entry of this file names the leaf (document), if it is not out
///    of date. Summaries mostly name entries of other files; those say nothing (observed).
/// 3. Else the last `last-prompt` does, in the same way (observed).
/// 4. Else it is the last such entry of the file that is a message, or has one above it by `parentUuid` (observed).
///
/// A summary or last-prompt is *out of date* (ours)
///
/// - if a message hangs below the entry that it names: the document's leaf is the tip of its thread, and this one is the
///   tip no more. A compact boundary hangs on its logical parent here; where that is not in the file, on the last
///   message ahead of the boundary, on whatever branch.
/// - if it stands below the entry that it names, and a message stands below it: it was written when the conversation
///   had come to that entry, and the conversation went on, there or elsewhere. One that stands above its entry, as the
///   document has it on the first line, does not tell when it was written; so it holds against later branches.
///
/// An older summary never takes the place of the last one: what that says of the leaf is older still.
///
/// Memory is that of the [`SessionTree`], and a few dozen bytes for each summary and last-prompt.
///
/// ```
/// use leafline_import::claude::{LeafFinder, LeafSource, Node, Scanner};
///
/// let mut finder = LeafFinder::new();
/// let mut scanner = Scanner::new();
/// for (line, text) in (0..).zip([
///     r#"{"type":"summary","summary":"The first attempt","leafUuid":"b"}"#,
///     r#"{"type":"user","uuid":"a","parentUuid":null}"#,
///     r#"{"type":"assistant","uuid":"b","parentUuid":"a"}"#,
///     r#"{"type":"assistant","uuid":"c","parentUuid":"a"}"#,
/// ]) {
///     finder.observe(line, &Node::of(&scanner.scan(text)));
/// }
/// let leaf = finder.leaf().expect("there are messages");
/// assert_eq!((leaf.line, leaf.source), (2, LeafSource::Summary));
/// ```
#[derive(Debug, Clone, Default)]
pub struct LeafFinder {
    tree: SessionTree,
    pointers: Vec<Pointer>,
    last_message: Option<usize>,
    /// For each compact boundary, the last message ahead of it.
    before_boundaries: HashMap<usize, usize>,
}

/// A record that names the leaf.
#[derive(Debug, Clone, Copy)]
struct Pointer {
    source: LeafSource,
    line: u64,
    leaf: UuidKey,
    /// How many entries stand above it.
    entries_above: usize,
}

impl LeafFinder {
    /// Nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of the next record of the file, which stands on line `line`; a line may hold several.
    pub fn observe(&mut self, line: u64, node: &Node<'_>) {
        let source = match node.kind {
            RecordKind::Summary => Some(LeafSource::Summary),
            RecordKind::LastPrompt => Some(LeafSource::LastPrompt),
            _ => None,
        };
        if let Some((source, leaf)) = source.zip(node.leaf_uuid.as_deref()) {
            let (leaf, entries_above) = (UuidKey::of(leaf), self.tree.len());
            self.pointers.push(Pointer { source, line, leaf, entries_above });
        }
        let Some(entry) = self.tree.add(line, node) else { return };
        if let Some(before) = self.last_message.filter(|_| node.is_compact_boundary) {
            self.before_boundaries.insert(entry, before);
        }
        if node.kind.is_message() && !node.is_sidechain {
            self.last_message = Some(entry);
        }
    }

    /// The leaf by what was observed; `None` where there is no message. More may be observed after it was asked for.
    ///
    /// Time grows with the number of entries.
    #[must_use]
    pub fn leaf(&self) -> Option<Leaf> {
        let is_main = self.tree.is_main();
        let named = [LeafSource::Summary, LeafSource::LastPrompt].into_iter().find_map(|source| {
            let (pointer, entry) = self.last_pointer(source, &is_main)?;
            (!self.is_out_of_date(pointer, entry, &is_main)).then_some((entry, source))
        });
        let last = || Some((self.last_entry(&is_main)?, LeafSource::LastEntry));
        let (entry, source) = named.or_else(last)?;
        Some(Leaf { entry, line: self.tree.line(entry), source })
    }

    /// The line of the last summary that is about this file's conversation: one that names an entry of this file, out of
    /// date or not. Its text describes the session, where no title does.
    #[must_use]
    pub fn summary_line(&self) -> Option<u64> {
        let is_main = self.tree.is_main();
        Some(self.last_pointer(LeafSource::Summary, &is_main)?.0.line)
    }

    /// The tree of the entries that were observed.
    #[must_use]
    pub fn tree(&self) -> &SessionTree {
        &self.tree
    }

    /// The tree alone, once the leaf is known.
    #[must_use]
    pub fn into_tree(self) -> SessionTree {
        self.tree
    }

    fn last_pointer(
        &self,
        source: LeafSource,
        is_main: &impl Fn(usize) -> bool,
    ) -> Option<(&Pointer, usize)> {
        let of_source = self.pointers.iter().rev().filter(|pointer| pointer.source == source);
        of_source
            .filter_map(|pointer| Some((pointer, self.tree.find_key(pointer.leaf)?)))
            .find(|&(_, entry)| is_main(entry))
    }

    fn is_out_of_date(
        &self,
        pointer: &Pointer,
        named: usize,
        is_main: &impl Fn(usize) -> bool,
    ) -> bool {
        let is_message = |entry: usize| is_main(entry) && self.is_message(entry);
        let went_on = named < pointer.entries_above
            && (pointer.entries_above..self.tree.len()).any(is_message);
        went_on || self.has_message_below(named, is_message)
    }

    fn is_message(&self, entry: usize) -> bool {
        self.tree.entry(entry).is_some_and(|entry| entry.kind.is_message())
    }

    fn has_message_below(&self, named: usize, is_message: impl Fn(usize) -> bool) -> bool {
        // Climbing stops where an earlier climb has been: that one did not come to the entry.
        let mut climbed = vec![false; self.tree.len()];
        (0..self.tree.len()).filter(|&entry| entry != named && is_message(entry)).any(|entry| {
            let mut above = Some(entry);
            while let Some(entry) = above
                && entry != named
            {
                if std::mem::replace(&mut climbed[entry], true) {
                    return false;
                }
                above = self.came_from(entry);
            }
            above.is_some()
        })
    }

    /// The entry that an entry goes on from, over compact boundaries.
    fn came_from(&self, entry: usize) -> Option<usize> {
        let parent = self.tree.parent_entry(entry);
        parent
            .or_else(|| self.tree.logical_entry(entry))
            .or_else(|| self.before_boundaries.get(&entry).copied())
    }

    fn last_entry(&self, is_main: &impl Fn(usize) -> bool) -> Option<usize> {
        let mut climbed = vec![false; self.tree.len()];
        (0..self.tree.len()).rev().filter(|&entry| is_main(entry)).find(|&entry| {
            let mut above = Some(entry);
            while let Some(entry) = above {
                if is_main(entry) && self.is_message(entry) {
                    return true;
                }
                if std::mem::replace(&mut climbed[entry], true) {
                    return false;
                }
                above = self.tree.parent_entry(entry);
            }
            false
        })
    }
}

#[cfg(test)]
mod tests;
