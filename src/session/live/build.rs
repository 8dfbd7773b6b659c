//! Builds a new session from lines that are made here: a header alone, a fork, a session that was waiting in memory.

use std::sync::Arc;

use leafline_import::leaf::LeafHint;
use leafline_import::writing::ExternalisedImage;

use super::super::index::beginning::fill_from;
use super::super::index::finish::NewLeaf;
use super::super::index::indexer::{Indexer, Start};
use super::super::index::prepare::{Prepared, Preparer};
use super::super::view::View;
use super::append::attach_images;
use super::pending::uncounted;
use crate::error::{Error, Result, SessionError};
use crate::store::Store;
use crate::store::commit::{Author, Batch, Committed, Creation, FileChange, Finished, Place};
use crate::store::compression::{Dictionary, NO_DICTIONARY};
use crate::store::file_record::FileRecord;
use crate::store::owner::Owner;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{SessionRecord, SessionRest};
use crate::store::source_record::SourceRecord;

/// Bytes of lines that are prepared together.
const BLOCK_BYTES: usize = 1 << 20;

/// Takes a session's lines in order. Nothing of it is visible before it is finished; the committed part of a long one
/// is marked, so that a sweep removes it if it is never finished.
pub(crate) struct Builder<'s> {
    store: &'s Store,
    /// The store that has the bytes of blobs that lines refer to, if that is another one.
    blobs: Option<&'s Store>,
    owner: Option<Owner>,
    preparer: Preparer,
    dictionary: Arc<Dictionary>,
    indexer: Indexer<'s>,
    creation: Creation,
    batch: Batch,
    block: Vec<u8>,
    /// The images that were taken out of the block's lines.
    images: Vec<ExternalisedImage>,
    is_first_block: bool,
    place: Place,
    /// The keys of `sources` that lead to it.
    sources: Vec<(Vec<u8>, SourceRecord)>,
}

impl<'s> Builder<'s> {
    /// A builder for a session with the facts of this record.
    pub(crate) fn new(
        store: &'s Store,
        record: SessionRecord,
        blobs: Option<&'s Store>,
    ) -> Result<Self> {
        Self::starting(store, record, blobs, Start::Made)
    }

    fn starting(
        store: &'s Store,
        record: SessionRecord,
        blobs: Option<&'s Store>,
        start: Start,
    ) -> Result<Self> {
        let session = store.reserve_sessions(1)?;
        let newest = store.dictionary_ids()?.last().copied().unwrap_or(NO_DICTIONARY);
        let dictionary = store.dictionary(newest)?;
        let reading = record.reading();
        let indexer = Indexer::new(store, session, record, start, dictionary.id);
        Ok(Self {
            store,
            blobs,
            owner: None,
            preparer: Preparer::new(reading),
            dictionary,
            indexer,
            creation: Creation::new(session),
            batch: Batch::default(),
            block: Vec::new(),
            images: Vec::new(),
            is_first_block: true,
            place: Place::Own,
            sources: Vec::new(),
        })
    }

    /// A builder for a session whose lines are read as a file's, and which its program knows by this key of `sources`.
    pub(super) fn named(
        store: &'s Store,
        record: SessionRecord,
        (name, modified): (Vec<u8>, Option<i128>),
    ) -> Result<Self> {
        let builder = Self::starting(store, record, None, Start::File(LeafHint::None))?;
        let source = SourceRecord { session: builder.creation.session(), size: 0, modified };
        Ok(Self { sources: vec![(name, source)], ..builder })
    }

    /// A builder for a session that replaces another: with its id and its imported bytes.
    pub(crate) fn in_place_of(store: &'s Store, view: View<'_>) -> Result<Self> {
        Self::replacing(store, view, Start::Made)
    }

    /// The same for its lines and new ones, read as those of a file.
    pub(super) fn as_file_in_place_of(
        store: &'s Store,
        view: View<'_>,
        new: &[u8],
    ) -> Result<Self> {
        let mut builder = Self::replacing(store, view, Start::File(LeafHint::None))?;
        fill_from(builder.indexer.record_mut(), view, new)?;
        Ok(builder)
    }

    fn replacing(store: &'s Store, view: View<'_>, start: Start) -> Result<Self> {
        let old = view.record();
        let record = SessionRecord {
            agent: old.agent.clone(),
            rest: SessionRest {
                recovers: old.recovers,
                imported: old.imported,
                sources: old.sources.clone(),
                revision: old.revision,
                ..SessionRest::default()
            },
            ..uncounted(old)
        };
        let sources = sources_of(view)?;
        let place = Place::Of { session: view.key(), revision: old.revision };
        Ok(Self { place, sources, ..Self::starting(store, record, None, start)? })
    }

    /// A builder for the session of a file that is written as a whole: its lines are read as those of an imported one.
    pub(crate) fn of_file(
        store: &'s Store,
        record: SessionRecord,
        hint: LeafHint,
        replaced: Option<View<'_>>,
    ) -> Result<Self> {
        let mut record = record;
        let (mut place, mut sources) = (Place::Own, Vec::new());
        if let Some(old) = replaced {
            let (session, revision) = (old.key(), old.record().revision);
            let known = old.record();
            if (&known.external_id, known.number) == (&record.external_id, record.number) {
                place = Place::Of { session, revision };
                record.moved.clone_from(&known.moved);
                record.rest.sources.clone_from(&known.sources);
                sources = sources_of(old)?;
            } else {
                place = Place::Over { session, revision };
            }
        }
        Ok(Self { place, sources, ..Self::starting(store, record, None, Start::File(hint))? })
    }

    /// Adds lines, each with its line feed.
    pub(crate) fn push(&mut self, lines: &[u8]) -> Result<()> {
        self.block.extend_from_slice(lines);
        if self.block.len() >= BLOCK_BYTES { self.close_block() } else { Ok(()) }
    }

    /// Adds a line out of which images were taken.
    pub(crate) fn push_without(
        &mut self,
        line: &[u8],
        images: Vec<ExternalisedImage>,
    ) -> Result<()> {
        self.images.extend(images);
        self.push(line)
    }

    fn close_block(&mut self) -> Result<()> {
        let mut prepared =
            self.preparer.prepare(&self.block, self.is_first_block, &self.dictionary);
        self.block.clear();
        self.is_first_block = false;
        attach_images(&mut prepared.blobs, std::mem::take(&mut self.images));
        self.fetch_blobs(&mut prepared)?;
        let window_moved = self.indexer.add(prepared, &mut self.creation.rows(&mut self.batch))?;
        if window_moved || self.batch.is_full() {
            let committed =
                commit_part(self.store, &mut self.owner, &mut self.creation, &mut self.batch)?;
            self.indexer.after_commit(self.creation.note(&committed));
        }
        Ok(())
    }

    /// Fetches the bytes of blobs that the lines refer to.
    fn fetch_blobs(&self, prepared: &mut Prepared) -> Result<()> {
        let Some(from) = self.blobs else { return Ok(()) };
        let snapshot = from.snapshot()?;
        for blob in prepared.blobs.iter_mut().filter(|blob| blob.bytes.is_none()) {
            blob.bytes = snapshot.blob(&blob.hash)?;
        }
        Ok(())
    }

    /// Completes the session, makes it visible, and returns its key.
    pub(crate) fn finish(self, leaf: NewLeaf) -> Result<SessionKey> {
        match self.complete(leaf, None)? {
            Ok(key) => Ok(key),
            Err(id) => Err(Error::Session(SessionError::Exists { id })),
        }
    }

    /// Replaces the old session by this one, and returns its key; `None` if somebody has changed the old one meanwhile:
    /// nothing is done then.
    pub(crate) fn finish_in_place(self, leaf: NewLeaf) -> Result<Option<SessionKey>> {
        Ok(self.complete(leaf, None)?.ok())
    }

    /// Makes the session the file at a path; `false` if somebody has changed that file meanwhile, or taken the session's
    /// id: nothing is done then.
    pub(crate) fn finish_file(self, file: WrittenFile<'_>) -> Result<bool> {
        Ok(self.complete(NewLeaf::ByRule, Some(file))?.is_ok())
    }

    /// Commits the rest, with the record. Returns the key, or the id of a session that cannot be replaced.
    fn complete(
        mut self,
        leaf: NewLeaf,
        file: Option<WrittenFile<'_>>,
    ) -> Result<Result<SessionKey, String>> {
        self.close_block()?;
        let Self { store, mut owner, indexer, mut creation, mut batch, place, sources, .. } = self;
        let session = creation.session();
        let mut indexed = indexer.finish(&mut creation.rows(&mut batch))?;
        if creation.is_begun() || indexed.needs_resolving || place != Place::Own {
            let committed = commit_part(store, &mut owner, &mut creation, &mut batch)?;
            indexed.note(&mut creation, &committed);
        }
        let (mut record, leaf) = indexed.settle(store, &mut creation, leaf)?;
        let mut author = Author::Here;
        if let Some(file) = file {
            author = Author::File;
            (file.settle)(&mut record);
            batch.hold_file(session, file.path, file.before);
            batch.change_file(file.path, FileChange::Session(session));
            file.restores.iter().for_each(|removed| batch.restore(session, *removed));
        }
        let id = record.id();
        creation.finish(&mut batch, Finished { record, leaf, author, place, sources })?;
        let committed = store.commit(batch)?;
        if let Some(owner) = &owner {
            // What is not swept here is swept later: this is not a failure of the commit.
            let _ = store.sweep_own(owner);
        }
        Ok(if committed.conflicts.is_empty() { Ok(session) } else { Err(id) })
    }
}

/// The file that a session becomes.
pub(crate) struct WrittenFile<'f> {
    pub(crate) path: &'f [u8],
    /// The file that the path must still have.
    pub(crate) before: Option<FileRecord>,
    /// Removed sessions that are there again with it.
    pub(crate) restores: &'f [SessionKey],
    /// Notes in the record what only the whole file shows.
    pub(crate) settle: &'f dyn Fn(&mut SessionRecord),
}

/// The source files of a session, as they were imported.
fn sources_of(view: View<'_>) -> Result<Vec<(Vec<u8>, SourceRecord)>> {
    let mut sources = Vec::new();
    for path in &view.record().sources {
        let source = view.snapshot().source(path)?;
        if let Some(source) = source.filter(|source| source.session == view.key()) {
            sources.push((path.clone(), source));
        }
    }
    Ok(sources)
}

/// Commits what there is of an incomplete session.
fn commit_part(
    store: &Store,
    owner: &mut Option<Owner>,
    creation: &mut Creation,
    batch: &mut Batch,
) -> Result<Committed> {
    let owner = match owner {
        Some(owner) => owner,
        None => owner.insert(store.begin_owner()?),
    };
    creation.mark(owner.token, batch);
    store.commit(std::mem::take(batch))
}
