//! A reader of a session.

use leafline::Result;
use leafline::context::{Context, ContextLeaf, ContextProgram, HistoryScope, ProgramVersion};
use leafline::page::{Page, PageLimit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::closing::Made;
use crate::entry::Entry;
use crate::{json, options};

/// See `_leafline.pyi`.
#[pyclass(frozen, module = "leafline")]
pub(crate) struct SessionReader(Made<leafline::PausedReader>);

impl SessionReader {
    pub(crate) fn new(reader: Made<leafline::PausedReader>) -> Self {
        Self(reader)
    }

    /// Reads while Python runs on.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&leafline::SessionReader) -> Result<T> + Send,
    ) -> PyResult<T> {
        self.0.work(py, |paused| read(&paused.resume()?))
    }
}

/// A page of entries, and where the next one begins.
type EntriesAndNext = (Vec<Entry>, Option<u64>);

fn parts(page: Page) -> EntriesAndNext {
    (page.entries.into_iter().map(Entry::new).collect(), page.next)
}

/// The program whose rules a context follows.
fn program(family: Option<&str>, as_of: Option<&str>) -> PyResult<ContextProgram> {
    let as_of = as_of.map(str::parse::<ProgramVersion>).transpose();
    let as_of = as_of.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(ContextProgram { family: options::family(family)?, as_of })
}

fn scope(full: bool) -> HistoryScope {
    if full { HistoryScope::Full } else { HistoryScope::Context }
}

#[pymethods]
impl SessionReader {
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let facts = self.read(py, |reader| Ok(reader.facts()))?;
        json::facts(py, &facts)
    }

    #[getter]
    fn leaf(&self, py: Python<'_>) -> PyResult<Option<Entry>> {
        Ok(self.read(py, leafline::SessionReader::get_leaf)?.map(Entry::new))
    }

    #[getter]
    fn header(&self, py: Python<'_>) -> PyResult<Option<Entry>> {
        Ok(self.read(py, leafline::SessionReader::get_header)?.map(Entry::new))
    }

    fn entry(&self, py: Python<'_>, id: &str) -> PyResult<Entry> {
        self.read(py, |reader| reader.get_entry(id)).map(Entry::new)
    }

    fn line(&self, py: Python<'_>, ordinal: u64) -> PyResult<Option<Entry>> {
        Ok(self.read(py, |reader| reader.line(ordinal))?.map(Entry::new))
    }

    fn children(&self, py: Python<'_>, id: Option<&str>) -> PyResult<Vec<Entry>> {
        let children = self.read(py, |reader| reader.get_children(id))?;
        Ok(children.into_iter().map(Entry::new).collect())
    }

    fn label(&self, py: Python<'_>, id: &str) -> PyResult<Option<String>> {
        self.read(py, |reader| reader.get_label(id))
    }

    #[pyo3(signature = (start=0, *, entries=100, bytes=1 << 20))]
    fn page(
        &self,
        py: Python<'_>,
        start: u64,
        entries: usize,
        bytes: u64,
    ) -> PyResult<EntriesAndNext> {
        let limit = PageLimit { entries, bytes };
        self.read(py, |reader| reader.entries(start.., &limit)).map(parts)
    }

    #[pyo3(signature = (start=None, *, entries=100, bytes=1 << 20))]
    fn path_backwards(
        &self,
        py: Python<'_>,
        start: Option<u64>,
        entries: usize,
        bytes: u64,
    ) -> PyResult<EntriesAndNext> {
        let limit = PageLimit { entries, bytes };
        let page = self.read(py, |reader| match start {
            Some(ordinal) => reader.path_backwards_from(ordinal, &limit),
            None => reader.path_backwards(None, &limit),
        });
        page.map(parts)
    }

    fn path(&self, py: Python<'_>, id: Option<&str>) -> PyResult<Vec<Entry>> {
        let path = self.read(py, |reader| {
            let mut path = Vec::new();
            reader.get_path(id, |entry| {
                path.push(entry.clone());
                Ok(())
            })?;
            Ok(path)
        })?;
        Ok(path.into_iter().map(Entry::new).collect())
    }

    #[pyo3(signature = (leaf=None, *, full=false, family=None, as_of=None))]
    fn context<'py>(
        &self,
        py: Python<'py>,
        leaf: Option<&str>,
        full: bool,
        family: Option<&str>,
        as_of: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let program = program(family, as_of)?;
        let leaf = leaf.map_or(ContextLeaf::Current, ContextLeaf::Entry);
        let context: Context = self.read(py, |reader| match full {
            true => reader.build_full_history(leaf, program),
            false => reader.build_context(leaf, program),
        })?;
        json::loads(py, context.to_json().as_bytes())
    }

    #[pyo3(signature = (leaf=None, *, full=false, family=None, as_of=None))]
    fn request<'py>(
        &self,
        py: Python<'py>,
        leaf: Option<&str>,
        full: bool,
        family: Option<&str>,
        as_of: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let program = program(family, as_of)?;
        let leaf = leaf.map_or(ContextLeaf::Current, ContextLeaf::Entry);
        let context = self.read(py, |reader| reader.build_request(leaf, program, scope(full)))?;
        json::loads(py, context.to_json().as_bytes())
    }

    #[pyo3(signature = (*, mode="current"))]
    fn bytes<'py>(&self, py: Python<'py>, mode: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mode = options::mode(mode)?;
        let bytes = self.read(py, |reader| {
            let mut bytes = Vec::new();
            reader.export(&mode, &mut bytes)?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let facts = self.read(py, |reader| Ok(reader.facts()))?;
        Ok(format!("<SessionReader {:?} with {} entries>", &*facts.id, facts.entries))
    }
}
