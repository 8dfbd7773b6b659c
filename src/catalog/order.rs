//! The order of a list, and the first sessions of it.

use std::cmp::Ordering;

use super::filter::{SessionFilter, SessionOrder};

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
    pub(super) fn new(filter: &'f SessionFilter) -> Self {
        let room = match filter.limit {
            Some(limit) => limit.saturating_mul(2).max(LEAST_ROOM),
            None => usize::MAX,
        };
        Self { filter, sessions: Vec::new(), room, is_full: false }
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

    /// Takes the sessions of a list of those that come after.
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
            SessionOrder::Modified => self.ranked(|key| latest_first(key.modified)),
            SessionOrder::Created => self.ranked(|key| latest_first(key.created)),
            SessionOrder::Size => self.ranked(|key| (false, !key.bytes)),
            SessionOrder::Title => self.by_title(),
        };
        let wanted = self.filter.limit.unwrap_or(usize::MAX).min(self.sessions.len());
        // They are large, so places are sorted, and each session then changes its place where it is. What stood at a
        // place before is where that place's session came from. Each step moves one session away, so looking for them
        // takes no more steps than there are sessions.
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

    /// The places of the sessions by a rank, whether they have none (then they are last) and what it is; then by their ids,
    /// then by their coming. Numbers alone are sorted, which is several times as fast as comparing sessions.
    fn ranked(&self, rank: impl Fn(&SortKey<'_>) -> (bool, u64)) -> Vec<usize> {
        let sessions = self.sessions.iter().enumerate();
        let mut ranked: Vec<(u128, usize)> = sessions
            .map(|(place, session)| {
                let (has_none, rank) = rank(&session.sort_key());
                (u128::from(has_none) << 64 | u128::from(rank), place)
            })
            .collect();
        ranked.sort_unstable();
        for equal in ranked.chunk_by_mut(|(a, _), (b, _)| a == b) {
            equal.sort_unstable_by(|(_, a), (_, b)| self.id(*a).cmp(self.id(*b)).then(a.cmp(b)));
        }
        ranked.into_iter().map(|(_, place)| place).collect()
    }

    fn by_title(&self) -> Vec<usize> {
        let said = |place: &usize| {
            let said = self.sessions.get(*place).and_then(|session| session.sort_key().said);
            (said.is_none(), said.map(str::to_lowercase))
        };
        let mut places: Vec<usize> = (0..self.sessions.len()).collect();
        places.sort_by(|a, b| self.id(*a).cmp(self.id(*b)));
        places.sort_by_cached_key(said);
        places
    }

    fn id(&self, place: usize) -> &str {
        self.sessions.get(place).map_or("", |session| session.sort_key().id)
    }
}

fn latest_first(time: Option<i64>) -> (bool, u64) {
    (time.is_none(), !time.unwrap_or_default().cast_unsigned() ^ 1 << 63)
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

    /// The newest session is the last one, the others come in order: who follows each of them through all places that the
    /// earlier ones had takes hours.
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
                let (a, b) = (a.sort_key(), b.sort_key());
                a.cmp(&b, order).then_with(|| a.id.cmp(b.id))
            });
            expected.truncate(limit.unwrap_or(usize::MAX));
            prop_assert_eq!(listed.finish(), expected);
        }
    }
}
