//! One line of a session.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::json;

/// See `_leafline.pyi`.
#[pyclass(frozen, module = "leafline")]
pub(crate) struct Entry(leafline::Entry);

impl Entry {
    pub(crate) fn new(entry: leafline::Entry) -> Self {
        Self(entry)
    }
}

#[pymethods]
impl Entry {
    #[getter]
    fn id(&self) -> Option<String> {
        self.0.id()
    }

    #[getter]
    fn parent_id(&self) -> Option<String> {
        self.0.parent_id()
    }

    #[getter]
    fn ordinal(&self) -> u64 {
        self.0.ordinal()
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    #[getter]
    fn role(&self) -> &'static str {
        self.0.view().role.name()
    }

    #[getter]
    fn timestamp(&self) -> Option<i64> {
        self.0.timestamp()
    }

    #[getter]
    fn is_sidechain(&self) -> bool {
        self.0.is_sidechain()
    }

    #[getter]
    fn line<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.line())
    }

    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::loads(py, self.0.line())
    }

    #[getter]
    fn text(&self) -> String {
        self.0.view().text()
    }

    fn __repr__(&self) -> String {
        let id = self.id().map_or("no id".to_owned(), |id| format!("{id:?}"));
        format!("<Entry {} {id} at {}>", self.kind(), self.ordinal())
    }
}
