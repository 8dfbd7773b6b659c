//! Notices that others have written to the store.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use leafline::Store;

/// How often the files are looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// A system may give two writes that follow each other one time. After this long the second one is taken in too.
const SETTLED: Duration = Duration::from_millis(700);

/// What is known of a file: its time and its size; `None` if it is not there.
type Stamp = Option<(Option<SystemTime>, u64)>;

/// The store's file and its journal, as they were when they were looked at.
#[derive(Debug)]
pub(super) struct Changes {
    files: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    looked: Instant,
    /// When the last change was noticed, until it counts as settled.
    unsettled: Option<Instant>,
}

impl Changes {
    /// Of a store, from now on.
    pub(super) fn of(store: &Store) -> Self {
        let journal = store.journal_path().ok();
        let files: Vec<PathBuf> =
            [Some(store.path().to_owned()), journal].into_iter().flatten().collect();
        let stamps = stamps(&files);
        Self { files, stamps, looked: Instant::now(), unsettled: None }
    }

    /// Whether something was written since the last call that said so. It costs two looks at the file system, five times a
    /// second.
    pub(super) fn are_there(&mut self) -> bool {
        if self.looked.elapsed() < PAUSE {
            return false;
        }
        self.looked = Instant::now();
        let now = stamps(&self.files);
        if now != self.stamps {
            self.stamps = now;
            self.unsettled = Some(self.looked);
            return true;
        }
        let is_settled = self.unsettled.is_some_and(|noticed| noticed.elapsed() >= SETTLED);
        if is_settled {
            self.unsettled = None;
        }
        is_settled
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |file: &PathBuf| {
        let metadata = std::fs::metadata(file).ok()?;
        Some((metadata.modified().ok(), metadata.len()))
    };
    files.iter().map(stamp).collect()
}
