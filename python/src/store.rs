//! A store.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use leafline::export::{ExportOptions, ExportOutcome, ExportReport};
use leafline::import::ImportOptions;
use leafline::list::SessionFilter;
use leafline::live::Persistence;
use leafline::search::{SearchHit, SearchIndex, SearchQuery};
use leafline::{Error, NewSession, Result, StoreOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

use crate::closing::Opened;
use crate::error::raise;
use crate::options::{self, Filter};
use crate::progress::Progress;
use crate::reader::SessionReader;
use crate::session::Session;
use crate::{claude, json};

/// See `_leafline.pyi`.
#[pyclass(frozen, module = "leafline")]
pub(crate) struct Store(Opened);

impl Store {
    fn new(store: leafline::Store) -> Self {
        Self(Opened::new(store))
    }

    fn session_of(&self, session: leafline::Session) -> Session {
        let (id, family) = (session.id().to_owned(), session.family());
        Session::new(id, family, self.0.add(session))
    }

    /// Works on the store while Python runs on.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&leafline::Store) -> Result<T> + Send,
    ) -> PyResult<T> {
        let store = self.0.handle()?;
        py.detach(|| {
            let done = work(&store);
            drop(store);
            done
        })
        .map_err(raise)
    }
}

/// What a new session is to be.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct New {
    family: String,
    cwd: String,
    id: Option<String>,
    title: Option<String>,
    parent_session: Option<String>,
    keep_everything: bool,
}

impl TryFrom<New> for NewSession {
    type Error = PyErr;

    fn try_from(new: New) -> PyResult<Self> {
        let family = options::family(Some(&new.family))?;
        let family = family.ok_or_else(|| PyValueError::new_err("a session needs a family"))?;
        let mut session = Self::new(family, new.cwd);
        session.id = new.id;
        session.title = new.title;
        session.parent_session = new.parent_session;
        session.persistence = new.keep_everything.then(Persistence::keep_everything);
        Ok(session)
    }
}

#[pymethods]
impl Store {
    #[staticmethod]
    #[pyo3(signature = (path, *, create=true, read_only=false))]
    fn open(py: Python<'_>, path: PathBuf, create: bool, read_only: bool) -> PyResult<Self> {
        let options = StoreOptions { create, read_only, ..StoreOptions::default() };
        py.detach(|| leafline::Store::open_with(path, &options)).map(Self::new).map_err(raise)
    }

    #[staticmethod]
    fn in_memory() -> PyResult<Self> {
        leafline::Store::in_memory().map(Self::new).map_err(raise)
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }

    #[getter]
    fn path(&self) -> PyResult<PathBuf> {
        Ok(self.0.handle()?.path().to_owned())
    }

    fn sessions<'py>(&self, py: Python<'py>, filter: Filter) -> PyResult<Bound<'py, PyAny>> {
        let filter = SessionFilter::try_from(filter)?;
        let listed = self.work(py, |store| store.list(&filter))?;
        json::facts(py, &listed)
    }

    fn agents_of<'py>(&self, py: Python<'py>, session: &str) -> PyResult<Bound<'py, PyAny>> {
        let listed = self.work(py, |store| store.agents_of(session))?;
        json::facts(py, &listed)
    }

    #[pyo3(signature = (id, *, keep_everything=false))]
    fn session(&self, py: Python<'_>, id: &str, keep_everything: bool) -> PyResult<Session> {
        let session = self.work(py, |store| store.session(id))?;
        let session = match keep_everything {
            true => session.with_persistence(Persistence::keep_everything()),
            false => session,
        };
        Ok(self.session_of(session))
    }

    fn session_with_id(&self, py: Python<'_>, id: &str) -> PyResult<Option<Session>> {
        Ok(self
            .work(py, |store| store.session_with_id(id))?
            .map(|session| self.session_of(session)))
    }

    fn reader(&self, py: Python<'_>, id: &str) -> PyResult<SessionReader> {
        let reader = self.work(py, |store| Ok(store.reader(id)?.pause()))?;
        Ok(SessionReader::new(self.0.add(reader)))
    }

    fn create_session(&self, py: Python<'_>, new: New) -> PyResult<Session> {
        let new = NewSession::try_from(new)?;
        self.work(py, |store| store.create_session(&new)).map(|session| self.session_of(session))
    }

    fn continue_recent(&self, py: Python<'_>, new: New) -> PyResult<Session> {
        let new = NewSession::try_from(new)?;
        self.work(py, |store| store.continue_recent(&new)).map(|session| self.session_of(session))
    }

    fn fork(&self, py: Python<'_>, source: &str, cwd: &str) -> PyResult<Session> {
        self.work(py, |store| store.fork_from(source, cwd)).map(|session| self.session_of(session))
    }

    fn remove<'py>(&self, py: Python<'py>, sessions: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let removed = self.work(py, |store| store.remove_all(&sessions))?;
        json::facts(py, &removed)
    }

    #[pyo3(signature = (paths, progress, *, family=None, sync=false, replace=false, restore=false))]
    #[expect(clippy::too_many_arguments, reason = "each has its name in Python")]
    fn import_files<'py>(
        &self,
        py: Python<'py>,
        paths: Vec<PathBuf>,
        progress: Option<Py<PyAny>>,
        family: Option<&str>,
        sync: bool,
        replace: bool,
        restore: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let family = options::family(family)?;
        let options = ImportOptions { family, replace, restore, ..ImportOptions::default() };
        let progress = Progress::new(progress);
        let totals = self.work(py, |store| {
            let mut observer = &progress;
            match sync {
                true => store.sync(&paths, &options, &mut observer),
                false => store.import(&paths, &options, &mut observer),
            }
        });
        json::facts(py, &progress.finish(totals)?)
    }

    #[pyo3(signature = (folder, progress, *, sessions=None, replace=false, mode="current"))]
    fn export_folder<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        progress: Option<Py<PyAny>>,
        sessions: Option<Vec<String>>,
        replace: bool,
        mode: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = ExportOptions { replace, ..options::mode(mode)?.into() };
        let progress = Progress::new(progress);
        let totals = self.work(py, |store| {
            let stop = AtomicBool::new(false);
            let report = |report: &ExportReport| {
                progress.report(&Exported::of(report));
                stop.store(progress.is_stopped(), Ordering::Relaxed);
            };
            match &sessions {
                None => store.export_all_until(&folder, &options, &stop, report),
                Some(ids) => {
                    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                    store.export_into(&folder, &ids, &options, &stop, report)
                }
            }
        });
        json::facts(py, &progress.finish(totals)?)
    }

    #[pyo3(signature = (session, path, *, mode="current"))]
    fn export_file(
        &self,
        py: Python<'_>,
        session: &str,
        path: PathBuf,
        mode: &str,
    ) -> PyResult<u64> {
        let mode = options::mode(mode)?;
        self.work(py, |store| store.export_file(session, &mode, &path))
    }

    fn blob<'py>(&self, py: Python<'py>, hash: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = self.work(py, |store| store.get_blob(hash))?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    fn put_blob(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<String> {
        self.work(py, |store| store.put_blob(bytes))
    }

    fn update_search_index(&self, py: Python<'_>) -> PyResult<bool> {
        let progress = Progress::new(None);
        let updated = self.work(py, |store| {
            SearchIndex::open_or_create(store)?.update(|_| !progress.is_stopped())
        });
        Ok(progress.finish(updated)?.is_complete)
    }

    #[pyo3(signature = (text, filter, *, session=None, roles=Vec::new(), since=None, until=None, limit=20))]
    #[expect(clippy::too_many_arguments, reason = "each has its name in Python")]
    fn search<'py>(
        &self,
        py: Python<'py>,
        text: String,
        filter: Filter,
        session: Option<String>,
        roles: Vec<String>,
        since: Option<i64>,
        until: Option<i64>,
        limit: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sessions = SessionFilter::try_from(filter)?;
        let roles = options::roles(roles)?;
        let query =
            SearchQuery { session, sessions, roles, since, until, limit, ..SearchQuery::new(text) };
        let hits = self.work(py, |store| {
            // An index that another process is updating is searched as it is.
            let index = SearchIndex::open_or_create(store)?;
            match index.update(|_| true) {
                Err(Error::Search(leafline::error::SearchError::IndexBusy { .. })) => {}
                updated => drop(updated?),
            }
            index.search(&query)
        })?;
        let hits: Vec<Hit<'_>> = hits.iter().map(Hit::of).collect();
        json::facts(py, &hits)
    }

    fn claude_sessions(&self) -> PyResult<claude::ClaudeSessions> {
        let sessions = claude::SessionStore::new(&self.0.handle()?);
        Ok(claude::ClaudeSessions::new(self.0.add(sessions)))
    }

    fn __repr__(&self) -> String {
        match self.0.handle() {
            Ok(store) => format!("<Store {:?}>", store.path().display().to_string()),
            Err(_) => "<Store closed>".to_owned(),
        }
    }
}

/// What became of a session's file, or of one beside it.
#[derive(Serialize)]
struct Exported<'r> {
    session: &'r str,
    path: String,
    beside: bool,
    outcome: &'static str,
    bytes: Option<u64>,
    reason: Option<String>,
}

impl<'r> Exported<'r> {
    fn of(report: &'r ExportReport) -> Self {
        let (bytes, reason) = match &report.outcome {
            ExportOutcome::Written { bytes } => (Some(*bytes), None),
            ExportOutcome::Kept { reason } => (None, Some(reason.to_string())),
            ExportOutcome::Failed(error) => (None, Some(error.to_string())),
            _ => (None, None),
        };
        let path = report.path.to_string_lossy().into_owned();
        let (session, beside, outcome) = (&report.session, report.is_beside, report.outcome.name());
        Self { session, path, beside, outcome, bytes, reason }
    }
}

/// An entry that was found.
#[derive(Serialize)]
struct Hit<'h> {
    session: &'h str,
    family: &'static str,
    title: Option<&'h str>,
    cwd: Option<&'h str>,
    entry: Option<&'h str>,
    ordinal: u64,
    role: &'static str,
    time: Option<i64>,
    score: f32,
    snippet: &'h str,
}

impl<'h> Hit<'h> {
    fn of(hit: &'h SearchHit) -> Self {
        Self {
            session: &hit.session,
            family: hit.family.name(),
            title: hit.title.as_deref(),
            cwd: hit.cwd.as_deref(),
            entry: hit.entry.as_deref(),
            ordinal: hit.ordinal,
            role: hit.role.name(),
            time: hit.time,
            score: hit.score,
            snippet: &hit.snippet.text,
        }
    }
}
