//! The place of a line in its session.

use std::fmt;

/// A line's number in its session, from 0: what leads from one entry to another, and so is believed only as far as it was
/// checked. It is no count and no place in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Ordinal(u64);

impl Ordinal {
    /// The line with this number, as a table or a caller has it.
    pub(crate) const fn new(raw: u64) -> Self {
        Self(raw)
    }

    /// The number, as tables have it.
    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    /// The line behind this one; `None` where there can be none.
    pub(crate) fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }

    /// This line's place among those from `first` on; `None` where it is ahead of them.
    pub(crate) fn place_from(self, first: Self) -> Option<usize> {
        usize::try_from(self.0.checked_sub(first.0)?).ok()
    }
}

impl fmt::Display for Ordinal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
