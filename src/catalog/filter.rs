//! Which sessions a list has.

use leafline_import::Family;
use leafline_import::normalised::without_case;

use super::folder::Folder;
use crate::store::session_record::SessionRecord;

/// Which sessions a list has, and in which order. The default is all of them, the one with the latest message first.
///
/// ```
/// use leafline::Family;
/// use leafline::list::{SessionFilter, SessionOrder};
///
/// let filter = SessionFilter {
///     family: Some(Family::Claude),
///     text: Some("login".to_owned()),
///     order: SessionOrder::Created,
///     limit: Some(20),
///     ..SessionFilter::default()
/// };
/// # let _ = filter;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Of this family alone.
    pub family: Option<Family>,
    /// Only of this working directory, under any of its names: see [`Folder`].
    pub cwd: Option<String>,
    /// Of this working directory, or one below it.
    pub below: Option<String>,
    /// With their last message at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// With their last message before this time.
    pub until: Option<i64>,
    /// With this text in the title or in the beginning of the first prompt, in upper or lower case, composed or not, in any
    /// width.
    pub text: Option<String>,
    /// Without the conversations of agents (Claude Code) whose session is in the store.
    pub without_agents: bool,
    /// In this order.
    pub order: SessionOrder,
    /// No more than so many.
    pub limit: Option<usize>,
}

/// The order of a list; equal ones follow by id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionOrder {
    /// The latest message first; sessions without a time last.
    #[default]
    Modified,
    /// The latest creation first.
    Created,
    /// By title, or first prompt, as texts compare; sessions without either last.
    Title,
    /// The largest first.
    Size,
}

impl SessionFilter {
    /// All of a working directory.
    pub fn of_cwd(cwd: impl Into<String>) -> Self {
        Self { cwd: Some(cwd.into()), ..Self::default() }
    }
}

/// A filter prepared to be applied to many sessions.
pub(super) struct Sieve<'f> {
    pub(super) filter: &'f SessionFilter,
    /// The filter's text without case.
    text: Option<String>,
    cwd: Option<Folder>,
    below: Option<Folder>,
}

impl<'f> Sieve<'f> {
    pub(super) fn new(filter: &'f SessionFilter) -> Self {
        let folder = |path: &Option<String>| path.as_deref().map(Folder::new);
        let text = filter.text.as_deref().map(without_case);
        Self { filter, text, cwd: folder(&filter.cwd), below: folder(&filter.below) }
    }

    /// Whether sessions of this family and directory are accepted.
    pub(super) fn takes_place<Text, Bytes, Rest>(
        &self,
        record: &SessionRecord<Text, Bytes, Rest>,
    ) -> bool
    where
        Text: AsRef<str> + PartialEq,
        Bytes: AsRef<[u8]>,
    {
        let directory = record.directory();
        self.filter.family.is_none_or(|family| record.family == family.code())
            && self
                .cwd
                .as_ref()
                .is_none_or(|cwd| directory.is_some_and(|directory| cwd.is(directory)))
            && self
                .below
                .as_ref()
                .is_none_or(|below| directory.is_some_and(|directory| below.holds(directory)))
    }

    /// Whether a session is accepted; the caller filters agents.
    pub(super) fn takes<Text, Bytes, Rest>(&self, record: &SessionRecord<Text, Bytes, Rest>) -> bool
    where
        Text: AsRef<str> + PartialEq,
        Bytes: AsRef<[u8]>,
    {
        let SessionFilter { since, until, .. } = self.filter;
        self.takes_place(record)
            && since.is_none_or(|since| record.modified.is_some_and(|time| time >= since))
            && until.is_none_or(|until| record.modified.is_some_and(|time| time < until))
            && self.text.as_ref().is_none_or(|text| {
                let said = [&record.title, &record.first_prompt];
                said.into_iter().flatten().any(|said| without_case(said.as_ref()).contains(text))
            })
    }
}
