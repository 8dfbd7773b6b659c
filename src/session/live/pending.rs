//! A deferred session, as the session managers of pi and omp begin them: until the message at which the program writes its
//! file, it is in a store in memory, where every method works on it. Then it moves into its own store all at once.

use super::super::Session;
use super::super::export::ExportMode;
use super::super::index::finish::NewLeaf;
use super::build::Builder;
use crate::error::{Corruption, Error, ExportError, Result, SessionError, StoreError};
use crate::store::Store;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;

/// A new session's record before its lines are counted.
pub(super) fn uncounted(record: &SessionRecord) -> SessionRecord {
    SessionRecord {
        external_id: record.external_id.clone(),
        number: record.number,
        family: record.family,
        imported_version: record.imported_version.clone(),
        cwd: record.cwd.clone(),
        moved: record.moved.clone(),
        title: record.title.clone(),
        parent_session: record.parent_session.clone(),
        created: record.created,
        modified: record.created,
        ..SessionRecord::default()
    }
}

impl Session {
    /// Whether the session is still only in memory, waiting for its first message.
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Stores a waiting session, whatever it has.
    ///
    /// # Errors
    ///
    /// [`SessionError::Exists`] if another one took its id meanwhile; those of the store.
    pub fn store_now(&mut self) -> Result<()> {
        self.persist(Self::store_waiting)
    }

    fn store_waiting(&mut self) -> Result<()> {
        let Some(memory) = &self.waiting else { return Ok(()) };
        let key = move_session(memory, self.key, &self.store)?;
        self.waiting = None;
        self.is_now(key);
        Ok(())
    }

    /// Stores the session that waits in `memory` with a change. The change is made in a copy: if it cannot be stored, the session
    /// waits without it. `change` returns the session's key if it gave it another one.
    pub(super) fn store_with<T>(
        &mut self,
        memory: &Store,
        change: impl FnOnce(&Store, (SessionKey, &str)) -> Result<(T, Option<SessionKey>)>,
    ) -> Result<T> {
        let copy = Store::in_memory()?;
        let key = move_session(memory, self.key, &copy)?;
        let (made, changed) = change(&copy, (key, &self.id))?;
        let key = move_session(&copy, changed.unwrap_or(key), &self.store)?;
        self.waiting = None;
        self.is_now(key);
        Ok(made)
    }
}

/// Copies a session into another store, in one piece, and returns its key there.
fn move_session(from: &Store, key: SessionKey, to: &Store) -> Result<SessionKey> {
    let snapshot = from.snapshot()?;
    let record = snapshot.session(key)?.ok_or_else(|| Corruption {
        table: "sessions",
        place: format!("session key {key}, in memory"),
        problem: "the session that waits has no record".into(),
    })?;
    let reader = super::super::SessionReader::new(snapshot, key, record);
    let mut builder = Builder::new(to, uncounted(reader.record()), Some(from))?;
    reader.export(&ExportMode::Current, &mut Feeding(&mut builder))?;
    builder.finish(NewLeaf::Line(reader.view().leaf()?))
}

/// Passes exported bytes to a builder.
struct Feeding<'b, 's>(&'b mut Builder<'s>);

impl std::io::Write for Feeding<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.push(bytes).map_err(std::io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Error {
    /// Whether storing failed, rather than the request being wrong.
    pub(super) fn is_of_storing(&self) -> bool {
        matches!(
            self,
            Self::Engine(_)
                | Self::File { .. }
                | Self::Export(ExportError::Output(_))
                | Self::Corrupted(_)
                | Self::Store(
                    StoreError::Broken { .. }
                        | StoreError::ReadOnly { .. }
                        | StoreError::InUse { .. }
                )
                | Self::Session(SessionError::Exists { .. })
        )
    }
}
