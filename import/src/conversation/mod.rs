//! A session as its family sees it: a tree of lines, however they are stored.
//!
//! [`Conversation`] is what a family needs to work out how a program reads a session. It has places, nodes and lines;
//! the family decides what they mean.

mod history;
mod path;
mod settings;

pub use history::{Above, History, HistoryScope, PathEnd};
pub use path::PathRuns;
pub use settings::PathSettings;

use crate::{EntryKind, MessageRole, ProgramVersion};

/// An entry's reference to another entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Link<E> {
    /// It names none.
    None,
    /// This one; the last of several with the id.
    Entry(E),
    /// One that is not in the session.
    Missing,
}

/// The facts of an entry that do not need its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// What kind of entry it is.
    pub kind: EntryKind,
    /// Whose message it is.
    pub role: MessageRole,
    /// Whether it belongs to an agent's conversation beside the session's own.
    pub is_sidechain: bool,
    /// Its timestamp in milliseconds since 1970, if it has one.
    pub time_ms: Option<i64>,
    /// The entry above it; `None` for a root.
    pub parent: Option<u64>,
    /// The number of entries above it. Valid only if [`Conversation::is_indexed`].
    pub depth: u64,
    /// The nearest compaction at or above it. Valid only if [`Conversation::is_indexed`].
    pub compaction: Option<u64>,
}

/// How far up a path goes. If it does not meet the entry, it goes up to the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathLimit {
    /// To the root.
    Root,
    /// Up to and including this entry.
    At(u64),
    /// Up to this entry, without it.
    Before(u64),
}

/// How a line's images are given.
///
/// A program may keep an image outside the file and refer to it in the line.
#[derive(Clone, Copy)]
pub enum Images<'f> {
    /// The line as it is in the file, with its references.
    AsWritten,
    /// The cheapest form: long base64 may be missing.
    Omitted,
    /// Some references are replaced by the image, as base64, if it is known. The function gets the text of a line that
    /// has references, and returns the byte offsets of the references to replace. Long base64 may be missing in that
    /// text, but nothing else.
    Resolved(&'f dyn Fn(&str) -> Vec<usize>),
}

/// The beginning of another session, which a session continues without repeating it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The other session, as its family names it.
    pub session: String,
    /// Where the beginning ends.
    pub end: BaseEnd,
}

/// Where the part of another session ends with which a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseEnd {
    /// After so many bytes of its file, at the end of a line. The program does not go on without them.
    Bytes(u64),
    /// At the entry with this id. Without it, the program goes on with the session's own entries.
    Entry(String),
}

/// A preceding session, and how much of it precedes.
#[derive(Debug)]
pub struct Before<C> {
    /// The session.
    pub conversation: C,
    /// How many of its lines precede.
    pub lines: u64,
}

/// A stored session. Places are the ordinals of lines, from 0, the header included; a place passed to a method must be
/// in the session.
///
/// Each method returns the errors of the store, for example if a place does not exist.
#[expect(clippy::missing_errors_doc, reason = "said once, for all of them")]
pub trait Conversation {
    /// Why a look-up can fail.
    type Error;

    /// The place of the header, if the session has one.
    fn header(&self) -> Result<Option<u64>, Self::Error>;

    /// The last line that is an entry.
    fn last_entry(&self) -> Result<Option<u64>, Self::Error>;

    /// Whether it may be an agent's, which another session started.
    fn is_agent(&self) -> bool {
        true
    }

    /// Whether records are to be recovered from lines that are not JSON.
    fn recovers(&self) -> bool;

    /// The version of the program whose rules are asked for; `None` for today's. A family decides which rules those are.
    fn as_of(&self) -> Option<ProgramVersion> {
        None
    }

    /// Whether all entries have ids and come after their parents, so that [`Node::depth`], [`Node::compaction`] and
    /// [`Self::is_above`] are valid. Otherwise a family reads the lines.
    fn is_indexed(&self) -> bool;

    /// The entry with this id; the last of several.
    fn find(&self, id: &[u8]) -> Result<Option<u64>, Self::Error>;

    /// The last entry with the id that an entry has: itself, or a later copy of it.
    fn last_copy(&self, _: u64, id: &[u8]) -> Result<Option<u64>, Self::Error> {
        self.find(id)
    }

    /// The last compaction at or ahead of a place.
    fn last_compaction(&self, place: u64) -> Result<Option<u64>, Self::Error>;

    /// The node of an entry.
    fn node(&self, entry: u64) -> Result<Node, Self::Error>;

    /// The node of a line; `None` if it is not an entry.
    fn node_of_line(&self, place: u64) -> Result<Option<Node>, Self::Error>;

    /// The same as [`Self::node`], if the entry's line is likely to be read next: a store that keeps both together reads
    /// them once.
    fn node_ahead_of_line(&mut self, entry: u64) -> Result<Node, Self::Error> {
        self.node(entry)
    }

    /// The entry that an entry names as its parent, possibly itself.
    fn parent(&self, entry: u64) -> Result<Link<u64>, Self::Error>;

    /// The entries that name an entry as their parent, in the order of the file. Of several entries with one id they are
    /// the last one's.
    fn children(&self, entry: u64) -> Result<Vec<u64>, Self::Error>;

    /// The entry that an entry points to besides its parent; only for kinds that have one.
    fn pointer(&self, entry: u64) -> Result<Link<u64>, Self::Error>;

    /// Whether one entry is an ancestor of another; false for the same entry.
    fn is_above(&self, above: u64, below: u64) -> Result<bool, Self::Error>;

    /// The settings in force at an entry.
    fn settings(&self, entry: u64) -> Result<PathSettings, Self::Error>;

    /// The path from an entry upwards along its parents. In a loop it ends before the first entry that it would meet
    /// twice.
    fn path(&self, from: u64, limit: PathLimit) -> Result<PathRuns, Self::Error>;

    /// The path from an entry upwards along `above`. In a loop it ends before the first entry that it would meet twice.
    fn climb(
        &self,
        from: u64,
        above: impl FnMut(u64) -> Result<Above<u64>, Self::Error>,
    ) -> Result<(PathRuns, PathEnd), Self::Error>;

    /// The bytes of a line, entry or not.
    fn line(&mut self, place: u64, images: Images<'_>) -> Result<&[u8], Self::Error>;

    /// The error for an entry that contradicts what other entries say about it.
    fn damage(&self, entry: u64, problem: String) -> Self::Error;
}
