//! The entries that a context is of, first to last.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::ops::Range;

use crate::claude::kind::RecordKind;
use crate::claude::path::{Extent, above};
use crate::claude::{ClaudeCode, Scanner};
use crate::conversation::{Above, Conversation, History, HistoryScope, Images, PathEnd, PathRuns};
use crate::{EntryKind, text};

use super::InConversation;
use super::kept::Kept;
use super::near::{lines, near};

/// How much earlier than an entry the one may be that it is hung on where its parent is missing, in milliseconds (observed).
const GAP_MS: i64 = 5000;

/// The path to an entry, over the compact boundaries or from the last one on.
///
/// Where the parent of an entry is not in the session, the path goes on at the last entry by time that is not later,
/// if it is no more than five seconds earlier (observed); of several with one time at the first. It is on a sidechain
/// where the other one is. What a compaction keeps stands where [`Kept`] says. What tools report while they run is passed over (observed): it is never that entry, and where it is the
/// orphan, the time is that of what hangs on it.
pub(super) fn chain<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
    scope: HistoryScope,
    kept: Option<&Kept>,
) -> Result<History, C::Error> {
    let extent = ClaudeCode::extent(scope);
    let mut lines = lines(conversation)?;
    lines.start = kept.map_or(0, Kept::boundary);
    let mut met = PathRuns::default();
    let mut parts = Vec::new();
    let mut from = kept.map_or(leaf, |kept| kept.leaf(leaf));
    loop {
        let is_first = parts.is_empty();
        let seen = RefCell::new(std::mem::take(&mut met));
        let lookup = InConversation(&*conversation);
        let (part, end) = conversation.climb(from, |entry| {
            seen.borrow_mut().push(entry);
            let moved = kept.map(|kept| kept.above(&*conversation, entry)).transpose()?.flatten();
            Ok(match moved.map_or_else(|| above(&lookup, extent, entry), Ok)? {
                // A part that was gone up already.
                Above::Entry(above) if !is_first && seen.borrow().contains(above) => {
                    Above::End(PathEnd::Loop)
                }
                other => other,
            })
        })?;
        parts.push(part);
        met = seen.into_inner();
        let found = match end {
            PathEnd::Orphan => before_in_time(conversation, &met, &lines)?,
            _ => None,
        };
        let Some(found) = found else {
            let history = History::beginning(end);
            return Ok(parts.iter().rev().fold(history, History::and_path));
        };
        from = found;
    }
}

impl ClaudeCode {
    /// How far up a history goes.
    pub(super) fn extent(scope: HistoryScope) -> Extent {
        match scope {
            HistoryScope::Context => Extent::Context,
            HistoryScope::Full => Extent::FullHistory,
        }
    }
}

/// The last entry by time that is not later than an orphan, of those that stand near it and are not on the path already.
fn before_in_time<C: Conversation>(
    conversation: &mut C,
    met: &PathRuns,
    lines: &Range<u64>,
) -> Result<Option<u64>, C::Error> {
    let Some(highest) = met.highest() else { return Ok(None) };
    let (mut orphan, mut uuid) = (highest, None);
    for entry in met.downwards() {
        let named = Named::read(conversation, entry)?;
        (orphan, uuid) = (entry, named.uuid);
        if !named.is_progress {
            break;
        }
    }
    let own = conversation.node(orphan)?;
    let Some(time) = own.time_ms else { return Ok(None) };
    let mut found = Vec::new();
    for place in near(orphan, orphan, lines) {
        if met.contains(place) {
            continue;
        }
        let Some(node) = conversation.node_of_line(place)? else { continue };
        let Some(other) = node.time_ms else { continue };
        if node.is_sidechain == own.is_sidechain
            && (time.saturating_sub(GAP_MS)..=time).contains(&other)
        {
            found.push((Reverse(other), place));
        }
    }
    found.sort_unstable();
    for (_, place) in found {
        let named = Named::read(conversation, place)?;
        // A copy of the orphan is the orphan.
        if !named.is_progress && named.is_last && (named.uuid.is_none() || named.uuid != uuid) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// What an orphan asks of an entry.
struct Named {
    uuid: Option<Vec<u8>>,
    /// Whether no later entry has its uuid: of copies the program knows the last.
    is_last: bool,
    /// Whether it is what a tool reports while it runs.
    is_progress: bool,
}

impl Named {
    fn read<C: Conversation>(conversation: &mut C, entry: u64) -> Result<Self, C::Error> {
        if conversation.node(entry)?.kind == EntryKind::Compaction {
            return Ok(Self { uuid: None, is_last: true, is_progress: false });
        }
        let (is_progress, uuid) = {
            let decoded = text::decode(conversation.line(entry, Images::Omitted)?);
            let mut scanner = Scanner::new();
            let record = scanner.scan(text::trim_start_of_file(&decoded));
            (record.kind() == RecordKind::Progress, record.uuid().map(Cow::into_owned))
        };
        // What is torn may have a uuid that is not read here.
        let is_last = match &uuid {
            Some(uuid) => conversation.last_copy(entry, uuid)? == Some(entry),
            None => true,
        };
        Ok(Self { uuid, is_last, is_progress })
    }
}

/// The entries of a path, to ask whether one is among them.
#[derive(Debug)]
pub(super) struct OnPath {
    /// First and last place of each run, in the order of the places.
    runs: Vec<(u64, u64)>,
}

impl OnPath {
    pub(super) fn of(history: &History) -> Self {
        let mut runs = history.runs().to_vec();
        runs.sort_unstable();
        Self { runs }
    }

    pub(super) fn contains(&self, place: u64) -> bool {
        let behind = self.runs.partition_point(|&(first, _)| first <= place);
        self.runs[..behind].last().is_some_and(|&(_, last)| place <= last)
    }

    /// The places of a range that are not among them.
    pub(super) fn gaps(&self, of: Range<u64>) -> impl Iterator<Item = u64> + use<'_> {
        let first = self.runs.partition_point(|&(_, last)| last < of.start);
        let mut runs = self.runs[first..].iter().peekable();
        let mut next = of.start;
        std::iter::from_fn(move || {
            while let Some((_, last)) = runs.next_if(|&&(first, _)| first <= next) {
                next = next.max(last.saturating_add(1));
            }
            let place = Some(next).filter(|place| of.contains(place))?;
            next += 1;
            Some(place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_is_not_contained() {
        for runs in [vec![], vec![(0, 0)], vec![(2, 4), (5, 5), (8, 9)]] {
            let on_path = OnPath { runs };
            for (start, end) in (0..12).flat_map(|start| (start..12).map(move |end| (start, end))) {
                let expected: Vec<u64> =
                    (start..end).filter(|&place| !on_path.contains(place)).collect();
                let gaps: Vec<u64> = on_path.gaps(start..end).collect();
                assert_eq!(gaps, expected, "{start}..{end} of {:?}", on_path.runs);
            }
        }
    }
}
