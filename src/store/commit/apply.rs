//! Writes the rows of a slice to the tables.

use std::ops::Bound;

use redb::{Table, WriteTransaction};

use super::slice::{BlobGain, Retirement, Row, Slice};
use super::{beside, files};
use crate::error::Result;
use crate::store::blobs::{BlobTables, Hash};
use crate::store::entry_record::EntryRows;
use crate::store::label_record::LabelRecord;
use crate::store::ordinal::Ordinal;
use crate::store::pages::ReadableTable;
use crate::store::record::Record;
use crate::store::removed_record::RemovedRecord;
use crate::store::session_index::index_session;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{SessionRecord, address_bytes};
use crate::store::source_record::SourceRecord;
use crate::store::tables::{NO_LEAF, NO_PARENT, NOT_COUNTED};
use crate::store::{parts, tables};

/// Writes the slice. Returns, by session, how many entries replaced an earlier one with the same id.
pub(super) fn write(
    transaction: &WriteTransaction,
    slice: Slice,
) -> Result<Vec<(SessionKey, u64)>> {
    remove_chunks(transaction, &slice.removed_chunks)?;
    write_chunks(transaction, slice.chunks)?;
    let replaced = write_entries(transaction, slice.entries)?;
    rewrite_chunks(transaction, slice.rewritten_chunks)?;
    write_children(transaction, &slice.reset_children, &slice.children)?;
    if !slice.labels.is_empty() {
        let mut table = transaction.open_table(tables::LABELS)?;
        for Row { session, key: (target, line), value: label } in slice.labels {
            set_label(&mut table, (session.raw(), target.as_slice()), line, label)?;
        }
    }
    if !slice.settings.is_empty() {
        let mut table = transaction.open_table(tables::SETTINGS)?;
        for Row { session, key, value } in slice.settings {
            table.insert((session.raw(), key), value.to_bytes().as_slice())?;
        }
    }
    if !slice.pointers.is_empty() {
        let mut table = transaction.open_table(tables::POINTERS)?;
        for Row { session, key: line, value } in slice.pointers {
            table.insert((session.raw(), line.raw()), value.to_bytes().as_slice())?;
        }
    }
    write_usage(transaction, &slice.reset_usage, &slice.usage)?;
    if !slice.originals.is_empty() {
        let mut table = transaction.open_table(tables::ORIGINALS)?;
        for Row { session, key, value } in slice.originals {
            table.insert((session.raw(), key), value.as_slice())?;
        }
    }
    write_blobs(transaction, slice.blobs, &slice.released)?;
    write_marks(transaction, (&slice.begun, &slice.retired, &slice.finished), &slice.sources)?;
    for row in &slice.restored {
        forget_removed(transaction, row.key)?;
    }
    let mut leaves = transaction.open_table(tables::LEAVES)?;
    for Row { session, value: leaf, .. } in slice.leaves {
        leaves.insert(session.raw(), leaf.map_or(NO_LEAF, Ordinal::raw))?;
    }
    if !slice.session_ids.is_empty() {
        let mut ids = transaction.open_table(tables::SESSION_IDS)?;
        for Row { session, key: id, .. } in slice.session_ids {
            ids.insert(id.as_slice(), session.raw())?;
        }
    }
    if !slice.sources.is_empty() {
        let mut sources = transaction.open_table(tables::SOURCES)?;
        for Row { key: path, value: record, .. } in slice.sources {
            sources.insert(path.as_slice(), record.to_bytes().as_slice())?;
        }
    }
    if !slice.unfolded.is_empty() {
        let mut unfolded = transaction.open_table(tables::UNFOLDED)?;
        for Row { session, key: sequence, value: payload } in slice.unfolded {
            unfolded.insert((session.raw(), sequence), payload.as_slice())?;
        }
    }
    let sessions = slice.sessions.iter().map(|row| row.session);
    files::note_written(transaction, sessions, &slice.written)?;
    files::write(transaction, slice.files)?;
    let mut sessions = transaction.open_table(tables::SESSIONS)?;
    for Row { session, value: record, .. } in slice.sessions {
        let record = record.to_row(session);
        let old = sessions.insert(session.raw(), record.as_slice())?;
        let old = old.as_ref().map(|value| value.value());
        index_session(transaction, session, old, Some(&record))?;
    }
    Ok(replaced)
}

fn write_children(
    transaction: &WriteTransaction,
    reset: &[Row<(), ()>],
    children: &[Row<(Option<Ordinal>, Ordinal), ()>],
) -> Result<()> {
    if reset.is_empty() && children.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(tables::CHILDREN)?;
    for row in reset {
        let session = row.session.raw();
        table.retain_in((session, 0, 0)..(session + 1, 0, 0), |_, ()| false)?;
    }
    for row in children {
        let (parent, ordinal) = row.key;
        let parent = parent.map_or(NO_PARENT, Ordinal::raw);
        table.insert((row.session.raw(), parent, ordinal.raw()), ())?;
    }
    Ok(())
}

fn write_usage(
    transaction: &WriteTransaction,
    reset: &[Row<(), ()>],
    rows: &[Row<u64, Vec<u8>>],
) -> Result<()> {
    if reset.is_empty() && rows.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(tables::USAGE)?;
    for row in reset {
        let session = row.session.raw();
        table.retain_in((session, 0)..=(session, NOT_COUNTED), |_, _| false)?;
    }
    for row in rows {
        table.insert((row.session.raw(), row.key), row.value.as_slice())?;
    }
    Ok(())
}

/// The sessions that are begun, those that become invisible, and those that are complete.
type Marks<'m> = (&'m [Row<(), u64>], &'m [Row<SessionKey, Retirement>], &'m [Row<(), ()>]);

/// Records which sessions are incomplete, and which are retired.
fn write_marks(
    transaction: &WriteTransaction,
    (begun, retired, finished): Marks<'_>,
    sources: &[Row<Vec<u8>, SourceRecord>],
) -> Result<()> {
    if begun.is_empty() && retired.is_empty() && finished.is_empty() {
        return Ok(());
    }
    let mut unfinished = transaction.open_table(tables::UNFINISHED)?;
    for row in begun {
        unfinished.insert(row.session.raw(), row.value)?;
    }
    for row in retired {
        let forgotten = retire(transaction, row.key, row.value.removed_at)?;
        match row.value.removed_at {
            None => {
                files::hand_over(transaction, row.key, row.session)?;
                beside::hand_over(transaction, &forgotten, row.session, sources)?;
            }
            Some(_) => files::forget(transaction, row.key)?,
        }
        unfinished.insert(row.key.raw(), row.value.owner)?;
    }
    for row in finished {
        unfinished.remove(row.session.raw())?;
    }
    Ok(())
}

fn set_label(
    table: &mut Table<'_, (u64, &'static [u8]), &'static [u8]>,
    key: (u64, &[u8]),
    line: Ordinal,
    label: Option<Vec<u8>>,
) -> Result<()> {
    let Some(label) = label else {
        table.remove(key)?;
        return Ok(());
    };
    let old = match table.get(key)? {
        Some(value) => Some(LabelRecord::from_bytes(value.value(), || format!("{key:?}"))?),
        None => None,
    };
    let place = old.map_or(line, |old| old.place);
    table.insert(key, LabelRecord { label, line, place }.to_bytes().as_slice())?;
    Ok(())
}

fn write_chunks(transaction: &WriteTransaction, chunks: Vec<Row<Ordinal, Vec<u8>>>) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(tables::LINES)?;
    let mut chunks = chunks.into_iter().peekable();
    while let Some(next) = chunks.peek() {
        // A cursor loads ascending keys into a gap three times as fast as single inserts. Between the chunks of two sessions
        // there may be others.
        let of = next.session;
        let key = (of.raw(), next.key.raw(), 0);
        let mut cursor = table.lower_bound_mut(Bound::Included(key))?;
        let mut last = None;
        while let Some(Row { session, key: first, value }) =
            chunks.next_if(|row| row.session == of && last.is_none_or(|last| row.key > last))
        {
            for (part, row) in parts::cut(&value) {
                cursor.insert_before((session.raw(), first.raw(), part), row)?;
            }
            last = Some(first);
        }
        cursor.close()?;
    }
    Ok(())
}

fn remove_chunks(transaction: &WriteTransaction, chunks: &[Row<Ordinal, ()>]) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(tables::LINES)?;
    for row in chunks {
        let mut part = 0;
        while table.remove((row.session.raw(), row.key.raw(), part))?.is_some() {
            part += 1;
        }
    }
    Ok(())
}

fn rewrite_chunks(
    transaction: &WriteTransaction,
    chunks: Vec<Row<Ordinal, Vec<u8>>>,
) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(tables::LINES)?;
    for Row { session, key: first, value } in chunks {
        let (session, first) = (session.raw(), first.raw());
        let mut next = 0;
        for (part, row) in parts::cut(&value) {
            table.insert((session, first, part), row)?;
            next = part + 1;
        }
        while table.remove((session, first, next))?.is_some() {
            next += 1;
        }
    }
    Ok(())
}

fn write_entries(
    transaction: &WriteTransaction,
    entries: Vec<EntryRows>,
) -> Result<Vec<(SessionKey, u64)>> {
    let mut replaced = Vec::new();
    if entries.is_empty() {
        return Ok(replaced);
    }
    let mut table = transaction.open_table(tables::ENTRIES)?;
    let mut value = Vec::new();
    for rows in entries {
        let session = rows.session.raw();
        let empty = table.range((session, &b""[..])..(session + 1, &b""[..]))?.next().is_none();
        if empty {
            let mut cursor = table.lower_bound_mut(Bound::Included((session, &b""[..])))?;
            for (id, record) in rows.iter() {
                record.write_to(&mut value);
                cursor.insert_before((session, id), value.as_slice())?;
            }
            cursor.close()?;
        } else {
            let mut count = 0;
            for (id, record) in rows.iter() {
                record.write_to(&mut value);
                let old = table.insert((session, id), value.as_slice())?;
                count += u64::from(old.is_some());
            }
            replaced.push((rows.session, count));
        }
    }
    Ok(replaced)
}

fn write_blobs(
    transaction: &WriteTransaction,
    gains: Vec<Row<Hash, BlobGain>>,
    released: &[Row<Hash, bool>],
) -> Result<()> {
    if gains.is_empty() && released.is_empty() {
        return Ok(());
    }
    let mut blobs = BlobTables {
        records: transaction.open_table(tables::BLOBS)?,
        parts: transaction.open_table(tables::BLOB_PARTS)?,
    };
    for Row { key: hash, value: gain, .. } in gains {
        if let Some(bytes) = gain.bytes {
            blobs.put(&hash, &bytes)?;
        }
        if gain.is_reference {
            blobs.refer(&hash, 1, u64::from(gain.was_cut))?;
        }
    }
    // After the gains, so that a blob that moves from line to line is not freed in between.
    for Row { key: hash, value: was_cut, .. } in released {
        blobs.release(hash, 1, u64::from(*was_cut))?;
    }
    Ok(())
}

/// Removes a session from every table that makes it visible; its other rows are swept later. If it was removed at some
/// time, and not replaced, its sources stay, with what is kept of it. Returns the paths that lead nowhere any more.
fn retire(
    transaction: &WriteTransaction,
    session: SessionKey,
    removed_at: Option<i64>,
) -> Result<Vec<Vec<u8>>> {
    let mut sessions = transaction.open_table(tables::SESSIONS)?;
    let record = match sessions.remove(session.raw())? {
        Some(value) => {
            index_session(transaction, session, Some(value.value()), None)?;
            SessionRecord::from_bytes(value.value(), || session.to_string())?
        }
        // Another process was faster.
        None => return Ok(Vec::new()),
    };
    let mut ids = transaction.open_table(tables::SESSION_IDS)?;
    let id = address_bytes(&record.external_id, record.number);
    let is_its_own = ids.get(id.as_slice())?.is_some_and(|value| value.value() == session.raw());
    if is_its_own {
        ids.remove(id.as_slice())?;
    }
    transaction.open_table(tables::LEAVES)?.remove(session.raw())?;
    match removed_at {
        None => forget_sources(transaction, session, &record.rest.sources),
        Some(at) => {
            keep_removed(transaction, session, RemovedRecord::of(record, at))?;
            Ok(Vec::new())
        }
    }
}

/// Keeps what imports need to recognise the files of a removed session.
fn keep_removed(
    transaction: &WriteTransaction,
    session: SessionKey,
    removed: RemovedRecord,
) -> Result<()> {
    let id = (removed.external_id.as_slice(), session.raw());
    transaction.open_table(tables::REMOVED_IDS)?.insert(id, ())?;
    let mut table = transaction.open_table(tables::REMOVED)?;
    table.insert(session.raw(), removed.to_bytes().as_slice())?;
    Ok(())
}

/// Removes what was kept of a removed session.
fn forget_removed(transaction: &WriteTransaction, session: SessionKey) -> Result<()> {
    let mut table = transaction.open_table(tables::REMOVED)?;
    let removed = match table.remove(session.raw())? {
        Some(value) => RemovedRecord::from_bytes(value.value(), || session.to_string())?,
        // Another process was faster.
        None => return Ok(()),
    };
    let id = (removed.external_id.as_slice(), session.raw());
    transaction.open_table(tables::REMOVED_IDS)?.remove(id)?;
    forget_sources(transaction, session, &removed.sources).map(drop)
}

/// Removes the paths from `sources` that lead to a session, and returns them.
fn forget_sources(
    transaction: &WriteTransaction,
    session: SessionKey,
    paths: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>> {
    let mut forgotten = Vec::new();
    let mut sources = transaction.open_table(tables::SOURCES)?;
    for path in paths {
        let is_its_own = match sources.get(path.as_slice())? {
            Some(value) => {
                SourceRecord::from_bytes(value.value(), || format!("{path:?}"))?.session == session
            }
            None => false,
        };
        if is_its_own {
            sources.remove(path.as_slice())?;
            forgotten.push(path.clone());
        }
    }
    Ok(forgotten)
}
