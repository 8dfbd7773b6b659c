//! The rows of `sessions`, and those that lead to them: by the id that a caller uses, by the imported file, and by the
//! mark of an owner.

use std::ops::{Bound, RangeInclusive};

use redb::AccessGuard;

use super::record::Record;
use super::session_key::SessionKey;
use super::session_record::{ListedRecord, SessionRecord};
use super::snapshot::Snapshot;
use super::source_record::SourceRecord;
use super::tables;
use crate::error::{Error, Result};
use crate::store::pages::{ReadOnlyTable, ReadableTable};

/// The sessions of a snapshot.
pub(crate) struct Sessions(ReadOnlyTable<u64, &'static [u8]>);

/// One session's key and record, which stays in the engine's page until it is decoded.
pub(crate) struct SessionRow {
    key: SessionKey,
    value: AccessGuard<'static, &'static [u8]>,
}

impl Sessions {
    pub(super) fn new(table: ReadOnlyTable<u64, &'static [u8]>) -> Self {
        Self(table)
    }

    /// How many sessions there are.
    pub(crate) fn len(&self) -> Result<u64> {
        self.0.len()
    }

    /// The lowest key and the highest one.
    pub(crate) fn keys(&self) -> Result<Option<RangeInclusive<SessionKey>>> {
        let keys = self.0.first()?.zip(self.0.last()?);
        let key = |raw: AccessGuard<'_, u64>| SessionKey::new(raw.value());
        Ok(keys.map(|((first, _), (last, _))| key(first)..=key(last)))
    }

    /// The session with this key.
    pub(crate) fn get(&self, key: SessionKey) -> Result<Option<SessionRow>> {
        Ok(self.0.get(key.raw())?.map(|value| SessionRow { key, value }))
    }

    /// All sessions, in the order in which they were added to the store.
    pub(crate) fn iter(&self) -> Result<impl Iterator<Item = Result<SessionRow>>> {
        self.range(SessionKey::ALL)
    }

    /// The sessions with these keys.
    pub(crate) fn range(
        &self,
        keys: RangeInclusive<SessionKey>,
    ) -> Result<impl Iterator<Item = Result<SessionRow>>> {
        let rows = self.0.range(keys.start().raw()..=keys.end().raw())?;
        Ok(rows.map(|row| {
            let (key, value) = row?;
            Ok(SessionRow { key: SessionKey::new(key.value()), value })
        }))
    }
}

/// A session that is there and whose row cannot be read.
#[derive(Debug)]
pub(crate) struct UnreadableRow {
    pub(crate) key: SessionKey,
    /// The id by which it is addressed.
    pub(crate) address: Vec<u8>,
    pub(crate) error: Error,
}

impl Snapshot {
    /// Passes on all sessions, in the order in which they were added, also those whose rows cannot be read.
    ///
    /// Behind a damaged page of the sessions the others are found by their ids.
    pub(crate) fn each_session(
        &self,
        mut take: impl FnMut(Result<SessionRow, UnreadableRow>) -> Result<()>,
    ) -> Result<()> {
        let mut last = None;
        let mut rows = || -> Result<()> {
            for row in self.sessions()?.iter()? {
                let row = row?;
                last = Some(row.key);
                take(Ok(row))?;
            }
            Ok(())
        };
        match rows() {
            Err(Error::Corrupted(_)) => {}
            done => return done,
        }
        let mut left = Vec::new();
        for row in self.addresses()?.beginning_with(b"")? {
            let (address, key) = row?;
            if last.is_none_or(|last| last < key) {
                left.push((key, address));
            }
        }
        left.sort_unstable();
        for (key, address) in left {
            match self.session_row(key) {
                Ok(Some(row)) => take(Ok(row))?,
                // An id alone is no session.
                Ok(None) => {}
                Err(error @ Error::Corrupted(_)) => {
                    take(Err(UnreadableRow { key, address, error }))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The id of a session whose record cannot be read.
    pub(crate) fn id_of(&self, key: SessionKey) -> Result<String> {
        for row in self.addresses()?.beginning_with(b"")? {
            let (id, session) = row?;
            if session == key {
                return Ok(String::from_utf8_lossy(&id).into_owned());
            }
        }
        Ok(format!("of key {key}"))
    }

    fn session_row(&self, key: SessionKey) -> Result<Option<SessionRow>> {
        self.sessions()?.get(key)
    }
}

impl SessionRow {
    pub(crate) fn key(&self) -> SessionKey {
        self.key
    }

    /// The record as it is stored.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.value.value()
    }

    pub(crate) fn record(&self) -> Result<SessionRecord> {
        SessionRecord::from_bytes(self.bytes(), || self.key.to_string())
    }

    /// The part of the record that lists read.
    pub(crate) fn listed(&self) -> Result<ListedRecord<'_>> {
        ListedRecord::borrowed(self.bytes(), || self.key.to_string())
    }
}

/// The addresses of a snapshot's sessions, each with the session's key.
pub(crate) struct Addresses(ReadOnlyTable<&'static [u8], u64>);

impl Addresses {
    pub(super) fn new(table: ReadOnlyTable<&'static [u8], u64>) -> Self {
        Self(table)
    }

    /// The key of the session that has this address.
    pub(crate) fn key_of(&self, address: &[u8]) -> Result<Option<SessionKey>> {
        Ok(self.0.get(address)?.map(|key| SessionKey::new(key.value())))
    }

    /// The addresses directly before and after another one.
    pub(crate) fn beside(&self, address: &[u8]) -> Result<[Option<Vec<u8>>; 2]> {
        let before = self.0.range(..address)?.next_back().transpose()?;
        let behind = (Bound::Excluded(address), Bound::Unbounded);
        let behind = self.0.range::<&[u8]>(behind)?.next().transpose()?;
        Ok([before, behind].map(|row| row.map(|(address, _)| address.value().to_vec())))
    }

    /// The addresses that begin with a prefix, in order, each with its session's key.
    pub(crate) fn beginning_with(
        &self,
        beginning: &[u8],
    ) -> Result<impl Iterator<Item = Result<(Vec<u8>, SessionKey)>>> {
        let rows = self.0.range(beginning..)?;
        let rows = rows.map(|row| {
            let (address, key) = row?;
            Ok((address.value().to_vec(), SessionKey::new(key.value())))
        });
        Ok(rows.take_while(move |row| match row {
            Ok((address, _)) => address.starts_with(beginning),
            Err(_) => true,
        }))
    }
}

impl Snapshot {
    /// The session's record, if there is such a session.
    pub(crate) fn session(&self, key: SessionKey) -> Result<Option<SessionRecord>> {
        self.sessions()?.get(key)?.map(|row| row.record()).transpose()
    }

    /// The key of the session that has this address.
    pub(crate) fn key_of(&self, address: &[u8]) -> Result<Option<SessionKey>> {
        self.addresses()?.key_of(address)
    }

    /// What was imported from a file.
    pub(crate) fn source(&self, path: &[u8]) -> Result<Option<SourceRecord>> {
        let value = self.table(tables::SOURCES)?.get(path)?;
        value.map(|value| read_source(path, value.value())).transpose()
    }

    /// The rows of `sources` whose keys begin so, in order.
    pub(crate) fn sources_beginning_with(
        &self,
        beginning: &[u8],
    ) -> Result<Vec<(Vec<u8>, SourceRecord)>> {
        let mut found = Vec::new();
        for row in self.table(tables::SOURCES)?.range(beginning..)? {
            let (key, value) = row?;
            if !key.value().starts_with(beginning) {
                break;
            }
            found.push((key.value().to_vec(), read_source(key.value(), value.value())?));
        }
        Ok(found)
    }

    /// The sessions that have this id in their header, or as the name of their file: `<id>`, `<id>~2` and so on.
    pub(crate) fn sessions_with_id(&self, id: &[u8]) -> Result<Vec<(SessionKey, SessionRecord)>> {
        let addresses = self.addresses()?;
        let mut found = Vec::new();
        let mut look = |address: &[u8]| -> Result<()> {
            if let Some(session) = addresses.key_of(address)?
                && let Some(record) = self.session(session)?
                && record.external_id == id
            {
                found.push((session, record));
            }
            Ok(())
        };
        look(id)?;
        // Another session may have such an id as its own.
        let prefix = [id, b"~"].concat();
        for row in addresses.beginning_with(&prefix)? {
            look(&row?.0)?;
        }
        Ok(found)
    }

    /// Passes on the path of every imported file, and its source record.
    pub(crate) fn each_source(
        &self,
        mut take: impl FnMut(&[u8], Result<SourceRecord>) -> Result<()>,
    ) -> Result<()> {
        for row in self.table(tables::SOURCES)?.iter()? {
            let (path, value) = row?;
            take(path.value(), read_source(path.value(), value.value()))?;
        }
        Ok(())
    }

    /// The sessions that are incomplete or must be swept, each with its owner's token.
    pub(crate) fn unfinished(&self) -> Result<Vec<(SessionKey, u64)>> {
        let marks = self.table(tables::UNFINISHED)?;
        let marks = marks.iter()?.map(|row| {
            let (session, token) = row?;
            Ok((SessionKey::new(session.value()), token.value()))
        });
        marks.collect()
    }
}

fn read_source(path: &[u8], value: &[u8]) -> Result<SourceRecord> {
    SourceRecord::from_bytes(value, || String::from_utf8_lossy(path).into_owned())
}
