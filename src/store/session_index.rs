//! The indexes of sessions: by the hour of their last message, for lists of the newest, and by the session that started
//! them, for lists of its agents.
//!
//! Both follow the rows of `sessions`: code that writes or removes one calls [`index_session`] in the same transaction.
//! Times are rounded to the hour, so that appends, each of which changes the time, change the index only once an hour.

use redb::{AccessGuard, WriteTransaction};

use super::session_key::SessionKey;
use super::session_record::{ListedRecord, SessionRecord};
use super::snapshot::Snapshot;
use super::tables;
use crate::error::Result;
use crate::store::pages::{Range, ReadOnlyTable};

/// The milliseconds of a bucket of times.
const HOUR: i64 = 3_600_000;

/// The bucket of the sessions without a time. Lists begin with the highest bucket, so these come last.
const NO_TIME: i64 = i64::MIN;

/// The bucket of a session with this time.
pub(crate) fn bucket(modified: Option<i64>) -> i64 {
    modified.map_or(NO_TIME, |time| time.div_euclid(HOUR))
}

/// The id of the session that started an agent's session, under which the index has it.
pub(crate) fn starter<Text, Bytes, Rest>(record: &SessionRecord<Text, Bytes, Rest>) -> Option<&[u8]>
where
    Text: AsRef<str>,
{
    record.agent.as_ref()?;
    record.parent_session.as_ref().map(|parent| parent.as_ref().as_bytes())
}

/// Updates the indexes for a change of a session's row: its value before, and after.
///
/// # Errors
///
/// [`Error::Corrupted`] if one of them is not a record.
pub(super) fn index_session(
    transaction: &WriteTransaction,
    session: SessionKey,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
) -> Result<()> {
    let read = |bytes| ListedRecord::borrowed(bytes, || session.to_string());
    let (old, new) = (old.map(read).transpose()?, new.map(read).transpose()?);
    let buckets = [&old, &new].map(|record| record.as_ref().map(|record| bucket(record.modified)));
    if let [old, new] = buckets
        && old != new
    {
        let mut times = transaction.open_table(tables::SESSION_TIMES)?;
        if let Some(old) = old {
            times.remove((old, session.raw()))?;
        }
        if let Some(new) = new {
            times.insert((new, session.raw()), ())?;
        }
    }
    let starters = [&old, &new].map(|record| record.as_ref().and_then(starter));
    if let [old, new] = starters
        && old != new
    {
        let mut parents = transaction.open_table(tables::SESSION_PARENTS)?;
        if let Some(old) = old {
            parents.remove((old, session.raw()))?;
        }
        if let Some(new) = new {
            parents.insert((new, session.raw()), ())?;
        }
    }
    Ok(())
}

/// The sessions of a snapshot by the hour of their last message.
pub(crate) struct SessionTimes(ReadOnlyTable<(i64, u64), ()>);

/// The sessions of a snapshot that are agents' conversations, by the session that started them.
pub(crate) struct SessionParents(ReadOnlyTable<(&'static [u8], u64), ()>);

impl Snapshot {
    /// The sessions by time.
    pub(crate) fn session_times(&self) -> Result<SessionTimes> {
        Ok(SessionTimes(self.table(tables::SESSION_TIMES)?))
    }

    /// The agents' sessions, by the one that started them.
    pub(crate) fn session_parents(&self) -> Result<SessionParents> {
        Ok(SessionParents(self.table(tables::SESSION_PARENTS)?))
    }
}

impl SessionTimes {
    /// Sessions in the index: as many as in the store.
    pub(crate) fn len(&self) -> Result<u64> {
        self.0.len()
    }

    /// All rows: the bucket and the session's key.
    pub(crate) fn iter(&self) -> Result<impl Iterator<Item = Result<(i64, SessionKey)>>> {
        Ok(self.0.iter()?.map(|row| Ok(read_time(&row?.0))))
    }

    /// The number of sessions in [`Self::newest_first`], counted up to `most` plus one.
    pub(crate) fn count(
        &self,
        since: Option<i64>,
        until: Option<i64>,
        most: usize,
    ) -> Result<usize> {
        let mut buckets = self.newest_first(since, until)?;
        let mut count = 0;
        while count <= most
            && let Some((_, sessions)) = buckets.next(most - count)?
        {
            count += sessions.len();
        }
        Ok(count)
    }

    /// The buckets of sessions with a time from `since` on and before `until`, the newest first; with neither, all
    /// buckets, including that of sessions without a time.
    pub(crate) fn newest_first(&self, since: Option<i64>, until: Option<i64>) -> Result<Buckets> {
        let first = match (since, until) {
            (None, None) => NO_TIME,
            // A session without a time is in no range.
            (None, Some(_)) => NO_TIME + 1,
            (since, _) => bucket(since),
        };
        let behind = until.map_or(i64::MAX, |until| bucket(Some(until.saturating_sub(1))) + 1);
        let mut rows = self.0.range((first, 0)..(behind.max(first), 0))?;
        let next = rows.next_back().transpose()?.map(|(key, _)| read_time(&key));
        Ok(Buckets { rows, next })
    }
}

/// Sessions by the hour of their last message, the newest hour first.
pub(crate) struct Buckets {
    rows: Range<'static, (i64, u64), ()>,
    next: Option<(i64, SessionKey)>,
}

fn read_time(row: &AccessGuard<'_, (i64, u64)>) -> (i64, SessionKey) {
    let (bucket, session) = row.value();
    (bucket, SessionKey::new(session))
}

impl Buckets {
    /// The next bucket and the keys of its sessions. If it has more than `most` sessions, `most` plus one are returned.
    pub(crate) fn next(&mut self, most: usize) -> Result<Option<(i64, Vec<SessionKey>)>> {
        let Some((bucket, session)) = self.next else { return Ok(None) };
        let mut sessions = vec![session];
        loop {
            self.next = self.rows.next_back().transpose()?.map(|(key, _)| read_time(&key));
            match self.next {
                Some((next, session)) if next == bucket && sessions.len() <= most => {
                    sessions.push(session);
                }
                _ => return Ok(Some((bucket, sessions))),
            }
        }
    }
}

impl SessionParents {
    /// The keys of the agents' sessions that the session with this id started.
    pub(crate) fn started_by(&self, id: &[u8]) -> Result<Vec<SessionKey>> {
        let rows = self.0.range((id, 0)..=(id, u64::MAX))?;
        rows.map(|row| Ok(SessionKey::new(row?.0.value().1))).collect()
    }

    /// Passes on all rows: the id of the starting session, and the key of the agent's session.
    pub(crate) fn each(&self, mut take: impl FnMut(&[u8], SessionKey)) -> Result<()> {
        for row in self.0.iter()? {
            let (key, _) = row?;
            let (parent, session) = key.value();
            take(parent, SessionKey::new(session));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::store::commit::{Author, Batch, Creation, Edit, Finished, Place};
    use crate::store::owner::Owner;
    use crate::store::session_key::SessionKey;

    fn record(modified: Option<i64>, agent_of: Option<&str>) -> SessionRecord {
        SessionRecord {
            modified,
            agent: agent_of.map(|_| "7d31c0be".to_owned()),
            parent_session: agent_of.map(str::to_owned),
            ..SessionRecord::default()
        }
    }

    fn write(store: &Store, session: u64, record: SessionRecord) {
        let record = SessionRecord { external_id: session.to_string().into_bytes(), ..record };
        let (mut batch, key) = (Batch::default(), SessionKey::new(session));
        match store.snapshot().unwrap().session(key).unwrap() {
            Some(old) => Edit::new(&mut batch, key, &old).note_facts(&mut batch, record),
            None => {
                let (author, place, sources) = (Author::File, Place::Own, Vec::new());
                let finished = Finished { record, leaf: None, author, place, sources };
                Creation::new(key).finish(&mut batch, finished).unwrap();
            }
        }
        store.commit(batch).unwrap();
    }

    fn retire(store: &Store, session: u64, owner: &Owner) {
        let mut batch = Batch::default();
        batch.remove(SessionKey::new(session), owner);
        store.commit(batch).unwrap();
    }

    fn times(store: &Store) -> Vec<(i64, u64)> {
        let times = store.snapshot().unwrap().session_times().unwrap();
        let rows = times.iter().unwrap().map(Result::unwrap);
        rows.map(|(bucket, session)| (bucket, session.raw())).collect()
    }

    fn agents(store: &Store, id: &str) -> Vec<u64> {
        let parents = store.snapshot().unwrap().session_parents().unwrap();
        parents.started_by(id.as_bytes()).unwrap().into_iter().map(SessionKey::raw).collect()
    }

    #[test]
    fn rows_follow_the_records() {
        let store = Store::in_memory().unwrap();
        write(&store, 1, record(Some(HOUR - 1), None));
        write(&store, 2, record(None, Some("parent")));
        write(&store, 3, record(Some(-1), Some("parent")));
        assert_eq!(times(&store), [(NO_TIME, 2), (-1, 3), (0, 1)]);
        assert_eq!(agents(&store, "parent"), [2, 3]);
        assert!(agents(&store, "paren").is_empty() && agents(&store, "parents").is_empty());
        // A message within the hour, one after it, another parent.
        write(&store, 1, record(Some(1), None));
        write(&store, 2, record(Some(HOUR), Some("other")));
        assert_eq!(times(&store), [(-1, 3), (0, 1), (1, 2)]);
        assert_eq!((agents(&store, "parent"), agents(&store, "other")), (vec![3], vec![2]));
        let owner = store.begin_owner().unwrap();
        retire(&store, 3, &owner);
        write(&store, 2, record(Some(HOUR), None));
        assert_eq!(times(&store), [(0, 1), (1, 2)]);
        assert!(agents(&store, "parent").is_empty() && agents(&store, "other").is_empty());
        store.sweep_own(&owner).unwrap();
        let problems = store.verify().unwrap().problems;
        let of_indexes = |kind: &str| ["session_times", "session_parents"].contains(&kind);
        assert!(problems.iter().all(|found| !of_indexes(&found.kind)), "{problems:#?}");
    }

    #[test]
    fn buckets_come_newest_first_and_within_their_bounds() {
        let store = Store::in_memory().unwrap();
        let all = [None, Some(i64::MIN), Some(-1), Some(0), Some(5), Some(HOUR), Some(i64::MAX)];
        for (session, modified) in (1..).zip(all) {
            write(&store, session, record(modified, None));
        }
        let times = store.snapshot().unwrap().session_times().unwrap();
        let found = |since, until| {
            let mut buckets = times.newest_first(since, until).unwrap();
            std::iter::from_fn(|| {
                buckets.next(usize::MAX).unwrap().map(|(_, sessions)| {
                    sessions.into_iter().map(SessionKey::raw).collect::<Vec<_>>()
                })
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(found(None, None), [vec![7], vec![6], vec![5, 4], vec![3], vec![2], vec![1]]);
        for since in all {
            for until in all.into_iter().filter(|until| since.is_some() || until.is_some()) {
                let taken: Vec<u64> = found(since, until).into_iter().flatten().collect();
                for (session, modified) in (1..).zip(all) {
                    let is_wanted = modified.is_some_and(|time| {
                        since.is_none_or(|since| time >= since)
                            && until.is_none_or(|until| time < until)
                    });
                    assert!(
                        !is_wanted || taken.contains(&session),
                        "{since:?} {until:?} {modified:?}"
                    );
                }
                assert!(!taken.contains(&1), "a session without a time is in no range");
            }
        }
        assert_eq!(times.count(None, None, 100).unwrap(), all.len());
        assert_eq!(times.count(None, None, 3).unwrap(), 4);
        let mut buckets = times.newest_first(Some(0), Some(HOUR)).unwrap();
        let newest = vec![SessionKey::new(5), SessionKey::new(4)];
        assert_eq!(buckets.next(1).unwrap(), Some((0, newest)), "one more than was asked for");
    }
}
