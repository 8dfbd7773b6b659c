//! Deleting sessions.

use std::collections::HashSet;

use serde::Serialize;

use crate::error::{Error, Result, SessionError, StoreError};
use crate::session::{SessionFacts, SessionReader, find};
use crate::store::commit::{Batch, FileChange};
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;
use crate::store::{Store, StoreOptions};

/// Bytes of a page of the engine.
const PAGE_BYTES: u64 = 4096;

/// Tables whose rows a deletion removes or adds.
const TABLES: u64 = 8;

/// What a deletion removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Removed {
    /// The session's id.
    pub session: String,
    /// Its lines.
    pub lines: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Freed bytes of blobs that no other session refers to.
    pub blob_bytes: u64,
    /// The files beside it.
    pub files: u64,
    /// Their bytes.
    pub file_bytes: u64,
    /// Why its space is not free yet, if it is not, as on a full disk. The session is deleted nonetheless, and the next
    /// import or compaction frees the space.
    pub unswept: Option<String>,
}

impl Store {
    /// Deletes a session with its agents' sessions, and the blobs that no other session shares, and keeps imports from bringing
    /// them back: [`Self::remove_all`] for one. The result describes the session alone.
    ///
    /// # Errors
    ///
    /// Those of [`Self::remove_all`].
    pub fn remove(&self, session: &str) -> Result<Removed> {
        let removed = self.remove_all(&[session])?.into_iter().next();
        removed.ok_or_else(|| Error::Session(SessionError::NotFound { id: session.to_owned() }))
    }

    /// Deletes sessions, by their ids or unique beginnings of them, with the sessions of their [agents](Store::agents_of), the
    /// files beside them, and the blobs that no other session shares: all of them, or none if one is not found or the disk has no
    /// room. Returns each deleted session once, followed by its agents.
    ///
    /// Imports do not bring the sessions back from their files: they report [`ImportStatus::Removed`], unless
    /// [`ImportOptions::restore`] is set. The search index follows with its next update.
    ///
    /// When this returns the deletion is on disk. One commit removes the sessions for every reader; their space is
    /// freed afterwards, and if that is interrupted or fails, by the next import or compaction.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// use leafline::{Family, NewSession, Store};
    ///
    /// let store = Store::in_memory()?;
    /// let ids = [0, 1].map(|_| NewSession::new(Family::Opal, "/work"));
    /// let ids: Vec<String> = ids
    ///     .iter()
    ///     .map(|new| Ok(store.create_session(new)?.id().to_owned()))
    ///     .collect::<leafline::Result<_>>()?;
    /// assert!(store.remove_all(&[&*ids[0], "another"]).is_err());
    /// assert_eq!(store.sessions()?.len(), 2);
    /// assert_eq!(store.remove_all(&ids)?.len(), 2);
    /// assert!(store.sessions()?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`ImportStatus::Removed`]: crate::import::ImportStatus::Removed
    /// [`ImportOptions::restore`]: crate::import::ImportOptions::restore
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`], [`SessionError::Ambiguous`]; [`StoreError::NoRoomToRemove`] on a disk that is full.
    /// Nothing is deleted then.
    pub fn remove_all(&self, sessions: &[impl AsRef<str>]) -> Result<Vec<Removed>> {
        let owner = self.begin_owner().map_err(|error| self.not_removed(error, sessions.len()))?;
        // What the transaction was to delete, even if it fails.
        let mut chosen = Vec::new();
        let committed = self.write(|snapshot| {
            let mut batch = Batch::default();
            for (key, record) in with_agents(&snapshot, sessions)? {
                batch.remove(key, &owner);
                let (session, lines, bytes) = (record.id(), record.physical_lines(), record.bytes);
                let beside = snapshot.files_beside(key, &record)?;
                let file_bytes = beside.iter().map(|file| file.size).sum();
                let files = beside.len() as u64;
                for file in beside {
                    batch.change_file(&file.path, FileChange::Removed);
                }
                let (blob_bytes, unswept) = (0, None);
                let removed =
                    Removed { session, lines, bytes, blob_bytes, files, file_bytes, unswept };
                chosen.push((key, removed));
            }
            Ok((batch, ()))
        });
        let mut unswept = None;
        if let Err(error) = committed {
            // If the last step of a commit fails, the commit may still be on disk.
            if !self.has_lost(chosen.iter().map(|(key, _)| *key)) {
                return Err(self.not_removed(error, sessions.len()));
            }
            unswept = Some(error.to_string());
        }
        for (key, removed) in &mut chosen {
            if unswept.is_none() {
                match self.sweep_session(*key, owner.token) {
                    Ok(blob_bytes) => removed.blob_bytes = blob_bytes,
                    // The deletion itself has succeeded.
                    Err(error) => unswept = Some(error.to_string()),
                }
            }
            removed.unswept.clone_from(&unswept);
        }
        Ok(chosen.into_iter().map(|(_, removed)| removed).collect())
    }

    /// The sessions that [`Self::remove_all`] would delete, in its order.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`], [`SessionError::Ambiguous`].
    pub fn would_remove(&self, sessions: &[impl AsRef<str>]) -> Result<Vec<SessionFacts>> {
        let snapshot = self.snapshot_to_read()?;
        let chosen = with_agents(&snapshot, sessions)?.into_iter();
        let ids = chosen.map(|(key, record)| (key, record.id()));
        ids.map(|(key, id)| Ok(SessionReader::open(self.snapshot_to_read()?, (key, &id))?.facts()))
            .collect()
    }

    /// Whether the store's file has none of these sessions. It is opened again, since this handle cannot be used after
    /// a failure. Returns false if it cannot be read.
    fn has_lost(&self, mut keys: impl ExactSizeIterator<Item = SessionKey>) -> bool {
        if self.is_in_memory() || keys.len() == 0 {
            return false;
        }
        let options = StoreOptions { create: false, read_only: true, ..StoreOptions::default() };
        let Ok(store) = Self::open_with(self.path(), &options) else { return false };
        let Ok(snapshot) = store.snapshot() else { return false };
        keys.all(|key| matches!(snapshot.session(key), Ok(None)))
    }

    /// The error of a deletion of this many sessions.
    fn not_removed(&self, error: Error, sessions: usize) -> Error {
        if !error.is_for_want_of_room() {
            return error;
        }
        // In each table, a row's page and those above it; the tables' own pages, and the engine's record of free pages.
        let pages = TABLES * (sessions as u64 + 3) + 16;
        Error::Store(StoreError::NoRoomToRemove {
            path: self.path().to_owned(),
            needed: pages * PAGE_BYTES,
            source: Box::new(error),
        })
    }
}

/// The sessions with these ids or beginnings of ids, each once and with its agents behind it.
///
/// Agents name the id that their starter's file has. Where others stay that have it, they are not taken.
fn with_agents(
    snapshot: &Snapshot,
    sessions: &[impl AsRef<str>],
) -> Result<Vec<(SessionKey, SessionRecord)>> {
    let parents = snapshot.session_parents()?;
    let named = sessions.iter().map(|session| find(snapshot, session.as_ref()));
    let mut left = named.rev().collect::<Result<Vec<SessionKey>>>()?;
    let (mut chosen, mut known) = (Vec::new(), HashSet::new());
    while let Some(key) = left.pop() {
        let Some(record) = snapshot.session(key)?.filter(|_| known.insert(key)) else { continue };
        let same_id = snapshot.sessions_with_id(&record.external_id)?;
        let is_last = same_id.iter().all(|(other, _)| known.contains(other));
        if is_last {
            left.extend(parents.started_by(&record.external_id)?.into_iter().rev());
        }
        chosen.push((key, record));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::pi::Draft;
    use crate::store::commit::{Author, Creation, Finished, Place};
    use crate::store::session_record::SessionRecord;
    use crate::{Family, NewSession};

    /// A store with sessions of a header and one entry each.
    fn store(ids: &[&str]) -> Store {
        let store = Store::in_memory().unwrap();
        for id in ids {
            let mut new = NewSession::new(Family::Pi, "/work");
            new.id = Some((*id).to_owned());
            let mut session = store.create_session(&new).unwrap();
            session.append(Draft::model_change("a", "b")).unwrap();
        }
        store
    }

    #[test]
    fn a_session_that_is_replaced_meanwhile_is_deleted() {
        let store = store(&["a", "b"]);
        let owner = store.begin_owner().unwrap();
        let mut new = Creation::new(store.reserve_sessions(1).unwrap());
        let mut begun = Batch::default();
        new.mark(owner.token, &mut begun);
        store.commit(begun).unwrap();
        let removed = std::thread::scope(|scope| {
            let removing = store
                .write(|snapshot| {
                    // It gets as far as it can while this transaction is open.
                    let removing = scope.spawn(|| store.remove("a"));
                    std::thread::sleep(Duration::from_millis(100));
                    let key = find(&snapshot, "a")?;
                    let old = snapshot.session(key)?.unwrap();
                    let place = Place::Of { session: key, revision: old.revision };
                    let record = SessionRecord {
                        external_id: old.external_id,
                        number: old.number,
                        ..SessionRecord::default()
                    };
                    let (author, sources) = (Author::File, Vec::new());
                    let finished = Finished { record, leaf: None, author, place, sources };
                    let mut batch = Batch::default();
                    new.finish(&mut batch, finished)?;
                    Ok((batch, removing))
                })
                .unwrap();
            removing.join().unwrap()
        });
        removed.unwrap();
        let left = store.sessions().unwrap();
        assert_eq!(left.iter().map(|session| &*session.id).collect::<Vec<_>>(), ["b"]);
    }
}
