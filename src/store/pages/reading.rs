//! redb's read transactions and tables, behind which damage and panics are errors of the call that met them.

use std::borrow::Borrow;
use std::ops::RangeBounds;
use std::sync::Arc;

use redb::{
    AccessGuard, Key, ReadableTableMetadata as _, StorageError, TableDefinition, TableError,
    TableHandle as _, TableStats, TransactionError, Value,
};

use super::guarded;
use crate::error::{Error, Result};
use crate::store::engine_file::NoProgress;
use crate::store::opener::Opener;
use crate::store::tables;

/// What errors call the tree in which redb keeps the tables.
pub(super) const NAMES: &str = "names of tables";

/// A row's key and value, which stay in the engine's page.
pub(crate) type Row<'t, K, V> = (AccessGuard<'t, K>, AccessGuard<'t, V>);

/// Calls redb to read a table.
fn read<T, E>(table: &str, read: impl FnOnce() -> Result<T, E>) -> Result<T>
where
    Error: From<E>,
{
    match guarded(read) {
        Ok(result) => Ok(result?),
        Err(problem) => Err(problem.at(tables::name(table), "a page".to_owned()).into()),
    }
}

/// A read transaction. Its tables are read in the process alone that began it.
pub(crate) struct ReadTransaction {
    opener: Arc<Opener>,
    /// Until it is dropped.
    transaction: Option<redb::ReadTransaction>,
}

impl Drop for ReadTransaction {
    fn drop(&mut self) {
        if !self.opener.is_here() {
            // The end of it would wait for locks that threads of the parent may have had.
            std::mem::forget(self.transaction.take());
        }
    }
}

impl ReadTransaction {
    /// Begins one by this call of redb.
    pub(crate) fn begin(
        opener: &Arc<Opener>,
        begin: impl FnOnce() -> Result<redb::ReadTransaction, redb::TransactionError>,
    ) -> Result<Self> {
        opener.check()?;
        let begin = || {
            begin().map_err(|error| match error {
                TransactionError::Storage(error) => NoProgress::named(error, &opener.path),
                error => error.into(),
            })
        };
        let transaction = Some(read(NAMES, begin)?);
        Ok(Self { opener: Arc::clone(opener), transaction })
    }

    fn own(&self) -> Result<&redb::ReadTransaction> {
        self.opener.check()?;
        Ok(self.transaction.as_ref().expect("it is there until it is dropped"))
    }

    pub(crate) fn open_table<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<ReadOnlyTable<K, V>> {
        let transaction = self.own()?;
        let table = read(definition.name(), || transaction.open_table(definition))?;
        Ok(self.table(definition, table))
    }

    /// The same for a table that another program's database does not have.
    pub(crate) fn open_table_if_any<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<Option<ReadOnlyTable<K, V>>> {
        let transaction = self.own()?;
        let table = read(definition.name(), || match transaction.open_table(definition) {
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            table => table.map(Some),
        })?;
        Ok(table.map(|table| self.table(definition, table)))
    }

    fn table<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
        table: redb::ReadOnlyTable<K, V>,
    ) -> ReadOnlyTable<K, V> {
        ReadOnlyTable { opener: Arc::clone(&self.opener), definition, table }
    }

    /// The rows of a table, whatever their types, and its pages.
    pub(crate) fn table_statistics(&self) -> Result<Vec<(String, u64, TableStats)>> {
        let transaction = self.own()?;
        read(NAMES, || -> Result<_, TableError> {
            let tables = transaction.list_tables()?;
            let statistics = tables.map(|handle| {
                let name = handle.name().to_owned();
                let table = transaction.open_untyped_table(handle)?;
                Ok((name, table.len()?, table.stats()?))
            });
            statistics.collect()
        })
    }
}

/// A table of a read transaction.
pub(crate) struct ReadOnlyTable<K: Key + 'static, V: Value + 'static> {
    opener: Arc<Opener>,
    definition: TableDefinition<'static, K, V>,
    table: redb::ReadOnlyTable<K, V>,
}

/// Rows in the order of their keys. Damage ends them.
pub(crate) struct Range<'t, K: Key + 'static, V: Value + 'static> {
    /// The table, if it is of a read transaction.
    definition: Option<TableDefinition<'static, K, V>>,
    rows: Option<redb::Range<'t, K, V>>,
}

/// What is read in a table of either kind of transaction.
pub(crate) trait ReadableTable<K: Key + 'static, V: Value + 'static> {
    fn get<'k>(&self, key: impl Borrow<K::SelfType<'k>>) -> Result<Option<AccessGuard<'_, V>>>;

    fn range<'k, B>(&self, keys: impl RangeBounds<B> + 'k) -> Result<Range<'_, K, V>>
    where
        B: Borrow<K::SelfType<'k>> + 'k;

    fn iter(&self) -> Result<Range<'_, K, V>> {
        self.range::<K::SelfType<'_>>(..)
    }

    fn first(&self) -> Result<Option<Row<'_, K, V>>>;

    fn last(&self) -> Result<Option<Row<'_, K, V>>>;
}

impl<K: Key + 'static, V: Value + 'static> ReadOnlyTable<K, V> {
    fn read<'t, T>(
        &'t self,
        call: impl FnOnce(&'t redb::ReadOnlyTable<K, V>) -> Result<T, StorageError>,
    ) -> Result<T> {
        self.opener.check()?;
        read(self.definition.name(), || call(&self.table))
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> Result<u64> {
        self.read(|table| table.len())
    }

    pub(crate) fn get<'k>(
        &self,
        key: impl Borrow<K::SelfType<'k>>,
    ) -> Result<Option<AccessGuard<'static, V>>> {
        self.read(|table| table.get(key))
    }

    pub(crate) fn range<'k, B>(&self, keys: impl RangeBounds<B>) -> Result<Range<'static, K, V>>
    where
        B: Borrow<K::SelfType<'k>>,
    {
        let rows = self.read(|table| table.range(keys))?;
        Ok(Range { definition: Some(self.definition), rows: Some(rows) })
    }

    pub(crate) fn iter(&self) -> Result<Range<'static, K, V>> {
        self.range::<K::SelfType<'_>>(..)
    }
}

impl<K: Key + 'static, V: Value + 'static> ReadableTable<K, V> for ReadOnlyTable<K, V> {
    fn get<'k>(&self, key: impl Borrow<K::SelfType<'k>>) -> Result<Option<AccessGuard<'_, V>>> {
        Self::get(self, key)
    }

    fn range<'k, B>(&self, keys: impl RangeBounds<B> + 'k) -> Result<Range<'_, K, V>>
    where
        B: Borrow<K::SelfType<'k>> + 'k,
    {
        Self::range(self, keys)
    }

    fn first(&self) -> Result<Option<Row<'_, K, V>>> {
        self.read(redb::ReadableTable::first)
    }

    fn last(&self) -> Result<Option<Row<'_, K, V>>> {
        self.read(redb::ReadableTable::last)
    }
}

impl<K: Key + 'static, V: Value + 'static> ReadableTable<K, V> for redb::Table<'_, K, V> {
    fn get<'k>(&self, key: impl Borrow<K::SelfType<'k>>) -> Result<Option<AccessGuard<'_, V>>> {
        Ok(redb::ReadableTable::get(self, key)?)
    }

    fn range<'k, B>(&self, keys: impl RangeBounds<B> + 'k) -> Result<Range<'_, K, V>>
    where
        B: Borrow<K::SelfType<'k>> + 'k,
    {
        let rows = redb::ReadableTable::range(self, keys)?;
        Ok(Range { definition: None, rows: Some(rows) })
    }

    fn first(&self) -> Result<Option<Row<'_, K, V>>> {
        Ok(redb::ReadableTable::first(self)?)
    }

    fn last(&self) -> Result<Option<Row<'_, K, V>>> {
        Ok(redb::ReadableTable::last(self)?)
    }
}

impl<'t, K: Key + 'static, V: Value + 'static> Range<'t, K, V> {
    fn step(
        &mut self,
        step: impl FnOnce(&mut redb::Range<'t, K, V>) -> Option<Result<Row<'t, K, V>, StorageError>>,
    ) -> Option<Result<Row<'t, K, V>>> {
        let mut rows = self.rows.take()?;
        let next = match &self.definition {
            Some(definition) => read(definition.name(), || step(&mut rows).transpose()),
            None => step(&mut rows).transpose().map_err(Error::from),
        };
        if next.is_ok() {
            self.rows = Some(rows);
        }
        next.transpose()
    }
}

impl<'t, K: Key + 'static, V: Value + 'static> Iterator for Range<'t, K, V> {
    type Item = Result<Row<'t, K, V>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Iterator::next)
    }
}

impl<K: Key + 'static, V: Value + 'static> DoubleEndedIterator for Range<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(DoubleEndedIterator::next_back)
    }
}
