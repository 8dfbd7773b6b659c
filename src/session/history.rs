//! The conversation at an entry: what the model is shown, or everything that was said.

use leafline_import::EntryKind;
use leafline_import::claude::{self, Above, Extent, Link, PathEnd};

use super::index::reading::{ParentLink, read_line};
use super::path::{Climb, PathRuns};
use super::reader::SessionReader;
use crate::error::{Corruption, Error, Result};
use crate::store::node::Parent;

/// How much of a conversation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum HistoryScope {
    /// What the model is shown: of what was compacted, the summary alone.
    #[default]
    Context,
    /// Everything that was said, what was compacted included.
    Full,
}

/// The entries of a conversation, oldest first. A long one takes little memory: entries in a row are kept as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// A compaction of pi or omp, whose summary comes first.
    pub(super) compaction: Option<u64>,
    /// Entries above the compaction that it keeps.
    pub(super) kept: PathRuns,
    pub(super) below: PathRuns,
    pub(super) end: Option<PathEnd>,
}

impl History {
    /// The ordinals of its entries, first to last. Of pi and omp, where a compaction is on the path, that comes first, and
    /// then what it keeps of the entries above it.
    pub fn ordinals(&self) -> impl Iterator<Item = u64> + Clone {
        let kept = self.kept.downwards();
        self.compaction.into_iter().chain(kept).chain(self.below.downwards())
    }

    /// How many entries it has.
    pub fn len(&self) -> u64 {
        u64::from(self.compaction.is_some()) + self.kept.len() + self.below.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Why it begins where it does; `None` where it has no entries. A context that begins with a compaction ends at
    /// [`PathEnd::Boundary`].
    pub fn end(&self) -> Option<PathEnd> {
        self.end
    }
}

/// Walks up from an entry by the rule of Claude Code's conversations; of the other families [`Extent::Path`] is the path.
pub(super) fn walk(reader: &SessionReader, from: u64, extent: Extent) -> Result<History> {
    let lookup = InIndex(reader);
    let mut climb = Climb::new(reader.snapshot(), reader.order(), from);
    let end = loop {
        let Some((ordinal, _)) = climb.step()? else { break PathEnd::Loop };
        match claude::above(&lookup, extent, ordinal)? {
            Above::Entry(above) => climb.go_on(ordinal, above),
            Above::End(end) => break end,
        }
    };
    Ok(History { below: climb.finish(), end: Some(end), ..History::default() })
}

/// A session's index, to look up in.
struct InIndex<'r>(&'r SessionReader);

impl claude::Lookup for InIndex<'_> {
    type Entry = u64;
    type Error = Error;

    fn parent(&self, entry: u64) -> Result<Link<u64>> {
        match self.0.entry_node(entry)?.parent {
            Parent::At(parent) => Ok(Link::Entry(parent)),
            Parent::None => Ok(Link::None),
            // The index counts an entry that is its own parent as an orphan.
            Parent::Orphan => {
                Ok(if self.names_itself(entry)? { Link::Entry(entry) } else { Link::Missing })
            }
        }
    }

    fn is_compact_boundary(&self, entry: u64) -> Result<bool> {
        Ok(self.0.entry_node(entry)?.kind == EntryKind::Compaction.code())
    }

    fn logical_parent(&self, entry: u64) -> Result<Link<u64>> {
        let (snapshot, session) = (self.0.snapshot(), self.0.key());
        let pointer = snapshot.pointer(session, entry)?.ok_or_else(|| Corruption {
            table: "pointers",
            place: format!("session key {session}, line {entry}"),
            problem: "a compact boundary has no row".into(),
        })?;
        let Some(target) = pointer.target else { return Ok(Link::None) };
        let found = snapshot.entry(session, &target)?;
        Ok(found.map_or(Link::Missing, |record| Link::Entry(record.ordinal)))
    }
}

impl InIndex<'_> {
    fn names_itself(&self, entry: u64) -> Result<bool> {
        let line = self.0.snapshot().line(self.0.key(), entry, None)?;
        // Nothing that was cut out of the line is an id.
        Ok(read_line(self.0.reading(), line.text(), |line| match line.parent() {
            ParentLink::Id(parent) => line.id() == Some(parent),
            ParentLink::None | ParentLink::NoId => false,
        }))
    }
}
