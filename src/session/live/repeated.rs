//! Finds the lines that a session already has among the lines to be appended.

use std::collections::HashSet;
use std::ops::Range;

use leafline_import::EntryKind;
use leafline_import::lines::split;
use xxhash_rust::xxh3::xxh3_128;

use super::raw::entry_id;
use crate::error::Result;
use crate::session::view::View;
use crate::store::ordinal::Ordinal;

/// The most lines of the session with which a line without an id is compared.
const COMPARED: u64 = 1024;

/// Tells for each of the lines if the session has it. An entry is found by its id. A line without an id is found by its bytes,
/// and only if the session has it in the same place: before an entry that the session has, or directly after it. Elsewhere, an
/// equal line may well be new.
pub(super) fn find_repeated(view: View<'_>, lines: &[u8]) -> Result<Vec<bool>> {
    let reading = view.reading();
    let mut are_repeated = Vec::new();
    // The lines without an id since the last entry, and the place after that entry if the session has it.
    let mut without_id: Vec<(usize, &[u8])> = Vec::new();
    let mut behind = None;
    let mut known = HashSet::new();
    for (place, line) in split(lines).enumerate() {
        are_repeated.push(false);
        let Some(id) = entry_id(reading, line) else {
            without_id.push((place, line));
            continue;
        };
        let found = view.find(&id)?;
        let from = match (behind, found) {
            (Some(from), _) => Some(from),
            (None, Some(ordinal)) => Some(ordinal.raw().saturating_sub(COMPARED)),
            (None, None) => None,
        };
        if let Some(from) = from {
            let until = found.map(Ordinal::raw);
            mark(view, from..until.unwrap_or(u64::MAX), &without_id, &mut are_repeated)?;
        }
        without_id.clear();
        behind = found.map(|ordinal| ordinal.raw() + 1);
        let is_there = found.is_some() || !known.insert(id);
        are_repeated.last_mut().into_iter().for_each(|is| *is = is_there);
    }
    if let Some(from) = behind {
        mark(view, from..u64::MAX, &without_id, &mut are_repeated)?;
    }
    // A header needs no entry next to it: it names its session.
    if let Some(first) = are_repeated.first_mut()
        && !*first
        && let Some(line) = split(lines).next()
        && view.record().lines > 0
    {
        let header = view.entry(Ordinal::FIRST)?;
        *first = header.kind() == EntryKind::Header && hash(header.line()) == hash(line);
    }
    Ok(are_repeated)
}

/// Marks the lines that occur, in the same order, in a range of the session's lines.
fn mark(
    view: View<'_>,
    among: Range<u64>,
    lines: &[(usize, &[u8])],
    are_repeated: &mut [bool],
) -> Result<()> {
    let end = among.end.min(among.start.saturating_add(COMPARED));
    if lines.is_empty() {
        return Ok(());
    }
    let mut there = Vec::new();
    let mut cursor = view.cursor_from(Ordinal::new(among.start));
    while let Some(line) = cursor.next()?.filter(|line| line.ordinal.raw() < end) {
        there.push(hash(view.entry_of(&line)?.line()));
    }
    let mut rest = &*there;
    for (place, line) in lines {
        let hash = hash(line);
        if let Some(at) = rest.iter().position(|of| *of == hash) {
            rest = rest.get(at + 1..).unwrap_or_default();
            are_repeated.get_mut(*place).into_iter().for_each(|is| *is = true);
        }
    }
    Ok(())
}

/// Hashes a line without its line feed, which the last line of a file may lack.
fn hash(line: &[u8]) -> u128 {
    xxh3_128(line.strip_suffix(b"\n").unwrap_or(line))
}
