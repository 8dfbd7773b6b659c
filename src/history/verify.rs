//! Checking the history: its index against its prompts.

use std::collections::BTreeMap;

use redb::{ReadOnlyTable, ReadableTable};

use super::search;
use super::write::{damaged, indexed_words};
use crate::error::Result;
use crate::session::Findings;
use crate::store::prompt_block::{BLOCK, Places, PromptBlockRecord, place_of};
use crate::store::record::Record;
use crate::store::snapshot::Snapshot;
use crate::store::tables;

/// Compares every row of the index with what the prompts make of it.
///
/// # Errors
///
/// Only where the store cannot be read at all; damage is a finding.
pub(crate) fn check(snapshot: &Snapshot, findings: &mut Findings<'_>) -> Result<()> {
    let prompts = snapshot.table(tables::HISTORY)?;
    let terms = snapshot.table(tables::HISTORY_TERMS)?;
    let blocks = snapshot.table(tables::HISTORY_BLOCKS)?;
    let end = search::end_of(&prompts)?;
    // The blocks of all prompts, those that the index has beyond them, and no more.
    let last_term = terms.last()?.map_or(0, |(key, _)| key.value().0 + 1);
    let last_block = blocks.last()?.map_or(0, |(block, _)| block.value() + 1);
    let block_count = end.div_ceil(BLOCK);
    for (table, last) in [("history_terms", last_term), ("history_blocks", last_block)] {
        if last > block_count {
            findings.problem(
                table,
                None,
                format!("there is a block {}, and no prompt in it", last - 1),
            );
        }
    }
    for block in 0..block_count {
        let numbers = block * BLOCK..end.min((block + 1) * BLOCK);
        let Some((record, words)) = made_of(&prompts, numbers, findings)? else { continue };
        let stored = blocks
            .get(block)?
            .map(|row| PromptBlockRecord::from_bytes(row.value(), || format!("block {block}")));
        match stored.map(|stored| findings.absorb(stored)).transpose()? {
            // Told already.
            Some(None) => {}
            Some(Some(stored)) if Some(stored) == record => {}
            _ => findings.problem(
                "history_blocks",
                None,
                format!("block {block} does not say when its prompts were given"),
            ),
        }
        check_words(&terms, block, words, findings)?;
    }
    Ok(())
}

/// A block's record and its words, as its prompts make them.
type Made = (Option<PromptBlockRecord>, BTreeMap<Vec<u8>, Places>);

/// What the prompts make of a block; `None` where they cannot be read.
fn made_of(
    prompts: &ReadOnlyTable<u64, &'static [u8]>,
    numbers: std::ops::Range<u64>,
    findings: &mut Findings<'_>,
) -> Result<Option<Made>> {
    let mut record = None;
    let mut words: BTreeMap<Vec<u8>, Places> = BTreeMap::new();
    let mut is_whole = true;
    for number in numbers {
        let Some(prompt) = findings.absorb(search::prompt(prompts, number))? else {
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
    terms: &ReadOnlyTable<(u64, &'static [u8]), &'static [u8]>,
    block: u64,
    mut words: BTreeMap<Vec<u8>, Places>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    for row in terms.range((block, &b""[..])..(block + 1, &b""[..]))? {
        let (key, row) = row?;
        let word = key.value().1;
        let mut places = Places::none();
        let read = places.insert_row(row.value());
        let read = read.map_err(|problem| damaged(block, word, problem).into());
        let made = words.remove(word);
        if findings.absorb(read)?.is_some() && made.as_ref() != Some(&places) {
            let word = String::from_utf8_lossy(word);
            findings.problem(
                "history_terms",
                None,
                format!("block {block} has the word {word:?} for other prompts than have it"),
            );
        }
    }
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
