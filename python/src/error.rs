//! The library's errors as Python's exceptions, with their facts as attributes.

use std::path::Path;

use leafline::Error;
use leafline::error::{ImportError, LiveError, SearchError, SessionError, StoreError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A class of `leafline.errors`, and the attributes that it gets.
struct Exception<'py> {
    class: &'static str,
    facts: Bound<'py, PyDict>,
}

impl<'py> Exception<'py> {
    fn new(py: Python<'py>, class: &'static str) -> Self {
        Self { class, facts: PyDict::new(py) }
    }

    fn with(self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<Self> {
        self.facts.set_item(name, value)?;
        Ok(self)
    }

    fn at(self, path: &Path) -> PyResult<Self> {
        self.with("path", path.to_string_lossy().into_owned())
    }
}

/// The exception for an error.
pub(crate) fn raise(error: Error) -> PyErr {
    Python::attach(|py| {
        let made = exception(py, &error).and_then(|exception| {
            let class = py.import("leafline.errors")?.getattr(exception.class)?;
            class.call((error.to_string(),), Some(&exception.facts))
        });
        let made = made.and_then(|made| made.setattr("code", error.code()).map(|()| made));
        match made {
            Ok(exception) => PyErr::from_value(exception),
            // The package is not the one that this module is a part of.
            Err(failure) => PyRuntimeError::new_err(format!("{error} ({failure})")),
        }
    })
}

fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class);
    match error {
        Error::Store(error) => of_store(py, error),
        Error::Session(error) => of_session(py, error),
        Error::Live(error) => of_writing(py, error),
        Error::Search(error) => of_search(py, error),
        Error::Import(ImportError::Unreadable { reports, .. }) => {
            let paths = reports.iter().map(|report| report.path.to_string_lossy().into_owned());
            new("UnreadablePaths").with("paths", paths.collect::<Vec<_>>())
        }
        Error::Import(_) => Ok(new("ImportFailed")),
        Error::Export(_) => Ok(new("ExportFailed")),
        Error::Corrupted(damage) => new("Corrupted")
            .with("table", damage.table)?
            .with("place", &damage.place)?
            .with("problem", &damage.problem),
        Error::File { action, path, source } => {
            new("FileError").with("action", *action)?.at(path)?.with("errno", source.raw_os_error())
        }
        Error::Engine(_) => Ok(new("EngineError")),
        _ => Ok(new("Error")),
    }
}

fn of_store<'py>(py: Python<'py>, error: &StoreError) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class);
    match error {
        StoreError::NotFound { path, .. } => new("StoreNotFound").at(path),
        StoreError::NotAStore { path, .. } => new("NotAStore").at(path),
        StoreError::UnknownFormat { path, format, .. } => {
            new("UnknownFormat").at(path)?.with("format", *format)
        }
        StoreError::InUse { path } => new("StoreInUse").at(path),
        StoreError::Inherited { path, process } => {
            new("InheritedStore").at(path)?.with("process", *process)
        }
        StoreError::ReadOnly { path } => new("ReadOnlyStore").at(path),
        _ => Ok(new("StoreError")),
    }
}

fn of_session<'py>(py: Python<'py>, error: &SessionError) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class);
    match error {
        SessionError::NotFound { id } => new("SessionNotFound").with("id", id),
        SessionError::Exists { id } => new("SessionExists").with("id", id),
        SessionError::Ambiguous { prefix, count, examples } => new("AmbiguousId")
            .with("prefix", prefix)?
            .with("count", *count)?
            .with("examples", examples),
        SessionError::EntryNotFound { session, entry } => {
            new("EntryNotFound").with("session", session)?.with("entry", entry)
        }
        SessionError::WrongFamily { id, family, operation } => new("WrongFamily")
            .with("id", id)?
            .with("family", family.name())?
            .with("operation", *operation),
        _ => Ok(new("SessionError")),
    }
}

fn of_writing<'py>(py: Python<'py>, error: &LiveError) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class);
    match error {
        LiveError::InvalidEntry { problem } => new("InvalidEntry").with("problem", problem),
        LiveError::InvalidKey { part, problem } => {
            new("InvalidKey").with("part", *part)?.with("problem", *problem)
        }
        LiveError::Contended { id } => new("Contended").with("id", id),
        LiveError::Latched { session, first } => {
            new("Latched").with("session", session)?.with("first", first)
        }
        _ => Ok(new("WriteError")),
    }
}

fn of_search<'py>(py: Python<'py>, error: &SearchError) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class);
    match error {
        SearchError::NoWords { query } => new("NoWords").with("query", query),
        SearchError::IndexBusy { path } => new("IndexBusy").at(path),
        _ => Ok(new("SearchError")),
    }
}
