//! The facts of a line besides its bytes: its place in the tree.

use super::ordinal::Ordinal;

/// One line's place in the session's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Node {
    /// `EntryKind::code` of the line.
    pub(crate) kind: u8,
    /// `MessageRole::code`, for messages.
    pub(crate) role: u8,
    /// Whether it belongs to an agent's conversation beside the session's own.
    pub(crate) is_sidechain: bool,
    /// The line's parent.
    pub(crate) parent: Parent,
    /// The line's timestamp in milliseconds since 1970, if it has one.
    pub(crate) time: Option<i64>,
    /// The number of ancestors; in an irregular session, of those that the import found.
    pub(crate) depth: u64,
    /// An ancestor far up, so that any ancestor is found in a logarithmic number of steps; the entry's
    /// own ordinal at a root.
    pub(crate) jump: Ordinal,
    /// The settings in force at this entry.
    pub(crate) settings: u64,
    /// The nearest compaction at or above this entry.
    pub(crate) compaction: Option<Ordinal>,
}

/// The parent of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Parent {
    /// The line names none: it is a root, or not an entry.
    #[default]
    None,
    /// The line names a parent that is not in the session, or itself: a root of the tree.
    Orphan,
    /// The parent's ordinal.
    At(Ordinal),
}

impl Parent {
    /// The parent's ordinal, if there is one.
    pub(crate) fn ordinal(self) -> Option<Ordinal> {
        match self {
            Self::At(ordinal) => Some(ordinal),
            Self::None | Self::Orphan => None,
        }
    }
}
