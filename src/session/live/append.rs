//! Appending: one transaction reads the session's state, makes the lines, and writes them.

use std::borrow::Cow;

use leafline_import::writing::{EntryDraft, ExternalisedImage};
use leafline_import::{Reading, read_line};

use super::super::index::finish::Indexed;
use super::super::index::indexer::{Indexer, Start};
use super::super::index::prepare::{PreparedBlob, Preparer};
use super::super::reader::SessionReader;
use super::super::view::View;
use super::lines::Lines;
use super::rechunk::{seal, tail_dictionary};
use crate::error::Result;
use crate::store::Store;
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
    /// Its line, where the next draft needs it.
    line: Option<Vec<u8>>,
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
            let line = above.as_ref().and_then(|(ordinal, _)| self.line_of(view.key(), *ordinal));
            let mut lines = Lines::below(view, above.clone(), line)?;
            let mut images = Vec::new();
            for addition in additions {
                lines.add(view, &addition.draft)?;
                images.extend(addition.images);
            }
            // What goes on from the entry that was appended last follows from what was named then.
            let goes_on = |base| Some(base) == leaf && self.is_last(view.key(), base);
            if !lines.base().is_some_and(goes_on) {
                lines.name_leaf(view)?;
            }
            let mut batch = Batch::default();
            let mut extension = Extension::new(&mut batch, key, view.record());
            let mut record = view.record().clone();
            let dictionary = tail_dictionary(view, Ordinal::after(record.lines))?;
            let mut prepared = self.preparer.prepare(lines.text(), false, &dictionary);
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
            Ok((batch, (key, lines.finish(), leaf)))
        })?;
        let (ids, line) = ids;
        // Only after the commit: until then another process might get the line.
        if let Some(id) = ids.last() {
            self.last = leaf.map(|ordinal| LastEntry {
                session: key,
                ordinal,
                id: id.clone().into_bytes(),
                line,
            });
        }
        Ok(ids)
    }

    /// Whether an entry is the one that was appended last.
    fn is_last(&self, session: SessionKey, ordinal: Ordinal) -> bool {
        let is_it = |last: &LastEntry| last.session == session && last.ordinal == ordinal;
        self.last.as_ref().is_some_and(is_it)
    }

    /// The line of an entry, if it was kept.
    fn line_of(&self, session: SessionKey, ordinal: Ordinal) -> Option<Vec<u8>> {
        let last = self.last.as_ref().filter(|_| self.is_last(session, ordinal))?;
        last.line.clone()
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
                let last = self.last.as_ref().filter(|_| self.is_last(view.key(), leaf));
                let id = match last {
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

/// Adds the images to the blobs of the lines that refer to them.
pub(super) fn attach_images(blobs: &mut [PreparedBlob], images: Vec<ExternalisedImage>) {
    for image in images {
        let lacks = |blob: &&mut PreparedBlob| blob.hash == image.hash && blob.bytes.is_none();
        if let Some(blob) = blobs.iter_mut().find(lacks) {
            blob.bytes = Some(image.bytes);
        }
    }
}
