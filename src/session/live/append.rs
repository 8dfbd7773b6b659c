//! Appending: one transaction reads where the session stands, makes the lines, and writes them.

use std::borrow::Cow;

use leafline_import::pi_omp::{self, ExternalisedImage, ParentId, Place};
use leafline_import::scan::Raw;
use leafline_import::{EntryKind, Family};

use super::super::index::indexer::{Indexed, Indexer};
use super::super::index::prepare::{Prepared, PreparedBlob, Preparer};
use super::super::index::reading::{Reading, read_line};
use super::super::reader::SessionReader;
use super::draft::EntryDraft;
use super::ids;
use super::rechunk::{seal, tail_dictionary};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::session_record::SessionRecord;
use crate::store::slice::Slice;
use crate::store::tables::NO_LEAF;

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
    session: u64,
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
        session: (u64, &str),
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
            let mut slice = Slice::default();
            let mut record = reader.record().clone();
            let dictionary = tail_dictionary(&reader, record.lines)?;
            let mut prepared = self.preparer.prepare(&lines.text, false, &dictionary);
            bring(&mut prepared, images);
            let is_worth_a_chunk = prepared.text_bytes >= WORTH_A_CHUNK;
            seal(&reader, &mut record, is_worth_a_chunk, &mut slice)?;
            let is_irregular = record.irregular;
            let mut indexer = Indexer::new(store, key, record, leaf, dictionary.id);
            indexer.look_in(reader.into_snapshot());
            indexer.set_live();
            // Where ids repeat, a parent is the last entry that has the id.
            if let Some((ordinal, id)) = above.filter(|_| !is_irregular) {
                indexer.know(id, ordinal);
            }
            indexer.add(prepared, &mut slice)?;
            let Indexed { mut record, leaf, .. } = indexer.finish(&mut slice)?;
            if is_worth_a_chunk {
                record.sealed = record.lines;
            }
            commit_record(key, record, leaf, &mut slice);
            Ok((slice, (key, lines.ids, leaf)))
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
pub(super) fn move_leaf(store: &Store, session: (u64, &str), to: Option<&str>) -> Result<()> {
    store.write(|snapshot| {
        let reader = SessionReader::open(snapshot, session)?;
        let leaf = to.map(|id| reader.ordinal_of(id)).transpose()?;
        let mut slice = Slice::default();
        // Whoever goes where he is has changed nothing.
        if leaf == reader.leaf_ordinal()? {
            return Ok((slice, ()));
        }
        commit_record(reader.key(), reader.record().clone(), leaf, &mut slice);
        Ok((slice, ()))
    })
}

/// Puts the record and the leaf into the slice.
pub(super) fn commit_record(
    key: u64,
    mut record: SessionRecord,
    leaf: Option<u64>,
    slice: &mut Slice,
) {
    record.revision += 1;
    note_change(&mut record);
    slice.leaves.push((key, leaf.unwrap_or(NO_LEAF)));
    slice.sessions.push((key, record));
}

/// Notes that a session was changed here. A session of Opal's is from now on exported as Opal would write it, and, as Opal
/// lists sessions by the times of their files, was modified now: its messages tell no time.
pub(super) fn note_change(record: &mut SessionRecord) {
    if record.family == Family::Opal.code() {
        record.rewritten = true;
        record.modified = Some(ids::now());
    }
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
            time: ids::now(),
            text: Vec::new(),
            ids: Vec::new(),
            known: std::collections::HashSet::new(),
        }
    }

    fn add(&mut self, reader: &SessionReader, draft: &EntryDraft) -> Result<()> {
        let has = |id: &[u8]| -> Result<bool> {
            let stored = reader.snapshot().entry(reader.key(), id)?;
            Ok(stored.is_some() || self.known.contains(id))
        };
        if let Some(target) = target_of(draft)
            && !has(&target)?
        {
            let entry = String::from_utf8_lossy(&target).into_owned();
            return Err(Error::EntryNotFound { session: reader.id(), entry });
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
fn bring(prepared: &mut Prepared, images: Vec<ExternalisedImage>) {
    for image in images {
        let lacks = |blob: &&mut PreparedBlob| blob.hash == image.hash && blob.bytes.is_none();
        if let Some(blob) = prepared.blobs.iter_mut().find(lacks) {
            blob.bytes = Some(image.bytes);
        }
    }
}
