//! Rewriting: the few lines that change replace the old ones, in one transaction; the rest of the session is not
//! touched, however long it is.

use std::collections::BTreeMap;

use leafline_import::writing::{ExternalisedImage, Rules};
use leafline_import::{
    Effect, EntryKind, Family, Reading, SPARE_TITLE, UsageReport, ecma, read_line,
};

use super::super::index::prepare::{StoredLine, type_name};
use super::super::view::View;
use super::super::{Entry, Session, SessionReader};
use super::append::{address_of, attach_images, exact_id};
use super::change::{Change, HeaderChange, Leaf, Tail};
use super::journal;
use super::raw::ends_line;
use super::rechunk::{StoredText, end_last_line, rechunk};
use crate::error::{Corruption, Error, LiveError, Result, SessionError};
use crate::store::Store;
use crate::store::blobs;
use crate::store::clock::now;
use crate::store::commit::{Batch, BlobReference, Edit, Rows};
use crate::store::ordinal::Ordinal;
use crate::store::record::Record;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{ImportedBytes, NAMED_HERE, SessionRecord};

impl Session {
    /// Names the session; an empty name clears its name. pi appends a `session_info` entry, trimmed; omp writes the
    /// title into the header; Opal has it in the metadata (pi document, `appendSessionInfo`; omp document, persistence;
    /// Opal session document, state fields). In a Claude Code session what `/rename` writes is appended; the name cannot be cleared, which is an error.
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) in a session of a family that is not
    /// written here; those of the store.
    pub fn set_session_name(&mut self, name: &str) -> Result<()> {
        let family = self.reading.family;
        let entries = family.name_entries(name);
        if !family.names_in_header() {
            if entries.is_empty() {
                return Err(self.wrong_family("name to be given"));
            }
            return self.append_all(entries).map(drop);
        }
        let mut names_itself = false;
        let time = now();
        self.replace_header(|reader, record| {
            names_itself =
                record.types.iter().any(|count| count.name == EntryKind::SessionInfo.name());
            record.title = Some(name.to_owned()).filter(|name| !name.is_empty());
            record.title_rank = NAMED_HERE;
            if record.title.is_none() {
                take_spare_title(reader, record)?;
            }
            let mut changes = Vec::new();
            let after = Ordinal::after(record.header.number());
            for ordinal in Ordinal::FIRST.up_to(after) {
                let Some(line) = reader.line(ordinal.raw())? else { break };
                let mut named = Vec::with_capacity(line.line().len());
                let name = (name, time);
                if family.name_line(line.line(), line.kind(), name, &mut named)? {
                    changes.push((ordinal, named));
                }
            }
            Ok(changes)
        })?;
        // Entries that name the session take precedence over the header.
        if names_itself { self.append_all(entries).map(drop) } else { Ok(()) }
    }

    /// Replaces lines outside the tree with others. Facts that these state are changed in the record: the title, the
    /// directory, the time of creation. `find` may be called again, with what others have changed meanwhile.
    pub(crate) fn replace_header(
        &mut self,
        mut find: impl FnMut(&SessionReader, &mut SessionRecord) -> Result<Vec<(Ordinal, Vec<u8>)>>,
    ) -> Result<()> {
        self.persist(|session| {
            let (store, place) = (session.place(), (session.key, &*session.id));
            let rules = session.persistence.rules;
            let journaled = journal::append(store, place, &mut Tail::default(), |reader, tail| {
                // What came before it is folded first where it may say the same.
                if tail.is_raw() || tail.names() {
                    return Ok(None);
                }
                let mut record = reader.record().clone();
                let lines = find(reader, &mut record)?;
                // A session without a title of its own has one of entries, and the tables do not have all.
                if !tail.is_empty() && record.title.is_none() {
                    return Ok(None);
                }
                let header = HeaderChange::of(reader, &rules, &record, lines)?;
                Ok(header.map(|header| (header.into_change(reader.view()), ())))
            });
            match journaled? {
                Some(()) => Ok(()),
                None => replace_lines(store, place, rules, find).map(drop),
            }
        })
    }

    /// Puts a title line in the place of the one with which the file at a path begins, and which is as long: the journal
    /// gets the line and nothing else is written. Returns `false`, and writes nothing, if the session is not that file any
    /// more, or if it does not begin so.
    pub(crate) fn rewrite_title_line(&mut self, path: &[u8], line: &[u8]) -> Result<bool> {
        let (store, place) = (&self.store, (self.key, &*self.id));
        let rules = Rules::keep_everything();
        let mut fits = true;
        let journaled = journal::append(store, place, &mut Tail::default(), |reader, _| {
            fits = begins_with_title_line(reader, path, line)?;
            if !fits {
                return Ok(None);
            }
            let lines = vec![(Ordinal::FIRST, line.to_vec())];
            let header = HeaderChange::of(reader, &rules, reader.record(), lines)?;
            Ok(header.map(|header| (header.into_change(reader.view()), ())))
        });
        let written = match journaled {
            Ok(Some(())) => return Ok(true),
            Ok(None) if !fits => return Ok(false),
            Ok(None) => store.write(|snapshot| {
                let reader = SessionReader::open(snapshot, place)?;
                let mut batch = Batch::default();
                if !begins_with_title_line(&reader, path, line)? {
                    return Ok((batch, false));
                }
                let mut record = reader.record().clone();
                take_title_of_first_line(&reader, line, &mut record)?;
                let line = (Ordinal::FIRST, (line.to_vec(), Vec::new()));
                put_lines(reader.view(), record, std::iter::once(line), &mut batch)?;
                Ok((batch, true))
            }),
            Err(error) => Err(error),
        };
        match written {
            Err(Error::Session(SessionError::NotFound { .. })) => Ok(false),
            written => written,
        }
    }

    /// Replaces lines with others, in one transaction. Returns how many changed.
    pub(crate) fn replace_lines(
        &mut self,
        find: impl FnOnce(&SessionReader, &mut SessionRecord) -> Result<Vec<(Ordinal, Vec<u8>)>>,
    ) -> Result<u64> {
        self.persist(|session| {
            let place = (session.key, &*session.id);
            replace_lines(session.place(), place, session.persistence.rules, find)
        })
    }
}

/// Whether the session is the file at a path, and begins with a title line that this one can replace in place.
fn begins_with_title_line(reader: &SessionReader, path: &[u8], line: &[u8]) -> Result<bool> {
    let view = reader.view();
    let is_there = view.snapshot().file_of(view.key())?.as_deref() == Some(path);
    if !is_there || view.record().lines == 0 || !ends_line(view.record()) {
        return Ok(false);
    }
    let old = view.entry(Ordinal::FIRST)?;
    let states_title = read_line(view.reading(), line, |line| {
        line.kind() == EntryKind::Title && matches!(line.effect(), Some(Effect::Title { .. }))
    });
    Ok(old.kind() == EntryKind::Title && old.line().len() == line.len() && states_title)
}

/// Notes the title that a new first line states, if it is a title line: unless an entry behind it names the session.
fn take_title_of_first_line(
    reader: &SessionReader,
    line: &[u8],
    record: &mut SessionRecord,
) -> Result<()> {
    let reading = reader.view().reading();
    let effect = read_line(reading, line, |line| {
        if line.kind() == EntryKind::Title { line.effect() } else { None }
    });
    let is_named = record.types.iter().any(|count| count.name == EntryKind::SessionInfo.name());
    let Some(Effect::Title { title, rank }) = effect.filter(|_| !is_named) else { return Ok(()) };
    (record.title, record.title_rank) = (title, rank);
    if record.title.is_none() { take_spare_title(reader, record) } else { Ok(()) }
}

/// A session whose name is taken away has the title that counts for want of another, if one of its lines gives it.
fn take_spare_title(reader: &SessionReader, record: &mut SessionRecord) -> Result<()> {
    if !record.types.iter().any(|count| count.name == "compaction") {
        return Ok(());
    }
    reader.lines(0, |line| {
        if line.kind() == EntryKind::Compaction {
            let effect = read_line(reader.view().reading(), line.line(), |line| line.effect());
            if let Some(Effect::Title { title, rank: SPARE_TITLE }) = effect {
                record.title = title;
                record.title_rank = SPARE_TITLE;
            }
        }
        Ok(true)
    })
}

fn invalid(problem: impl std::fmt::Display) -> Error {
    Error::Live(LiveError::InvalidEntry {
        problem: format!("this cannot be written as an entry: {problem}"),
    })
}

/// JSON as a line that a program would write.
pub(crate) fn line_of(json: &str) -> Result<Vec<u8>> {
    let mut line = Vec::with_capacity(json.len() + 1);
    ecma::restringify(json, &mut line).map_err(invalid)?;
    line.push(b'\n');
    Ok(line)
}

/// A line of a family as it is stored under the rules, and the images that were taken out of it.
pub(super) fn as_stored(
    family: Family,
    rules: &Rules,
    line: Vec<u8>,
) -> (Vec<u8>, Vec<ExternalisedImage>) {
    let text = std::str::from_utf8(&line).ok();
    let changed =
        text.and_then(|text| family.apply_to_line(rules, text.trim_end(), &mut blobs::hash));
    match changed {
        Some((text, images)) => ((text + "\n").into_bytes(), images),
        None => (line, Vec::new()),
    }
}

fn replace_lines(
    store: &Store,
    session: (SessionKey, &str),
    rules: Rules,
    find: impl FnOnce(&SessionReader, &mut SessionRecord) -> Result<Vec<(Ordinal, Vec<u8>)>>,
) -> Result<u64> {
    store.write(|snapshot| {
        let reader = SessionReader::open(snapshot, session)?;
        let view = reader.view();
        let mut record = view.record().clone();
        let changes = find(&reader, &mut record)?;
        let changes = changes.into_iter();
        let lines =
            changes.map(|(ordinal, line)| (ordinal, as_stored(reader.family(), &rules, line)));
        let mut batch = Batch::default();
        let changed = put_lines(view, record, lines, &mut batch)?;
        Ok((batch, changed))
    })
}

/// Puts lines, as they are stored, in the place of others. Returns how many changed.
fn put_lines(
    view: View<'_>,
    mut record: SessionRecord,
    lines: impl Iterator<Item = (Ordinal, (Vec<u8>, Vec<ExternalisedImage>))>,
    batch: &mut Batch,
) -> Result<u64> {
    let mut edit = Edit::new(batch, view.key(), view.record());
    let mut rows = edit.rows(batch);
    let mut stored = BTreeMap::new();
    let mut changes_usage = false;
    for (ordinal, (line, images)) in lines {
        let old = view.entry(ordinal)?;
        if old.line() == line {
            continue;
        }
        refuse_other_entry(view.reading(), &old, &line)?;
        count(&mut record, view.reading(), &old, &line);
        changes_usage |= usage(view.reading(), old.line()) != usage(view.reading(), &line);
        let line = exchange(view, ordinal, (&line, images), &mut record, &mut rows)?;
        stored.insert(ordinal, line);
    }
    if stored.is_empty() {
        return Ok(0);
    }
    let changed = stored.len() as u64;
    // Only as long as the session's bytes are those that were imported do they tell whether the last line has a line feed.
    let is_last_stored =
        Ordinal::last_of(record.lines).is_some_and(|last| stored.contains_key(&last));
    if !is_last_stored && let Some((ordinal, ended)) = end_last_line(view, &mut record)? {
        stored.insert(ordinal, ended);
    }
    if changes_usage {
        rows.forget_usage();
    }
    rechunk_around(view, &mut stored, &mut rows)?;
    if !record.migrated && !record.known_family().saves_whole() {
        // The session's bytes no longer begin with the imported ones. Where the program saves the whole file, the
        // session keeps what identifies the imported one: nothing else does once lines are gone.
        record.imported = ImportedBytes { complete: true, ..ImportedBytes::default() };
    }
    edit.rewrite_lines(batch, record)?;
    Ok(changed)
}

impl HeaderChange {
    /// The change of the lines and of what the record says then; `None` if the tables have to be changed at once.
    fn of(
        reader: &SessionReader,
        rules: &Rules,
        record: &SessionRecord,
        lines: Vec<(Ordinal, Vec<u8>)>,
    ) -> Result<Option<Self>> {
        let view = reader.view();
        let mut changed = Vec::new();
        for (ordinal, line) in lines {
            let old = view.entry(ordinal)?;
            let (line, images) = as_stored(reader.family(), rules, line);
            if old.line() == line {
                continue;
            }
            if !stands_outside(old.kind()) || !images.is_empty() {
                return Ok(None);
            }
            refuse_other_entry(view.reading(), &old, &line)?;
            changed.push((ordinal.raw(), line));
        }
        if changed.is_empty() {
            return Ok(None);
        }
        let before = view.record();
        let is_titled = (&before.title, before.title_rank) != (&record.title, record.title_rank);
        Ok(Some(Self {
            lines: changed,
            title: is_titled.then(|| (record.title.clone(), record.title_rank)),
            cwd: (before.cwd != record.cwd).then(|| record.cwd.clone()),
            created: (before.created != record.created).then_some(record.created),
        }))
    }

    fn into_change(self, view: View<'_>) -> Change {
        let (text, ids, leaf) = (Vec::new(), Vec::new(), Leaf::Written { at: now() });
        Change { session: address_of(view), text, ids, leaf, header: Some(self) }
    }

    /// Makes the change in the tables.
    pub(super) fn fold(&self, reader: &SessionReader, batch: &mut Batch) -> Result<()> {
        let mut record = reader.record().clone();
        if let Some((title, rank)) = &self.title {
            record.title.clone_from(title);
            record.title_rank = *rank;
        }
        if let Some(cwd) = &self.cwd {
            record.cwd.clone_from(cwd);
        }
        if let Some(created) = self.created {
            record.created = created;
        }
        if self.title.is_none()
            && let Some((_, line)) = self.lines.iter().find(|(ordinal, _)| *ordinal == 0)
        {
            take_title_of_first_line(reader, line, &mut record)?;
        }
        let lines = self.lines.iter();
        let lines =
            lines.map(|(ordinal, line)| (Ordinal::new(*ordinal), (line.clone(), Vec::new())));
        match put_lines(reader.view(), record, lines, batch) {
            Ok(_) => Ok(()),
            // It was possible when it was written to the journal.
            Err(Error::Live(problem)) => Err(Corruption {
                table: Change::TABLE,
                place: reader.id(),
                problem: problem.to_string(),
            }
            .into()),
            Err(error) => Err(error),
        }
    }
}

/// Whether lines of a kind are outside the tree.
fn stands_outside(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Header | EntryKind::Title)
}

/// Rewrites the chunks that hold changed lines.
fn rechunk_around(
    view: View<'_>,
    stored: &mut BTreeMap<Ordinal, StoredText>,
    rows: &mut Rows<'_>,
) -> Result<()> {
    while let Some((&ordinal, _)) = stored.first_key_value() {
        let mut chunks = view.chunks();
        let first = chunks.holding(ordinal)?.first();
        rechunk(view, first, chunks.position(), |line| stored.remove(&line.ordinal), rows)?;
        stored.remove(&ordinal);
    }
    Ok(())
}

/// Notes the blobs that a line gains and loses. Returns the line as it is stored.
fn exchange(
    view: View<'_>,
    ordinal: Ordinal,
    (line, images): (&[u8], Vec<ExternalisedImage>),
    record: &mut SessionRecord,
    rows: &mut Rows<'_>,
) -> Result<StoredText> {
    let mut new = StoredLine::of(line);
    attach_images(&mut new.blobs, images);
    let old = view.line(ordinal)?;
    record.text_bytes =
        (record.text_bytes + new.text.len() as u64).saturating_sub(old.text().len() as u64);
    for hole in &old.holes {
        rows.release(hole.hash, hole.kind.is_cut());
    }
    for (hole, blob) in new.holes.iter().zip(new.blobs) {
        let was_cut = hole.kind.is_cut();
        rows.refer(BlobReference { hash: blob.hash, bytes: blob.bytes, was_cut });
    }
    Ok(StoredText { text: new.text, holes: new.holes })
}

/// Corrects the counted bytes, and the first prompt.
fn count(record: &mut SessionRecord, reading: Reading, old: &Entry, new: &[u8]) {
    let (before, after) = (old.line().len() as u64, new.len() as u64);
    record.bytes = (record.bytes + after).saturating_sub(before);
    let name = type_name(reading, new);
    record.types.change_bytes(&name, before, after);
    if let (Some(Effect::Prompt(before)), Some(Effect::Prompt(after))) =
        (effect(reading, old.line()), effect(reading, new))
        && record.first_prompt.as_ref() == Some(&before)
    {
        record.first_prompt = Some(after);
    }
}

fn usage(reading: Reading, line: &[u8]) -> Vec<UsageReport> {
    read_line(reading, line, |line| line.usage())
}

fn effect(reading: Reading, line: &[u8]) -> Option<Effect> {
    read_line(reading, line, |line| line.effect())
}

/// Refuses a line that would be another entry, or set something else: the rows of the tree describe the old one.
fn refuse_other_entry(reading: Reading, old: &Entry, new: &[u8]) -> Result<()> {
    let new_entry = Entry::new(reading, old.place(), new.to_vec());
    let is_same = new_entry.kind() == old.kind()
        && new_entry.role() == old.role()
        && new_entry.timestamp() == old.timestamp()
        && exact_id(reading, new) == exact_id(reading, old.line())
        && new_entry.parent_id() == old.parent_id();
    let effects = (effect(reading, old.line()), effect(reading, new));
    let sets_the_same = match &effects {
        (Some(Effect::Prompt(_)) | None, Some(Effect::Prompt(_)) | None) => true,
        (before, after) => before == after,
    };
    if (stands_outside(old.kind()) && new_entry.kind() == old.kind()) || (is_same && sets_the_same)
    {
        return Ok(());
    }
    Err(Error::Live(LiveError::InvalidEntry {
        problem: format!(
            "the entry {} would be another one: a rewrite keeps type, role, id, parentId, timestamp, and what the entry sets",
            old.id().unwrap_or_default()
        ),
    }))
}
