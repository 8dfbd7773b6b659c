//! The store's format number: which stores are opened, and how an earlier one is upgraded to the current format.

use redb::{Database, WriteTransaction};

use super::{journal, session_index, tables};
use crate::error::Result;
use crate::store::pages::{ReadTransaction, ReadableTable};

/// The version of the tables, their keys and the layout of their values.
pub(super) const FORMAT: u64 = 10;

/// The oldest format that is opened.
pub(super) const OLDEST: u64 = 5;

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
    /// An earlier one that can be upgraded to the current one.
    Earlier(u64),
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
        OLDEST..FORMAT => Found::Earlier(format),
        _ => {
            let reader = meta.get(READER)?.map(|reader| unpacked(reader.value()));
            Found::Unknown { format, reader }
        }
    })
}

/// Upgrades a store of an earlier format to the current one, in one transaction.
pub(super) fn upgrade(database: &Database) -> Result<()> {
    let transaction = database.begin_write()?;
    {
        let mut meta = transaction.open_table(tables::META)?;
        // Another process may have been faster.
        let found = meta.get(NAME)?.map(|format| format.value());
        let Some(found @ OLDEST..FORMAT) = found else { return Ok(()) };
        for format in found..FORMAT {
            match format {
                // Chunks of both layouts are read. The number keeps earlier versions from reading the new layout.
                5 => {}
                6 => session_index::build(&transaction)?,
                7 => {
                    transaction.open_table(tables::REMOVED)?;
                    transaction.open_table(tables::REMOVED_IDS)?;
                }
                // The number keeps earlier versions from overlooking a journal.
                8 => {
                    transaction.open_table(tables::UNFOLDED)?;
                    journal::make_row(&transaction)?;
                }
                9 => {
                    transaction.open_table(tables::FILES)?;
                    transaction.open_table(tables::FILE_PARTS)?;
                    transaction.open_table(tables::SESSION_FILES)?;
                    // The lines are not read now: usage is counted when it is asked for.
                    mark_not_counted(&transaction)?;
                }
                other => unreachable!("no store of format {other} is upgraded"),
            }
        }
        meta.insert(NAME, FORMAT)?;
        meta.insert(READER, packed(FIRST_READER))?;
    }
    transaction.commit()?;
    Ok(())
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
    use super::super::failing_disk::Disk;
    use super::*;
    use redb::ReadableDatabase;

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

    /// The store of an earlier format from the tests' folder.
    fn earlier(format: u64) -> Disk {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stores");
        let packed = std::fs::File::open(format!("{folder}/format-{format}.zst")).unwrap();
        Disk::holding(zstd::decode_all(packed).unwrap())
    }

    /// The number in the file, as the next open reads it.
    fn format_of(disk: &Disk) -> u64 {
        let database = disk.copy().database().unwrap();
        let meta = database.begin_read().unwrap().open_table(tables::META).unwrap();
        meta.get(NAME).unwrap().unwrap().value()
    }

    #[test]
    fn an_upgrade_that_is_cut_off_leaves_the_earlier_format_and_begins_anew() {
        for format in OLDEST..FORMAT {
            let disk = earlier(format);
            let mut cut_off = 0;
            for left in 0.. {
                let failing = disk.copy();
                failing.fail_after(left);
                let opened = failing.open().map(drop);
                // The last flush may fail when everything is on the disk.
                let found = format_of(&failing);
                assert!(found == format || found == FORMAT, "{found} after {left} writes");
                cut_off += u32::from(found == format);
                let store = failing.copy().open().unwrap();
                let verification = store.verify().unwrap();
                assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
                assert_eq!(store.get_recent_sessions(100).unwrap(), store.sessions().unwrap());
                assert_eq!(store.sessions().unwrap().len(), 13);
                if opened.is_ok() && found == FORMAT {
                    break;
                }
            }
            assert!(cut_off > 5, "{cut_off} upgrades of format {format} were cut off");
        }
    }

    #[test]
    fn a_damaged_record_does_not_keep_an_upgrade_from_the_others() {
        let disk = earlier(6);
        {
            let database = disk.database().unwrap();
            let transaction = database.begin_write().unwrap();
            {
                let mut sessions = transaction.open_table(tables::SESSIONS).unwrap();
                let (first, _) =
                    sessions.first().unwrap().map(|(key, _)| (key.value(), ())).unwrap();
                sessions.insert(first, &[1, 255][..]).unwrap();
            }
            transaction.commit().unwrap();
        }
        let store = disk.open().unwrap();
        let times = store.snapshot().unwrap().session_times().unwrap().unwrap();
        assert_eq!(times.len().unwrap(), 12);
        let kinds = store.verify().unwrap().problems.into_iter().map(|found| found.kind);
        assert!(kinds.into_iter().all(|kind| kind != "session_times"));
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
