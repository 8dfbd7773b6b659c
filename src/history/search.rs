//! Reads prompts: the newest ones, and those with certain words. Blocks are read newest first, until no other block has
//! anything newer than what was found.

use super::unicode61;
use super::write::cut;
use crate::error::Result;
use crate::store::prompt_block::{BLOCK, LONGEST_WORD, Places, place_of};
use crate::store::prompt_record::PromptRecord;
use crate::store::prompts::{Prompts, ReadPrompts};
use crate::store::snapshot::Snapshot;

/// How many prompts beyond the limit are collected before the older ones are dropped.
const MANY: usize = 1000;

/// A prompt and its number.
pub(super) type Numbered = (u64, PromptRecord);

/// The newest prompts, the newest first.
pub(super) fn recent(snapshot: &Snapshot, limit: usize) -> Result<Vec<Numbered>> {
    newest(&snapshot.prompts()?, limit)
}

/// The newest prompts of a snapshot, or of a transaction under way.
pub(super) fn newest(prompts: &impl ReadPrompts, limit: usize) -> Result<Vec<Numbered>> {
    let end = prompts.count()?;
    let all = |block| {
        let (last_block, places) = place_of(end);
        let mut all = Places::none();
        if block < last_block {
            all = Places::all();
        } else {
            (0..places).for_each(|place| all.insert(place));
        }
        Ok(all)
    };
    newest_of(prompts, limit, all, |_| true)
}

/// The newest prompts that have, for each word of the query, a word that begins with it.
pub(super) fn search(snapshot: &Snapshot, query: &str, limit: usize) -> Result<Vec<Numbered>> {
    let words = wanted(query);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let prompts = snapshot.prompts()?;
    newest_of(
        &prompts,
        limit,
        |block| places_with(&prompts, block, &words),
        |prompt| has_long_words(prompt, &words),
    )
}

/// The words of a query, the longest first: it is usually the rarest. Words that are the beginning of another one are
/// left out, as they add nothing.
fn wanted(query: &str) -> Vec<String> {
    let mut words: Vec<String> = unicode61::tokens(query).collect();
    words.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    let mut wanted: Vec<String> = Vec::new();
    for word in words {
        if !wanted.iter().any(|longer| longer.starts_with(&word)) {
            wanted.push(word);
        }
    }
    wanted
}

/// The prompts of a block that have all words, according to the index.
fn places_with(prompts: &Prompts, block: u64, words: &[String]) -> Result<Places> {
    let mut all = Places::all();
    for word in words {
        let first = cut(word);
        let mut end = first.to_vec();
        // No byte of UTF-8 is 255, so this comes after all words with that beginning.
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        all.intersect(&prompts.places_of(block, first..&end)?);
        if all.is_empty() {
            break;
        }
    }
    Ok(all)
}

/// Whether the prompt has the words of which the index has only the beginnings.
fn has_long_words(prompt: &PromptRecord, words: &[String]) -> bool {
    let long = |word: &&String| word.len() > LONGEST_WORD;
    words
        .iter()
        .filter(long)
        .all(|word| unicode61::tokens(&prompt.prompt).any(|token| token.starts_with(word.as_str())))
}

/// The newest prompts among the accepted ones in each block.
fn newest_of(
    prompts: &impl ReadPrompts,
    limit: usize,
    mut places_in: impl FnMut(u64) -> Result<Places>,
    accepts: impl Fn(&PromptRecord) -> bool,
) -> Result<Vec<Numbered>> {
    let mut found: Vec<Numbered> = Vec::new();
    if limit == 0 {
        return Ok(found);
    }
    let mut blocks = prompts.blocks()?;
    blocks.sort_by(|(a, first), (b, second)| (second.newest, b).cmp(&(first.newest, a)));
    for (block, record) in blocks {
        // Older prompts are not needed.
        let oldest = found.get(limit - 1).map_or(i64::MIN, |(_, last)| last.created_at);
        if record.newest < oldest {
            break;
        }
        let mut taken = 0;
        for place in places_in(block)?.descending() {
            // In an ordered block the first ones are the newest.
            if record.ordered && taken == limit {
                break;
            }
            let number = block * BLOCK + u64::from(place);
            let prompt = prompts.prompt(number)?;
            if record.ordered && prompt.created_at < oldest {
                break;
            }
            if accepts(&prompt) {
                found.push((number, prompt));
                taken += 1;
            }
            if found.len() >= limit + MANY {
                keep_newest(&mut found, limit);
            }
        }
        keep_newest(&mut found, limit);
    }
    Ok(found)
}

/// Sorts the prompts, the newest first, and drops those beyond the limit.
fn keep_newest(found: &mut Vec<Numbered>, limit: usize) {
    found.sort_by(|(a, first), (b, second)| (second.created_at, b).cmp(&(first.created_at, a)));
    found.truncate(limit);
}
