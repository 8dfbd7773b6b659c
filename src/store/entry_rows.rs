//! The rows of a session's entries in a snapshot: by their ids, and by their parents.

use super::entry_record::EntryRecord;
use super::ordinal::Ordinal;
use super::session_key::SessionKey;
use super::session_rows::SessionRows;
use super::snapshot::Snapshot;
use super::tables::{self, NO_PARENT};
use crate::error::Result;
use crate::store::pages::{Range, ReadOnlyTable};

/// A session's entries by id.
type Ids = ReadOnlyTable<(u64, &'static [u8]), &'static [u8]>;

/// Some of them.
type IdRange<'s> = Range<'s, (u64, &'static [u8]), &'static [u8]>;

/// Entries of a session none of which has a row of a child. Most have none, and who asks for the children of one asks for
/// those of its neighbours next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Childless {
    session: SessionKey,
    first: u64,
    /// Behind the last.
    end: u64,
}

impl Childless {
    fn has(self, session: SessionKey, parent: u64) -> bool {
        self.session == session && (self.first..self.end).contains(&parent)
    }
}

/// A session's entries by parent.
type Children = ReadOnlyTable<(u64, u64, u64), ()>;

impl Snapshot {
    pub(super) fn entries(&self) -> Result<&Ids> {
        self.open(&self.entries, tables::ENTRIES)
    }

    fn children(&self) -> Result<&Children> {
        self.open(&self.children, tables::CHILDREN)
    }
}

impl<'s> SessionRows<'s> {
    /// Where the entry with an id stands.
    pub(crate) fn entry(self, id: &[u8]) -> Result<Option<EntryRecord>> {
        EntryRecord::find(self.snapshot.entries()?, self.session, id)
    }

    /// Hands out every id of the session's entries, in order, and where the entry stands.
    pub(crate) fn each_entry(
        self,
        mut take: impl FnMut(&[u8], EntryRecord) -> Result<()>,
    ) -> Result<()> {
        for row in self.entries()? {
            let (key, value) = row?;
            take(key.value().1, EntryRecord::from_bytes(value.value())?)?;
        }
        Ok(())
    }

    /// How many of the session's entries are found by an id.
    pub(crate) fn count_entries(self) -> Result<u64> {
        count(self.entries()?)
    }

    /// Hands out the ids that begin with a prefix, in order.
    pub(crate) fn each_id_beginning_with(
        self,
        prefix: &[u8],
        mut take: impl FnMut(&[u8]),
    ) -> Result<()> {
        let from = (self.session.raw(), prefix)..(self.session.end(), &b""[..]);
        for row in self.snapshot.entries()?.range(from)? {
            let (key, _) = row?;
            let id = key.value().1;
            if !id.starts_with(prefix) {
                break;
            }
            take(id);
        }
        Ok(())
    }

    fn entries(self) -> Result<IdRange<'s>> {
        let all = (self.session.raw(), &b""[..])..(self.session.end(), &b""[..]);
        self.snapshot.entries()?.range(all)
    }

    /// The children of an entry that have a row under it: all but the one that stands directly behind it. Of `None`, the
    /// roots.
    pub(crate) fn children(
        self,
        parent: Option<Ordinal>,
    ) -> Result<impl Iterator<Item = Result<Ordinal>>> {
        let parent = parent.map_or(NO_PARENT, Ordinal::raw);
        let childless = self.snapshot.childless.get();
        let mut rows = match childless.is_some_and(|known| known.has(self.session, parent)) {
            true => None,
            false => {
                let session = self.session.raw();
                let rows = (session, parent, 0)..=(session, NO_PARENT, u64::MAX);
                Some(self.snapshot.children()?.range(rows)?)
            }
        };
        let mut first = parent;
        Ok(std::iter::from_fn(move || {
            let row = rows.as_mut()?.next().transpose();
            let end = match row {
                Err(error) => return Some(Err(error)),
                Ok(Some(row)) => match row.0.value() {
                    (_, of, child) if of == parent => {
                        first = parent.saturating_add(1);
                        return Some(Ok(Ordinal::new(child)));
                    }
                    (_, of, _) => of,
                },
                Ok(None) => NO_PARENT,
            };
            rows = None;
            self.snapshot.childless.set(Some(Childless { session: self.session, first, end }));
            None
        }))
    }

    /// Whether a child has a row under its parent.
    pub(crate) fn is_child(self, parent: Option<Ordinal>, ordinal: Ordinal) -> Result<bool> {
        let children = self.snapshot.children()?;
        let parent = parent.map_or(NO_PARENT, Ordinal::raw);
        Ok(children.get((self.session.raw(), parent, ordinal.raw()))?.is_some())
    }

    /// How many rows of children the session has.
    pub(crate) fn count_children(self) -> Result<u64> {
        let all = (self.session.raw(), 0, 0)..(self.session.end(), 0, 0);
        count(self.snapshot.children()?.range(all)?)
    }
}

fn count<T>(rows: impl Iterator<Item = Result<T>>) -> Result<u64> {
    let mut count = 0;
    for row in rows {
        row?;
        count += 1;
    }
    Ok(count)
}
