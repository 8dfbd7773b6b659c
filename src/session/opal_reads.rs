//! Reads by the names that Opal has for them, in sessions of any family.

use leafline_import::EntryKind;

use super::{Entry, Session, SessionReader};
use crate::error::{Error, Result};

impl SessionReader {
    /// [`Self::get_leaf_id`] by the name that Opal has for it (Opal session document, state fields).
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn current_id(&self) -> Result<Option<String>> {
        self.get_leaf_id()
    }

    /// The message with this id. Where Opal answers nothing for an unknown id, this is an error.
    ///
    /// # Errors
    ///
    /// [`Error::EntryNotFound`], for an entry that is no message, too.
    pub fn get_message(&self, id: &str) -> Result<Entry> {
        let entry = self.get_entry(id)?;
        if entry.kind() == EntryKind::Message {
            return Ok(entry);
        }
        Err(Error::EntryNotFound { session: self.id(), entry: id.to_owned() })
    }

    /// [`Self::get_path`] to an entry by the name that Opal has for it. Answers how many entries the path has.
    ///
    /// # Errors
    ///
    /// [`Error::EntryNotFound`], where Opal answers an empty path; what `take` fails with.
    pub fn get_path_to(&self, id: &str, take: impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
        self.get_path(Some(id), take)
    }
}

/// Each fails with [`Error::SessionNotFound`] when the session was deleted meanwhile, and otherwise as the method of the
/// same name of [`SessionReader`] does.
impl Session {
    /// The leaf's id; `None` where there is no leaf, or it has no id.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn current_id(&self) -> Result<Option<String>> {
        self.reader()?.current_id()
    }

    /// The message with this id.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_message(&self, id: &str) -> Result<Entry> {
        self.reader()?.get_message(id)
    }

    /// Hands out the path from the root down to an entry. Answers how many entries it has.
    ///
    /// # Errors
    ///
    /// As the reader's, and what `take` fails with.
    pub fn get_path_to(&self, id: &str, take: impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
        self.reader()?.get_path_to(id, take)
    }
}
