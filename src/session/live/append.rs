//! Appending: one transaction reads the session's state, makes the lines, and writes them.

use std::borrow::Cow;

use leafline_import::writing::{EntryDraft, ExternalisedImage, Place};
use leafline_import::{Reading, read_line};

use super::super::index::finish::Indexed;
use super::super::index::indexer::{Indexer, Start};
use super::super::index::prepare::{PreparedBlob, Preparer};
use super::super::reader::SessionReader;
use super::super::view::View;
use super::rechunk::{seal, tail_dictionary};
use crate::error::Result;
use crate::store::Store;
use crate::store::clock::now;
use crate::store::commit::{Author, Batch, Edit, Extended, Extension};
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;

/// Bytes of stored lines that are worth chunks of their own; what is appended in smaller pieces is sealed later.
const WORTH_A_CHUNK: u64 = 8 << 10;

/// Where entries are appended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin<'a> {
    /// Below the leaf at the beginning of the transaction.
    Leaf,
    /// As a root.
    Root,
    /// Below this entry.
    Entry(&'a str),
}

/// An entry to append, and the images that its references stand for.
pub(super) struct Addition {
    pub(super) draft: EntryDraft,
    pub(super) images: Vec<ExternalisedImage>,
}

/// What an append keeps for the next one through the same handle.
pub(in super::super) struct Appender {
    preparer: Preparer,
    last: Option<LastEntry>,
}

/// The entry that was appended last. It is usually the leaf, and then need not be read for its id: a line's id never
/// changes.
struct LastEntry {
    session: SessionKey,
    ordinal: Ordinal,
    id: Vec<u8>,
}

impl std::fmt::Debug for Appender {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Appender")
    }
}

impl Appender {
    pub(super) fn new(reading: Reading) -> Self {
        Self { preparer: Preparer::new(reading), last: None }
    }

    /// Appends entries to a stored session, each below the one before, and returns their ids. The last one becomes the
    /// leaf.
    pub(super) fn append(
        &mut self,
        store: &Store,
        session: (SessionKey, &str),
        origin: Origin<'_>,
        additions: Vec<Addition>,
    ) -> Result<Vec<String>> {
        let (key, ids, leaf) = store.write(|snapshot| {
            let reader = SessionReader::open(snapshot, session)?;
            let view = reader.view();
            let (key, leaf) = (view.key(), view.leaf()?);
            let above = self.entry_above(view, origin, leaf)?;
            let mut lines = Lines::new(above.as_ref().map(|(_, id)| id.clone()));
            let mut images = Vec::new();
            for addition in additions {
                lines.add(view, &addition.draft)?;
                images.extend(addition.images);
            }
            let mut batch = Batch::default();
            let mut extension = Extension::new(&mut batch, key, view.record());
            let mut record = view.record().clone();
            let dictionary = tail_dictionary(view, Ordinal::after(record.lines))?;
            let mut prepared = self.preparer.prepare(&lines.text, false, &dictionary);
            attach_images(&mut prepared.blobs, images);
            let is_worth_a_chunk = prepared.text_bytes >= WORTH_A_CHUNK;
            seal(view, &mut record, is_worth_a_chunk, (&mut extension, &mut batch))?;
            let snapshot = Box::new(reader.into_snapshot());
            // If ids repeat, a parent is the last entry that has the id.
            let above = above.filter(|_| !record.irregular).map(|(ordinal, id)| (id, ordinal));
            let start = Start::Appended { leaf, snapshot, above };
            let mut indexer = Indexer::new(store, key, record, start, dictionary.id);
            let mut rows = extension.rows(&mut batch);
            indexer.add(prepared, &mut rows)?;
            let Indexed { record, leaf, .. } = indexer.finish(&mut rows)?;
            let (author, is_sealed) = (Author::Here, is_worth_a_chunk);
            let extended = Extended { record, leaf, author, is_sealed, source: None };
            extension.finish(&mut batch, extended)?;
            Ok((batch, (key, lines.ids, leaf)))
        })?;
        // Only after the commit: until then another process might get the line.
        self.last = leaf.zip(ids.last()).map(|(ordinal, id)| LastEntry {
            session: key,
            ordinal,
            id: id.clone().into_bytes(),
        });
        Ok(ids)
    }

    /// The line and id of the entry that the first of the new ones names as its parent.
    fn entry_above(
        &self,
        view: View<'_>,
        origin: Origin<'_>,
        leaf: Option<Ordinal>,
    ) -> Result<Option<(Ordinal, Vec<u8>)>> {
        match (origin, leaf) {
            (Origin::Root, _) | (Origin::Leaf, None) => Ok(None),
            (Origin::Entry(id), _) => Ok(Some((view.named(id)?, id.as_bytes().to_vec()))),
            (Origin::Leaf, Some(leaf)) => {
                let is_leaf =
                    |last: &&LastEntry| last.session == view.key() && last.ordinal == leaf;
                let id = match self.last.as_ref().filter(is_leaf) {
                    Some(last) => Some(last.id.clone()),
                    None => exact_id(view.reading(), view.entry(leaf)?.line()),
                };
                Ok(id.map(|id| (leaf, id)))
            }
        }
    }
}

/// Moves the leaf of a stored session.
pub(super) fn move_leaf(
    store: &Store,
    session: (SessionKey, &str),
    to: Option<&str>,
) -> Result<()> {
    store.write(|snapshot| {
        let reader = SessionReader::open(snapshot, session)?;
        let view = reader.view();
        let leaf = to.map(|id| view.named(id)).transpose()?;
        let mut batch = Batch::default();
        if leaf != view.leaf()? {
            let edit = Edit::new(&mut batch, view.key(), view.record());
            edit.move_leaf(&mut batch, view.record().clone(), leaf);
        }
        Ok((batch, ()))
    })
}

/// A line's id, including lone surrogates; `None` if it is not a string.
pub(crate) fn exact_id(reading: Reading, line: &[u8]) -> Option<Vec<u8>> {
    read_line(reading, line, |line| line.id().map(Cow::into_owned))
}

/// The lines to be appended.
struct Lines {
    parent: Option<Vec<u8>>,
    time: i64,
    text: Vec<u8>,
    ids: Vec<String>,
    known: std::collections::HashSet<Vec<u8>>,
}

impl Lines {
    fn new(parent: Option<Vec<u8>>) -> Self {
        Self {
            parent,
            time: now(),
            text: Vec::new(),
            ids: Vec::new(),
            known: std::collections::HashSet::new(),
        }
    }

    fn add(&mut self, view: View<'_>, draft: &EntryDraft) -> Result<()> {
        let has = |id: &[u8]| -> Result<bool> {
            let stored = view.find(id)?;
            Ok(stored.is_some() || self.known.contains(id))
        };
        if let Some(target) = draft.target()
            && !has(&target)?
        {
            return Err(view.not_found(&String::from_utf8_lossy(&target)));
        }
        let record = view.record();
        let id = record.known_family().fresh_entry_id(|id| has(id.as_bytes()))?;
        let place = Place {
            session_id: &record.external_id,
            id: &id,
            parent: self.parent.as_deref(),
            time_ms: self.time,
        };
        draft.write(&place, &mut self.text);
        self.parent = Some(id.clone().into_bytes());
        self.known.insert(id.clone().into_bytes());
        self.ids.push(id);
        Ok(())
    }
}

/// Adds the images to the blobs of the lines that refer to them.
pub(super) fn attach_images(blobs: &mut [PreparedBlob], images: Vec<ExternalisedImage>) {
    for image in images {
        let lacks = |blob: &&mut PreparedBlob| blob.hash == image.hash && blob.bytes.is_none();
        if let Some(blob) = blobs.iter_mut().find(lacks) {
            blob.bytes = Some(image.bytes);
        }
    }
}
