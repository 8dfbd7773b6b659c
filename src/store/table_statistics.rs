//! How many bytes each table takes.

use redb::{ReadableTableMetadata, TableHandle};
use serde::Serialize;

use super::snapshot::Snapshot;
use crate::error::Result;

/// One table's bytes.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TableStatistics {
    /// Its name.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// Bytes of keys and values.
    pub stored_bytes: u64,
    /// Bytes of inner pages.
    pub metadata_bytes: u64,
    /// Bytes of its pages that hold nothing.
    pub fragmented_bytes: u64,
}

impl Snapshot {
    /// Every table's bytes, the largest first.
    pub(crate) fn table_statistics(&self) -> Result<Vec<TableStatistics>> {
        let mut all = Vec::new();
        for handle in self.transaction().list_tables()? {
            let name = handle.name().to_owned();
            let table = self.transaction().open_untyped_table(handle)?;
            let stats = table.stats()?;
            all.push(TableStatistics {
                name,
                rows: table.len()?,
                stored_bytes: stats.stored_bytes(),
                metadata_bytes: stats.metadata_bytes(),
                fragmented_bytes: stats.fragmented_bytes(),
            });
        }
        all.sort_by(|a, b| b.stored_bytes.cmp(&a.stored_bytes).then_with(|| a.name.cmp(&b.name)));
        Ok(all)
    }
}
