//! The entries that a context is of, first to last.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;

use crate::claude::path::{Extent, above};
use crate::claude::{ClaudeCode, Scanner};
use crate::conversation::{Above, Conversation, History, HistoryScope, Images, PathEnd, PathRuns};
use crate::scan::Raw;
use crate::text;

use super::InConversation;

/// How much earlier than an entry the one may be that it is hung on where its parent is missing, in milliseconds (observed).
const GAP_MS: i64 = 5000;

/// How many lines before and behind an entry are searched for the one that it is hung on where its parent is missing. The
/// program searches all of them; time has to grow with the context.
const NEIGHBOURS: u64 = 64;

/// The path to an entry, over the compact boundaries or from the last one on.
///
/// Where the parent of an entry is not in the session, the path goes on at the last entry by time that is not later,
/// if it is no more than five seconds earlier (observed); of several with one time at the first. It is on a sidechain where the other one is.
pub(super) fn chain<C: Conversation>(
    conversation: &C,
    leaf: u64,
    scope: HistoryScope,
) -> Result<History, C::Error> {
    let extent = ClaudeCode::extent(scope);
    let lookup = InConversation(conversation);
    let met = RefCell::new(PathRuns::default());
    let path = conversation.climb(leaf, |entry| {
        met.borrow_mut().push(entry);
        Ok(match above(&lookup, extent, entry)? {
            Above::End(PathEnd::Orphan) => {
                let found = before_in_time(conversation, entry, &met.borrow())?;
                found.map_or(Above::End(PathEnd::Orphan), Above::Entry)
            }
            other => other,
        })
    })?;
    Ok(History::of(path))
}

/// A context's path with what the compaction kept of the entries above it: it stands behind the summary (observed).
pub(super) fn with_kept<C: Conversation>(
    conversation: &mut C,
    history: History,
) -> Result<History, C::Error> {
    let Some(first) = history.ordinals().next() else { return Ok(history) };
    if history.end() != Some(PathEnd::Boundary) {
        return Ok(history);
    }
    let (anchor, kept) = {
        let decoded = text::decode(conversation.line(first, Images::Omitted)?);
        let mut scanner = Scanner::new();
        let record = scanner.scan(&decoded);
        let kept =
            record.compact_metadata().and_then(|metadata| metadata.member("preservedMessages"));
        let [anchor, uuids] = kept.map_or([None; 2], |kept| kept.members(["anchorUuid", "uuids"]));
        let uuids = uuids.into_iter().flat_map(Raw::elements).filter_map(Raw::as_string);
        (
            anchor.and_then(Raw::as_string).map(Cow::into_owned),
            uuids.map(Cow::into_owned).collect::<Vec<_>>(),
        )
    };
    let anchor = anchor.map(|anchor| conversation.find(&anchor)).transpose()?.flatten();
    let on_path = OnPath::of(&history);
    let Some(anchor) = anchor.filter(|&anchor| on_path.contains(anchor)) else {
        return Ok(history);
    };
    let mut with_kept = History::beginning(PathEnd::Boundary);
    let mut met = HashSet::new();
    for entry in history.ordinals() {
        with_kept = with_kept.and_entry(entry);
        if entry != anchor {
            continue;
        }
        for uuid in &kept {
            if let Some(kept) = conversation.find(uuid)?
                && !on_path.contains(kept)
                && met.insert(kept)
            {
                with_kept = with_kept.and_entry(kept);
            }
        }
    }
    Ok(with_kept)
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
    conversation: &C,
    orphan: u64,
    met: &PathRuns,
) -> Result<Option<u64>, C::Error> {
    let own = conversation.node(orphan)?;
    let Some(time) = own.time_ms else { return Ok(None) };
    let end = conversation.last_entry()?.map_or(0, |last| last + 1);
    let mut found: Option<(i64, u64)> = None;
    let near = orphan.saturating_sub(NEIGHBOURS)..orphan.saturating_add(NEIGHBOURS).min(end);
    for place in near.filter(|&place| place != orphan && !met.contains(place)) {
        let Some(node) = conversation.node_of_line(place)? else { continue };
        let Some(other) = node.time_ms else { continue };
        if node.is_sidechain == own.is_sidechain
            && (time.saturating_sub(GAP_MS)..=time).contains(&other)
            && found.is_none_or(|(best, _)| other > best)
        {
            found = Some((other, place));
        }
    }
    Ok(found.map(|(_, place)| place))
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
}
