//! Live sessions: everything that the programs' `SessionManager` writes.

mod append;
mod build;
mod create;
mod draft;
#[cfg(test)]
mod faults;
mod ids;
mod metadata;
pub(super) mod omp;
pub(super) mod opal;
mod pending;
mod persistence;
pub(super) mod pi;
mod rechunk;
mod rewrite;
mod segment;
mod tool_call;

use leafline_import::opal::{Draft as OpalDraft, Metadata};
use leafline_import::pi_omp::Draft;
use leafline_import::{Family, Reading};
use serde::Serialize;

pub(super) use self::append::Appender;
use self::append::{Addition, Origin, move_leaf};
pub use self::create::NewSession;
pub use self::draft::EntryDraft;
pub use self::persistence::Persistence;
pub(crate) use self::rechunk::tail_dictionary;
use super::{Session, SessionReader};
use crate::error::{Error, LiveError, Result};
use crate::store::session_key::SessionKey;
use crate::store::{Store, blobs};

/// Limits the programs' traits to the types of this crate, so that they may grow.
pub trait Sealed {}

impl Sealed for Session {}
impl Sealed for SessionReader {}

/// The JSON text of a caller's value.
fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        Error::Live(LiveError::InvalidEntry {
            problem: format!("this cannot be written as JSON: {error}"),
        })
    })
}

/// The JSON text of an optional value.
fn optional(value: Option<&impl Serialize>) -> Result<Option<String>> {
    value.map(json).transpose()
}

impl Session {
    pub(super) fn stored(
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
        }
    }

    /// The same session, stored as `persistence` says from now on.
    #[must_use]
    pub fn with_persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// The store that has the session: its own, or the one in memory while it waits.
    pub(super) fn place(&self) -> &Store {
        self.waiting.as_deref().unwrap_or(&self.store)
    }

    /// Performs a write, unless something could not be stored before.
    fn persist<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
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
    /// family, and in a Claude Code session, which cannot be appended to here;
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
        let ends_wait = drafts.iter().any(pending::ends_wait);
        let rules = &self.persistence.rules;
        let additions: Vec<Addition> = drafts
            .into_iter()
            .map(|mut draft| {
                let images = match &mut draft {
                    EntryDraft::PiOmp(draft) => rules.apply(draft, blobs::hash),
                    EntryDraft::Opal(_) => Vec::new(),
                };
                Addition { draft, images }
            })
            .collect();
        if additions.is_empty() {
            self.flush()?;
            return Ok(Vec::new());
        }
        self.persist(|session| {
            let mut appender =
                session.appender.take().unwrap_or_else(|| Box::new(Appender::new(session.reading)));
            let appended =
                appender.append(session.place(), (session.key, &session.id), origin, additions);
            session.appender = Some(appender);
            let ids = appended?;
            if ends_wait {
                session.store_waiting()?;
            }
            Ok(ids)
        })
    }

    /// Appends a message: a JSON object with a `role`, and in an Opal session with Opal's other members. Undocumented
    /// members pass through.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidEntry`] if it is not a message; those of [`Self::append`].
    pub fn append_message(&mut self, message: &impl Serialize) -> Result<String> {
        let message = json(message)?;
        match self.reading.family {
            Family::Opal => self.append(OpalDraft::from_json(&message)?),
            _ => self.append(Draft::message(&message)?),
        }
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

    /// Sets or clears a label on an entry by appending an entry (pi and omp documents, `label`).
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound) for the target; those of
    /// [`Self::append`].
    pub fn label(&mut self, target: &str, label: Option<&str>) -> Result<String> {
        self.append(Draft::label(target, label))
    }

    /// Moves the leaf to an entry, or before all, and appends a summary of the abandoned branch. Returns the summary's
    /// id.
    ///
    /// In an Opal session the summary is a user message with these metadata: `type` is `branch_summary`, `from_leaf`
    /// the abandoned leaf, `summary` the text (see [`OpalDraft::branch_summary`]). Opal has neither details nor such
    /// extensions: `details`, if given, is also a member of the metadata, and `from_extension` is not kept.
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
        let details = optional(details)?;
        let draft = match self.reading.family {
            Family::Opal => self.opal_branch_summary(summary, details.as_deref())?.into(),
            family => Draft::branch_summary(
                family,
                entry.unwrap_or("root"),
                summary,
                details.as_deref(),
                from_extension,
            )?
            .into(),
        };
        let origin = entry.map_or(Origin::Root, Origin::Entry);
        let mut ids = self.append_from(origin, vec![draft])?;
        Ok(ids.pop().unwrap_or_default())
    }

    fn opal_branch_summary(&self, summary: &str, details: Option<&str>) -> Result<OpalDraft> {
        let left = self.reader()?.get_leaf()?;
        let left = left.and_then(|leaf| append::exact_id(self.reading, leaf.line()));
        let mut draft = OpalDraft::branch_summary(summary, left.as_deref());
        if let (Some(details), Some(metadata)) = (details, draft.member("metadata")) {
            let mut metadata = Metadata::from_json(metadata)?;
            metadata.set("details", details)?;
            draft.set_member("metadata", &metadata.to_json())?;
        }
        Ok(draft)
    }
}
