//! Deleting sessions.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::session::find;
use crate::store::slice::Slice;
use crate::store::{Store, StoreOptions};

/// Bytes of a page of the engine's.
const PAGE_BYTES: u64 = 4096;

/// Tables whose rows a deletion takes away, or adds to.
const TABLES: u64 = 5;

/// What a deletion took away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Removed {
    /// The session's id.
    pub session: String,
    /// Its lines.
    pub lines: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of blobs that no other session refers to, as far as they are freed.
    pub blob_bytes: u64,
    /// Why its space is not free yet, where it is not, as on a disk that is full. The session is deleted all the same, and
    /// the next import or compaction frees the space.
    pub unswept: Option<String>,
}

impl Store {
    /// Deletes a session, and the blobs that no other session shares: [`Self::remove_all`] for one.
    ///
    /// # Errors
    ///
    /// Those of [`Self::remove_all`].
    pub fn remove(&self, session: &str) -> Result<Removed> {
        let removed = self.remove_all(&[session])?.pop();
        removed.ok_or_else(|| Error::SessionNotFound { id: session.to_owned() })
    }

    /// Deletes sessions, by their ids or unique beginnings of them, and the blobs that no other session shares: all of them
    /// or, where one is not to be found or the disk has no room, none. A session that is named twice is deleted once.
    ///
    /// When this returns the deletion is on disk. The sessions are gone for every reader with one commit; their space is
    /// freed after it, and where that is cut off or fails the next import or compaction does it.
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
    /// # Errors
    ///
    /// [`Error::SessionNotFound`], [`Error::SessionAmbiguous`]; [`Error::NoRoomToRemove`] on a disk that is full. Nothing is
    /// deleted then.
    pub fn remove_all(&self, sessions: &[impl AsRef<str>]) -> Result<Vec<Removed>> {
        let owner = self.begin_owner().map_err(|error| self.not_removed(error, sessions.len()))?;
        // What the transaction was to delete, also where it fails.
        let mut chosen = Vec::new();
        let committed = self.write(|snapshot| {
            let mut slice = Slice::default();
            for session in sessions {
                let key = find(&snapshot, session.as_ref())?;
                if chosen.iter().any(|(known, _)| *known == key) {
                    continue;
                }
                let record = snapshot.session(key)?;
                let record = record
                    .ok_or_else(|| Error::SessionNotFound { id: session.as_ref().to_owned() })?;
                slice.retired.push((key, owner.token, key));
                let (session, lines, bytes) = (record.id(), record.lines, record.bytes);
                let removed = Removed { session, lines, bytes, blob_bytes: 0, unswept: None };
                chosen.push((key, removed));
            }
            Ok((slice, ()))
        });
        let mut unswept = None;
        if let Err(error) = committed {
            // Where the last of what a commit does has failed, it may have come through.
            if !self.has_lost(chosen.iter().map(|(key, _)| *key)) {
                return Err(self.not_removed(error, sessions.len()));
            }
            unswept = Some(error.to_string());
        }
        for (key, removed) in &mut chosen {
            if unswept.is_none() {
                match self.sweep_session(*key, owner.token) {
                    Ok(blob_bytes) => removed.blob_bytes = blob_bytes,
                    // It is no failure of what was done.
                    Err(error) => unswept = Some(error.to_string()),
                }
            }
            removed.unswept.clone_from(&unswept);
        }
        Ok(chosen.into_iter().map(|(_, removed)| removed).collect())
    }

    /// Whether the store's file has none of these sessions, read anew: after a failure this handle tells nothing any more.
    /// Where it cannot be read, it has not.
    fn has_lost(&self, mut keys: impl ExactSizeIterator<Item = u64>) -> bool {
        if self.is_in_memory() || keys.len() == 0 {
            return false;
        }
        let options = StoreOptions { create: false, read_only: true, ..StoreOptions::default() };
        let Ok(store) = Self::open_with(self.path(), &options) else { return false };
        let Ok(snapshot) = store.snapshot() else { return false };
        keys.all(|key| matches!(snapshot.session(key), Ok(None)))
    }

    /// The error of a deletion of so many sessions.
    fn not_removed(&self, error: Error, sessions: usize) -> Error {
        if !error.is_for_want_of_room() {
            return error;
        }
        // A row's page in each table and those above it, the tables' own, and the engine's notes of what is free.
        let pages = TABLES * (sessions as u64 + 3) + 16;
        Error::NoRoomToRemove {
            path: self.path().to_owned(),
            needed: pages * PAGE_BYTES,
            source: Box::new(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::tables::NO_LEAF;
    use crate::{Draft, Family, NewSession, Persistence};

    /// A store with sessions of a header and an entry each.
    fn store(ids: &[&str]) -> Store {
        let store = Store::in_memory().unwrap();
        for id in ids {
            let mut new = NewSession::new(Family::Pi, "/work");
            new.id = Some((*id).to_owned());
            new.persistence = Some(Persistence {
                waits_for_assistant: false,
                ..Persistence::documented(Family::Pi)
            });
            let mut session = store.create_session(&new).unwrap();
            session.append(Draft::model_change("a", "b")).unwrap();
        }
        store
    }

    #[test]
    fn a_session_that_is_replaced_meanwhile_is_deleted() {
        let store = store(&["a", "b"]);
        let owner = store.begin_owner().unwrap();
        let new = store.reserve_sessions(1).unwrap();
        let removed = std::thread::scope(|scope| {
            let removing = store
                .write(|snapshot| {
                    // It comes as far as it can while this transaction is open.
                    let removing = scope.spawn(|| store.remove("a"));
                    std::thread::sleep(Duration::from_millis(100));
                    let old = snapshot.table(crate::store::tables::SESSION_IDS)?.get(&b"a"[..])?;
                    let old = old.unwrap().value();
                    let record = snapshot.session(old)?.unwrap();
                    let mut slice = Slice {
                        retired: vec![(old, owner.token, new)],
                        sessions: vec![(new, record)],
                        session_ids: vec![(b"a".to_vec(), new)],
                        leaves: vec![(new, NO_LEAF)],
                        ..Slice::default()
                    };
                    slice.push_chunk(new, 0, vec![0; 100]);
                    Ok((slice, removing))
                })
                .unwrap();
            removing.join().unwrap()
        });
        removed.unwrap();
        let left = store.sessions().unwrap();
        assert_eq!(left.iter().map(|session| &*session.id).collect::<Vec<_>>(), ["b"]);
    }
}
