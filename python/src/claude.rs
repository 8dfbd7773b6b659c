//! The sessions that Claude's agent kit keeps.

use leafline::Result;
use leafline::claude::SessionKey;
pub(crate) use leafline::claude::SessionStore;
use pyo3::prelude::*;

use crate::closing::Made;
use crate::error::raise;
use crate::json;

/// The bytes of entries that are read before Python's values are made of them.
const PAGE_BYTES: usize = 4 << 20;

/// Summaries that are written in one commit.
const KEPT_TOGETHER: usize = 64;

/// See `_leafline.pyi`.
#[pyclass(frozen, module = "leafline")]
pub(crate) struct ClaudeSessions(Made<SessionStore>);

impl ClaudeSessions {
    pub(crate) fn new(sessions: Made<SessionStore>) -> Self {
        Self(sessions)
    }

    /// Several calls may be at work.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&SessionStore) -> Result<T> + Send,
    ) -> PyResult<T> {
        let sessions = self.0.work(py, |sessions| Ok(sessions.clone()))?;
        py.detach(|| {
            let done = work(&sessions);
            drop(sessions);
            done
        })
        .map_err(raise)
    }
}

fn key(project_key: &str, session_id: &str, subpath: Option<&str>) -> SessionKey {
    let key = SessionKey::new(project_key, session_id);
    match subpath {
        None => key,
        Some(subpath) => key.with_subpath(subpath),
    }
}

#[pymethods]
impl ClaudeSessions {
    fn append(
        &self,
        py: Python<'_>,
        project_key: &str,
        session_id: &str,
        subpath: Option<&str>,
        entries: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<(u64, u64)> {
        let mut lines = String::new();
        for entry in &entries {
            lines.push_str(&json::dumps(entry)?);
            lines.push('\n');
        }
        let key = key(project_key, session_id, subpath);
        let appended = self.work(py, |sessions| sessions.append(&key, lines.as_bytes()))?;
        Ok((appended.added, appended.ignored))
    }

    fn load(
        &self,
        py: Python<'_>,
        project_key: &str,
        session_id: &str,
        subpath: Option<&str>,
    ) -> PyResult<Option<SessionEntries>> {
        let key = key(project_key, session_id, subpath);
        let entries = self.work(py, |sessions| sessions.load(&key))?;
        Ok(entries.map(|entries| SessionEntries(self.0.also(entries))))
    }

    fn list_sessions(&self, py: Python<'_>, project_key: &str) -> PyResult<Vec<(String, i64)>> {
        let listed = self.work(py, |sessions| sessions.list_sessions(project_key))?;
        Ok(listed.into_iter().map(|session| (session.session_id, session.modified)).collect())
    }

    /// The id, the time and the summary of each session of a project. `fold` makes the summary's JSON of the one before, which may
    /// be none, and of entries.
    fn summaries(
        &self,
        py: Python<'_>,
        project_key: &str,
        form: &str,
        fold: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<(String, i64, String)>> {
        let mut summaries = Vec::new();
        let mut new = Vec::new();
        for session in self.work(py, |sessions| sessions.list_sessions(project_key))? {
            let (id, modified) = (session.session_id, session.modified);
            let key = SessionKey::new(project_key, &id);
            let summary = self.work(py, |sessions| sessions.summary(&key, form))?;
            let Some(mut summary) = summary else { continue };
            loop {
                let page = py.detach(|| summary.page(PAGE_BYTES)).map_err(raise)?;
                if page.is_empty() && summary.data().is_some() {
                    break;
                }
                let is_last = page.is_empty();
                let entries: Vec<_> =
                    page.iter().map(|line| json::loads(py, line)).collect::<PyResult<_>>()?;
                let folded: String = fold.call1((&id, summary.data(), entries))?.extract()?;
                summary.set_data(folded);
                if is_last {
                    break;
                }
            }
            let data = summary.data().unwrap_or_default().to_owned();
            summaries.push((id, modified, data));
            new.push(summary);
            if new.len() == KEPT_TOGETHER {
                let folded = std::mem::take(&mut new);
                self.work(py, |sessions| sessions.keep_summaries(form, folded))?;
            }
        }
        self.work(py, |sessions| sessions.keep_summaries(form, new))?;
        Ok(summaries)
    }

    fn list_subkeys(
        &self,
        py: Python<'_>,
        project_key: &str,
        session_id: &str,
    ) -> PyResult<Vec<String>> {
        self.work(py, |sessions| sessions.list_subkeys(project_key, session_id))
    }

    fn delete(
        &self,
        py: Python<'_>,
        project_key: &str,
        session_id: &str,
        subpath: Option<&str>,
    ) -> PyResult<()> {
        let key = key(project_key, session_id, subpath);
        self.work(py, |sessions| sessions.delete(&key))
    }
}

/// See `_leafline.pyi`.
#[pyclass(frozen, module = "leafline")]
pub(crate) struct SessionEntries(Made<leafline::claude::SessionEntries>);

#[pymethods]
impl SessionEntries {
    fn page<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let page = self.0.work(py, |entries| entries.page(PAGE_BYTES))?;
        page.iter().map(|line| json::loads(py, line)).collect()
    }
}
