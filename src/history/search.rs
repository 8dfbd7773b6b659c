//! Reads prompts: the newest ones, and those with certain words. Blocks are read newest first, until no other block has
//! anything newer than what was found.

use leafline_import::normalised::{composed, decomposed};
use leafline_import::text;

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

/// The newest prompts that have all parts of the query, separated by white space. A prompt has a part if the part's words
/// follow each other in it, the last one as the beginning of a word.
///
/// The index has the words as they were typed, so that the query is looked up composed and decomposed too.
pub(super) fn search(snapshot: &Snapshot, query: &str, limit: usize) -> Result<Vec<Numbered>> {
    let mut found = search_as_typed(snapshot, query, limit, |_| true)?;
    let normal = composed(query);
    let wanted = phrases(&normal);
    // To the index, `が` decomposed is `か`.
    let has_it = |prompt: &PromptRecord| {
        let words: Vec<String> = unicode61::tokens(&composed(&prompt.prompt)).collect();
        wanted.iter().all(|phrase| phrase.is_in(&words))
    };
    for other in [decomposed(query), normal.clone()] {
        if other != query {
            found.extend(search_as_typed(snapshot, &other, limit, has_it)?);
        }
    }
    found.sort_unstable_by_key(|&(number, _)| number);
    found.dedup_by_key(|(number, _)| *number);
    keep_newest(&mut found, limit);
    Ok(found)
}

/// The newest accepted prompts that have all parts of the query in the form in which it is typed.
fn search_as_typed(
    snapshot: &Snapshot,
    query: &str,
    limit: usize,
    accepts: impl Fn(&PromptRecord) -> bool,
) -> Result<Vec<Numbered>> {
    let phrases = phrases(query);
    if phrases.is_empty() {
        return Ok(Vec::new());
    }
    let terms = terms(&phrases);
    let prompts = snapshot.prompts()?;
    newest_of(
        &prompts,
        limit,
        |block| places_with(&prompts, block, &terms),
        |prompt| has_phrases(prompt, &phrases) && accepts(prompt),
    )
}

/// Words that follow each other. The last one may be the beginning of a word.
#[derive(Debug)]
struct Phrase {
    words: Vec<String>,
}

impl Phrase {
    /// Whether the index alone decides it: a single word that the index has whole.
    fn is_decided_by_index(&self) -> bool {
        matches!(&*self.words, [word] if word.len() <= LONGEST_WORD)
    }

    /// Its words as look-ups in the index.
    fn terms(&self) -> impl Iterator<Item = Term<'_>> {
        let last = self.words.len().saturating_sub(1);
        let words = self.words.iter().enumerate();
        words.map(move |(place, word)| Term { word: cut(word), is_prefix: place == last })
    }

    fn is_in(&self, words: &[String]) -> bool {
        let Some((last, before)) = self.words.split_last() else { return true };
        words.windows(self.words.len()).any(|window| {
            window.starts_with(before)
                && window.last().is_some_and(|word| word.starts_with(last.as_str()))
        })
    }
}

/// The parts of a query that have words.
fn phrases(query: &str) -> Vec<Phrase> {
    let parts = query.split(text::is_white_space);
    let phrases = parts.map(|part| Phrase { words: unicode61::tokens(part).collect() });
    phrases.filter(|phrase| !phrase.words.is_empty()).collect()
}

/// A look-up in the index.
#[derive(Debug, PartialEq, Eq)]
struct Term<'p> {
    /// The word, as the index has it.
    word: &'p [u8],
    /// Whether it means all words that begin with it.
    is_prefix: bool,
}

/// The look-ups in the index, the longest words first: they are usually the rarest. A word that is the beginning of another
/// adds nothing.
fn terms(phrases: &[Phrase]) -> Vec<Term<'_>> {
    let mut all: Vec<Term<'_>> = phrases.iter().flat_map(Phrase::terms).collect();
    all.sort_unstable_by_key(|term| {
        (std::cmp::Reverse(term.word.len()), term.word, term.is_prefix)
    });
    let mut terms: Vec<Term<'_>> = Vec::new();
    for term in all {
        let is_said =
            |said: &Term<'_>| *said == term || (term.is_prefix && said.word.starts_with(term.word));
        if !terms.iter().any(is_said) {
            terms.push(term);
        }
    }
    terms
}

/// The prompts of a block that have all words, according to the index.
fn places_with(prompts: &Prompts, block: u64, terms: &[Term<'_>]) -> Result<Places> {
    let mut all = Places::all();
    for Term { word, is_prefix } in terms {
        let mut end = word.to_vec();
        match end.last_mut() {
            // No byte of UTF-8 is 255, so that this is what comes after all words that begin so.
            Some(last) if *is_prefix => *last += 1,
            // And this after the word itself.
            _ => end.push(0),
        }
        all.intersect(&prompts.places_of(block, word..&end)?);
        if all.is_empty() {
            break;
        }
    }
    Ok(all)
}

/// Whether the prompt has the phrases that the index knows a part of alone.
fn has_phrases(prompt: &PromptRecord, phrases: &[Phrase]) -> bool {
    let mut unknown = phrases.iter().filter(|phrase| !phrase.is_decided_by_index()).peekable();
    if unknown.peek().is_none() {
        return true;
    }
    let words: Vec<String> = unicode61::tokens(&prompt.prompt).collect();
    unknown.all(|phrase| phrase.is_in(&words))
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
