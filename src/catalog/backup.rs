//! Backups of a store.

use std::path::Path;

use serde::Serialize;

use crate::error::{FileContext, Result};
use crate::store::Store;
use crate::store::backup::check_pages;

/// What a backup has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Backup {
    /// Whether the file was made; otherwise it was brought up to date.
    pub is_new: bool,
    /// Sessions of the store, all of which the backup has.
    pub sessions: u64,
    /// Those that were new or had changed since the last backup: all in a new file.
    pub changed: u64,
    /// Sessions that the backup had and the store has no longer.
    pub removed: u64,
    /// Rows that were written or removed, in all tables.
    pub rows: u64,
    /// Bytes of the backup's file.
    pub bytes: u64,
}

/// How a backup is made.
#[derive(Debug, Clone, Default)]
pub struct BackupOptions {
    /// Whether a backup that is there is compared row by row, and not only for the sessions whose records differ. Default: no.
    pub compare_all: bool,
    /// Whether a backup that is there is not read again as a whole after it was brought up to date: then damage to what has not
    /// changed since is not noticed. Default: no.
    pub quick: bool,
}

impl Store {
    /// Copies the store into the file at `path`, as it is at this moment, while others read it and write to it.
    ///
    /// The backup is a store, and can be opened as one. If there is none yet, it is made under another name, read again and
    /// then named. Otherwise it is brought up to date in one commit, for which no lines of sessions that have not changed are
    /// read, and then read again page by page, unless [`BackupOptions::quick`] says otherwise. A backup that was written to as a store is a store of its own, and is refused. What the journal has is in it: it is one
    /// file. `progress` is called with the bytes of rows as they are read.
    ///
    /// ```
    /// use leafline::backup::BackupOptions;
    /// use leafline::{Family, NewSession, Store};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// let store = Store::in_memory()?;
    /// store.create_session(&NewSession::new(Family::Opal, "/work"))?;
    /// let file = folder.path().join("backup.leafline");
    /// let first = store.backup(&file, &BackupOptions::default(), |_| {})?;
    /// assert_eq!((first.is_new, first.changed), (true, 1));
    /// let second = store.backup(&file, &BackupOptions::default(), |_| {})?;
    /// assert_eq!((second.is_new, second.changed), (false, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoreError::NotABackup`](crate::error::StoreError::NotABackup) if the file is a store that is no backup of this one,
    /// [`ExportError::WouldReplaceStore`](crate::error::ExportError::WouldReplaceStore) if it is this one or belongs to one.
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged: a backup that is there stays as it is. And if the
    /// backup is: then it is to be moved away and made anew.
    pub fn backup(
        &self,
        path: impl AsRef<Path>,
        options: &BackupOptions,
        mut progress: impl FnMut(u64),
    ) -> Result<Backup> {
        let path = path.as_ref();
        let snapshot = self.snapshot()?;
        let copied = self.copy_to(&snapshot, path, options.compare_all, &mut progress)?;
        if !copied.is_new && !options.quick {
            check_pages(path)?;
        }
        Ok(Backup {
            is_new: copied.is_new,
            sessions: snapshot.sessions()?.len()?,
            changed: copied.changed,
            removed: copied.removed,
            rows: copied.rows,
            bytes: std::fs::metadata(path).at("looking at", path)?.len(),
        })
    }
}
