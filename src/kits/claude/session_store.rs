//! The kits' `SessionStore`, operation by operation.

use std::sync::{Arc, Mutex, PoisonError};

use leafline_import::Family;
use quick_cache::sync::Cache;

use super::key::{self, SessionKey};
use crate::error::{Error, LiveError, Result, SessionError};
use crate::session::{AppendedLines, RepeatedIds, Session, SessionReader};
use crate::store::Store;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;

/// Sessions whose handles are kept for the next append.
const KEPT: usize = 64;

/// How often a session is looked for again when others have begun or removed it meanwhile.
const ATTEMPTS: u32 = 16;

/// The sessions of a store as Claude Code's agent kits ask for them: the operations of `SessionStore` of the Python package
/// `claude-agent-sdk` and of the npm package `@anthropic-ai/claude-agent-sdk`.
///
/// What a kit appends is a session of [`Family::Claude`], its agents' transcripts are sessions of
/// [agents](Store::agents_of): they are listed, searched and exported as imported ones are. The other way round, a session
/// that was imported from the folder of a project has the key that the kits give that project.
///
/// Clones are the same store. All calls may be made from several threads and processes at once.
///
/// ```
/// use leafline::Store;
/// use leafline::claude::{SessionKey, SessionStore};
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let sessions = SessionStore::new(&store);
/// let key = SessionKey::new("-work", "0b5c7a52-26f4-4b4d-9a42-3d1b8d0c1f11");
/// let line = r#"{"type":"user","uuid":"a1","parentUuid":null,"message":{"role":"user","content":"Hello"}}"#;
/// sessions.append(&key, line.as_bytes())?;
/// // An entry that is appended twice is there once.
/// assert_eq!(sessions.append(&key, line.as_bytes())?.ignored, 1);
/// let mut entries = sessions.load(&key)?.expect("it was appended to");
/// assert_eq!(entries.page(1 << 20)?, [line.as_bytes()]);
/// assert_eq!(store.sessions()?[0].first_prompt.as_deref(), Some("Hello"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SessionStore {
    store: Store,
    open: Arc<Cache<Vec<u8>, Arc<Mutex<Session>>>>,
}

impl SessionStore {
    /// The sessions of this store.
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone(), open: Arc::new(Cache::new(KEPT)) }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Appends entries, each the JSON text of one on a line of its own, to the transcript with this key, which is begun if it
    /// is not there. All of them are on the disk when this returns, or none. An entry whose `uuid` the transcript has already
    /// is left out, so that a batch can be appended again; entries without one are always added. No lines are no append.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidKey`]; [`LiveError::InvalidEntry`] for a line that is not a JSON object; those of
    /// [`Session::append_lines`].
    pub fn append(&self, key: &SessionKey, lines: &[u8]) -> Result<AppendedLines> {
        self.store.check_process()?;
        let name = key.name()?;
        if lines.is_empty() {
            return Ok(AppendedLines::default());
        }
        refuse_others(lines)?;
        for _ in 0..ATTEMPTS {
            let session = match self.open.get(&name) {
                Some(session) => session,
                None => match self.open(key, &name, lines)? {
                    Opened::There(session) => session,
                    Opened::Begun(appended) => return Ok(appended),
                    Opened::Taken => continue,
                },
            };
            let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
            match session.append_lines(lines, RepeatedIds::Ignore) {
                Ok(appended) => return Ok(appended),
                Err(error) => {
                    // The handle may take no more; the next append opens the session again.
                    self.open.remove(&name);
                    if !is_absence(&error) {
                        return Err(error);
                    }
                }
            }
        }
        Err(LiveError::Contended { id: key.session_id.clone() }.into())
    }

    /// The session of a key for appends; one that is not there is begun with the lines.
    fn open(&self, key: &SessionKey, name: &[u8], lines: &[u8]) -> Result<Opened> {
        let (session, opened) = match self.find(key)? {
            Some(reader) => match self.store.session(&reader.id()) {
                Ok(session) => (session, None),
                Err(error) if is_absence(&error) => return Ok(Opened::Taken),
                Err(error) => return Err(error),
            },
            None => match self.begin(key, name.to_vec(), lines) {
                Ok((session, appended)) => (session, Some(appended)),
                Err(Error::Session(SessionError::Exists { .. })) => return Ok(Opened::Taken),
                Err(error) => return Err(error),
            },
        };
        let session = Arc::new(Mutex::new(session));
        self.open.insert(name.to_vec(), Arc::clone(&session));
        Ok(opened.map_or(Opened::There(session), Opened::Begun))
    }

    fn begin(
        &self,
        key: &SessionKey,
        name: Vec<u8>,
        lines: &[u8],
    ) -> Result<(Session, AppendedLines)> {
        let parent_session = match &key.subpath {
            None => None,
            // An agent's transcript may come before that of its session.
            Some(_) => Some(match self.find(&key.main())? {
                Some(main) => main.id(),
                None => key.session_id.clone(),
            }),
        };
        let record = SessionRecord {
            external_id: key.file_name().as_bytes().to_vec(),
            family: Family::Claude.code(),
            agent: key.agent(),
            parent_session,
            ..SessionRecord::default()
        };
        let mut lines = lines.to_vec();
        if !lines.ends_with(b"\n") {
            lines.push(b'\n');
        }
        self.store.begin_named(record, name, &lines)
    }

    /// The entries of the transcript with this key, as they are at this moment; `None` if there is no such transcript.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidKey`]; those of the store.
    pub fn load(&self, key: &SessionKey) -> Result<Option<SessionEntries>> {
        Ok(self.find(key)?.map(|reader| SessionEntries::from(reader, 0)))
    }

    /// Deletes the transcript with this key, and with a session's main transcript those of its agents, in one commit. A key
    /// without a transcript is none to delete. Imports do not bring back what was deleted.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidKey`]; those of [`Store::remove_all`].
    pub fn delete(&self, key: &SessionKey) -> Result<()> {
        self.forget(key)?;
        let mut ids: Vec<String> = self.find(key)?.iter().map(SessionReader::id).collect();
        if key.subpath.is_none() {
            let below = self.below(key)?.into_iter();
            ids.extend(below.map(|(_, record)| record.id()));
        }
        while !ids.is_empty() {
            match self.store.remove_all(&ids) {
                // Somebody was faster.
                Err(Error::Session(SessionError::NotFound { id })) => {
                    ids.retain(|known| *known != id);
                }
                removed => return removed.map(drop),
            }
        }
        Ok(())
    }

    /// Lets go of the handles of what is deleted: another session may get the id that one had.
    fn forget(&self, key: &SessionKey) -> Result<()> {
        let name = key.name()?;
        match &key.subpath {
            Some(_) => drop(self.open.remove(&name)),
            None => {
                let below = key.names_below()?;
                self.open.retain(|known, _| *known != name && !known.starts_with(&below));
            }
        }
        Ok(())
    }

    /// The session of a key, as it is now.
    pub(super) fn find(&self, key: &SessionKey) -> Result<Option<SessionReader>> {
        let name = key.name()?;
        let snapshot = self.store.snapshot_to_read()?;
        let found = match Store::session_named(&snapshot, &name)? {
            Some(found) => Some(found),
            None => match &key.subpath {
                None => imported(&snapshot, key)?,
                Some(subpath) => {
                    let below = self.below(&key.main())?.into_iter();
                    let mut same = below.filter(|(known, _)| known == subpath);
                    return same
                        .next()
                        .map(|(_, record)| self.store.reader(&record.id()))
                        .transpose();
                }
            },
        };
        let Some((session, record)) = found else { return Ok(None) };
        SessionReader::open(snapshot, (session, &record.id())).map(Some)
    }
}

/// What an append has found.
enum Opened {
    /// A session, to which the lines are to be appended.
    There(Arc<Mutex<Session>>),
    /// A new session that has them.
    Begun(AppendedLines),
    /// Others have begun or removed it meanwhile.
    Taken,
}

/// The session of a project that was imported under this id.
pub(super) fn imported(
    snapshot: &Snapshot,
    key: &SessionKey,
) -> Result<Option<(crate::store::session_key::SessionKey, SessionRecord)>> {
    let sessions = snapshot.sessions_with_id(key.session_id.as_bytes())?;
    Ok(sessions.into_iter().find(|(_, record)| {
        record.known_family() == Family::Claude
            && record.agent.is_none()
            && !key::is_named(record)
            && record.directory().is_some_and(|cwd| key::is_of(&key.project_key, cwd))
    }))
}

fn is_absence(error: &Error) -> bool {
    matches!(error, Error::Session(SessionError::NotFound { .. }))
}

/// Fails unless each line is a JSON object.
fn refuse_others(lines: &[u8]) -> Result<()> {
    let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
    for (number, line) in lines.split(|byte| *byte == b'\n').enumerate() {
        if !is_object(line) {
            let problem = format!("entry {number} is not a JSON object on one line");
            return Err(LiveError::InvalidEntry { problem }.into());
        }
    }
    Ok(())
}

/// Whether a line is a JSON object.
fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'{')
        && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// The entries of a transcript at one moment, from the first on.
#[derive(Debug)]
pub struct SessionEntries {
    reader: SessionReader,
    next: u64,
}

impl SessionEntries {
    /// The entries from the line with this ordinal on.
    pub(super) fn from(reader: SessionReader, next: u64) -> Self {
        Self { reader, next }
    }

    /// The session.
    pub fn reader(&self) -> &SessionReader {
        &self.reader
    }

    /// The next entries, each as its JSON text without a line feed: about as many bytes as asked for, and at least one entry.
    /// None after the last one. Lines of an imported file that are no JSON object are passed over, as the program does.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn page(&mut self, bytes: usize) -> Result<Vec<Vec<u8>>> {
        let (mut page, mut left, mut next) = (Vec::new(), bytes, self.next);
        self.reader.lines(self.next, |line| {
            next = line.ordinal() + 1;
            let text = line.line().trim_ascii_end();
            if is_object(text) {
                left = left.saturating_sub(text.len());
                page.push(text.to_vec());
            }
            Ok(left > 0)
        })?;
        self.next = next;
        Ok(page)
    }
}
