//! Adding prompts, and the words by which they are found.

use std::collections::BTreeSet;

use super::{search, unicode61};
use crate::error::Result;
use crate::store::Store;
use crate::store::prompt_block::LONGEST_WORD;
use crate::store::prompt_record::PromptRecord;

/// Adds prompts in one durable transaction. Returns the id of each; `None` for one that equals the newest before it.
pub(super) fn add_all(store: &Store, prompts: Vec<PromptRecord>) -> Result<Vec<Option<u64>>> {
    store.add_prompts(|writer| {
        let mut ids = Vec::with_capacity(prompts.len());
        let mut newest = search::newest(writer, 1)?.pop().map(|(_, record)| record);
        for prompt in prompts {
            if newest.as_ref().is_some_and(|newest| newest.prompt == prompt.prompt) {
                ids.push(None);
                continue;
            }
            ids.push(Some(writer.push(&prompt, indexed_words(&prompt.prompt))?));
            // Of two prompts with the same time, the later one is the newer.
            if newest.as_ref().is_none_or(|newest| newest.created_at <= prompt.created_at) {
                newest = Some(prompt);
            }
        }
        Ok(ids)
    })
}

/// Prompts that are read at a time when all are added again.
const AT_A_TIME: usize = 1000;

/// Makes the history of the prompts that can be read, numbered anew without gaps, and the index of their words.
pub(crate) fn rebuild(store: &Store) -> Result<()> {
    let mut prompts = store.take_prompts()?.into_iter().peekable();
    while prompts.peek().is_some() {
        add_all(store, prompts.by_ref().take(AT_A_TIME).collect())?;
    }
    Ok(())
}

/// The words of a prompt in the index: each once, long ones cut.
pub(super) fn indexed_words(prompt: &str) -> BTreeSet<Vec<u8>> {
    unicode61::tokens(prompt).map(|word| cut(&word).to_vec()).collect()
}

/// The beginning of a word that the index keeps.
pub(super) fn cut(word: &str) -> &[u8] {
    let bytes = word.as_bytes();
    bytes.get(..LONGEST_WORD).unwrap_or(bytes)
}
