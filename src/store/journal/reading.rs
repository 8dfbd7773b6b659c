//! Reading the journal: what it has beyond the tables.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::file::JournalFile;
use super::record::Journaled;
use super::row::{JournalRow, Place};
use super::{Store, lock};
use crate::error::{Result, StoreError};
use crate::store::pages::Root;
use crate::store::snapshot::Snapshot;
use crate::store::source_record::path_of_bytes;

/// The journal of an epoch.
#[derive(Debug, Clone)]
pub(super) struct OpenFile {
    pub(super) epoch: u64,
    pub(super) file: Arc<JournalFile>,
}

/// Tables with the journal in them, and what of the store they were made from.
#[derive(Debug)]
pub(super) struct Overlaid {
    /// What the tables on the disk said.
    row: JournalRow,
    root: Root,
    store: Store,
}

impl Store {
    /// The open journal of an epoch.
    pub(super) fn journal_file(&self, row: &JournalRow) -> Result<Arc<JournalFile>> {
        let mut open = lock(&self.journal().file);
        if let Some(open) = open.as_ref().filter(|open| open.epoch == row.epoch) {
            return Ok(Arc::clone(&open.file));
        }
        let number = self.number()?;
        let beside = self.journal_path()?;
        let told = path_of_bytes(&row.path).unwrap_or_else(|| beside.clone());
        // The store may have been moved or copied with its journal, or have several names.
        let mut refused = None;
        for path in [&beside, &told] {
            match self.open_journal(path, number) {
                Ok(file) if is_of(&file, number, row.epoch) => {
                    let file = Arc::new(file);
                    *open = Some(OpenFile { epoch: row.epoch, file: Arc::clone(&file) });
                    return Ok(file);
                }
                Ok(file) => {
                    let newest = file.newest(None).map_err(|error| self.journal_failed(row, error));
                    if newest?.is_ahead_of(row) {
                        return Err(self.journal_ahead(path.clone()));
                    }
                    let problem = "it continues another state of the store: that of a copy, or an earlier one";
                    refused = refused.or(Some(io::Error::other(problem)));
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(self.journal_denied(path.clone(), error));
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        for path in [&beside, &told] {
            if let Ok(Some(damage)) = JournalFile::damage(path, number, row.epoch) {
                return Err(damage.at(path).into());
            }
        }
        let problem = refused.map_or_else(String::new, |error| error.to_string());
        let path = self.path().to_owned();
        Err(StoreError::NoJournal { path, journal: told, problem }.into())
    }

    /// Opens the journal at a path: to be read, if it cannot be written.
    fn open_journal(&self, path: &Path, number: u64) -> io::Result<JournalFile> {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        if self.is_read_only() {
            return JournalFile::open_to_read(path, number);
        }
        match JournalFile::open(path, number) {
            Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => {
                JournalFile::open_to_read(path, number)
            }
            opened => opened,
        }
    }

    /// The same as [`Self::journal_file`], of a journal that nothing else has cut off or written over since it was opened.
    pub(super) fn sound_journal(&self, row: &JournalRow) -> Result<Arc<JournalFile>> {
        let file = self.journal_file(row)?;
        match file.damage_in(row.epoch).map_err(|error| self.journal_failed(row, error))? {
            None => Ok(file),
            Some(damage) => Err(damage.at(&file.path).into()),
        }
    }

    /// The records that follow those in the tables, and the place behind them.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoJournal`]; [`StoreError::JournalAhead`] if the tables are older than the journal.
    pub(crate) fn journaled(&self, row: &JournalRow) -> Result<(Vec<Journaled>, Place)> {
        let mut all = Vec::new();
        let place = self.each_journaled(row, |journaled| {
            all.push(journaled);
            true
        })?;
        Ok((all, place))
    }

    /// Whether the journal has records that are not in the tables.
    pub(crate) fn has_journaled(&self, row: &JournalRow) -> Result<bool> {
        let mut any = false;
        self.each_journaled(row, |_| {
            any = true;
            false
        })?;
        Ok(any)
    }

    /// Whether these records fill a part of an area.
    pub(crate) fn has_long_journal(&self, row: &JournalRow) -> Result<bool> {
        if row.epoch == 0 {
            return Ok(false);
        }
        let part = self.journal_file(row)?.areas.part();
        let mut bytes = 0;
        self.each_journaled(row, |journaled| {
            bytes += journaled.bytes();
            bytes < part
        })?;
        Ok(bytes >= part)
    }

    /// Passes on records until `take` says no. Returns the place behind the last.
    fn each_journaled(
        &self,
        row: &JournalRow,
        mut take: impl FnMut(Journaled) -> bool,
    ) -> Result<Place> {
        let mut place = row.folded;
        if row.epoch == 0 {
            return Ok(place);
        }
        let file = self.sound_journal(row)?;
        let failed = |error| self.journal_failed(row, error);
        let ahead = || self.journal_ahead(self.path_of_journal(row));
        while let Some(next) = file.next(&place, row.epoch).map_err(failed)? {
            if next.commits > row.commits {
                return Err(ahead());
            }
            place = next.journaled.end;
            if !take(next.journaled) {
                return Ok(place);
            }
        }
        // The chain begins behind what the tables have. While the journal was read others may have gone on with it.
        let newest = file.newest(Some(row.epoch)).map_err(failed)?;
        if place == row.folded
            && newest.is_ahead_of(row)
            && file.next(&place, row.epoch).map_err(failed)?.is_none()
        {
            return Err(ahead());
        }
        self.check_end(&file, row, &place)?;
        Ok(place)
    }

    /// The tables of `pin` with the journal folded into them in memory. `None` if the tables have changed meanwhile.
    ///
    /// `fold` puts the records into the tables. They are kept for the next read, which uses them if the file has not changed. The
    /// snapshot keeps the file's pages that they use.
    pub(crate) fn overlaid(
        &self,
        pin: Snapshot,
        fold: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<Option<Snapshot>> {
        let Some(file) = &self.shared.file else { return Ok(None) };
        let row = pin.journal_row()?;
        let mut overlaid = lock(&self.journal().overlay);
        let root = self.root(file)?;
        let is_current =
            |overlaid: &Overlaid| overlaid.row == row && overlaid.root == root && root.is_some();
        let (store, root) = match overlaid.take().filter(is_current) {
            Some(Overlaid { store, root, .. }) => (store, root),
            None => match self.overlay()? {
                Some(made) => made,
                None => return Ok(None),
            },
        };
        store.unsealed(|| fold(&store))?;
        let snapshot = store.committed()?;
        *overlaid = Some(Overlaid { row, root, store });
        Ok(Some(pin.overlaid(snapshot)))
    }

    /// Drops the tables in memory: the tables on disk have everything.
    pub(crate) fn forget_overlay(&self) {
        *lock(&self.journal().overlay) = None;
    }
}

/// Whether a journal is that of a store's epoch.
fn is_of(file: &JournalFile, store: u64, epoch: u64) -> bool {
    matches!(file.title(), Ok(Some(title)) if (title.store, title.epoch) == (store, epoch))
}
