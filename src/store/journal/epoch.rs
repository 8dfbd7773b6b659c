//! Epochs: when a journal is used, by whom, and when one cannot be.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::damaged::Damage;
use super::file::{self, Areas, JournalFile, Room, Title};
use super::reading::OpenFile;
use super::row::{JournalRow, Place};
use super::tables::JournalChange;
use super::{DAMAGED_ENDING, JOURNAL_ENDING, Store, lock};
use crate::error::{Error, FileContext, Result};
use crate::regular_file::{has_same_bytes, open_regular};
use crate::rights::Rights;
use crate::store::commit::Batch;
use crate::store::engine_file::{EngineFile, Held};
use crate::store::names::is_named;

/// A journal where there was none before.
#[derive(Debug)]
pub(crate) struct MadeJournal {
    file: JournalFile,
}

impl MadeJournal {
    /// Whether it has no record at all.
    pub(crate) fn is_unused(&self) -> bool {
        matches!(self.file.newest_epoch(), Ok(None))
    }

    /// Gives its room on the disk back, although it stays: it has no record, and no one else uses it.
    pub(crate) fn give_room_back(&self) {
        self.file.punch();
    }

    /// Takes it away. It has nothing that the tables lack, and no one else uses it.
    pub(crate) fn remove(&self) {
        // One that stays counts for nothing.
        let _ = self.file.remove();
    }
}

/// For what an open store uses the journal.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// It appends.
    appends: bool,
    /// How many [keep](Store::keep_in_use) the journal in use for others.
    kept: usize,
}

impl Uses {
    fn any(&self) -> bool {
        self.appends || self.kept > 0
    }
}

/// Sequence numbers that are left out where a journal is given up: more than are written to one.
pub(super) const GIVEN_UP: u64 = 1 << 40;

/// How long to wait for the right to append before an epoch begins. Nobody appends then.
const PATIENCE: Duration = Duration::from_millis(20);

impl Store {
    /// Fails if a journal beside the store has more than the tables: it is another store's, or the tables are older.
    pub(crate) fn check_journal(&self) -> Result<()> {
        if self.shared.file.is_none() {
            return Ok(());
        }
        let path = self.journal_path()?;
        let error = match JournalFile::open_to_read(&path, self.number()?) {
            Ok(file) if self.has_more(&file)? && !self.is_let_go(&path) => {
                return Err(self.journal_ahead(path));
            }
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ if self.is_read_only() || self.is_let_go(&path) => Ok(()),
            ErrorKind::InvalidData => {
                let row = self.committed()?.journal_row()?;
                match JournalFile::damage(&path, self.number()?, row.epoch) {
                    Ok(Some(damage)) if row.epoch != 0 => Err(damage.at(&path).into()),
                    // Nothing in it counts. The next epoch mends it.
                    Ok(Some(Damage { newest, .. })) if !newest.is_ahead_of(&row) => Ok(()),
                    Ok(Some(_)) => Err(self.journal_ahead(path)),
                    Ok(None) | Err(_) => Err(self.foreign_journal(path, &error)),
                }
            }
            // Where the tables have all, appends go into them.
            ErrorKind::PermissionDenied => match self.committed()?.journal_row()?.epoch {
                0 => Ok(()),
                _ => Err(self.journal_denied(path, error)),
            },
            _ => Err(self.foreign_journal(path, &error)),
        }
    }

    /// Whether a journal may have what the store lacks. While an epoch is open, its records are followed from those in the tables.
    fn has_more(&self, file: &JournalFile) -> Result<bool> {
        let failed = |error| Error::File {
            action: "reading the journal",
            path: file.path.clone(),
            source: error,
        };
        loop {
            let title = file.title().map_err(failed)?;
            let snapshot = self.committed()?;
            let row = snapshot.journal_row()?;
            if row.epoch != 0
                || !file.may_have_more(&row, snapshot.last_epochs()?).map_err(failed)?
            {
                return Ok(false);
            }
            // Others may have begun an epoch meanwhile.
            if file.title().map_err(failed)? == title && self.committed()?.journal_row()? == row {
                return Ok(true);
            }
        }
    }

    /// Whether the journal beside the store is that of a damaged one in whose place this one came, and has a name beside that,
    /// too, or a copy where there are no hard links: then the repair was killed before it took the first name away, which is done
    /// here.
    fn is_let_go(&self, journal: &Path) -> bool {
        let (Some(folder), Some(name)) = (journal.parent(), journal.file_name()) else {
            return false;
        };
        let Ok(file) = open_regular(journal) else { return false };
        let name = name.as_encoded_bytes();
        let store = name.strip_suffix(JOURNAL_ENDING.as_bytes()).unwrap_or(name);
        let beginning = [store, DAMAGED_ENDING.as_bytes()].concat();
        let is_kept = |entry: std::fs::DirEntry| {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            let is_journal = name.ends_with(JOURNAL_ENDING.as_bytes());
            let is_one = name.starts_with(&beginning) && is_journal;
            is_one
                && (is_named(&file, &entry.path()).unwrap_or(false)
                    || self.has_copy(&file, &entry.path()).unwrap_or(false))
        };
        if !std::fs::read_dir(folder).into_iter().flatten().flatten().any(is_kept) {
            return false;
        }
        self.is_read_only() || std::fs::remove_file(journal).is_ok()
    }

    /// Whether a repair has kept a copy of a journal under this name. If the damaged store was put back, it is in use again.
    fn has_copy(&self, journal: &File, kept: &Path) -> std::io::Result<bool> {
        let store = kept.with_extension("");
        Ok(has_same_bytes(journal, &open_regular(kept)?)?
            && !has_same_bytes(&open_regular(self.path())?, &open_regular(&store)?)?)
    }

    /// Says to other processes that this one uses the journal, so that none ends its epoch. Without the lock of an open
    /// transaction; `false` if there is no journal, and if a process that does not get on ends the epoch.
    pub(crate) fn use_journal(&self) -> Result<bool> {
        self.use_for(|uses| uses.appends = true)
    }

    /// The same for others: they find it in use until [`Self::end_keeping`].
    pub(crate) fn keep_in_use(&self) -> Result<bool> {
        self.use_for(|uses| uses.kept += 1)
    }

    fn use_for(&self, note: impl FnOnce(&mut Uses)) -> Result<bool> {
        let Some(engine) = self.shared.file.as_ref().filter(|_| self.has_journal()) else {
            return Ok(false);
        };
        self.check_process()?;
        let mut uses = lock(&self.journal().uses);
        let is_used = uses.any()
            || engine
                .wait_unless_stuck(Held::Ending, || engine.try_share_journal())
                .map_err(redb::StorageError::from)?;
        if !is_used {
            return Ok(false);
        }
        note(&mut uses);
        Ok(true)
    }

    /// Returns true if another open store uses the journal.
    pub(crate) fn shares_journal(&self) -> bool {
        let engine = self.shared.file.as_ref();
        engine.is_some_and(|engine| matches!(engine.is_journal_shared(), Ok(true)))
    }

    /// No longer uses the journal. Calls `end` if this handle used it and no other one does.
    pub(crate) fn leave_journal(&self, end: impl FnOnce()) {
        self.journal().background.stop();
        self.leave_for(|uses| uses.appends = false, end);
    }

    /// No longer [keeps](Self::keep_in_use) it in use. Calls `end` if nobody uses it then.
    pub(crate) fn end_keeping(&self, end: impl FnOnce()) {
        self.leave_for(|uses| uses.kept = uses.kept.saturating_sub(1), end);
    }

    fn leave_for(&self, note: impl FnOnce(&mut Uses), end: impl FnOnce()) {
        let mut uses = lock(&self.journal().uses);
        let was_used = uses.any();
        note(&mut uses);
        let is_left = was_used && !uses.any();
        let Some(engine) = self.shared.file.as_ref().filter(|_| is_left) else { return };
        // A lock that cannot be released or taken ends with the open file, and the epoch goes on.
        if engine.leave_journal().is_ok() && matches!(engine.try_hold(Held::Ending), Ok(true)) {
            end();
            let _ = engine.release(Held::Ending);
        }
    }

    /// Goes on without the journal, if it cannot be used and nobody uses it. What it alone had is not in the tables.
    ///
    /// # Errors
    ///
    /// Before anything is written, if the next epoch could not use what is in the journal's place either.
    pub(crate) fn give_up_journal(&self) -> Result<()> {
        self.check_journal_place()?;
        let usable = self.committed()?.journal_row().and_then(|row| self.journaled(&row).map(drop));
        if usable.is_ok() && self.check_journal().is_ok() {
            return Ok(());
        }
        let there = JournalFile::open_to_read(&self.journal_path()?, self.number()?);
        let there = there.ok().and_then(|file| file.title().ok().flatten());
        let mut given_up = Ok(());
        self.unless_used(|| {
            given_up = self.write_tables(|snapshot| {
                let row = snapshot.journal_row()?;
                let mut batch = Batch::default();
                // Beyond any number that the journal can have, so that it is not taken for a later one.
                let sequence = row.folded.sequence.saturating_add(GIVEN_UP);
                let place = Place { sequence, ..Place::default() };
                let epoch = there.map_or(row.epoch, |title| title.epoch);
                batch.change_journal(JournalChange::GiveUp(place, epoch));
                Ok((batch, ()))
            });
        })?;
        given_up
    }

    /// Fails if there is something in the journal's place that an epoch could neither use nor mend.
    fn check_journal_place(&self) -> Result<()> {
        let (path, number) = (self.journal_path()?, self.number()?);
        let Err(error) = JournalFile::open(&path, number) else { return Ok(()) };
        if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() {
            return Ok(());
        }
        let damage = |epoch| JournalFile::damage(&path, number, epoch).ok().flatten();
        if error.kind() == ErrorKind::InvalidData && damage(0).is_some() {
            return Ok(());
        }
        // Only its records show that it is the store's: a repair takes them over.
        match damage(self.committed()?.journal_row()?.epoch) {
            Some(damage) if error.kind() == ErrorKind::InvalidData => Err(damage.at(&path).into()),
            _ => Err(self.foreign_journal(path, &error)),
        }
    }

    /// Calls `act` if no handle uses the journal, this one neither. None begins to meanwhile.
    pub(crate) fn unless_used(&self, act: impl FnOnce()) -> Result<()> {
        let uses = lock(&self.journal().uses);
        let Some(engine) = self.shared.file.as_ref().filter(|_| !uses.any()) else { return Ok(()) };
        let failed = |error| Error::from(redb::StorageError::from(error));
        match engine.try_hold(Held::Ending) {
            Ok(true) => {
                act();
                engine.release(Held::Ending).map_err(failed)
            }
            Ok(false) | Err(redb::BackendError::Unsupported) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Whether the next change of a live session should begin an epoch: it is not the first one through this handle.
    pub(crate) fn begins_epoch(&self) -> bool {
        if !self.has_journal() {
            return false;
        }
        let mut appender = lock(&self.journal().appender);
        appender.direct = appender.direct.saturating_add(1);
        appender.direct > 1
    }

    /// Notes that no epoch could be begun: there is no room for a journal, or no right to make one.
    pub(crate) fn put_off_epoch(&self) {
        lock(&self.journal().appender).direct = 0;
    }

    /// Whether another one, who was the last to use the journal, ends the epoch.
    #[cfg(test)]
    pub(crate) fn is_epoch_ending(&self) -> bool {
        self.shared.file.as_ref().unwrap().is_journal_closed().unwrap()
    }

    /// Makes the file of a journal, if there is none, and if that can be done.
    pub(crate) fn make_journal(&self) -> Result<Option<MadeJournal>> {
        let (path, number) = (self.journal_path()?, self.number()?);
        if path.exists() {
            return Ok(None);
        }
        // What keeps it from being made is met again when an epoch begins.
        let like = self.file_rights()?;
        let made = JournalFile::make(&path, number, (Areas::of_new(), Room::Written), &like, false);
        Ok(made.ok().map(|file| MadeJournal { file }))
    }

    /// Makes the journal of a new epoch. The caller holds the write transaction. `None` while a process has the right to append that
    /// it took in an epoch before: it may be about to write its record.
    pub(crate) fn begin_epoch(
        &self,
        before: &JournalRow,
        room: Room,
    ) -> Result<Option<JournalRow>> {
        let Some(_lock) = self.lock_journal_within(PATIENCE) else { return Ok(None) };
        let (path, number, areas) = (self.journal_path()?, self.number()?, Areas::of_new());
        let rights = self.file_rights()?;
        let file = match JournalFile::make(&path, number, (areas, room), &rights, true) {
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                match JournalFile::damage(&path, number, 0) {
                    Ok(Some(damage)) if !damage.newest.is_ahead_of(before) => {
                        JournalFile::mended(&path, number, areas)
                            .at("mending the journal", &path)?
                    }
                    Ok(Some(_)) => return Err(self.journal_ahead(path)),
                    Ok(None) | Err(_) => return Err(self.foreign_journal(path, &error)),
                }
            }
            made => made.at("making the journal", &path)?,
        };
        if self.has_more(&file)? {
            return Err(self.journal_ahead(path));
        }
        let epoch = uuid::Uuid::new_v4().as_u64_pair().1 | 1;
        // On the disk before the commit that names the epoch: a store with another one is a copy.
        let titled = file.entitle(Title::of(number, epoch)).and_then(|()| file.sync());
        titled.at("writing the journal", &path)?;
        *lock(&self.journal().file) = Some(OpenFile { epoch, file: Arc::new(file) });
        let folded = file::beginning(before.folded.sequence);
        self.note_end(epoch, folded.sequence);
        let path = path.as_os_str().as_encoded_bytes().to_vec();
        Ok(Some(JournalRow { epoch, folded, commits: before.commits, path }))
    }

    /// Seals the journal of an epoch: it is on the disk that no record is acknowledged there which is written from now on. What was
    /// acknowledged before is read after this. The caller holds the write transaction, with which all others wait for the right to
    /// append; so the process that has it is about to write one record, at most. `false`, and nothing is written, if none has it.
    pub(crate) fn seal_journal(&self, row: &JournalRow) -> Result<bool> {
        let Some(engine) = &self.shared.file else { return Ok(false) };
        let file = self.sound_journal(row)?;
        let failed = |error| self.journal_write_failed(error);
        let is_held = engine.is_held_elsewhere(Held::Journal).map_err(redb::StorageError::from)?;
        if !is_held && !file.is_sealed().map_err(failed)? {
            return Ok(false);
        }
        if !file.is_writable {
            return Err(failed(ErrorKind::PermissionDenied.into()));
        }
        // Again, too, if another process has written it: it may not be on the disk.
        let title = Title { store: self.number()?, epoch: row.epoch, is_sealed: true };
        file.entitle(title).and_then(|()| file.sync()).map_err(failed)?;
        Ok(true)
    }

    /// Closes the journal and deletes it, if the store's file has all of it. Nobody uses it, and nobody begins to.
    ///
    /// Where it is not said, the tables say so.
    pub(crate) fn close_epoch(&self) {
        let Some(OpenFile { epoch, file }) = lock(&self.journal().file).take() else { return };
        let row = self.committed().and_then(|snapshot| snapshot.journal_row());
        if row.is_ok_and(|row| row.epoch == 0)
            && let Ok(Some(title)) = file.title()
            && title.epoch == epoch
            && file.is_writable
            && file.entitle(Title::of(title.store, 0)).is_ok()
        {
            // One that stays is closed, and counts for nothing.
            let _ = file.remove();
        }
    }

    /// Removes a journal that has no record at all, as an import leaves it whose disk was full. Nobody uses it, and the tables name
    /// no epoch.
    pub(crate) fn remove_unused_journal(&self) -> Result<()> {
        let file = JournalFile::open(&self.journal_path()?, self.number()?);
        if let Ok(file) = file
            && self.committed()?.journal_row()?.epoch == 0
        {
            let made = MadeJournal { file };
            if made.is_unused() {
                made.remove();
            }
        }
        Ok(())
    }

    /// The rights to the store's file.
    fn file_rights(&self) -> Result<Rights> {
        let engine = self.shared.file.as_ref();
        let rights = engine.map_or_else(|| Rights::at(self.path()), EngineFile::rights);
        rights.at("looking at", self.path())
    }
}
