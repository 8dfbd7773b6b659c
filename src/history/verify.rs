//! Checks the history: its index against its prompts.

use std::collections::BTreeMap;

use super::write::indexed_words;
use crate::error::Result;
use crate::session::Findings;
use crate::store::prompt_block::{BLOCK, Places, PromptBlockRecord, place_of};
use crate::store::prompts::{Prompts, ReadPrompts};
use crate::store::snapshot::Snapshot;

/// Compares every row of the index with the one that the prompts give.
///
/// # Errors
///
/// If the store cannot be read at all; damage is a finding.
pub(crate) fn check(snapshot: &Snapshot, findings: &mut Findings<'_>) -> Result<()> {
    let prompts = snapshot.prompts()?;
    let end = prompts.count()?;
    let block_count = end.div_ceil(BLOCK);
    for (table, last) in prompts.block_ends()? {
        if last > block_count {
            findings.problem(
                table,
                None,
                format!("there is a block {}, and no prompt in it", last - 1),
            );
        }
    }
    let mut next = 0;
    while next < block_count {
        let block = next;
        next += 1;
        let numbers = block * BLOCK..end.min(next.saturating_mul(BLOCK));
        // A damaged number may be far beyond the others.
        let there = findings.absorb(prompts.next_from(numbers.start))?.flatten();
        if let Some(there) = there.filter(|there| *there >= numbers.end) {
            let lost = format!("there are no prompts {} to {}", numbers.start, there - 1);
            findings.problem("history", None, lost);
            next = there / BLOCK;
            continue;
        }
        let Some((record, words)) = made_of(&prompts, numbers, findings)? else { continue };
        match findings.absorb(prompts.block(block))? {
            // The block is damaged, which is already a finding.
            None => {}
            Some(stored) if stored.is_some() && stored == record => {}
            _ => findings.problem(
                "history_blocks",
                None,
                format!("block {block} does not say when its prompts were given"),
            ),
        }
        check_words(&prompts, block, words, findings)?;
    }
    Ok(())
}

/// A block's record and its words, computed from its prompts.
type Made = (Option<PromptBlockRecord>, BTreeMap<Vec<u8>, Places>);

/// Computes a block's record and words from its prompts; `None` if they cannot be read.
fn made_of(
    prompts: &Prompts,
    numbers: std::ops::Range<u64>,
    findings: &mut Findings<'_>,
) -> Result<Option<Made>> {
    let mut record = None;
    let mut words: BTreeMap<Vec<u8>, Places> = BTreeMap::new();
    let mut is_whole = true;
    for number in numbers {
        let Some(prompt) = findings.absorb(prompts.prompt(number))? else {
            is_whole = false;
            continue;
        };
        findings.counts().prompts += 1;
        record = Some(PromptBlockRecord::with(record, prompt.created_at));
        for word in indexed_words(&prompt.prompt) {
            words.entry(word).or_insert_with(Places::none).insert(place_of(number).1);
        }
    }
    Ok(is_whole.then_some((record, words)))
}

fn check_words(
    prompts: &Prompts,
    block: u64,
    mut words: BTreeMap<Vec<u8>, Places>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    prompts.each_word(block, |word, places| {
        let made = words.remove(word);
        let places = findings.absorb(places)?;
        if places.is_some() && made != places {
            let word = String::from_utf8_lossy(word);
            findings.problem(
                "history_terms",
                None,
                format!("block {block} has the word {word:?} for other prompts than have it"),
            );
        }
        Ok(())
    })?;
    if let Some(word) = words.keys().next() {
        let word = String::from_utf8_lossy(word);
        findings.problem(
            "history_terms",
            None,
            format!("block {block} lacks {} words, {word:?} among them", words.len()),
        );
    }
    Ok(())
}
