//! Waiting for a lock that another process holds, as long as that process gets on.
//!
//! A holder may be stopped, or hang. Only the holder knows the record that it is about to write, so its lock cannot be taken
//! away: the waiting append fails, with nothing written.

use std::time::{Duration, Instant};

use redb::BackendError;

use super::syncing::PAUSE;
use super::{Store, lock};
use crate::error::{Error, Result, StoreError};
use crate::store::engine_file::{EngineFile, Held};
use crate::store::pages::read_header;

/// How long to wait for a holder that is stopped or idle, while nothing happens.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait for one that runs or waits for a disk, that may wait for another one's commit, or that cannot be seen.
const MOST_PATIENCE: Duration = Duration::from_secs(120);

/// How often to look whether anything happens. Holders seldom take longer.
const LOOK: Duration = Duration::from_millis(100);

/// When a lock is tried less often, and how often then.
const SOON: Duration = Duration::from_millis(20);
const LONGER_PAUSE: Duration = Duration::from_millis(1);

/// A watch that was interrupted for this long starts again: it has not seen the time between.
const GAP: Duration = Duration::from_secs(2);

/// What others can see of a holder's progress.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    holder: Option<u32>,
    /// The header of the store's file, which each commit changes.
    header: Option<[u8; crate::store::pages::HEADER]>,
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
enum Activity {
    Stopped,
    /// Each thread waits for something.
    Idle,
    /// A thread runs, or waits for a disk.
    Working,
    Unknown,
}

impl Store {
    /// Waits for a lock. `try_take` takes it, and `last` tells the last record that the journal has. `false` if the system has no
    /// such locks.
    ///
    /// # Errors
    ///
    /// [`StoreError::HeldUp`] if its holder does not get on.
    pub(super) fn wait_for(
        &self,
        engine: &EngineFile,
        held: Held,
        try_take: impl Fn() -> Result<bool, BackendError>,
        mut last: impl FnMut() -> u64,
    ) -> Result<bool> {
        let begun = Instant::now();
        let mut looked = begun;
        loop {
            match try_take() {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(BackendError::Unsupported) => return Ok(false),
                Err(error) => return Err(redb::StorageError::from(error).into()),
            }
            if looked.elapsed() >= LOOK {
                self.look(engine, held, last())?;
                looked = Instant::now();
            }
            std::thread::sleep(if begun.elapsed() < SOON { PAUSE } else { LONGER_PAUSE });
        }
    }

    /// Fails if nothing has happened for too long.
    fn look(&self, engine: &EngineFile, held: Held, last: u64) -> Result<()> {
        let holder = engine.holder(held).ok().flatten();
        let seen = Seen { holder, header: read_header(engine).ok(), last };
        let now = Instant::now();
        let mut watches = lock(&self.journal().watches);
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
        if waited < PATIENCE {
            return Ok(());
        }
        let activity = holder.map_or(Activity::Unknown, activity_of);
        let limit = match activity {
            Activity::Stopped => PATIENCE,
            // A slow disk may keep it waiting for a commit of another process.
            Activity::Idle if matches!(engine.is_written_elsewhere(), Ok(false)) => PATIENCE,
            _ => MOST_PATIENCE,
        };
        if waited < limit {
            return Ok(());
        }
        Err(Error::Store(StoreError::HeldUp {
            path: self.path().to_owned(),
            process: holder,
            is_stopped: activity == Activity::Stopped,
            seconds: waited.as_secs(),
        }))
    }
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
        for held in [Held::Journal, Held::Gate, Held::Ending] {
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
