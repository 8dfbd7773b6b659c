//! The order of a list, and the first sessions of it.

use std::cmp::{Ordering, Reverse};

use super::list::{SessionFilter, SessionOrder};

/// A list of fewer sessions than this is put in order once, whatever its limit.
const LEAST_ROOM: usize = 64;

/// What decides the place of a session in a list.
pub(super) struct SortKey<'f> {
    pub(super) id: &'f str,
    /// Its title, or else its first prompt.
    pub(super) said: Option<&'f str>,
    pub(super) created: Option<i64>,
    pub(super) modified: Option<i64>,
    pub(super) bytes: u64,
}

impl SortKey<'_> {
    fn cmp(&self, other: &Self, order: SessionOrder) -> Ordering {
        let said = |key: &Self| (key.said.is_none(), key.said.map(str::to_lowercase));
        match order {
            SessionOrder::Modified => other.modified.cmp(&self.modified),
            SessionOrder::Created => other.created.cmp(&self.created),
            SessionOrder::Title => said(self).cmp(&said(other)),
            SessionOrder::Size => other.bytes.cmp(&self.bytes),
        }
    }
}

/// A session in a list.
pub(super) trait Sortable {
    fn sort_key(&self) -> SortKey<'_>;
}

/// The sessions of a list with a filter's order and limit: no more than twice the limit are held at a time.
pub(super) struct Ordered<'f, T> {
    filter: &'f SessionFilter,
    sessions: Vec<T>,
    /// How many are held until those that no longer count are let go.
    room: usize,
    /// Whether the sessions up to the limit are there and in order: then one that comes behind them is none of the list.
    is_full: bool,
}

impl<'f, T: Sortable> Ordered<'f, T> {
    /// A list of at most `most` sessions.
    pub(super) fn new(filter: &'f SessionFilter, most: usize) -> Self {
        let room = match filter.limit {
            Some(limit) => limit.saturating_mul(2).max(LEAST_ROOM),
            None => usize::MAX,
        };
        Self { filter, sessions: Vec::with_capacity(most.min(room)), room, is_full: false }
    }

    /// Whether a session with this key may be among those of the list.
    pub(super) fn wants(&self, key: &SortKey<'_>) -> bool {
        let last = self.filter.limit.and_then(|limit| self.sessions.get(limit.checked_sub(1)?));
        !self.is_full
            || last.is_some_and(|last| key.cmp(&last.sort_key(), self.filter.order).is_le())
    }

    /// Takes a session, which comes after those taken before where all that counts is equal.
    pub(super) fn push(&mut self, session: T) {
        if self.sessions.len() >= self.room {
            self.sort();
            self.is_full = true;
        }
        self.sessions.push(session);
    }

    /// The sessions of the list in its order.
    pub(super) fn finish(mut self) -> Vec<T> {
        self.sort();
        self.sessions
    }

    fn sort(&mut self) {
        let places = match self.filter.order {
            SessionOrder::Modified => self.places(|key| Reverse(key.modified)),
            SessionOrder::Created => self.places(|key| Reverse(key.created)),
            SessionOrder::Title => {
                self.places(|key| (key.said.is_none(), key.said.map(str::to_lowercase)))
            }
            SessionOrder::Size => self.places(|key| Reverse(key.bytes)),
        };
        let wanted = self.filter.limit.unwrap_or(usize::MAX).min(self.sessions.len());
        // They are large, so places are sorted, and each session then changes its place where it is.
        for (to, &place) in places.iter().enumerate().take(wanted) {
            let mut from = place;
            // What stood at a place before has gone where that place's session came from.
            while from < to {
                from = places.get(from).copied().expect("places are those of the sessions");
            }
            self.sessions.swap(to, from);
        }
        self.sessions.truncate(wanted);
    }

    /// The places of the sessions in the order of what is asked of each, then of their ids, then of their coming.
    fn places<By: Ord>(&self, by: impl Fn(&SortKey<'_>) -> By) -> Vec<usize> {
        let keyed = self.sessions.iter().enumerate();
        let mut keyed: Vec<(By, usize, &T)> =
            keyed.map(|(place, session)| (by(&session.sort_key()), place, session)).collect();
        keyed.sort_unstable_by(|(a, place_a, session_a), (b, place_b, session_b)| {
            let by_id = || session_a.sort_key().id.cmp(session_b.sort_key().id);
            a.cmp(b).then_with(by_id).then(place_a.cmp(place_b))
        });
        keyed.into_iter().map(|(_, place, _)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Sortable for (u8, Option<i64>, usize) {
        fn sort_key(&self) -> SortKey<'_> {
            let (said, time, _) = *self;
            SortKey {
                id: ["a", "b", "c"][usize::from(said) % 3],
                said: [None, Some("Ä"), Some("b"), Some("B")][usize::from(said) % 4],
                created: time,
                modified: time.map(|time| -time),
                bytes: u64::from(said / 2),
            }
        }
    }

    proptest! {
        /// The list with a limit is the beginning of the list without one, and that is sorted stably.
        #[test]
        fn a_limit_takes_the_beginning(
            sessions in proptest::collection::vec((0_u8..8, proptest::option::of(0_i64..9)), 0..400),
            limit in proptest::option::of(0_usize..300),
            order in proptest::sample::select(vec![
                SessionOrder::Modified, SessionOrder::Created, SessionOrder::Title, SessionOrder::Size,
            ]),
        ) {
            let filter = SessionFilter { order, limit, ..SessionFilter::default() };
            let sessions = sessions.into_iter().enumerate();
            let mut expected: Vec<_> =
                sessions.map(|(place, (said, time))| (said, time, place)).collect();
            let mut listed = Ordered::new(&filter, expected.len());
            for session in &expected {
                if listed.wants(&session.sort_key()) {
                    listed.push(*session);
                }
            }
            expected.sort_by(|a, b| {
                let (a, b) = (a.sort_key(), b.sort_key());
                a.cmp(&b, order).then_with(|| a.id.cmp(b.id))
            });
            expected.truncate(limit.unwrap_or(usize::MAX));
            prop_assert_eq!(listed.finish(), expected);
        }
    }
}
