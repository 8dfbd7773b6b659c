//! Copies rows from one store to another, so that the other has the same.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Bound;

use redb::{
    Database, Key, ReadableTableMetadata as _, Table, TableDefinition, TableHandle as _, Value,
    WriteTransaction,
};

use crate::error::{Corruption, Result};
use crate::store::pages::{Range, ReadTransaction, Row};
use crate::store::tables;

/// Bytes of rows in a commit of a new copy, which nobody sees until it is complete.
const COMMIT_BYTES: u64 = 256 << 20;

/// Is told the bytes of rows as they are read.
pub(crate) type Progress<'p> = &'p mut dyn FnMut(u64);

/// A row that stays in its page.
type Read<K, V> = Row<'static, K, V>;

/// What is done with each table that sessions and the history have.
trait Copier {
    /// A table that is copied as a whole.
    fn whole<K: Key, V: Value>(&mut self, table: TableDefinition<'static, K, V>) -> Result<()>;

    /// A table whose keys begin with the session. `start` is the first key that a session can have.
    fn of_sessions<K: Key, V: Value>(
        &mut self,
        table: TableDefinition<'static, K, V>,
        start: fn(u64) -> K::SelfType<'static>,
    ) -> Result<()>;

    /// The blobs, and their bytes.
    fn blobs(&mut self) -> Result<()>;
}

/// Copies all tables but `meta`, `sessions` and `journal`.
fn copy_tables(copier: &mut impl Copier) -> Result<()> {
    copier.of_sessions(tables::LINES, |session| (session, 0, 0))?;
    copier.of_sessions(tables::ENTRIES, |session| (session, b"".as_slice()))?;
    copier.of_sessions(tables::CHILDREN, |session| (session, 0, 0))?;
    copier.of_sessions(tables::LABELS, |session| (session, b"".as_slice()))?;
    copier.of_sessions(tables::SETTINGS, |session| (session, 0))?;
    copier.of_sessions(tables::POINTERS, |session| (session, 0))?;
    copier.of_sessions(tables::USAGE, |session| (session, 0))?;
    copier.of_sessions(tables::ORIGINALS, |session| (session, 0))?;
    copier.blobs()?;
    copier.whole(tables::SESSION_IDS)?;
    copier.whole(tables::SESSION_TIMES)?;
    copier.whole(tables::SESSION_PARENTS)?;
    copier.whole(tables::LEAVES)?;
    copier.whole(tables::SOURCES)?;
    copier.whole(tables::FILES)?;
    copier.whole(tables::FILE_PARTS)?;
    copier.whole(tables::SESSION_FILES)?;
    copier.whole(tables::REMOVED)?;
    copier.whole(tables::REMOVED_IDS)?;
    copier.whole(tables::DICTIONARIES)?;
    copier.whole(tables::UNFINISHED)?;
    copier.whole(tables::UNFOLDED)?;
    copier.whole(tables::HISTORY)?;
    copier.whole(tables::HISTORY_TERMS)?;
    copier.whole(tables::HISTORY_BLOCKS)
}

/// Fills a new store's tables, in several commits. Returns the number of rows.
pub(super) fn fill(
    source: &ReadTransaction,
    copy: &Database,
    progress: Progress<'_>,
) -> Result<u64> {
    let mut filling = Filling { source, copy, progress, rows: 0 };
    copy_tables(&mut filling)?;
    filling.whole(tables::SESSIONS)?;
    Ok(filling.rows)
}

struct Filling<'c> {
    source: &'c ReadTransaction,
    copy: &'c Database,
    progress: Progress<'c>,
    rows: u64,
}

impl Copier for Filling<'_> {
    fn whole<K: Key, V: Value>(
        &mut self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<()> {
        let source = self.source.open_table(definition)?;
        let mut rows = source.iter()?.peekable();
        while rows.peek().is_some() {
            let transaction = self.copy.begin_write()?;
            let mut table = transaction.open_table(definition)?;
            let mut cursor = table.upper_bound_mut(Bound::<K::SelfType<'_>>::Unbounded)?;
            let mut bytes = 0;
            while bytes < COMMIT_BYTES
                && let Some(row) = rows.next()
            {
                let row = row?;
                cursor.insert_before(row.0.value(), row.1.value())?;
                let read = bytes_of(&row);
                bytes += read;
                self.rows += 1;
                (self.progress)(read);
            }
            cursor.close()?;
            if rows.peek().is_none() {
                check_count(definition, source.len()?, table.len()?)?;
            }
            drop(table);
            transaction.commit()?;
        }
        Ok(())
    }

    fn of_sessions<K: Key, V: Value>(
        &mut self,
        table: TableDefinition<'static, K, V>,
        _: fn(u64) -> K::SelfType<'static>,
    ) -> Result<()> {
        self.whole(table)
    }

    fn blobs(&mut self) -> Result<()> {
        self.whole(tables::BLOB_PARTS)?;
        self.whole(tables::BLOBS)
    }
}

/// How the rows of two stores differed.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Sessions that were new or had changed, and those that were gone.
    pub(super) changed: u64,
    pub(super) removed: u64,
    /// Rows of any table that were written or removed.
    pub(super) rows: u64,
}

/// Makes the rows of all tables but `meta` and `journal` those of the source. Of a session whose record is the same in both
/// stores no rows are read, unless all are to be.
pub(super) fn merge(stores: Stores<'_>, all: bool, progress: Progress<'_>) -> Result<Differences> {
    let mut differences = Differences::default();
    let mut sessions = BTreeSet::new();
    let mut rows = stores.merge(tables::SESSIONS, &mut *progress, |session, change| {
        match change {
            Change::Removed => differences.removed += 1,
            Change::Added | Change::Replaced => differences.changed += 1,
        }
        sessions.insert(session);
        Ok(())
    })?;
    // Rows of sessions that no record shows: of imports that have begun, and of what is being deleted.
    for transaction in [stores.source, stores.old] {
        for row in transaction.open_table(tables::UNFINISHED)?.iter()? {
            sessions.insert(row?.0.value());
        }
    }
    let sessions = (!all).then_some(&sessions);
    let mut merging = Merging { stores, sessions, progress, rows: 0 };
    copy_tables(&mut merging)?;
    rows += merging.rows;
    Ok(Differences { rows, ..differences })
}

/// The store that is copied, and its copy as it was and as it is to be.
#[derive(Clone, Copy)]
pub(super) struct Stores<'c> {
    pub(super) source: &'c ReadTransaction,
    pub(super) old: &'c ReadTransaction,
    pub(super) new: &'c WriteTransaction,
}

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Added,
    Replaced,
    Removed,
}

impl Stores<'_> {
    /// Makes a table of the copy the source's, and passes on the keys of the rows that differ. Returns their number.
    fn merge<K: Key, V: Value>(
        self,
        definition: TableDefinition<'static, K, V>,
        progress: Progress<'_>,
        each: impl FnMut(K::SelfType<'_>, Change) -> Result<()>,
    ) -> Result<u64> {
        let source = self.source.open_table(definition)?;
        let old = self.old.open_table(definition)?;
        let mut new = self.new.open_table(definition)?;
        let rows = merge_rows((source.iter()?, old.iter()?), &mut new, progress, each)?;
        check_count(definition, source.len()?, new.len()?)?;
        Ok(rows)
    }
}

/// Brings a range of rows in step. Returns how many differed.
fn merge_rows<K: Key, V: Value>(
    (mut source, mut old): (Range<'static, K, V>, Range<'static, K, V>),
    new: &mut Table<'_, K, V>,
    progress: Progress<'_>,
    mut each: impl FnMut(K::SelfType<'_>, Change) -> Result<()>,
) -> Result<u64> {
    let mut differing = 0;
    let (mut wanted, mut there) = (source.next().transpose()?, old.next().transpose()?);
    loop {
        let order = match (&wanted, &there) {
            (None, None) => return Ok(differing),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(wanted), Some(there)) => compare(wanted, there),
        };
        let change = match (&wanted, &there) {
            (Some(_), _) if order.is_lt() => Some(Change::Added),
            (Some(wanted), Some(there)) if order.is_eq() && !is_same_value(wanted, there) => {
                Some(Change::Replaced)
            }
            _ if order.is_gt() => Some(Change::Removed),
            _ => None,
        };
        if let Some(change) = change
            && let Some(row) = if order.is_gt() { &there } else { &wanted }
        {
            match change {
                Change::Removed => drop(new.remove(row.0.value())?),
                Change::Added | Change::Replaced => drop(new.insert(row.0.value(), row.1.value())?),
            }
            differing += 1;
            each(row.0.value(), change)?;
        }
        if order.is_le() {
            wanted.iter().for_each(|row| progress(bytes_of(row)));
            wanted = source.next().transpose()?;
        }
        if order.is_ge() {
            there = old.next().transpose()?;
        }
    }
}

struct Merging<'c> {
    stores: Stores<'c>,
    /// The sessions that may differ; `None` for all.
    sessions: Option<&'c BTreeSet<u64>>,
    progress: Progress<'c>,
    rows: u64,
}

impl Copier for Merging<'_> {
    fn whole<K: Key, V: Value>(&mut self, table: TableDefinition<'static, K, V>) -> Result<()> {
        self.rows += self.stores.merge(table, &mut *self.progress, |_, _| Ok(()))?;
        Ok(())
    }

    fn of_sessions<K: Key, V: Value>(
        &mut self,
        definition: TableDefinition<'static, K, V>,
        start: fn(u64) -> K::SelfType<'static>,
    ) -> Result<()> {
        let Some(sessions) = self.sessions else { return self.whole(definition) };
        let source = self.stores.source.open_table(definition)?;
        let old = self.stores.old.open_table(definition)?;
        let mut new = self.stores.new.open_table(definition)?;
        for &session in sessions {
            let keys = || start(session)..start(session + 1);
            let rows = (source.range(keys())?, old.range(keys())?);
            self.rows += merge_rows(rows, &mut new, &mut *self.progress, |_, _| Ok(()))?;
        }
        check_count(definition, source.len()?, new.len()?)
    }

    fn blobs(&mut self) -> Result<()> {
        if self.sessions.is_none() {
            self.whole(tables::BLOB_PARTS)?;
            return self.whole(tables::BLOBS);
        }
        let source = self.stores.source.open_table(tables::BLOB_PARTS)?;
        let old = self.stores.old.open_table(tables::BLOB_PARTS)?;
        let mut new = self.stores.new.open_table(tables::BLOB_PARTS)?;
        let (mut read, mut parts) = (0, 0);
        self.rows += self.stores.merge(tables::BLOBS, &mut |_| {}, |hash, change| {
            // The bytes of a blob never change; those of one that was only named may have come.
            if change == Change::Replaced && old.get((hash, 0))?.is_some() {
                return Ok(());
            }
            let keys = || (hash, 0)..=(hash, u32::MAX);
            let rows = (source.range(keys())?, old.range(keys())?);
            parts += merge_rows(rows, &mut new, &mut |bytes| read += bytes, |_, _| Ok(()))?;
            Ok(())
        })?;
        self.rows += parts;
        (self.progress)(read);
        check_count(tables::BLOB_PARTS, source.len()?, new.len()?)
    }
}

fn compare<K: Key, V: Value>(one: &Read<K, V>, other: &Read<K, V>) -> Ordering {
    let (one, other) = (one.0.value(), other.0.value());
    K::compare(K::as_bytes(&one).as_ref(), K::as_bytes(&other).as_ref())
}

fn is_same_value<K: Key, V: Value>(one: &Read<K, V>, other: &Read<K, V>) -> bool {
    let (one, other) = (one.1.value(), other.1.value());
    V::as_bytes(&one).as_ref() == V::as_bytes(&other).as_ref()
}

fn bytes_of<K: Key, V: Value>((key, value): &Read<K, V>) -> u64 {
    let (key, value) = (key.value(), value.value());
    (K::as_bytes(&key).as_ref().len() + V::as_bytes(&value).as_ref().len()) as u64
}

/// Fails if a table of the copy has not as many rows as the store's.
fn check_count<K: Key, V: Value>(
    definition: TableDefinition<'_, K, V>,
    source: u64,
    copy: u64,
) -> Result<()> {
    if source == copy {
        return Ok(());
    }
    Err(Corruption {
        table: tables::name(definition.name()),
        place: "the copy".into(),
        problem: format!("it has {copy} rows, and the store {source}"),
    }
    .into())
}
