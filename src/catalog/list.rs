//! Listing sessions from their records: no line is read.

#[cfg(feature = "search")]
use std::collections::HashSet;
use std::ops::RangeInclusive;

use leafline_import::Family;
use redb::{ReadOnlyTable, ReadableTable, ReadableTableMetadata};

use super::filter::{SessionFilter, SessionOrder, Sieve};
use super::order::{Ordered, SortKey, Sortable};
use crate::error::Result;
use crate::session::{SessionFacts, SharedTexts};
use crate::store::Store;
use crate::store::session_record::ListedRecord;
use crate::store::snapshot::Snapshot;
use crate::store::tables;

/// Sessions that are worth a thread: reading them takes a millisecond or two, starting one a small part of that.
const WORTH_A_THREAD: u64 = 2048;

impl Store {
    /// All sessions' facts, the one with the latest message first; equal ones by id.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] where the store is damaged.
    pub fn sessions(&self) -> Result<Vec<SessionFacts>> {
        self.list(&SessionFilter::default())
    }

    /// The facts of the sessions that a filter takes, in its order. No line is read: a list costs about a microsecond for
    /// each session of the store, and all cores read a long one.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] where the store is damaged.
    pub fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionFacts>> {
        let snapshot = self.snapshot()?;
        let rows = Rows::of(&snapshot, filter)?;
        let mut parts = rows.parts()?.into_iter();
        let first = parts.next().unwrap_or(ALL);
        let listed = std::thread::scope(|scope| -> Result<_> {
            let others: Vec<_> = parts.map(|part| scope.spawn(|| rows.list(part))).collect();
            let mut all = rows.list(first)?;
            for other in others {
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                all.append(other?);
            }
            Ok(all)
        })?;
        Ok(listed.finish())
    }

    /// The keys of the sessions that a filter takes, whatever its limit.
    #[cfg(feature = "search")]
    pub(crate) fn keys_of(&self, filter: &SessionFilter) -> Result<HashSet<u64>> {
        let mut keys = HashSet::new();
        let snapshot = self.snapshot()?;
        Rows::of(&snapshot, filter)?.each_taken(ALL, |key, _| {
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

    /// The session with the latest message, of those that a filter takes (omp document, `findMostRecentSession`).
    ///
    /// # Errors
    ///
    /// Those of [`Self::list`].
    pub fn find_most_recent(&self, filter: &SessionFilter) -> Result<Option<SessionFacts>> {
        let newest =
            SessionFilter { order: SessionOrder::Modified, limit: Some(1), ..filter.clone() };
        Ok(self.list(&newest)?.pop())
    }

    /// The sessions of the agents that a session started (Claude Code), the oldest first. Agents that its agents
    /// started are among them: their files name the session alone.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/claude");
    /// store.import(&[samples], &leafline::ImportOptions::default(), &mut ())?;
    /// let agents = store.agents_of("5b0c7a52")?;
    /// assert_eq!(agents.len(), 2);
    /// assert_eq!(agents[0].agent.as_deref(), Some("7d31c0be"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`crate::Error::SessionNotFound`], [`crate::Error::SessionAmbiguous`].
    pub fn agents_of(&self, session: &str) -> Result<Vec<SessionFacts>> {
        let session = self.reader(session)?;
        // Only Claude Code's sessions start agents: for others the store is not looked through.
        if session.family() != Family::Claude {
            return Ok(Vec::new());
        }
        let id = session.id();
        let mut agents = self.sessions()?;
        agents.retain(|facts| facts.is_agent_of(&id));
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

/// All keys.
const ALL: RangeInclusive<u64> = 0..=u64::MAX;

/// The records of a snapshot, and what a filter looks at.
struct Rows<'f> {
    sessions: ReadOnlyTable<u64, &'static [u8]>,
    ids: ReadOnlyTable<&'static [u8], u64>,
    sieve: Sieve<'f>,
}

impl<'f> Rows<'f> {
    fn of(snapshot: &Snapshot, filter: &'f SessionFilter) -> Result<Self> {
        Ok(Self {
            sessions: snapshot.table(tables::SESSIONS)?,
            ids: snapshot.table(tables::SESSION_IDS)?,
            sieve: Sieve::new(filter),
        })
    }

    /// The keys, in as many parts as are worth a thread.
    fn parts(&self) -> Result<Vec<RangeInclusive<u64>>> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
        let parts = (self.sessions.len()? / WORTH_A_THREAD).clamp(1, cores);
        let (Some((first, _)), Some((last, _))) = (self.sessions.first()?, self.sessions.last()?)
        else {
            return Ok(Vec::new());
        };
        let (first, last) = (first.value(), last.value());
        // Keys are given out in order, so that those of a part are about as many as those of another.
        let share = (last.saturating_sub(first) / parts).saturating_add(1);
        let begins = (0..parts).map(|part| first.saturating_add(share.saturating_mul(part)));
        Ok(begins.map(|begin| begin..=begin.saturating_add(share - 1)).collect())
    }

    /// Hands out the key and the record of each session that the filter takes, in the order of the keys.
    fn each_taken(
        &self,
        keys: RangeInclusive<u64>,
        mut take: impl FnMut(u64, &ListedRecord<'_>),
    ) -> Result<()> {
        for row in self.sessions.range(keys)? {
            let (key, value) = row?;
            let record = ListedRecord::borrowed(value.value(), || key.value().to_string())?;
            if self.sieve.filter.without_agents
                && record.agent.is_some()
                && let Some(parent) = record.parent_session
                && self.ids.get(parent.as_bytes())?.is_some()
            {
                continue;
            }
            if self.sieve.takes(&record) {
                take(key.value(), &record);
            }
        }
        Ok(())
    }

    /// The list of the sessions with these keys.
    fn list(&self, keys: RangeInclusive<u64>) -> Result<Ordered<'f, SessionFacts>> {
        let filter = self.sieve.filter;
        let mut listed = Ordered::new(filter);
        // With a limit, those that are listed so far are compared with those that come.
        let mut texts = match filter.limit {
            Some(_) => SharedTexts::by_session(),
            None => SharedTexts::batches(),
        };
        self.each_taken(keys, |_, record| {
            let key = SortKey {
                said: record.title.or(record.first_prompt),
                created: record.created,
                modified: record.modified,
                bytes: record.bytes,
            };
            if listed.wants(&key) {
                listed.push(SessionFacts::listed(record, &mut texts));
            }
        })?;
        texts.seal();
        Ok(listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::session_record::SessionRecord;
    use crate::store::slice::Slice;

    /// So many that all cores read them, with keys that leave gaps.
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
        let sessions = keys.iter().map(|&key| (key, record(key))).collect();
        store.commit(Slice { sessions, ..Slice::default() }).unwrap();
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
}
