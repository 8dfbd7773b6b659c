//! The journal: a file beside the store into which live writes go first, at the cost of one write in place and one sync.
//! Later they are folded into the tables, many in one commit.
//!
//! An *epoch* begins with the commit that writes its number and the journal's path into the tables, and ends with one that
//! has taken all records over. In between the tables say how far they are, and whoever reads looks whether more follows.
//! Writers take turns by a lock of a byte of the store's own file, whatever the store is called. Records are a chain: each
//! repeats the checksum of the one before.

mod appending;
mod background;
mod damaged;
mod epoch;
mod file;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod gate;
mod reading;
mod record;
mod row;
mod syncing;
mod tables;
#[cfg(test)]
mod tests;
mod waiting;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use self::appending::Appender;
pub(crate) use self::appending::{Appended, JournalLock, KnownJournal, Written};
use self::background::Background;
pub(crate) use self::damaged::{Rescued, rescue, rescue_newest};
pub(crate) use self::epoch::MadeJournal;
use self::epoch::Uses;
#[cfg(not(any(test, all(unix, feature = "faults"))))]
use self::file::JournalFile;
pub(crate) use self::file::MAGIC as JOURNAL_MAGIC;
#[cfg(any(test, all(unix, feature = "faults")))]
pub(crate) use self::file::{Areas, JournalFile};
pub(crate) use self::file::{Room, is_closed};
use self::reading::{OpenFile, Overlaid};
pub(crate) use self::record::Journaled;
pub(crate) use self::row::{JournalRow, Place};
use self::syncing::Syncing;
pub(crate) use self::tables::{JournalChange, make_row, note_commit, row_of, write_row};
use super::Store;
pub(crate) use super::exposure::JOURNAL_ENDING;

/// What the name of a store has after it where a repair keeps it; a time follows.
pub(crate) const DAMAGED_ENDING: &str = ".damaged-";

use super::source_record::path_of_bytes;
use crate::destination::with_ending;
use crate::error::{Corruption, Error, FileContext, Result, StoreError};

/// What an open store keeps of its journal.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    file: Mutex<Option<OpenFile>>,
    appender: Mutex<Appender>,
    /// For what this open store uses the journal. Others see that it does.
    uses: Mutex<Uses>,
    sync: Mutex<Syncing>,
    /// Where threads wait for this sync, and for the next one: by the sync's number, odd or even.
    synced: [Condvar; 2],
    /// The record up to which other processes were told that the journal is on the disk.
    told: Mutex<Option<u64>>,
    /// Threads that have closed the gate, or wait to do so.
    at_gate: AtomicUsize,
    /// Threads that have closed it.
    closed: Mutex<usize>,
    opened: Condvar,
    /// An epoch whose end was looked behind, and the highest record that was its end since.
    checked: Mutex<Option<(u64, u64)>>,
    /// Whether the journal ends where it is damaged: what is behind is given up.
    gives_up: AtomicBool,
    background: Background,
    /// Of a store that is only read: the tables with the journal in them, in memory.
    overlay: Mutex<Option<Overlaid>>,
}

impl Store {
    fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Whether a journal may have more than the tables: not of a store in memory, nor of an overlay.
    pub(crate) fn has_epochs(&self) -> bool {
        self.shared.file.is_some()
    }

    /// Whether live writes of this store can go through a journal.
    pub(crate) fn has_journal(&self) -> bool {
        self.shared.file.is_some() && !self.shared.is_mount && !self.is_read_only()
    }

    /// Where the journal is, if there is one: beside the store's file itself, whatever link it was opened by. What was appended is
    /// in it until it is in the store's file, so both say whether somebody has written.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the store's file is not found.
    pub fn journal_path(&self) -> Result<PathBuf> {
        let store = self.path().canonicalize().at("finding", self.path())?;
        Ok(with_ending(&store, JOURNAL_ENDING))
    }

    fn foreign_journal(&self, journal: PathBuf, error: &std::io::Error) -> Error {
        let (path, problem) = (self.path().to_owned(), error.to_string());
        StoreError::ForeignJournal { path, journal, problem }.into()
    }

    /// The error of a journal that this process may not open.
    fn journal_denied(&self, journal: PathBuf, source: std::io::Error) -> Error {
        let owner = owner_of(&journal);
        StoreError::JournalDenied { path: self.path().to_owned(), journal, owner, source }.into()
    }

    fn path_of_journal(&self, row: &JournalRow) -> PathBuf {
        path_of_bytes(&row.path).unwrap_or_else(|| self.path().to_owned())
    }

    fn journal_failed(&self, row: &JournalRow, source: std::io::Error) -> Error {
        Error::File { action: "reading the journal", path: self.path_of_journal(row), source }
    }

    fn journal_ahead(&self, journal: PathBuf) -> Error {
        StoreError::JournalAhead { path: self.path().to_owned(), journal }.into()
    }

    /// What the thread in the background has to know.
    pub(crate) fn background_folding(&self) -> &Background {
        &self.journal().background
    }

    /// Fails if the place behind the last record of an epoch is not its end: a record that was on the disk is damaged there.
    ///
    /// It is looked for when this process first meets the epoch, and where the end has come nearer: that takes about a millisecond.
    fn check_end(&self, file: &JournalFile, row: &JournalRow, end: &Place) -> Result<()> {
        let journal = self.journal();
        if journal.gives_up.load(Ordering::Relaxed) {
            return Ok(());
        }
        let known = *lock(&journal.checked);
        let is_known =
            known.is_some_and(|(epoch, last)| epoch == row.epoch && last <= end.sequence);
        if is_known {
            self.note_end(row.epoch, end.sequence);
            return Ok(());
        }
        let failed = |error| self.journal_failed(row, error);
        let later = file.later(end, row.epoch).map_err(failed)?;
        // Others may have gone on meanwhile: with the records, or with the tables.
        if let Some(later) = later
            && file.next(end, row.epoch).map_err(failed)?.is_none()
            && self.committed()?.journal_row()? == *row
        {
            return Err(Corruption {
                table: "journal",
                place: format!("{}, byte {}", self.path_of_journal(row).display(), end.at),
                problem: format!(
                    "record {} is not what was written there; record {later} says that it was on the disk",
                    end.sequence + 1
                ),
            }
            .into());
        }
        self.note_end(row.epoch, end.sequence);
        Ok(())
    }

    /// Notes the end of an epoch behind which there is nothing.
    fn note_end(&self, epoch: u64, last: u64) {
        *lock(&self.journal().checked) = Some((epoch, last));
    }

    /// From now on the journal ends where it is damaged.
    pub(crate) fn give_up_behind_damage(&self) {
        self.journal().gives_up.store(true, Ordering::Relaxed);
    }

    fn journal_write_failed(&self, source: std::io::Error) -> Error {
        let path = self.journal_path().unwrap_or_else(|_| self.path().to_owned());
        Error::File { action: "writing the journal", path, source }
    }
}

/// The number of the user whose file it is, if the system tells.
#[cfg(unix)]
fn owner_of(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| file.uid())
}

#[cfg(not(unix))]
fn owner_of(_: &Path) -> Option<u32> {
    None
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
