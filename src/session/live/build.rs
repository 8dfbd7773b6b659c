//! A new session out of lines that are made here: a header alone, a fork, a session that was waiting in memory.

use std::sync::Arc;

use super::super::index::indexer::{Indexed, Indexer};
use super::super::index::prepare::{Prepared, Preparer};
use super::super::index::reading::Reading;
use super::super::index::resolve::resolve;
use super::super::reader::SessionReader;
use super::append::note_change;
use super::pending::uncounted;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::compression::{Dictionary, NO_DICTIONARY};
use crate::store::owner::Owner;
use crate::store::session_record::{SessionRecord, SessionRest, address_bytes};
use crate::store::slice::{Guard, Slice};
use crate::store::source_record::SourceRecord;
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
    replaces: Option<Replaced>,
}

/// The session whose place the new one takes.
struct Replaced {
    session: u64,
    revision: u64,
    sources: Vec<(Vec<u8>, SourceRecord)>,
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
        let reading = Reading::of(&record)?;
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
            replaces: None,
        })
    }

    /// A builder for what takes the place of a session: with its id, and what was imported as it.
    pub(super) fn in_place_of(store: &'s Store, reader: &SessionReader<'_>) -> Result<Self> {
        let old = reader.record();
        let record = SessionRecord {
            rest: SessionRest {
                imported: old.imported,
                sources: old.sources.clone(),
                revision: old.revision,
                ..SessionRest::default()
            },
            ..uncounted(old)
        };
        let mut sources = Vec::new();
        for path in &old.sources {
            let source = reader.snapshot().source(path)?;
            if let Some(source) = source.filter(|source| source.session == reader.key()) {
                sources.push((path.clone(), source));
            }
        }
        let mut builder = Self::new(store, record, None)?;
        builder.replaces =
            Some(Replaced { session: reader.key(), revision: old.revision, sources });
        Ok(builder)
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
        match &self.owner {
            Some(owner) => self.slice.held.push((self.key, owner.token)),
            None => {
                let owner = self.store.begin_owner()?;
                self.slice.begun.push((self.key, owner.token));
                self.owner = Some(owner);
            }
        }
        let committed = self.store.commit(std::mem::take(&mut self.slice))?;
        self.indexer.after_commit(committed.replaced_entries);
        Ok(())
    }

    /// Makes the session visible, whole, and answers its key.
    pub(super) fn finish(self, leaf: NewLeaf) -> Result<u64> {
        match self.complete(leaf)? {
            Ok(key) => Ok(key),
            Err(id) => Err(Error::SessionExists { id }),
        }
    }

    /// Makes the session visible in the old one's place, and answers its key; `None` where somebody has changed that
    /// meanwhile, and nothing was done.
    pub(super) fn finish_in_place(self, leaf: NewLeaf) -> Result<Option<u64>> {
        Ok(self.complete(leaf)?.ok())
    }

    /// Commits what is left, with the record. Answers the key, or the id of a session whose place is not to be had.
    fn complete(mut self, leaf: NewLeaf) -> Result<Result<u64, String>> {
        self.close_block()?;
        let Self { store, key, mut owner, indexer, mut slice, replaces, .. } = self;
        let Indexed { mut record, leaf: last, needs_resolving, .. } = indexer.finish(&mut slice)?;
        if owner.is_some() || needs_resolving || replaces.is_some() {
            let owned = match &owner {
                Some(owner) => {
                    slice.held.push((key, owner.token));
                    owner.token
                }
                None => {
                    let owner = owner.insert(store.begin_owner()?);
                    slice.begun.push((key, owner.token));
                    owner.token
                }
            };
            record.duplicates += store.commit(std::mem::take(&mut slice))?.replaced_entries;
            slice.held.push((key, owned));
            slice.finished.push(key);
        }
        if needs_resolving || record.duplicates > 0 {
            record.irregular = true;
            record.orphans = resolve(store, key, &record)?;
        }
        record.sealed = record.lines;
        record.revision += 1;
        note_change(&mut record);
        let leaf = match leaf {
            NewLeaf::Last => last,
            NewLeaf::Line(leaf) => leaf,
        };
        let address = address_bytes(&record.external_id, record.number);
        let id = record.id();
        let guard = match &replaces {
            Some(Replaced { session, revision, .. }) => {
                Guard::Same { session: *session, revision: *revision }
            }
            None => Guard::Free { address: address.clone() },
        };
        slice.guards.push((key, guard));
        if let (Some(replaced), Some(owner)) = (replaces, &owner) {
            slice.retired.push((replaced.session, owner.token, key));
            let moved = |(path, source)| (path, SourceRecord { session: key, ..source });
            slice.sources.extend(replaced.sources.into_iter().map(moved));
        }
        slice.leaves.push((key, leaf.unwrap_or(NO_LEAF)));
        slice.session_ids.push((address, key));
        slice.sessions.push((key, record));
        let committed = store.commit(slice)?;
        if let Some(owner) = &owner {
            // What is not swept here is by whoever comes next: it is no failure of what was done.
            let _ = store.sweep_own(owner);
        }
        Ok(if committed.conflicts.is_empty() { Ok(key) } else { Err(id) })
    }
}
