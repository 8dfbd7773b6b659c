//! Checks of a slice before it is written, and of a session before its commit.

use std::collections::{HashMap, HashSet};

use leafline_import::EntryKind;
use redb::WriteTransaction;

use super::guard::Guard;
use super::rows::Tally;
use super::slice::Slice;
use crate::error::{Corruption, Error, Result};
use crate::store::chunk::Chunk;
use crate::store::ordinal::Ordinal;
use crate::store::pages::ReadableTable;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::session_rows::no_leaf_row;
use crate::store::tables;

/// The error of a session that would contradict itself after the write.
pub(super) fn refused(session: SessionKey, problem: impl Into<String>) -> Error {
    Error::Corrupted(Corruption {
        table: "sessions",
        place: format!("session key {session}, before it is written"),
        problem: problem.into(),
    })
}

/// Refuses a record whose counts differ from those of the rows.
pub(super) fn tally(
    session: SessionKey,
    record: &SessionRecord,
    counted: Tally,
    rows: Tally,
) -> Result<()> {
    let counts = [
        ("lines", counted.lines, rows.lines),
        ("bytes of text", counted.text_bytes, rows.text_bytes),
        ("ids of entries", counted.ids, rows.ids),
        ("settings", counted.settings, rows.settings),
    ];
    match counts.into_iter().find(|(_, counted, there)| counted != there) {
        None => Ok(()),
        Some((what, counted, there)) => {
            let id = record.id();
            Err(refused(session, format!("{id} counts {counted} {what}, its rows are {there}")))
        }
    }
}

/// Refuses a record that differs from the one before in another way than the rows say.
pub(super) fn change(
    session: SessionKey,
    record: &SessionRecord,
    before: Tally,
    rows: Tally,
) -> Result<()> {
    let expected = Tally {
        lines: before.lines.wrapping_add(rows.lines),
        text_bytes: before.text_bytes.wrapping_add(rows.text_bytes),
        ids: before.ids.wrapping_add(rows.ids),
        settings: before.settings.wrapping_add(rows.settings),
    };
    tally(session, record, Tally::of(record), expected)
}

/// Refuses a slice after which a session would contradict itself or its rows.
pub(super) fn slice(slice: &Slice) -> Result<()> {
    let mut records = HashMap::with_capacity(slice.sessions.len());
    for row in &slice.sessions {
        if let Some(problem) = row.value.contradiction() {
            return Err(refused(row.session, problem));
        }
        if records.insert(row.session, &row.value).is_some() {
            return Err(refused(row.session, "it is changed twice in one commit"));
        }
    }
    revisions(slice, &records)?;
    leaves(slice, &records)?;
    sources(slice, &records)?;
    let marked = slice.held.iter().chain(&slice.begun).map(|row| row.session);
    let marked: HashSet<SessionKey> = marked.collect();
    let mut stray = None;
    slice.each_session_with_lines(|session| {
        if !marked.contains(&session) && !records.contains_key(&session) {
            stray = Some(session);
        }
    });
    match stray {
        Some(session) => Err(refused(session, "it has rows, and neither a record nor a mark")),
        None => Ok(()),
    }
}

type Records<'s> = HashMap<SessionKey, &'s SessionRecord>;

/// A commit that changes a session makes exactly one new revision.
fn revisions(slice: &Slice, records: &Records<'_>) -> Result<()> {
    for row in &slice.guards {
        if let Guard::Same { session, revision } = &row.value
            && *session == row.session
            && let Some(record) = records.get(session)
            && record.revision.checked_sub(1) != Some(*revision)
        {
            let problem = format!("revision {} comes after {revision}", record.revision);
            return Err(refused(row.session, problem));
        }
    }
    Ok(())
}

/// A leaf is one of the session's lines, and is written with the record.
fn leaves(slice: &Slice, records: &Records<'_>) -> Result<()> {
    for row in &slice.leaves {
        let lines = records.get(&row.session).map(|record| record.lines);
        let problem = match (lines, row.value) {
            (None, _) => "it gets a leaf without a record".to_owned(),
            (Some(lines), Some(leaf)) if !leaf.is_within(lines) => {
                format!("its leaf is line {leaf} of {lines}")
            }
            _ => continue,
        };
        return Err(refused(row.session, problem));
    }
    Ok(())
}

/// The record of a session names each of its source files.
fn sources(slice: &Slice, records: &Records<'_>) -> Result<()> {
    for row in &slice.sources {
        let named = records.get(&row.session).map(|record| record.sources.contains(&row.key));
        if named == Some(false) || row.value.session != row.session {
            return Err(refused(row.session, "a file leads to it that it does not name"));
        }
    }
    Ok(())
}

/// The leaves of the sessions that a slice writes: new ones and unchanged ones.
#[derive(Debug)]
pub(super) struct Leaves {
    set: Vec<(SessionKey, Ordinal)>,
    kept: Vec<SessionKey>,
}

impl Leaves {
    pub(super) fn of(slice: &Slice) -> Self {
        let with_row: HashSet<SessionKey> = slice.leaves.iter().map(|row| row.session).collect();
        let set = slice.leaves.iter().filter_map(|row| Some((row.session, row.value?)));
        let sessions = slice.sessions.iter().map(|row| row.session);
        Self {
            set: set.collect(),
            kept: sessions.filter(|session| !with_row.contains(session)).collect(),
        }
    }

    /// Proves that after the write each session's leaf is an entry, or there is none.
    pub(super) fn prove(&self, transaction: &WriteTransaction) -> Result<()> {
        if !self.kept.is_empty() {
            let leaves = transaction.open_table(tables::LEAVES)?;
            for session in &self.kept {
                if leaves.get(session.raw())?.is_none() {
                    return Err(no_leaf_row(*session).into());
                }
            }
        }
        if !self.set.is_empty() {
            let lines = transaction.open_table(tables::LINES)?;
            for &(session, leaf) in &self.set {
                if !is_entry(&lines, session, leaf)? {
                    return Err(refused(
                        session,
                        format!("its leaf, line {leaf}, is not an entry"),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Whether a line of a session exists and is an entry.
fn is_entry(
    lines: &impl ReadableTable<(u64, u64, u32), &'static [u8]>,
    session: SessionKey,
    ordinal: Ordinal,
) -> Result<bool> {
    let key = session.raw();
    let Some(row) = lines.range((key, 0, 0)..=(key, ordinal.raw(), u32::MAX))?.next_back() else {
        return Ok(false);
    };
    let (place, value) = row?;
    let (_, raw, part) = place.value();
    let first = Ordinal::new(raw);
    let node = |bytes: &[u8]| -> std::result::Result<bool, String> {
        let nodes = Chunk::parse(first, bytes)?.nodes()?;
        let node = ordinal.index_from(first).and_then(|index| nodes.get(index));
        let kind = node.and_then(|node| EntryKind::from_code(node.kind));
        Ok(kind.is_some_and(EntryKind::is_entry))
    };
    let read = if part == 0 {
        node(value.value())
    } else {
        let mut bytes = Vec::new();
        for row in lines.range((key, raw, 0)..=(key, raw, u32::MAX))? {
            bytes.extend_from_slice(row?.1.value());
        }
        node(&bytes)
    };
    read.map_err(|problem| session.damaged_chunk(first, problem).into())
}
