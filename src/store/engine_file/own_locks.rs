//! The locks of one open file, which its queries leave out.
//!
//! On Unix a query shows the locks of other open files alone. On Windows it also shows those of the open file that asks. There the
//! open file notes the ranges that it has for itself; and for what several open files say by a shared lock, each holds a byte of its
//! own, too. A query asks for the bytes around its own.

use std::hash::{BuildHasher, RandomState};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::{BackendError, StorageBackend as _};

use super::locks::{FIRST, Held};
use super::{CONSISTENT, EngineFile, OPEN, READERS};

/// Whether a query shows the locks of the open file that asks.
const SEES_OWN: bool = cfg!(windows);

/// The bytes of an area in which each open file has one, and where the areas begin: behind the locks that one process holds.
const AREA: u64 = 1 << 40;
const AREAS: u64 = FIRST + AREA;

/// A range of bytes to lock.
pub(super) type Range = (Bound<u64>, Bound<u64>);

/// What open files say by a shared lock, and ask of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// The file is open.
    Open,
    /// It is open to be written, and needs no recovery.
    Written,
    /// It has a read transaction.
    Read,
    /// It uses the journal.
    Journal,
}

impl Share {
    /// What a shared lock says.
    fn of(range: Range) -> Option<Self> {
        let readers = bytes(READERS)?;
        match range {
            (OPEN, OPEN) => Some(Self::Open),
            (CONSISTENT, CONSISTENT) => Some(Self::Written),
            range if range == Held::Ending.shared() => Some(Self::Journal),
            range => bytes(range)
                .is_some_and(|(first, last)| readers.0 <= first && last <= readers.1)
                .then_some(Self::Read),
        }
    }

    /// The bytes of such locks.
    fn range(self) -> Range {
        match self {
            Self::Open => (OPEN, OPEN),
            Self::Written => (CONSISTENT, CONSISTENT),
            Self::Read => READERS,
            Self::Journal => Held::Ending.shared(),
        }
    }

    /// The area in which each of those who say it has a byte.
    fn area(self) -> (u64, u64) {
        let first = AREAS + self as u64 * AREA;
        (first, first + AREA - 1)
    }
}

/// What one open file says.
#[derive(Debug)]
struct Said {
    share: Share,
    /// The byte that it holds for that.
    byte: u64,
    /// How many of its locks say it.
    locks: usize,
}

/// The locks of one open file.
#[derive(Debug, Default)]
pub(super) struct OwnLocks {
    /// The first and the last byte of each range that it has for itself.
    alone: Mutex<Vec<(u64, u64)>>,
    said: Mutex<Vec<Said>>,
}

impl OwnLocks {
    fn alone(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        self.alone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self) -> MutexGuard<'_, Vec<Said>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all, once the file has none.
    pub(super) fn clear(&self) {
        self.alone().clear();
        self.said().clear();
    }
}

impl EngineFile {
    /// Takes a lock for this open file alone, by `take`.
    pub(super) fn alone(
        &self,
        range: Range,
        take: impl FnOnce() -> Result<bool, BackendError>,
    ) -> Result<bool, BackendError> {
        let is_taken = take()?;
        if SEES_OWN && is_taken {
            self.0.own_locks.alone().extend(bytes(range));
        }
        Ok(is_taken)
    }

    /// Takes a lock that others may share, by `take`. What it says is said before, so that nobody who has it is missed.
    pub(super) fn sharing(
        &self,
        range: Range,
        take: impl FnOnce() -> Result<bool, BackendError>,
    ) -> Result<bool, BackendError> {
        let Some(share) = Share::of(range).filter(|_| SEES_OWN) else { return take() };
        self.say(share)?;
        let taken = take();
        if !matches!(taken, Ok(true)) {
            self.unsay(share)?;
        }
        taken
    }

    /// Notes that a lock was given back.
    pub(super) fn note_given_back(&self, range: Range) -> Result<(), BackendError> {
        if !SEES_OWN {
            return Ok(());
        }
        let mut alone = self.0.own_locks.alone();
        let place = bytes(range).and_then(|range| alone.iter().position(|own| *own == range));
        if let Some(place) = place {
            alone.swap_remove(place);
            return Ok(());
        }
        drop(alone);
        Share::of(range).map_or(Ok(()), |share| self.unsay(share))
    }

    /// Holds a byte that says it, for one lock more.
    fn say(&self, share: Share) -> Result<(), BackendError> {
        let mut said = self.0.own_locks.said();
        if let Some(said) = said.iter_mut().find(|said| said.share == share) {
            said.locks += 1;
            return Ok(());
        }
        let backend = &self.own()?.backend;
        loop {
            let byte = share.area().0 + RandomState::new().hash_one(std::process::id()) % AREA;
            if backend.try_lock_range(Bound::Included(byte), Bound::Included(byte))? {
                said.push(Said { share, byte, locks: 1 });
                return Ok(());
            }
        }
    }

    /// Gives the byte back with the last lock that says it.
    fn unsay(&self, share: Share) -> Result<(), BackendError> {
        let mut said = self.0.own_locks.said();
        let Some(place) = said.iter().position(|said| said.share == share) else { return Ok(()) };
        let Said { byte, locks, .. } = &mut said[place];
        *locks -= 1;
        if *locks > 0 {
            return Ok(());
        }
        let byte = Bound::Included(*byte);
        self.own()?.backend.unlock_range(byte, byte)?;
        said.swap_remove(place);
        Ok(())
    }

    /// Whether another open file has a lock on any byte of a range that this one does not share.
    pub(super) fn query(&self, range: Range) -> Result<bool, BackendError> {
        let backend = &self.own()?.backend;
        let Some(asked) = bytes(range).filter(|_| SEES_OWN) else {
            return backend.query_lock_range(range.0, range.1);
        };
        let own = self.0.own_locks.alone().clone();
        self.is_any_locked(around(asked, own))
    }

    /// Whether another open file says it.
    pub(super) fn is_said_elsewhere(&self, share: Share) -> Result<bool, BackendError> {
        let said = self.0.own_locks.said();
        let own = said.iter().find(|said| said.share == share).map(|said| (said.byte, said.byte));
        drop(said);
        match own {
            // Who does not say it has no such lock either.
            None => self.query(share.range()),
            Some(own) => self.is_any_locked(around(share.area(), vec![own])),
        }
    }

    fn is_any_locked(&self, ranges: Vec<(u64, u64)>) -> Result<bool, BackendError> {
        let backend = &self.own()?.backend;
        for (first, last) in ranges {
            if backend.query_lock_range(Bound::Included(first), Bound::Included(last))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The first and the last byte of a range; `None` if it has no end.
fn bytes((start, end): Range) -> Option<(u64, u64)> {
    let first = match start {
        Bound::Included(first) => first,
        Bound::Excluded(before) => before + 1,
        Bound::Unbounded => 0,
    };
    match end {
        Bound::Included(last) => Some((first, last)),
        Bound::Excluded(behind) => Some((first, behind - 1)),
        Bound::Unbounded => None,
    }
}

/// What is left of a range without others.
fn around((first, last): (u64, u64), mut without: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    without.sort_unstable();
    let (mut left, mut next) = (Vec::new(), first);
    for (from, to) in without.into_iter().filter(|&(from, to)| from <= last && to >= first) {
        if from > next {
            left.push((next, from - 1));
        }
        next = next.max(to + 1);
    }
    if next <= last {
        left.push((next, last));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_without_ones_own_is_what_is_around_them() {
        assert_eq!(around((5, 9), vec![]), [(5, 9)]);
        assert_eq!(around((5, 9), vec![(7, 7)]), [(5, 6), (8, 9)]);
        assert_eq!(around((5, 9), vec![(0, 5), (9, 12)]), [(6, 8)]);
        assert_eq!(
            around((5, 9), vec![(8, 8), (0, 4), (6, 6), (10, 11)]),
            [(5, 5), (7, 7), (9, 9)]
        );
        assert_eq!(around((5, 9), vec![(0, 20)]), []);
        assert_eq!(around((5, 5), vec![(5, 5)]), []);
    }

    #[test]
    fn areas_are_behind_all_other_locks_and_before_the_engine_s() {
        let shares = [Share::Open, Share::Written, Share::Read, Share::Journal];
        let mut behind = bytes(Held::Passable.all()).unwrap().1;
        for share in shares {
            let (first, last) = share.area();
            assert!(behind < first && first < last && last < 1 << 62);
            assert_eq!(Share::of(share.range()), Some(share));
            behind = last;
        }
        let reader = Bound::Included((1 << 62) + 1024 + 77);
        assert_eq!(Share::of((reader, reader)), Some(Share::Read));
        assert_eq!(Share::of(Held::Ending.all()), None);
    }
}
