//! What the store records about a line besides its bytes: its place in the tree.

use super::ordinal::Ordinal;

/// One line's place in the session's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Node {
    /// `EntryKind::code` of the line.
    pub(crate) kind: u8,
    /// `MessageRole::code`, for messages.
    pub(crate) role: u8,
    /// Whether it is part of an agent's conversation beside the session's own.
    pub(crate) is_sidechain: bool,
    /// Where the line hangs.
    pub(crate) parent: Parent,
    /// The line's timestamp in milliseconds since 1970, where it has one.
    pub(crate) time: Option<i64>,
    /// Ancestors above the entry; in an irregular session, those that the import could find.
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
    /// The line names none: a root, or no entry at all.
    #[default]
    None,
    /// The line names a parent that is not in the session, or itself: a root of the tree.
    Orphan,
    /// The parent's ordinal.
    At(Ordinal),
}

impl Parent {
    /// The parent's ordinal, where there is one.
    pub(crate) fn ordinal(self) -> Option<Ordinal> {
        match self {
            Self::At(ordinal) => Some(ordinal),
            Self::None | Self::Orphan => None,
        }
    }
}
