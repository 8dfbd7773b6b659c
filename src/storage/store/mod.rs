//! Files in a store: each session is one that a program writes to, and the store's as any other.

mod append;
mod place;
mod whole;

use std::path::{Path, PathBuf};

use self::append::StoreLines;
use self::place::{key_of, path_of};
use super::writer::Writer;
use super::{
    ExpectedSize, FileStat, SessionStorage, SessionStorageWriter, WriterOptions, absolute,
    absolute_file, not_found, pattern,
};
use crate::error::{Error, Result, StorageError, StoreError};
use crate::session::export::current_bytes;
use crate::session::{SessionReader, slices};
use crate::store::Store;
use crate::store::commit::{Batch, FileChange};
use crate::store::file_record::{FileContent, FileRecord};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// How often something is tried again that others keep from being done.
const ATTEMPTS: u32 = 64;

/// The files of a program in a store. Its clones, and those of other processes with the same store, have the same files.
///
/// A file whose bytes are a session is one of the store: it is listed, searched, read and exported like all others, and its
/// bytes are those that were written. A line that is appended is an entry of the journal, and on the disk when the writer
/// returns. Whatever else a file has is kept as bytes: an empty file, a draft, a session of an earlier version, which its
/// program rewrites when it opens it. Such a file becomes a session with the write or the line that makes it one.
///
/// Sessions that were imported from files are at the paths of these, unless an import has migrated them. Two files with one
/// session's id are two sessions; the second is addressed as `<id>~2`. A file that is deleted, or whose content is replaced by
/// another session, takes its session out of the store, as [`Store::remove`] does.
#[derive(Debug, Clone)]
pub struct StoreSessionStorage {
    store: Store,
}

impl StoreSessionStorage {
    /// The files of a store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// The store that has the files.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The id of the session that a file is; `None` for a file that is no session.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`].
    pub fn session_id(&self, path: &Path) -> Result<Option<String>> {
        let snapshot = self.store.committed()?;
        match find(&snapshot, path)?.record.content {
            FileContent::Session(session) => Ok(Some(reader(snapshot, session)?.id())),
            FileContent::Bytes { .. } => Ok(None),
        }
    }

    /// Removes the rows of a session that was removed. What is not swept here is swept later.
    fn swept(&self, removed: Option<SessionKey>, owner: u64) {
        if let Some(session) = removed {
            let _ = self.store.sweep_session(session, owner);
        }
    }

    /// Changes a file in one transaction: `change` is given the file, and may have its session removed.
    fn change<T>(
        &self,
        path: &Path,
        change: impl FnOnce(&Snapshot, Found, &mut Batch) -> Result<(T, Vec<SessionKey>)>,
    ) -> Result<T> {
        let owner = self.store.begin_owner()?;
        let (answer, removed) = self.store.write(|snapshot| {
            let found = find(&snapshot, path)?;
            let mut batch = Batch::default();
            let (answer, removed) = change(&snapshot, found, &mut batch)?;
            removed.iter().for_each(|session| batch.remove(*session, &owner));
            Ok((batch, (answer, removed)))
        })?;
        removed.into_iter().for_each(|session| self.swept(Some(session), owner.token));
        Ok(answer)
    }
}

/// A file that was found.
struct Found {
    path: Vec<u8>,
    record: FileRecord,
    /// Whether it is only the file that its session was imported from.
    is_source: bool,
}

impl Found {
    fn session(&self) -> Option<SessionKey> {
        match self.record.content {
            FileContent::Session(session) => Some(session),
            FileContent::Bytes { .. } => None,
        }
    }

    /// Takes the file away.
    fn remove(&self, batch: &mut Batch) -> Vec<SessionKey> {
        if !self.is_source {
            batch.change_file(&self.path, FileChange::Removed);
        }
        self.session().into_iter().collect()
    }
}

/// The file that a caller names, which must be there.
fn find(snapshot: &Snapshot, path: &Path) -> Result<Found> {
    let key = key_of(&absolute(path)?);
    place::locate(snapshot, &key)?.ok_or_else(|| not_found(path))
}

/// A session that a file names, which must be there.
fn reader(snapshot: Snapshot, session: SessionKey) -> Result<SessionReader> {
    let record = snapshot.session(session)?.ok_or_else(|| place::no_session(session))?;
    Ok(SessionReader::new(snapshot, session, record))
}

/// The bytes of a session.
fn bytes_of(reader: &SessionReader) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    current_bytes(reader.view(), &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(true)
    })?;
    Ok(bytes)
}

/// How many bytes a session has.
fn size_of(reader: &SessionReader) -> Result<u64> {
    if !reader.record().rewritten {
        return Ok(reader.record().bytes);
    }
    let mut bytes = 0;
    current_bytes(reader.view(), &mut |piece| {
        bytes += piece.len() as u64;
        Ok(true)
    })?;
    Ok(bytes)
}

/// The bytes of a file from one place to another.
fn part_of(snapshot: &Snapshot, found: &Found, range: (u64, u64)) -> Result<Vec<u8>> {
    match found.record.content {
        FileContent::Bytes { number, size } => {
            snapshot.file_bytes(&found.path, (number, size), range)
        }
        FileContent::Session(session) => Err(place::no_session(session).into()),
    }
}

impl SessionStorage for StoreSessionStorage {
    fn ensure(&self, folder: &Path) -> Result<()> {
        let (snapshot, folder) = (self.store.committed()?, absolute(folder)?);
        for above in folder.ancestors() {
            if place::locate(&snapshot, &key_of(above))?.is_some() {
                return Err(StorageError::NotAFolder { path: above.to_owned() }.into());
            }
        }
        Ok(())
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        let key = key_of(&absolute(path)?);
        Ok(place::locate(&self.store.committed()?, &key)?.is_some())
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let snapshot = self.store.snapshot_to_read()?;
        let found = find(&snapshot, path)?;
        match found.session() {
            Some(session) => bytes_of(&reader(snapshot, session)?),
            None => part_of(&snapshot, &found, (0, u64::MAX)),
        }
    }

    fn read_slices(&self, path: &Path, head: u64, tail: u64) -> Result<(Vec<u8>, Vec<u8>)> {
        let snapshot = self.store.snapshot_to_read()?;
        let found = find(&snapshot, path)?;
        match found.record.content {
            FileContent::Session(session) => {
                let reader = reader(snapshot, session)?;
                Ok((slices::head(reader.view(), head)?, slices::tail(reader.view(), tail)?))
            }
            FileContent::Bytes { size, .. } => {
                let last = (size.saturating_sub(tail), size);
                Ok((part_of(&snapshot, &found, (0, head))?, part_of(&snapshot, &found, last)?))
            }
        }
    }

    fn write_if(&self, path: &Path, content: &[u8], expected: ExpectedSize) -> Result<()> {
        let key = key_of(&absolute_file(path)?);
        self.write_whole((path, &key), content, expected)
    }

    fn write_start(&self, path: &Path, start: &[u8]) -> Result<()> {
        let key = key_of(&absolute_file(path)?);
        for _ in 0..ATTEMPTS {
            let snapshot = self.store.committed()?;
            let found = find(&snapshot, path)?;
            if let Some(session) = found.session().filter(|_| !found.is_source)
                && self.open_session(snapshot, session)?.rewrite_title_line(&key, start)?
            {
                return Ok(());
            }
            // Anything else is written anew, if it is still what it was.
            let before = self.read(path)?;
            let expected = ExpectedSize::Bytes(before.len() as u64);
            let content = [start, before.get(start.len()..).unwrap_or_default()].concat();
            match self.write_if(path, &content, expected) {
                Err(Error::Storage(StorageError::Conflict { .. })) => {}
                written => return written,
            }
        }
        Err(self.in_use())
    }

    fn open_writer(
        &self,
        path: &Path,
        options: WriterOptions,
    ) -> Result<Box<dyn SessionStorageWriter>> {
        let key = key_of(&absolute_file(path)?);
        if options.truncate {
            self.write(path, b"")?;
        } else if !self.exists(path)? {
            match self.write_if(path, b"", ExpectedSize::NoFile) {
                // Another one was faster.
                Err(Error::Storage(StorageError::Conflict { .. })) => {}
                made => made?,
            }
        }
        let lines = StoreLines::new(self.clone(), path, key);
        Ok(Box::new(Writer::new(path, lines, options)))
    }

    fn list(&self, folder: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
        let snapshot = self.store.committed()?;
        let inside = place::inside(&absolute(folder)?);
        let mut keys = Vec::new();
        snapshot.each_path_from(&inside, |key| {
            let Some(name) = key.strip_prefix(&*inside) else { return Ok(None) };
            if let Some(at) = place::separator_in(name) {
                // What is in the folders below is passed over.
                let end = inside.len() + at;
                return Ok(key.get(..end).map(place::behind_folder));
            }
            if pattern::matches(&String::from_utf8_lossy(name), pattern) {
                keys.push(key.to_vec());
            }
            Ok(Some([key, b"\0"].concat()))
        })?;
        keys.sort_unstable();
        keys.dedup();
        let mut paths = Vec::new();
        for key in keys {
            if place::locate(&snapshot, &key)?.is_some() {
                paths.push(path_of(&key)?);
            }
        }
        Ok(paths)
    }

    fn stat(&self, path: &Path) -> Result<FileStat> {
        let snapshot = self.store.snapshot_to_read()?;
        let found = find(&snapshot, path)?;
        let size = match found.record.content {
            FileContent::Session(session) => size_of(&reader(snapshot, session)?)?,
            FileContent::Bytes { size, .. } => size,
        };
        Ok(FileStat { size, modified: found.record.written })
    }

    fn rename(&self, path: &Path, to: &Path) -> Result<()> {
        let new = key_of(&absolute_file(to)?);
        self.change(path, |snapshot, found, batch| {
            if found.path == new {
                return Ok(((), Vec::new()));
            }
            place::refuse_in_the_way(snapshot, &new)?;
            let replaced = place::locate(snapshot, &new)?;
            let removed = replaced.iter().filter_map(Found::session).collect();
            let change = match found.record.content {
                // Its session has to get to know its file first.
                FileContent::Session(session) if found.is_source => {
                    batch.change_file(&new, FileChange::Session(session));
                    return Ok(((), removed));
                }
                _ => FileChange::Renamed(new.clone()),
            };
            batch.change_file(&found.path, change);
            Ok(((), removed))
        })
    }

    fn delete(&self, path: &Path) -> Result<()> {
        self.change(path, |_, found, batch| Ok(((), found.remove(batch))))
    }

    fn delete_if(&self, path: &Path, decide: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let snapshot = self.store.snapshot()?;
            let before = find(&snapshot, path)?;
            let (content, revision) = match before.session() {
                Some(session) => {
                    let reader = reader(snapshot, session)?;
                    (bytes_of(&reader)?, Some(reader.record().revision))
                }
                None => (part_of(&snapshot, &before, (0, u64::MAX))?, None),
            };
            if !decide(&content) {
                return Ok(false);
            }
            let deleted = self.change(path, |snapshot, found, batch| {
                let now = match found.session() {
                    Some(session) => snapshot.session(session)?.map(|record| record.revision),
                    None => None,
                };
                if (found.record, now) != (before.record, revision) {
                    return Ok((false, Vec::new()));
                }
                Ok((true, found.remove(batch)))
            })?;
            if deleted {
                return Ok(true);
            }
        }
        Err(self.in_use())
    }

    fn delete_folder(&self, folder: &Path) -> Result<()> {
        let inside = place::inside(&absolute(folder)?);
        let owner = self.store.begin_owner()?;
        let removed = self.store.write(|snapshot| {
            let mut keys = Vec::new();
            snapshot.each_path_from(&inside, |key| {
                if !key.starts_with(&inside) {
                    return Ok(None);
                }
                keys.push(key.to_vec());
                Ok(Some([key, b"\0"].concat()))
            })?;
            keys.sort_unstable();
            keys.dedup();
            let (mut batch, mut removed) = (Batch::default(), Vec::new());
            for key in keys {
                if let Some(found) = place::locate(&snapshot, &key)? {
                    removed.extend(found.remove(&mut batch));
                }
            }
            removed.iter().for_each(|session| batch.remove(*session, &owner));
            Ok((batch, removed))
        })?;
        removed.into_iter().for_each(|session| self.swept(Some(session), owner.token));
        Ok(())
    }
}

impl StoreSessionStorage {
    fn in_use(&self) -> Error {
        StoreError::InUse { path: self.store.path().to_owned() }.into()
    }
}
