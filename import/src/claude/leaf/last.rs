//! The leaf where no summary names it: what the last `last-prompt` names, or what the file has come to.

use std::collections::{HashMap, HashSet};

use super::{Checkpoint, LeafEntry, LeafFacts, LeafLookup, LeafPointer, LeafSource};

/// What the `last-prompt`s say.
pub(super) fn checkpoint<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
) -> Result<Checkpoint, L::Error> {
    let is_prompt = |pointer: &&LeafPointer| pointer.source == LeafSource::LastPrompt;
    let mut pointers = facts.pointers.iter().rev().filter(is_prompt);
    let Some(pointer) = pointers.next() else { return Ok(Checkpoint::None) };
    // A compaction begins the conversation that older ones know nothing of.
    let boundary = facts.boundaries.last();
    if boundary.is_some_and(|boundary| pointer.place <= boundary.place) {
        return Ok(Checkpoint::Passed);
    }
    let Some(last) = last_of_conversation(lookup, facts)? else { return Ok(Checkpoint::None) };
    let is_behind_all = last < pointer.place;
    let Some(uuid) = &pointer.uuid else {
        return Ok(if is_behind_all { Checkpoint::Anew } else { Checkpoint::Passed });
    };
    let Some(named) = lookup.find(uuid)? else { return Ok(Checkpoint::Passed) };
    if !lookup.entry(named)?.is_some_and(|entry| facts.is_main(entry)) {
        return Ok(Checkpoint::Passed);
    }
    let is_explicit = pointer.is_explicit
        || pointers
            .take_while(|older| older.place > last && older.uuid == pointer.uuid)
            .any(|older| older.is_explicit);
    if named == last || (is_explicit && is_behind_all) {
        return Ok(Checkpoint::At(named));
    }
    if boundary.is_some_and(|boundary| boundary.keeps_messages) {
        return Ok(Checkpoint::Passed);
    }
    let goes_on = goes_on(lookup, facts, named, last)?;
    Ok(if goes_on { Checkpoint::Passed } else { Checkpoint::At(named) })
}

/// Whether the last entry is the one that is named, hangs below it, or below another part of the same message of the model's.
fn goes_on<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
    named: u64,
    last: u64,
) -> Result<bool, L::Error> {
    // The entries above the last one, and that through which each is reached.
    let mut below = HashMap::new();
    let (mut above, mut from) = (Some(last), None);
    while let Some(at) = above {
        if at == named {
            return Ok(true);
        }
        if below.contains_key(&at) {
            break;
        }
        below.insert(at, from);
        from = Some(at);
        above = lookup.entry(at)?.and_then(|entry| entry.parent);
    }
    let Some(common) = in_message(lookup, named, &below)? else { return Ok(false) };
    let Some(Some(next)) = below.get(&common) else { return Ok(false) };
    let is_part = |entry: LeafEntry| entry.is_message && !entry.is_prompt && facts.is_main(entry);
    Ok(lookup.entry(*next)?.is_some_and(is_part))
}

/// The record of the named entry's message that is above the last entry too. The message is that of the named entry, or, of
/// a result, that of its call; its records are the model's that hang on each other.
fn in_message<L: LeafLookup>(
    lookup: &mut L,
    named: u64,
    above_last: &HashMap<u64, Option<u64>>,
) -> Result<Option<u64>, L::Error> {
    let (mut at, mut met) = (named, HashSet::new());
    let (mut is_in_message, mut is_below_result) = (false, false);
    while met.insert(at)
        && let Some(entry) = lookup.entry(at)?
    {
        if entry.is_model {
            is_in_message = true;
            if above_last.contains_key(&at) {
                return Ok(Some(at));
            }
        } else if entry.is_message {
            if entry.is_prompt || is_in_message || is_below_result {
                break;
            }
            is_below_result = true;
        }
        let Some(parent) = entry.parent else { break };
        at = parent;
    }
    Ok(None)
}

/// The places in which the last entry of a conversation is looked for.
fn entries_from_last(facts: &LeafFacts) -> impl Iterator<Item = u64> {
    (0..facts.last_entry.map_or(facts.end, |last| last + 1)).rev()
}

/// The last entry of the conversation.
fn last_of_conversation<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
) -> Result<Option<u64>, L::Error> {
    for place in entries_from_last(facts) {
        if lookup.entry(place)?.is_some_and(|entry| facts.is_main(entry)) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// What the file has come to, if it has a message or a note of the program's; `by_time` says whether times count.
pub(super) fn last<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
    by_time: bool,
) -> Result<Option<(u64, LeafSource)>, L::Error> {
    if facts.last_main_message().is_none() {
        let newest = newest(lookup, facts, |entry| entry.is_system)?;
        return Ok(newest.map(|newest| (newest, LeafSource::LastEntry)));
    }
    let by_time = by_time && !facts.parents_first;
    let mut climbed = HashSet::new();
    for place in entries_from_last(facts) {
        let Some(entry) = lookup.entry(place)?.filter(|&entry| facts.is_main(entry)) else {
            continue;
        };
        let place = if by_time { newest_below(lookup, facts, place)? } else { place };
        if leads_up(lookup, facts, place, &mut climbed)? {
            return Ok(Some((place, LeafSource::LastEntry)));
        }
        if entry.is_system {
            let newest = newest(lookup, facts, |entry| entry.is_message)?;
            return Ok(newest.map(|newest| (newest, LeafSource::LastEntry)));
        }
    }
    Ok(None)
}

/// Whether an entry is a message, or has one above it. Climbing stops at entries that were `climbed` before: those have none.
fn leads_up<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
    place: u64,
    climbed: &mut HashSet<u64>,
) -> Result<bool, L::Error> {
    let mut above = Some(place);
    while let Some(at) = above
        && let Some(entry) = lookup.entry(at)?
    {
        if facts.is_main(entry) && entry.is_message {
            return Ok(true);
        }
        if !climbed.insert(at) {
            break;
        }
        above = entry.parent;
    }
    Ok(false)
}

/// The newest entry of the conversation that `counts`; of equally new ones the first, and the last where none has a time.
fn newest<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
    counts: impl Fn(LeafEntry) -> bool,
) -> Result<Option<u64>, L::Error> {
    let mut newest: Option<(u64, Option<i64>)> = None;
    for place in 0..facts.end {
        let Some(entry) = lookup.entry(place)? else { continue };
        if entry.is_sidechain != facts.is_of_sidechain() || !counts(entry) {
            continue;
        }
        let is_newer = |(_, time): (u64, Option<i64>)| time.is_none() || entry.time_ms > time;
        if newest.is_none_or(is_newer) {
            newest = Some((place, entry.time_ms));
        }
    }
    Ok(newest.map(|(place, _)| place))
}

/// The newest of the entries below one, or itself if there are none or no entry of the file is newer than it.
fn newest_below<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
    place: u64,
) -> Result<u64, L::Error> {
    if is_newest(lookup, facts, place)? {
        return Ok(place);
    }
    // Whether entries are below it, so far as was climbed.
    let mut is_below = HashMap::from([(place, true)]);
    let mut newest = (place, None);
    let mut way = Vec::new();
    for other in 0..facts.end {
        let Some(entry) = lookup.entry(other)? else { continue };
        let Some(time) = entry.time_ms else { continue };
        let is_candidate = other != place && counts_by_time(facts, entry);
        if !is_candidate || newest.1.is_some_and(|newest| time < newest) {
            continue;
        }
        way.clear();
        let mut above = Some(other);
        let found = loop {
            let Some(at) = above else { break false };
            if let Some(&known) = is_below.get(&at) {
                break known;
            }
            is_below.insert(at, false);
            way.push(at);
            above = lookup.entry(at)?.and_then(|entry| entry.parent);
        };
        is_below.extend(way.drain(..).map(|at| (at, found)));
        if found {
            newest = (other, Some(time));
        }
    }
    Ok(newest.0)
}

/// Whether the time of an entry counts. That of an attachment is not told from what a tool reports, which has none to the program.
fn counts_by_time(facts: &LeafFacts, entry: LeafEntry) -> bool {
    facts.is_main(entry) && (entry.is_message || entry.is_system)
}

/// Whether an entry is the first of those that are newer than all others.
fn is_newest<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
    place: u64,
) -> Result<bool, L::Error> {
    let Some(own) = lookup.entry(place)?.and_then(|entry| entry.time_ms) else { return Ok(false) };
    for other in 0..facts.end {
        let Some(entry) = lookup.entry(other)? else { continue };
        let is_row = other != place && counts_by_time(facts, entry);
        let is_newer = |time: i64| time > own || (time == own && other < place);
        if is_row && entry.time_ms.is_some_and(is_newer) {
            return Ok(false);
        }
    }
    Ok(true)
}
