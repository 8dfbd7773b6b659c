//! The proof that a session is what its record says, as far as its marks, counts, first and last rows tell.

use redb::{ReadableTable, WriteTransaction};

use super::chunk::Chunk;
use super::session_record::SessionRecord;
use super::snapshot::Snapshot;
use super::tables;
use crate::error::{Error, Result};

/// Proves that sessions which are still being written have the mark of their owner.
///
/// # Errors
///
/// [`Error::SessionLost`].
pub(super) fn marks(transaction: &WriteTransaction, held: &[(u64, u64)]) -> Result<()> {
    if held.is_empty() {
        return Ok(());
    }
    let unfinished = transaction.open_table(tables::UNFINISHED)?;
    for &(session, token) in held {
        if unfinished.get(session)?.map(|mark| mark.value()) != Some(token) {
            return Err(Error::SessionLost {
                id: format!("with the key {session}"),
                problem: "its rows no longer have their owner's mark".to_owned(),
            });
        }
    }
    Ok(())
}

/// Proves that a session which was written in several commits is all there: its first and last lines, its entries, and the
/// file that it was imported from where a migration changed it.
///
/// # Errors
///
/// [`Error::SessionLost`].
pub(super) fn rows(
    transaction: &WriteTransaction,
    session: u64,
    record: &SessionRecord,
) -> Result<()> {
    let lines = transaction.open_table(tables::LINES)?;
    let entries = transaction.open_table(tables::ENTRIES)?;
    let originals = transaction.open_table(tables::ORIGINALS)?;
    let problem = match missing_ends(&lines, session, record)? {
        Some(problem) => Some(problem),
        None => match missing_entries(&entries, session, record)? {
            Some(problem) => Some(problem),
            None => missing_original(&originals, session, record)?,
        },
    };
    match problem {
        None => Ok(()),
        Some(problem) => Err(Error::SessionLost { id: record.id(), problem }),
    }
}

/// What is missing of a session at its ends, if anything: the cost of a few look-ups, whatever the session's size.
pub(crate) fn at_its_ends(
    snapshot: &Snapshot,
    session: u64,
    record: &SessionRecord,
) -> Result<Option<String>> {
    Ok(match missing_ends(snapshot.lines()?, session, record)? {
        Some(problem) => Some(problem),
        None => missing_original(&snapshot.table(tables::ORIGINALS)?, session, record)?,
    })
}

/// What is missing of a session, if anything: each chunk is looked at, no line is decompressed.
pub(crate) fn as_a_whole(
    snapshot: &Snapshot,
    session: u64,
    record: &SessionRecord,
) -> Result<Option<String>> {
    if let Some(problem) = missing_original(&snapshot.table(tables::ORIGINALS)?, session, record)? {
        return Ok(Some(problem));
    }
    let (mut lines, mut text_bytes) = (0, 0);
    while let Some((first, bytes)) = snapshot.chunk_from(session, lines)? {
        let chunk = Chunk::parse(first, bytes.as_slice());
        match chunk {
            Ok(chunk) if first == lines && chunk.line_count() > 0 => {
                lines += chunk.line_count();
                text_bytes += chunk.lengths().iter().sum::<u64>();
            }
            Ok(_) => break,
            Err(problem) => return Ok(Some(format!("the chunk of line {first} {problem}"))),
        }
    }
    if (lines, text_bytes) != (record.lines, record.text_bytes) {
        return Ok(Some(format!("{lines} of {} lines are there", record.lines)));
    }
    missing_entries(snapshot.entries()?, session, record)
}

fn missing_ends(
    lines: &impl ReadableTable<(u64, u64, u32), &'static [u8]>,
    session: u64,
    record: &SessionRecord,
) -> Result<Option<String>> {
    let Some((first, end)) = line_range(lines, session)? else {
        let missing = (record.lines > 0).then(|| "none of its lines are there".to_owned());
        return Ok(missing);
    };
    if first > 0 {
        return Ok(Some(format!("its first {first} lines are not there")));
    }
    let is_complete = end == Ok(record.lines);
    Ok((!is_complete).then(|| format!("its last line is not line {}", record.lines)))
}

/// The first line that is there, and the line behind the last; what is wrong with the last chunk where that does not tell.
type LineRange = (u64, std::result::Result<u64, String>);

fn line_range(
    lines: &impl ReadableTable<(u64, u64, u32), &'static [u8]>,
    session: u64,
) -> Result<Option<LineRange>> {
    let mut rows = lines.range((session, 0, 0)..(session + 1, 0, 0))?;
    let Some(row) = rows.next() else { return Ok(None) };
    let (_, first, _) = row?.0.value();
    drop(rows);
    let mut parts = Vec::new();
    let mut last = first;
    // The parts of the last chunk, the last one first.
    for row in lines.range((session, 0, 0)..(session + 1, 0, 0))?.rev() {
        let (key, value) = row?;
        let (_, chunk, part) = key.value();
        parts.push(value.value().to_vec());
        last = chunk;
        if part == 0 {
            break;
        }
    }
    parts.reverse();
    let bytes = parts.concat();
    let end = Chunk::parse(last, &bytes).map(|chunk| last + chunk.line_count());
    Ok(Some((first, end)))
}

fn missing_entries(
    entries: &impl ReadableTable<(u64, &'static [u8]), &'static [u8]>,
    session: u64,
    record: &SessionRecord,
) -> Result<Option<String>> {
    let mut found = 0;
    for row in entries.range((session, &b""[..])..(session + 1, &b""[..]))? {
        row?;
        found += 1;
    }
    let expected = record.entries.saturating_sub(record.unaddressed + record.duplicates);
    Ok((found != expected).then(|| format!("{found} of {expected} entries are there")))
}

fn missing_original(
    originals: &impl ReadableTable<(u64, u64), &'static [u8]>,
    session: u64,
    record: &SessionRecord,
) -> Result<Option<String>> {
    let is_missing =
        record.migrated && record.imported.length > 0 && originals.get((session, 0))?.is_none();
    Ok(is_missing.then(|| "the imported bytes are not there".to_owned()))
}
