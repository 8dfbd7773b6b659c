//! Entries of a stream: a line is a draft, and its answer the new entry's id.

use leafline::live::EntryDraft;
use leafline::{Family, Session};

use super::super::advice::advised;
use super::drafts;
use super::stream::{Answer, Batch};

/// Entries that are to be stored together.
pub(super) struct Entries<'a> {
    session: &'a mut Session,
    family: Family,
    drafts: Vec<EntryDraft>,
    stored: u64,
}

impl<'a> Entries<'a> {
    pub(super) fn new(session: &'a mut Session, family: Family) -> Self {
        Self { session, family, drafts: Vec::new(), stored: 0 }
    }

    /// Checks that the target of a label exists. The ids of the batch's entries have not been printed yet, so the
    /// target is either stored or does not exist.
    fn check_target(&self, draft: &EntryDraft) -> Result<(), String> {
        let Some(target) = draft.target() else { return Ok(()) };
        self.session
            .get_entry(&String::from_utf8_lossy(&target))
            .map(drop)
            .map_err(|error| advised(&error))
    }
}

impl Batch for Entries<'_> {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let Ok(json) = std::str::from_utf8(line) else {
            return Err("the entry is not UTF-8 text".to_owned());
        };
        if json.trim().is_empty() {
            return Ok(());
        }
        let drafts = drafts(json, self.family)?;
        for draft in &drafts {
            self.check_target(draft)?;
        }
        self.drafts.extend(drafts);
        Ok(())
    }

    fn len(&self) -> usize {
        self.drafts.len()
    }

    fn store(&mut self) -> leafline::Result<Vec<Answer>> {
        let count = self.drafts.len() as u64;
        let ids = self.session.append_all(self.drafts.drain(..))?;
        self.stored += count;
        Ok(ids.into_iter().map(Answer::Entry).collect())
    }

    fn end(&self) -> Option<Answer> {
        None
    }

    fn stored(&self) -> u64 {
        self.stored
    }
}
