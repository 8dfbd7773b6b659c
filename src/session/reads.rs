//! Single reads of a session: each sees it as it is at that moment. Many reads of one moment go through a
//! [`SessionReader`](super::SessionReader), which has the same methods and more.

use std::ops::RangeBounds;

use leafline_import::Family;

use super::{
    Context, ContextLeaf, Entry, History, HistoryScope, Page, PageLimit, Session, Tree,
    UsageStatistics,
};
use crate::error::Result;

/// Each fails with [`Error::SessionNotFound`](crate::Error::SessionNotFound) when the session was deleted meanwhile,
/// and otherwise as the method of the same name of [`SessionReader`](super::SessionReader) does.
impl Session {
    /// The header line.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_header(&self) -> Result<Option<Entry>> {
        self.reader()?.get_header()
    }

    /// The leaf's id; `None` where there is no leaf, or it has no id.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_leaf_id(&self) -> Result<Option<String>> {
        self.reader()?.get_leaf_id()
    }

    /// The current leaf.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_leaf_entry(&self) -> Result<Option<Entry>> {
        self.reader()?.get_leaf_entry()
    }

    /// Hands out the path from the root down to an entry, or to the leaf. Answers how many entries it has.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_path(
        &self,
        from: Option<&str>,
        take: impl FnMut(&Entry) -> Result<()>,
    ) -> Result<u64> {
        self.reader()?.get_path(from, take)
    }

    /// The same under the name that pi has for it.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_branch(
        &self,
        from: Option<&str>,
        take: impl FnMut(&Entry) -> Result<()>,
    ) -> Result<u64> {
        self.get_path(from, take)
    }

    /// The direct children of an entry in the order of the file; of `None`, the roots.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_children(&self, id: Option<&str>) -> Result<Vec<Entry>> {
        self.reader()?.get_children(id)
    }

    /// The whole tree, without the text of its lines.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_tree(&self) -> Result<Tree> {
        self.reader()?.get_tree()
    }

    /// The tree with the records of each message of the API as one node.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_folded_tree(&self) -> Result<Tree> {
        self.reader()?.get_folded_tree()
    }

    /// The label set on an entry.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_label(&self, id: &str) -> Result<Option<String>> {
        self.reader()?.get_label(id)
    }

    /// Hands out all entries in the order of the file, until `take` answers `false`.
    ///
    /// # Errors
    ///
    /// As the reader's, and what `take` fails with.
    pub fn get_entries(&self, take: impl FnMut(Entry) -> Result<bool>) -> Result<()> {
        self.reader()?.get_entries(take)
    }

    /// A page of the entries whose line numbers are in the range.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn entries(&self, range: impl RangeBounds<u64>, limit: &PageLimit) -> Result<Page> {
        self.reader()?.entries(range, limit)
    }

    /// A page of the path from an entry, or from the leaf, up towards the root.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn path_backwards(&self, from: Option<&str>, limit: &PageLimit) -> Result<Page> {
        self.reader()?.path_backwards(from, limit)
    }

    /// A page of the entries of the file around one, that one included.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn entries_around(
        &self,
        id: &str,
        before: u64,
        after: u64,
        limit: &PageLimit,
    ) -> Result<Page> {
        self.reader()?.entries_around(id, before, after, limit)
    }

    /// What goes to the model from an entry on upwards, as the family's program builds it.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn build_context(&self, leaf: ContextLeaf<'_>, family: Option<Family>) -> Result<Context> {
        self.reader()?.build_context(leaf, family)
    }

    /// The same with everything that was said, what was compacted included.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn build_full_history(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
    ) -> Result<Context> {
        self.reader()?.build_full_history(leaf, family)
    }

    /// The entries of which the context at an entry, or its full history, is made.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_history(&self, leaf: ContextLeaf<'_>, scope: HistoryScope) -> Result<History> {
        self.reader()?.get_history(leaf, scope)
    }

    /// The title or the name last set.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_session_name(&self) -> Result<Option<String>> {
        Ok(self.reader()?.get_session_name())
    }

    /// The role of the last change of the model on the path to the leaf.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_last_model_change_role(&self) -> Result<Option<String>> {
        self.reader()?.get_last_model_change_role()
    }

    /// The rules that were injected on the path to the leaf.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_injected_rules(&self) -> Result<Vec<String>> {
        self.reader()?.get_injected_rules()
    }

    /// The sums of what the assistant's messages say of tokens and cost.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn usage_statistics(&self) -> Result<UsageStatistics> {
        self.reader()?.usage_statistics()
    }
}
