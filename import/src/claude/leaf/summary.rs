//! The leaf that a summary names, and whether that is out of date.

use std::collections::HashSet;

use super::{Boundary, LeafEntry, LeafFacts, LeafLookup, LeafPointer, LeafSource};

/// The entry that the last summary of the conversation names, if that is not out of date.
pub(super) fn named<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
) -> Result<Option<u64>, L::Error> {
    let Some((pointer, named)) = last(lookup, facts)? else { return Ok(None) };
    Ok(if is_out_of_date(lookup, facts, pointer, named)? { None } else { Some(named) })
}

/// The last summary that names an entry of the conversation, and that entry.
pub(super) fn last<'f, L: LeafLookup>(
    lookup: &mut L,
    facts: &'f LeafFacts,
) -> Result<Option<(&'f LeafPointer, u64)>, L::Error> {
    let is_summary = |pointer: &&LeafPointer| pointer.source == LeafSource::Summary;
    for pointer in facts.pointers.iter().rev().filter(is_summary) {
        if let Some(uuid) = &pointer.uuid
            && let Some(named) = lookup.find(uuid)?
            && lookup.entry(named)?.is_some_and(|entry| facts.is_main(entry))
        {
            return Ok(Some((pointer, named)));
        }
    }
    Ok(None)
}

fn is_out_of_date<L: LeafLookup>(
    lookup: &mut L,
    facts: &LeafFacts,
    pointer: &LeafPointer,
    named: u64,
) -> Result<bool, L::Error> {
    let went_on = named < pointer.place
        && facts.last_main_message().is_some_and(|message| message >= pointer.place);
    if went_on {
        return Ok(true);
    }
    let mut logical_parents = Vec::with_capacity(facts.boundaries.len());
    for boundary in &facts.boundaries {
        logical_parents.push(match &boundary.logical_parent {
            Some(uuid) => lookup.find(uuid)?,
            None => None,
        });
    }
    let goes_forward = |(boundary, logical): (&Boundary, &Option<u64>)| {
        logical.is_some_and(|logical| logical > boundary.place)
    };
    let parents_first =
        facts.parents_first && !facts.boundaries.iter().zip(&logical_parents).any(goes_forward);
    let floor = if parents_first { named } else { 0 };
    // Climbing stops where an earlier climb has been: that one did not come to the entry.
    let mut climbed = HashSet::new();
    for place in floor..facts.end {
        let is_message = |entry: &LeafEntry| entry.is_message && facts.is_main(*entry);
        if place == named || !lookup.entry(place)?.as_ref().is_some_and(is_message) {
            continue;
        }
        let mut above = Some(place);
        while let Some(at) = above.filter(|&at| at >= floor) {
            if at == named {
                return Ok(true);
            }
            if !climbed.insert(at) {
                break;
            }
            above = match lookup.entry(at)?.and_then(|entry| entry.parent) {
                Some(parent) => Some(parent),
                None => came_from(facts, &logical_parents, at),
            };
        }
    }
    Ok(false)
}

/// The entry that a compact boundary goes on from.
fn came_from(facts: &LeafFacts, logical_parents: &[Option<u64>], place: u64) -> Option<u64> {
    let index = facts.boundaries.binary_search_by_key(&place, |boundary| boundary.place).ok()?;
    logical_parents.get(index).copied().flatten().or(facts.boundaries.get(index)?.message_before)
}
