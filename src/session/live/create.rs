//! New sessions: empty ones, forks, and single branches of others.

use std::path::Path;

use leafline_import::conversation::{PathLimit, PathRuns};
use leafline_import::writing::{Beginning, CopiedLabel, Copy, NotWritten};
use leafline_import::{EntryKind, Family, MessageRole, ProgramVersion, Reading};

use super::super::index::finish::NewLeaf;
use super::super::view::View;
use super::super::{Session, SessionReader};
use super::build::Builder;
use super::conversation;
use super::persistence::Persistence;
use super::rewrite;
use crate::catalog::filter::SessionFilter;
use crate::catalog::folder::whole_directory;
use crate::error::{Error, Result, SessionError};
use crate::regular_file::may_be_at;
use crate::store::Store;
use crate::store::clock::now;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;

/// The operation in the error of a family whose program does not wait for a message.
pub(crate) const DEFERRED: &str = "deferred session";

/// What a new session is to be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewSession {
    /// Whose format its lines have.
    pub family: Family,
    /// The working directory, as [`whole_directory`](crate::list::whole_directory) makes it; Opal's metadata gets it as
    /// `working_dir`.
    pub cwd: String,
    /// Its id; `None` makes one as the family's program does.
    pub id: Option<String>,
    /// The lineage in the header; not in Opal's and Claude Code's sessions.
    pub parent_session: Option<String>,
    /// The title, in the header of omp's and Opal's, in a record of Claude Code's; not in pi's.
    pub title: Option<String>,
    /// What is done to its entries before they are stored; `None` follows the rules of the family's program.
    pub persistence: Option<Persistence>,
}

impl NewSession {
    /// A session of the family for work in a directory.
    pub fn new(family: Family, cwd: impl Into<String>) -> Self {
        Self {
            family,
            cwd: cwd.into(),
            id: None,
            parent_session: None,
            title: None,
            persistence: None,
        }
    }

    /// The header line and the session's record. `source` is the header of the session of which it is a fork.
    pub(super) fn begin(&self, source: Option<&[u8]>) -> Result<Begun> {
        let family = self.family;
        let time = now();
        if let Some(id) = &self.id {
            check_id(id)?;
        }
        let id = self.id.clone().unwrap_or_else(|| family.fresh_session_id(time));
        let new = Beginning {
            id: &id,
            time_ms: time,
            cwd: &self.cwd,
            title: self.title.as_deref(),
            parent_session: self.parent_session.as_deref(),
        };
        let mut header = Vec::new();
        let begun = match source {
            None => family.begin(&new, &mut header).map(|()| None),
            Some(source) => family.begin_fork(&new, source, &mut header),
        };
        let title = begun.map_err(|error| match error {
            NotWritten::Unknown { operation } => {
                SessionError::WrongFamily { id: id.clone(), family, operation }.into()
            }
            error => Error::from(error),
        })?;
        let record = SessionRecord {
            external_id: id.into_bytes(),
            number: 1,
            family: family.code(),
            imported_version: family.written_version().to_owned(),
            cwd: Some(self.cwd.clone()),
            title: title.or_else(|| self.title.clone()),
            parent_session: self.parent_session.clone(),
            created: Some(time),
            modified: Some(time),
            ..SessionRecord::default()
        };
        let persistence = self.persistence.clone();
        let persistence = persistence.unwrap_or_else(|| Persistence::documented(family));
        Ok(Begun { header, record, persistence })
    }
}

/// Fails for an id that could not be read in a list, or that leads out of a folder where a program makes a path of it.
fn check_id(id: &str) -> Result<()> {
    let problem = if id.is_empty() {
        "it is empty"
    } else if id.contains(char::is_control) {
        "it has a control character"
    } else if id.split(['/', '\\']).any(|part| part == "." || part == "..") {
        "as a path it leads to another folder"
    } else {
        return Ok(());
    };
    Err(SessionError::InvalidId { id: id.to_owned(), problem }.into())
}

/// A session that has only its header.
pub(super) struct Begun {
    pub(super) header: Vec<u8>,
    pub(super) record: SessionRecord,
    pub(super) persistence: Persistence,
}

impl Begun {
    fn build(self, store: &Store) -> Result<SessionKey> {
        let mut builder = Builder::new(store, self.record, None)?;
        builder.push(&self.header)?;
        builder.finish(NewLeaf::ByRule)
    }
}

impl Store {
    /// Begins a session (pi and omp documents, `SessionManager.create`). It is on disk when this returns, and so is each
    /// entry that is appended to it. [`PiStore::create_deferred_session`](crate::pi::PiStore::create_deferred_session)
    /// waits for the first message, as the session managers of pi and omp do.
    ///
    /// ```
    /// use leafline::{Family, NewSession, Store};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let mut session = store.create_session(&NewSession::new(Family::Pi, "/work"))?;
    /// session.append_message(&serde_json::json!({"role": "user", "content": "Hello"}))?;
    /// assert_eq!(store.sessions()?[0].entries, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Exists`] for an id that another session has; [`SessionError::InvalidId`] for one that is empty, has a
    /// control character, or has `.` or `..` as a part of a path; [`SessionError::WrongFamily`] for Codex, whose sessions are not
    /// written here, for a session of Opal's or Claude Code's with a parent session, and for one of pi's with a title.
    pub fn create_session(&self, new: &NewSession) -> Result<Session> {
        let begun = self.begin(new)?;
        let (persistence, id) = (begun.persistence.clone(), begun.record.id());
        let reading = Reading::plain(new.family);
        Ok(Session::stored(self, begun.build(self)?, id, reading, persistence))
    }

    /// The session as [`PiStore::create_deferred_session`](crate::pi::PiStore::create_deferred_session) describes it.
    pub(crate) fn deferred_session(&self, new: &NewSession) -> Result<Session> {
        let begun = self.begin(new)?;
        let (persistence, id) = (begun.persistence.clone(), begun.record.id());
        let family = new.family;
        if !family.is_pi_omp() {
            return Err(SessionError::WrongFamily { id, family, operation: DEFERRED }.into());
        }
        let memory = Store::in_memory()?;
        let key = begun.build(&memory)?;
        let mut session = Session::stored(self, key, id, Reading::plain(family), persistence);
        session.waiting = Some(Box::new(memory));
        Ok(session)
    }

    fn begin(&self, new: &NewSession) -> Result<Begun> {
        let new = NewSession { cwd: whole_directory(&new.cwd)?, ..new.clone() };
        let begun = new.begin(None)?;
        if new.id.is_some() {
            self.refuse_taken(&begun.record)?;
        }
        Ok(begun)
    }

    fn refuse_taken(&self, record: &SessionRecord) -> Result<()> {
        match self.snapshot()?.key_of(&record.external_id)? {
            Some(_) => Err(Error::Session(SessionError::Exists { id: record.id() })),
            None => Ok(()),
        }
    }

    /// The session of a working directory with the latest message, or a new one (pi and omp documents,
    /// `SessionManager.continueRecent`). The [`Persistence`] of `new` also applies to an existing session.
    ///
    /// # Errors
    ///
    /// Those of [`Self::create_session`].
    pub fn continue_recent(&self, new: &NewSession) -> Result<Session> {
        let filter = SessionFilter {
            family: Some(new.family),
            without_agents: true,
            ..SessionFilter::of_cwd(whole_directory(&new.cwd)?)
        };
        let newest = match self.find_most_recent(&filter)? {
            Some(newest) => {
                // Of several in one millisecond, the one that was begun last: ids made here sort by time.
                let until = newest.modified.and_then(|time| time.checked_add(1));
                let at_once = SessionFilter { since: newest.modified, until, ..filter };
                let at_once = self.list(&at_once)?.into_iter();
                at_once.max_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)))
            }
            None => None,
        };
        match newest {
            Some(facts) => {
                let session = self.session(&facts.id)?;
                Ok(match &new.persistence {
                    Some(persistence) => session.with_persistence(persistence.clone()),
                    None => session,
                })
            }
            None => self.create_session(new),
        }
    }

    /// A new session with all entries of another one, for work in another directory (pi and omp documents,
    /// `SessionManager.forkFrom`). It is stored at once. Lines of the source that are not JSON are left out, as in the
    /// programs.
    ///
    /// The header's `parentSession` is, in a session of pi's, the path of the file that the source was imported from, as long
    /// as it is there, for pi follows nothing else; otherwise the source's id. omp keeps the title, as the header's last member, and does to each
    /// entry what it does before it writes any (omp document, persistence).
    ///
    /// A fork of a Claude Code session has the conversation at the leaf, as with the program's `--fork-session`, and what was
    /// said before a compaction, which the program leaves out. The entries keep their ids.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`] and the like, for the source; [`SessionError::WrongFamily`] if it is a session of
    /// Opal or Codex.
    pub fn fork_from(&self, source: &str, cwd: &str) -> Result<Session> {
        let source = self.session(source)?;
        if !source.family().copies() {
            return Err(source.wrong_family("fork"));
        }
        fork(self, &source.reader()?, &whole_directory(cwd)?)
    }
}

fn fork(store: &Store, source: &SessionReader, cwd: &str) -> Result<Session> {
    let family = source.family();
    if family.copies_conversation() {
        let leaf = source.view().leaf()?;
        return conversation::copy(store, source, leaf, cwd, None);
    }
    let mut new = NewSession::new(family, cwd);
    let file = if family.follows_paths() { file_of(source) } else { None };
    new.parent_session = Some(file.unwrap_or_else(|| source.id()));
    let source_header = source.get_header()?;
    let source_header = source_header.as_ref().map(|header| header.line());
    let Begun { header, record, persistence } = new.begin(source_header)?;
    let id = record.id();
    let new_id = record.external_id.clone();
    let copy = Copy { id: &new_id, source_id: &source.record().external_id, moved: None };
    let mut builder = Builder::new(store, record, None)?;
    builder.push(&header)?;
    source.lines(0, |entry| {
        let mut line = Vec::with_capacity(entry.line().len());
        if !matches!(entry.kind(), EntryKind::Header | EntryKind::Title)
            && family.copy_line(entry.line(), &copy, &mut line)
        {
            let (line, images) = rewrite::as_stored(family, &persistence.rules, line);
            builder.push_without(&line, images)?;
        }
        Ok(true)
    })?;
    let key = builder.finish(NewLeaf::ByRule)?;
    Ok(Session::stored(store, key, id, Reading::plain(family), persistence))
}

/// The file that a session was imported from, the last of those that are still there.
fn file_of(reader: &SessionReader) -> Option<String> {
    let paths = reader.record().sources.iter().rev();
    let mut paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
    paths.find(|path| may_be_at(Path::new(path))).map(String::from)
}

impl Session {
    /// The session of one branch, as
    /// [`PiSession::create_branched_session`](crate::pi::PiSession::create_branched_session) describes it. If it
    /// `is_deferred`, it waits where its program would not have written its file.
    pub(crate) fn branched_session(&self, leaf: &str, is_deferred: bool) -> Result<Session> {
        if !self.family().copies() {
            return Err(self.wrong_family("session of a branch"));
        }
        let reader = self.reader()?;
        let view = reader.view();
        let leaf = view.named(leaf)?;
        let family = reader.family();
        if family.copies_conversation() {
            let cwd = reader.record().directory().unwrap_or_default();
            let persistence = Some(self.persistence.clone());
            return conversation::copy(&self.store, &reader, Some(leaf), cwd, persistence);
        }
        let path = view.walk(leaf).up_to(PathLimit::Root)?;
        let mut new = NewSession::new(family, reader.record().directory().unwrap_or_default());
        new.parent_session = Some(file_of(&reader).unwrap_or_else(|| self.id().to_owned()));
        new.persistence = Some(self.persistence.clone());
        let Begun { header, record, persistence } = new.begin(None)?;
        let waits = is_deferred && !begins_file(view, &path, persistence.as_of)?;
        let memory = if waits { Some(Box::new(Store::in_memory()?)) } else { None };
        let id = record.id();
        let new_id = record.external_id.clone();
        let copy = Copy { id: &new_id, source_id: &reader.record().external_id, moved: None };
        let to = memory.as_deref().unwrap_or(&self.store);
        let from_store = reader.snapshot().store();
        let blobs = (!to.is_same(from_store)).then_some(from_store);
        let mut builder = Builder::new(to, record, blobs)?;
        builder.push(&header)?;
        let last = push_path(&reader, &path, &copy, &mut builder)?;
        push_labels(view, (family, &path), last, &mut builder)?;
        let key = builder.finish(NewLeaf::ByRule)?;
        let mut session =
            Session::stored(&self.store, key, id, Reading::plain(family), persistence);
        session.waiting = memory;
        Ok(session)
    }
}

/// Whether a path has a message at which its program writes a new session's file.
fn begins_file(view: View<'_>, path: &PathRuns, as_of: Option<ProgramVersion>) -> Result<bool> {
    let family = view.reading().family;
    for ordinal in path.downwards().map(Ordinal::new) {
        let role = MessageRole::from_code(view.entry_node(ordinal)?.role);
        if role.is_some_and(|role| family.begins_file(role, as_of)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Copies the path's lines except labels. Returns the last one's id.
fn push_path(
    reader: &SessionReader,
    path: &PathRuns,
    copy: &Copy<'_>,
    builder: &mut Builder<'_>,
) -> Result<Option<Vec<u8>>> {
    let mut last = None;
    reader.for_each(path.downwards().map(Ordinal::new), |entry| {
        if entry.kind() == EntryKind::Label {
            return Ok(());
        }
        let mut line = Vec::with_capacity(entry.line().len());
        if reader.family().copy_line(entry.line(), copy, &mut line) {
            builder.push(&line)?;
            last = super::append::exact_id(reader.reading(), &line);
        }
        Ok(())
    })?;
    Ok(last)
}

/// Writes a new entry for each label that is set on an entry of the path, in the programs' order: by the line that
/// first set it after it was last cleared.
fn push_labels(
    view: View<'_>,
    (family, path): (Family, &PathRuns),
    last: Option<Vec<u8>>,
    builder: &mut Builder<'_>,
) -> Result<()> {
    let mut labels = view.rows().labels()?;
    labels.sort_by_key(|(_, label)| label.place);
    let mut parent = last;
    for (target, label) in labels {
        let on_path = match view.find(&target)? {
            Some(entry) => {
                path.contains(entry.raw())
                    && view.entry_node(entry)?.kind != EntryKind::Label.code()
            }
            None => false,
        };
        if !on_path {
            continue;
        }
        let setter = view.entry(label.line)?;
        let is_taken = |id: &str| -> Result<bool> { Ok(view.find(id.as_bytes())?.is_some()) };
        let id = family.fresh_entry_id(is_taken)?;
        let mut line = Vec::new();
        let label = CopiedLabel {
            id: &id,
            parent: parent.as_deref(),
            setter: setter.line(),
            target: &target,
            label: &label.label,
        };
        family.copy_label(&label, &mut line);
        builder.push(&line)?;
        parent = Some(id.into_bytes());
    }
    Ok(())
}
