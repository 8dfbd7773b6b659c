//! Which entry of a session is its leaf: what the rules of the families ask, and what they answer.

use crate::effect::PointerKind;
use crate::kind::EntryKind;

/// What a file's header says of the leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LeafHint {
    /// Nothing: the family's rule decides.
    #[default]
    None,
    /// That there is none.
    NoLeaf,
    /// The id of the leaf, as WTF-8 (see [`crate::text`]). The family's rule decides where no entry has it.
    Entry(Vec<u8>),
}

/// What the rules ask of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineNode {
    /// What kind of line it is.
    pub kind: EntryKind,
    /// Whether it is part of an agent's conversation beside the session's own.
    pub is_sidechain: bool,
    /// The ordinal of its parent, where the session has that.
    pub parent: Option<u64>,
    /// The number of entries above it. Of an irregular session it means nothing.
    pub depth: u64,
}

/// The lines of a session, to look up in.
pub trait SessionLines {
    /// Why a look-up can fail.
    type Error;

    /// The ordinal of the last entry with an id, given as WTF-8.
    ///
    /// # Errors
    ///
    /// What the look-up gives.
    fn find(&mut self, id: &[u8]) -> Result<Option<u64>, Self::Error>;

    /// The node of a line, which must be there.
    ///
    /// # Errors
    ///
    /// What the look-up gives.
    fn node(&mut self, ordinal: u64) -> Result<LineNode, Self::Error>;
}

/// A record that names the leaf, or where a conversation came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer<'a> {
    /// Its ordinal.
    pub ordinal: u64,
    /// Which record it is.
    pub kind: PointerKind,
    /// The id that it names, as WTF-8.
    pub target: Option<&'a [u8]>,
    /// Of a boundary, the last message before it that is on no sidechain.
    pub message_before: Option<u64>,
}

/// What was gathered while the lines were read.
#[derive(Debug, Clone, Copy)]
pub struct LeafFacts<'a> {
    /// How many lines there are.
    pub lines: u64,
    /// Whether no parent comes later than its child, no id is met twice and no parents loop.
    pub is_regular: bool,
    /// The last entry that [leads](crate::Line::leads).
    pub last_entry: Option<u64>,
    /// The last message that is on no sidechain.
    pub last_message: Option<u64>,
    /// The last message that is on one.
    pub last_sidechain_message: Option<u64>,
    /// The records that point, in the order of the lines.
    pub pointers: &'a [Pointer<'a>],
    /// What the header says.
    pub hint: &'a LeafHint,
}

/// What the lines of a session decide together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decided {
    /// The leaf's ordinal.
    pub leaf: Option<u64>,
    /// The ordinal of the summary that describes the session.
    pub summary: Option<u64>,
}
