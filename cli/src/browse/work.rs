//! Work in the background: what takes longer than a key should wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};

use super::browser::Browser;
use crate::failure::Failure;

/// What is done with the result, where the screen is.
pub(super) type Apply = Box<dyn FnOnce(&mut Browser) -> Result<(), Failure> + Send>;

/// A piece of work that is under way.
#[derive(Debug)]
pub(super) struct Work {
    /// What it does, in words for the status: `searching`.
    pub(super) name: &'static str,
    result: Receiver<Result<Apply, Failure>>,
    thread: Option<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl Work {
    /// Begins it. It is given a flag that says that nobody waits for it any more.
    pub(super) fn begin(
        name: &'static str,
        work: impl FnOnce(&AtomicBool) -> Result<Apply, Failure> + Send + 'static,
    ) -> Self {
        let (done, result) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let failed = done.clone();
        let thread = Builder::new().spawn(move || {
            // Nobody may wait for it any more.
            let _ = done.send(work(&flag));
        });
        let thread = match thread {
            Ok(thread) => Some(thread),
            Err(error) => {
                let _ = failed.send(Err(Failure::Thread(error)));
                None
            }
        };
        Self { name, result, thread, stop }
    }

    /// Its result, once it is there.
    pub(super) fn result(&mut self) -> Option<Result<Apply, Failure>> {
        match self.result.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
                    std::panic::resume_unwind(panic);
                }
                Some(Err(Failure::Ended(self.name)))
            }
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
