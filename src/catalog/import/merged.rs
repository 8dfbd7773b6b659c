//! Merges the lines that only the store has into a session whose file has grown too.

use std::collections::HashMap;

use leafline_import::EntryKind;
use xxhash_rust::xxh3::xxh3_64;

use super::losses::losses;
use super::pipeline::BLOCK_BYTES;
use crate::error::Result;
use crate::session::exact_id;
use crate::session::lines::LineCursor;
use crate::session::view::View;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// The side of a merged session that sets the leaf.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// The file, at its own leaf.
    File,
    /// The store, at the entry with this id, or before all entries.
    Store(Option<Vec<u8>>),
}

/// Decides which side sets the leaf: the one with the newest message. Entries outside the conversation, such as names and labels,
/// count only if neither side has a new message.
pub(super) fn leads(old: View<'_>, own: &[Ordinal], file: View<'_>) -> Result<Leads> {
    let mut of_store = None;
    for &ordinal in own {
        of_store = of_store.max(conversation_time(&old.line_node(ordinal)?));
    }
    let of_file = newest_of_file(old, file)?;
    // Without times, the store's is taken for the newest.
    let is_timed = of_file.is_some_and(|time| time > i64::MIN);
    if of_file > of_store || is_timed && of_file == of_store {
        return Ok(Leads::File);
    }
    let leaf = old.rows().leaf()?;
    let Some(leaf) = leaf else { return Ok(Leads::Store(None)) };
    // An entry without an id cannot be found in another session.
    let id = exact_id(old.reading(), old.entry(leaf)?.line());
    Ok(id.map_or(Leads::File, |id| Leads::Store(Some(id))))
}

/// Returns true if the old session has every line of the file's, so that a merge would only change their order.
pub(super) fn adds_nothing(old: View<'_>, file: View<'_>) -> Result<bool> {
    if losses(file, old, false)?.is_some() || !repeats_as_often(old, file)? {
        return Ok(false);
    }
    // The names in both headers count, too.
    let mut before = old.cursor();
    let mut now = file.cursor();
    for _ in 0..file.record().header.number() {
        let (before, now) = (before.next()?, now.next()?);
        if before.map(|line| line.text.to_vec()) != now.map(|line| line.text.to_vec()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if the old session has each line without an id as often as the file.
fn repeats_as_often(old: View<'_>, file: View<'_>) -> Result<bool> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    let mut lines = old.cursor();
    while let Some(line) = lines.next()? {
        *counts.entry(xxh3_64(line.text.trim_ascii_end())).or_default() += 1;
    }
    let mut lines = file.cursor();
    while let Some(line) = lines.next()? {
        let kind = EntryKind::from_code(line.node.kind).unwrap_or(EntryKind::Unknown);
        let is_compared = !matches!(kind, EntryKind::Blank | EntryKind::Header | EntryKind::Title);
        if !is_compared || exact_id(file.reading(), file.entry_of(&line)?.line()).is_some() {
            continue;
        }
        let left = counts.get_mut(&xxh3_64(line.text.trim_ascii_end()));
        match left.and_then(|left| left.checked_sub(1).map(|less| *left = less)) {
            Some(()) => {}
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// The time of the newest message that the file has gained.
fn newest_of_file(old: View<'_>, file: View<'_>) -> Result<Option<i64>> {
    let mut newest = None;
    let in_any_order = file.record().known_family().saves_whole();
    for ordinal in Ordinal::FIRST.up_to(Ordinal::after(file.record().lines)).rev() {
        let node = file.line_node(ordinal)?;
        let kind = EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown);
        if !kind.is_entry() {
            continue;
        }
        if let Some(id) = exact_id(file.reading(), file.entry(ordinal)?.line())
            && old.find(&id)?.is_some()
        {
            if in_any_order {
                continue;
            }
            break;
        }
        newest = newest.max(conversation_time(&node));
    }
    Ok(newest)
}

/// The time of an entry that is part of the conversation.
fn conversation_time(node: &Node) -> Option<i64> {
    let is_said = matches!(
        EntryKind::from_code(node.kind),
        Some(
            EntryKind::Message
                | EntryKind::Compaction
                | EntryKind::BranchSummary
                | EntryKind::CustomMessage
        )
    );
    is_said.then(|| node.time.unwrap_or(i64::MIN))
}

/// Reads selected lines of a session in blocks.
pub(super) struct Lines<'s> {
    view: View<'s>,
    cursor: LineCursor<'s>,
    left: std::iter::Peekable<std::iter::Copied<std::slice::Iter<'s, Ordinal>>>,
}

impl<'s> Lines<'s> {
    /// Reads these lines, which must be in ascending order.
    pub(super) fn new(view: View<'s>, lines: &'s [Ordinal]) -> Self {
        Self { view, cursor: view.cursor(), left: lines.iter().copied().peekable() }
    }

    /// The next block of lines, each with its line feed; `None` after the last.
    pub(super) fn next_block(&mut self) -> Result<Option<Vec<u8>>> {
        let mut block = Vec::new();
        while block.len() < BLOCK_BYTES
            && let Some(ordinal) = self.left.next()
        {
            let line = self.cursor.line(ordinal)?;
            block.extend_from_slice(self.view.entry_of(&line)?.line());
            // A line with several records ends with the last of them.
            if !block.ends_with(b"\n") && self.left.peek().copied() != ordinal.next() {
                block.push(b'\n');
            }
        }
        Ok(Some(block).filter(|block| !block.is_empty()))
    }
}
