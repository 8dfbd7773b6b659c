//! What stands at the current leaf, without its messages.

use leafline_import::EntryKind;
use leafline_import::scan::{Raw, Scanner};
use leafline_import::{omp, text};

use super::super::path::Climb;
use super::super::reader::SessionReader;
use super::selection::Selection;
use crate::error::Result;

impl SessionReader {
    /// omp's rules that were injected on the path to the current leaf, each once, in order; none in a session of Claude Code
    /// or Opal.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) where the store is damaged.
    pub fn get_injected_rules(&self) -> Result<Vec<String>> {
        let leaf = if self.family().is_pi_omp() { self.leaf_ordinal()? } else { None };
        Ok(match leaf {
            Some(leaf) => Selection::settings_at(self, leaf)?.injected_rules,
            None => Vec::new(),
        })
    }

    /// The role of the last `model_change` on the path to the current leaf, `default` where it names none; `None`
    /// where there is no such entry. The path is walked up to it.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) where the store is damaged.
    pub fn get_last_model_change_role(&self) -> Result<Option<String>> {
        let Some(leaf) = self.leaf_ordinal()? else {
            return Ok(None);
        };
        let mut climb = Climb::new(self.snapshot(), self.order(), leaf);
        while let Some((ordinal, node)) = climb.step()? {
            if node.kind == EntryKind::ModelChange.code() {
                return self.role_at(ordinal).map(Some);
            }
        }
        Ok(None)
    }

    /// The session's title or name, as it was last set; `None` where it has none.
    pub fn get_session_name(&self) -> Option<String> {
        self.record().title.clone()
    }

    fn role_at(&self, ordinal: u64) -> Result<String> {
        let line = self.known_line(ordinal)?;
        let decoded = text::decode(line.line());
        let role = Scanner::new().scan(&decoded).members.role.and_then(Raw::to_string_lossy);
        Ok(role.map_or_else(|| omp::DEFAULT_ROLE.to_owned(), |role| role.into_owned()))
    }
}
