//! Opal's functions on a session, under Opal's names.

mod metadata;
mod segment;

use leafline_import::opal::{Draft, Metadata, ReplaceOptions};
use leafline_import::writing::EntryDraft;
use leafline_import::{EntryKind, Family};
use serde::Serialize;

use super::Sealed;
use crate::error::{Error, Result, SessionError};
use crate::session::live::json;
use crate::session::{Entry, Session, SessionReader};

/// The writes of Opal's functions, under Opal's names (Opal session document). A [`Session`] itself has what several
/// families share, such as [`Session::append`] and [`Session::branch`].
///
/// ```
/// use leafline::opal::{Draft, OpalReader, OpalSession};
/// use leafline::{Family, NewSession, Store};
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
/// let ids = session.append_many(["fix the bug", "and test it"].map(Draft::user))?;
/// session.set_metadata_value("title", &"Fix auth bug")?;
/// let reader = session.reader()?;
/// assert_eq!(reader.current_id()?.as_ref(), ids.last());
/// assert_eq!(reader.get_metadata("title")?.as_deref(), Some("\"Fix auth bug\""));
/// # Ok(())
/// # }
/// ```
pub trait OpalSession: Sealed {
    /// [`Session::append_all`] under Opal's name for it.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append`].
    fn append_many<D: Into<EntryDraft>>(
        &mut self,
        drafts: impl IntoIterator<Item = D>,
    ) -> Result<Vec<String>>;

    /// Replaces the session's metadata, in one transaction. They also set its title, its working directory and its
    /// creation time (Opal session document).
    ///
    /// ```
    /// use leafline::opal::{Metadata, OpalReader, OpalSession};
    /// use leafline::{Family, NewSession, Store};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
    /// session.set_metadata_value("title", &"Fix auth bug")?;
    /// assert_eq!(store.sessions()?[0].title.as_deref(), Some("Fix auth bug"));
    /// session.set_metadata(&Metadata::default())?;
    /// assert_eq!(session.reader()?.get_metadata("title")?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`] if the session is not Opal's; those of the store.
    fn set_metadata(&mut self, metadata: &Metadata) -> Result<()>;

    /// Sets one value of the metadata; the others stay (Opal session document, `metadata`).
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidEntry`](crate::error::LiveError::InvalidEntry) for a value that cannot be written as JSON;
    /// those of [`Self::set_metadata`].
    fn set_metadata_value(&mut self, key: &str, value: &impl Serialize) -> Result<()>;

    /// Replaces consecutive messages on a path by others, atomically (Opal session document, `replace_path_segment`).
    /// Returns the new messages' ids.
    ///
    /// `messages` are ids, each message a child of the one before. They are removed. The first of `replacements` goes
    /// below the parent of the first of them, each further one below the one before, and all are stored where the first
    /// removed message was. If the leaf was one of the messages, it moves to the last replacement; otherwise it stays.
    ///
    /// The children of all removed messages become the last replacement's. Opal moves only those of the last removed
    /// message: branches off the middle of the part keep a parent that is gone, and no path from the root reaches them.
    /// Set [`ReplaceOptions::keep_side_branches`] to false to do as Opal does.
    ///
    /// The lines after the first removed one get other ordinals. The session is written again beside the old one: time
    /// is linear in its length, memory is not. Other handles and later readers find it by its id.
    ///
    /// ```
    /// use leafline::opal::{Draft, OpalSession, ReplaceOptions};
    /// use leafline::{Family, NewSession, Store};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
    /// let ids = session.append_many(["a", "b", "c"].map(Draft::user))?;
    /// let summary = Draft::compaction_summary("a, then b", &[], &[]);
    /// let new = session.replace_path_segment(&ids[..2], [summary], ReplaceOptions::default())?;
    /// let mut path = Vec::new();
    /// session.reader()?.get_path(None, |entry| {
    ///     path.extend(entry.id());
    ///     Ok(())
    /// })?;
    /// assert_eq!(path, [new[0].as_str(), ids[2].as_str()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`] if the session is not Opal's; [`SessionError::EntryNotFound`] for an unknown id;
    /// [`LiveError::NotASegment`](crate::error::LiveError::NotASegment) if there are no messages or they are not part
    /// of a path; [`LiveError::InvalidEntry`](crate::error::LiveError::InvalidEntry) if there is no replacement;
    /// [`LiveError::Contended`](crate::error::LiveError::Contended) if others kept changing the session; those of the
    /// store.
    fn replace_path_segment(
        &mut self,
        messages: &[impl AsRef<str>],
        replacements: impl IntoIterator<Item = Draft>,
        options: ReplaceOptions,
    ) -> Result<Vec<String>>;
}

impl OpalSession for Session {
    fn append_many<D: Into<EntryDraft>>(
        &mut self,
        drafts: impl IntoIterator<Item = D>,
    ) -> Result<Vec<String>> {
        self.append_all(drafts)
    }

    fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.change_metadata(|old| {
            old.clone_from(metadata);
            Ok(())
        })
    }

    fn set_metadata_value(&mut self, key: &str, value: &impl Serialize) -> Result<()> {
        let value = json(value)?;
        self.change_metadata(|metadata| Ok(metadata.set(key, &value)?))
    }

    fn replace_path_segment(
        &mut self,
        messages: &[impl AsRef<str>],
        replacements: impl IntoIterator<Item = Draft>,
        options: ReplaceOptions,
    ) -> Result<Vec<String>> {
        let messages: Vec<&str> = messages.iter().map(AsRef::as_ref).collect();
        self.replace_segment(&messages, replacements.into_iter().collect(), options)
    }
}

impl Session {
    /// Fails if the session is not one of Opal.
    fn only_opal(&self, operation: &'static str) -> Result<()> {
        if self.family() == Family::Opal { Ok(()) } else { Err(self.wrong_family(operation)) }
    }
}

/// Reads under Opal's names where ours differ. All but the metadata work in sessions of any family. [`OpalSession`] has
/// an example.
pub trait OpalReader: Sealed {
    /// The session's metadata (Opal session document, state fields).
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`] if the session is not Opal's; [`Error::Corrupted`] if the store is damaged.
    fn metadata(&self) -> Result<Metadata>;

    /// One value of the metadata, as JSON text; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`Self::metadata`].
    fn get_metadata(&self, key: &str) -> Result<Option<String>>;

    /// [`SessionReader::get_leaf_id`] under Opal's name for it (Opal session document, state fields).
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    fn current_id(&self) -> Result<Option<String>>;

    /// The message with this id. Opal returns nothing for an unknown id; this is an error here.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`], also for an entry that is not a message.
    fn get_message(&self, id: &str) -> Result<Entry>;

    /// [`SessionReader::get_path`] to an entry, under Opal's name for it. Returns the number of entries on the path.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`] where Opal returns an empty path; the error of `take`.
    fn get_path_to(&self, id: &str, take: impl FnMut(&Entry) -> Result<()>) -> Result<u64>;
}

impl OpalReader for SessionReader {
    fn metadata(&self) -> Result<Metadata> {
        self.opal_metadata()
    }

    fn get_metadata(&self, key: &str) -> Result<Option<String>> {
        Ok(self.metadata()?.get(key).map(str::to_owned))
    }

    fn current_id(&self) -> Result<Option<String>> {
        self.get_leaf_id()
    }

    fn get_message(&self, id: &str) -> Result<Entry> {
        let entry = self.get_entry(id)?;
        if entry.kind() == EntryKind::Message {
            return Ok(entry);
        }
        Err(Error::Session(SessionError::EntryNotFound {
            session: self.id(),
            entry: id.to_owned(),
        }))
    }

    fn get_path_to(&self, id: &str, take: impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
        self.get_path(Some(id), take)
    }
}
