//! Fills a new store with what is whole in a damaged one's file, whose indexes are not trusted.

mod files;
mod loose;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use redb::backends::FileBackend;
use redb::{StorageBackend, WriteTransaction};

use self::loose::Loose;
use self::rows::put;
use super::blobs::{self, BlobRecord, Hash};
use super::chunk::Chunk;
use super::ordinal::Ordinal;
use super::record::Record;
use super::removed_record::RemovedRecord;
use super::session_index::index_session;
use super::session_key::SessionKey;
use super::session_record::{SessionRecord, address_bytes, parse_address};
use super::snapshot::Snapshot;
use super::source_record::SourceRecord;
use super::writing::Writing;
use super::{Store, creation, format, tables};
use crate::error::{Error, FileContext, Result};
use crate::store::pages::{DamagedPage, ReadableTable, reach, read_header};

/// Rows of the file's tables are written in commits of so many bytes.
const COMMIT_BYTES: usize = 64 << 20;

/// The token of no owner that is alive: rows that it has are swept.
const NOBODY: u64 = 1;

/// What was found in a file beyond the rows that the new store has.
#[derive(Debug, Default)]
pub(crate) struct Salvaged {
    /// The damaged pages that others lead to.
    pub(crate) damaged: Vec<DamagedPage>,
    /// Whether the newest commit may be lost, and the one before was taken.
    pub(crate) may_be_earlier: bool,
    /// Sessions of which neither a record nor a line was found, with their ids.
    pub(crate) lost: BTreeMap<SessionKey, String>,
    /// Sessions of which rows come from pages that nothing leads to.
    pub(crate) loose: BTreeSet<SessionKey>,
    /// Whether there are prompts that come from such pages: they are to be numbered again.
    pub(crate) has_loose_prompts: bool,
    /// Sessions that have lines and no record.
    pub(crate) unnamed: BTreeMap<SessionKey, Option<String>>,
    /// Blobs that lines name and of which a part is missing or wrong, or all may have been there, in order.
    pub(crate) broken_blobs: Vec<Hash>,
    /// Whether the new store has the number of the old one, so that the journal can be folded into it.
    pub(crate) has_number: bool,
    /// The format that the file states, if it is not this one: its rows mean something else.
    pub(crate) other_format: Option<u64>,
    /// Whether the row that says how far the tables are was found.
    pub(crate) has_journal_row: bool,
}

/// Makes a store at `path`, where none may be: `fill` gets its temporary path before it has its name.
pub(crate) fn make(
    path: &Path,
    damaged: &Path,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    creation::make_filled(path, Some(damaged), fill)
}

impl Store {
    /// Takes over the rows of a damaged file into this new store. Sessions are as their rows are; nothing is indexed anew.
    pub(crate) fn take_rows_of(&self, damaged: &Path) -> Result<Salvaged> {
        let reading = |error| Error::File {
            action: "reading the store",
            path: damaged.to_owned(),
            source: error,
        };
        let file = crate::regular_file::open_regular(damaged).map_err(reading)?;
        let file = backend(file, damaged)?;
        let own = self.shared.file.as_ref().expect("a new store has a file");
        let sound = read_header(own).at("reading", self.path())?;
        let mut rows = Writer::new(self);
        let reached = reach(&file, &sound, |found| rows.put(found.table, found.key, found.value));
        let reached = reached.map_err(|error: Failed| error.at(damaged))?;
        let ids = rows.finish()?;
        let Ids { has_number, other_format, has_journal_row, .. } = ids;
        let mut salvaged =
            Salvaged { has_number, other_format, has_journal_row, ..Salvaged::default() };
        if other_format.is_some() {
            return Ok(salvaged);
        }
        let mut loose = Loose::new(self, &file, &ids.sessions);
        if !reached.damaged.is_empty() {
            loose.find(&reached).map_err(|error| error.at(damaged))?;
            salvaged.has_loose_prompts = loose.has_prompts();
            salvaged.loose = loose.write().map_err(|error| error.at(damaged))?;
        }
        salvaged.may_be_earlier = reached.may_be_earlier;
        salvaged.damaged = reached.damaged;
        self.index(&ids, &mut salvaged)?;
        Ok(salvaged)
    }

    /// Writes the rows that follow from others: ids, times and parents of sessions, ids of removed ones, records of blobs, the
    /// next key.
    fn index(&self, found: &Ids, salvaged: &mut Salvaged) -> Result<()> {
        let ids = &found.sessions;
        let transaction = self.begin_write()?;
        let snapshot = self.committed()?;
        let mut highest = 0;
        let unfinished: BTreeSet<_> =
            snapshot.unfinished()?.into_iter().map(|(session, _)| session).collect();
        let mut records = BTreeSet::new();
        let mut renamed = Vec::new();
        {
            let mut addresses = transaction.open_table(tables::SESSION_IDS)?;
            let mut damaged = Vec::new();
            snapshot.each_session(|row| {
                let (key, record) = match row {
                    Ok(row) => (row.key(), row.record()),
                    Err(row) => (row.key, Err(row.error)),
                };
                let Ok(mut record) = record else {
                    damaged.push(key);
                    return Ok(());
                };
                let mut address = address_bytes(&record.external_id, record.number);
                // A record on a damaged page may name the session wrongly.
                if let Some(known) = ids.get(&key.raw())
                    && *known != address
                {
                    address.clone_from(known);
                    (record.external_id, record.number) =
                        parse_address(known, &record.external_id, record.number);
                    renamed.push((key, record.to_row(key)));
                }
                if addresses.get(address.as_slice())?.is_some() {
                    damaged.push(key);
                    return Ok(());
                }
                addresses.insert(address.as_slice(), key.raw())?;
                index_session(&transaction, key, None, Some(&record.to_bytes()))?;
                records.insert(key);
                Ok(())
            })?;
            let mut sessions = transaction.open_table(tables::SESSIONS)?;
            for (key, record) in renamed {
                sessions.insert(key.raw(), record.as_slice())?;
            }
            for key in damaged {
                sessions.remove(key.raw())?;
            }
        }
        let known: BTreeSet<SessionKey> = records.union(&unfinished).copied().collect();
        for (session, table) in snapshot.stray_sessions(&known)? {
            highest = highest.max(session.raw());
            if table == "lines" {
                let id = ids.get(&session.raw());
                let id = id.map(|id| String::from_utf8_lossy(id).into_owned());
                salvaged.unnamed.insert(session, id);
            } else {
                // Without lines they are of no use, and would become those of another session.
                transaction.open_table(tables::UNFINISHED)?.insert(session.raw(), NOBODY)?;
            }
        }
        for (&key, id) in ids {
            let session = SessionKey::new(key);
            highest = highest.max(key);
            if !records.contains(&session) && !salvaged.unnamed.contains_key(&session) {
                salvaged.lost.insert(session, String::from_utf8_lossy(id).into_owned());
            }
        }
        highest = known.last().map_or(highest, |last| highest.max(last.raw()));
        // It follows from the lines, which may have been saved only in part.
        format::mark_not_counted(&transaction)?;
        if let Some(removed) = self.index_removed(&snapshot, &transaction)? {
            highest = highest.max(removed.raw());
        }
        let is_of_parts =
            |page: &DamagedPage| page.table.as_deref().is_none_or(|table| table == "blob_parts");
        let never_there = salvaged.damaged.iter().any(is_of_parts).then_some(&found.never_there);
        salvaged.broken_blobs = index_blobs(&snapshot, &transaction, never_there)?;
        {
            let mut meta = transaction.open_table(tables::META)?;
            let next = meta.get("next_session")?.map_or(1, |next| next.value());
            meta.insert("next_session", next.max(highest.saturating_add(1)))?;
        }
        transaction.commit()?;
        self.sweep()?;
        Ok(())
    }

    /// Writes the ids of removed sessions. Returns the last of these sessions.
    fn index_removed(
        &self,
        snapshot: &Snapshot,
        transaction: &WriteTransaction,
    ) -> Result<Option<SessionKey>> {
        let mut ids = transaction.open_table(tables::REMOVED_IDS)?;
        let mut damaged = Vec::new();
        let mut last = None;
        snapshot.each_removed(|session, removed: Result<RemovedRecord>| {
            last = last.max(Some(session));
            match removed {
                Ok(removed) => {
                    ids.insert((removed.external_id.as_slice(), session.raw()), ())?;
                }
                Err(_) => damaged.push(session),
            }
            Ok(())
        })?;
        let mut table = transaction.open_table(tables::REMOVED)?;
        for session in damaged {
            table.remove(session.raw())?;
        }
        Ok(last)
    }

    /// Takes a session away: what it has is swept.
    pub(crate) fn discard(
        &self,
        sessions: &BTreeMap<SessionKey, Option<SessionRecord>>,
    ) -> Result<()> {
        let transaction = self.begin_write()?;
        {
            let mut table = transaction.open_table(tables::SESSIONS)?;
            let mut ids = transaction.open_table(tables::SESSION_IDS)?;
            let mut leaves = transaction.open_table(tables::LEAVES)?;
            let mut unfinished = transaction.open_table(tables::UNFINISHED)?;
            let mut unfolded = transaction.open_table(tables::UNFOLDED)?;
            for (session, record) in sessions {
                if let Some(record) = record {
                    index_session(&transaction, *session, Some(&record.to_bytes()), None)?;
                    ids.remove(address_bytes(&record.external_id, record.number).as_slice())?;
                }
                table.remove(session.raw())?;
                leaves.remove(session.raw())?;
                unfinished.insert(session.raw(), NOBODY)?;
                unfolded.retain_in((session.raw(), 0)..=(session.raw(), u64::MAX), |_, _| false)?;
            }
        }
        transaction.commit()?;
        self.sweep()?;
        Ok(())
    }

    /// Changes a session's record. Its sources are noted as files that have changed since: the next import reads them.
    pub(crate) fn restore_facts(
        &self,
        session: SessionKey,
        change: impl FnOnce(&mut SessionRecord),
    ) -> Result<()> {
        let transaction = self.begin_write()?;
        {
            let mut table = transaction.open_table(tables::SESSIONS)?;
            let Some(old) = table.get(session.raw())?.map(|value| value.value().to_vec()) else {
                return Ok(());
            };
            let mut record = SessionRecord::from_bytes(&old, || session.to_string())?;
            let before = address_bytes(&record.external_id, record.number);
            change(&mut record);
            let mut ids = transaction.open_table(tables::SESSION_IDS)?;
            ids.remove(before.as_slice())?;
            // Its own, unless another session has come to it.
            let address =
                |record: &SessionRecord| address_bytes(&record.external_id, record.number);
            while ids.get(address(&record).as_slice())?.is_some() {
                record.number += 1;
            }
            ids.insert(address(&record).as_slice(), session.raw())?;
            let new = record.to_row(session);
            table.insert(session.raw(), new.as_slice())?;
            index_session(&transaction, session, Some(&old), Some(&new))?;
            let mut sources = transaction.open_table(tables::SOURCES)?;
            sources.retain(|_, value| {
                SourceRecord::from_bytes(value, String::new).is_ok_and(|of| of.session != session)
            })?;
            let changed = SourceRecord { session, size: 0, modified: None };
            for path in &record.sources {
                sources.insert(path.as_slice(), changed.to_bytes().as_slice())?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

impl Store {
    /// Forgets the files of sessions that are not there.
    pub(crate) fn forget_lost_sources(&self) -> Result<()> {
        let snapshot = self.committed()?;
        let transaction = self.begin_write()?;
        let mut lost = Vec::new();
        snapshot.each_source(|path, source| {
            let of = match source {
                Ok(source) => source.session,
                Err(_) => {
                    lost.push(path.to_vec());
                    return Ok(());
                }
            };
            let sources = match (snapshot.session(of)?, snapshot.removed(of)?) {
                (Some(record), _) => record.rest.sources,
                (None, Some(removed)) => removed.sources,
                (None, None) => Vec::new(),
            };
            if !sources.iter().any(|own| own == path) {
                lost.push(path.to_vec());
            }
            Ok(())
        })?;
        {
            let mut table = transaction.open_table(tables::SOURCES)?;
            for path in lost {
                table.remove(path.as_slice())?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

/// Writes the records of blobs: those whose bytes have their hash, with as many references as chunks have. Returns those that
/// lines name and whose bytes have not. Where all parts of a blob may be lost, those that have none are among them, but for those
/// of which no bytes were ever there.
fn index_blobs(
    snapshot: &Snapshot,
    transaction: &WriteTransaction,
    never_there: Option<&BTreeSet<Hash>>,
) -> Result<Vec<Hash>> {
    let mut records: BTreeMap<Hash, BlobRecord> = BTreeMap::new();
    let missing = BlobRecord { size: None, references: 0, holes: 0 };
    for row in snapshot.lines()?.iter()? {
        let (key, value) = row?;
        let (session, first, part) = key.value();
        if part > 0 {
            continue;
        }
        let rows = snapshot.rows(SessionKey::new(session));
        let first = Ordinal::new(first);
        // A damaged one is not counted when it is swept, either.
        let Ok(bytes) = rows.chunk_at(first) else { continue };
        let Ok(chunk) = rows.parse(first, &bytes) else { continue };
        drop(value);
        for hole in chunk.holes() {
            let record = records.entry(hole.hash).or_insert(missing);
            record.references += 1;
            record.holes += u64::from(hole.kind.is_cut());
        }
    }
    let mut broken = Vec::new();
    let mut sizes: BTreeMap<Hash, u64> = BTreeMap::new();
    let mut parts = transaction.open_table(tables::BLOB_PARTS)?;
    let mut at_hand: Option<(Hash, Vec<u8>, bool)> = None;
    let mut end = |blob: Option<(Hash, Vec<u8>, bool)>| {
        let Some((hash, bytes, is_whole)) = blob else { return };
        if is_whole && blobs::hash(&bytes) == hash {
            sizes.insert(hash, bytes.len() as u64);
        } else {
            broken.push(hash);
        }
    };
    for row in snapshot.table(tables::BLOB_PARTS)?.iter()? {
        let (key, value) = row?;
        let (hash, part) = key.value();
        match &mut at_hand {
            Some((of, bytes, is_whole)) if of == hash => {
                *is_whole &= part > 0;
                bytes.extend_from_slice(value.value());
            }
            _ => end(at_hand.replace((*hash, value.value().to_vec(), part == 0))),
        }
    }
    end(at_hand);
    for hash in &broken {
        parts.retain_in((hash, 0)..=(hash, u32::MAX), |_, _| false)?;
    }
    broken.retain(|hash| records.contains_key(hash));
    if let Some(never_there) = never_there {
        let is_lost = |hash: &Hash| !sizes.contains_key(hash) && !never_there.contains(hash);
        let known: BTreeSet<Hash> = broken.iter().copied().collect();
        broken.extend(records.keys().filter(|hash| is_lost(hash) && !known.contains(*hash)));
    }
    broken.sort_unstable();
    let mut table = transaction.open_table(tables::BLOBS)?;
    // A blob to which no line refers may have been put there for lines to come.
    for hash in sizes.keys() {
        records.entry(*hash).or_insert(missing);
    }
    for (hash, record) in records {
        let record = BlobRecord { size: sizes.get(&hash).copied(), ..record };
        table.insert(&hash, record.to_bytes().as_slice())?;
    }
    Ok(broken)
}

/// Why rows could not be taken over: the file cannot be read, or the new store not be written.
#[derive(Debug)]
enum Failed {
    Reading(std::io::Error),
    Store(Error),
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self::Reading(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl Failed {
    fn at(self, path: &Path) -> Error {
        match self {
            Self::Reading(source) => {
                Error::File { action: "reading the store", path: path.to_owned(), source }
            }
            Self::Store(error) => error,
        }
    }
}

fn backend(file: File, path: &Path) -> Result<impl StorageBackend> {
    FileBackend::new(file).map_err(|error| {
        let source = std::io::Error::other(error.to_string());
        Error::File { action: "opening the store", path: path.to_owned(), source }
    })
}

/// What the reached rows say of the sessions and the blobs.
#[derive(Debug, Default)]
struct Ids {
    /// Each session's id, by its key.
    sessions: BTreeMap<u64, Vec<u8>>,
    /// Blobs of which lines have only the names.
    never_there: BTreeSet<Hash>,
    has_number: bool,
    other_format: Option<u64>,
    has_journal_row: bool,
}

/// Writes reached rows.
struct Writer<'s> {
    store: &'s Store,
    transaction: Option<Writing<'s>>,
    written: usize,
    ids: Ids,
}

impl<'s> Writer<'s> {
    fn new(store: &'s Store) -> Self {
        Self { store, transaction: None, written: 0, ids: Ids::default() }
    }

    fn put(&mut self, table: &str, key: &[u8], value: &[u8]) -> Result<(), Failed> {
        if table == "session_ids"
            && let Some(session) = value.first_chunk()
        {
            self.ids.sessions.insert(u64::from_le_bytes(*session), key.to_vec());
        }
        if table == "blobs"
            && let Ok(hash) = Hash::try_from(key)
            && BlobRecord::from_bytes(value, String::new).is_ok_and(|record| record.size.is_none())
        {
            self.ids.never_there.insert(hash);
        }
        self.ids.has_number |= table == "meta" && key == b"store";
        if table == "meta" && key == format::NAME.as_bytes() {
            let format = value.try_into().map(u64::from_le_bytes).ok();
            self.ids.other_format = format.filter(|format| *format != format::FORMAT);
        }
        self.ids.has_journal_row |= table == "journal";
        let transaction = match self.transaction.take() {
            Some(transaction) => transaction,
            None => self.store.begin_write()?,
        };
        put(&transaction, table, key, value)?;
        self.written += key.len() + value.len();
        if self.written < COMMIT_BYTES {
            self.transaction = Some(transaction);
        } else {
            self.written = 0;
            transaction.commit()?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Ids> {
        if let Some(transaction) = self.transaction {
            transaction.commit()?;
        }
        Ok(self.ids)
    }
}

/// Whether a chunk is what was written: its head and the text of each frame.
fn is_sound(snapshot: &Snapshot, session: SessionKey, chunk: &Chunk<'_>) -> bool {
    let rows = snapshot.rows(session);
    (0..chunk.frames().len()).all(|frame| rows.frame_text(chunk, frame).is_ok())
        && rows.nodes(chunk).is_ok()
}
