//! Waiting for a lock that another process holds, as long as that process gets on.
//!
//! A holder may be stopped, or hang. No lock can be taken away from it, so the wait ends with an error that names it, and the
//! caller goes on without the lock, if that is safe, or fails.

use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redb::{BackendError, StorageError};

use super::EngineFile;
use super::locks::Held;
use crate::error::{Error, StoreError};
use crate::store::pages::{HEADER, read_header};

/// How long to wait for a holder that is stopped or idle, while nothing happens.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait for one that runs or waits for a disk, that may wait for another one's commit, or that cannot be seen.
const MOST_PATIENCE: Duration = Duration::from_secs(120);

/// How often to look whether anything happens. Holders seldom take longer.
const LOOK: Duration = Duration::from_millis(100);

/// How long before a lock is tried again.
pub(crate) const PAUSE: Duration = Duration::from_micros(50);

/// When a lock is tried less often, and how often then. Between two commits of an import its transaction is free for a moment,
/// so that one is tried often for longer.
const SOON: Duration = Duration::from_millis(20);
const SOON_TO_WRITE: Duration = Duration::from_secs(1);
const LONGER_PAUSE: Duration = Duration::from_millis(1);

/// A watch that was interrupted for this long starts again: it has not seen the time between.
const GAP: Duration = Duration::from_secs(2);

/// The holder of a lock does not get on.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("another process keeps a lock and does not get on")]
pub(crate) struct NoProgress {
    /// The number of the process, if it is known.
    pub(crate) process: Option<u32>,
    /// Whether the system says that it is stopped.
    pub(crate) is_stopped: bool,
    /// For how long nothing has happened.
    pub(crate) seconds: u64,
}

impl NoProgress {
    /// Finds it in the engine's error.
    pub(crate) fn of(error: &StorageError) -> Option<Self> {
        match error {
            StorageError::Io(source) => source.get_ref()?.downcast_ref().copied(),
            _ => None,
        }
    }

    /// Makes an error of the engine's, which names the store if it is this one.
    pub(crate) fn named(error: StorageError, path: &Path) -> Error {
        match Self::of(&error) {
            None => error.into(),
            Some(Self { process, is_stopped, seconds }) => {
                let path = path.to_owned();
                StoreError::HeldUp { path, process, is_stopped, seconds }.into()
            }
        }
    }

    pub(super) fn of_backend(error: &BackendError) -> Option<Self> {
        match error {
            BackendError::Io(source) => source.get_ref()?.downcast_ref().copied(),
            _ => None,
        }
    }
}

/// What others can see of a holder's progress.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    holder: Option<u32>,
    is_stopped: bool,
    /// The header of the store's file, which each commit changes. Those of others say nothing of a stopped holder.
    header: Option<[u8; HEADER]>,
    /// The last record of the journal.
    last: u64,
}

/// Since when nothing has happened. The threads of a process share it.
#[derive(Debug)]
pub(super) struct Watch {
    held: Held,
    seen: Seen,
    since: Instant,
    looked: Instant,
}

/// What the system tells of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems are not asked"))]
enum Activity {
    Stopped,
    /// Each thread waits for something.
    Idle,
    /// A thread runs, or waits for a disk.
    Working,
    Unknown,
}

impl EngineFile {
    /// Waits for a lock. `try_take` takes it. `last` tells of progress, the last record that the journal has, or that the lock is no
    /// longer wanted: then the answer is `false`.
    ///
    /// # Errors
    ///
    /// [`NoProgress`] if its holder does not get on; [`BackendError::Unsupported`] if the system has no such locks.
    pub(crate) fn wait_for(
        &self,
        held: Held,
        try_take: impl Fn() -> Result<bool, BackendError>,
        mut last: impl FnMut() -> Option<u64>,
    ) -> Result<bool, BackendError> {
        let begun = Instant::now();
        let mut looked = begun;
        let soon = if held == Held::Tables { SOON_TO_WRITE } else { SOON };
        while !try_take()? {
            if looked.elapsed() >= LOOK {
                let Some(last) = last() else { return Ok(false) };
                self.look(held, last).map_err(std::io::Error::other)?;
                looked = Instant::now();
            }
            std::thread::sleep(if begun.elapsed() < soon { PAUSE } else { LONGER_PAUSE });
        }
        Ok(true)
    }

    /// Waits for a lock without which the caller can go on: `false` if its holder does not get on, which then is not waited for
    /// again as long as it is stopped, or if the system has no such locks.
    pub(crate) fn wait_unless_stuck(
        &self,
        held: Held,
        try_take: impl Fn() -> Result<bool, BackendError>,
    ) -> Result<bool, BackendError> {
        let stuck =
            own(&self.0.stuck).iter().find(|(of, _)| *of == held).map(|(_, holder)| *holder);
        if let Some(stuck) = stuck
            && activity_of(stuck) == Activity::Stopped
            && self.holder(held)? == Some(stuck)
        {
            return try_take();
        }
        match self.wait_for(held, try_take, || Some(0)) {
            Err(BackendError::Unsupported) => Ok(false),
            Err(error) => match NoProgress::of_backend(&error) {
                Some(NoProgress { process, .. }) => {
                    let mut stuck = own(&self.0.stuck);
                    stuck.retain(|(of, _)| *of != held);
                    stuck.extend(process.map(|process| (held, process)));
                    Ok(false)
                }
                None => Err(error),
            },
            is_held => is_held,
        }
    }

    /// Fails if nothing has happened for too long.
    fn look(&self, held: Held, last: u64) -> Result<(), NoProgress> {
        let holder = self.holder(held).ok().flatten();
        let activity = holder.map_or(Activity::Unknown, activity_of);
        let is_stopped = activity == Activity::Stopped;
        let header = if is_stopped { None } else { read_header(self).ok() };
        let seen = Seen { holder, is_stopped, header, last };
        let now = Instant::now();
        let mut watches = own(&self.0.watches);
        let same = watches
            .iter_mut()
            .find(|watch| watch.held == held && watch.seen == seen && watch.looked.elapsed() < GAP);
        let Some(watch) = same else {
            watches.retain(|watch| watch.held != held);
            watches.push(Watch { held, seen, since: now, looked: now });
            return Ok(());
        };
        watch.looked = now;
        let waited = watch.since.elapsed();
        let limit = match activity {
            Activity::Stopped => PATIENCE,
            // A slow disk may keep it waiting for a commit of another process.
            // The work of an exclusive holder, such as a repair, does not show in the file.
            Activity::Idle
                if held != Held::Alone && matches!(self.is_written_elsewhere(), Ok(false)) =>
            {
                PATIENCE
            }
            _ => MOST_PATIENCE,
        };
        if waited < limit {
            return Ok(());
        }
        Err(NoProgress { process: holder, is_stopped, seconds: waited.as_secs() })
    }
}

fn own<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the threads of a process do.
#[cfg(target_os = "linux")]
fn activity_of(process: u32) -> Activity {
    if process == std::process::id() {
        return Activity::Working;
    }
    let threads =
        std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let states = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("stat")).ok()?;
        // Behind the name, which may have any characters.
        text.rsplit(')').next()?.trim_start().chars().next()
    });
    states.fold(Activity::Unknown, |activity, state| match (activity, state) {
        (Activity::Working, _) | (_, 'R' | 'D') => Activity::Working,
        (Activity::Unknown | Activity::Stopped, 'T' | 't') => Activity::Stopped,
        _ => Activity::Idle,
    })
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
fn activity_of(_: u32) -> Activity {
    Activity::Unknown
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::store::Store;

    /// Waits until a process does something.
    fn wait_until(child: &Child, activity: Activity) {
        let begun = Instant::now();
        while activity_of(child.id()) != activity {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is never {activity:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal(child: &Child, signal: &str) {
        let id = child.id().to_string();
        let status = Command::new("kill").args([signal, &id]).status();
        assert!(status.is_ok_and(|status| status.success()));
    }

    #[test]
    fn a_process_is_seen_to_be_idle_stopped_or_at_work() {
        let mut idle = Command::new("sleep").arg("1000").spawn().unwrap();
        wait_until(&idle, Activity::Idle);
        signal(&idle, "-STOP");
        wait_until(&idle, Activity::Stopped);
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        wait_until(&busy, Activity::Working);
        for child in [&mut idle, &mut busy] {
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(activity_of(child.id()), Activity::Unknown);
        }
    }

    #[test]
    fn others_find_the_holder_of_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let stores = [(); 2].map(|()| Store::open(folder.path().join("store")).unwrap());
        let [first, other] = stores.each_ref().map(|store| store.shared.file.as_ref().unwrap());
        use Held::{Alone, Ending, Gate, Journal, Passable, Tables};
        for held in [Journal, Gate, Ending, Tables, Passable, Alone] {
            assert_eq!(other.holder(held).unwrap(), None);
            assert!(first.try_hold(held).unwrap() && !other.try_hold(held).unwrap());
            assert_eq!(other.holder(held).unwrap(), Some(std::process::id()));
            // Its own locks no process sees.
            assert_eq!(first.holder(held).unwrap(), None);
            first.release(held).unwrap();
        }
        // Those who share the use of a journal do not count as one who holds it.
        assert!(first.try_share_journal().unwrap() && !other.try_hold(Held::Ending).unwrap());
        assert_eq!(other.holder(Held::Ending).unwrap(), None);
    }
}
