//! What is in force at the current leaf, without the messages.

use super::super::reader::SessionReader;
use super::stored::Stored;
use crate::error::Result;

impl SessionReader {
    /// See [`OmpReader::get_injected_rules`](crate::omp::OmpReader::get_injected_rules).
    pub(crate) fn injected_rules(&self) -> Result<Vec<String>> {
        match self.view().leaf()? {
            Some(leaf) => self.family().injected_rules(&Stored::new(self.view()), leaf.raw()),
            None => Ok(Vec::new()),
        }
    }

    /// See [`OmpReader::get_last_model_change_role`](crate::omp::OmpReader::get_last_model_change_role).
    pub(crate) fn last_model_change_role(&self) -> Result<Option<String>> {
        match self.view().leaf()? {
            Some(leaf) => {
                let mut stored = Stored::new(self.view());
                self.family().last_model_change_role(&mut stored, leaf.raw())
            }
            None => Ok(None),
        }
    }

    /// The session's title or name, as it was set last; `None` if it has none.
    pub fn get_session_name(&self) -> Option<String> {
        self.record().title.clone()
    }
}
