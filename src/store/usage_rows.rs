//! The rows of `usage`.

use super::record::Record;
use super::session_key::SessionKey;
use super::session_rows::SessionRows;
use super::snapshot::Snapshot;
use super::tables::{self, NOT_COUNTED};
use super::usage_record::UsageRecord;
use crate::error::{Corruption, Result};
use crate::store::pages::ReadOnlyTable;

type Table = ReadOnlyTable<(u64, u64), &'static [u8]>;

/// How far the usage of a session is counted.
#[derive(Debug)]
pub(crate) enum UsageTail {
    /// No line so far reports any.
    Nothing,
    /// The number of the last row, and the row.
    Row(u64, Box<UsageRecord>),
    /// It is not counted: the rows are out of date.
    NotCounted,
}

/// The rows of all sessions, as they are in a snapshot; they can be read beside it in another thread.
pub(crate) struct UsageRows(Table);

impl UsageRows {
    /// Passes on each row: the session, the row's number, and the bytes of the record. For a session that is not counted comes
    /// `None`, after the rows that it has, which are out of date.
    pub(crate) fn each(
        &self,
        mut take: impl FnMut(SessionKey, u64, Option<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        for row in self.0.iter()? {
            let (key, value) = row?;
            let (session, number) = key.value();
            let bytes = (number != NOT_COUNTED).then(|| value.value());
            take(SessionKey::new(session), number, bytes)?;
        }
        Ok(())
    }
}

impl Snapshot {
    /// The rows of all sessions.
    pub(crate) fn usage_rows(&self) -> Result<UsageRows> {
        Ok(UsageRows(self.table(tables::USAGE)?))
    }
}

impl SessionRows<'_> {
    /// The last row of the session's usage.
    pub(crate) fn usage_tail(self) -> Result<UsageTail> {
        let table = self.snapshot.table(tables::USAGE)?;
        let session = self.session.raw();
        let Some(last) = table.range((session, 0)..=(session, NOT_COUNTED))?.next_back() else {
            return Ok(UsageTail::Nothing);
        };
        let (key, value) = last?;
        let number = key.value().1;
        if number == NOT_COUNTED {
            return Ok(UsageTail::NotCounted);
        }
        let record = self.read_usage(number, value.value())?;
        if !record.has_state() {
            return Err(Corruption {
                table: UsageRecord::TABLE,
                place: self.place_of_usage(number),
                problem: "the last row of the session is missing".into(),
            }
            .into());
        }
        Ok(UsageTail::Row(number, Box::new(record)))
    }

    /// The rows of the session's usage; `None` if it is not counted.
    pub(crate) fn usage(self) -> Result<Option<Vec<(u64, UsageRecord)>>> {
        let table = self.snapshot.table(tables::USAGE)?;
        let session = self.session.raw();
        let mut rows = Vec::new();
        if table.get((session, NOT_COUNTED))?.is_some() {
            return Ok(None);
        }
        for row in table.range((session, 0)..(session, NOT_COUNTED))? {
            let (key, value) = row?;
            let number = key.value().1;
            rows.push((number, self.read_usage(number, value.value())?));
        }
        Ok(Some(rows))
    }

    fn read_usage(self, number: u64, bytes: &[u8]) -> Result<UsageRecord> {
        UsageRecord::from_bytes(bytes, || self.place_of_usage(number))
    }

    fn place_of_usage(self, number: u64) -> String {
        format!("session key {}, row {number}", self.session)
    }
}
