//! The conversation at an entry: what the model is shown, or everything that was said.

use super::{Conversation, Link, PathRuns};

/// How much of a conversation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum HistoryScope {
    /// What the model is shown: only the summary of what was compacted.
    #[default]
    Context,
    /// Everything that was said, including what was compacted.
    Full,
}

/// Why a path goes no further up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathEnd {
    /// Its first entry is a root.
    Root,
    /// The parent of its first entry is not in the file.
    Orphan,
    /// The parent of its first entry is on the path already.
    Loop,
    /// Its first entry is the compaction with which the context begins, or omp's reset below which it does.
    Boundary,
    /// Its first entry is a compact boundary, and the entry that it says the conversation came from is not in the file.
    LostHistory,
}

/// What comes above an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Above<E> {
    /// This entry.
    Entry(E),
    /// Nothing that belongs to the conversation, and why; never [`PathEnd::Loop`], which only a complete walk can find.
    End(PathEnd),
}

/// The entries of a conversation, oldest first. A long one takes little memory: consecutive entries are kept as one
/// run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// First and last place of each run.
    runs: Vec<(u64, u64)>,
    end: Option<PathEnd>,
}

impl History {
    /// A history without entries that begins for this reason.
    pub(crate) fn beginning(end: PathEnd) -> Self {
        Self { runs: Vec::new(), end: Some(end) }
    }

    /// The entries of a path.
    pub(crate) fn of((path, end): (PathRuns, PathEnd)) -> Self {
        Self::beginning(end).and_path(&path)
    }

    /// The entries of the path from the root to an entry.
    pub(crate) fn of_path<C: Conversation>(conversation: &C, entry: u64) -> Result<Self, C::Error> {
        let path = conversation.climb(entry, |entry| {
            Ok(match conversation.parent(entry)? {
                Link::Entry(parent) => Above::Entry(parent),
                Link::None => Above::End(PathEnd::Root),
                Link::Missing => Above::End(PathEnd::Orphan),
            })
        })?;
        Ok(Self::of(path))
    }

    /// Adds an entry after the last one.
    pub(crate) fn and_entry(mut self, entry: u64) -> Self {
        self.push_run(entry, entry);
        self
    }

    /// Adds a path after the last entry.
    pub(crate) fn and_path(mut self, path: &PathRuns) -> Self {
        path.runs_downwards().for_each(|(first, last)| self.push_run(first, last));
        self
    }

    fn push_run(&mut self, first: u64, last: u64) {
        match self.runs.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(first) => *end = last,
            _ => self.runs.push((first, last)),
        }
    }

    /// The ordinals of its entries, first to last. In pi and omp a compaction on the path comes first, followed by the
    /// entries above it that it keeps.
    pub fn ordinals(&self) -> impl DoubleEndedIterator<Item = u64> + Clone {
        self.runs.iter().flat_map(|&(first, last)| first..=last)
    }

    /// First and last ordinal of each run of entries that follow one another.
    pub(crate) fn runs(&self) -> &[(u64, u64)] {
        &self.runs
    }

    /// How many entries it has.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|&(first, last)| last - first + 1).sum()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Why it begins where it does; `None` if it has no entries. A context that begins with a compaction or a reset ends
    /// at [`PathEnd::Boundary`].
    #[must_use]
    pub fn end(&self) -> Option<PathEnd> {
        self.end
    }
}
