//! The tables of the history: prompts by number, and the index of their words. `history` decides what a word is, and
//! which prompts match a query.

use std::collections::BTreeMap;
use std::ops::Range;

use redb::{AccessGuard, Table, WriteTransaction};

use super::prompt_block::{BLOCK, Places, PromptBlockRecord, place_of};
use super::prompt_record::PromptRecord;
use super::record::Record;
use super::snapshot::Snapshot;
use super::{Store, tables};
use crate::error::{Corruption, Result};
use crate::store::pages::{ReadOnlyTable, ReadableTable};

/// The prompts in a snapshot or in an open transaction.
pub(crate) trait ReadPrompts {
    /// The number of prompts, which is the number of the next one.
    fn count(&self) -> Result<u64>;

    /// The prompt with a number below [`Self::count`]; a missing one is damage.
    fn prompt(&self, number: u64) -> Result<PromptRecord>;

    /// All blocks of prompts, in order; more or fewer than the prompts make are damage.
    fn blocks(&self) -> Result<Vec<(u64, PromptBlockRecord)>>;
}

/// The history in a snapshot.
pub(crate) struct Prompts {
    prompts: ReadOnlyTable<u64, &'static [u8]>,
    terms: ReadOnlyTable<(u64, &'static [u8]), &'static [u8]>,
    blocks: ReadOnlyTable<u64, &'static [u8]>,
}

impl Snapshot {
    /// The history of prompts.
    pub(crate) fn prompts(&self) -> Result<Prompts> {
        Ok(Prompts {
            prompts: self.table(tables::HISTORY)?,
            terms: self.table(tables::HISTORY_TERMS)?,
            blocks: self.table(tables::HISTORY_BLOCKS)?,
        })
    }
}

impl ReadPrompts for Prompts {
    fn count(&self) -> Result<u64> {
        count_of(&self.prompts)
    }

    fn prompt(&self, number: u64) -> Result<PromptRecord> {
        prompt_in(&self.prompts, number)
    }

    fn blocks(&self) -> Result<Vec<(u64, PromptBlockRecord)>> {
        blocks_of(&self.blocks, self.count()?)
    }
}

impl Prompts {
    /// The places of a block's prompts that have one of the words in a range.
    pub(crate) fn places_of(&self, block: u64, words: Range<&[u8]>) -> Result<Places> {
        let mut places = Places::none();
        for row in self.terms.range((block, words.start)..(block, words.end))? {
            let (key, value) = row?;
            insert_row(&mut places, (block, key.value().1), &value)?;
        }
        Ok(places)
    }

    /// Passes on the words of a block, in order, each with the places of the prompts that have it.
    pub(crate) fn each_word(
        &self,
        block: u64,
        mut take: impl FnMut(&[u8], Result<Places>) -> Result<()>,
    ) -> Result<()> {
        for row in self.terms.range((block, &b""[..])..(block + 1, &b""[..]))? {
            let (key, value) = row?;
            let word = key.value().1;
            let mut places = Places::none();
            let read = insert_row(&mut places, (block, word), &value);
            take(word, read.map(|()| places))?;
        }
        Ok(())
    }

    /// The number of the first prompt from one on.
    pub(crate) fn next_from(&self, number: u64) -> Result<Option<u64>> {
        let next = self.prompts.range(number..)?.next().transpose()?;
        Ok(next.map(|(number, _)| number.value()))
    }

    /// A block's record, if it has one.
    pub(crate) fn block(&self, block: u64) -> Result<Option<PromptBlockRecord>> {
        block_in(&self.blocks, block)
    }

    /// For each table of blocks, the block after the last one in it.
    pub(crate) fn block_ends(&self) -> Result<[(&'static str, u64); 2]> {
        let terms = self.terms.last()?.map_or(0, |(key, _)| key.value().0.saturating_add(1));
        let blocks = self.blocks.last()?.map_or(0, |(block, _)| block.value().saturating_add(1));
        Ok([("history_terms", terms), ("history_blocks", blocks)])
    }
}

/// Adds prompts in a transaction.
pub(crate) struct PromptWriter<'t> {
    prompts: Table<'t, u64, &'static [u8]>,
    terms: Table<'t, (u64, &'static [u8]), &'static [u8]>,
    blocks: Table<'t, u64, &'static [u8]>,
    /// The next prompt's number.
    next: u64,
    /// The additions to the index: words recur often, and each row is written once.
    words: BTreeMap<(u64, Vec<u8>), Vec<u16>>,
}

impl Store {
    /// Adds prompts in one durable transaction, during which no others are added. Nothing is written if none is added
    /// or if `add` fails.
    pub(crate) fn add_prompts<T>(
        &self,
        add: impl FnOnce(&mut PromptWriter<'_>) -> Result<T>,
    ) -> Result<T> {
        let transaction = self.begin_write()?;
        let (answer, is_changed) = transaction.act(|transaction| {
            let mut writer = PromptWriter::new(transaction)?;
            let before = writer.next;
            let answer = add(&mut writer)?;
            let is_changed = writer.next != before;
            writer.finish()?;
            Ok((answer, is_changed))
        })?;
        if is_changed {
            transaction.commit_beside_appends()?;
        } else {
            transaction.abort()?;
        }
        Ok(answer)
    }
}

impl Store {
    /// Removes all prompts, and returns those that can be read, in the order of their numbers.
    pub(crate) fn take_prompts(&self) -> Result<Vec<PromptRecord>> {
        let transaction = self.begin_write()?;
        let prompts = transaction.act(|transaction| {
            let mut prompts = Vec::new();
            let mut table = transaction.open_table(tables::HISTORY)?;
            for row in table.iter()? {
                let (number, value) = row?;
                let place = || number.value().to_string();
                prompts.extend(PromptRecord::from_bytes(value.value(), place));
            }
            table.retain(|_, _| false)?;
            transaction.open_table(tables::HISTORY_TERMS)?.retain(|_, _| false)?;
            transaction.open_table(tables::HISTORY_BLOCKS)?.retain(|_, _| false)?;
            Ok(prompts)
        })?;
        transaction.commit_beside_appends()?;
        Ok(prompts)
    }
}

impl<'t> PromptWriter<'t> {
    fn new(transaction: &'t WriteTransaction) -> Result<Self> {
        let prompts = transaction.open_table(tables::HISTORY)?;
        let next = count_of(&prompts)?;
        Ok(Self {
            prompts,
            terms: transaction.open_table(tables::HISTORY_TERMS)?,
            blocks: transaction.open_table(tables::HISTORY_BLOCKS)?,
            next,
            words: BTreeMap::new(),
        })
    }

    /// Adds a prompt with the words by which it is found; returns its number.
    pub(crate) fn push(
        &mut self,
        record: &PromptRecord,
        words: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<u64> {
        let number = self.next;
        self.next += 1;
        self.prompts.insert(number, record.to_bytes().as_slice())?;
        let (block, place) = place_of(number);
        let known = block_in(&self.blocks, block)?;
        if known.is_none() && place > 0 {
            return Err(missing_block(block).into());
        }
        let known = PromptBlockRecord::with(known, record.created_at);
        self.blocks.insert(block, known.to_bytes().as_slice())?;
        for word in words {
            self.words.entry((block, word)).or_default().push(place);
        }
        Ok(number)
    }

    /// Writes the index of the prompts that were added.
    fn finish(mut self) -> Result<()> {
        for ((block, word), added) in self.words {
            let key = (block, word.as_slice());
            let mut places = Places::none();
            if let Some(value) = self.terms.get(key)? {
                insert_row(&mut places, key, &value)?;
            }
            added.into_iter().for_each(|place| places.insert(place));
            self.terms.insert(key, places.to_row().as_slice())?;
        }
        Ok(())
    }
}

impl ReadPrompts for PromptWriter<'_> {
    fn count(&self) -> Result<u64> {
        Ok(self.next)
    }

    fn prompt(&self, number: u64) -> Result<PromptRecord> {
        prompt_in(&self.prompts, number)
    }

    fn blocks(&self) -> Result<Vec<(u64, PromptBlockRecord)>> {
        blocks_of(&self.blocks, self.next)
    }
}

fn count_of(prompts: &impl ReadableTable<u64, &'static [u8]>) -> Result<u64> {
    Ok(prompts.last()?.map_or(0, |(last, _)| last.value().saturating_add(1)))
}

fn prompt_in(
    prompts: &impl ReadableTable<u64, &'static [u8]>,
    number: u64,
) -> Result<PromptRecord> {
    let row = prompts.get(number)?.ok_or_else(|| Corruption {
        table: "history",
        place: number.to_string(),
        problem: "the prompt is not there".into(),
    })?;
    PromptRecord::from_bytes(row.value(), || number.to_string())
}

fn block_in(
    blocks: &impl ReadableTable<u64, &'static [u8]>,
    block: u64,
) -> Result<Option<PromptBlockRecord>> {
    let row = blocks.get(block)?;
    row.map(|row| PromptBlockRecord::from_bytes(row.value(), || format!("block {block}")))
        .transpose()
}

fn blocks_of(
    blocks: &impl ReadableTable<u64, &'static [u8]>,
    prompts: u64,
) -> Result<Vec<(u64, PromptBlockRecord)>> {
    let mut all = Vec::new();
    for (expected, row) in (0..prompts.div_ceil(BLOCK)).zip(blocks.iter()?) {
        let (block, row) = row?;
        if block.value() != expected {
            return Err(missing_block(expected).into());
        }
        let place = || format!("block {expected}");
        all.push((expected, PromptBlockRecord::from_bytes(row.value(), place)?));
    }
    if all.len() as u64 != prompts.div_ceil(BLOCK) {
        return Err(missing_block(all.len() as u64).into());
    }
    Ok(all)
}

fn missing_block(block: u64) -> Corruption {
    Corruption {
        table: "history_blocks",
        place: format!("block {block}"),
        problem: "the block has prompts, and no record".into(),
    }
}

/// Adds the prompts of a row of the index to a set.
fn insert_row(
    places: &mut Places,
    (block, word): (u64, &[u8]),
    row: &AccessGuard<'_, &'static [u8]>,
) -> Result<()> {
    let damaged = |problem| Corruption {
        table: "history_terms",
        place: format!("block {block}, {:?}", String::from_utf8_lossy(word)),
        problem,
    };
    Ok(places.insert_row(row.value()).map_err(damaged)?)
}
