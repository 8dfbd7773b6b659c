//! One session: its lines, its tree, its forms.

mod ancestor;
mod around;
mod change;
mod chunk_lines;
mod climb;
mod context;
mod entry;
pub(crate) mod export;
mod facts;
#[cfg(test)]
mod gaps;
mod history;
pub(crate) mod index;
pub(crate) mod lines;
mod live;
pub(crate) mod messages;
mod opal_reads;
mod order;
mod page;
mod path;
mod reader;
mod reads;
pub(crate) mod render;
mod saved;
mod shared_text;
mod tree;
mod usage;
mod verify;

pub use self::context::{
    Context, ContextLeaf, ContextMessage, ContextModel, ContextSettings, JsonText,
};
pub use self::entry::Entry;
pub use self::export::ExportMode;
pub use self::facts::{SessionFacts, TypeFacts};
pub use self::history::{History, HistoryScope};
pub use self::live::{EntryDraft, NewSession, Persistence};
pub(crate) use self::live::{now, tail_dictionary};
pub(crate) use self::order::Order;
pub use self::page::{Page, PageLimit};
pub use self::reader::SessionReader;
pub use self::shared_text::SharedText;
pub(crate) use self::shared_text::SharedTexts;
pub use self::tree::{Tree, TreeNode, TreeRecord};
pub use self::usage::UsageStatistics;
pub use self::verify::{Finding, Verification};
pub(crate) use self::verify::{Findings, check as check_session};

use self::index::reading::Reading;
use self::live::Appender;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::snapshot::Snapshot;
use crate::store::tables;

/// Ambiguous ids that an error names.
const EXAMPLES: usize = 3;

/// One session of a store. It holds no entries: each call sees the session as it is then, whoever has written it.
#[derive(Debug)]
pub struct Session<'s> {
    store: &'s Store,
    key: u64,
    id: String,
    reading: Reading,
    persistence: Persistence,
    /// Holds the session under `key` while it waits to be stored.
    waiting: Option<Box<Store>>,
    /// The first failure to store, in words.
    latched: Option<String>,
    /// Tools that appends use again.
    appender: Option<Box<Appender>>,
}

impl Store {
    /// The session with this id, or the only one whose id begins with it.
    ///
    /// # Errors
    ///
    /// [`Error::SessionNotFound`], [`Error::SessionAmbiguous`].
    pub fn session(&self, id: &str) -> Result<Session<'_>> {
        let snapshot = self.snapshot()?;
        let key = find(&snapshot, id)?;
        let record = snapshot.session(key)?;
        let record = record.ok_or_else(|| Error::SessionNotFound { id: id.to_owned() })?;
        let reading = Reading::of(&record)?;
        let persistence = Persistence::documented(reading.family);
        Ok(Session::stored(self, key, record.id(), reading, persistence))
    }

    /// The session with this id as it is now, for many reads: [`Self::session`] and [`Session::reader`] in one.
    ///
    /// # Errors
    ///
    /// Those of [`Self::session`].
    pub fn reader(&self, id: &str) -> Result<SessionReader<'_>> {
        let snapshot = self.snapshot()?;
        let key = find(&snapshot, id)?;
        SessionReader::open(snapshot, (key, id))
    }
}

impl Session<'_> {
    /// The id by which it is addressed.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// The store that it is of, also while it waits to be stored.
    pub(crate) fn store(&self) -> &Store {
        self.store
    }

    /// The session as it is now, for many reads.
    ///
    /// # Errors
    ///
    /// [`Error::SessionNotFound`] when it was deleted meanwhile.
    pub fn reader(&self) -> Result<SessionReader<'_>> {
        SessionReader::open(self.place().snapshot()?, (self.key, &self.id))
    }

    /// The entry with this id. Several reads are cheaper through one [`Self::reader`].
    ///
    /// # Errors
    ///
    /// [`Error::EntryNotFound`], [`Error::SessionNotFound`].
    pub fn get_entry(&self, id: &str) -> Result<Entry> {
        let place = (self.key, self.reading);
        let mut found = reader::find_entry(&self.place().snapshot()?, place, id);
        // An import may have given the session another key, and left of the rows under this one what is not swept yet.
        if !matches!(found, Ok(Some(_))) {
            let reader = self.reader()?;
            found = reader::find_entry(reader.snapshot(), (reader.key(), reader.reading()), id);
        }
        found?
            .ok_or_else(|| Error::EntryNotFound { session: self.id.clone(), entry: id.to_owned() })
    }
}

/// The session's key by its id, or by the beginning of it.
pub(crate) fn find(snapshot: &Snapshot<'_>, id: &str) -> Result<u64> {
    let ids = snapshot.table(tables::SESSION_IDS)?;
    if let Some(key) = ids.get(id.as_bytes())? {
        return Ok(key.value());
    }
    let mut examples = Vec::new();
    let mut found = None;
    let mut count = 0;
    for row in ids.range(id.as_bytes()..)? {
        let (known, key) = row?;
        if id.is_empty() || !known.value().starts_with(id.as_bytes()) {
            break;
        }
        count += 1;
        found = Some(key.value());
        if examples.len() < EXAMPLES {
            examples.push(String::from_utf8_lossy(known.value()).into_owned());
        }
    }
    match found {
        Some(key) if count == 1 => Ok(key),
        Some(_) => Err(Error::SessionAmbiguous { prefix: id.to_owned(), count, examples }),
        None => Err(Error::SessionNotFound { id: id.to_owned() }),
    }
}
