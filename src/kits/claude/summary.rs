//! Summaries: what a kit folds of a session's entries, kept so that it reads each entry once.

use super::key::SessionKey;
use super::session_store::{SessionEntries, SessionStore};
use crate::error::{Error, Result, StoreError};
use crate::store::summary_record::SummaryRecord;

/// What a kit made of the first entries of a session, and the entries that came since.
#[derive(Debug)]
pub struct SessionSummary {
    data: Option<String>,
    new: SessionEntries,
    is_current: bool,
}

impl SessionSummary {
    /// What the kit made, in the form that it gave; `None` if it has made nothing yet.
    pub fn data(&self) -> Option<&str> {
        self.data.as_deref()
    }

    /// Whether there are no entries that the kit has not read.
    pub fn is_current(&self) -> bool {
        self.is_current
    }

    /// The next entries that the kit has not read: see [`SessionEntries::page`].
    ///
    /// # Errors
    ///
    /// Those of [`SessionEntries::page`].
    pub fn page(&mut self, bytes: usize) -> Result<Vec<Vec<u8>>> {
        self.new.page(bytes)
    }

    /// Sets what the kit has made of all entries.
    pub fn set_data(&mut self, data: impl Into<String>) {
        self.data = Some(data.into());
    }
}

impl SessionStore {
    /// What a kit made of the session with this key (`fold_session_summary` of both kits), as far as it was
    /// [kept](Self::keep_summaries): the kit folds the entries that came since, sets the data, and has it kept. The forms of
    /// the kits differ, so each names its own. `None` if there is no such session.
    ///
    /// ```
    /// use leafline::Store;
    /// use leafline::claude::{SessionKey, SessionStore};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let sessions = SessionStore::new(&Store::in_memory()?);
    /// let key = SessionKey::new("-work", "s");
    /// sessions.append(&key, br#"{"type":"x","n":1}"#)?;
    /// let mut summary = sessions.summary(&key, "count")?.expect("it was appended to");
    /// assert_eq!(summary.data(), None);
    /// assert_eq!(summary.page(1 << 20)?.len(), 1);
    /// summary.set_data("1 entry");
    /// sessions.keep_summaries("count", vec![summary])?;
    /// let summary = sessions.summary(&key, "count")?.expect("it was appended to");
    /// assert_eq!((summary.data(), summary.is_current()), (Some("1 entry"), true));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidKey`](crate::error::LiveError::InvalidKey); those of the store.
    pub fn summary(&self, key: &SessionKey, form: &str) -> Result<Option<SessionSummary>> {
        let Some(reader) = self.find(key)? else { return Ok(None) };
        let record = reader.record();
        let kept = reader
            .snapshot()
            .summary(reader.key(), form)?
            .filter(|kept| kept.changed_at == record.changed_at && kept.lines <= record.lines);
        let is_current = kept.as_ref().is_some_and(|kept| kept.lines == record.lines);
        let lines = kept.as_ref().map_or(0, |kept| kept.lines);
        let (data, new) = (kept.map(|kept| kept.data), SessionEntries::from(reader, lines));
        Ok(Some(SessionSummary { data, new, is_current }))
    }

    /// Keeps what a kit made of sessions, in one commit: each is of all entries that the session had when it was asked for.
    /// In a store that is only read nothing is kept, and the entries are folded again the next time.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn keep_summaries(&self, form: &str, summaries: Vec<SessionSummary>) -> Result<()> {
        let new = summaries.into_iter().filter(|summary| !summary.is_current);
        let rows: Vec<_> = new
            .filter_map(|summary| {
                let (reader, data) = (summary.new.reader(), summary.data?);
                let (lines, changed_at) = (reader.record().lines, reader.record().changed_at);
                Some((reader.key(), SummaryRecord { lines, changed_at, data }))
            })
            .collect();
        if rows.is_empty() || self.store().is_read_only() {
            return Ok(());
        }
        match self.store().keep_summaries(form, &rows) {
            Err(Error::Store(StoreError::ReadOnly { .. })) => Ok(()),
            kept => kept,
        }
    }
}
