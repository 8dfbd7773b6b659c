//! One session: its lines, its tree, its forms.

mod ancestor;
mod around;
mod blob_file;
mod change;
mod chunk_lines;
mod context;
mod entry;
pub(crate) mod export;
mod facts;
mod find;
#[cfg(test)]
mod gaps;
pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod live;
pub(crate) mod messages;
mod order;
mod page;
mod paused;
mod reader;
pub(crate) mod render;
mod resolved;
mod saved;
mod shared_text;
pub(crate) mod slices;
mod tree;
mod usage;
mod verify;
pub(crate) mod view;
mod walk;

pub use self::context::{Context, ContextLeaf, ContextMessage, ContextProgram};
pub use self::entry::Entry;
pub use self::export::ExportMode;
pub use self::facts::{SessionFacts, TypeFacts};
pub(crate) use self::find::find;
pub use self::live::{AppendedLines, NewSession, Persistence, RepeatedIds};
pub(crate) use self::live::{added_lines, exact_id, tail_dictionary};
#[cfg(any(test, fuzzing))]
pub(crate) use self::live::{check_change, example_changes};
pub use self::page::{Page, PageLimit};
pub use self::paused::PausedReader;
pub use self::reader::SessionReader;
pub use self::shared_text::SharedText;
pub(crate) use self::shared_text::SharedTexts;
pub use self::tree::{Outline, OutlineEntry, OutlineReader, Segment, Tree, TreeNode, TreeRecord};
#[cfg(feature = "share")]
pub(crate) use self::usage::SessionAnswer;
pub use self::usage::UsageStatistics;
pub(crate) use self::usage::count_usage;
pub use self::verify::{Finding, Verification};
pub(crate) use self::verify::{Findings, check as check_session};

use leafline_import::{Family, Reading};

use self::live::{Appender, Tail};
use crate::error::{Error, Result, SessionError};
use crate::store::Store;
use crate::store::session_key::SessionKey;

/// One session of a store. It keeps no entries: each call sees the current session, whichever process wrote it.
///
/// It holds a clone of its [`Store`] and borrows nothing: it can be kept in a struct, or given to a thread or a task.
pub struct Session {
    store: Store,
    key: SessionKey,
    id: String,
    reading: Reading,
    persistence: Persistence,
    /// The store in memory that has the session under `key` while it waits.
    waiting: Option<Box<Store>>,
    /// The first failure to store, in words.
    latched: Option<String>,
    /// Reused between appends.
    appender: Option<Box<Appender>>,
    /// What the journal has beyond the tables, for raw lines.
    lines_tail: Option<Tail>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Session")
            .field("id", &self.id)
            .field("family", &self.reading.family)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// The session with this id, or the only one whose id begins with it. Where there is none, the only one of Claude
    /// Code's whose file was named otherwise and whose records name a session with this id, or one that begins so.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`], [`SessionError::Ambiguous`].
    pub fn session(&self, id: &str) -> Result<Session> {
        // What a session is and how it is named is in the tables.
        let snapshot = self.committed()?;
        let key = find(&snapshot, id)?;
        let record = snapshot.session(key)?;
        let record =
            record.ok_or_else(|| Error::Session(SessionError::NotFound { id: id.to_owned() }))?;
        let reading = record.reading();
        let persistence = Persistence::documented(reading.family);
        Ok(Session::stored(self, key, record.id(), reading, persistence))
    }

    /// The session with exactly this id, if there is one. It costs one look-up.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn session_with_id(&self, id: &str) -> Result<Option<Session>> {
        let snapshot = self.committed()?;
        let Some(key) = snapshot.key_of(id.as_bytes())? else { return Ok(None) };
        let Some(record) = snapshot.session(key)? else { return Ok(None) };
        let reading = record.reading();
        let persistence = Persistence::documented(reading.family);
        Ok(Some(Session::stored(self, key, record.id(), reading, persistence)))
    }

    /// The current state of the session with this id, for many reads: [`Self::session`] and [`Session::reader`] in one.
    ///
    /// # Errors
    ///
    /// Those of [`Self::session`].
    pub fn reader(&self, id: &str) -> Result<SessionReader> {
        let snapshot = self.snapshot_to_read()?;
        let key = find(&snapshot, id)?;
        SessionReader::open(snapshot, (key, id))
    }
}

impl Session {
    /// The id by which it is addressed.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The family whose format it has.
    pub fn family(&self) -> Family {
        self.reading.family
    }

    pub(crate) fn key(&self) -> SessionKey {
        self.key
    }

    /// Its own store, even while it waits to be stored.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The current state of the session, for many reads.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`] if it was deleted meanwhile.
    pub fn reader(&self) -> Result<SessionReader> {
        SessionReader::open(self.place().snapshot_to_read()?, (self.key, &self.id))
    }

    /// The entry with this id. For several reads, one [`Self::reader`] is cheaper.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`], [`SessionError::NotFound`].
    pub fn get_entry(&self, id: &str) -> Result<Entry> {
        let snapshot = self.place().snapshot_to_read()?;
        let mut found = reader::find_entry(snapshot.rows(self.key), self.reading, id);
        // An import may have given the session another key, and only unswept rows may be left under this one.
        if !matches!(found, Ok(Some(_))) {
            let reader = self.reader()?;
            found = reader::find_entry(reader.view().rows(), reader.reading(), id);
        }
        found?.ok_or_else(|| {
            Error::Session(SessionError::EntryNotFound {
                session: self.id.clone(),
                entry: id.to_owned(),
            })
        })
    }
}
