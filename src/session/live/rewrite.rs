//! Rewriting: the few lines that change take the old ones' place, in one transaction; the rest of the session is
//! not touched, however long it is.

use std::collections::BTreeMap;

use leafline_import::scan::Raw;
use leafline_import::{EntryKind, Family, MessageRole, ecma, text};
use serde::Serialize;

use super::super::index::effect::{Effect, effect_of};
use super::super::index::prepare::{StoredLine, type_name};
use super::super::index::reading::{Reading, read_line};
use super::super::{Entry, Session, SessionReader};
use super::append::{commit_record, exact_id};
use super::rechunk::{StoredText, end_last_line, rechunk};
use super::tool_call::with_arguments;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::session_record::{ImportedBytes, SessionRecord};
use crate::store::slice::{BlobGain, Slice};
use crate::store::snapshot::Snapshot;

impl Session {
    /// Names the session; an empty name takes its name away. pi appends a `session_info` entry, trimmed; omp writes the
    /// title into the header; Opal has it in the metadata (pi document, `appendSessionInfo`; omp document, persistence;
    /// Opal session document, state fields).
    ///
    /// # Errors
    ///
    /// [`Error::WrongFamily`] in a session of Claude Code's; those of the store.
    pub fn set_session_name(&mut self, name: &str) -> Result<()> {
        match self.reading.family {
            Family::Omp => {}
            Family::Opal => return self.set_title(name),
            Family::Claude => return Err(self.wrong_family("name to be given")),
            _ => return self.append_session_info(name).map(drop),
        }
        let title = json(name)?;
        let names_itself = self.persist(|session| {
            let mut names_itself = false;
            replace_lines(session.place(), (session.key, &session.id), |reader, record| {
                names_itself = record.types.iter().any(|count| count.name == "session_info");
                record.title = Some(name.to_owned()).filter(|name| !name.is_empty());
                let mut changes = Vec::new();
                // A title line ahead of the header counts before it.
                for ordinal in 0..=record.header {
                    let Some(line) = reader.line(ordinal)? else { break };
                    match line.kind() {
                        EntryKind::Title => {
                            changes.push((ordinal, title_line(line.line(), &title)?))
                        }
                        EntryKind::Header => {
                            changes.push((ordinal, with_member(line.line(), "title", &title)?));
                        }
                        _ => {}
                    }
                }
                Ok(changes)
            })?;
            Ok(names_itself)
        })?;
        // Entries that name the session, which pi writes, count after the header.
        if names_itself { self.append_session_info(name).map(drop) } else { Ok(()) }
    }

    fn set_title(&mut self, name: &str) -> Result<()> {
        let title = json(name)?;
        self.change_metadata(|metadata| {
            if name.is_empty() {
                metadata.remove("title");
            } else {
                metadata.set("title", &title)?;
            }
            Ok(())
        })
    }

    /// Moves the session to another working directory: the header says so from now on (omp document, move
    /// operations).
    ///
    /// # Errors
    ///
    /// [`Error::WrongFamily`] in a session that is none of pi's or omp's; those of the store.
    pub fn move_to(&mut self, cwd: &str) -> Result<()> {
        self.only_pi_omp("move to another directory")?;
        self.set_header("cwd", &json(cwd)?, |record| record.cwd = Some(cwd.to_owned()))
    }

    fn set_header(
        &mut self,
        member: &'static str,
        value: &str,
        note: impl FnOnce(&mut SessionRecord),
    ) -> Result<()> {
        self.persist(|session| {
            replace_lines(session.place(), (session.key, &session.id), |reader, record| {
                note(record);
                let Some(header) = reader.get_header()? else { return Ok(Vec::new()) };
                Ok(vec![(header.ordinal(), with_member(header.line(), member, value)?)])
            })
        })?;
        Ok(())
    }

    /// Gives a tool call other arguments, in the last message of the assistant that makes it. Answers whether there
    /// is such a message (omp document, tool-call argument rewrites).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidEntry`] where the arguments cannot be written as JSON; [`Error::WrongFamily`] in a session that is
    /// none of pi's or omp's; those of the store.
    pub fn rewrite_tool_call_arguments(
        &mut self,
        tool_call_id: &str,
        arguments: &impl Serialize,
    ) -> Result<bool> {
        self.only_pi_omp("rewrite of tool-call arguments")?;
        let arguments = serde_json::to_string(arguments).map_err(invalid)?;
        let changed = self.persist(|session| {
            replace_lines(session.place(), (session.key, &session.id), |reader, _| {
                find_tool_call(reader, tool_call_id, &arguments)
            })
        })?;
        Ok(changed > 0)
    }

    /// Rewrites entries: `change` is shown each one and answers its new JSON, or nothing to leave it (omp document,
    /// `rewriteEntries`). All changes are one transaction. Answers how many there are.
    ///
    /// `change` is called inside the write transaction, so it must not write to this store itself.
    ///
    /// An entry stays what it is: its type, role, id, parent and time, and what it sets (a label, a name, settings).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidEntry`] for JSON that is no such entry: nothing is changed then. [`Error::WrongFamily`] in a session
    /// that is none of pi's or omp's. What `change` fails with.
    pub fn rewrite_entries(
        &mut self,
        mut change: impl FnMut(&Entry) -> Result<Option<String>>,
    ) -> Result<u64> {
        self.only_pi_omp("rewrite of entries")?;
        self.persist(|session| {
            replace_lines(session.place(), (session.key, &session.id), |reader, _| {
                let mut changes = Vec::new();
                reader.lines(0, |entry| {
                    if entry.kind().is_entry()
                        && let Some(json) = change(&entry)?
                    {
                        changes.push((entry.ordinal(), line_of(&json)?));
                    }
                    Ok(true)
                })?;
                Ok(changes)
            })
        })
    }
}

fn invalid(problem: impl std::fmt::Display) -> Error {
    Error::InvalidEntry { problem: format!("this cannot be written as an entry: {problem}") }
}

fn json(text: &str) -> Result<String> {
    serde_json::to_string(text).map_err(invalid)
}

/// JSON as a line that a program would write.
fn line_of(json: &str) -> Result<Vec<u8>> {
    let mut line = Vec::with_capacity(json.len() + 1);
    ecma::restringify(json, &mut line).map_err(invalid)?;
    line.push(b'\n');
    Ok(line)
}

/// A line with another value of a member, its other bytes as a program writes them.
fn with_member(line: &[u8], member: &'static str, value: &str) -> Result<Vec<u8>> {
    let decoded = text::decode(line);
    let mut document =
        ecma::Document::parse(text::trim_start_of_file(&decoded)).map_err(invalid)?;
    document.set(member, value.to_owned());
    let mut new = Vec::with_capacity(line.len() + value.len());
    document.write(&mut new);
    new.push(b'\n');
    Ok(new)
}

/// A title line with another title. It keeps its length where its padding allows, since omp writes over it in place.
fn title_line(line: &[u8], title: &str) -> Result<Vec<u8>> {
    let decoded = text::decode(line);
    let shown = text::trim_start_of_file(&decoded);
    let mut document = ecma::Document::parse(shown).map_err(invalid)?;
    document.set("title", title.to_owned());
    let padding = document.get("pad").is_some_and(Raw::is_string);
    let written = |document: &ecma::Document<'_>| {
        let mut new = Vec::with_capacity(line.len());
        document.write(&mut new);
        new.push(b'\n');
        new
    };
    if padding {
        document.set("pad", "\"\"".to_owned());
        let room = line.len().saturating_sub(written(&document).len());
        document.set("pad", format!("\"{}\"", " ".repeat(room)));
    }
    Ok(written(&document))
}

/// The last message of the assistant with this tool call, with other arguments.
fn find_tool_call(
    reader: &SessionReader,
    id: &str,
    arguments: &str,
) -> Result<Vec<(u64, Vec<u8>)>> {
    let assistant = MessageRole::Assistant.code();
    for ordinal in (0..reader.record().lines).rev() {
        if reader.node(ordinal)?.role != assistant {
            continue;
        }
        let entry = reader.known_line(ordinal)?;
        if let Some(json) = with_arguments(&text::decode(entry.line()), id, arguments) {
            return Ok(vec![(ordinal, line_of(&json)?)]);
        }
    }
    Ok(Vec::new())
}

/// Puts lines in the place of others, in one transaction. Answers how many changed.
pub(super) fn replace_lines(
    store: &Store,
    session: (u64, &str),
    find: impl FnOnce(&SessionReader, &mut SessionRecord) -> Result<Vec<(u64, Vec<u8>)>>,
) -> Result<u64> {
    store.write(|snapshot| {
        let reader = SessionReader::open(snapshot, session)?;
        let mut record = reader.record().clone();
        let changes = find(&reader, &mut record)?;
        let mut slice = Slice::default();
        let mut stored = BTreeMap::new();
        for (ordinal, line) in changes {
            let old = reader.known_line(ordinal)?;
            if old.line() == line {
                continue;
            }
            refuse_other_entry(reader.reading(), &old, &line)?;
            count(&mut record, reader.reading(), &old, &line);
            stored.insert(ordinal, exchange(&reader, ordinal, &line, &mut record, &mut slice)?);
        }
        if stored.is_empty() {
            return Ok((slice, 0));
        }
        let changed = stored.len() as u64;
        // As long as the session's bytes are those that were imported, they tell whether the last line has an end.
        let last = record.lines.saturating_sub(1);
        if !stored.contains_key(&last)
            && let Some((ordinal, ended)) = end_last_line(&reader, &mut record)?
        {
            stored.insert(ordinal, ended);
        }
        rechunk_around(&reader, &mut stored, &mut slice)?;
        if !record.migrated && reader.family() != Family::Opal {
            // The session's bytes no longer begin with those that were imported. A session of Opal's keeps what tells the
            // imported file: nothing else does once lines are gone.
            record.imported = ImportedBytes { complete: true, ..ImportedBytes::default() };
        }
        record.changed_at = record.revision + 1;
        commit_record(reader.key(), record, reader.leaf_ordinal()?, &mut slice);
        Ok((slice, changed))
    })
}

/// Rewrites the chunks that hold changed lines.
fn rechunk_around(
    reader: &SessionReader,
    stored: &mut BTreeMap<u64, StoredText>,
    slice: &mut Slice,
) -> Result<()> {
    while let Some((&ordinal, _)) = stored.first_key_value() {
        let (first, bytes) = reader.snapshot().chunk_of(reader.key(), ordinal)?;
        let chunk = Snapshot::parse_holding(reader.key(), (first, &bytes), ordinal)?;
        let behind = first + chunk.line_count();
        rechunk(reader, first, behind, |line| stored.remove(&line.ordinal), slice)?;
        stored.remove(&ordinal);
    }
    Ok(())
}

/// Notes the blobs that a line gains and loses, and answers it as it is stored.
fn exchange(
    reader: &SessionReader,
    ordinal: u64,
    line: &[u8],
    record: &mut SessionRecord,
    slice: &mut Slice,
) -> Result<StoredText> {
    let new = StoredLine::of(line);
    let old = reader.snapshot().line(reader.key(), ordinal, None)?;
    record.text_bytes =
        (record.text_bytes + new.text.len() as u64).saturating_sub(old.text().len() as u64);
    slice.released.extend(old.holes.iter().map(|hole| (hole.hash, hole.kind.is_cut())));
    for (hole, blob) in new.holes.iter().zip(new.blobs) {
        slice.blobs.push(BlobGain {
            session: reader.key(),
            hash: blob.hash,
            bytes: blob.bytes,
            hole: hole.kind.is_cut(),
            reference: true,
        });
    }
    Ok(StoredText { text: new.text, holes: new.holes })
}

/// Corrects the bytes that are counted, and the first prompt.
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
    read_line(reading, line, effect_of)
}

/// Refuses a line that would be another entry, or set something else: the rows of the tree stand for the old one.
fn refuse_other_entry(reading: Reading, old: &Entry, new: &[u8]) -> Result<()> {
    let new_entry = Entry::new(reading, old.ordinal(), new.to_vec());
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
    Err(Error::InvalidEntry {
        problem: format!(
            "the entry {} would be another one: a rewrite keeps type, role, id, parentId, timestamp, and what the entry sets",
            old.id().unwrap_or_default()
        ),
    })
}
