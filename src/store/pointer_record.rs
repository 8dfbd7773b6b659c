//! The value of the `pointers` table: what a record of Claude Code says of the leaf, or of where a conversation came from.

use bincode::{Decode, Encode};

use super::record::Record;

/// A record that the rules of the leaf and of the history ask for.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct PointerRecord {
    /// Which record it is.
    pub(crate) kind: PointerKind,
    /// The uuid that it names, WTF-8: the leaf's, or that of a boundary's logical parent.
    pub(crate) target: Option<Vec<u8>>,
    /// Of a summary, the beginning of its text.
    pub(crate) text: Option<String>,
    /// Of a boundary, the last message ahead of it that is on no sidechain.
    pub(crate) message_before: Option<u64>,
}

/// The records that point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) enum PointerKind {
    /// A `summary`.
    Summary,
    /// A `last-prompt`.
    LastPrompt,
    /// A compact boundary.
    Boundary,
}

impl Record for PointerRecord {
    const TABLE: &'static str = "pointers";
}
