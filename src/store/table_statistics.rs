//! How many bytes each table takes.

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
        for (name, rows, stats) in self.transaction().table_statistics()? {
            all.push(TableStatistics {
                name,
                rows,
                stored_bytes: stats.stored_bytes(),
                metadata_bytes: stats.metadata_bytes(),
                fragmented_bytes: stats.fragmented_bytes(),
            });
        }
        all.sort_by(|a, b| b.stored_bytes.cmp(&a.stored_bytes).then_with(|| a.name.cmp(&b.name)));
        Ok(all)
    }
}
