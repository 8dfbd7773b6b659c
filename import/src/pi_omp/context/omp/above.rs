//! The path above a compaction.

use super::facts;
use super::reset::is_reset;
use crate::conversation::{Above as Step, Conversation, PathEnd, PathLimit, PathRuns};
use crate::{EntryKind, MessageRole};

/// The entries above a compaction, on the path that omp walks.
pub(super) enum Above {
    /// From this entry up, if the index can be trusted; nothing if there is none.
    Indexed(Option<u64>),
    /// These. The path to the leaf is walked once, and ends where it meets an entry again.
    Walked(PathRuns),
}

impl Above {
    pub(super) fn of<C: Conversation>(
        conversation: &C,
        leaf: u64,
        compaction: u64,
    ) -> Result<Self, C::Error> {
        if conversation.is_indexed() {
            return Ok(Self::Indexed(conversation.node(compaction)?.parent));
        }
        let path = conversation.path(leaf, PathLimit::Root)?;
        let mut above = PathRuns::default();
        path.upwards()
            .skip_while(|&entry| entry != compaction)
            .skip(1)
            .for_each(|it| above.push(it));
        Ok(Self::Walked(above))
    }

    /// The entries below the one with this id; none if that is not here.
    pub(super) fn below<C: Conversation>(
        &self,
        conversation: &C,
        id: &[u8],
    ) -> Result<PathRuns, C::Error> {
        let Some(through) = conversation.find(id)? else { return Ok(PathRuns::default()) };
        match self {
            Self::Indexed(Some(from)) if conversation.is_above(through, *from)? => {
                conversation.path(*from, PathLimit::Before(through))
            }
            Self::Walked(above) if above.contains(through) => {
                let mut below = PathRuns::default();
                above.upwards().take_while(|&entry| entry != through).for_each(|it| below.push(it));
                Ok(below)
            }
            _ => Ok(PathRuns::default()),
        }
    }

    /// The user's last request, below any reset, if the entry with this id is on the path and below it.
    pub(super) fn request<C: Conversation>(
        &self,
        conversation: &mut C,
        leaf: u64,
        first_kept: &[u8],
    ) -> Result<Option<u64>, C::Error> {
        let Some(first) = conversation.find(first_kept)? else { return Ok(None) };
        match self {
            Self::Indexed(from) => {
                let is_on_path = first == leaf || conversation.is_above(first, leaf)?;
                let request = match from {
                    Some(from) if is_on_path => last_request(conversation, *from)?,
                    _ => None,
                };
                let Some(request) = request else { return Ok(None) };
                Ok(conversation.is_above(request, first)?.then_some(request))
            }
            Self::Walked(above) => {
                let is_on_path = conversation.path(leaf, PathLimit::Root)?.contains(first);
                let mut has_passed = is_on_path && !above.contains(first);
                for entry in above.upwards() {
                    if is_reset(conversation, entry)? {
                        return Ok(None);
                    }
                    if facts::is_request(conversation, entry)? {
                        return Ok(has_passed.then_some(entry));
                    }
                    has_passed |= entry == first;
                }
                Ok(None)
            }
        }
    }
}

/// The user's last request at or above an entry, below any reset. The walk ends where it is found.
fn last_request<C: Conversation>(
    conversation: &mut C,
    mut from: u64,
) -> Result<Option<u64>, C::Error> {
    loop {
        let (path, _) = conversation.climb(from, |entry| {
            let node = conversation.node(entry)?;
            let may_end = match node.kind {
                EntryKind::Message => {
                    matches!(node.role, MessageRole::User | MessageRole::Custom)
                }
                kind => matches!(kind, EntryKind::CustomMessage | EntryKind::Unknown),
            };
            Ok(match node.parent {
                Some(parent) if !may_end => Step::Entry(parent),
                _ => Step::End(PathEnd::Root),
            })
        })?;
        let Some(top) = path.highest() else { return Ok(None) };
        if is_reset(conversation, top)? {
            return Ok(None);
        }
        if facts::is_request(conversation, top)? {
            return Ok(Some(top));
        }
        let Some(parent) = conversation.node(top)?.parent else { return Ok(None) };
        from = parent;
    }
}
