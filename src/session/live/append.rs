//! Appending: one transaction reads where the session stands, makes the lines, and writes them.

use std::borrow::Cow;

use leafline_import::pi_omp::{self, ExternalisedImage, ParentId, Place};
use leafline_import::scan::Raw;
use leafline_import::{EntryKind, Reading, read_line};

use super::super::index::finish::Indexed;
use super::super::index::indexer::{Indexer, Start};
use super::super::index::prepare::{PreparedBlob, Preparer};
use super::super::reader::SessionReader;
use super::draft::EntryDraft;
use super::ids;
use super::rechunk::{seal, tail_dictionary};
use crate::error::{Error, Result, SessionError};
use crate::store::Store;
use crate::store::clock::now;
use crate::store::commit::{Author, Batch, Edit, Extended, Extension};
use crate::store::session_key::SessionKey;

/// Bytes of lines, as they are stored, that make chunks worth keeping as they are; what is appended in smaller pieces is sealed later.
const WORTH_A_CHUNK: u64 = 8 << 10;

/// Where appended entries hang.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin<'a> {
    /// Below the leaf, as it is when the transaction begins.
    Leaf,
    /// Nowhere: the first is a root.
    Root,
    /// Below this entry.
    Entry(&'a str),
}

/// An entry to append, and the images that references in it stand for.
pub(super) struct Addition {
    pub(super) draft: EntryDraft,
    pub(super) images: Vec<ExternalisedImage>,
}

/// What an append keeps for the next one through the same handle.
pub(in super::super) struct Appender {
    preparer: Preparer,
    last: Option<LastEntry>,
}

/// The entry that was appended last. It is the leaf most often, and then is not read for its id: no line of a
/// session ever gets another one.
struct LastEntry {
    session: SessionKey,
    ordinal: u64,
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

    /// Appends entries to a stored session, each below the one before, and answers their ids. The last one is the
    /// leaf then.
    pub(super) fn append(
        &mut self,
        store: &Store,
        session: (SessionKey, &str),
        origin: Origin<'_>,
        additions: Vec<Addition>,
    ) -> Result<Vec<String>> {
        let (key, ids, leaf) = store.write(|snapshot| {
            let reader = SessionReader::open(snapshot, session)?;
            let key = reader.key();
            let leaf = reader.leaf_ordinal()?;
            let above = self.entry_above(&reader, origin, leaf)?;
            let mut lines = Lines::new(above.as_ref().map(|(_, id)| id.clone()));
            let mut images = Vec::new();
            for addition in additions {
                lines.add(&reader, &addition.draft)?;
                images.extend(addition.images);
            }
            let mut batch = Batch::default();
            let mut extension = Extension::new(&mut batch, key, reader.record());
            let mut record = reader.record().clone();
            let dictionary = tail_dictionary(&reader, record.lines)?;
            let mut prepared = self.preparer.prepare(&lines.text, false, &dictionary);
            attach_images(&mut prepared.blobs, images);
            let is_worth_a_chunk = prepared.text_bytes >= WORTH_A_CHUNK;
            seal(&reader, &mut record, is_worth_a_chunk, (&mut extension, &mut batch))?;
            let snapshot = Box::new(reader.into_snapshot());
            // Where ids repeat, a parent is the last entry that has the id.
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
        // Not before the commit: another process might yet get the line.
        self.last = leaf.zip(ids.last()).map(|(ordinal, id)| LastEntry {
            session: key,
            ordinal,
            id: id.clone().into_bytes(),
        });
        Ok(ids)
    }

    /// The entry that the first of the new ones names as its parent: its line and its id.
    fn entry_above(
        &self,
        reader: &SessionReader,
        origin: Origin<'_>,
        leaf: Option<u64>,
    ) -> Result<Option<(u64, Vec<u8>)>> {
        match (origin, leaf) {
            (Origin::Root, _) | (Origin::Leaf, None) => Ok(None),
            (Origin::Entry(id), _) => Ok(Some((reader.ordinal_of(id)?, id.as_bytes().to_vec()))),
            (Origin::Leaf, Some(leaf)) => {
                let is_leaf =
                    |last: &&LastEntry| last.session == reader.key() && last.ordinal == leaf;
                let id = match self.last.as_ref().filter(is_leaf) {
                    Some(last) => Some(last.id.clone()),
                    None => exact_id(reader.reading(), reader.known_line(leaf)?.line()),
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
        let leaf = to.map(|id| reader.ordinal_of(id)).transpose()?;
        let mut batch = Batch::default();
        if leaf != reader.leaf_ordinal()? {
            let edit = Edit::new(&mut batch, reader.key(), reader.record());
            edit.move_leaf(&mut batch, reader.record().clone(), leaf);
        }
        Ok((batch, ()))
    })
}

/// A line's id, lone surrogates and all; `None` where it is no string.
pub(super) fn exact_id(reading: Reading, line: &[u8]) -> Option<Vec<u8>> {
    read_line(reading, line, |line| line.id().map(Cow::into_owned))
}

/// The lines that are to be appended.
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

    fn add(&mut self, reader: &SessionReader, draft: &EntryDraft) -> Result<()> {
        let has = |id: &[u8]| -> Result<bool> {
            let stored = reader.view().find(id)?;
            Ok(stored.is_some() || self.known.contains(id))
        };
        if let Some(target) = target_of(draft)
            && !has(&target)?
        {
            let entry = String::from_utf8_lossy(&target).into_owned();
            return Err(Error::Session(SessionError::EntryNotFound {
                session: reader.id(),
                entry,
            }));
        }
        let parent = self.parent.as_deref().map_or(ParentId::Null, ParentId::Id);
        let id = match draft {
            EntryDraft::PiOmp(draft) => {
                let id = ids::fresh_entry_id(|id| has(id.as_bytes()))?;
                draft.write(&Place { id: &id, parent, timestamp: self.time }, &mut self.text);
                id
            }
            EntryDraft::Opal(draft) => {
                let id = ids::fresh_message_id(|id| has(id.as_bytes()))?;
                draft.write(id.as_bytes(), parent, &mut self.text);
                id
            }
        };
        self.parent = Some(id.clone().into_bytes());
        self.known.insert(id.clone().into_bytes());
        self.ids.push(id);
        Ok(())
    }
}

/// The entry that a label is for.
fn target_of(draft: &EntryDraft) -> Option<Vec<u8>> {
    let is_label = |draft: &&pi_omp::Draft| draft.kind() == EntryKind::Label;
    match draft {
        EntryDraft::PiOmp(draft) => Some(draft).filter(is_label).map(|draft| {
            let target = draft.member("targetId").and_then(string_of);
            target.unwrap_or_default()
        }),
        EntryDraft::Opal(_) => None,
    }
}

/// A JSON string's text, lone surrogates and all.
fn string_of(json: &str) -> Option<Vec<u8>> {
    Some(Raw::parse(json).ok()?.as_string()?.into_owned())
}

/// Gives the lines' references the bytes that came with them.
pub(super) fn attach_images(blobs: &mut [PreparedBlob], images: Vec<ExternalisedImage>) {
    for image in images {
        let lacks = |blob: &&mut PreparedBlob| blob.hash == image.hash && blob.bytes.is_none();
        if let Some(blob) = blobs.iter_mut().find(lacks) {
            blob.bytes = Some(image.bytes);
        }
    }
}
