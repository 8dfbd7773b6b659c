//! Which entry of a session is its leaf: the facts that the families' rules use, and their result.

use crate::effect::PointerKind;
use crate::kind::{EntryKind, MessageRole};

/// What a file's header says about the leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LeafHint {
    /// Nothing: the family's rule decides.
    #[default]
    None,
    /// That there is none.
    NoLeaf,
    /// The id of the leaf, as WTF-8 (see [`crate::text`]). If no entry has it, the family's rule decides.
    Entry(Vec<u8>),
}

/// The facts of a line that the rules use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineNode {
    /// What kind of line it is.
    pub kind: EntryKind,
    /// Of a message, whose it is.
    pub role: MessageRole,
    /// Whether it belongs to an agent's conversation beside the session's own.
    pub is_sidechain: bool,
    /// Its time in milliseconds since 1970.
    pub time_ms: Option<i64>,
    /// The ordinal of its parent, if the session has it.
    pub parent: Option<u64>,
    /// The number of entries above it. Meaningless in an irregular session.
    pub depth: u64,
}

/// Access to the lines of a session.
pub trait SessionLines {
    /// Why a look-up can fail.
    type Error;

    /// The ordinal of the last entry with this id, given as WTF-8.
    ///
    /// # Errors
    ///
    /// Errors of the look-up.
    fn find(&mut self, id: &[u8]) -> Result<Option<u64>, Self::Error>;

    /// The node of a line, which must exist.
    ///
    /// # Errors
    ///
    /// Errors of the look-up.
    fn node(&mut self, ordinal: u64) -> Result<LineNode, Self::Error>;
}

/// A record that names the leaf, or where a conversation came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer<'a> {
    /// Its ordinal.
    pub ordinal: u64,
    /// Which record it is.
    pub kind: PointerKind,
    /// The id in it, as WTF-8.
    pub target: Option<&'a [u8]>,
    /// Whether it is a last prompt that is [explicit](crate::EXPLICIT).
    pub is_explicit: bool,
    /// Whether it is a boundary that [keeps messages](crate::KEEPS_MESSAGES).
    pub keeps_messages: bool,
    /// For a boundary, the last message before it that is not on a sidechain.
    pub message_before: Option<u64>,
}

/// The facts gathered while reading the lines.
#[derive(Debug, Clone, Copy)]
pub struct LeafFacts<'a> {
    /// How many lines there are.
    pub lines: u64,
    /// Whether every parent comes before its child, ids are unique and parents form no loop.
    pub is_regular: bool,
    /// The last entry that [leads](crate::Line::leads).
    pub last_entry: Option<u64>,
    /// The last message that is not on a sidechain.
    pub last_message: Option<u64>,
    /// The last message on a sidechain.
    pub last_sidechain_message: Option<u64>,
    /// The records that point to entries, in the order of the lines.
    pub pointers: &'a [Pointer<'a>],
    /// What the header says.
    pub hint: &'a LeafHint,
}

/// What depends on all lines of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decided {
    /// The leaf's ordinal.
    pub leaf: Option<u64>,
    /// The ordinal of the summary that describes the session.
    pub summary: Option<u64>,
}
