//! Store files that a forked process has inherited.
//!
//! A lock belongs to the open file, which parent and child share: it lasts as long as either has the file open. So a child
//! closes what it has inherited, or it would keep the locks of a parent that was killed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use super::{EngineFile, Shared};

/// The open files of one process.
static OPEN: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// That process; 0 before it has opened a file.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Notes an open file, for the children of this process.
pub(super) fn note(file: &EngineFile) {
    if let Some(mut open) = own() {
        open.retain(|file| file.strong_count() > 0);
        open.push(Arc::downgrade(&file.0));
    }
}

/// The open files of this process. Closes those that it has inherited, if it has not done so.
fn own() -> Option<MutexGuard<'static, Vec<Weak<Shared>>>> {
    let process = std::process::id();
    let owner = OWNER.load(Ordering::Acquire);
    if owner == 0 || owner == process {
        OWNER.store(process, Ordering::Release);
        return Some(OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    }
    // A thread of the parent may have had the lock at the fork: nobody gives it back here.
    let mut open = match OPEN.try_lock() {
        Ok(open) => open,
        Err(TryLockError::Poisoned(open)) => open.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    for file in open.drain(..).filter_map(|file| file.upgrade()) {
        EngineFile(file).let_go();
    }
    OWNER.store(process, Ordering::Release);
    Some(open)
}

impl EngineFile {
    /// Closes what this process has inherited from the one that it was forked from.
    pub(crate) fn let_go_of_inherited() {
        drop(own());
    }

    /// Closes the file in a process that has inherited it.
    pub(super) fn let_go(self) {
        if self.0.is_left.swap(true, Ordering::AcqRel) {
            return;
        }
        #[cfg(unix)]
        for descriptor in self.0.descriptors {
            let _ = nix::unistd::close(descriptor);
        }
        // Their numbers are given again: nothing of this may use or close them once more.
        std::mem::forget(self);
    }
}
