//! Listing sessions from their records: no line is read.

#[cfg(feature = "search")]
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::thread::Builder;

use super::filter::{SessionFilter, SessionOrder, Sieve};
use super::order::{Ordered, SortKey, Sortable};
use crate::error::{Corruption, Error, Result};
use crate::session::{SessionFacts, SharedTexts};
use crate::store::Store;
use crate::store::session_index::{SessionTimes, bucket, starter};
use crate::store::session_key::SessionKey;
use crate::store::session_record::ListedRecord;
use crate::store::sessions::{Addresses, SessionRow, Sessions, UnreadableRow};
use crate::store::snapshot::Snapshot;

/// The number of sessions for which a thread is worthwhile: reading them takes a millisecond or two, starting a thread
/// a fraction of that.
const WORTH_A_THREAD: u64 = 2048;

/// The sessions in a span of time are looked up one by one if they are at most an eighth of all. Of 100,000, that took
/// half the time in which two cores read all in the order of their keys.
const LOOKED_UP_SHARE: u64 = 8;

/// A walk back from the newest session is abandoned after this fraction of all sessions, so that a filter that accepts
/// hardly any costs little more than reading all.
const WALKED_SHARE: u64 = 64;

/// A walk may always read this many sessions, which takes less time than the threads of a scan.
const LEAST_WALK: usize = 64;

/// The sessions of a store that can be read, and those that cannot.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadableList {
    /// Those that the filter accepts, in its order.
    pub sessions: Vec<SessionFacts>,
    /// The id of each session that cannot be read, and why.
    pub damaged: Vec<(String, Error)>,
}

impl Store {
    /// The facts of all sessions, latest message first; equal ones by id.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] if the store is damaged.
    pub fn sessions(&self) -> Result<Vec<SessionFacts>> {
        self.list(&SessionFilter::default())
    }

    /// The facts of the sessions that a filter accepts, in its order. No line is read. A list of the newest ones, with
    /// a limit and in order of time, or one with `since` or `until`, costs what it reads, as long as that is a small
    /// part of the store; any other list costs about a microsecond for each session of the store, and all cores read a
    /// long one.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] if the store is damaged.
    pub fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionFacts>> {
        let snapshot = self.snapshot_to_read()?;
        snapshot.refuse_any_unfolded()?;
        let rows = Rows::of(&snapshot, filter)?;
        if let Some(listed) = rows.walk(&snapshot.session_times()?)? {
            return Ok(listed.finish());
        }
        let mut parts = rows.parts()?.into_iter();
        let first = parts.next().unwrap_or(SessionKey::ALL);
        let listed = std::thread::scope(|scope| -> Result<_> {
            let (mut others, mut own) = (Vec::new(), Vec::new());
            for part in parts {
                let of_other = part.clone();
                match Builder::new().spawn_scoped(scope, || rows.list(of_other)) {
                    Ok(other) => others.push(other),
                    // The system gives no more threads.
                    Err(_) => own.push(part),
                }
            }
            let mut all = rows.list(first)?;
            for part in own {
                all.append(rows.list(part)?);
            }
            for other in others {
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                all.append(other?);
            }
            Ok(all)
        })?;
        Ok(listed.finish())
    }

    /// Does what [`Self::list`] does, and goes on where the store is damaged: each session that cannot be read is named, and
    /// the others are listed.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] if nothing leads to the sessions any more.
    pub fn list_readable(&self, filter: &SessionFilter) -> Result<ReadableList> {
        match self.list(filter) {
            Err(Error::Corrupted(_)) => {}
            list => return Ok(ReadableList { sessions: list?, damaged: Vec::new() }),
        }
        let snapshot = self.snapshot_to_read()?;
        let rows = Rows::of(&snapshot, filter)?;
        let mut list = List::new(filter);
        let mut damaged = Vec::new();
        snapshot.each_session(|row| {
            let row = match row {
                Ok(row) => row,
                Err(UnreadableRow { address, error, .. }) => {
                    let id = String::from_utf8_lossy(&address).into_owned();
                    damaged.push((id, error));
                    return Ok(());
                }
            };
            let record = snapshot.refuse_unfolded(row.key()).and_then(|()| row.listed());
            match record {
                Ok(record) => {
                    // Whether it is an agent's of a session that is here may not be known.
                    if rows.takes(&record).unwrap_or(true) {
                        list.push(&record);
                    }
                }
                Err(error) => damaged.push((snapshot.id_of(row.key())?, error)),
            }
            Ok(())
        })?;
        Ok(ReadableList { sessions: list.finish().finish(), damaged })
    }

    /// The keys of the sessions that a filter accepts, ignoring its limit.
    #[cfg(feature = "search")]
    pub(crate) fn keys_of(&self, filter: &SessionFilter) -> Result<HashSet<SessionKey>> {
        let mut keys = HashSet::new();
        let snapshot = self.snapshot_to_read()?;
        Rows::of(&snapshot, filter)?.each_taken(SessionKey::ALL, |key, _| {
            keys.insert(key);
        })?;
        Ok(keys)
    }

    /// The sessions with the latest messages, newest first (omp document, `getRecentSessions`).
    ///
    /// # Errors
    ///
    /// Those of [`Self::list`].
    pub fn get_recent_sessions(&self, limit: usize) -> Result<Vec<SessionFacts>> {
        self.list(&SessionFilter { limit: Some(limit), ..SessionFilter::default() })
    }

    /// The session with the latest message, of those that a filter accepts (omp document, `findMostRecentSession`).
    ///
    /// # Errors
    ///
    /// Those of [`Self::list`].
    pub fn find_most_recent(&self, filter: &SessionFilter) -> Result<Option<SessionFacts>> {
        let newest =
            SessionFilter { order: SessionOrder::Modified, limit: Some(1), ..filter.clone() };
        Ok(self.list(&newest)?.pop())
    }

    /// For each of the given ids, the ids directly before and after it among all sessions, if there are any: a prefix
    /// that neither of them has is unique to the id. It costs two look-ups for each id.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let store = leafline::Store::in_memory()?;
    /// assert!(store.neighbouring_ids(["019c6605"])?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn neighbouring_ids<'i>(
        &self,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> Result<Vec<String>> {
        let snapshot = self.snapshot_to_read()?;
        let mut neighbours = Vec::new();
        for id in ids {
            let beside = snapshot.addresses()?.beside(id.as_bytes())?.into_iter().flatten();
            neighbours.extend(beside.map(|id| String::from_utf8_lossy(&id).into_owned()));
        }
        Ok(neighbours)
    }

    /// The sessions of the agents that a session started (Claude Code, omp, Codex), the oldest first. Agents that its agents
    /// started are among them, but for Codex: their files name only the session.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/claude");
    /// store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let agents = store.agents_of("5b0c7a52")?;
    /// assert_eq!(agents.len(), 2);
    /// assert_eq!(agents[0].agent.as_deref(), Some("7d31c0be"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`](crate::error::SessionError::NotFound),
    /// [`SessionError::Ambiguous`](crate::error::SessionError::Ambiguous).
    pub fn agents_of(&self, session: &str) -> Result<Vec<SessionFacts>> {
        let session = self.reader(session)?;
        let mut agents = agents_of(session.snapshot(), &session.id())?;
        agents.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.id.cmp(&b.id)));
        Ok(agents)
    }
}

impl Sortable for SessionFacts {
    fn sort_id(&self) -> &str {
        &self.id
    }

    fn sort_key(&self) -> SortKey<'_> {
        SortKey {
            said: self.title.as_deref().or(self.first_prompt.as_deref()),
            created: self.created,
            modified: self.modified,
            bytes: self.bytes,
        }
    }
}

/// The sessions of the agents that the session with this id started.
fn agents_of(snapshot: &Snapshot, id: &str) -> Result<Vec<SessionFacts>> {
    let mut agents = Vec::new();
    let mut texts = SharedTexts::by_session();
    let sessions = snapshot.sessions()?;
    for key in snapshot.session_parents()?.started_by(id.as_bytes())? {
        let row = indexed(sessions, "session_parents", key)?;
        let record = row.listed()?;
        if starter(&record) != Some(id.as_bytes()) {
            return Err(astray("session_parents", key));
        }
        agents.push(SessionFacts::listed(&record, &mut texts));
    }
    Ok(agents)
}

/// The session that a row of an index names.
fn indexed(sessions: &Sessions, index: &'static str, key: SessionKey) -> Result<SessionRow> {
    sessions.get(key)?.ok_or_else(|| astray(index, key))
}

/// The error for an index row that contradicts the session's record.
fn astray(index: &'static str, key: SessionKey) -> Error {
    Error::Corrupted(Corruption {
        table: index,
        place: format!("session key {key}"),
        problem: "the session's record does not say what the row does".into(),
    })
}

/// The records of a snapshot, and what a filter needs to read.
struct Rows<'s, 'f> {
    sessions: &'s Sessions,
    addresses: &'s Addresses,
    sieve: Sieve<'f>,
}

impl<'s, 'f> Rows<'s, 'f> {
    fn of(snapshot: &'s Snapshot, filter: &'f SessionFilter) -> Result<Self> {
        Ok(Self {
            sessions: snapshot.sessions()?,
            addresses: snapshot.addresses()?,
            sieve: Sieve::new(filter),
        })
    }

    /// The keys, in as many parts as are worth a thread.
    fn parts(&self) -> Result<Vec<RangeInclusive<SessionKey>>> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
        let parts = (self.sessions.len()? / WORTH_A_THREAD).clamp(1, cores);
        let Some((first, last)) = self.sessions.keys()?.map(RangeInclusive::into_inner) else {
            return Ok(Vec::new());
        };
        // Keys are given out in order, so that all parts have about as many sessions.
        let (first, last) = (first.raw(), last.raw());
        let share = (last.saturating_sub(first) / parts).saturating_add(1);
        let begins = (0..parts).map(|part| first.saturating_add(share.saturating_mul(part)));
        let ranges = begins.map(|begin| (begin, begin.saturating_add(share - 1)));
        Ok(ranges.map(|(begin, end)| SessionKey::new(begin)..=SessionKey::new(end)).collect())
    }

    /// Passes on the key and the record of each session that the filter accepts, in key order.
    fn each_taken(
        &self,
        keys: RangeInclusive<SessionKey>,
        mut take: impl FnMut(SessionKey, &ListedRecord<'_>),
    ) -> Result<()> {
        for row in self.sessions.range(keys)? {
            let row = row?;
            let record = row.listed()?;
            if self.takes(&record)? {
                take(row.key(), &record);
            }
        }
        Ok(())
    }

    /// Whether the filter accepts a session.
    fn takes(&self, record: &ListedRecord<'_>) -> Result<bool> {
        if self.sieve.filter.without_agents
            && let Some(parent) = starter(record)
            && self.addresses.key_of(parent)?.is_some()
        {
            return Ok(false);
        }
        Ok(self.sieve.takes(record))
    }

    /// The list for a filter that asks for the newest sessions, or for those in a span of time: from the newest hour
    /// back, as far as needed. `None` for any other filter, and if it would read a large part of all sessions.
    fn walk(&self, times: &SessionTimes) -> Result<Option<Ordered<'f, SessionFacts>>> {
        let filter = self.sieve.filter;
        let newest = filter.limit.filter(|_| filter.order == SessionOrder::Modified);
        let is_of_some_time = filter.since.is_some() || filter.until.is_some();
        if newest.is_none() && !is_of_some_time {
            return Ok(None);
        }
        let all = self.sessions.len()?;
        if times.len()? != all {
            return Err(Error::Corrupted(Corruption {
                table: "session_times",
                place: "all rows".into(),
                problem: format!("there are {} for {all} sessions", times.len()?),
            }));
        }
        let part = |share| usize::try_from(all / share).unwrap_or(usize::MAX).max(LEAST_WALK);
        let few = part(LOOKED_UP_SHARE);
        let mut left = if is_of_some_time && times.count(filter.since, filter.until, few)? <= few {
            few
        } else if newest.is_some() {
            part(WALKED_SHARE)
        } else {
            return Ok(None);
        };
        let mut list = List::new(filter);
        let mut taken = 0;
        let mut buckets = times.newest_first(filter.since, filter.until)?;
        while newest.is_none_or(|limit| taken < limit)
            && let Some((hour, keys)) = buckets.next(left)?
        {
            let Some(rest) = left.checked_sub(keys.len()) else { return Ok(None) };
            left = rest;
            for key in keys {
                let row = indexed(self.sessions, "session_times", key)?;
                let record = row.listed()?;
                if bucket(record.modified) != hour {
                    return Err(astray("session_times", key));
                }
                if self.takes(&record)? {
                    taken += 1;
                    list.push(&record);
                }
            }
        }
        Ok(Some(list.finish()))
    }

    /// The list of the sessions with these keys.
    fn list(&self, keys: RangeInclusive<SessionKey>) -> Result<Ordered<'f, SessionFacts>> {
        let mut list = List::new(self.sieve.filter);
        self.each_taken(keys, |_, record| list.push(record))?;
        Ok(list.finish())
    }
}

/// A list to which sessions are added.
struct List<'f> {
    listed: Ordered<'f, SessionFacts>,
    texts: SharedTexts,
}

impl<'f> List<'f> {
    fn new(filter: &'f SessionFilter) -> Self {
        // With a limit, sessions in the list are compared with later ones.
        let texts = match filter.limit {
            Some(_) => SharedTexts::by_session(),
            None => SharedTexts::batches(),
        };
        Self { listed: Ordered::new(filter), texts }
    }

    /// Adds a session, unless it comes after the limit.
    fn push(&mut self, record: &ListedRecord<'_>) {
        let key = SortKey {
            said: record.title.or(record.first_prompt),
            created: record.created,
            modified: record.modified,
            bytes: record.bytes,
        };
        if self.listed.wants(&key) {
            self.listed.push(SessionFacts::listed(record, &mut self.texts));
        }
    }

    fn finish(mut self) -> Ordered<'f, SessionFacts> {
        self.texts.seal();
        self.listed
    }
}

#[cfg(test)]
mod tests {
    use leafline_import::Family;
    use proptest::prelude::*;

    /// Commits sessions without lines.
    fn commit(store: &Store, sessions: impl IntoIterator<Item = (u64, SessionRecord)>) {
        let mut batch = Batch::default();
        for (key, record) in sessions {
            let (author, place, sources) = (Author::File, Place::Own, Vec::new());
            let finished = Finished { record, leaf: None, author, place, sources };
            Creation::new(SessionKey::new(key)).finish(&mut batch, finished).unwrap();
        }
        store.commit(batch).unwrap();
    }

    use super::*;
    use crate::store::commit::{Author, Batch, Creation, Finished, Place};
    use crate::store::session_record::SessionRecord;

    /// Enough sessions for all cores to read them, with keys that leave gaps.
    #[test]
    fn parts_make_the_whole_list() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store.leafline")).unwrap();
        let keys = (1..3_000).chain(100_000..100_010).chain((200_000..230_000).step_by(7));
        let keys: Vec<u64> = keys.collect();
        assert!(keys.len() as u64 > 3 * WORTH_A_THREAD);
        let record = |key: u64| SessionRecord {
            external_id: format!("id{key}").into_bytes(),
            title: Some(format!("title {}", key % 100)),
            modified: (!key.is_multiple_of(11)).then_some((key % 1_000).cast_signed()),
            ..SessionRecord::default()
        };
        commit(&store, keys.iter().map(|&key| (key, record(key))));
        let all = store.sessions().unwrap();
        let mut expected: Vec<_> = keys.iter().map(|&key| (record(key).modified, key)).collect();
        expected.sort_by(|(a, a_key), (b, b_key)| {
            b.cmp(a).then_with(|| format!("id{a_key}").cmp(&format!("id{b_key}")))
        });
        let found: Vec<_> = all.iter().map(|facts| facts.id.to_string()).collect();
        assert_eq!(found, expected.iter().map(|(_, key)| format!("id{key}")).collect::<Vec<_>>());
        assert!(all.iter().all(|facts| facts.title.as_ref().is_some_and(|title| {
            let key: u64 = facts.id["id".len()..].parse().unwrap();
            *title == *format!("title {}", key % 100)
        })));
        let recent = store.get_recent_sessions(100).unwrap();
        assert_eq!(recent, all[..100]);
        let filter = SessionFilter { text: Some("title 7".to_owned()), ..SessionFilter::default() };
        let titled = store.list(&filter).unwrap();
        let is_titled = |facts: &SessionFacts| facts.title.as_ref().unwrap().starts_with("title 7");
        assert_eq!(titled, all.into_iter().filter(is_titled).collect::<Vec<_>>());
    }

    /// An hour in milliseconds.
    const HOUR: i64 = 3_600_000;

    fn a_record() -> impl Strategy<Value = SessionRecord> {
        let time = proptest::option::of(-2 * HOUR..3 * HOUR);
        (time, 0_u8..3, 0_u8..3, proptest::option::of(0_u64..60)).prop_map(
            |(modified, family, directory, parent)| SessionRecord {
                modified,
                created: modified.map(|time| time / 2),
                family,
                cwd: Some(format!("/work/{directory}")),
                title: Some(format!("title {directory}")),
                agent: parent.map(|parent| parent.to_string()),
                parent_session: parent.map(|parent| format!("id{parent}")),
                ..SessionRecord::default()
            },
        )
    }

    fn a_filter() -> impl Strategy<Value = SessionFilter> {
        let orders = vec![
            SessionOrder::Modified,
            SessionOrder::Modified,
            SessionOrder::Created,
            SessionOrder::Size,
        ];
        let bound = || proptest::option::of(-3 * HOUR..4 * HOUR);
        let limit = proptest::option::of(0_usize..20);
        let places = (proptest::option::of(0_u8..3), proptest::bool::ANY, proptest::bool::ANY);
        (proptest::sample::select(orders), limit, bound(), bound(), places).prop_map(
            |(order, limit, since, until, (directory, of_pi, without_agents))| SessionFilter {
                order,
                limit,
                since,
                until,
                cwd: directory.map(|directory| format!("/work/{directory}")),
                family: of_pi.then_some(Family::Pi),
                without_agents,
                ..SessionFilter::default()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A walk by time lists what a scan of all sessions lists.
        #[test]
        fn a_walk_lists_what_a_scan_does(
            records in proptest::collection::vec(a_record(), 0..LEAST_WALK),
            filters in proptest::collection::vec(a_filter(), 20),
        ) {
            let store = Store::in_memory().unwrap();
            commit(&store, (1_u64..).zip(&records).map(|(key, record)| {
                let external_id = format!("id{key}").into_bytes();
                (key, SessionRecord { external_id, ..record.clone() })
            }));
            let snapshot = store.snapshot().unwrap();
            let times = snapshot.session_times().unwrap();
            for filter in &filters {
                let rows = Rows::of(&snapshot, filter).unwrap();
                let walked = rows.walk(&times).unwrap().map(Ordered::finish);
                let is_walked = filter.since.is_some()
                    || filter.until.is_some()
                    || filter.limit.is_some() && filter.order == SessionOrder::Modified;
                prop_assert_eq!(walked.is_some(), is_walked);
                if let Some(walked) = walked {
                    prop_assert_eq!(walked, rows.list(SessionKey::ALL).unwrap().finish(), "{:?}", filter);
                }
            }
            let of_first = agents_of(&snapshot, "id1").unwrap();
            let mut expected = store.sessions().unwrap();
            expected.retain(|facts| facts.is_agent_of("id1"));
            expected.sort_by_key(|facts| facts.id["id".len()..].parse::<u64>().unwrap());
            prop_assert_eq!(of_first, expected);
        }
    }

    #[test]
    fn neighbours_are_those_beside_an_id() {
        let store = Store::in_memory().unwrap();
        let sessions = (1..).zip(["b", "a", "ab", "c"]).map(|(key, id)| {
            (key, SessionRecord { external_id: id.as_bytes().to_vec(), ..SessionRecord::default() })
        });
        commit(&store, sessions);
        let beside = |id| store.neighbouring_ids([id]).unwrap();
        assert_eq!(beside("a"), ["ab"]);
        assert_eq!(beside("ab"), ["a", "b"]);
        assert_eq!(beside("c"), ["b"]);
        assert_eq!(store.neighbouring_ids(["a", "c"]).unwrap(), ["ab", "b"]);
    }
}
