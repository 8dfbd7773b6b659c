//! Which entry is whose parent.

use std::collections::HashMap;
use std::convert::Infallible;

use crate::claude::kind::RecordKind;
use crate::claude::node::Node;
use crate::claude::path::Lookup;
use crate::claude::record::Parent;
use crate::claude::uuid_key::UuidKey;
use crate::conversation::Link;

/// The entries of a session and their places in its tree, in memory.
///
/// An entry is its number in the order of the file, from 0. The rules:
///
/// - The parent is the entry with the uuid `parentUuid`, anywhere in the file, later lines too (document; later:
///   observed).
/// - Of several entries with one uuid the last is the one that is found, and the parent of those who name it. All stay.
///   (document: its map keeps the last.)
/// - An entry whose parent is not in the file is a root, and an orphan. So is one that is its own parent. (observed)
///
/// Memory is about a hundred bytes an entry, whatever its line is.
///
/// ```
/// use leafline_import::claude::{Lookup, Node, Scanner, SessionTree};
/// use leafline_import::conversation::Link;
///
/// let mut tree = SessionTree::new();
/// let mut scanner = Scanner::new();
/// for (line, text) in (0..).zip([
///     r#"{"type":"assistant","uuid":"b","parentUuid":"a"}"#,
///     r#"{"type":"user","uuid":"a","parentUuid":null}"#,
/// ]) {
///     tree.add(line, &Node::of(&scanner.scan(text)));
/// }
/// assert_eq!(tree.parent(0)?, Link::Entry(1));
/// assert_eq!(tree.roots().collect::<Vec<_>>(), [1]);
/// assert_eq!(tree.find(b"a"), Some(1));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SessionTree {
    entries: Vec<Entry>,
    by_uuid: HashMap<UuidKey, usize>,
    /// Of compact boundaries; hardly any entry is one.
    logical_parents: HashMap<usize, UuidKey>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) line: u64,
    pub(super) uuid: Option<UuidKey>,
    parent: ParentKey,
    pub(super) kind: RecordKind,
    pub(super) is_sidechain: bool,
    pub(super) is_prompt: bool,
    is_compact_boundary: bool,
    pub(super) time_ms: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
enum ParentKey {
    Root,
    Uuid(UuidKey),
    Unusable,
}

impl SessionTree {
    /// No entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next record of the file, which stands on line `line`; a line may hold several. Gives the entry's number,
    /// and `None` for a record that stands outside the tree.
    pub fn add(&mut self, line: u64, node: &Node<'_>) -> Option<usize> {
        if !node.is_entry {
            return None;
        }
        let number = self.entries.len();
        let uuid = node.uuid.as_deref().map(UuidKey::of);
        if let Some(uuid) = uuid {
            self.by_uuid.insert(uuid, number);
        }
        if let Some(logical) = node.logical_parent.as_deref().filter(|_| node.is_compact_boundary) {
            self.logical_parents.insert(number, UuidKey::of(logical));
        }
        self.entries.push(Entry {
            line,
            uuid,
            parent: match &node.parent {
                Parent::Root => ParentKey::Root,
                Parent::Uuid(uuid) => ParentKey::Uuid(UuidKey::of(uuid)),
                Parent::Unusable => ParentKey::Unusable,
            },
            kind: node.kind,
            is_sidechain: node.is_sidechain,
            is_prompt: node.is_prompt,
            is_compact_boundary: node.is_compact_boundary,
            time_ms: node.time_ms,
        });
        Some(number)
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry with a uuid, given as WTF-8; the last where there are several.
    #[must_use]
    pub fn find(&self, uuid: &[u8]) -> Option<usize> {
        self.find_key(UuidKey::of(uuid))
    }

    pub(super) fn find_key(&self, uuid: UuidKey) -> Option<usize> {
        self.by_uuid.get(&uuid).copied()
    }

    pub(super) fn entry(&self, number: usize) -> Option<&Entry> {
        self.entries.get(number)
    }

    /// The line an entry stands on, as it was given to [`SessionTree::add`].
    ///
    /// # Panics
    ///
    /// Where there is no such entry.
    #[must_use]
    pub fn line(&self, entry: usize) -> u64 {
        self.entries[entry].line
    }

    /// The entry an entry hangs below; none for a root, an orphan, and one that is its own parent.
    pub(super) fn parent_entry(&self, entry: usize) -> Option<usize> {
        match self.link(entry) {
            Link::Entry(parent) if parent != entry => Some(parent),
            _ => None,
        }
    }

    fn link(&self, entry: usize) -> Link<usize> {
        let Some(Entry { uuid: own, parent, .. }) = self.entries.get(entry) else {
            return Link::None;
        };
        match parent {
            // Its own uuid means itself, whatever copies of it there are.
            ParentKey::Uuid(uuid) if Some(uuid) == own.as_ref() => Link::Entry(entry),
            ParentKey::Uuid(uuid) => self.find_key(*uuid).map_or(Link::Missing, Link::Entry),
            ParentKey::Unusable => Link::Missing,
            ParentKey::Root => Link::None,
        }
    }

    /// The entries that hang below no other, in the order of the file; entries of a loop are none.
    pub fn roots(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|&entry| self.parent_entry(entry).is_none())
    }

    /// Those of the roots that name a parent: one that is not in the file, or themselves.
    pub fn orphans(&self) -> impl Iterator<Item = usize> {
        self.roots().filter(|&entry| self.link(entry) != Link::None)
    }

    /// Whether an entry belongs to the conversation that the file is of. A file whose messages are all on sidechains is
    /// of a sidechain (an agent's file); any other is of what is on none.
    pub(super) fn is_main(&self) -> impl Fn(usize) -> bool {
        let is_own = |entry: &Entry| entry.kind.is_message() && !entry.is_sidechain;
        let takes_sidechains = !self.entries.iter().any(is_own);
        move |entry| {
            takes_sidechains || self.entries.get(entry).is_some_and(|entry| !entry.is_sidechain)
        }
    }
}

impl Lookup for SessionTree {
    type Entry = usize;
    type Error = Infallible;

    fn parent(&self, entry: usize) -> Result<Link<usize>, Infallible> {
        Ok(self.link(entry))
    }

    fn is_compact_boundary(&self, entry: usize) -> Result<bool, Infallible> {
        Ok(self.entries.get(entry).is_some_and(|entry| entry.is_compact_boundary))
    }

    fn logical_parent(&self, entry: usize) -> Result<Link<usize>, Infallible> {
        Ok(match self.logical_parents.get(&entry) {
            None => Link::None,
            Some(&uuid) => self.find_key(uuid).map_or(Link::Missing, Link::Entry),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::Scanner;

    #[test]
    fn roots_orphans_and_copies() {
        let mut tree = SessionTree::new();
        let mut scanner = Scanner::new();
        for (line, text) in (0..).zip([
            r#"{"type":"user","uuid":"a"}"#,
            r#"{"type":"user","uuid":"b","parentUuid":"a"}"#,
            r#"{"type":"summary","leafUuid":"b"}"#,
            r#"{"type":"user","uuid":"a","parentUuid":"gone"}"#,
            r#"{"type":"user","uuid":"self","parentUuid":"self"}"#,
            r#"{"type":"user","uuid":"x","parentUuid":7}"#,
            r#"{"type":"user","parentUuid":"b"}"#,
            r#"{"type":"user","uuid":"l1","parentUuid":"l2"}"#,
            r#"{"type":"user","uuid":"l2","parentUuid":"l1"}"#,
            r#"{"type":"user","uuid":"copied","parentUuid":"copied"}"#,
            r#"{"type":"user","uuid":"copied","parentUuid":"b"}"#,
        ]) {
            tree.add(line, &Node::of(&scanner.scan(text)));
        }
        assert_eq!(tree.len(), 10);
        assert_eq!(tree.find(b"a"), Some(2));
        assert_eq!(tree.line(2), 3);
        assert_eq!(tree.parent(1), Ok(Link::Entry(2)));
        assert_eq!(tree.parent(5), Ok(Link::Entry(1)));
        assert_eq!(tree.roots().collect::<Vec<_>>(), [0, 2, 3, 4, 8]);
        assert_eq!(tree.orphans().collect::<Vec<_>>(), [2, 3, 4, 8]);
    }
}
