//! Prompt history: recall and search of the prompts given to agents in all sessions (omp session storage document,
//! prompt history storage).

mod claude;
#[cfg(feature = "omp-history")]
mod omp;
mod queue;
mod search;
mod transfer;
pub(crate) mod unicode61;
mod verify;
mod write;

use std::sync::{Mutex, PoisonError};

use leafline_import::text;
use serde::Serialize;

use self::queue::Queue;
pub use self::transfer::HistoryTransfer;
pub(crate) use self::verify::check;
pub(crate) use self::write::rebuild;
use crate::catalog::folder::whole_directory;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::clock::now;
use crate::store::prompt_record::PromptRecord;

/// The largest number of prompts that one call returns (observed behaviour, omp's folders).
const MOST: usize = 1000;

/// A prompt of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its number in the store, in the order in which prompts were added.
    pub id: u64,
    /// Its text, without white space around it.
    pub prompt: String,
    /// When it was given, in milliseconds since 1970.
    pub created_at: i64,
    /// The working directory in which it was given.
    pub cwd: Option<String>,
    /// How many times it was given, as omp's `history.db` counts it; 1 of prompts from elsewhere.
    pub use_count: u64,
}

impl HistoryEntry {
    fn new((id, record): (u64, PromptRecord)) -> Self {
        Self {
            id,
            prompt: record.prompt,
            created_at: record.created_at,
            cwd: record.cwd,
            use_count: record.use_count,
        }
    }
}

/// The prompts given to agents, in all sessions and by any number of processes: omp's `HistoryStorage`, in the store.
/// [`Store::history`] returns it.
///
/// A prompt that equals the newest one is not stored again. The comparison is in the transaction that would store it,
/// so this holds across processes.
///
/// ```
/// # fn main() -> leafline::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
/// let history = store.history();
/// history.add_async("Why is the build slow?", Some("/work"));
/// history.add_async("Why is the build slow?", Some("/work"));
/// history.add_async("Profile the linker", Some("/work"));
/// history.flush()?;
///
/// assert_eq!(history.recent(10)?.len(), 2);
/// let found = history.search("bui slow", 10)?;
/// assert_eq!(found[0].prompt, "Why is the build slow?");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PromptHistory {
    store: Store,
    /// Created by the first prompt that is added asynchronously.
    queue: Mutex<Option<Queue>>,
    /// The first error since the last flush, of prompts that bypassed the queue.
    error: Mutex<Option<Error>>,
}

impl Store {
    /// The history of prompts.
    pub fn history(&self) -> PromptHistory {
        PromptHistory { store: self.clone(), queue: Mutex::default(), error: Mutex::default() }
    }
}

impl PromptHistory {
    /// Stores a prompt, without the white space around it. Returns its id; `None` if it is empty or equals the newest
    /// one, whatever their directories. It is on disk when the method returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::ReadOnly`](crate::error::StoreError::ReadOnly), and those of the engine.
    pub fn add(&self, prompt: &str, cwd: Option<&str>) -> Result<Option<u64>> {
        let Some(record) = record(prompt, cwd) else { return Ok(None) };
        Ok(write::add_all(&self.store, vec![record])?.pop().flatten())
    }

    /// Stores a prompt as [`Self::add`] does, without waiting for the disk: a separate thread with its own handle,
    /// started by the first such call, writes it. Its time is that of the call. [`Self::flush`], or dropping the value,
    /// waits for it.
    ///
    /// The caller waits if 4,096 prompts are queued before this one. A store in memory has no second handle; there the
    /// prompt is stored at once.
    pub fn add_async(&self, prompt: &str, cwd: Option<&str>) {
        let Some(record) = record(prompt, cwd) else { return };
        // In a forked process there is no thread, and the write says so.
        let is_here = self.store.check_process().is_ok();
        if self.store.is_in_memory() || self.store.is_read_only() || !is_here {
            if let Err(error) = write::add_all(&self.store, vec![record]) {
                locked(&self.error).get_or_insert(error);
            }
            return;
        }
        let mut started = locked(&self.queue);
        let queue = match &mut *started {
            Some(queue) => queue,
            None => match Queue::start(self.store.path()) {
                Ok(queue) => started.insert(queue),
                Err(error) => {
                    locked(&self.error).get_or_insert(error);
                    return;
                }
            },
        };
        queue.push(record);
    }

    /// Waits until all asynchronously added prompts are on disk.
    ///
    /// # Errors
    ///
    /// The first error since the last flush. The prompts that failed are not stored.
    pub fn flush(&self) -> Result<()> {
        self.store.check_process()?;
        let outcome = match &*locked(&self.queue) {
            Some(queue) => queue.flush(),
            None => Ok(()),
        };
        match locked(&self.error).take() {
            Some(error) => Err(error),
            None => outcome,
        }
    }

    /// The newest prompts, the newest first; at most 1,000.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn recent(&self, limit: usize) -> Result<Vec<HistoryEntry>> {
        let found = search::recent(&self.store.snapshot_to_read()?, limit.min(MOST))?;
        Ok(found.into_iter().map(HistoryEntry::new).collect())
    }

    /// The newest prompts that have each part of the query, separated by white space; the newest first, at most
    /// 1,000. The words of a part follow each other in the prompt, and the last one may be the beginning of a word. A query
    /// without words finds nothing.
    ///
    /// Words are those of SQLite's FTS5 with its default tokenizer, as omp uses it: runs of letters and digits, in
    /// lower case and without diacritics. So `git-COMMIT` finds `git` followed by a word that begins with `commit`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<HistoryEntry>> {
        let found = search::search(&self.store.snapshot_to_read()?, query, limit.min(MOST))?;
        Ok(found.into_iter().map(HistoryEntry::new).collect())
    }
}

/// A prompt with the current time; `None` if it is empty.
fn record(prompt: &str, cwd: Option<&str>) -> Option<PromptRecord> {
    let prompt = text::trim(prompt);
    (!prompt.is_empty()).then(|| PromptRecord {
        created_at: now(),
        cwd: cwd.map(|cwd| whole_directory(cwd).unwrap_or_else(|_| cwd.to_owned())),
        prompt: prompt.to_owned(),
        use_count: 1,
    })
}

/// The value of a lock; none of our threads leaves it in an inconsistent state.
fn locked<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
