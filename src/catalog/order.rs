//! The order of a list, and the first sessions of it.

use std::cmp::Ordering;

use super::filter::{SessionFilter, SessionOrder};

/// Lists of fewer sessions than this are sorted once, whatever their limit.
const LEAST_ROOM: usize = 64;

/// What decides the position of a session in a list; equal ones are ordered by id.
pub(super) struct SortKey<'f> {
    /// Its title, or else its first prompt.
    pub(super) said: Option<&'f str>,
    pub(super) created: Option<i64>,
    pub(super) modified: Option<i64>,
    pub(super) bytes: u64,
}

impl SortKey<'_> {
    /// Its rank in a numeric order, which is any but that by title: first whether it has no value, as such sessions
    /// come last, then the value.
    fn rank(&self, order: SessionOrder) -> Option<(bool, u64)> {
        match order {
            SessionOrder::Modified => Some(latest_first(self.modified)),
            SessionOrder::Created => Some(latest_first(self.created)),
            SessionOrder::Size => Some((false, !self.bytes)),
            SessionOrder::Title => None,
        }
    }

    /// Its place by title.
    fn title(&self) -> (bool, Option<String>) {
        (self.said.is_none(), self.said.map(str::to_lowercase))
    }

    fn cmp(&self, other: &Self, order: SessionOrder) -> Ordering {
        match order {
            SessionOrder::Title => self.title().cmp(&other.title()),
            order => self.rank(order).cmp(&other.rank(order)),
        }
    }
}

fn latest_first(time: Option<i64>) -> (bool, u64) {
    (time.is_none(), !time.unwrap_or_default().cast_unsigned() ^ 1 << 63)
}

/// A session in a list.
pub(super) trait Sortable {
    fn sort_id(&self) -> &str;

    fn sort_key(&self) -> SortKey<'_>;
}

/// The sessions of a list with a filter's order and limit: at most twice the limit are in memory at a time.
pub(super) struct Ordered<'f, T> {
    filter: &'f SessionFilter,
    sessions: Vec<T>,
    /// How many are kept until those beyond the limit are dropped.
    room: usize,
    /// Whether the sessions up to the limit are present and sorted: then a session that would follow them is not in the
    /// list.
    is_full: bool,
}

impl<'f, T: Sortable> Ordered<'f, T> {
    pub(super) fn new(filter: &'f SessionFilter) -> Self {
        let room = match filter.limit {
            Some(limit) => limit.saturating_mul(2).max(LEAST_ROOM),
            None => usize::MAX,
        };
        Self { filter, sessions: Vec::new(), room, is_full: false }
    }

    /// Whether a session with this key may be in the list.
    pub(super) fn wants(&self, key: &SortKey<'_>) -> bool {
        let last = self.filter.limit.and_then(|limit| self.sessions.get(limit.checked_sub(1)?));
        !self.is_full
            || last.is_some_and(|last| key.cmp(&last.sort_key(), self.filter.order).is_le())
    }

    /// Adds a session, which comes after earlier ones that are equal in every respect.
    pub(super) fn push(&mut self, session: T) {
        if self.sessions.len() >= self.room {
            self.sort();
            self.is_full = true;
        }
        self.sessions.push(session);
    }

    /// Adds the sessions of a list of later ones.
    pub(super) fn append(&mut self, mut other: Self) {
        if self.filter.limit.is_none() {
            self.sessions.append(&mut other.sessions);
        } else {
            other.finish().into_iter().for_each(|session| self.push(session));
        }
    }

    /// The sessions of the list in its order.
    pub(super) fn finish(mut self) -> Vec<T> {
        self.sort();
        self.sessions
    }

    fn sort(&mut self) {
        let mut places = match self.filter.order {
            SessionOrder::Title => self.places(|key| key.title()),
            order => self.places(|key| key.rank(order)),
        };
        let wanted = self.filter.limit.unwrap_or(usize::MAX).min(self.sessions.len());
        // They are large, so indices are sorted, and each session then moves to its place. What was at an index before
        // is where that index's session came from. Each step moves one session away, so finding them takes no more
        // steps than there are sessions.
        for to in 0..wanted {
            let gone_to = |place: usize| places.get(place).copied().unwrap_or(place);
            let mut from = gone_to(to);
            while from < to {
                from = gone_to(from);
            }
            self.sessions.swap(to, from);
            if let Some(place) = places.get_mut(to) {
                *place = from;
            }
        }
        self.sessions.truncate(wanted);
    }

    /// The indices of the sessions, sorted by a key of each, then by id, then by arrival.
    fn places<By: Ord>(&self, by: impl Fn(&SortKey<'_>) -> By) -> Vec<usize> {
        let sessions = self.sessions.iter().enumerate();
        let mut keyed: Vec<(By, usize, &T)> =
            sessions.map(|(place, session)| (by(&session.sort_key()), place, session)).collect();
        keyed.sort_unstable_by(|(a, a_place, a_session), (b, b_place, b_session)| {
            let by_id = || a_session.sort_id().cmp(b_session.sort_id());
            a.cmp(b).then_with(by_id).then(a_place.cmp(b_place))
        });
        keyed.into_iter().map(|(_, place, _)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Sortable for (u8, Option<i64>, usize) {
        fn sort_id(&self) -> &str {
            ["a", "b", "c"][usize::from(self.0) % 3]
        }

        fn sort_key(&self) -> SortKey<'_> {
            let (said, time, _) = *self;
            SortKey {
                said: [None, Some("Ä"), Some("b"), Some("B")][usize::from(said) % 4],
                created: time,
                modified: time.map(|time| -time),
                bytes: u64::from(said / 2),
            }
        }
    }

    /// The newest session is last, the others are in order: following each of them through all places that the earlier
    /// ones had would take hours.
    #[test]
    fn one_session_that_is_out_of_place_moves_all() {
        let filter = SessionFilter::default();
        let mut listed = Ordered::new(&filter);
        let count = 1_000_000;
        for place in 1..count {
            listed.push((0_u8, Some(place), 0_usize));
        }
        listed.push((0, Some(0), 0));
        assert!(listed.finish().into_iter().map(|(_, time, _)| time.unwrap()).eq(0..count));
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
            let mut listed = Ordered::new(&filter);
            for session in &expected {
                if listed.wants(&session.sort_key()) {
                    listed.push(*session);
                }
            }
            expected.sort_by(|a, b| {
                a.sort_key().cmp(&b.sort_key(), order).then_with(|| a.sort_id().cmp(b.sort_id()))
            });
            expected.truncate(limit.unwrap_or(usize::MAX));
            prop_assert_eq!(listed.finish(), expected);
        }
    }
}
