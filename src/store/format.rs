//! The store's format number: which stores are opened, and how an earlier one is brought to the present format.

use redb::{Database, ReadTransaction, ReadableTable, TableError};

use super::tables;
use crate::error::Result;

/// The version of the tables, their keys and the layout of their values.
pub(super) const FORMAT: u64 = 6;

/// The oldest format that is opened.
pub(super) const OLDEST: u64 = 5;

/// The first version of Leafline that reads [`FORMAT`]. The store says it, so that an earlier one can name it.
const FIRST_READER: [u16; 3] = [0, 1, 0];

/// The names in `meta`.
pub(super) const NAME: &str = "format";
pub(super) const READER: &str = "reader";

/// What a database has to say of its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It has no number: it is new, or of something else.
    None,
    /// The present one.
    Present,
    /// An earlier one that can be brought to the present one.
    Earlier(u64),
    /// One that is not known.
    Unknown {
        format: u64,
        /// The first version of Leafline that reads it, where the store says so.
        reader: Option<[u16; 3]>,
    },
}

/// Looks at a database's format.
pub(super) fn find(transaction: &ReadTransaction) -> Result<Found> {
    let meta = match transaction.open_table(tables::META) {
        Ok(meta) => meta,
        Err(TableError::TableDoesNotExist(_)) => return Ok(Found::None),
        Err(error) => return Err(error.into()),
    };
    let Some(format) = meta.get(NAME)?.map(|format| format.value()) else {
        return Ok(Found::None);
    };
    Ok(match format {
        FORMAT => Found::Present,
        OLDEST..FORMAT => Found::Earlier(format),
        _ => {
            let reader = meta.get(READER)?.map(|reader| unpacked(reader.value()));
            Found::Unknown { format, reader }
        }
    })
}

/// Brings a store of an earlier format to the present one, in one transaction.
pub(super) fn upgrade(database: &Database) -> Result<()> {
    let transaction = database.begin_write()?;
    {
        let mut meta = transaction.open_table(tables::META)?;
        // Another process may have been faster.
        let found = meta.get(NAME)?.map(|format| format.value());
        let Some(found @ OLDEST..FORMAT) = found else { return Ok(()) };
        for format in found..FORMAT {
            match format {
                // Chunks of both layouts are read. The number keeps earlier versions from meeting one of the new.
                5 => {}
                other => unreachable!("no store of format {other} is upgraded"),
            }
        }
        meta.insert(NAME, FORMAT)?;
        meta.insert(READER, packed(FIRST_READER))?;
    }
    transaction.commit()?;
    Ok(())
}

/// The rows of `meta` that say what a new store's format is.
pub(super) fn rows() -> [(&'static str, u64); 2] {
    [(NAME, FORMAT), (READER, packed(FIRST_READER))]
}

/// A version as a number: 16 bits for each of its three parts.
fn packed([major, minor, patch]: [u16; 3]) -> u64 {
    u64::from(major) << 32 | u64::from(minor) << 16 | u64::from(patch)
}

fn unpacked(version: u64) -> [u16; 3] {
    let [patch_low, patch_high, minor_low, minor_high, major_low, major_high, ..] =
        version.to_le_bytes();
    [[major_low, major_high], [minor_low, minor_high], [patch_low, patch_high]]
        .map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_back() {
        for version in [[0, 1, 0], [1, 2, 3], [u16::MAX; 3]] {
            assert_eq!(unpacked(packed(version)), version);
        }
    }

    #[test]
    fn the_documentation_names_the_format() {
        let page = include_str!("../../docs/storage.md");
        assert!(page.contains(&format!("`meta[\"format\"]` is {FORMAT}.")));
        let changes = include_str!("../../CHANGELOG.md");
        assert!(changes.contains(&format!("Store format {FORMAT}.")));
    }
}
