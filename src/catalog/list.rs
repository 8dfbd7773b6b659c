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
        let session = self.session(session)?;
        let mut agents = self.sessions()?;
        agents.retain(|facts| facts.is_agent_of(session.id()));
        agents.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.id.cmp(&b.id)));
        Ok(agents)
    }
}
