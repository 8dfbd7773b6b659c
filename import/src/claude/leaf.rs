//! Which entry the conversation has come to.

mod last;
mod summary;

use std::convert::Infallible;

use self::last::{checkpoint, last};
use self::summary::named;

use crate::claude::kind::RecordKind;
use crate::claude::node::Node;
use crate::claude::tree::SessionTree;

/// What showed the leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeafSource {
    /// The `leafUuid` of a `summary` (document).
    Summary,
    /// The `leafUuid` of a `last-prompt` (observed).
    LastPrompt,
    /// It is the last entry of the conversation, or, where parents come later than their children, the newest below it
    /// (observed).
    LastEntry,
}

impl LeafSource {
    /// The source that records of a kind are; `None` for other kinds.
    #[must_use]
    pub fn of(kind: RecordKind) -> Option<Self> {
        match kind {
            RecordKind::Summary => Some(Self::Summary),
            RecordKind::LastPrompt => Some(Self::LastPrompt),
            _ => None,
        }
    }
}

/// The leaf of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The entry, by its number in the [`SessionTree`].
    pub entry: usize,
    /// The line it stands on, as it was given to [`LeafFinder::observe`].
    pub line: u64,
    /// What showed it.
    pub source: LeafSource,
}

/// What the rule of the leaf needs of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafEntry {
    /// The entry that its `parentUuid` names, unless that is itself.
    pub parent: Option<u64>,
    /// Whether it is a message of the user or of the model.
    pub is_message: bool,
    /// Whether it is a message of the model.
    pub is_model: bool,
    /// Whether it is a prompt.
    pub is_prompt: bool,
    /// Whether it is a note of the program itself, a compact boundary too.
    pub is_system: bool,
    /// Whether it is on a sidechain.
    pub is_sidechain: bool,
    /// Its time in milliseconds since 1970.
    pub time_ms: Option<i64>,
}

/// Answers the questions of the leaf rule. Entries are identified by their places: numbers that grow in file order.
pub trait LeafLookup {
    /// Why a look-up can fail.
    type Error;

    /// The entry with a uuid, given as WTF-8; the last where there are several.
    ///
    /// # Errors
    ///
    /// What the look-up gives.
    fn find(&mut self, uuid: &[u8]) -> Result<Option<u64>, Self::Error>;

    /// The entry at a place; `None` if what stands there is none.
    ///
    /// # Errors
    ///
    /// What the look-up gives.
    fn entry(&mut self, place: u64) -> Result<Option<LeafEntry>, Self::Error>;
}

/// A record that names the leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafPointer {
    /// Which record it is.
    pub source: LeafSource,
    /// Entries at this place and after it stand below the record.
    pub place: u64,
    /// The leaf's uuid, as WTF-8; `None` where an explicit `last-prompt` has null.
    pub uuid: Option<Vec<u8>>,
    /// Whether it is a `last-prompt` with `"explicit":true`.
    pub is_explicit: bool,
}

/// A compact boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary {
    /// Its place.
    pub place: u64,
    /// Its `logicalParentUuid`, as WTF-8.
    pub logical_parent: Option<Vec<u8>>,
    /// Whether it keeps messages; see [`Record::keeps_messages`](crate::claude::Record::keeps_messages).
    pub keeps_messages: bool,
    /// The last message before it that is on no sidechain.
    pub message_before: Option<u64>,
}

/// What is gathered in one pass over a session, for [`leaf`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeafFacts {
    /// The records that name the leaf, in the order of the file.
    pub pointers: Vec<LeafPointer>,
    /// The compact boundaries, in the order of the file.
    pub boundaries: Vec<Boundary>,
    /// The last message that is on no sidechain.
    pub last_message: Option<u64>,
    /// The last message that is on one.
    pub last_sidechain_message: Option<u64>,
    /// The last entry that is no `progress`.
    pub last_entry: Option<u64>,
    /// The place after the last entry.
    pub end: u64,
    /// Whether no entry comes before its parent, so that fewer have to be looked at.
    pub parents_first: bool,
}

impl LeafFacts {
    /// Whether an entry belongs to the conversation that the file is of.
    fn is_main(&self, entry: LeafEntry) -> bool {
        self.last_message.is_none() || !entry.is_sidechain
    }

    /// Whether all messages are on a sidechain, and there are some.
    fn is_of_sidechain(&self) -> bool {
        self.last_message.is_none() && self.last_sidechain_message.is_some()
    }

    fn last_main_message(&self) -> Option<u64> {
        self.last_message.or(self.last_sidechain_message)
    }
}

/// The leaf of a session, and what showed it; `None` if there is nothing that could be it, and if the conversation
/// begins anew.
///
/// 1. What counts is the conversation that the file is of: the entries on no sidechain; in an agent's file, whose
///    messages are all on one, those on it. A *message* is a `user` or `assistant` record of it.
/// 2. The last `summary` whose `leafUuid` names such an entry of this file names the leaf (document), if it is not out
///    of date. Summaries mostly name entries of other files; those say nothing (observed).
/// 3. Else the last `last-prompt` does that stands behind the last compact boundary, unless the last entry of the
///    conversation hangs below the one that it names, or below another part of the same message; then that last entry is
///    the leaf. One with `"explicit":true` names the leaf whatever hangs below, until an entry stands behind it; with null
///    for its `leafUuid` the conversation begins anew. Where the last compaction keeps messages, only such a one counts
///    (observed).
/// 4. Else it is the last such entry of the file that is a message, or has one above it by `parentUuid`. In a file without
///    any `last-prompt` the newest entry below it takes its place if another entry of the file is newer than it. If the
///    last entry is one of the program's own notes and has no message above it, the newest message of the file takes its
///    place. In a file without messages the leaf is the newest of such notes. (observed)
///
/// A summary is *out of date* (ours)
///
/// - if a message hangs below the entry that it names: the document's leaf is the tip of its thread, and this one is the
///   tip no more. A compact boundary hangs on its logical parent here; where that is not in the file, on the last
///   message before the boundary, on whatever branch.
/// - if it stands below the entry that it names, and a message stands below it: it was written when the conversation
///   had come to that entry, and the conversation went on, there or elsewhere. One that stands above its entry, as the
///   document has it on the first line, does not show when it was written; so it holds against later branches.
///
/// An older summary never takes the place of the last one: what that says of the leaf is older still.
///
/// It looks at the entries from the named one, or from the end, on to where the answer shows: a few in most sessions, all
/// of them where parents come later than their children. Memory grows with their number, not with the session.
///
/// # Errors
///
/// What a look-up gives.
pub fn leaf<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
) -> Result<Option<(u64, LeafSource)>, L::Error> {
    if let Some(named) = named(lookup, facts)? {
        return Ok(Some((named, LeafSource::Summary)));
    }
    match checkpoint(lookup, facts)? {
        Checkpoint::None => last(lookup, facts, true),
        Checkpoint::Passed => last(lookup, facts, false),
        Checkpoint::Anew => Ok(None),
        Checkpoint::At(named) => Ok(Some((named, LeafSource::LastPrompt))),
    }
}

/// What the `last-prompt`s say of the leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checkpoint {
    /// Nothing: there are none.
    None,
    /// It is what the file has come to.
    Passed,
    /// The conversation begins anew.
    Anew,
    /// It is this entry.
    At(u64),
}

/// Finds the leaf of a session from its records in the order of the file, in memory; by the rules of [`leaf`].
///
/// Memory is that of the [`SessionTree`], and a few dozen bytes for each summary and last-prompt.
///
/// ```
/// use leafline_import::claude::{LeafFinder, LeafSource, Node, Scanner};
///
/// let mut finder = LeafFinder::new();
/// let mut scanner = Scanner::new();
/// for (line, text) in (0..).zip([
///     r#"{"type":"summary","summary":"The first attempt","leafUuid":"b"}"#,
///     r#"{"type":"user","uuid":"a","parentUuid":null}"#,
///     r#"{"type":"assistant","uuid":"b","parentUuid":"a"}"#,
///     r#"{"type":"assistant","uuid":"c","parentUuid":"a"}"#,
/// ]) {
///     finder.observe(line, &Node::of(&scanner.scan(text)));
/// }
/// let leaf = finder.leaf().expect("there are messages");
/// assert_eq!((leaf.line, leaf.source), (2, LeafSource::Summary));
/// ```
#[derive(Debug, Clone, Default)]
pub struct LeafFinder {
    tree: SessionTree,
    facts: LeafFacts,
    /// The line of each pointer.
    pointer_lines: Vec<u64>,
}

impl LeafFinder {
    /// Nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of the next record of the file, which stands on line `line`; a line may hold several.
    pub fn observe(&mut self, line: u64, node: &Node<'_>) {
        if let Some(source) = node.names_leaf() {
            self.facts.pointers.push(LeafPointer {
                source,
                place: self.tree.len() as u64,
                uuid: node.leaf_uuid.as_deref().map(<[u8]>::to_vec),
                is_explicit: node.is_explicit,
            });
            self.pointer_lines.push(line);
        }
        let Some(entry) = self.tree.add(line, node) else { return };
        let place = entry as u64;
        self.facts.end = place + 1;
        if node.kind != RecordKind::Progress {
            self.facts.last_entry = Some(place);
        }
        if node.is_compact_boundary {
            self.facts.boundaries.push(Boundary {
                place,
                logical_parent: node.logical_parent.as_deref().map(<[u8]>::to_vec),
                keeps_messages: node.keeps_messages,
                message_before: self.facts.last_message,
            });
        }
        if node.kind.is_message() {
            let last = if node.is_sidechain {
                &mut self.facts.last_sidechain_message
            } else {
                &mut self.facts.last_message
            };
            *last = Some(place);
        }
    }

    /// The leaf by what was observed; `None` if there is none. More may be observed after it was asked for.
    ///
    /// Time grows with the number of entries.
    #[must_use]
    pub fn leaf(&self) -> Option<Leaf> {
        let Ok(found) = leaf(&mut InMemory(&self.tree), &self.facts);
        let (place, source) = found?;
        let entry = usize::try_from(place).ok()?;
        Some(Leaf { entry, line: self.tree.line(entry), source })
    }

    /// The line of the last summary that is about this file's conversation: one that names an entry of this file, out of
    /// date or not. Its text describes the session, where no title does.
    #[must_use]
    pub fn summary_line(&self) -> Option<u64> {
        let Ok(index) = summary(&mut InMemory(&self.tree), &self.facts);
        self.pointer_lines.get(index?).copied()
    }

    /// The tree of the entries that were observed.
    #[must_use]
    pub fn tree(&self) -> &SessionTree {
        &self.tree
    }

    /// The tree alone, once the leaf is known.
    #[must_use]
    pub fn into_tree(self) -> SessionTree {
        self.tree
    }
}

/// A tree in memory, to look up in.
struct InMemory<'t>(&'t SessionTree);

impl LeafLookup for InMemory<'_> {
    type Error = Infallible;

    fn find(&mut self, uuid: &[u8]) -> Result<Option<u64>, Infallible> {
        Ok(self.0.find(uuid).map(|entry| entry as u64))
    }

    fn entry(&mut self, place: u64) -> Result<Option<LeafEntry>, Infallible> {
        let number = usize::try_from(place).unwrap_or(usize::MAX);
        Ok(self.0.entry(number).map(|entry| LeafEntry {
            parent: self.0.parent_entry(number).map(|parent| parent as u64),
            is_message: entry.kind.is_message(),
            is_model: entry.kind == RecordKind::Assistant,
            is_prompt: entry.is_prompt,
            is_system: entry.kind == RecordKind::System,
            is_sidechain: entry.is_sidechain,
            time_ms: entry.time_ms,
        }))
    }
}

/// The last summary that is about the session's conversation, as its index among [`LeafFacts::pointers`]; see
/// [`LeafFinder::summary_line`].
///
/// # Errors
///
/// What a look-up gives.
pub fn summary<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
) -> Result<Option<usize>, L::Error> {
    let found = self::summary::last(lookup, facts)?;
    Ok(found.and_then(|(pointer, _)| {
        facts.pointers.iter().position(|known| std::ptr::eq(known, pointer))
    }))
}

#[cfg(test)]
mod tests;
