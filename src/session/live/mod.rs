//! Live sessions: they are begun, appended to, named and copied here.

pub(crate) mod append;
mod beginning;
pub(crate) mod build;
mod change;
mod conversation;
mod create;
#[cfg(test)]
mod faults;
mod folding;
mod grown;
mod journal;
mod lines;
mod named;
mod pending;
mod persistence;
#[cfg(all(unix, any(test, feature = "faults")))]
pub(crate) mod power_loss;
mod raw;
mod rechunk;
mod repeated;
mod retiring;
pub(crate) mod rewrite;

use leafline_import::Reading;
use leafline_import::writing::{BranchSummary, EntryDraft, NotWritten};
use serde::Serialize;

pub(super) use self::append::Appender;
pub(crate) use self::append::exact_id;
use self::append::{Addition, Origin, move_leaf};
pub(super) use self::change::Tail;
pub(crate) use self::change::added_lines;
#[cfg(any(test, fuzzing))]
pub(crate) use self::change::{check_change, example_changes};
pub(crate) use self::create::DEFERRED;
pub use self::create::NewSession;
pub(crate) use self::grown::{Beyond, FileGrowth};
pub(crate) use self::journal::KeptJournal;
pub use self::persistence::Persistence;
pub use self::raw::{AppendedLines, RepeatedIds};
pub(crate) use self::rechunk::tail_dictionary;
use super::{Entry, Session};
use crate::error::{Error, LiveError, Result, SessionError};
use crate::store::session_key::SessionKey;
use crate::store::{Store, blobs};

/// The JSON text of a caller's value.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        Error::Live(LiveError::InvalidEntry {
            problem: format!("this cannot be written as JSON: {error}"),
        })
    })
}

impl From<NotWritten> for Error {
    fn from(error: NotWritten) -> Self {
        LiveError::InvalidEntry { problem: error.to_string() }.into()
    }
}

impl Session {
    pub(crate) fn stored(
        store: &Store,
        key: SessionKey,
        id: String,
        reading: Reading,
        persistence: Persistence,
    ) -> Self {
        Self {
            store: store.clone(),
            key,
            id,
            reading,
            persistence,
            waiting: None,
            latched: None,
            appender: None,
            lines_tail: None,
        }
    }

    /// The same session, whose entries are stored as `persistence` says from now on.
    #[must_use]
    pub fn with_persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// The store that has the session: its own, or the one in memory while it waits.
    pub(crate) fn place(&self) -> &Store {
        self.waiting.as_deref().unwrap_or(&self.store)
    }

    /// The error of a session for which the family has no such operation.
    pub(crate) fn wrong_family(&self, operation: &'static str) -> Error {
        Error::Session(SessionError::WrongFamily {
            id: self.id.clone(),
            family: self.reading.family,
            operation,
        })
    }

    /// Why this session does not get what was to be written.
    fn refuse(&self, error: NotWritten) -> Error {
        match error {
            NotWritten::Unknown { operation } => self.wrong_family(operation),
            error => error.into(),
        }
    }

    /// Fails if sessions of this family do not accept one of the entries.
    fn refuse_foreign(&self, drafts: &[EntryDraft]) -> Result<()> {
        match drafts.iter().find_map(|draft| draft.unknown_to(self.reading.family)) {
            Some(operation) => Err(self.wrong_family(operation)),
            None => Ok(()),
        }
    }

    /// The session has got another key.
    pub(crate) fn is_now(&mut self, key: SessionKey) {
        self.key = key;
        // It knows the session by its old key.
        self.appender = None;
        self.lines_tail = None;
    }

    /// Performs a write, unless something could not be stored before.
    pub(crate) fn persist<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.store.check_process()?;
        self.flush()?;
        let written = write(self);
        if let Err(error) = &written
            && error.is_of_storing()
            && self.persistence.latches_errors
        {
            self.latched = Some(error.to_string());
        }
        written
    }

    /// Fails if an earlier entry could not be stored. There is nothing else to flush: whatever a method has
    /// acknowledged is on disk, unless the session [waits](Self::is_waiting).
    ///
    /// # Errors
    ///
    /// [`LiveError::Latched`].
    pub fn flush(&self) -> Result<()> {
        match &self.latched {
            None => Ok(()),
            Some(first) => Err(Error::Live(LiveError::Latched {
                session: self.id.clone(),
                first: first.clone(),
            })),
        }
    }

    /// Appends an entry below the leaf, and makes it the leaf. Returns its id.
    ///
    /// In a Claude Code session the result of a tool goes below the entry with its call, and what stands outside the tree, such
    /// as a title, does not become the leaf and has no id: an empty text is returned. If records in the session name a leaf that
    /// is not above the new entry, as after [`Self::branch`], a `last-prompt` is appended too, so that the program finds it.
    ///
    /// ```
    /// use leafline::{Family, NewSession, Store, opal};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
    /// let id = session.append(opal::Draft::user("fix the bug"))?;
    /// assert_eq!(session.reader()?.get_leaf_id()?, Some(id));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) for a draft in the form of another
    /// family, and in a Codex session, which cannot be appended to here;
    /// [`SessionError::NotFound`](crate::error::SessionError::NotFound) if the session was deleted meanwhile;
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound) for a label on an entry that does not
    /// exist; those of the store.
    pub fn append(&mut self, draft: impl Into<EntryDraft>) -> Result<String> {
        let mut ids = self.append_from(Origin::Leaf, vec![draft.into()])?;
        Ok(ids.pop().unwrap_or_default())
    }

    /// Appends entries, each below the one before, in one transaction: all of them, or none. Returns their ids.
    ///
    /// # Errors
    ///
    /// Those of [`Self::append`].
    pub fn append_all<D: Into<EntryDraft>>(
        &mut self,
        drafts: impl IntoIterator<Item = D>,
    ) -> Result<Vec<String>> {
        self.append_from(Origin::Leaf, drafts.into_iter().map(Into::into).collect())
    }

    fn append_from(&mut self, origin: Origin<'_>, drafts: Vec<EntryDraft>) -> Result<Vec<String>> {
        self.refuse_foreign(&drafts)?;
        let (family, as_of) = (self.reading.family, self.persistence.as_of);
        let ends_wait = drafts.iter().any(|draft| family.begins_file(draft.role(), as_of));
        let rules = &self.persistence.rules;
        let additions: Vec<Addition> = drafts
            .into_iter()
            .map(|mut draft| {
                let images = draft.apply(rules, &mut blobs::hash);
                Addition { draft, images }
            })
            .collect();
        if additions.is_empty() {
            self.flush()?;
            return Ok(Vec::new());
        }
        self.persist(|session| {
            let appender = || Box::new(Appender::new(session.reading));
            if ends_wait && let Some(memory) = session.waiting.clone() {
                let mut appender = appender();
                return session.store_with(&memory, |copy, place| {
                    Ok((appender.append(copy, place, origin, additions)?, None))
                });
            }
            let mut appender = session.appender.take().unwrap_or_else(appender);
            let appended =
                appender.append(session.place(), (session.key, &session.id), origin, additions);
            session.appender = Some(appender);
            appended
        })
    }

    /// Appends a message: a JSON object with a `role`, and in an Opal session with Opal's other members. Undocumented
    /// members pass through. In a Claude Code session it is a message of the API, and becomes an entry for each block of the
    /// model's and each result of a tool; the id returned is that of the last.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidEntry`] if it is not a message; those of [`Self::append`].
    pub fn append_message(&mut self, message: &impl Serialize) -> Result<String> {
        let drafts = self.reading.family.message(&json(message)?);
        let mut ids = self.append_all(drafts.map_err(|error| self.refuse(error))?)?;
        Ok(ids.pop().unwrap_or_default())
    }

    /// Moves the leaf to an entry: the next entry is appended below it. The leaf is kept in the store.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound); those of the store.
    pub fn branch(&mut self, entry: &str) -> Result<()> {
        self.persist(|session| move_leaf(session.place(), (session.key, &session.id), Some(entry)))
    }

    /// Moves the leaf before all entries: the next entry is appended as a root.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn reset_leaf(&mut self) -> Result<()> {
        self.persist(|session| move_leaf(session.place(), (session.key, &session.id), None))
    }

    /// Moves the leaf to the entry above it, and returns the entry that it was; `None` if there is no leaf. Nothing is deleted:
    /// the entry is a branch of its own from then on. Of several callers at once each gets another entry.
    ///
    /// ```
    /// use leafline::{Family, NewSession, Store, opal};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
    /// let id = session.append(opal::Draft::user("fix the bug"))?;
    /// assert_eq!(session.leave_leaf()?.and_then(|entry| entry.id()), Some(id));
    /// assert!(session.leave_leaf()?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn leave_leaf(&mut self) -> Result<Option<Entry>> {
        self.persist(|session| append::leave_leaf(session.place(), (session.key, &session.id)))
    }

    /// Sets or clears a label on an entry by appending an entry (pi and omp documents, `label`).
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound) for the target; those of
    /// [`Self::append`].
    pub fn label(&mut self, target: &str, label: Option<&str>) -> Result<String> {
        let draft = self.reading.family.label(target, label);
        self.append(draft.map_err(|error| self.refuse(error))?)
    }

    /// Moves the leaf to an entry, or before all, and appends a summary of the abandoned branch. Returns the summary's
    /// id.
    ///
    /// In an Opal session the summary is a user message with these metadata: `type` is `branch_summary`, `from_leaf`
    /// the abandoned leaf, `summary` the text (see [`Draft::branch_summary`](leafline_import::opal::Draft::branch_summary)).
    /// Opal has neither details nor such extensions: `details`, if given, is also a member of the metadata, and
    /// `from_extension` is not kept.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound); those of [`Self::append_message`].
    pub fn branch_with_summary(
        &mut self,
        entry: Option<&str>,
        summary: &str,
        details: Option<&impl Serialize>,
        from_extension: Option<bool>,
    ) -> Result<String> {
        let details = details.map(json).transpose()?;
        let left = self.reader()?.get_leaf()?;
        let left = left.and_then(|leaf| append::exact_id(self.reading, leaf.line()));
        let (left, details) = (left.as_deref(), details.as_deref());
        let summary = BranchSummary { entry, left, summary, details, from_extension };
        let draft = self.reading.family.branch_summary(&summary);
        let draft = draft.map_err(|error| self.refuse(error))?;
        let origin = entry.map_or(Origin::Root, Origin::Entry);
        let mut ids = self.append_from(origin, vec![draft])?;
        Ok(ids.pop().unwrap_or_default())
    }
}
