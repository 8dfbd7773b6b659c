//! A session that is written to.

use leafline::live::{EntryDraft, RepeatedIds};
use leafline::pi::PiSession;
use leafline::{Family, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::closing::Made;
use crate::entry::Entry;
use crate::error::raise;
use crate::json;
use crate::reader::SessionReader;

/// See `_leafline.pyi`.
#[pyclass(frozen, module = "leafline")]
pub(crate) struct Session {
    id: String,
    family: Family,
    session: Made<leafline::Session>,
}

impl Session {
    pub(crate) fn new(id: String, family: Family, session: Made<leafline::Session>) -> Self {
        Self { id, family, session }
    }

    /// Works on the session while Python runs on.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut leafline::Session) -> Result<T> + Send,
    ) -> PyResult<T> {
        self.session.work(py, work)
    }

    fn drafts(&self, entry: &Bound<'_, PyAny>) -> PyResult<Vec<EntryDraft>> {
        let entry = json::dumps(entry)?;
        EntryDraft::from_json(self.family, &entry).map_err(|error| raise(error.into()))
    }
}

#[pymethods]
impl Session {
    #[getter]
    fn id(&self) -> &str {
        &self.id
    }

    #[getter]
    fn family(&self) -> &'static str {
        self.family.name()
    }

    fn append(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<String> {
        let drafts = self.drafts(entry)?;
        let ids = self.work(py, |session| session.append_all(drafts))?;
        Ok(ids.into_iter().next_back().unwrap_or_default())
    }

    fn append_all(&self, py: Python<'_>, entries: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
        let mut drafts = Vec::with_capacity(entries.len());
        for entry in &entries {
            drafts.extend(self.drafts(entry)?);
        }
        self.work(py, |session| session.append_all(drafts))
    }

    fn append_message(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<String> {
        let message = json::dumps(message)?;
        self.work(py, |session| {
            let message = serde_json::value::RawValue::from_string(message).map_err(|error| {
                leafline::error::LiveError::InvalidEntry { problem: error.to_string() }
            })?;
            session.append_message(&message)
        })
    }

    #[pyo3(signature = (lines, *, ignore_repeated=false))]
    fn append_lines(
        &self,
        py: Python<'_>,
        lines: &Bound<'_, PyBytes>,
        ignore_repeated: bool,
    ) -> PyResult<(u64, u64)> {
        let repeated = if ignore_repeated { RepeatedIds::Ignore } else { RepeatedIds::Add };
        let lines = lines.as_bytes().to_vec();
        let appended = self.work(py, |session| session.append_lines(&lines, repeated))?;
        Ok((appended.added, appended.ignored))
    }

    fn branch(&self, py: Python<'_>, entry: &str) -> PyResult<()> {
        self.work(py, |session| session.branch(entry))
    }

    fn reset_leaf(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |session| session.reset_leaf())
    }

    fn leave_leaf(&self, py: Python<'_>) -> PyResult<Option<Entry>> {
        Ok(self.work(py, |session| session.leave_leaf())?.map(Entry::new))
    }

    #[pyo3(signature = (entry, summary, details=None))]
    fn branch_with_summary(
        &self,
        py: Python<'_>,
        entry: Option<&str>,
        summary: &str,
        details: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let details = details.map(json::dumps).transpose()?;
        self.work(py, |session| {
            let details = details.map(serde_json::value::RawValue::from_string).transpose();
            let details = details.map_err(|error| leafline::error::LiveError::InvalidEntry {
                problem: error.to_string(),
            })?;
            session.branch_with_summary(entry, summary, details.as_ref(), None)
        })
    }

    fn label(&self, py: Python<'_>, entry: &str, label: Option<&str>) -> PyResult<String> {
        self.work(py, |session| session.label(entry, label))
    }

    fn set_name(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.work(py, |session| session.set_session_name(name))
    }

    fn branched_session(&self, py: Python<'_>, leaf: &str) -> PyResult<Session> {
        let branched = self.work(py, |session| session.create_branched_session(leaf))?;
        let (id, family) = (branched.id().to_owned(), branched.family());
        Ok(Self::new(id, family, self.session.also(branched)))
    }

    fn reader(&self, py: Python<'_>) -> PyResult<SessionReader> {
        let reader = self.work(py, |session| Ok(session.reader()?.pause()))?;
        Ok(SessionReader::new(self.session.also(reader)))
    }

    fn entry(&self, py: Python<'_>, id: &str) -> PyResult<Entry> {
        self.work(py, |session| session.get_entry(id)).map(Entry::new)
    }

    fn __repr__(&self) -> String {
        format!("<Session {:?} of {}>", self.id, self.family.name())
    }
}
