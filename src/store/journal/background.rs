//! When the journal is folded in the background: what the appenders tell the thread that does it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long nothing is appended before the journal is folded: a reader then finds all of it in the tables. A watch looks at a file
/// once more 2.2 s after its last change, and what it notes then is folded with the change.
const IDLE: Duration = Duration::from_secs(3);

/// The state of the background thread.
#[derive(Debug, Default)]
pub(crate) struct Background {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    thread: Option<JoinHandle<()>>,
    /// When the last record was appended that is not known to be folded.
    appended: Option<Instant>,
    /// A part of an area is full.
    is_asked: bool,
    is_closing: bool,
    /// Whether the thread waits for the first record.
    is_waiting: bool,
}

impl Background {
    /// Notes that a record was appended, and whether it fills a part of an area. `start` starts the thread, if there is none.
    pub(crate) fn appended(
        &self,
        fills_part: bool,
        start: impl FnOnce() -> std::io::Result<JoinHandle<()>>,
    ) {
        let mut state = self.state();
        state.appended = Some(Instant::now());
        state.is_asked |= fills_part;
        if state.thread.is_none() && !state.is_closing {
            // Without the thread the journal is folded when it is full, and when the store is closed.
            state.thread = start().ok();
        }
        if state.is_waiting || fills_part {
            self.changed.notify_all();
        }
    }

    /// Waits until the journal should be folded; `false` once the store closes.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.state();
        loop {
            if state.is_closing {
                return false;
            }
            let left = state.appended.map(|at| IDLE.saturating_sub(at.elapsed()));
            if state.is_asked || left == Some(Duration::ZERO) {
                state.is_asked = false;
                state.appended = None;
                return true;
            }
            state.is_waiting = left.is_none();
            state = match left {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Stops the thread, and waits for it.
    pub(crate) fn stop(&self) {
        let thread = {
            let mut state = self.state();
            state.is_closing = true;
            self.changed.notify_all();
            state.thread.take()
        };
        if let Some(thread) = thread {
            // What it panicked with was printed; the journal is as it was.
            let _ = thread.join();
        }
        self.state().is_closing = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
