//! A session that is written to.

use leafline::Session as Live;
use leafline::error::SessionError;
use leafline::live::EntryDraft;
use leafline::pi::PiSession;
use napi::Env;
use napi::bindgen_prelude::{AsyncTask, Buffer, Either, ToNapiValue, TypeName, Unknown};
use napi_derive::napi;

use crate::objects::{AppendOptions, AppendedLines, Entry, number, repeated_ids};
use crate::reader::SessionReader;
use crate::work::{Dependents, Result, Shared, Work, json_text, spawn};

/// One session. What a method has appended is on disk when it returns, or when its promise is fulfilled.
#[napi]
pub struct Session {
    session: Shared<Live>,
    dependents: Dependents,
    id: String,
    family: &'static str,
}

impl Session {
    pub(crate) fn new(session: Live, dependents: Dependents) -> Self {
        let (id, family) = (session.id().to_owned(), session.family().name());
        let session = Shared::new(session);
        dependents.add(&session);
        Self { session, dependents, id, family }
    }

    fn spawn<T: ToNapiValue + TypeName + Send + 'static>(
        &self,
        act: impl FnOnce(&mut Live) -> leafline::Result<T> + Send + 'static,
    ) -> AsyncTask<Work<T>> {
        let session = self.session.clone();
        spawn(move || session.with(act))
    }
}

/// Appends entries that are given as JSON: one, or an array of them, all or none.
fn append(session: &mut Live, json: &[String]) -> leafline::Result<Vec<String>> {
    let family = session.family();
    let mut drafts = Vec::new();
    for json in json {
        drafts.extend(EntryDraft::from_json(family, json)?);
    }
    session.append_all(drafts)
}

/// Each value of an array, or the one that it is, as JSON text.
fn texts(env: &Env, drafts: Either<Vec<Unknown<'_>>, Unknown<'_>>) -> Result<Vec<String>> {
    match drafts {
        Either::A(all) => all.into_iter().map(|draft| json_text(env, draft)).collect(),
        Either::B(one) => Ok(vec![json_text(env, one)?]),
    }
}

fn bytes(lines: Either<Buffer, String>) -> Vec<u8> {
    match lines {
        Either::A(bytes) => bytes.to_vec(),
        Either::B(text) => text.into_bytes(),
    }
}

fn append_lines(
    session: &mut Live,
    lines: &[u8],
    options: Option<AppendOptions>,
) -> leafline::Result<AppendedLines> {
    let appended = session.append_lines(lines, repeated_ids(options))?;
    Ok(AppendedLines { added: number(appended.added), ignored: number(appended.ignored) })
}

#[napi]
impl Session {
    /// Its id.
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.id.clone()
    }

    /// Whose format it has.
    #[napi(getter, ts_return_type = "Family")]
    pub fn family(&self) -> String {
        self.family.to_owned()
    }

    /// A reader of the session.
    #[napi]
    pub fn reader_sync(&self) -> Result<SessionReader> {
        let reader = Shared::new(self.session.with(|session| Ok(session.reader()?.pause()))?);
        self.dependents.add(&reader);
        Ok(SessionReader::new(reader))
    }

    /// A reader of the session.
    #[napi(ts_return_type = "Promise<SessionReader>")]
    pub fn reader(&self) -> AsyncTask<Work<SessionReader>> {
        let dependents = self.dependents.clone();
        self.spawn(move |session| {
            let reader = Shared::new(session.reader()?.pause());
            dependents.add(&reader);
            Ok(SessionReader::new(reader))
        })
    }

    /// The entry with this id; of an id that occurs twice, the later entry. Fails with `ENTRY_NOT_FOUND`.
    #[napi]
    pub fn entry_sync(&self, id: String) -> Result<Entry> {
        self.session.with(|session| Ok(Entry::from(&session.get_entry(&id)?)))
    }

    /// The entry with this id; of an id that occurs twice, the later entry. Fails with `ENTRY_NOT_FOUND`.
    #[napi(ts_return_type = "Promise<Entry>")]
    pub fn entry(&self, id: String) -> AsyncTask<Work<Entry>> {
        self.spawn(move |session| Ok(Entry::from(&session.get_entry(&id)?)))
    }

    /// Whether it has an entry with this id.
    #[napi]
    pub fn has_entry_sync(&self, id: String) -> Result<bool> {
        self.session.with(|session| match session.get_entry(&id) {
            Ok(_) => Ok(true),
            Err(leafline::Error::Session(SessionError::EntryNotFound { .. })) => Ok(false),
            Err(error) => Err(error),
        })
    }

    /// Appends an entry below the leaf, or an array of them, each below the one before, all or none. An entry is an object
    /// as the session's file has it, such as `{type: "message", message: {role: "user", content: "Hi"}}`; its id, parent and
    /// time are set here. Returns the ids: several for a message that its program writes in parts.
    #[napi]
    pub fn append_sync(
        &self,
        env: &Env,
        #[napi(ts_arg_type = "object | object[]")] entries: Either<Vec<Unknown<'_>>, Unknown<'_>>,
    ) -> Result<Vec<String>> {
        let entries = texts(env, entries)?;
        self.session.with(|session| append(session, &entries))
    }

    /// Appends an entry below the leaf, or an array of them, each below the one before, all or none. An entry is an object
    /// as the session's file has it, such as `{type: "message", message: {role: "user", content: "Hi"}}`; its id, parent and
    /// time are set here. The ids are several for a message that its program writes in parts.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn append(
        &self,
        env: &Env,
        #[napi(ts_arg_type = "object | object[]")] entries: Either<Vec<Unknown<'_>>, Unknown<'_>>,
    ) -> Result<AsyncTask<Work<Vec<String>>>> {
        let entries = texts(env, entries)?;
        Ok(self.spawn(move |session| append(session, &entries)))
    }

    /// Appends a message: an object with a `role`. In a Claude Code session it is a message of the API. Returns its id.
    #[napi]
    pub fn append_message_sync(
        &self,
        env: &Env,
        #[napi(ts_arg_type = "object")] message: Unknown<'_>,
    ) -> Result<String> {
        let message = crate::work::raw_json(json_text(env, message)?)?;
        self.session.with(|session| session.append_message(&message))
    }

    /// Appends a message: an object with a `role`. In a Claude Code session it is a message of the API. Gives its id.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn append_message(
        &self,
        env: &Env,
        #[napi(ts_arg_type = "object")] message: Unknown<'_>,
    ) -> Result<AsyncTask<Work<String>>> {
        let message = crate::work::raw_json(json_text(env, message)?)?;
        Ok(self.spawn(move |session| session.append_message(&message)))
    }

    /// Appends lines as a program has written them: byte for byte, all of them or none. They are read as what the session's
    /// file has gained.
    #[napi]
    pub fn append_lines_sync(
        &self,
        lines: Either<Buffer, String>,
        options: Option<AppendOptions>,
    ) -> Result<AppendedLines> {
        let lines = bytes(lines);
        self.session.with(|session| append_lines(session, &lines, options))
    }

    /// Appends lines as a program has written them: byte for byte, all of them or none. They are read as what the session's
    /// file has gained.
    #[napi(ts_return_type = "Promise<AppendedLines>")]
    pub fn append_lines(
        &self,
        lines: Either<Buffer, String>,
        options: Option<AppendOptions>,
    ) -> AsyncTask<Work<AppendedLines>> {
        let lines = bytes(lines);
        self.spawn(move |session| append_lines(session, &lines, options))
    }

    /// Moves the leaf to an entry: the next entry is appended below it.
    #[napi]
    pub fn branch_sync(&self, entry: String) -> Result<()> {
        self.session.with(|session| session.branch(&entry))
    }

    /// Moves the leaf to an entry: the next entry is appended below it.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn branch(&self, entry: String) -> AsyncTask<Work<()>> {
        self.spawn(move |session| session.branch(&entry))
    }

    /// Moves the leaf to an entry, or before all, and appends a summary of the abandoned branch. Returns the summary's id.
    #[napi]
    pub fn branch_with_summary_sync(
        &self,
        entry: Option<String>,
        summary: String,
    ) -> Result<String> {
        let none: Option<&()> = None;
        self.session
            .with(|session| session.branch_with_summary(entry.as_deref(), &summary, none, None))
    }

    /// Moves the leaf to an entry, or before all, and appends a summary of the abandoned branch. Gives the summary's id.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn branch_with_summary(
        &self,
        entry: Option<String>,
        summary: String,
    ) -> AsyncTask<Work<String>> {
        self.spawn(move |session| {
            let none: Option<&()> = None;
            session.branch_with_summary(entry.as_deref(), &summary, none, None)
        })
    }

    /// Moves the leaf before all entries: the next entry is appended as a root.
    #[napi]
    pub fn reset_leaf_sync(&self) -> Result<()> {
        self.session.with(|session| session.reset_leaf())
    }

    /// Moves the leaf before all entries: the next entry is appended as a root.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn reset_leaf(&self) -> AsyncTask<Work<()>> {
        self.spawn(|session| session.reset_leaf())
    }

    /// Sets a label on an entry, or clears it if there is no label, by appending an entry. Returns that entry's id.
    #[napi]
    pub fn label_sync(&self, target: String, label: Option<String>) -> Result<String> {
        self.session.with(|session| session.label(&target, label.as_deref()))
    }

    /// Sets a label on an entry, or clears it if there is no label, by appending an entry. Gives that entry's id.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn label(&self, target: String, label: Option<String>) -> AsyncTask<Work<String>> {
        self.spawn(move |session| session.label(&target, label.as_deref()))
    }

    /// Names the session.
    #[napi]
    pub fn set_name_sync(&self, name: String) -> Result<()> {
        self.session.with(|session| session.set_session_name(&name))
    }

    /// Names the session.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn set_name(&self, name: String) -> AsyncTask<Work<()>> {
        self.spawn(move |session| session.set_session_name(&name))
    }

    /// A new session with only the path from the root to an entry, and the labels on it.
    #[napi]
    pub fn extract_sync(&self, leaf: String) -> Result<Session> {
        let extracted = self.session.with(|session| session.create_branched_session(&leaf))?;
        Ok(Session::new(extracted, self.dependents.clone()))
    }

    /// A new session with only the path from the root to an entry, and the labels on it.
    #[napi(ts_return_type = "Promise<Session>")]
    pub fn extract(&self, leaf: String) -> AsyncTask<Work<Session>> {
        let dependents = self.dependents.clone();
        self.spawn(move |session| {
            Ok(Session::new(session.create_branched_session(&leaf)?, dependents))
        })
    }

    /// Fails with `LATCHED` if an earlier entry could not be stored. There is nothing else to flush.
    #[napi]
    pub fn flush_sync(&self) -> Result<()> {
        self.session.with(|session| session.flush())
    }

    /// Ends the handle: later calls fail with `CLOSED`. The session stays in the store.
    #[napi]
    pub fn close(&self) {
        self.session.close();
    }
}
