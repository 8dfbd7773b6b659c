//! New sessions: empty ones, forks, and single branches of others.

use std::path::Path;

use leafline_import::conversation::{PathLimit, PathRuns};
use leafline_import::opal::{self, Metadata};
use leafline_import::pi_omp::{Header, ParentId};
use leafline_import::scan::{Raw, Scanner};
use leafline_import::{EntryKind, Family, Reading, ecma, text, time};

use super::super::index::finish::NewLeaf;
use super::super::view::View;
use super::super::{Session, SessionReader};
use super::build::Builder;
use super::ids;
use super::persistence::Persistence;
use super::rewrite::{self, with_member};
use crate::catalog::filter::SessionFilter;
use crate::error::{Error, Result, SessionError};
use crate::store::Store;
use crate::store::clock::now;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;

/// What a new session is to be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewSession {
    /// Whose format its lines have.
    pub family: Family,
    /// The working directory; Opal's metadata gets it as `working_dir`.
    pub cwd: String,
    /// Its id; `None` makes one as the family's program does.
    pub id: Option<String>,
    /// The lineage in the header; not in Opal's sessions.
    pub parent_session: Option<String>,
    /// The header's title; only omp's and Opal's have one.
    pub title: Option<String>,
    /// When and how its entries are stored; `None` does as the family's program.
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

    /// The header line and the session's record.
    fn begin(&self) -> Result<(Vec<u8>, SessionRecord, Persistence)> {
        let id = self.id.clone().unwrap_or_else(|| ids::fresh_session_id(self.family));
        let unknown = |operation| {
            Error::Session(SessionError::WrongFamily {
                id: id.clone(),
                family: self.family,
                operation,
            })
        };
        let time = now();
        let mut line = Vec::new();
        match self.family {
            Family::Opal if self.parent_session.is_some() => return Err(unknown("parent session")),
            Family::Opal => self.write_opal_header(&id, time, &mut line)?,
            Family::Pi | Family::Omp => Header {
                id: &id,
                title: self.title.as_deref(),
                timestamp: time,
                cwd: &self.cwd,
                parent_session: self.parent_session.as_deref().map(str::as_bytes),
            }
            .write(&mut line),
            _ => return Err(unknown("beginning of a session")),
        }
        let version = if self.family.is_pi_omp() { "3" } else { "" };
        let record = SessionRecord {
            external_id: id.into_bytes(),
            number: 1,
            family: self.family.code(),
            imported_version: version.to_owned(),
            cwd: Some(self.cwd.clone()),
            title: self.title.clone(),
            parent_session: self.parent_session.clone(),
            created: Some(time),
            modified: Some(time),
            ..SessionRecord::default()
        };
        let persistence = self.persistence.clone();
        Ok((line, record, persistence.unwrap_or_else(|| Persistence::documented(self.family))))
    }

    /// An Opal header: the documented metadata, and the working directory under Opal's name for it.
    fn write_opal_header(&self, id: &str, time: i64, line: &mut Vec<u8>) -> Result<()> {
        let mut metadata = Metadata::default();
        metadata.set("created_at", &super::json(&time::format_timestamp(time))?)?;
        metadata.set("working_dir", &super::json(&self.cwd)?)?;
        if let Some(title) = &self.title {
            metadata.set("title", &super::json(title)?)?;
        }
        let metadata = metadata.to_json();
        opal::Header { session_id: id.as_bytes(), current_id: ParentId::Null, metadata: &metadata }
            .write(line)?;
        Ok(())
    }
}

impl Store {
    /// Begins a session (pi and omp documents, `SessionManager.create`). A session of pi or omp is stored with its
    /// first assistant message, as the programs do, unless its [`Persistence`] says otherwise. An Opal session is
    /// stored at once.
    ///
    /// ```
    /// use leafline::{Family, NewSession, Store};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let mut session = store.create_session(&NewSession::new(Family::Pi, "/work"))?;
    /// session.append_message(&serde_json::json!({"role": "user", "content": "Hello"}))?;
    /// assert!(store.sessions()?.is_empty());
    /// session.append_message(&serde_json::json!({"role": "assistant", "content": []}))?;
    /// assert_eq!(store.sessions()?[0].entries, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Exists`] for an id that another session has; [`SessionError::WrongFamily`] for Claude Code,
    /// whose sessions are not written here, and for an Opal session with a parent session.
    pub fn create_session(&self, new: &NewSession) -> Result<Session> {
        let (header, record, persistence) = new.begin()?;
        if new.id.is_some() {
            self.refuse_taken(&record)?;
        }
        begin(self, header.as_slice(), record, persistence)
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
        let filter =
            SessionFilter { family: Some(new.family), ..SessionFilter::of_cwd(new.cwd.as_str()) };
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
    /// # Errors
    ///
    /// [`SessionError::NotFound`] and the like, for the source; [`SessionError::WrongFamily`] if it is not a session of
    /// pi or omp.
    pub fn fork_from(&self, source: &str, cwd: &str) -> Result<Session> {
        let source = self.session(source)?;
        source.only_pi_omp("fork")?;
        fork(self, &source.reader()?, cwd)
    }
}

fn fork(store: &Store, source: &SessionReader, cwd: &str) -> Result<Session> {
    let family = source.family();
    let mut new = NewSession::new(family, cwd);
    let file = if family == Family::Pi { file_of(source) } else { None };
    new.parent_session = Some(file.unwrap_or_else(|| source.id()));
    let (mut header, mut record, persistence) = new.begin()?;
    if family == Family::Omp
        && let Some(title) = header_title(source)?
    {
        header = with_member(&header, "title", &super::json(&title)?)?;
        record.title = Some(title);
    }
    let id = record.id();
    let mut builder = Builder::new(store, record, None)?;
    builder.push(&header)?;
    source.lines(0, |entry| {
        let mut line = Vec::with_capacity(entry.line().len());
        if !matches!(entry.kind(), EntryKind::Header | EntryKind::Title)
            && restringify_line(entry.line(), &mut line)
        {
            let (line, images) = rewrite::persisted(persistence.rules, line);
            builder.push_without(&line, images)?;
        }
        Ok(true)
    })?;
    let key = builder.finish(NewLeaf::ByRule)?;
    Ok(Session::stored(store, key, id, Reading::plain(family), persistence))
}

/// A line as a program writes what it has parsed; `false` if it is not JSON.
fn restringify_line(line: &[u8], out: &mut Vec<u8>) -> bool {
    let decoded = text::decode(line);
    let shown = text::trim_start_of_file(&decoded);
    if shown.trim().is_empty() || ecma::restringify(shown, out).is_err() {
        return false;
    }
    out.push(b'\n');
    true
}

/// The file that a session was imported from, the last of those that are still there.
fn file_of(reader: &SessionReader) -> Option<String> {
    let paths = reader.record().sources.iter().rev();
    let mut paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
    paths.find(|path| Path::new(path).is_file()).map(String::from)
}

fn header_title(reader: &SessionReader) -> Result<Option<String>> {
    let Some(header) = reader.get_header()? else { return Ok(None) };
    let decoded = text::decode(header.line());
    let document = ecma::Document::parse(text::trim_start_of_file(&decoded)).ok();
    let title =
        document.and_then(|header| header.get("title")?.to_string_lossy().map(String::from));
    Ok(title.filter(|title| !title.is_empty()))
}

/// Makes a session from its lines: in the store, or in memory if it waits for an assistant message.
fn begin(
    store: &Store,
    lines: &[u8],
    record: SessionRecord,
    persistence: Persistence,
) -> Result<Session> {
    let family = record.known_family();
    let id = record.id();
    let build = |store: &Store| -> Result<SessionKey> {
        let mut builder = Builder::new(store, record, None)?;
        builder.push(lines)?;
        builder.finish(NewLeaf::ByRule)
    };
    if !persistence.waits_for_assistant {
        let key = build(store)?;
        return Ok(Session::stored(store, key, id, Reading::plain(family), persistence));
    }
    let memory = Store::in_memory()?;
    let key = build(&memory)?;
    let mut session = Session::stored(store, key, id, Reading::plain(family), persistence);
    session.waiting = Some(Box::new(memory));
    Ok(session)
}

impl Session {
    /// The session of one branch, as
    /// [`PiSession::create_branched_session`](super::pi::PiSession::create_branched_session) describes it.
    pub(super) fn branched_session(&self, leaf: &str) -> Result<Session> {
        self.only_pi_omp("session of a branch")?;
        let reader = self.reader()?;
        let view = reader.view();
        let path = view.walk(view.named(leaf)?).up_to(PathLimit::Root)?;
        let family = reader.family();
        let mut new = NewSession::new(family, reader.record().directory().unwrap_or_default());
        new.parent_session = Some(file_of(&reader).unwrap_or_else(|| self.id().to_owned()));
        new.persistence = Some(self.persistence.clone());
        let (header, record, persistence) = new.begin()?;
        let waits = persistence.waits_for_assistant && !has_assistant(view, &path)?;
        let memory = if waits { Some(Box::new(Store::in_memory()?)) } else { None };
        let id = record.id();
        let to = memory.as_deref().unwrap_or(&self.store);
        let from_store = reader.snapshot().store();
        let blobs = (!to.is_same(from_store)).then_some(from_store);
        let mut builder = Builder::new(to, record, blobs)?;
        builder.push(&header)?;
        let last = push_path(&reader, &path, &mut builder)?;
        push_labels(view, &path, last, &mut builder)?;
        let key = builder.finish(NewLeaf::ByRule)?;
        let mut session =
            Session::stored(&self.store, key, id, Reading::plain(family), persistence);
        session.waiting = memory;
        Ok(session)
    }
}

fn has_assistant(view: View<'_>, path: &PathRuns) -> Result<bool> {
    let assistant = leafline_import::MessageRole::Assistant.code();
    for ordinal in path.downwards().map(Ordinal::new) {
        if view.entry_node(ordinal)?.role == assistant {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Copies the path's lines except labels. Returns the last one's id.
fn push_path(
    reader: &SessionReader,
    path: &PathRuns,
    builder: &mut Builder<'_>,
) -> Result<Option<Vec<u8>>> {
    let mut last = None;
    reader.for_each(path.downwards().map(Ordinal::new), |entry| {
        if entry.kind() == EntryKind::Label {
            return Ok(());
        }
        let mut line = Vec::with_capacity(entry.line().len());
        if restringify_line(entry.line(), &mut line) {
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
    path: &PathRuns,
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
        let id = ids::fresh_entry_id(is_taken)?;
        builder.push(&label_line(&id, parent.as_deref(), setter.line(), &target, &label.label))?;
        parent = Some(id.into_bytes());
    }
    Ok(())
}

/// A label entry with the timestamp of the entry that set the label, whatever its form.
fn label_line(
    id: &str,
    parent: Option<&[u8]>,
    setter: &[u8],
    target: &[u8],
    label: &[u8],
) -> Vec<u8> {
    let mut line = br#"{"type":"label","id":"#.to_vec();
    ecma::write_string(id.as_bytes(), &mut line);
    line.extend_from_slice(br#","parentId":"#);
    match parent {
        Some(parent) => ecma::write_string(parent, &mut line),
        None => line.extend_from_slice(b"null"),
    }
    let decoded = text::decode(setter);
    let scan = Scanner::new().scan(text::trim_start_of_file(&decoded));
    if let Some(timestamp) = scan.members.timestamp.map(Raw::as_str) {
        line.extend_from_slice(br#","timestamp":"#);
        // It is a part of a line that was already parsed.
        let _ = ecma::restringify(timestamp, &mut line);
    }
    line.extend_from_slice(br#","targetId":"#);
    ecma::write_string(target, &mut line);
    line.extend_from_slice(br#","label":"#);
    ecma::write_string(label, &mut line);
    line.extend_from_slice(b"}\n");
    line
}
