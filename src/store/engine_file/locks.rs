//! The locks of the store's own on byte ranges of its file: of owners, of the journal, and of commits.

use std::ops::Bound;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use redb::{BackendError, StorageBackend as _};

use super::EngineFile;
use super::own_locks::Share;

/// Where the bytes begin that stand for owners of unfinished rows, one byte per token.
const OWNERS: u64 = 1 << 61;

/// The first byte behind those: tokens of owners are less than 2^60.
pub(super) const FIRST: u64 = OWNERS + (1 << 60);

/// The byte that a process holds while it syncs the journal for all.
const JOURNAL_SYNC: Bound<u64> = Bound::Included(FIRST + 3);

/// The byte that a process holds while it commits what no record of the journal builds on.
const PASSABLE: Bound<u64> = Bound::Included(FIRST + 5);

/// The byte that a process holds while it opens the file to write what a journal would take, too.
const TURN: Bound<u64> = Bound::Included(FIRST + 6);

/// Locks that one process holds while others may wait for it without end, if it is stopped. A holder locks the bytes from the first
/// one to the one of its number, so that those who wait can find out who it is: of locks of open files no system tells that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// The right to append to the journal.
    Journal,
    /// The right to change the tables although others append.
    Gate,
    /// The right to end an epoch, which keeps others from using the journal. Those who use it share the first byte.
    Ending,
    /// Says whose the write transaction is: the engine's lock is one byte.
    Tables,
    /// Says the same of a commit for which appends need not wait.
    Passable,
    /// Names the exclusive holder of the file.
    Alone,
}

impl Held {
    fn first(self) -> u64 {
        FIRST + ((self as u64 + 1) << 32)
    }

    /// The byte that several may share, or one may have with the others of [`Self::own`].
    pub(super) fn shared(self) -> (Bound<u64>, Bound<u64>) {
        self.bytes(0, 0)
    }

    /// The bytes that any process may lock.
    #[cfg(test)]
    pub(super) fn all(self) -> (Bound<u64>, Bound<u64>) {
        self.bytes(0, u32::MAX)
    }

    fn bytes(self, first: u32, last: u32) -> (Bound<u64>, Bound<u64>) {
        let byte = |number: u32| Bound::Included(self.first() + u64::from(number));
        (byte(first), byte(last))
    }

    /// The bytes that this process locks.
    fn own(self) -> (Bound<u64>, Bound<u64>) {
        self.bytes(0, std::process::id())
    }
}

/// Where the bytes begin that stand for records of the journal, one for each number.
const SYNCED: u64 = 1 << 60;

/// More records than are written to one journal.
const MOST_RECORDS: u64 = 1 << 60;

/// The time of a commit for which appends need not wait.
#[derive(Debug)]
pub(crate) struct Passable<'f> {
    file: &'f EngineFile,
    /// Given back after the lock.
    _turn: MutexGuard<'f, ()>,
}

/// The turn to open the file to write what a journal would take, too.
#[derive(Debug)]
pub(crate) struct Turn<'f>(&'f EngineFile);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // It ends with the open file, too, and keeps nobody else from anything but waiting less.
        let _ = self.0.unlock_range(TURN, TURN);
    }
}

impl EngineFile {
    /// Takes the turn; `None` if another open file has it.
    pub(crate) fn try_take_turn(&self) -> Result<Option<Turn<'_>>, BackendError> {
        Ok(self.try_lock_range(TURN, TURN)?.then_some(Turn(self)))
    }

    /// Takes the lock of an owner's token; `false` if another process, or another open file of this one, has it.
    pub(crate) fn lock_owner(&self, token: u64) -> Result<bool, BackendError> {
        let byte = owner_byte(token);
        self.try_lock_range(byte, byte)
    }

    /// Releases the lock of an owner's token.
    pub(crate) fn unlock_owner(&self, token: u64) -> Result<(), BackendError> {
        let byte = owner_byte(token);
        self.unlock_range(byte, byte)
    }

    /// Whether another process, or another open file of this one, has the lock of an owner's token.
    pub(crate) fn is_owner_elsewhere(&self, token: u64) -> Result<bool, BackendError> {
        let byte = owner_byte(token);
        self.query((byte, byte))
    }

    /// Says, until the answer is dropped, that the commit which this open file makes changes nothing that a record of the
    /// journal builds on: others append while it is not confirmed. The caller has the write transaction, with whose beginning
    /// the commit before was confirmed. `None` where there is no such lock, or one who has just made such a commit did not give
    /// it back yet.
    pub(crate) fn let_appends_pass(&self) -> Option<Passable<'_>> {
        let turn = self.passable();
        if !self.try_lock_range(PASSABLE, PASSABLE).unwrap_or(false) {
            return None;
        }
        // Without it others only wait longer.
        let _ = self.try_hold(Held::Passable);
        self.0.is_passable.store(true, Ordering::SeqCst);
        Some(Passable { file: self, _turn: turn })
    }

    /// Waits until nobody says that any more. The caller has the write transaction, so that nobody begins to.
    ///
    /// # Errors
    ///
    /// [`NoProgress`](super::NoProgress).
    pub(crate) fn let_no_append_pass(&self) -> Result<(), BackendError> {
        let _turn = self.passable();
        let try_take = || self.try_lock_range(PASSABLE, PASSABLE);
        match self.wait_for(Held::Passable, try_take, || Some(0)) {
            Ok(_) => self.unlock_range(PASSABLE, PASSABLE),
            Err(BackendError::Unsupported) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn passable(&self) -> MutexGuard<'_, ()> {
        self.0.passable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the last commit, if it is not confirmed, is one for which appends need not wait, and its process lives.
    fn lets_appends_pass(&self) -> Result<bool, BackendError> {
        if self.0.is_passable.load(Ordering::SeqCst) {
            return Ok(true);
        }
        self.query((PASSABLE, PASSABLE))
    }

    /// Whether appends have to wait until the last commit is confirmed.
    pub(crate) fn awaits_confirmation(&self) -> Result<bool, BackendError> {
        // In this order: who lets appends pass has confirmed the commit that was found before his own.
        Ok(self.has_unconfirmed_commit()? && !self.lets_appends_pass()?)
    }

    /// Takes a lock; `false` if another open file has it.
    pub(crate) fn try_hold(&self, held: Held) -> Result<bool, BackendError> {
        let (first, last) = held.own();
        self.try_lock_range(first, last)
    }

    /// Gives it back.
    pub(crate) fn release(&self, held: Held) -> Result<(), BackendError> {
        let (first, last) = held.own();
        self.unlock_range(first, last)
    }

    /// Whether another open file holds a lock.
    pub(crate) fn is_held_elsewhere(&self, held: Held) -> Result<bool, BackendError> {
        self.query(held.shared())
    }

    /// The number of the process that holds a lock, as it knows itself; `None` if none does, or it changes meanwhile.
    pub(crate) fn holder(&self, held: Held) -> Result<Option<u32>, BackendError> {
        let is_held = |first, last| self.query(held.bytes(first, last));
        // The highest byte that is locked.
        let (mut low, mut high) = (0, u32::MAX);
        while low < high {
            let middle = high - (high - low) / 2;
            if is_held(middle, u32::MAX)? { low = middle } else { high = middle - 1 }
        }
        Ok((low > 0 && is_held(low, low)?).then_some(low))
    }

    /// Says that this open file uses the journal; `false` while another ends the epoch.
    pub(crate) fn try_share_journal(&self) -> Result<bool, BackendError> {
        let (first, last) = Held::Ending.shared();
        self.try_lock_shared_range(first, last)
    }

    /// Gives that back.
    pub(crate) fn leave_journal(&self) -> Result<(), BackendError> {
        let (first, last) = Held::Ending.shared();
        self.unlock_range(first, last)
    }

    /// Whether another open file keeps others from beginning to use the journal. This one does not use it.
    #[cfg(test)]
    pub(crate) fn is_journal_closed(&self) -> Result<bool, BackendError> {
        if !self.try_share_journal()? {
            return Ok(true);
        }
        self.leave_journal()?;
        Ok(false)
    }

    /// Whether another open file uses the journal.
    pub(crate) fn is_journal_shared(&self) -> Result<bool, BackendError> {
        self.is_said_elsewhere(Share::Journal)
    }

    /// Takes the right to sync the journal for all; `false` if another has it.
    pub(crate) fn try_lock_sync(&self) -> Result<bool, BackendError> {
        self.try_lock_range(JOURNAL_SYNC, JOURNAL_SYNC)
    }

    pub(crate) fn unlock_sync(&self) -> Result<(), BackendError> {
        self.unlock_range(JOURNAL_SYNC, JOURNAL_SYNC)
    }

    /// Tells others that the journal is on the disk up to a record, and no longer what was told before. Others see it as long
    /// as this file is open.
    pub(crate) fn tell_synced(&self, record: u64, before: Option<u64>) -> Result<(), BackendError> {
        let byte = record_byte(record);
        self.lock_shared_range(byte, byte)?;
        match before.map(record_byte).filter(|before| *before != byte) {
            Some(before) => self.unlock_range(before, before),
            None => Ok(()),
        }
    }

    /// Whether another open file tells that the journal is on the disk up to a record, or beyond.
    pub(crate) fn is_told_synced(&self, record: u64) -> Result<bool, BackendError> {
        let end = Bound::Excluded(SYNCED + MOST_RECORDS);
        self.query((record_byte(record), end))
    }
}

impl Drop for Passable<'_> {
    fn drop(&mut self) {
        self.file.0.is_passable.store(false, Ordering::SeqCst);
        // A lock that cannot be released ends with the open file.
        let _ = self.file.release(Held::Passable);
        let _ = self.file.unlock_range(PASSABLE, PASSABLE);
    }
}

fn owner_byte(token: u64) -> Bound<u64> {
    Bound::Included(OWNERS + token)
}

fn record_byte(record: u64) -> Bound<u64> {
    Bound::Included(SYNCED + record % MOST_RECORDS)
}
