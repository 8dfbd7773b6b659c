//! A new session out of lines that are made here: a header alone, a fork, a session that was waiting in memory.

use std::sync::Arc;

use super::super::index::indexer::{Indexed, Indexer};
use super::super::index::prepare::{Prepared, Preparer};
use super::super::index::reading::Reading;
use super::super::index::resolve::resolve;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::compression::{Dictionary, NO_DICTIONARY};
use crate::store::owner::Owner;
use crate::store::session_record::{SessionRecord, address_bytes};
use crate::store::slice::{Guard, Slice};
use crate::store::tables::NO_LEAF;

/// Bytes of lines that are prepared together.
const BLOCK_BYTES: usize = 1 << 20;

/// Which entry is the leaf of a new session.
#[derive(Debug, Clone, Copy)]
pub(super) enum NewLeaf {
    /// The last one.
    Last,
    /// The entry of this line, or none.
    Line(Option<u64>),
}

/// Takes a session's lines in order. Nothing of it is visible before it is finished; what is committed of a long
/// one is marked, so that a sweep removes it if it never is.
pub(super) struct Builder<'s> {
    store: &'s Store,
    /// Where the bytes of blobs are that lines refer to, if that is another store.
    blobs: Option<&'s Store>,
    key: u64,
    owner: Option<Owner>,
    preparer: Preparer,
    dictionary: Arc<Dictionary>,
    indexer: Indexer<'s>,
    slice: Slice,
    block: Vec<u8>,
    is_first_block: bool,
}

impl<'s> Builder<'s> {
    /// A builder for a session with the facts of this record.
    pub(super) fn new(
        store: &'s Store,
        record: SessionRecord,
        blobs: Option<&'s Store>,
    ) -> Result<Self> {
        let key = store.reserve_sessions(1)?;
        let newest = store.dictionary_ids()?.last().copied().unwrap_or(NO_DICTIONARY);
        let dictionary = store.dictionary(newest)?;
        let reading = Reading::of(&record);
        let mut indexer = Indexer::new(store, key, record, None, dictionary.id);
        indexer.set_live();
        Ok(Self {
            store,
            blobs,
            key,
            owner: None,
            preparer: Preparer::new(reading),
            dictionary,
            indexer,
            slice: Slice::default(),
            block: Vec::new(),
            is_first_block: true,
        })
    }

    /// Adds lines, each with its line feed.
    pub(super) fn push(&mut self, lines: &[u8]) -> Result<()> {
        self.block.extend_from_slice(lines);
        if self.block.len() >= BLOCK_BYTES { self.close_block() } else { Ok(()) }
    }

    fn close_block(&mut self) -> Result<()> {
        let mut prepared =
            self.preparer.prepare(&self.block, self.is_first_block, &self.dictionary);
        self.block.clear();
        self.is_first_block = false;
        self.bring(&mut prepared)?;
        let window_moved = self.indexer.add(prepared, &mut self.slice)?;
        if window_moved || Indexer::is_slice_full(&self.slice) {
            self.commit()?;
        }
        Ok(())
    }

    /// Fetches the bytes of blobs that the lines refer to.
    fn bring(&self, prepared: &mut Prepared) -> Result<()> {
        let Some(from) = self.blobs else { return Ok(()) };
        let snapshot = from.snapshot()?;
        for blob in prepared.blobs.iter_mut().filter(|blob| blob.bytes.is_none()) {
            blob.bytes = snapshot.blob(&blob.hash)?;
        }
        Ok(())
    }

    /// Commits what is there of a session that is not complete.
    fn commit(&mut self) -> Result<()> {
        if self.owner.is_none() {
            let owner = Owner::new(self.store.path())?;
            self.slice.begun.push((self.key, owner.token));
            self.owner = Some(owner);
        }
        let committed = self.store.commit(std::mem::take(&mut self.slice))?;
        self.indexer.after_commit(committed.replaced_entries);
        Ok(())
    }

    /// Makes the session visible, whole, and answers its key.
    pub(super) fn finish(mut self, leaf: NewLeaf) -> Result<u64> {
        self.close_block()?;
        let Self { store, key, mut owner, indexer, mut slice, .. } = self;
        let Indexed { mut record, leaf: last, needs_resolving, .. } = indexer.finish(&mut slice)?;
        if owner.is_some() || needs_resolving {
            if owner.is_none() {
                let new = Owner::new(store.path())?;
                slice.begun.push((key, new.token));
                owner = Some(new);
            }
            record.duplicates += store.commit(std::mem::take(&mut slice))?.replaced_entries;
            slice.finished.push(key);
        }
        if needs_resolving || record.duplicates > 0 {
            record.irregular = true;
            record.orphans = resolve(store, key, Reading::of(&record))?;
        }
        record.sealed = record.lines;
        record.revision = 1;
        let leaf = match leaf {
            NewLeaf::Last => last,
            NewLeaf::Line(leaf) => leaf,
        };
        let address = address_bytes(&record.external_id, record.number);
        let id = record.id();
        slice.guards.push((key, Guard::Free { address: address.clone() }));
        slice.leaves.push((key, leaf.unwrap_or(NO_LEAF)));
        slice.session_ids.push((address, key));
        slice.sessions.push((key, record));
        let committed = store.commit(slice)?;
        if committed.conflicts.is_empty() {
            return Ok(key);
        }
        if let Some(owner) = &owner {
            store.sweep_own(owner)?;
        }
        Err(Error::SessionExists { id })
    }
}
