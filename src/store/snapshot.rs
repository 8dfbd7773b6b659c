//! A snapshot: the store as one read transaction sees it.

use std::cell::{Cell, OnceCell, RefCell};

use redb::{Key, TableDefinition, Value};

use super::blobs::{self, BlobRecord, Hash};
use super::entry_rows::Childless;
use super::recent_nodes::RecentNodes;
use super::record::Record;
use super::sessions::{Addresses, Sessions};
use super::{Store, tables};
use crate::error::Result;
use crate::store::pages::{ReadOnlyTable, ReadTransaction};

/// A table whose keys are a session and an id.
type ByText = ReadOnlyTable<(u64, &'static [u8]), &'static [u8]>;

/// The table of chunks.
type Lines = ReadOnlyTable<(u64, u64, u32), &'static [u8]>;

/// One read transaction and the tables opened in it.
pub(crate) struct Snapshot {
    transaction: ReadTransaction,
    sessions: OnceCell<Sessions>,
    addresses: OnceCell<Addresses>,
    pub(super) entries: OnceCell<ByText>,
    lines: OnceCell<Lines>,
    pub(super) children: OnceCell<ReadOnlyTable<(u64, u64, u64), ()>>,
    pub(super) childless: Cell<Option<Childless>>,
    labels: OnceCell<ByText>,
    pub(super) nodes: RefCell<RecentNodes>,
    /// For an [overlay](Store::overlay): the transaction that keeps the file's pages that it reads, and the store of that file.
    base: Option<(ReadTransaction, Store)>,
    /// The last field: dropping it may close the store, which must happen after the transaction has ended.
    store: Store,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Snapshot")
    }
}

impl Store {
    /// The store as its tables are now. What is in the journal alone is not there.
    pub(crate) fn committed(&self) -> Result<Snapshot> {
        Ok(Snapshot {
            transaction: self.begin_read()?,
            sessions: OnceCell::new(),
            addresses: OnceCell::new(),
            entries: OnceCell::new(),
            lines: OnceCell::new(),
            children: OnceCell::new(),
            childless: Cell::new(None),
            labels: OnceCell::new(),
            nodes: RefCell::default(),
            base: None,
            store: self.clone(),
        })
    }
}

impl Snapshot {
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The store whose file the snapshot reads: for an overlay, the store below it.
    pub(crate) fn stored(&self) -> &Store {
        self.base.as_ref().map_or(&self.store, |(_, store)| store)
    }

    /// A snapshot of an overlay of this snapshot's store; this snapshot keeps the pages that the overlay reads.
    pub(super) fn overlaid(self, mut overlay: Self) -> Self {
        overlay.base = Some((self.transaction, self.store));
        overlay
    }

    pub(super) fn transaction(&self) -> &ReadTransaction {
        &self.transaction
    }

    /// A table that is opened once.
    pub(super) fn open<'a, K: Key + 'static, V: Value + 'static>(
        &self,
        cell: &'a OnceCell<ReadOnlyTable<K, V>>,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<&'a ReadOnlyTable<K, V>> {
        match cell.get() {
            Some(table) => Ok(table),
            None => {
                let table = self.transaction.open_table(definition)?;
                Ok(cell.get_or_init(|| table))
            }
        }
    }

    pub(super) fn table<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<ReadOnlyTable<K, V>> {
        self.transaction.open_table(definition)
    }

    /// The sessions.
    pub(crate) fn sessions(&self) -> Result<&Sessions> {
        match self.sessions.get() {
            Some(sessions) => Ok(sessions),
            None => {
                let table = self.table(tables::SESSIONS)?;
                Ok(self.sessions.get_or_init(|| Sessions::new(table)))
            }
        }
    }

    /// The ids by which sessions are addressed.
    pub(crate) fn addresses(&self) -> Result<&Addresses> {
        match self.addresses.get() {
            Some(addresses) => Ok(addresses),
            None => {
                let table = self.table(tables::SESSION_IDS)?;
                Ok(self.addresses.get_or_init(|| Addresses::new(table)))
            }
        }
    }

    pub(super) fn lines(&self) -> Result<&Lines> {
        self.open(&self.lines, tables::LINES)
    }

    pub(super) fn labels(&self) -> Result<&ByText> {
        self.open(&self.labels, tables::LABELS)
    }

    pub(crate) fn blob_record(&self, hash: &Hash) -> Result<Option<BlobRecord>> {
        blobs::read_record(&self.table(tables::BLOBS)?, hash)
    }

    /// Passes on the hash of every blob, and its record.
    pub(crate) fn each_blob(
        &self,
        mut take: impl FnMut(Hash, Result<BlobRecord>) -> Result<()>,
    ) -> Result<()> {
        for row in self.table(tables::BLOBS)?.iter()? {
            let (hash, value) = row?;
            let hash = *hash.value();
            take(hash, BlobRecord::from_bytes(value.value(), || blobs::hex(&hash)))?;
        }
        Ok(())
    }

    pub(crate) fn blob(&self, hash: &Hash) -> Result<Option<Vec<u8>>> {
        blobs::read_bytes(&self.table(tables::BLOBS)?, &self.table(tables::BLOB_PARTS)?, hash)
    }
}
