//! Raw lines: they are kept as their program made them, and read as what a session's file has gained.

use std::collections::HashSet;

use leafline_import::format::EntryIds;
use leafline_import::leaf::LeafHint;
use leafline_import::lines::split;
use leafline_import::{Reading, read_line};

use super::super::Session;
use super::super::index::beginning::fill_from;
use super::super::index::finish::{Indexed, NewLeaf as LeafRule};
use super::super::index::growth::{changes_earlier_lines, last_that_leads};
use super::super::index::indexer::{Indexer, Start};
use super::super::index::prepare::{ParentName, Preparer};
use super::super::reader::SessionReader;
use super::super::view::View;
use super::append::{WORTH_A_CHUNK, address_of, exact_id};
use super::build::Builder;
use super::change::{Change, ImportedFile, Leaf, Tail};
use super::journal::{self, begin_epoch};
use super::rechunk::{seal, tail_dictionary};
use super::repeated;
use crate::error::{Error, Result, SessionError, StoreError};
use crate::store::Store;
use crate::store::clock::now;
use crate::store::commit::{Author, Batch, Extended, Extension};
use crate::store::compression::NO_DICTIONARY;
use crate::store::journal::Room;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;

/// How often a session is written again while others change it.
const ATTEMPTS: u32 = 16;

/// What [`Session::append_lines`] does with an entry whose id the session has already, or another of the new lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RepeatedIds {
    /// It is added. As in a file, the later of two entries with one id counts.
    #[default]
    Add,
    /// It is left out, so lines that are appended twice are stored once. A line without an id is left out too if the session has
    /// it in the same place: before an entry that is left out, or directly after it. So is the session's own header.
    Ignore,
}

/// What became of appended lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AppendedLines {
    /// Lines that were added, blank ones included.
    pub added: u64,
    /// Lines that were left out, since the session already had them.
    pub ignored: u64,
}

impl Session {
    /// Appends lines as a program has written them, of a session of any family: byte for byte, all of them or none, with one
    /// acknowledgement. They are read as what a session's file has gained: the leaf, titles and labels are then those of a
    /// file with these lines at its end. In an Opal session, whose file names the leaf in its first line, it is the last entry. A last line without a line feed gets one.
    ///
    /// Nothing in the lines is checked: what is not JSON, or names a parent that is not there, is kept as it would be in a
    /// file. An entry whose id was there before, or one that earlier lines name as their parent in vain, changes what those mean; then the
    /// session is written anew, which takes as long as to import it. Where entries have no ids, as in Codex's
    /// sessions, none is ever repeated.
    ///
    /// ```
    /// use leafline::live::RepeatedIds;
    /// use leafline::{Family, NewSession, Store};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let mut session = store.create_session(&NewSession::new(Family::Pi, "/work"))?;
    /// let line = br#"{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"Hi"}}"#;
    /// assert_eq!(session.append_lines(line, RepeatedIds::Ignore)?.added, 1);
    /// assert_eq!(session.append_lines(line, RepeatedIds::Ignore)?.ignored, 1);
    /// assert_eq!(session.reader()?.get_leaf_id()?.as_deref(), Some("a1"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`](crate::error::SessionError::NotFound) if the session was deleted meanwhile;
    /// [`StoreError::InUse`] if others keep changing a session that has to be written anew; those of the store.
    pub fn append_lines(&mut self, lines: &[u8], repeated: RepeatedIds) -> Result<AppendedLines> {
        if lines.is_empty() {
            return self.flush().map(|()| AppendedLines::default());
        }
        let mut lines = lines.to_vec();
        if !lines.ends_with(b"\n") {
            lines.push(b'\n');
        }
        let append = |store: &Store, place: (SessionKey, &str), tail: &mut Tail| {
            let lines = (&*lines, repeated);
            let Appended::Yes(appended, key) = append(store, place, tail, lines, Target::Session)?
            else {
                unreachable!("a session that is not looked for in a file takes the lines")
            };
            Ok((appended, key))
        };
        self.persist(|session| {
            // Raw lines do not wait: their program has written them already.
            if let Some(memory) = session.waiting.clone() {
                return session
                    .store_with(&memory, |copy, place| append(copy, place, &mut Tail::default()));
            }
            let mut tail = session.lines_tail.take().unwrap_or_default();
            let appended = append(&session.store, (session.key, &session.id), &mut tail);
            session.lines_tail = Some(tail);
            let (appended, key) = appended?;
            if let Some(key) = key {
                session.is_now(key);
            }
            Ok(appended)
        })
    }

    /// Appends whole lines to the session as those of the file at a path. Returns `false`, and appends nothing, if it is not
    /// that file any more, or if the file's bytes would not be those before and these.
    pub(crate) fn append_to_file(&mut self, path: &[u8], lines: &[u8]) -> Result<bool> {
        let mut tail = self.lines_tail.take().unwrap_or_default();
        let place = (self.key, &*self.id);
        let lines = (lines, RepeatedIds::Add);
        let appended = append(&self.store, place, &mut tail, lines, Target::File(path));
        self.lines_tail = Some(tail);
        match appended? {
            Appended::Yes(_, key) => {
                if let Some(key) = key {
                    self.is_now(key);
                }
                Ok(true)
            }
            Appended::NotThere => Ok(false),
        }
    }
}

/// What lines are appended to.
#[derive(Debug, Clone, Copy)]
enum Target<'p> {
    Session,
    /// The session, as long as it is the file at this path.
    File(&'p [u8]),
}

/// Whether the last line of a session has a line feed, so that nothing happens to it if others follow or are changed.
pub(super) fn ends_line(record: &SessionRecord) -> bool {
    record.imported.complete || record.migrated || record.bytes != record.imported.length
}

impl Target<'_> {
    /// Whether the session takes lines, so that they follow its bytes as they are.
    fn takes(self, view: View<'_>) -> Result<bool> {
        let Self::File(path) = self else { return Ok(true) };
        let record = view.record();
        let is_exact = ends_line(record) && !record.known_family().saves_whole();
        Ok(is_exact && view.snapshot().file_of(view.key())?.as_deref() == Some(path))
    }

    fn leaf(self) -> Leaf {
        match self {
            Self::Session => Leaf::OfFile,
            Self::File(_) => Leaf::Written { at: now() },
        }
    }
}

/// What became of lines.
enum Appended {
    /// They are there. The session has this key, if it has got another one.
    Yes(AppendedLines, Option<SessionKey>),
    /// The session is not what they were to be appended to.
    NotThere,
}

/// Appends to a stored session.
fn append(
    store: &Store,
    session: (SessionKey, &str),
    tail: &mut Tail,
    (lines, repeated): (&[u8], RepeatedIds),
    target: Target<'_>,
) -> Result<Appended> {
    loop {
        let mut is_there = true;
        let journaled = journal::append(store, session, tail, |reader, tail| {
            let view = reader.view();
            is_there = target.takes(view)?;
            if !is_there || !tail.is_empty() && !tail.is_raw() {
                return Ok(None);
            }
            // For entries that are only in the journal, the ids are known, but not the lines.
            if repeated == RepeatedIds::Ignore && !tail.is_empty() {
                return Ok(None);
            }
            let new = New::of(view, lines, repeated)?;
            let Some(plain) = Plain::of(view, tail, &new.text)? else { return Ok(None) };
            let (session, text, ids) = (address_of(view), new.text, plain.ids);
            let change = Change { session, text, ids, leaf: target.leaf(), header: None };
            Ok(Some((change, new.appended)))
        });
        match gone_or(journaled, target)? {
            None => return Ok(Appended::NotThere),
            Some(Some(appended)) => return Ok(Appended::Yes(appended, None)),
            Some(None) if !is_there => return Ok(Appended::NotThere),
            Some(None) => {}
        }
        let grown = append_to_tables(store, session, (lines, repeated), target);
        match gone_or(grown, target)? {
            None | Some(Some(Grown::NotThere)) => return Ok(Appended::NotThere),
            Some(Some(Grown::Yes(appended))) => return Ok(Appended::Yes(appended, None)),
            Some(Some(Grown::Otherwise)) => {
                let written = write_anew(store, session, (lines, repeated), target);
                return Ok(gone_or(written, target)?.unwrap_or(Appended::NotThere));
            }
            Some(None) => {}
        }
    }
}

/// What came of lines that were to follow those of a session in the tables.
enum Grown {
    Yes(AppendedLines),
    /// The session is not what they were to be appended to.
    NotThere,
    /// They change what earlier lines mean; nothing is written.
    Otherwise,
}

/// Appends to a stored session in a transaction of its own. `None` if there is a journal by now.
fn append_to_tables(
    store: &Store,
    session: (SessionKey, &str),
    (lines, repeated): (&[u8], RepeatedIds),
    target: Target<'_>,
) -> Result<Option<Grown>> {
    journal::write_tables(store, |snapshot, begins_epoch| {
        let reader = SessionReader::open(snapshot, session)?;
        if !target.takes(reader.view())? {
            return Ok((Batch::default(), Grown::NotThere));
        }
        let new = New::of(reader.view(), lines, repeated)?;
        let row = reader.snapshot().journal_row()?;
        let mut batch = Batch::default();
        if new.text.is_empty() {
            return Ok((batch, Grown::Yes(new.appended)));
        }
        let mut preparer = Preparer::new(reader.reading());
        if !grow(store, &mut preparer, reader, (&new.text, None), &mut batch)? {
            return Ok((Batch::default(), Grown::Otherwise));
        }
        if begins_epoch {
            begin_epoch(store, &row, Room::Written, &mut batch)?;
        }
        Ok((batch, Grown::Yes(new.appended)))
    })
}

/// `None` if a session is gone that was looked for in a file: the file may be another one.
fn gone_or<T>(result: Result<T>, target: Target<'_>) -> Result<Option<T>> {
    match (result, target) {
        (Err(Error::Session(SessionError::NotFound { .. })), Target::File(_)) => Ok(None),
        (result, _) => result.map(Some),
    }
}

/// Lines to add.
pub(super) struct New {
    pub(super) text: Vec<u8>,
    pub(super) appended: AppendedLines,
}

impl New {
    /// Those of the lines that are to be added to a session.
    fn of(view: View<'_>, lines: &[u8], repeated: RepeatedIds) -> Result<Self> {
        let are_repeated = match repeated {
            RepeatedIds::Add => Vec::new(),
            RepeatedIds::Ignore => repeated::find_repeated(view, lines)?,
        };
        Ok(Self::without(lines, &are_repeated))
    }

    /// The lines that the session does not have yet.
    fn without(lines: &[u8], are_repeated: &[bool]) -> Self {
        let mut new =
            Self { text: Vec::with_capacity(lines.len()), appended: AppendedLines::default() };
        let are_repeated = are_repeated.iter().copied().chain(std::iter::repeat(false));
        for (line, is_repeated) in split(lines).zip(are_repeated) {
            if is_repeated {
                new.appended.ignored += 1;
            } else {
                new.appended.added += 1;
                new.text.extend_from_slice(line);
            }
        }
        new
    }

    /// The first lines of a new session, each id once.
    pub(super) fn of_new(reading: Reading, lines: &[u8]) -> Self {
        let mut known = HashSet::new();
        let is_again = |line| entry_id(reading, line).is_some_and(|id| !known.insert(id));
        let are_repeated: Vec<bool> = split(lines).map(is_again).collect();
        Self::without(lines, &are_repeated)
    }
}

/// The id of a line that is an entry.
pub(super) fn entry_id(reading: Reading, line: &[u8]) -> Option<Vec<u8>> {
    let is_entry = read_line(reading, line, |line| line.kind().is_entry());
    if is_entry { exact_id(reading, line) } else { None }
}

/// Lines that only follow those of the session: each is one JSON record, and an entry has a new id and a parent that is there, or
/// none.
pub(super) struct Plain {
    /// The ids of the entries.
    pub(super) ids: Vec<Vec<u8>>,
    pub(super) entries: u64,
    /// Whether they refer to blobs whose bytes are elsewhere.
    pub(super) refers: bool,
}

impl Plain {
    /// `None` if the tables have to tell.
    pub(super) fn of(view: View<'_>, tail: &Tail, text: &[u8]) -> Result<Option<Self>> {
        let record = view.record();
        if record.orphans > 0 {
            return Ok(None);
        }
        let dictionary = view.snapshot().store().dictionary(NO_DICTIONARY)?;
        let prepared = Preparer::new(view.reading()).prepare(text, false, &dictionary);
        let names_by_ordinal = record.known_family().entry_ids() == EntryIds::Ordinals;
        let mut ids: Vec<Vec<u8>> = Vec::new();
        let mut known = HashSet::new();
        let mut entries = 0;
        for line in &prepared.lines {
            if line.is_recovered || line.goes_on || line.ends_malformed {
                return Ok(None);
            }
            entries += u64::from(line.kind.is_entry());
            if !line.kind.is_entry() || names_by_ordinal {
                continue;
            }
            let name = |range: &std::ops::Range<usize>| {
                prepared.names.get(range.clone()).unwrap_or_default().to_vec()
            };
            let is_there = |id: &[u8], known: &HashSet<Vec<u8>>| -> Result<bool> {
                Ok(known.contains(id) || tail.has(id) || view.find(id)?.is_some())
            };
            let Some(id) = line.id.as_ref().map(name) else { return Ok(None) };
            let is_placed = match &line.parent {
                ParentName::None => true,
                ParentName::Id(parent) => is_there(&name(parent), &known)?,
                ParentName::NoId | ParentName::Previous => false,
            };
            if !is_placed || is_there(&id, &known)? {
                return Ok(None);
            }
            known.insert(id.clone());
            ids.push(id);
        }
        let refers = prepared.blobs.iter().any(|blob| blob.bytes.is_none());
        Ok(Some(Self { ids, entries, refers }))
    }
}

/// Adds lines to a session as those that its file has gained, and notes what the store has of the file then, if they come from
/// one. `false` if they change what earlier lines mean: the batch is of no use then.
pub(super) fn grow(
    store: &Store,
    preparer: &mut Preparer,
    reader: SessionReader,
    (text, file): (&[u8], Option<&ImportedFile>),
    batch: &mut Batch,
) -> Result<bool> {
    let view = reader.view();
    let (key, before) = (view.key(), view.record().clone());
    let mut extension = Extension::new(batch, key, &before);
    let mut record = before.clone();
    fill_from(&mut record, view, text)?;
    let dictionary = tail_dictionary(view, Ordinal::after(record.lines))?;
    let prepared = preparer.prepare(text, false, &dictionary);
    let is_worth_a_chunk = prepared.text_bytes >= WORTH_A_CHUNK;
    seal(view, &mut record, is_worth_a_chunk, (&mut extension, batch))?;
    let pointers = view.rows().pointers()?;
    let (leaf, last) = (view.leaf()?, last_that_leads(view)?);
    let current = store.committed()?;
    let snapshot = Box::new(reader.into_snapshot());
    let start = if before.known_family().saves_whole() {
        Start::Appended { leaf, snapshot, above: None }
    } else {
        let (hint, snapshot) = (LeafHint::None, Some(snapshot));
        Start::Grown { leaf: last, hint, pointers, snapshot }
    };
    let mut indexer = Indexer::new(store, key, record, start, dictionary.id);
    let mut rows = extension.rows(batch);
    indexer.add(prepared, &mut rows)?;
    let Indexed { mut record, leaf, needs_resolving, .. } = indexer.finish(&mut rows)?;
    if needs_resolving || changes_earlier_lines(View::new(current.rows(key), &before), &rows)? {
        return Ok(false);
    }
    let source = file.map(|file| {
        record.imported = file.imported;
        (file.path.clone(), file.source.clone())
    });
    let (author, is_sealed) = (Author::Here, is_worth_a_chunk);
    let extended = Extended { record, leaf, author, is_sealed, source };
    extension.finish(batch, extended)?;
    Ok(true)
}

/// The leaf of a session that is written anew with lines at its end. Where the program writes the whole file whenever it adds
/// an entry, the file's first line names the leaf, and lines alone do not: it is the last entry, as if the program had added
/// them.
fn leaf_rule(view: View<'_>, text: &[u8]) -> Result<LeafRule> {
    if !view.record().known_family().saves_whole() {
        return Ok(LeafRule::ByRule);
    }
    let dictionary = view.snapshot().store().dictionary(NO_DICTIONARY)?;
    let prepared = Preparer::new(view.reading()).prepare(text, false, &dictionary);
    let last = prepared.lines.iter().rposition(|line| line.kind.is_entry());
    let last = last.map(|place| Ordinal::new(view.record().lines + place as u64));
    Ok(LeafRule::Line(last.or(view.leaf()?)))
}

/// Writes the session again, with the new lines at its end, until nobody has changed it meanwhile.
fn write_anew(
    store: &Store,
    session: (SessionKey, &str),
    (lines, repeated): (&[u8], RepeatedIds),
    target: Target<'_>,
) -> Result<Appended> {
    for _ in 0..ATTEMPTS {
        let reader = SessionReader::open(store.snapshot()?, session)?;
        if !target.takes(reader.view())? {
            return Ok(Appended::NotThere);
        }
        let new = New::of(reader.view(), lines, repeated)?;
        let mut builder = Builder::as_file_in_place_of(store, reader.view(), &new.text)?;
        // Of several records on a line only the last has the line feed.
        let mut line = Vec::new();
        reader.lines(0, |record| {
            line.extend_from_slice(record.line());
            if line.ends_with(b"\n") {
                builder.push(&line)?;
                line.clear();
            }
            Ok(true)
        })?;
        // The last line of an imported file may lack it.
        if !line.is_empty() {
            line.push(b'\n');
        }
        builder.push(&line)?;
        builder.push(&new.text)?;
        if let Some(key) = builder.finish_in_place(leaf_rule(reader.view(), &new.text)?)? {
            return Ok(Appended::Yes(new.appended, Some(key)));
        }
    }
    Err(StoreError::InUse { path: store.path().to_owned() }.into())
}
