//! A line's place in its session.

use std::fmt;

use bincode::{Decode, Encode};

/// A line's number in its session, from 0. It is neither a count nor an index. A record encodes it as the bare number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
pub(crate) struct Ordinal(u64);

impl Ordinal {
    /// The first line of every session.
    pub(crate) const FIRST: Self = Self(0);

    /// The line with this number, as a table or a caller gives it.
    pub(crate) const fn new(raw: u64) -> Self {
        Self(raw)
    }

    /// The number, as tables and callers have it.
    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    /// The line that comes after `lines` others: the next one of a session that has so many.
    pub(crate) const fn after(lines: u64) -> Self {
        Self(lines)
    }

    /// The last line of a session that has `lines`; `None` if it has none.
    pub(crate) fn last_of(lines: u64) -> Option<Self> {
        lines.checked_sub(1).map(Self)
    }

    /// Whether a session that has `lines` has this one.
    pub(crate) const fn is_within(self, lines: u64) -> bool {
        self.0 < lines
    }

    /// The next line; `None` if there can be none.
    pub(crate) fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }

    /// The line before this one; `None` before the first.
    pub(crate) fn previous(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }

    /// The line that comes `lines` later; `None` if there can be none.
    pub(crate) fn later(self, lines: u64) -> Option<Self> {
        self.0.checked_add(lines).map(Self)
    }

    /// How many lines come before this one.
    pub(crate) const fn lines_before(self) -> u64 {
        self.0
    }

    /// How many lines there are from `first` up to this one, itself not counted; `None` if it comes before `first`.
    pub(crate) fn lines_since(self, first: Self) -> Option<u64> {
        self.0.checked_sub(first.0)
    }

    /// This line's index among those from `first` on; `None` if it comes before them.
    pub(crate) fn index_from(self, first: Self) -> Option<usize> {
        usize::try_from(self.lines_since(first)?).ok()
    }

    /// Its number counted from 1, as messages state it: how many lines there are up to this one, itself counted.
    pub(crate) fn number(self) -> u64 {
        self.0.saturating_add(1)
    }

    /// This line and all that may follow it, up to the last number that there is.
    pub(crate) fn onwards(self) -> impl Iterator<Item = Self> {
        (self.0..=u64::MAX).map(Self)
    }

    /// The lines from this one up to `end`, which is left out.
    pub(crate) fn up_to(self, end: Self) -> impl DoubleEndedIterator<Item = Self> {
        (self.0..end.0).map(Self)
    }
}

impl fmt::Display for Ordinal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record::append;

    const LAST: Ordinal = Ordinal::new(u64::MAX);

    #[test]
    fn there_is_no_line_before_the_first_or_after_the_last_number() {
        let three = Ordinal::new(3);
        assert_eq!((three.previous(), three.next()), (Some(Ordinal(2)), Some(Ordinal(4))));
        assert_eq!((Ordinal::FIRST.previous(), LAST.next()), (None, None));
        assert_eq!((three.later(2), LAST.later(1)), (Some(Ordinal(5)), None));
        assert_eq!(
            (three.lines_since(Ordinal(1)), three.index_from(Ordinal(1))),
            (Some(2), Some(2))
        );
        assert_eq!((three.lines_since(Ordinal(4)), three.index_from(Ordinal(4))), (None, None));
        assert_eq!((three.number(), LAST.number()), (4, u64::MAX));
        let lines = |from: Ordinal, end| from.up_to(end).map(Ordinal::raw).collect::<Vec<_>>();
        assert_eq!(lines(Ordinal(1), three), [1, 2]);
        assert_eq!(lines(three, Ordinal(1)), [0; 0]);
        let before_last = Ordinal(u64::MAX - 1);
        assert_eq!(before_last.onwards().collect::<Vec<_>>(), [before_last, LAST]);
        assert_eq!(LAST.onwards().count(), 1);
    }

    #[test]
    fn a_session_has_the_lines_before_its_end() {
        assert_eq!((Ordinal::last_of(0), Ordinal::last_of(2)), (None, Some(Ordinal(1))));
        assert_eq!((Ordinal(1).is_within(2), Ordinal::after(2).is_within(2)), (true, false));
    }

    #[test]
    fn a_record_has_the_number_alone() {
        for raw in [0, 1, 250, 251, 1 << 16, 1 << 40, u64::MAX] {
            let (mut ordinal, mut number) = (Vec::new(), Vec::new());
            append(&Ordinal(raw), &mut ordinal);
            append(&raw, &mut number);
            assert_eq!(ordinal, number);
        }
    }
}
