//! Proves that a session matches its record, by its marks, counts, and first and last rows.

use redb::WriteTransaction;

use super::slice::Row;
use crate::error::{Error, ImportError, Result};
use crate::store::chunk::Chunk;
use crate::store::ordinal::Ordinal;
use crate::store::pages::ReadableTable;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::session_rows::SessionRows;
use crate::store::tables;

/// Proves that sessions which are still being written have the mark of their owner.
///
/// # Errors
///
/// [`ImportError::Lost`].
pub(super) fn marks(transaction: &WriteTransaction, held: &[Row<(), u64>]) -> Result<()> {
    if held.is_empty() {
        return Ok(());
    }
    let unfinished = transaction.open_table(tables::UNFINISHED)?;
    for row in held {
        if unfinished.get(row.session.raw())?.map(|mark| mark.value()) != Some(row.value) {
            return Err(Error::Import(ImportError::Lost {
                id: format!("with the key {}", row.session),
                problem: "its rows no longer have their owner's mark".to_owned(),
            }));
        }
    }
    Ok(())
}

/// Proves that a session that was written in several commits is complete: its first and last lines, its entries, and
/// the imported file if a migration changed it.
///
/// # Errors
///
/// [`ImportError::Lost`].
pub(super) fn rows(
    transaction: &WriteTransaction,
    session: SessionKey,
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
        Some(problem) => Err(Error::Import(ImportError::Lost { id: record.id(), problem })),
    }
}

/// What is missing at the ends of a session, if anything: costs a few look-ups, whatever the session's size.
pub(crate) fn at_its_ends(rows: SessionRows<'_>, record: &SessionRecord) -> Result<Option<String>> {
    let (snapshot, session) = (rows.snapshot(), rows.key());
    Ok(match missing_ends(snapshot.lines()?, session, record)? {
        Some(problem) => Some(problem),
        None => missing_original(&snapshot.table(tables::ORIGINALS)?, session, record)?,
    })
}

/// What is missing from a session, if anything: examines each chunk, and decompresses no line.
pub(crate) fn as_a_whole(rows: SessionRows<'_>, record: &SessionRecord) -> Result<Option<String>> {
    if let Some(problem) = at_its_ends(rows, record)? {
        return Ok(Some(problem));
    }
    let mut chunks = rows.chunks(record.lines);
    let mut text_bytes = 0u64;
    loop {
        match chunks.next() {
            Ok(Some(chunk)) => text_bytes += chunk.lengths().iter().sum::<u64>(),
            Ok(None) => break,
            Err(Error::Corrupted(damage)) => {
                let first = chunks.position();
                return Ok(Some(format!("the chunk of line {first}: {}", damage.problem)));
            }
            Err(error) => return Err(error),
        }
    }
    if text_bytes != record.text_bytes {
        let expected = record.text_bytes;
        return Ok(Some(format!("{text_bytes} of {expected} bytes of text are there")));
    }
    missing_entries(rows.snapshot().entries()?, rows.key(), record)
}

fn missing_ends(
    lines: &impl ReadableTable<(u64, u64, u32), &'static [u8]>,
    session: SessionKey,
    record: &SessionRecord,
) -> Result<Option<String>> {
    let Some((first, end)) = line_range(lines, session)? else {
        let missing = (record.lines > 0).then(|| "none of its lines are there".to_owned());
        return Ok(missing);
    };
    if first > Ordinal::FIRST {
        let missing = first.lines_before();
        return Ok(Some(format!("its first {missing} lines are not there")));
    }
    let is_complete = end == Ok(Ordinal::after(record.lines));
    Ok((!is_complete).then(|| format!("its last line is not line {}", record.lines)))
}

/// The first stored line, and the line after the last; or what is wrong with the last chunk.
type LineRange = (Ordinal, std::result::Result<Ordinal, String>);

fn line_range(
    lines: &impl ReadableTable<(u64, u64, u32), &'static [u8]>,
    session: SessionKey,
) -> Result<Option<LineRange>> {
    let all = (session.raw(), 0, 0)..(session.end(), 0, 0);
    let mut rows = lines.range(all.clone())?;
    let Some(row) = rows.next() else { return Ok(None) };
    let first = Ordinal::new(row?.0.value().1);
    drop(rows);
    let mut parts = Vec::new();
    let mut last = first;
    // The parts of the last chunk, the last one first.
    for row in lines.range(all)?.rev() {
        let (key, value) = row?;
        let (_, chunk, part) = key.value();
        parts.push(value.value().to_vec());
        last = Ordinal::new(chunk);
        if part == 0 {
            break;
        }
    }
    parts.reverse();
    let bytes = parts.concat();
    let end = Chunk::parse(last, &bytes).and_then(|chunk| {
        last.later(chunk.line_count()).ok_or_else(|| "its lines have no numbers".to_owned())
    });
    Ok(Some((first, end)))
}

fn missing_entries(
    entries: &impl ReadableTable<(u64, &'static [u8]), &'static [u8]>,
    session: SessionKey,
    record: &SessionRecord,
) -> Result<Option<String>> {
    let mut found = 0;
    for row in entries.range((session.raw(), &b""[..])..(session.end(), &b""[..]))? {
        row?;
        found += 1;
    }
    let expected = record.addressed();
    Ok((found != expected).then(|| format!("{found} of {expected} entries are there")))
}

fn missing_original(
    originals: &impl ReadableTable<(u64, u64), &'static [u8]>,
    session: SessionKey,
    record: &SessionRecord,
) -> Result<Option<String>> {
    let is_missing = record.migrated
        && record.imported.length > 0
        && originals.get((session.raw(), 0))?.is_none();
    Ok(is_missing.then(|| "the imported bytes are not there".to_owned()))
}
