//! Which entries a context is made of.

use super::identity::is_same;
use crate::conversation::{Conversation, Images, PathLimit, PathRuns};
use crate::pi_omp::first_kept_entry_id;
use crate::recover::first_record;
use crate::scan::{Raw, Scan, Scanner, Shape};
use crate::{EntryKind, text};

/// What a context is made of. The default is the empty context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// The compaction whose summary stands for what is above it.
    pub(super) compaction: Option<u64>,
    /// omp: the entry below which the context begins, if that is not a compaction.
    pub(super) reset: Option<u64>,
    /// What the compaction keeps: entries above it.
    pub(super) kept: PathRuns,
    /// The entries below the compaction, or below the reset; without either, the whole path.
    pub(super) below: PathRuns,
}

impl Selection {
    /// What the context at an entry is made of.
    pub(super) fn at<C: Conversation>(conversation: &mut C, leaf: u64) -> Result<Self, C::Error> {
        if conversation.is_indexed() {
            Self::by_index(conversation, leaf)
        } else {
            Self::by_lines(conversation, leaf)
        }
    }

    /// A path without a compaction that counts.
    pub(super) fn of_path(below: PathRuns) -> Self {
        Self { below, ..Self::default() }
    }

    /// The entries that may give messages, in the order of the path; the compaction is not one of them.
    pub(super) fn entries(&self) -> impl Iterator<Item = u64> + Clone {
        self.kept.downwards().chain(self.below.downwards())
    }

    /// The fast path: the index's facts at the leaf, and a walk over no more than the context holds.
    fn by_index<C: Conversation>(conversation: &mut C, leaf: u64) -> Result<Self, C::Error> {
        let node = conversation.node(leaf)?;
        let Some(compaction) = node.compaction else {
            return Ok(Self::of_path(conversation.path(leaf, PathLimit::Root)?));
        };
        let below = conversation.path(leaf, PathLimit::Before(compaction))?;
        let compacted = conversation.node(compaction)?;
        if compacted.compaction != Some(compaction)
            || compacted.depth.checked_add(below.len()) != Some(node.depth)
        {
            let problem = format!("line {leaf}: its compaction is not above it");
            return Err(conversation.damage(leaf, problem));
        }
        let mut kept = PathRuns::default();
        if let (Some(above), Some(first)) =
            (compacted.parent, first_kept_by_index(conversation, compaction)?)
        {
            kept = conversation.path(above, PathLimit::At(first))?;
            if kept.highest() != Some(first) {
                let problem = format!("line {first} is not above line {compaction}, as it says");
                return Err(conversation.damage(compaction, problem));
            }
        }
        Ok(Self { compaction: Some(compaction), kept, below, ..Self::default() })
    }

    /// The exact way: the path is read line by line, as the programs do, which hold all entries in memory.
    fn by_lines<C: Conversation>(conversation: &mut C, leaf: u64) -> Result<Self, C::Error> {
        let path = conversation.path(leaf, PathLimit::Root)?;
        let Some(compaction) = last_compaction(conversation, &path)? else {
            return Ok(Self::of_path(path));
        };
        let (place, first) = find_places(conversation, &path, &compaction)?;
        let Some(place) = place else { return Ok(Self::default()) };
        let below = conversation.path(leaf, PathLimit::Before(place))?;
        let mut kept = PathRuns::default();
        if let (Some(above), Some(first)) = (conversation.node(place)?.parent, first) {
            kept = conversation.path(above, PathLimit::At(first))?;
        }
        Ok(Self { compaction: Some(place), kept, below, ..Self::default() })
    }
}

/// The first entry that a compaction keeps; `None` if it names none on the path above it.
fn first_kept_by_index<C: Conversation>(
    conversation: &mut C,
    compaction: u64,
) -> Result<Option<u64>, C::Error> {
    let named = scan(conversation, &mut Scanner::new(), compaction, |scan| {
        first_kept_entry_id(scan).map(std::borrow::Cow::into_owned)
    })?;
    let Some(id) = named else { return Ok(None) };
    let Some(first) = conversation.find(&id)? else { return Ok(None) };
    Ok(conversation.is_above(first, compaction)?.then_some(first))
}

/// The id of a compaction and of what it keeps, as its line states them: JSON text, if there is any.
struct Compaction {
    entry: u64,
    id: Option<String>,
    first_kept: Option<String>,
}

/// The last compaction of a path.
fn last_compaction<C: Conversation>(
    conversation: &mut C,
    path: &PathRuns,
) -> Result<Option<Compaction>, C::Error> {
    for entry in path.upwards() {
        if conversation.node(entry)?.kind == EntryKind::Compaction {
            let text = |raw: Option<Raw<'_>>| Some(raw?.as_str().to_owned());
            let compaction = scan(conversation, &mut Scanner::new(), entry, |scan| Compaction {
                entry,
                id: text(scan.members.id),
                first_kept: text(scan.members.first_kept_entry_id),
            })?;
            return Ok(Some(compaction));
        }
    }
    Ok(None)
}

/// Where the compaction stands, and the first entry above it that it keeps.
///
/// pi looks for the first compaction of the path that has this one's id.
fn find_places<C: Conversation>(
    conversation: &mut C,
    path: &PathRuns,
    compaction: &Compaction,
) -> Result<(Option<u64>, Option<u64>), C::Error> {
    let mut scanner = Scanner::new();
    let mut first = None;
    for entry in path.downwards() {
        let kind = conversation.node(entry)?.kind;
        let (is_it, is_first) = scan(conversation, &mut scanner, entry, |scan| {
            let id = scan.members.id.map(Raw::as_str);
            let has_its_id = || is_same(id, compaction.id.as_deref());
            // It is itself, even where its id is an object, which equals no other.
            let is_it =
                entry == compaction.entry || (kind == EntryKind::Compaction && has_its_id());
            (is_it, first.is_none() && is_same(id, compaction.first_kept.as_deref()))
        })?;
        if is_it {
            return Ok((Some(entry), first));
        }
        if is_first {
            first = Some(entry);
        }
    }
    Ok((None, first))
}

/// Reads something from an entry's line that is not part of an image.
pub(super) fn scan<C: Conversation, T>(
    conversation: &mut C,
    scanner: &mut Scanner,
    entry: u64,
    read: impl FnOnce(&Scan<'_>) -> T,
) -> Result<T, C::Error> {
    let decoded = text::decode(conversation.line(entry, Images::Omitted)?);
    let scan = scanner.scan(&decoded);
    if scan.shape != Shape::Malformed {
        return Ok(read(&scan));
    }
    // omp reads the record with which the line begins.
    let first = first_record(&decoded);
    Ok(read(&first.map_or(scan, |first| scanner.scan(first))))
}
