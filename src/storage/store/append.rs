//! Lines that are appended to a file.

use std::path::{Path, PathBuf};

use super::whole::beginning_of;
use super::{ATTEMPTS, Found, StoreSessionStorage, place, reader};
use crate::catalog::import::candidate::PREFIX_BYTES;
use crate::error::Result;
use crate::session::export::current_bytes;
use crate::session::{Persistence, Session, slices};
use crate::storage::writer::Lines;
use crate::store::commit::{Batch, FileChange};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// Appends lines to the file at a path, whatever it is by then.
#[derive(Debug)]
pub(super) struct StoreLines {
    storage: StoreSessionStorage,
    path: PathBuf,
    key: Vec<u8>,
    /// The session that the file was when the last line was appended.
    session: Option<Session>,
}

impl StoreLines {
    pub(super) fn new(storage: StoreSessionStorage, path: &Path, key: Vec<u8>) -> Self {
        Self { storage, path: path.to_owned(), key, session: None }
    }
}

impl Lines for StoreLines {
    fn append(&mut self, lines: &[u8]) -> Result<()> {
        for _ in 0..ATTEMPTS {
            if let Some(session) = &mut self.session
                && session.append_to_file(&self.key, lines)?
            {
                return Ok(());
            }
            self.session = None;
            let snapshot = self.storage.store.committed()?;
            let found = place::locate(&snapshot, &self.key)?;
            let session = found.as_ref().and_then(|found| Some((found, found.session()?)));
            let Some((found, session)) = session else {
                drop(snapshot);
                if self.storage.append_bytes(&self.key, lines)? {
                    return Ok(());
                }
                continue;
            };
            if found.is_source {
                drop(snapshot);
                self.storage.adopt(&self.key, session)?;
                continue;
            }
            let mut session = self.storage.open_session(snapshot, session)?;
            if session.append_to_file(&self.key, lines)? {
                self.session = Some(session);
                return Ok(());
            }
            if self.storage.append_anew((&self.path, &self.key), lines)? {
                return Ok(());
            }
        }
        Err(self.storage.in_use())
    }

    /// A line is on the disk when it was appended.
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

impl StoreSessionStorage {
    /// A session to write to, as it was in a snapshot.
    pub(super) fn open_session(&self, snapshot: Snapshot, session: SessionKey) -> Result<Session> {
        let reader = reader(snapshot, session)?;
        let (id, reading) = (reader.id(), reader.reading());
        drop(reader);
        // A writer keeps its first error itself.
        let persistence = Persistence::keep_everything();
        Ok(Session::stored(&self.store, session, id, reading, persistence))
    }

    /// Makes a session that was imported from a file the file at its path.
    fn adopt(&self, key: &[u8], session: SessionKey) -> Result<()> {
        self.store.write(|snapshot| {
            let mut batch = Batch::default();
            let found = place::locate(&snapshot, key)?;
            if found.is_some_and(|found| found.is_source && found.session() == Some(session)) {
                batch.change_file(key, FileChange::Session(session));
            }
            Ok((batch, ()))
        })
    }

    /// Writes a session with lines behind its bytes anew, where its rows would not have them as they are: its last line is not
    /// ended, or its program writes its files as a whole. `false` if the file has changed meanwhile.
    fn append_anew(&self, (path, key): (&Path, &[u8]), lines: &[u8]) -> Result<bool> {
        let snapshot = self.store.snapshot()?;
        let found = place::locate(&snapshot, key)?;
        let Some(session) = found.as_ref().and_then(Found::session) else { return Ok(false) };
        let old = reader(snapshot, session)?;
        let prefix = [slices::head(old.view(), PREFIX_BYTES)?, lines.to_vec()].concat();
        let is_all = old.record().bytes < PREFIX_BYTES;
        let feed = |take: &mut dyn FnMut(&[u8]) -> Result<()>| {
            current_bytes(old.view(), &mut |piece| take(piece).map(|()| true))?;
            take(lines)
        };
        match beginning_of(&place::path_of(key)?, &prefix, is_all) {
            Some(beginning) => {
                self.write_session(key, (found.as_ref(), Some(&old)), &beginning, &feed)
            }
            // With the line it is no session any more: a line that was torn is another one now.
            None => {
                let mut content = Vec::new();
                feed(&mut |piece| {
                    content.extend_from_slice(piece);
                    Ok(())
                })?;
                let size = content.len() - lines.len();
                let expected = super::ExpectedSize::Bytes(size as u64);
                match self.write_whole((path, key), &content, expected) {
                    Ok(()) => Ok(true),
                    Err(crate::Error::Storage(crate::error::StorageError::Conflict { .. })) => {
                        Ok(false)
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }
}
