//! Handles that close with their store, even if Python still holds them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use leafline::{Result, Store};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::raise;

/// A store until it is closed.
#[derive(Clone)]
pub(crate) struct Opened(Arc<State>);

struct State {
    store: Mutex<Option<Store>>,
    made: Mutex<Vec<Weak<dyn Close>>>,
}

/// A session, a reader or the like of a store. One call at a time works on it.
pub(crate) struct Made<T> {
    value: Arc<Mutex<Option<T>>>,
    opened: Opened,
}

trait Close: Send + Sync {
    fn close(&self);
}

impl<T: Send> Close for Mutex<Option<T>> {
    fn close(&self) {
        drop(lock(self).take());
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic of another call leaves a handle as it was before or after a commit.
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed() -> PyErr {
    PyValueError::new_err("the store was closed")
}

impl Opened {
    pub(crate) fn new(store: Store) -> Self {
        Self(Arc::new(State { store: Mutex::new(Some(store)), made: Mutex::default() }))
    }

    pub(crate) fn handle(&self) -> PyResult<Store> {
        lock(&self.0.store).clone().ok_or_else(closed)
    }

    /// Closes the store and all handles made from it. Waits for calls that are at work.
    pub(crate) fn close(&self) {
        let store = lock(&self.0.store).take();
        // In a forked process, a thread that is not there may have their locks.
        if store.as_ref().is_some_and(|store| store.check_process().is_ok()) {
            let made = std::mem::take(&mut *lock(&self.0.made));
            made.iter().filter_map(Weak::upgrade).for_each(|made| made.close());
        }
    }

    pub(crate) fn add<T: Send + 'static>(&self, value: T) -> Made<T> {
        let value = Arc::new(Mutex::new(Some(value)));
        let mut made = lock(&self.0.made);
        if made.len() == made.capacity() {
            made.retain(|made| made.strong_count() > 0);
        }
        let weak: Weak<Mutex<Option<T>>> = Arc::downgrade(&value);
        made.push(weak);
        drop(made);
        // Another thread may have closed the store meanwhile.
        if lock(&self.0.store).is_none() {
            value.close();
        }
        Made { value, opened: self.clone() }
    }
}

impl<T: Send + 'static> Made<T> {
    /// Works on it while Python runs on.
    pub(crate) fn work<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> Result<R> + Send,
    ) -> PyResult<R> {
        // A thread that a fork left behind may have the lock.
        self.opened.handle()?.check_process().map_err(raise)?;
        let done = py.detach(|| lock(&self.value).as_mut().map(work));
        done.ok_or_else(closed)?.map_err(raise)
    }

    /// Adds another handle of the same store.
    pub(crate) fn also<U: Send + 'static>(&self, value: U) -> Made<U> {
        self.opened.add(value)
    }
}
