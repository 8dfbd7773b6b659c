//! Rewriting: the few lines that change replace the old ones, in one transaction; the rest of the session is not
//! touched, however long it is.

use std::collections::BTreeMap;

use leafline_import::writing::{ExternalisedImage, Rules};
use leafline_import::{Effect, EntryKind, Family, Reading, SPARE_TITLE, ecma, read_line};

use super::super::index::prepare::{StoredLine, type_name};
use super::super::view::View;
use super::super::{Entry, Session, SessionReader};
use super::append::{attach_images, exact_id};
use super::rechunk::{StoredText, end_last_line, rechunk};
use crate::error::{Error, LiveError, Result};
use crate::store::Store;
use crate::store::blobs;
use crate::store::commit::{Batch, BlobReference, Edit, Rows};
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{ImportedBytes, SessionRecord};

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
        self.replace_lines(|reader, record| {
            names_itself =
                record.types.iter().any(|count| count.name == EntryKind::SessionInfo.name());
            record.title = Some(name.to_owned()).filter(|name| !name.is_empty());
            record.title_rank = 0;
            if record.title.is_none() {
                take_spare_title(reader, record)?;
            }
            let mut changes = Vec::new();
            let after = Ordinal::after(record.header.number());
            for ordinal in Ordinal::FIRST.up_to(after) {
                let Some(line) = reader.line(ordinal.raw())? else { break };
                let mut named = Vec::with_capacity(line.line().len());
                if family.name_line(line.line(), line.kind(), name, &mut named)? {
                    changes.push((ordinal, named));
                }
            }
            Ok(changes)
        })?;
        // Entries that name the session take precedence over the header.
        if names_itself { self.append_all(entries).map(drop) } else { Ok(()) }
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
        let mut batch = Batch::default();
        let mut edit = Edit::new(&mut batch, view.key(), view.record());
        let mut rows = edit.rows(&mut batch);
        let mut stored = BTreeMap::new();
        for (ordinal, line) in changes {
            let old = view.entry(ordinal)?;
            let (line, images) = as_stored(reader.family(), &rules, line);
            if old.line() == line {
                continue;
            }
            refuse_other_entry(view.reading(), &old, &line)?;
            count(&mut record, view.reading(), &old, &line);
            let line = exchange(view, ordinal, (&line, images), &mut record, &mut rows)?;
            stored.insert(ordinal, line);
        }
        if stored.is_empty() {
            return Ok((batch, 0));
        }
        let changed = stored.len() as u64;
        // Only as long as the session's bytes are those that were imported do they tell whether the last line has a line feed.
        let is_last_stored =
            Ordinal::last_of(record.lines).is_some_and(|last| stored.contains_key(&last));
        if !is_last_stored && let Some((ordinal, ended)) = end_last_line(view, &mut record)? {
            stored.insert(ordinal, ended);
        }
        rechunk_around(view, &mut stored, &mut rows)?;
        if !record.migrated && !record.known_family().saves_whole() {
            // The session's bytes no longer begin with the imported ones. Where the program saves the whole file, the
            // session keeps what identifies the imported one: nothing else does once lines are gone.
            record.imported = ImportedBytes { complete: true, ..ImportedBytes::default() };
        }
        edit.rewrite_lines(&mut batch, record)?;
        Ok((batch, changed))
    })
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
    let stands_outside = matches!(old.kind(), EntryKind::Header | EntryKind::Title);
    if (stands_outside && new_entry.kind() == old.kind()) || (is_same && sets_the_same) {
        return Ok(());
    }
    Err(Error::Live(LiveError::InvalidEntry {
        problem: format!(
            "the entry {} would be another one: a rewrite keeps type, role, id, parentId, timestamp, and what the entry sets",
            old.id().unwrap_or_default()
        ),
    }))
}
