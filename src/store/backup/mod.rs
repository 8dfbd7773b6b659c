//! Backups: another store's file with the same rows.

mod rows;

use std::path::Path;

use redb::WriteTransaction;

pub(crate) use self::rows::Progress;
use self::rows::{Differences, Stores, fill, merge};
use super::journal::{self, JournalRow};
use super::snapshot::Snapshot;
use super::{Store, StoreOptions, creation, format, tables};
use crate::destination::{folder_of, store_file};
use crate::error::{Corruption, Error, ExportError, Result, StoreError, StoreFile};
use crate::store::pages::ReadTransaction;
use crate::temporary::remove_left;

/// The name in `meta` of the mark of a backup. Whoever writes to the file as to a store takes it away.
const MARK: &str = "backup";

/// The name in `meta` of the store's number.
const NUMBER: &str = "store";

/// What a backup has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copied {
    /// Whether the file was made.
    pub(crate) is_new: bool,
    /// Sessions that were new or had changed since the last backup, and those that were gone.
    pub(crate) changed: u64,
    pub(crate) removed: u64,
    /// Rows that were written or removed, in all tables.
    pub(crate) rows: u64,
}

impl Store {
    /// Copies a state of this store into a file, which is made, or brought to that state in one commit. `all` compares every
    /// row, and not only those of sessions that have changed.
    pub(crate) fn copy_to(
        &self,
        snapshot: &Snapshot,
        path: &Path,
        all: bool,
        progress: Progress<'_>,
    ) -> Result<Copied> {
        match store_file(path, self.path())? {
            None | Some(StoreFile::Database) => {}
            Some(file) => {
                let path = path.to_owned();
                return Err(Error::Export(ExportError::WouldReplaceStore { path, file }));
            }
        }
        // A backup that was killed may have been a new one, and this one none.
        remove_left(folder_of(path));
        if creation::standing(path)? == creation::Standing::Nothing {
            let mut rows = 0;
            let from = (!self.is_in_memory()).then(|| self.path());
            creation::make_filled(path, from, |made| {
                rows = fill_new(snapshot, made, Copy::Backup, progress)?;
                check_pages(made)
            })?;
            let changed = snapshot.sessions()?.len()?;
            return Ok(Copied { is_new: true, changed, removed: 0, rows });
        }
        let options = StoreOptions { create: false, ..StoreOptions::default() };
        let copy = Self::open_with(path, &options)?;
        // Begun first: while it is open nobody else changes the copy.
        let transaction = copy.writable()?.begin_write()?;
        let before = copy.committed()?;
        if let Some(problem) = refusal(snapshot.transaction(), before.transaction())? {
            let path = path.to_owned();
            return Err(Error::Store(StoreError::NotABackup { path, problem }));
        }
        let differences =
            bring_in_step((snapshot, &before), transaction, Copy::Backup, all, progress)?;
        let Differences { changed, removed, rows } = differences;
        Ok(Copied { is_new: false, changed, removed, rows })
    }
}

/// What a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copy {
    Backup,
    /// It takes the store's place.
    Replacement,
}

/// Makes the rows of a copy those of the store, in its write transaction.
fn bring_in_step(
    (snapshot, before): (&Snapshot, &Snapshot),
    transaction: WriteTransaction,
    copy: Copy,
    all: bool,
    progress: Progress<'_>,
) -> Result<Differences> {
    let (source, old) = (snapshot.transaction(), before.transaction());
    let stores = Stores { source, old, new: &transaction };
    let differences = match merge(stores, all, &mut *progress) {
        // The copy was not what it was taken for.
        Err(Error::Corrupted(_)) if !all => merge(stores, true, progress)?,
        merged => merged?,
    };
    write_own_rows(snapshot, &transaction, copy)?;
    transaction.commit()?;
    Ok(differences)
}

/// Makes a replacement have the rows of the store again, after others have changed those.
pub(super) fn follow(snapshot: &Snapshot, path: &Path) -> Result<()> {
    let copy = Store::open_with(path, &StoreOptions { create: false, ..StoreOptions::default() })?;
    let transaction = copy.writable()?.begin_write()?;
    let before = copy.committed()?;
    bring_in_step((snapshot, &before), transaction, Copy::Replacement, false, &mut |_| {})?;
    Ok(())
}

/// Fills a new store, and returns how many rows it has then.
pub(super) fn fill_new(
    snapshot: &Snapshot,
    path: &Path,
    kind: Copy,
    progress: Progress<'_>,
) -> Result<u64> {
    let copy = Store::open_with(path, &StoreOptions { create: false, ..StoreOptions::default() })?;
    let database = copy.writable()?;
    let rows = fill(snapshot.transaction(), database, progress)?;
    let transaction = database.begin_write()?;
    write_own_rows(snapshot, &transaction, kind)?;
    transaction.commit()?;
    Ok(rows)
}

/// Reads the file again, page by page.
pub(crate) fn check_pages(path: &Path) -> Result<()> {
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    let damaged = Store::open_with(path, &options)?.damaged_pages()?;
    match damaged.first() {
        None => Ok(()),
        Some(page) => Err(Corruption {
            table: page.table.as_deref().map_or("engine", tables::name),
            place: format!("byte {} of the copy", page.at),
            problem: "what is there cannot be read again".into(),
        }
        .into()),
    }
}

/// Why a store cannot be brought in step as a backup of another one.
fn refusal(source: &ReadTransaction, copy: &ReadTransaction) -> Result<Option<String>> {
    let number = |transaction: &ReadTransaction, name| -> Result<Option<u64>> {
        Ok(transaction.open_table(tables::META)?.get(name)?.map(|value| value.value()))
    };
    Ok(if number(source, NUMBER)? != number(copy, NUMBER)? {
        Some("it is another store, or the backup of another one".to_owned())
    } else if number(copy, MARK)?.is_none() {
        Some("it has been written to as a store of its own".to_owned())
    } else if number(source, format::NAME)? != number(copy, format::NAME)? {
        Some("it has another format than the store, which cannot be written".to_owned())
    } else {
        None
    })
}

/// Writes the rows of `meta` and `journal`. A backup is marked. No journal belongs to a copy: the store's is the store's.
fn write_own_rows(snapshot: &Snapshot, copy: &WriteTransaction, kind: Copy) -> Result<()> {
    let mut meta = copy.open_table(tables::META)?;
    meta.retain(|_, _| false)?;
    for row in snapshot.transaction().open_table(tables::META)?.iter()? {
        let (name, value) = row?;
        meta.insert(name.value(), value.value())?;
    }
    if kind == Copy::Backup {
        meta.insert(MARK, 1)?;
    }
    let row = snapshot.journal_row()?;
    journal::write_row(copy, &JournalRow { epoch: 0, path: Vec::new(), ..row })
}

/// Whether the file is a backup that nobody has written to.
pub(super) fn is_marked(transaction: &ReadTransaction) -> Result<bool> {
    let Some(meta) = transaction.open_table_if_any(tables::META)? else { return Ok(false) };
    Ok(meta.get(MARK)?.is_some())
}

/// From here on it is a store of its own.
pub(super) fn take_mark_away(transaction: &WriteTransaction) -> Result<()> {
    transaction.open_table(tables::META)?.remove(MARK)?;
    Ok(())
}
