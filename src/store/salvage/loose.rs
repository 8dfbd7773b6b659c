//! Rows on pages that nothing leads to: the page above them is damaged, or they are of an earlier commit. Only their content
//! proves what they are.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use redb::StorageBackend;

use super::{Failed, is_sound};
use crate::error::Result;
use crate::store::chunk::Chunk;
use crate::store::fingerprint::Fingerprint;
use crate::store::ordinal::Ordinal;
use crate::store::originals::decode;
use crate::store::pages::{Found, Reached, ReadableTable, Shape, scan};
use crate::store::prompt_record::PromptRecord;
use crate::store::record::Record;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{SessionRecord, address_bytes, is_proven};
use crate::store::snapshot::Snapshot;
use crate::store::{Store, chunk, tables};

/// The tables whose rows are looked for, with the bytes of their keys.
const SHAPES: [Shape; 6] = [
    Shape { table: "lines", key: 20 },
    Shape { table: "blob_parts", key: 36 },
    Shape { table: "originals", key: 16 },
    Shape { table: "sessions", key: 8 },
    Shape { table: "history", key: 8 },
    Shape { table: "dictionaries", key: 4 },
];

/// The bytes with which a frame of zstd begins, and a dictionary (RFC 8878, 3.1.1 and 5).
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const DICTIONARY: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// Whether a row may be a piece of an imported file. Other tables have such keys, too.
fn is_piece(value: &[u8]) -> bool {
    match value.first() {
        Some(0) => true,
        Some(1) => value.get(9..).is_some_and(|frame| frame.starts_with(&FRAME)),
        _ => false,
    }
}

/// Pieces of an imported file that are tried, where several may be the right ones.
const MOST_TRIES: u32 = 10_000;

/// A row's value in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    at: u64,
    length: u64,
}

/// Rows that were found, by their keys. A key may have several.
pub(super) struct Loose<'s, F> {
    store: &'s Store,
    file: &'s F,
    /// Each session's id, as the reached rows of `session_ids` say.
    ids: &'s BTreeMap<u64, Vec<u8>>,
    /// Of `lines`, by session, first line and part.
    lines: BTreeMap<(u64, u64, u32), BTreeSet<Place>>,
    parts: BTreeMap<([u8; 32], u32), BTreeSet<Place>>,
    originals: BTreeMap<(u64, u64), BTreeSet<Place>>,
    /// The last state of each session.
    sessions: BTreeMap<u64, SessionRecord>,
    history: BTreeMap<u64, PromptRecord>,
    dictionaries: BTreeMap<u32, Vec<u8>>,
}

impl<'s, F: StorageBackend> Loose<'s, F> {
    pub(super) fn new(store: &'s Store, file: &'s F, ids: &'s BTreeMap<u64, Vec<u8>>) -> Self {
        Self {
            store,
            file,
            ids,
            lines: BTreeMap::new(),
            parts: BTreeMap::new(),
            originals: BTreeMap::new(),
            sessions: BTreeMap::new(),
            history: BTreeMap::new(),
            dictionaries: BTreeMap::new(),
        }
    }

    /// Looks for rows of tables that have damaged pages.
    pub(super) fn find(&mut self, reached: &Reached) -> Result<(), Failed> {
        let is_damaged = |shape: &Shape| {
            let tables = reached.damaged.iter().map(|page| page.table.as_deref());
            tables.into_iter().any(|table| table.is_none_or(|table| table == shape.table))
        };
        let shapes: Vec<Shape> = SHAPES.into_iter().filter(is_damaged).collect();
        if shapes.is_empty() {
            return Ok(());
        }
        let file = self.file;
        scan(file, reached, &shapes, |found| {
            self.note(found);
            Ok::<_, Failed>(())
        })
    }

    fn note(&mut self, found: Found<'_>) {
        let Found { table, key, value, value_at } = found;
        let place = Place { at: value_at, length: value.len() as u64 };
        match table {
            "lines" => {
                if let Some((session, first, part)) = lines_key(key)
                    && (part > 0 || value.first() == Some(&chunk::VERSION))
                {
                    self.lines.entry((session, first, part)).or_default().insert(place);
                }
            }
            "blob_parts" => {
                if let Some((hash, part)) = key.split_first_chunk()
                    && let Some(part) = part.first_chunk()
                {
                    let key = (*hash, u32::from_le_bytes(*part));
                    self.parts.entry(key).or_default().insert(place);
                }
            }
            "originals" => {
                if let Some(key) = pair(key)
                    && is_piece(value)
                {
                    self.originals.entry(key).or_default().insert(place);
                }
            }
            "sessions" => {
                if let Some(key) = key.first_chunk().copied().map(u64::from_le_bytes)
                    && let Ok(record) = SessionRecord::from_bytes(value, String::new)
                    && is_proven(value, SessionKey::new(key))
                {
                    // Of several states of a session the last one.
                    let known = self.sessions.get(&key);
                    if known.is_none_or(|known| known.revision <= record.revision) {
                        self.sessions.insert(key, record);
                    }
                }
            }
            "history" => {
                if let Some(key) = key.first_chunk().copied().map(u64::from_le_bytes)
                    && let Ok(record) = PromptRecord::from_bytes(value, String::new)
                    && record.to_bytes() == value
                {
                    self.history.insert(key, record);
                }
            }
            _ => {
                if let Some(key) = key.first_chunk().copied().map(u32::from_le_bytes)
                    && value.starts_with(&DICTIONARY)
                {
                    self.dictionaries.insert(key, value.to_vec());
                }
            }
        }
    }

    /// Whether there are prompts among them. Their numbers may be damaged, as their texts may.
    pub(super) fn has_prompts(&self) -> bool {
        !self.history.is_empty()
    }

    /// Writes the rows that fit into what is there. Returns the sessions that have some.
    pub(super) fn write(&self) -> Result<BTreeSet<SessionKey>, Failed> {
        let transaction = self.store.begin_write()?;
        let snapshot = self.store.committed()?;
        let mut written = BTreeSet::new();
        {
            let mut table = transaction.open_table(tables::DICTIONARIES).map_err(store)?;
            for (&id, bytes) in &self.dictionaries {
                if table.get(id)?.is_none() {
                    table.insert(id, bytes.as_slice()).map_err(store)?;
                }
            }
            let mut table = transaction.open_table(tables::HISTORY).map_err(store)?;
            // One may be there again under a damaged number.
            let mut known = BTreeSet::new();
            for (&number, record) in &self.history {
                let bytes = record.to_bytes();
                if table.get(number)?.is_none() && !known.contains(&bytes) {
                    table.insert(number, bytes.as_slice()).map_err(store)?;
                }
                known.insert(bytes);
            }
            let mut table = transaction.open_table(tables::SESSIONS).map_err(store)?;
            for (&key, record) in &self.sessions {
                let address = address_bytes(&record.external_id, record.number);
                let is_known = self.ids.get(&key) == Some(&address);
                let is_taken = self.ids.values().any(|id| *id == address);
                if table.get(key)?.is_none()
                    && (is_known || !is_taken)
                    && snapshot.removed(SessionKey::new(key))?.is_none()
                {
                    let session = SessionKey::new(key);
                    table.insert(key, record.to_row(session).as_slice()).map_err(store)?;
                    written.insert(session);
                }
            }
        }
        transaction.commit().map_err(store)?;
        self.write_blobs()?;
        written.append(&mut self.write_lines()?);
        Ok(written)
    }

    fn write_blobs(&self) -> Result<(), Failed> {
        let transaction = self.store.begin_write()?;
        let mut table = transaction.open_table(tables::BLOB_PARTS).map_err(store)?;
        for ((hash, part), places) in &self.parts {
            // Parts of a blob are the same whenever they were written.
            if let Some(place) = places.first()
                && table.get((hash, *part))?.is_none()
            {
                let bytes = self.read(*place)?;
                table.insert((hash, *part), bytes.as_slice()).map_err(store)?;
            }
        }
        drop(table);
        let snapshot = self.store.committed()?;
        let mut table = transaction.open_table(tables::ORIGINALS).map_err(store)?;
        let sessions: BTreeSet<u64> = self.originals.keys().map(|key| key.0).collect();
        for session in sessions {
            let record = snapshot.session(SessionKey::new(session)).ok().flatten();
            let Some(record) = record.filter(|record| record.migrated) else { continue };
            let mut tries = MOST_TRIES;
            let pieces =
                self.pieces(&snapshot, (session, 0), &record, Fingerprint::default(), &mut tries);
            for (piece, place) in (0..).zip(pieces?.unwrap_or_default()) {
                if let Some(place) = place {
                    table.insert((session, piece), self.read(place)?.as_slice()).map_err(store)?;
                }
            }
        }
        drop(table);
        transaction.commit().map_err(store)?;
        Ok(())
    }

    /// Where the pieces of an imported file are, from one on, that together have the fingerprint that the session's record
    /// says; `None` for those that are there.
    fn pieces(
        &self,
        snapshot: &Snapshot,
        (session, piece): (u64, u64),
        record: &SessionRecord,
        before: Fingerprint,
        tries: &mut u32,
    ) -> Result<Option<Vec<Option<Place>>>, Failed> {
        let imported = &record.imported;
        if before.length() == imported.length {
            return Ok((before.digest() == imported.digest).then(Vec::new));
        }
        let left = imported.length - before.length();
        let loose = self.originals.get(&(session, piece)).into_iter().flatten();
        for place in std::iter::once(None).chain(loose.map(|place| Some(*place))) {
            let row = match place {
                Some(place) => Some(self.read(place)?),
                None => {
                    let there = snapshot.table(tables::ORIGINALS)?.get((session, piece))?;
                    there.map(|value| value.value().to_vec())
                }
            };
            let Some(Ok(bytes)) = row.map(|row| decode(snapshot, &row, left)) else { continue };
            if bytes.is_empty() || bytes.len() as u64 > left {
                continue;
            }
            let Some(fewer) = tries.checked_sub(1) else { return Ok(None) };
            *tries = fewer;
            let mut fingerprint = before.clone();
            fingerprint.take(&bytes);
            // One piece is in memory.
            drop(bytes);
            let rest = self.pieces(snapshot, (session, piece + 1), record, fingerprint, tries)?;
            if let Some(mut rest) = rest {
                rest.insert(0, place);
                return Ok(Some(rest));
            }
        }
        Ok(None)
    }

    /// Fills the gaps of sessions with chunks, from their beginning on.
    fn write_lines(&self) -> Result<BTreeSet<SessionKey>, Failed> {
        let mut filled = BTreeSet::new();
        let transaction = self.store.begin_write()?;
        let snapshot = self.store.committed()?;
        let mut table = transaction.open_table(tables::LINES).map_err(store)?;
        let sessions: BTreeSet<u64> = self.lines.keys().map(|key| key.0).collect();
        for key in sessions {
            let session = SessionKey::new(key);
            let record = snapshot.session(session).ok().flatten();
            // Without a record, only a session that an id names was there when the page above was written.
            if record.is_none() && !self.ids.is_empty() && !self.ids.contains_key(&key) {
                continue;
            }
            let lines = record.map_or(u64::MAX, |record| record.lines);
            let mut chunks: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
            let firsts: BTreeSet<u64> = self
                .lines
                .range((key, 0, 0)..=(key, u64::MAX, u32::MAX))
                .map(|((_, first, _), _)| *first)
                .collect();
            let there = reached_chunks(&snapshot, session)?;
            let mut at = 0;
            for first in firsts {
                // The end of the last reached chunk that begins before, and the beginning of the next.
                let before = there.range(..=first).next_back().map_or(0, |(_, end)| *end);
                let next = there.range(first..).next().map_or(lines, |(next, _)| *next);
                at = at.max(before);
                if first < at {
                    continue;
                }
                let fitting =
                    self.chunks_at(&snapshot, session, first)?.into_iter().filter(|(count, _)| {
                        first.checked_add(*count).is_some_and(|end| end <= next.min(lines))
                    });
                if let Some((count, bytes)) = fitting.max_by_key(|(count, _)| *count) {
                    at = first + count;
                    chunks.insert(first, bytes);
                }
            }
            for (first, bytes) in chunks {
                filled.insert(session);
                for (part, row) in crate::store::parts::cut(&bytes) {
                    table.insert((key, first, part), row).map_err(store)?;
                }
            }
        }
        drop(table);
        transaction.commit().map_err(store)?;
        Ok(filled)
    }

    /// The sound chunks that begin with a line, each with the number of its lines.
    fn chunks_at(
        &self,
        snapshot: &Snapshot,
        session: SessionKey,
        first: u64,
    ) -> Result<Vec<(u64, Vec<u8>)>, Failed> {
        let mut found = Vec::new();
        let key = (session.raw(), first, 0);
        for place in self.lines.get(&key).into_iter().flatten() {
            let mut bytes = self.read(*place)?;
            for part in 1.. {
                if Chunk::is_whole(&bytes) {
                    break;
                }
                let places = self.lines.get(&(session.raw(), first, part));
                let Some(place) = places.and_then(BTreeSet::first) else { break };
                bytes.extend(self.read(*place)?);
            }
            if let Ok(chunk) = Chunk::parse(Ordinal::new(first), &bytes)
                && is_sound(snapshot, session, &chunk)
            {
                found.push((chunk.line_count(), bytes));
            }
        }
        Ok(found)
    }

    fn read(&self, place: Place) -> Result<Vec<u8>, Failed> {
        let length = usize::try_from(place.length).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        self.file.read(place.at, &mut bytes)?;
        Ok(bytes)
    }
}

/// The first line of each reached chunk of a session, and the line behind it.
fn reached_chunks(snapshot: &Snapshot, session: SessionKey) -> Result<BTreeMap<u64, u64>, Failed> {
    let rows = snapshot.rows(session);
    let mut chunks = BTreeMap::new();
    for row in snapshot.lines()?.range((session.raw(), 0, 0)..=(session.raw(), u64::MAX, 0))? {
        let (_, first, part) = row?.0.value();
        if part > 0 {
            continue;
        }
        let ordinal = Ordinal::new(first);
        if let Ok(bytes) = rows.chunk_at(ordinal)
            && let Ok(chunk) = rows.parse(ordinal, &bytes)
        {
            chunks.insert(first, first.saturating_add(chunk.line_count()));
        }
    }
    Ok(chunks)
}

fn lines_key(key: &[u8]) -> Option<(u64, u64, u32)> {
    let (session, first) = pair(key)?;
    let part = key.get(16..)?.first_chunk()?;
    Some((session, first, u32::from_le_bytes(*part)))
}

fn pair(key: &[u8]) -> Option<(u64, u64)> {
    let (first, rest) = key.split_first_chunk()?;
    Some((u64::from_le_bytes(*first), u64::from_le_bytes(*rest.first_chunk()?)))
}

fn store(error: impl Into<crate::error::Error>) -> Failed {
    Failed::Store(error.into())
}
