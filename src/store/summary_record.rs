//! The value of the `summaries` table: what a program makes of a session's lines, as far as it has read them.

use bincode::{Decode, Encode};

use super::Store;
use super::record::Record;
use super::session_key::SessionKey;
use super::snapshot::Snapshot;
use super::tables;
use crate::error::Result;
use crate::store::pages::ReadableTable;

/// What a program made of the first lines of a session. It is derived from them: without the row it is made again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct SummaryRecord {
    /// How many lines it is made of.
    pub(crate) lines: u64,
    /// The session's `changed_at` then: with another one the lines may be others.
    pub(crate) changed_at: u64,
    /// What the program made, in its own form.
    pub(crate) data: String,
}

impl Record for SummaryRecord {
    const TABLE: &'static str = "summaries";
}

impl Snapshot {
    /// What was made of a session's lines in this form, if it is kept.
    pub(crate) fn summary(&self, session: SessionKey, form: &str) -> Result<Option<SummaryRecord>> {
        let table = self.table(tables::SUMMARIES)?;
        let value = table.get((session.raw(), form.as_bytes()))?;
        let read = |value: &[u8]| SummaryRecord::from_bytes(value, || format!("{session}, {form}"));
        value.map(|value| read(value.value())).transpose()
    }
}

impl Store {
    /// Keeps what was made of sessions' lines in this form: of those that are still there.
    pub(crate) fn keep_summaries(
        &self,
        form: &str,
        summaries: &[(SessionKey, SummaryRecord)],
    ) -> Result<()> {
        let transaction = self.begin_write()?;
        transaction.act(|transaction| {
            let sessions = transaction.open_table(tables::SESSIONS)?;
            let mut table = transaction.open_table(tables::SUMMARIES)?;
            for (session, summary) in summaries {
                if sessions.get(session.raw())?.is_some() {
                    let key = (session.raw(), form.as_bytes());
                    table.insert(key, summary.to_bytes().as_slice())?;
                }
            }
            Ok(())
        })?;
        transaction.commit()
    }
}
