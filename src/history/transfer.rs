//! Prompts that another program has, and the history does not.

use std::collections::HashMap;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use super::PromptHistory;
use super::write::indexed_words;
use crate::error::Result;
use crate::store::prompt_record::PromptRecord;
use crate::store::prompts::ReadPrompts;

/// The most prompts in one commit, and the most bytes of them.
const PROMPTS_A_COMMIT: usize = 4096;
const BYTES_A_COMMIT: usize = 4 << 20;

/// The result of importing or exporting a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HistoryTransfer {
    /// Prompts that were copied.
    pub copied: u64,
    /// Prompts that were already there.
    pub present: u64,
    /// Rows without a prompt or without a time: they were skipped.
    pub left_out: u64,
    /// Prompts that were added to a file and are not in it: its own triggers have removed or changed them.
    pub lost: u64,
}

/// What makes two prompts the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Same {
    /// Text, directory and second.
    #[cfg(feature = "omp-history")]
    InSecond,
    /// Directory and millisecond.
    InMillisecond,
}

impl Same {
    /// A hash of that, so that a million prompts take little memory.
    pub(super) fn identity(self, prompt: &PromptRecord) -> u128 {
        let mut hash = Xxh3::new();
        let (time, text) = match self {
            #[cfg(feature = "omp-history")]
            Self::InSecond => (prompt.created_at.div_euclid(1000), prompt.prompt.as_str()),
            Self::InMillisecond => (prompt.created_at, ""),
        };
        hash.update(&time.to_le_bytes());
        let cwd = prompt.cwd.as_deref();
        hash.update(&cwd.map_or(u64::MAX, |cwd| cwd.len() as u64).to_le_bytes());
        hash.update(cwd.unwrap_or_default().as_bytes());
        hash.update(text.as_bytes());
        hash.digest128()
    }
}

/// Prompts by their identity, each with the number of times it occurs.
#[derive(Debug, Clone)]
pub(super) struct Known {
    same: Same,
    pub(super) counts: HashMap<u128, u64>,
    /// How many of the store's prompts it includes.
    read: u64,
}

impl Known {
    pub(super) fn new(same: Same) -> Self {
        Self { same, counts: HashMap::new(), read: 0 }
    }

    #[cfg(feature = "omp-history")]
    pub(super) fn count(&self, prompt: u128) -> u64 {
        self.counts.get(&prompt).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, prompt: &PromptRecord) {
        *self.counts.entry(self.same.identity(prompt)).or_default() += 1;
    }

    /// Whether the prompt occurs once more than it was asked for before.
    pub(super) fn take(&mut self, prompt: &PromptRecord) -> bool {
        match self.counts.get_mut(&self.same.identity(prompt)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// Adds the prompts of a file that the history does not have, some at a time.
pub(super) struct Adding<'h> {
    history: &'h PromptHistory,
    known: Known,
    transfer: HistoryTransfer,
    waiting: Vec<PromptRecord>,
    bytes: usize,
}

impl<'h> Adding<'h> {
    pub(super) fn new(history: &'h PromptHistory, same: Same) -> Self {
        let (known, transfer) = (Known::new(same), HistoryTransfer::default());
        Self { history, known, transfer, waiting: Vec::new(), bytes: 0 }
    }

    /// Adds the next prompt of the file; `None` is a row without one.
    pub(super) fn add(&mut self, prompt: Option<PromptRecord>) -> Result<()> {
        let Some(prompt) = prompt else {
            self.transfer.left_out += 1;
            return Ok(());
        };
        self.bytes += prompt.prompt.len();
        self.waiting.push(prompt);
        if self.waiting.len() >= PROMPTS_A_COMMIT || self.bytes >= BYTES_A_COMMIT {
            self.commit()?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<HistoryTransfer> {
        self.commit()?;
        Ok(self.transfer)
    }

    /// Adds those of the waiting prompts that are not known, in one commit.
    fn commit(&mut self) -> Result<()> {
        let prompts = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let (known, transfer) = (&mut self.known, &mut self.transfer);
        let copied = self.history.store.add_prompts(|writer| {
            let mut copied = 0;
            // The prompts that others have added since the last commit, in a transaction during which nothing else is
            // added.
            for number in known.read..writer.count()? {
                known.add(&writer.prompt(number)?);
            }
            for prompt in prompts {
                if known.take(&prompt) {
                    transfer.present += 1;
                } else {
                    writer.push(&prompt, indexed_words(&prompt.prompt))?;
                    copied += 1;
                }
            }
            known.read = writer.count()?;
            Ok(copied)
        })?;
        transfer.copied += copied;
        Ok(())
    }
}
