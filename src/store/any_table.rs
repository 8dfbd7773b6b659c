//! What is done with a table of which only the name is known.

use redb::{Key, TableDefinition, TableHandle as _, Value};

use super::tables;
use crate::error::Result;

/// What is done with a table, whichever it is.
pub(crate) trait Action {
    fn on<K: Key + 'static, V: Value + 'static>(
        self,
        table: TableDefinition<'static, K, V>,
    ) -> Result<()>;
}

/// Does it with the table of this name. `false` if there is none: a later version has more.
pub(crate) fn act_on(name: &str, action: impl Action) -> Result<bool> {
    macro_rules! find {
        ($($table:expr),+ $(,)?) => {
            $(if name == $table.name() {
                return action.on($table).map(|()| true);
            })+
        };
    }
    find!(
        tables::META,
        tables::SESSIONS,
        tables::SESSION_IDS,
        tables::SESSION_TIMES,
        tables::SESSION_PARENTS,
        tables::ENTRIES,
        tables::CHILDREN,
        tables::LEAVES,
        tables::LINES,
        tables::LABELS,
        tables::SETTINGS,
        tables::POINTERS,
        tables::USAGE,
        tables::BLOBS,
        tables::BLOB_PARTS,
        tables::ORIGINALS,
        tables::SOURCES,
        tables::FILES,
        tables::FILE_PARTS,
        tables::SESSION_FILES,
        tables::REMOVED,
        tables::REMOVED_IDS,
        tables::SUMMARIES,
        tables::DICTIONARIES,
        tables::UNFINISHED,
        tables::JOURNAL,
        tables::UNFOLDED,
        tables::HISTORY,
        tables::HISTORY_TERMS,
        tables::HISTORY_BLOCKS,
    );
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_known() {
        struct Count<'c>(&'c mut usize);
        impl Action for Count<'_> {
            fn on<K: Key + 'static, V: Value + 'static>(
                self,
                _: TableDefinition<'static, K, V>,
            ) -> Result<()> {
                *self.0 += 1;
                Ok(())
            }
        }
        let (mut count, mut known) = (0, 0);
        for table in tables::NAMES {
            known += usize::from(act_on(table, Count(&mut count)).unwrap());
        }
        // All but the tree of names.
        assert_eq!((count, known), (tables::NAMES.len() - 1, tables::NAMES.len() - 1));
        assert!(!act_on("of a later version", Count(&mut count)).unwrap());
    }
}
