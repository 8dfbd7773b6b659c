//! The value of the `pointers` table: what a record says of the leaf, or of where a conversation came from.

use bincode::{Decode, Encode};

use super::ordinal::Ordinal;
use super::record::Record;

/// A record that the rules of the leaf and of the history ask for.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct PointerRecord {
    /// Which record it is.
    pub(crate) kind: PointerKind,
    /// The id that it names, WTF-8: the leaf's, or that of the entry that a compacted conversation came from.
    pub(crate) target: Option<Vec<u8>>,
    /// Of a summary, the beginning of its text.
    pub(crate) text: Option<String>,
    /// Of a boundary, the last message before it that is on no sidechain.
    pub(crate) message_before: Option<Ordinal>,
}

/// The records that point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) enum PointerKind {
    /// One that describes the session, and names its leaf.
    Summary,
    /// Another one that names the leaf.
    LastPrompt,
    /// One at which the conversation was compacted.
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
