//! The values of the `removed` table: what is kept of a session that was removed, so that no import brings it back unasked.

use bincode::{Decode, Encode};

use super::record::Record;
use super::session_key::SessionKey;
use super::session_record::{SessionRecord, address};
use super::snapshot::Snapshot;
use super::tables;
use crate::error::Result;

/// What is kept of a removed session: nothing of what was said in it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct RemovedRecord {
    /// Its id, as its file stated it.
    pub(crate) external_id: Vec<u8>,
    /// Its number among the sessions with this id.
    pub(crate) number: u32,
    /// When it was removed, in milliseconds since 1970.
    pub(crate) at: i64,
    /// The number of bytes that were imported, and their fingerprint; 0 if it was made here.
    pub(crate) length: u64,
    pub(crate) digest: u128,
    /// Paths of the files from which it was imported: its keys in `sources`.
    pub(crate) sources: Vec<Vec<u8>>,
}

impl RemovedRecord {
    /// What is kept of a session that is removed at this time.
    pub(super) fn of(record: SessionRecord, at: i64) -> Self {
        let SessionRecord { external_id, number, rest, .. } = record;
        let (length, digest) = (rest.imported.length, rest.imported.digest);
        Self { external_id, number, at, length, digest, sources: rest.sources }
    }

    /// The id under which the session was addressed.
    pub(crate) fn id(&self) -> String {
        address(&String::from_utf8_lossy(&self.external_id), self.number)
    }
}

impl Record for RemovedRecord {
    const TABLE: &'static str = "removed";
}

impl Snapshot {
    /// What is kept of the removed session that had this key, if one had it.
    pub(crate) fn removed(&self, session: SessionKey) -> Result<Option<RemovedRecord>> {
        let table = self.table(tables::REMOVED)?;
        let value = table.get(session.raw())?;
        value.map(|value| read(session, value.value())).transpose()
    }

    /// The removed sessions with this id, in the order in which they were added to the store.
    pub(crate) fn removed_with_id(&self, id: &[u8]) -> Result<Vec<(SessionKey, RemovedRecord)>> {
        let ids = self.table(tables::REMOVED_IDS)?;
        let mut found = Vec::new();
        for row in ids.range((id, 0)..=(id, u64::MAX))? {
            let session = SessionKey::new(row?.0.value().1);
            // A missing record is damage, which `verify` reports: the other sessions are not affected.
            if let Some(record) = self.removed(session)? {
                found.push((session, record));
            }
        }
        Ok(found)
    }

    /// Passes on each removed session's key and record.
    pub(crate) fn each_removed(
        &self,
        mut take: impl FnMut(SessionKey, Result<RemovedRecord>) -> Result<()>,
    ) -> Result<()> {
        let table = self.table(tables::REMOVED)?;
        for row in table.iter()? {
            let (session, value) = row?;
            let session = SessionKey::new(session.value());
            take(session, read(session, value.value()))?;
        }
        Ok(())
    }

    /// Passes on the id and the key of each row of `removed_ids`.
    pub(crate) fn each_removed_id(&self, mut take: impl FnMut(&[u8], SessionKey)) -> Result<()> {
        let table = self.table(tables::REMOVED_IDS)?;
        for row in table.iter()? {
            let (key, _) = row?;
            let (id, session) = key.value();
            take(id, SessionKey::new(session));
        }
        Ok(())
    }
}

fn read(session: SessionKey, value: &[u8]) -> Result<RemovedRecord> {
    RemovedRecord::from_bytes(value, || session.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::store::pages::ReadableTable;

    /// The tables in which a check finds a problem.
    fn problems(store: &Store) -> Vec<String> {
        let problems = store.verify().unwrap().problems;
        problems.into_iter().map(|found| found.kind.to_string()).collect()
    }

    #[test]
    fn rows_that_do_not_fit_each_other_are_damage() {
        let new = crate::NewSession::new(leafline_import::Family::Opal, "/work");
        type Damage = fn(&redb::WriteTransaction);
        let damages: [(Damage, &str); 3] = [
            (
                |transaction| {
                    let mut ids = transaction.open_table(tables::REMOVED_IDS).unwrap();
                    ids.retain(|_, ()| false).unwrap();
                },
                "removed_ids",
            ),
            (
                |transaction| {
                    let mut removed = transaction.open_table(tables::REMOVED).unwrap();
                    removed.retain(|_, _| false).unwrap();
                },
                "removed_ids",
            ),
            (
                |transaction| {
                    let mut removed = transaction.open_table(tables::REMOVED).unwrap();
                    let key = removed.first().unwrap().unwrap().0.value();
                    removed.insert(key, &[1, 255][..]).unwrap();
                },
                "removed",
            ),
        ];
        for (damage, table) in damages {
            let store = Store::in_memory().unwrap();
            let id = store.create_session(&new).unwrap().id().to_owned();
            store.remove(&id).unwrap();
            assert_eq!(problems(&store), [""; 0]);
            let transaction = store.begin_write().unwrap();
            damage(&transaction);
            transaction.commit().unwrap();
            assert_eq!(problems(&store), [table]);
        }
    }
}
