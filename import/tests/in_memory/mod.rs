//! A session in memory, as the context rules access it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::cell::Cell;
use std::convert::Infallible;

use leafline_import::conversation::{
    Above, Conversation, Images, Link, Node, PathEnd, PathLimit, PathRuns, PathSettings,
};
use leafline_import::{EntryKind, MessageRole, ProgramVersion, lines};

/// The lines of a file, and the references between their entries.
#[derive(Debug)]
pub(crate) struct InMemory<'f> {
    lines: Vec<&'f [u8]>,
    entries: Vec<Option<Entry>>,
    /// Whether depths and compactions are valid.
    pub(crate) is_indexed: bool,
    /// The version whose rules are asked for.
    pub(crate) as_of: Option<ProgramVersion>,
    /// How many lines were read so far.
    pub(crate) read: Cell<u64>,
}

/// The facts of an entry that a test must provide.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) id: Vec<u8>,
    pub(crate) kind: Option<EntryKind>,
    pub(crate) role: Option<MessageRole>,
    pub(crate) parent: Option<Vec<u8>>,
    pub(crate) pointer: Option<Vec<u8>>,
    pub(crate) is_sidechain: bool,
    pub(crate) time_ms: Option<i64>,
}

impl<'f> InMemory<'f> {
    /// The lines of a file; `entry_of` returns the facts of an entry, and `None` for other lines.
    pub(crate) fn new(file: &'f [u8], entry_of: impl Fn(&[u8]) -> Option<Entry>) -> Self {
        let lines: Vec<_> = lines::split(file).collect();
        let entries = lines.iter().map(|line| entry_of(line)).collect();
        Self { lines, entries, is_indexed: true, as_of: None, read: Cell::new(0) }
    }

    fn entry(&self, place: u64) -> &Entry {
        self.entries[usize::try_from(place).unwrap()].as_ref().unwrap()
    }

    fn link(&self, id: Option<&[u8]>) -> Link<u64> {
        let Some(id) = id else { return Link::None };
        self.place_of(id).map_or(Link::Missing, Link::Entry)
    }

    fn parent_of(&self, entry: u64) -> Option<u64> {
        match self.link(self.entry(entry).parent.as_deref()) {
            Link::Entry(parent) if parent != entry => Some(parent),
            _ => None,
        }
    }

    fn compaction(&self, entry: u64) -> Option<u64> {
        let Ok(path) = self.path(entry, PathLimit::Root);
        path.upwards().find(|&above| self.entry(above).kind == Some(EntryKind::Compaction))
    }

    fn place_of(&self, id: &[u8]) -> Option<u64> {
        let of_id = |entry: &Option<Entry>| entry.as_ref().is_some_and(|entry| entry.id == id);
        self.entries.iter().rposition(of_id).map(|place| place as u64)
    }
}

impl Conversation for InMemory<'_> {
    type Error = Infallible;

    fn header(&self) -> Result<Option<u64>, Infallible> {
        Ok(Some(0))
    }

    fn last_entry(&self) -> Result<Option<u64>, Infallible> {
        Ok(self.entries.iter().rposition(Option::is_some).map(|place| place as u64))
    }

    fn recovers(&self) -> bool {
        true
    }

    fn as_of(&self) -> Option<ProgramVersion> {
        self.as_of
    }

    fn is_indexed(&self) -> bool {
        self.is_indexed
    }

    fn find(&self, id: &[u8]) -> Result<Option<u64>, Infallible> {
        Ok(self.place_of(id))
    }

    fn last_compaction(&self, place: u64) -> Result<Option<u64>, Infallible> {
        let is_compaction = |&place: &u64| {
            let entry = self.entries.get(usize::try_from(place).unwrap()).and_then(Option::as_ref);
            entry.is_some_and(|entry| entry.kind == Some(EntryKind::Compaction))
        };
        let end = place.saturating_add(1).min(self.entries.len() as u64);
        Ok((0..end).rev().find(is_compaction))
    }

    fn node(&self, entry: u64) -> Result<Node, Infallible> {
        let Entry { kind, role, is_sidechain, time_ms, .. } = *self.entry(entry);
        Ok(Node {
            kind: kind.unwrap_or(EntryKind::Message),
            role: role.unwrap_or(MessageRole::None),
            is_sidechain,
            time_ms,
            parent: self.parent_of(entry),
            depth: self.path(entry, PathLimit::Root)?.len() - 1,
            compaction: self.compaction(entry),
        })
    }

    fn node_of_line(&self, place: u64) -> Result<Option<Node>, Infallible> {
        let line = &self.entries[usize::try_from(place).unwrap()];
        line.as_ref().map(|_| self.node(place)).transpose()
    }

    fn parent(&self, entry: u64) -> Result<Link<u64>, Infallible> {
        Ok(self.link(self.entry(entry).parent.as_deref()))
    }

    fn children(&self, entry: u64) -> Result<Vec<u64>, Infallible> {
        let places = (0..).zip(&self.entries).filter(|(_, child)| child.is_some());
        Ok(places
            .map(|(place, _)| place)
            .filter(|&child| self.parent_of(child) == Some(entry))
            .collect())
    }

    fn pointer(&self, entry: u64) -> Result<Link<u64>, Infallible> {
        Ok(self.link(self.entry(entry).pointer.as_deref()))
    }

    fn is_above(&self, above: u64, below: u64) -> Result<bool, Infallible> {
        Ok(above != below && self.path(below, PathLimit::Root)?.contains(above))
    }

    fn settings(&self, _: u64) -> Result<PathSettings, Infallible> {
        Ok(PathSettings::default())
    }

    fn path(&self, from: u64, limit: PathLimit) -> Result<PathRuns, Infallible> {
        let (path, _) = self.climb(from, |entry| {
            Ok(match self.parent_of(entry) {
                Some(parent)
                    if limit != PathLimit::At(entry) && limit != PathLimit::Before(parent) =>
                {
                    Above::Entry(parent)
                }
                _ => Above::End(PathEnd::Root),
            })
        })?;
        Ok(path)
    }

    fn climb(
        &self,
        from: u64,
        mut above: impl FnMut(u64) -> Result<Above<u64>, Infallible>,
    ) -> Result<(PathRuns, PathEnd), Infallible> {
        let mut path = PathRuns::default();
        let mut next = from;
        loop {
            if path.contains(next) {
                return Ok((path, PathEnd::Loop));
            }
            path.push(next);
            match above(next)? {
                Above::Entry(entry) => next = entry,
                Above::End(end) => return Ok((path, end)),
            }
        }
    }

    fn line(&mut self, place: u64, _: Images<'_>) -> Result<&[u8], Infallible> {
        self.read.set(self.read.get() + 1);
        Ok(self.lines[usize::try_from(place).unwrap()])
    }

    fn damage(&self, entry: u64, problem: String) -> Infallible {
        panic!("line {entry}: {problem}")
    }
}
