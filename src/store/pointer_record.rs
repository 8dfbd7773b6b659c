//! The value of the `pointers` table: what a record says about the leaf, or about where a conversation came from.

use bincode::{Decode, Encode};

use super::ordinal::Ordinal;
use super::record::Record;

/// A record that the rules of the leaf and of the history need.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct PointerRecord {
    /// Which record it is.
    pub(crate) kind: PointerKind,
    /// The id in it, WTF-8: the leaf's, or that of the entry that a compacted conversation came from.
    pub(crate) target: Option<Vec<u8>>,
    /// For a summary, the beginning of its text; for a last prompt that is explicit, `EXPLICIT`; for a boundary
    /// that keeps messages, `KEEPS_MESSAGES`.
    pub(crate) text: Option<String>,
    /// For a boundary, the last message before it that is not on a sidechain.
    pub(crate) message_before: Option<Ordinal>,
}

/// The records that point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) enum PointerKind {
    /// It describes the session, and names its leaf.
    Summary,
    /// It only names the leaf.
    LastPrompt,
    /// The conversation was compacted at it.
    Boundary,
}

impl From<leafline_import::PointerKind> for PointerKind {
    fn from(kind: leafline_import::PointerKind) -> Self {
        match kind {
            leafline_import::PointerKind::Summary => Self::Summary,
            leafline_import::PointerKind::LastPrompt => Self::LastPrompt,
            leafline_import::PointerKind::Boundary => Self::Boundary,
        }
    }
}

impl From<PointerKind> for leafline_import::PointerKind {
    fn from(kind: PointerKind) -> Self {
        match kind {
            PointerKind::Summary => Self::Summary,
            PointerKind::LastPrompt => Self::LastPrompt,
            PointerKind::Boundary => Self::Boundary,
        }
    }
}

impl Record for PointerRecord {
    const TABLE: &'static str = "pointers";
}
