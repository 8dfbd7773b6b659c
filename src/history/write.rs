//! Writing prompts: their records, and the index of their words.

use std::collections::{BTreeMap, BTreeSet};

use redb::{ReadableTable, Table, WriteTransaction};

use super::{search, unicode61};
use crate::error::{Corruption, Result};
use crate::store::prompt_block::{LONGEST_WORD, Places, PromptBlockRecord, place_of};
use crate::store::prompt_record::PromptRecord;
use crate::store::record::Record;
use crate::store::{Store, tables};

/// Adds prompts in one durable transaction, each with its id in the answer; none for one that is the same as the newest
/// before it.
pub(super) fn add_all(store: &Store, prompts: Vec<PromptRecord>) -> Result<Vec<Option<u64>>> {
    let transaction = store.begin_write()?;
    let mut ids = Vec::with_capacity(prompts.len());
    {
        let mut writer = PromptWriter::new(&transaction)?;
        let mut newest = writer.newest()?;
        for prompt in prompts {
            if newest.as_ref().is_some_and(|newest| newest.prompt == prompt.prompt) {
                ids.push(None);
                continue;
            }
            ids.push(Some(writer.push(&prompt)?));
            // Of two prompts of one time, the later one is the newer.
            if newest.as_ref().is_none_or(|newest| newest.created_at <= prompt.created_at) {
                newest = Some(prompt);
            }
        }
        writer.finish()?;
    }
    if ids.iter().all(Option::is_none) {
        transaction.abort()?;
    } else {
        transaction.commit()?;
    }
    Ok(ids)
}

/// The words of a prompt as the index has them: each once, and cut where they are long.
pub(super) fn indexed_words(prompt: &str) -> BTreeSet<Vec<u8>> {
    unicode61::tokens(prompt).map(|word| cut(&word).to_vec()).collect()
}

/// The beginning of a word that the index has.
pub(super) fn cut(word: &str) -> &[u8] {
    let bytes = word.as_bytes();
    bytes.get(..LONGEST_WORD).unwrap_or(bytes)
}

/// Adds prompts in a transaction.
pub(super) struct PromptWriter<'t> {
    prompts: Table<'t, u64, &'static [u8]>,
    terms: Table<'t, (u64, &'static [u8]), &'static [u8]>,
    blocks: Table<'t, u64, &'static [u8]>,
    /// The next prompt's number.
    next: u64,
    /// What is to be added to the index: words are met again and again, and each row is written once.
    words: BTreeMap<(u64, Vec<u8>), Vec<u16>>,
}

impl<'t> PromptWriter<'t> {
    pub(super) fn new(transaction: &'t WriteTransaction) -> Result<Self> {
        let prompts = transaction.open_table(tables::HISTORY)?;
        let next = search::end_of(&prompts)?;
        Ok(Self {
            prompts,
            terms: transaction.open_table(tables::HISTORY_TERMS)?,
            blocks: transaction.open_table(tables::HISTORY_BLOCKS)?,
            next,
            words: BTreeMap::new(),
        })
    }

    /// The number that the next prompt gets: how many there are.
    #[cfg(feature = "omp-history")]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The prompt with a number.
    #[cfg(feature = "omp-history")]
    pub(super) fn prompt(&self, number: u64) -> Result<PromptRecord> {
        search::prompt(&self.prompts, number)
    }

    /// The newest prompt that was there before.
    pub(super) fn newest(&self) -> Result<Option<PromptRecord>> {
        let mut found = search::newest(&self.prompts, &self.blocks, 1)?;
        Ok(found.pop().map(|(_, record)| record))
    }

    /// Adds a prompt; answers its number.
    pub(super) fn push(&mut self, record: &PromptRecord) -> Result<u64> {
        let number = self.next;
        self.next += 1;
        self.prompts.insert(number, record.to_bytes().as_slice())?;
        let (block, place) = place_of(number);
        let known = match self.blocks.get(block)? {
            Some(row) => Some(PromptBlockRecord::from_bytes(row.value(), || block.to_string())?),
            None => None,
        };
        let known = PromptBlockRecord::with(known, record.created_at);
        self.blocks.insert(block, known.to_bytes().as_slice())?;
        for word in indexed_words(&record.prompt) {
            self.words.entry((block, word)).or_default().push(place);
        }
        Ok(number)
    }

    /// Writes the index of the prompts that were added.
    pub(super) fn finish(mut self) -> Result<()> {
        for ((block, word), added) in self.words {
            let key = (block, word.as_slice());
            let mut places = Places::none();
            if let Some(row) = self.terms.get(key)? {
                places.insert_row(row.value()).map_err(|problem| damaged(block, &word, problem))?;
            }
            added.into_iter().for_each(|place| places.insert(place));
            self.terms.insert(key, places.to_row().as_slice())?;
        }
        Ok(())
    }
}

/// The error of a row of the index that is no set of prompts.
pub(super) fn damaged(block: u64, word: &[u8], problem: String) -> Corruption {
    Corruption {
        table: "history_terms",
        place: format!("block {block}, {:?}", String::from_utf8_lossy(word)),
        problem,
    }
}
