//! Rows as bytes into typed tables.

use redb::{Key, TableDefinition, Value, WriteTransaction};

use crate::error::Result;
use crate::store::tables;

/// The rows of `meta` that are put: `format` and `reader` are those of the new store.
const META: [&[u8]; 6] = [
    b"store",
    b"next_session",
    b"told_open",
    b"journal_epoch",
    b"journal_retired",
    b"journal_retired_end",
];

/// Writes a row of a table that is not made of others. The bytes are those of a page that has its checksum, or were looked
/// into.
pub(super) fn put(
    transaction: &WriteTransaction,
    table: &str,
    key: &[u8],
    value: &[u8],
) -> Result<()> {
    match table {
        "meta" if META.contains(&key) => row(transaction, tables::META, key, value),
        "sessions" => row(transaction, tables::SESSIONS, key, value),
        "entries" => row(transaction, tables::ENTRIES, key, value),
        "children" => row(transaction, tables::CHILDREN, key, value),
        "leaves" => row(transaction, tables::LEAVES, key, value),
        "lines" => row(transaction, tables::LINES, key, value),
        "labels" => row(transaction, tables::LABELS, key, value),
        "settings" => row(transaction, tables::SETTINGS, key, value),
        "pointers" => row(transaction, tables::POINTERS, key, value),
        "blob_parts" => row(transaction, tables::BLOB_PARTS, key, value),
        "originals" => row(transaction, tables::ORIGINALS, key, value),
        "sources" => row(transaction, tables::SOURCES, key, value),
        "files" => row(transaction, tables::FILES, key, value),
        "file_parts" => row(transaction, tables::FILE_PARTS, key, value),
        "removed" => row(transaction, tables::REMOVED, key, value),
        "dictionaries" => row(transaction, tables::DICTIONARIES, key, value),
        "unfinished" => row(transaction, tables::UNFINISHED, key, value),
        "journal" => row(transaction, tables::JOURNAL, key, value),
        "unfolded" => row(transaction, tables::UNFOLDED, key, value),
        "history" => row(transaction, tables::HISTORY, key, value),
        "history_terms" => row(transaction, tables::HISTORY_TERMS, key, value),
        "history_blocks" => row(transaction, tables::HISTORY_BLOCKS, key, value),
        _ => Ok(()),
    }
}

fn row<K: Key, V: Value>(
    transaction: &WriteTransaction,
    table: TableDefinition<'_, K, V>,
    key: &[u8],
    value: &[u8],
) -> Result<()> {
    let mut table = transaction.open_table(table)?;
    table.insert(K::from_bytes(key), V::from_bytes(value))?;
    Ok(())
}
