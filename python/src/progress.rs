//! Reports to a function of the caller's while a call is at work.

use std::sync::{Mutex, PoisonError};

use leafline::import::{FileReport, ImportObserver};
use pyo3::prelude::*;
use serde::Serialize;

use crate::json;

/// Calls a function with each report, until it raises an exception or the user interrupts the program.
pub(crate) struct Progress {
    callback: Option<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Progress {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, raised: Mutex::new(None) }
    }

    pub(crate) fn report(&self, report: &impl Serialize) {
        let Some(callback) = &self.callback else { return };
        self.run(|py| callback.call1(py, (json::facts(py, report)?,)).map(drop));
    }

    /// Whether the call is to end: an exception waits for the caller.
    pub(crate) fn is_stopped(&self) -> bool {
        self.run(|py| py.check_signals());
        self.raised().is_some()
    }

    /// Does something in Python, unless that was stopped before.
    fn run(&self, work: impl FnOnce(Python<'_>) -> PyResult<()>) {
        if self.raised().is_some() {
            return;
        }
        if let Err(error) = Python::attach(work) {
            *self.raised() = Some(error);
        }
    }

    fn raised(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer of the call, or what was raised in the meantime.
    pub(crate) fn finish<T>(self, answer: PyResult<T>) -> PyResult<T> {
        match self.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => answer,
        }
    }
}

impl ImportObserver for &Progress {
    fn file(&mut self, report: &FileReport) {
        self.report(report);
    }

    fn is_stopped(&self) -> bool {
        Progress::is_stopped(self)
    }
}
