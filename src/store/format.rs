//! The store's format number: which stores are opened.

use redb::WriteTransaction;

use super::tables;
use crate::error::Result;
use crate::store::pages::{ReadTransaction, ReadableTable};

/// The version of the tables, their keys and the layout of their values.
pub(super) const FORMAT: u64 = 1;

/// The first version of Leafline that reads [`FORMAT`]. The store states it, so that an earlier version can name it.
const FIRST_READER: [u16; 3] = [0, 1, 0];

/// The names in `meta`.
pub(super) const NAME: &str = "format";
pub(super) const READER: &str = "reader";

/// What a database states about its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It has no number: it is new, or belongs to another program.
    None,
    /// The current one.
    Present,
    /// One that this version cannot read.
    Unknown {
        format: u64,
        /// The first version of Leafline that reads it, if the store states one.
        reader: Option<[u16; 3]>,
    },
}

/// Reads a database's format.
pub(super) fn find(transaction: &ReadTransaction) -> Result<Found> {
    let Some(meta) = transaction.open_table_if_any(tables::META)? else { return Ok(Found::None) };
    let Some(format) = meta.get(NAME)?.map(|format| format.value()) else {
        return Ok(Found::None);
    };
    Ok(match format {
        FORMAT => Found::Present,
        _ => {
            let reader = meta.get(READER)?.map(|reader| unpacked(reader.value()));
            Found::Unknown { format, reader }
        }
    })
}

/// Notes of every session that its usage is not counted yet.
pub(super) fn mark_not_counted(transaction: &WriteTransaction) -> Result<()> {
    let mut usage = transaction.open_table(tables::USAGE)?;
    for row in transaction.open_table(tables::SESSIONS)?.iter()? {
        usage.insert((row?.0.value(), tables::NOT_COUNTED), &[][..])?;
    }
    Ok(())
}

/// The rows of `meta` that state a new store's format.
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
    use redb::Database;

    use super::super::failing_disk::Disk;
    use super::*;
    use crate::error::StoreError;

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

    #[test]
    fn a_store_of_a_development_build_is_imported_again() {
        let (path, reader) = ("store".into(), Some(FIRST_READER));
        let error = StoreError::UnknownFormat { path, format: 10, reader }.to_string();
        assert!(error.contains("import its sessions again"), "{error}");
    }

    /// Writes a store of the next format as a later version would: a new table and the number, in one transaction.
    fn upgrade(database: &Database) -> Result<()> {
        const ADDED: redb::TableDefinition<'_, u64, &[u8]> = redb::TableDefinition::new("added");
        let transaction = database.begin_write()?;
        transaction.open_table(ADDED)?;
        let mut meta = transaction.open_table(tables::META)?;
        meta.insert(NAME, FORMAT + 1)?;
        meta.insert(READER, packed([0, 2, 0]))?;
        drop(meta);
        transaction.commit()?;
        Ok(())
    }

    #[test]
    fn an_upgrade_that_is_cut_off_leaves_one_format_or_the_next() {
        let disk = Disk::default();
        drop(disk.open().unwrap());
        let mut kept = 0;
        for left in 0.. {
            let failing = disk.copy();
            failing.fail_after(left);
            let upgraded = failing.database().and_then(|it| upgrade(&it));
            match failing.copy().open() {
                Ok(store) => {
                    assert!(store.verify().unwrap().problems.is_empty());
                    kept += 1;
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("format 2") && error.contains("0.2.0"), "{error}");
                    if upgraded.is_ok() {
                        break;
                    }
                }
            }
        }
        assert!(kept > 5, "{kept} upgrades were cut off");
    }

    /// The types of redb whose encoding a release has changed, or may change.
    #[test]
    fn no_table_has_a_type_of_a_changing_encoding() {
        let store = crate::Store::in_memory().unwrap();
        let snapshot = store.snapshot().unwrap();
        let names = snapshot.table_statistics().unwrap().into_iter().map(|table| table.name);
        let names: Vec<String> = names.collect();
        assert!(names.len() > 20, "{} tables", names.len());
        let page = include_str!("../../docs/storage.md");
        for name in names {
            assert_eq!(tables::name(&name), name);
            assert!(page.contains(&format!("| [`{name}`](#{name}) |")), "{name} is not documented");
        }
        // The file agrees with its definition: a table of other types does not open.
        let source = include_str!("tables.rs");
        let types = source
            .split("TableDefinition<")
            .skip(1)
            .map(|rest| rest.split("> =").next().expect("a definition is a constant"));
        let words: std::collections::BTreeSet<&str> = types
            .flat_map(|types| types.split(|sign: char| !sign.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .collect();
        let expected = ["32", "i64", "str", "u32", "u64", "u8"];
        assert_eq!(words.into_iter().collect::<Vec<_>>(), expected);
    }
}
