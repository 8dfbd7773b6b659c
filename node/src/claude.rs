//! Sessions by the keys of Claude's agent kits, for `leafline/claude`.

use std::sync::{Mutex, PoisonError};

use leafline::claude::{SessionKey, SessionStore, SessionSummary};
use napi::bindgen_prelude::{AsyncTask, ClassInstance};
use napi_derive::napi;

use crate::objects::count;
use crate::store::Store;
use crate::work::{JsonWork, Result, Shared, Work, failed, spawn, spawn_json};

/// Bytes of a transcript that are read at a time: 4 MiB.
const PAGE_BYTES: usize = 4 << 20;

/// The key of a transcript.
#[napi(object)]
pub struct ClaudeKey {
    /// The caller's scope.
    pub project_key: String,
    /// The session's id.
    pub session_id: String,
    /// Below a session: which of its transcripts.
    pub subpath: Option<String>,
}

impl From<ClaudeKey> for SessionKey {
    fn from(key: ClaudeKey) -> Self {
        let main = Self::new(key.project_key, key.session_id);
        match key.subpath {
            // The kits take an empty subpath for none.
            None => main,
            Some(subpath) if subpath.is_empty() => main,
            Some(subpath) => main.with_subpath(subpath),
        }
    }
}

/// A session of a project.
#[napi(object)]
pub struct ClaudeSession {
    /// Its id in keys.
    pub session_id: String,
    /// When it was last written, in milliseconds since 1970.
    pub mtime: i64,
}

/// The transcripts of a store, by their keys. `leafline/claude` is made of it.
#[napi]
pub struct ClaudeTranscripts {
    sessions: Shared<SessionStore>,
}

/// What a kit made of the first entries of a session, and the entries that came since.
#[napi]
pub struct ClaudeSummary {
    summary: Mutex<Option<SessionSummary>>,
}

impl ClaudeTranscripts {
    fn spawn<T>(
        &self,
        act: impl FnOnce(&SessionStore) -> leafline::Result<T> + Send + 'static,
    ) -> AsyncTask<Work<T>>
    where
        T: napi::bindgen_prelude::ToNapiValue + napi::bindgen_prelude::TypeName + Send + 'static,
    {
        let sessions = self.sessions.clone();
        spawn(move || act(&sessions.get()?).map_err(failed))
    }
}

/// A JSON array of a transcript's entries; `null` if there is no such transcript.
fn load(sessions: &SessionStore, key: &SessionKey) -> leafline::Result<String> {
    let Some(mut entries) = sessions.load(key)? else { return Ok("null".to_owned()) };
    let mut text = String::from("[");
    loop {
        let page = entries.page(PAGE_BYTES)?;
        if page.is_empty() {
            break;
        }
        for entry in page {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&String::from_utf8_lossy(&entry));
        }
    }
    text.push(']');
    Ok(text)
}

#[napi]
impl ClaudeTranscripts {
    /// Those of this store.
    #[napi(constructor)]
    pub fn new(store: &Store) -> Result<Self> {
        let sessions = Shared::new(SessionStore::new(&store.store.get()?));
        store.keep(&sessions);
        Ok(Self { sessions })
    }

    /// Appends entries, the JSON text of each on a line of its own. Those whose `uuid` is there are left out.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn append(&self, key: ClaudeKey, lines: String) -> AsyncTask<Work<()>> {
        self.spawn(move |sessions| sessions.append(&key.into(), lines.as_bytes()).map(|_| ()))
    }

    /// The entries of a transcript; `null` if there is no such transcript.
    #[napi(ts_return_type = "Promise<any[] | null>")]
    pub fn load(&self, key: ClaudeKey) -> AsyncTask<JsonWork> {
        let sessions = self.sessions.clone();
        spawn_json(move || load(&sessions.get()?, &key.into()).map_err(failed))
    }

    /// Deletes a transcript, and with a session's main transcript those below it.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn delete(&self, key: ClaudeKey) -> AsyncTask<Work<()>> {
        self.spawn(move |sessions| sessions.delete(&key.into()))
    }

    /// The sessions of a project.
    #[napi(ts_return_type = "Promise<ClaudeSession[]>")]
    pub fn list_sessions(&self, project_key: String) -> AsyncTask<Work<Vec<ClaudeSession>>> {
        self.spawn(move |sessions| {
            let all = sessions.list_sessions(&project_key)?.into_iter();
            let session = |session: leafline::claude::StoredSession| ClaudeSession {
                session_id: session.session_id,
                mtime: session.modified,
            };
            Ok(all.map(session).collect())
        })
    }

    /// The subpaths of the transcripts below a session.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn list_subkeys(
        &self,
        project_key: String,
        session_id: String,
    ) -> AsyncTask<Work<Vec<String>>> {
        self.spawn(move |sessions| sessions.list_subkeys(&project_key, &session_id))
    }

    /// What was made of a session, in the form with this name; `null` if there is no such session.
    #[napi(ts_return_type = "Promise<ClaudeSummary | null>")]
    pub fn summary(&self, key: ClaudeKey, form: String) -> AsyncTask<Work<Option<ClaudeSummary>>> {
        self.spawn(move |sessions| {
            let summary = sessions.summary(&key.into(), &form)?;
            Ok(summary.map(|summary| ClaudeSummary { summary: Mutex::new(Some(summary)) }))
        })
    }

    /// Keeps what was made of sessions, in one commit. The summaries cannot be used again.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn keep_summaries(
        &self,
        form: String,
        summaries: Vec<ClassInstance<'_, ClaudeSummary>>,
    ) -> AsyncTask<Work<()>> {
        let taken = summaries.iter().filter_map(|summary| summary.lock().take()).collect();
        self.spawn(move |sessions| sessions.keep_summaries(&form, taken))
    }
}

impl ClaudeSummary {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<SessionSummary>> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[napi]
impl ClaudeSummary {
    /// What the kit made; `null` if it has made nothing yet.
    #[napi(getter)]
    pub fn data(&self) -> Option<String> {
        self.lock().as_ref().and_then(|summary| summary.data().map(str::to_owned))
    }

    /// Whether there are no entries that the kit has not read.
    #[napi(getter)]
    pub fn is_current(&self) -> bool {
        self.lock().as_ref().is_some_and(SessionSummary::is_current)
    }

    /// The next entries that the kit has not read, each as JSON text; none after the last one.
    #[napi]
    pub fn page_sync(&self, bytes: i64) -> Result<Vec<String>> {
        let bytes = count(bytes, "bytes")?;
        let mut summary = self.lock();
        let Some(summary) = summary.as_mut() else { return Ok(Vec::new()) };
        let page = summary.page(bytes).map_err(failed)?;
        Ok(page.iter().map(|entry| String::from_utf8_lossy(entry).into_owned()).collect())
    }

    /// Sets what the kit has made of all entries.
    #[napi]
    pub fn set_data(&self, data: String) {
        if let Some(summary) = self.lock().as_mut() {
            summary.set_data(data);
        }
    }
}
