//! A session as its family sees it: a tree of lines to look up in, however they are stored.
//!
//! [`Conversation`] is what a family needs to work out how a program reads a session. It has places, nodes and lines;
//! what they mean is the family's to say.

mod history;
mod path;
mod settings;

pub use history::{Above, History, HistoryScope, PathEnd};
pub use path::PathRuns;
pub use settings::PathSettings;

use crate::{EntryKind, MessageRole};

/// What an entry names as another entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Link<E> {
    /// It names none.
    None,
    /// This one; of several with the id the last.
    Entry(E),
    /// One that is not in the session.
    Missing,
}

/// What is known of an entry without its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// What kind of entry it is.
    pub kind: EntryKind,
    /// Whose message it is.
    pub role: MessageRole,
    /// Whether it is part of an agent's conversation beside the session's own.
    pub is_sidechain: bool,
    /// Its timestamp in milliseconds since 1970, where it has one.
    pub time_ms: Option<i64>,
    /// The entry above it; `None` for a root.
    pub parent: Option<u64>,
    /// How many entries are above it. To be trusted where [`Conversation::is_indexed`] says so.
    pub depth: u64,
    /// The nearest compaction at or above it. To be trusted where [`Conversation::is_indexed`] says so.
    pub compaction: Option<u64>,
}

/// How far up a path goes. One that does not meet the entry goes on to the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathLimit {
    /// To the root.
    Root,
    /// To this entry, which is the last of it.
    At(u64),
    /// Up to this entry, which is no part of it.
    Before(u64),
}

/// What a line's images look like.
///
/// A program may keep an image outside the file, and name it in the line by a reference.
#[derive(Clone, Copy)]
pub enum Images<'f> {
    /// The line as it stands in the file: references stay.
    AsWritten,
    /// As it costs least: long base64 may be missing.
    Omitted,
    /// Some references are replaced by the image, as base64, where it is known. The function is given the text of a
    /// line that has references, and returns at which offsets in it, in bytes, there are references to replace. Long
    /// base64 may be missing in the text that it is given, but nothing else.
    Resolved(&'f dyn Fn(&str) -> Vec<usize>),
}

/// The beginning of another session, which a session goes on from without repeating it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The other session, as its family names it.
    pub session: String,
    /// How many bytes of its file are part of it; they end at a line.
    pub bytes: u64,
}

/// Another session that goes before this one, as far as it does.
#[derive(Debug)]
pub struct Before<C> {
    /// The session.
    pub conversation: C,
    /// How many of its lines go before.
    pub lines: u64,
}

/// A stored session, to look up in. Places are the ordinals of lines, from 0, the header counted; what is asked for by its
/// place must be in the session.
///
/// Each method fails with what the store gives, as where a place is not there.
#[expect(clippy::missing_errors_doc, reason = "said once, for all of them")]
pub trait Conversation {
    /// Why a look-up can fail.
    type Error;

    /// The place of the header, where the session has one.
    fn header(&self) -> Result<Option<u64>, Self::Error>;

    /// The last line that is an entry.
    fn last_entry(&self) -> Result<Option<u64>, Self::Error>;

    /// Whether records are to be recovered from lines that are not JSON.
    fn recovers(&self) -> bool;

    /// Whether all entries have ids and come after their parents, so that [`Node::depth`], [`Node::compaction`] and
    /// [`Self::is_above`] can be trusted. Where they cannot, a family reads the lines.
    fn is_indexed(&self) -> bool;

    /// The entry with this id; of several the last.
    fn find(&self, id: &[u8]) -> Result<Option<u64>, Self::Error>;

    /// The node of an entry.
    fn node(&self, entry: u64) -> Result<Node, Self::Error>;

    /// The node of a line; `None` if that is no entry.
    fn node_of_line(&self, place: u64) -> Result<Option<Node>, Self::Error>;

    /// The same as [`Self::node`], where the entry's line is likely to be wanted next: a store that keeps both together opens them once.
    fn node_ahead_of_line(&mut self, entry: u64) -> Result<Node, Self::Error> {
        self.node(entry)
    }

    /// The entry that an entry names as its parent, which may be itself.
    fn parent(&self, entry: u64) -> Result<Link<u64>, Self::Error>;

    /// The entries that name an entry as their parent, in the order of the file. Of several entries with one id they are
    /// the last one's.
    fn children(&self, entry: u64) -> Result<Vec<u64>, Self::Error>;

    /// The entry that an entry points at beside its parent; only of kinds that do.
    fn pointer(&self, entry: u64) -> Result<Link<u64>, Self::Error>;

    /// Whether one entry is among the ancestors of another, and not the same.
    fn is_above(&self, above: u64, below: u64) -> Result<bool, Self::Error>;

    /// The settings in force at an entry.
    fn settings(&self, entry: u64) -> Result<PathSettings, Self::Error>;

    /// The path from an entry upwards along its parents. A loop ends it before the first entry that is met twice.
    fn path(&self, from: u64, limit: PathLimit) -> Result<PathRuns, Self::Error>;

    /// The path from an entry upwards as `above` leads it. A loop ends it before the first entry that is met twice.
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
