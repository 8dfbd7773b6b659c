//! Listing sessions from their records: no line is read.

use redb::ReadableTable;

use crate::error::Result;
use crate::session::SessionFacts;
use crate::store::Store;
use crate::store::record::Record;
use crate::store::session_record::SessionRecord;

impl Store {
    /// All sessions' facts, the one with the latest message first; equal ones by id.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] where the store is damaged.
    pub fn sessions(&self) -> Result<Vec<SessionFacts>> {
        let snapshot = self.snapshot()?;
        let mut sessions = Vec::new();
        for row in snapshot.sessions()?.iter()? {
            let (key, value) = row?;
            let record = SessionRecord::from_bytes(value.value(), || key.value().to_string())?;
            sessions.push(SessionFacts::of(&record));
        }
        sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
        Ok(sessions)
    }
}
