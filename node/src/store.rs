//! The store.

use std::str::FromStr;

use leafline::Store as Handle;
use leafline::context::ProgramVersion;
use leafline::live::Persistence;
use leafline::pi::PiStore;
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi_derive::napi;

use crate::objects::{
    NewSession, SessionFacts, SessionFilter, SessionOptions, StoreOptions, number,
};
use crate::reader::SessionReader;
use crate::session::Session;
use crate::work::{Dependents, Result, Shared, Work, failed, invalid, spawn};

/// A store: one file with many sessions, open for any number of processes at once.
#[napi]
pub struct Store {
    pub(crate) store: Shared<Handle>,
    pub(crate) dependents: Dependents,
    path: String,
}

fn open(path: &str, options: &leafline::StoreOptions) -> Result<Store> {
    Handle::open_with(path, options).map(Store::new).map_err(failed)
}

impl Store {
    fn new(store: Handle) -> Self {
        let path = store.path().to_string_lossy().into_owned();
        Self { store: Shared::new(store), dependents: Dependents::default(), path }
    }

    pub(crate) fn spawn<T: ToNapiValue + TypeName + Send + 'static>(
        &self,
        act: impl FnOnce(&Handle) -> leafline::Result<T> + Send + 'static,
    ) -> AsyncTask<Work<T>> {
        let store = self.store.clone();
        spawn(move || act(&store.get()?).map_err(failed))
    }

    /// Has something closed before the store is.
    pub(crate) fn keep<T: Send + 'static>(&self, shared: &Shared<T>) {
        self.dependents.add(shared);
    }

    /// A session made of the store, now.
    fn make(
        &self,
        make: impl FnOnce(&Handle) -> leafline::Result<leafline::Session>,
    ) -> Result<Session> {
        let session = make(&self.store.get()?).map_err(failed)?;
        Ok(Session::new(session, self.dependents.clone()))
    }

    /// The same on a thread of the pool.
    fn spawn_make(
        &self,
        make: impl FnOnce(&Handle) -> leafline::Result<leafline::Session> + Send + 'static,
    ) -> AsyncTask<Work<Session>> {
        let dependents = self.dependents.clone();
        self.spawn(move |store| Ok(Session::new(make(store)?, dependents)))
    }
}

fn facts(all: &[leafline::SessionFacts]) -> Vec<SessionFacts> {
    all.iter().map(SessionFacts::from).collect()
}

#[napi]
impl Store {
    /// Opens a store, or creates it.
    #[napi]
    pub fn open_sync(path: String, options: Option<StoreOptions>) -> Result<Store> {
        open(&path, &options.unwrap_or_default().options()?)
    }

    /// Opens a store, or creates it.
    #[napi(ts_return_type = "Promise<Store>")]
    pub fn open(path: String, options: Option<StoreOptions>) -> Result<AsyncTask<Work<Store>>> {
        let options = options.unwrap_or_default().options()?;
        Ok(spawn(move || open(&path, &options)))
    }

    /// A store in memory: it keeps nothing.
    #[napi]
    pub fn in_memory() -> Result<Store> {
        Handle::in_memory().map(Store::new).map_err(failed)
    }

    /// The store's file.
    #[napi(getter)]
    pub fn path(&self) -> String {
        self.path.clone()
    }

    /// The sessions that the filter accepts, without reading any line.
    #[napi]
    pub fn sessions_sync(&self, filter: Option<SessionFilter>) -> Result<Vec<SessionFacts>> {
        let filter = filter.unwrap_or_default().filter()?;
        Ok(facts(&self.store.get()?.list(&filter).map_err(failed)?))
    }

    /// The sessions that the filter accepts, without reading any line.
    #[napi(ts_return_type = "Promise<SessionFacts[]>")]
    pub fn sessions(
        &self,
        filter: Option<SessionFilter>,
    ) -> Result<AsyncTask<Work<Vec<SessionFacts>>>> {
        let filter = filter.unwrap_or_default().filter()?;
        Ok(self.spawn(move |store| Ok(facts(&store.list(&filter)?))))
    }

    /// The conversations of the agents that a session started.
    #[napi(ts_return_type = "Promise<SessionFacts[]>")]
    pub fn agents_of(&self, session: String) -> AsyncTask<Work<Vec<SessionFacts>>> {
        self.spawn(move |store| Ok(facts(&store.agents_of(&session)?)))
    }

    /// The session with this id, or the one whose id alone begins with it. Fails with `SESSION_NOT_FOUND` or
    /// `AMBIGUOUS_SESSION`.
    #[napi]
    pub fn session_sync(&self, id: String, options: Option<SessionOptions>) -> Result<Session> {
        self.make(|store| options.unwrap_or_default().open(store, &id))
    }

    /// The session with this id, or the one whose id alone begins with it. Fails with `SESSION_NOT_FOUND` or
    /// `AMBIGUOUS_SESSION`.
    #[napi(ts_return_type = "Promise<Session>")]
    pub fn session(&self, id: String, options: Option<SessionOptions>) -> AsyncTask<Work<Session>> {
        self.spawn_make(move |store| options.unwrap_or_default().open(store, &id))
    }

    /// A reader of the session with this id, or of the only session whose id begins with it.
    #[napi(ts_return_type = "Promise<SessionReader>")]
    pub fn reader(&self, id: String) -> AsyncTask<Work<SessionReader>> {
        let dependents = self.dependents.clone();
        self.spawn(move |store| {
            let reader = Shared::new(store.reader(&id)?.pause());
            dependents.add(&reader);
            Ok(SessionReader::new(reader))
        })
    }

    /// Begins a session.
    #[napi]
    pub fn create_session_sync(&self, beginning: NewSession) -> Result<Session> {
        let new = beginning.session()?;
        self.make(|store| store.create_session(&new))
    }

    /// Begins a session.
    #[napi(ts_return_type = "Promise<Session>")]
    pub fn create_session(&self, beginning: NewSession) -> Result<AsyncTask<Work<Session>>> {
        let new = beginning.session()?;
        Ok(self.spawn_make(move |store| store.create_session(&new)))
    }

    /// Begins a session of pi's or omp's in memory, as their session managers do. It is stored with the message at which the
    /// program writes its file (`asOf` is the version of pi, the newest one if it is absent: the first of the user or the
    /// assistant, before 0.99 the first of the assistant),
    /// or by `appendLines`; what else was appended before is lost if the process ends.
    #[napi]
    pub fn create_deferred_session_sync(
        &self,
        beginning: NewSession,
        as_of: Option<String>,
    ) -> Result<Session> {
        let mut new = beginning.session()?;
        let as_of = as_of.as_deref().map(ProgramVersion::from_str).transpose();
        let mut persistence =
            new.persistence.unwrap_or_else(|| Persistence::documented(new.family));
        persistence.as_of = as_of.map_err(invalid)?;
        new.persistence = Some(persistence);
        self.make(|store| store.create_deferred_session(&new))
    }

    /// The session of a working directory with the latest message, or a new one.
    #[napi]
    pub fn continue_recent_sync(&self, beginning: NewSession) -> Result<Session> {
        let new = beginning.session()?;
        self.make(|store| store.continue_recent(&new))
    }

    /// The session of a working directory with the latest message, or a new one.
    #[napi(ts_return_type = "Promise<Session>")]
    pub fn continue_recent(&self, beginning: NewSession) -> Result<AsyncTask<Work<Session>>> {
        let new = beginning.session()?;
        Ok(self.spawn_make(move |store| store.continue_recent(&new)))
    }

    /// A new session with all entries of another one, for work in another directory.
    #[napi]
    pub fn fork_from_sync(&self, source: String, cwd: String) -> Result<Session> {
        self.make(|store| store.fork_from(&source, &cwd))
    }

    /// A new session with all entries of another one, for work in another directory.
    #[napi(ts_return_type = "Promise<Session>")]
    pub fn fork_from(&self, source: String, cwd: String) -> AsyncTask<Work<Session>> {
        self.spawn_make(move |store| store.fork_from(&source, &cwd))
    }

    /// Deletes sessions, and the agents' conversations that only they have.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn remove(&self, sessions: Vec<String>) -> AsyncTask<Work<i64>> {
        self.spawn(move |store| Ok(number(store.remove_all(&sessions)?.len() as u64)))
    }

    /// Closes the store, and the sessions and readers that were made of it: their later calls fail with `CLOSED`. What was
    /// acknowledged is on disk in any case.
    #[napi]
    pub fn close_sync(&self) {
        self.dependents.close();
        self.store.close();
    }

    /// Closes the store, and the sessions and readers that were made of it: their later calls fail with `CLOSED`. What was
    /// acknowledged is on disk in any case.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn close(&self) -> AsyncTask<Work<()>> {
        let (store, dependents) = (self.store.clone(), self.dependents.clone());
        spawn(move || {
            dependents.close();
            store.close();
            Ok(())
        })
    }
}
