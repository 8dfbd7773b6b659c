//! A bound on the bytes in a pipeline.

use std::sync::{Condvar, Mutex, MutexGuard};

use super::pipeline::Stopped;

/// A budget of bytes, shared by the threads that take from it and return to it.
#[derive(Debug)]
pub(super) struct Budget {
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    is_closed: bool,
}

impl Budget {
    pub(super) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default(), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes bytes from the budget; waits until enough are free. A request larger than the budget waits until nothing
    /// is taken.
    pub(super) fn take(&self, bytes: usize) -> Result<(), Stopped> {
        let mut state = self.state();
        while !state.is_closed && state.taken > 0 && state.taken.saturating_add(bytes) > self.most {
            state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        if state.is_closed {
            return Err(Stopped);
        }
        state.taken += bytes;
        Ok(())
    }

    /// Replaces taken bytes by another number, after what took them has changed its size.
    pub(super) fn exchange(&self, before: usize, after: usize) {
        let mut state = self.state();
        state.taken = (state.taken + after).saturating_sub(before);
        self.changed.notify_all();
    }

    /// Gives bytes back.
    pub(super) fn give_back(&self, bytes: usize) {
        self.exchange(bytes, 0);
    }

    /// Ends all waits, as nothing more will be returned.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_than_all_is_taken_unless_one_thing_is_larger() {
        let budget = Budget::new(10);
        let (taken, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for size in [3, 4, 7, 10, 1, 2] {
                let (budget, taken, most) = (&budget, &taken, &most);
                scope.spawn(move || {
                    for _ in 0..200 {
                        budget.take(size).unwrap();
                        most.fetch_max(
                            taken.fetch_add(size, Ordering::SeqCst) + size,
                            Ordering::SeqCst,
                        );
                        taken.fetch_sub(size, Ordering::SeqCst);
                        budget.give_back(size);
                    }
                });
            }
        });
        assert!((7..=10).contains(&most.into_inner()));
        budget.take(100).unwrap();
        budget.exchange(100, 5);
        budget.take(5).unwrap();
    }

    #[test]
    fn waiting_threads_see_the_end() {
        let budget = Budget::new(10);
        budget.take(10).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.take(1));
            std::thread::sleep(std::time::Duration::from_millis(20));
            budget.close();
            assert!(waiting.join().unwrap().is_err());
        });
    }
}
