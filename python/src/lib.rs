//! The part of the Python package `leafline` that is written in Rust: the library's stores, sessions, readers and searches.
//! The package around it is in `python/leafline/`, and its types in `_leafline.pyi`.
//!
//! Python runs on while a call is at work here: each call gives up the interpreter's lock, and takes it again for what it
//! passes to a function of the caller's.

mod claude;
mod closing;
mod entry;
mod error;
mod json;
mod options;
mod progress;
mod reader;
mod session;
mod store;

/// The module `leafline._leafline`.
#[pyo3::pymodule]
mod _leafline {
    /// Their types as Python has them, by which the package checks arguments.
    #[pymodule_export]
    const STUBS: &str = include_str!("../leafline/_leafline.pyi");

    /// Imports `json` before anyone can fork: in the child of a fork amid an import, its lock is never released.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        module.py().import("json").map(drop)
    }

    #[pymodule_export]
    use super::claude::{ClaudeSessions, SessionEntries};
    #[pymodule_export]
    use super::entry::Entry;
    #[pymodule_export]
    use super::reader::SessionReader;
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::store::Store;

    /// Closes what a process that was just forked has inherited.
    #[pyo3::pyfunction]
    fn after_fork() {
        leafline::Store::after_fork();
    }
}
