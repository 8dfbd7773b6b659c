//! Appending: one transaction reads the session's state, makes the lines, and writes them.

use std::borrow::Cow;

use leafline_import::writing::{EntryDraft, ExternalisedImage};
use leafline_import::{Reading, read_line};

use super::super::entry::Entry;
use super::super::index::finish::Indexed;
use super::super::index::indexer::{Indexer, Start};
use super::super::index::prepare::{PreparedBlob, Preparer};
use super::super::reader::SessionReader;
use super::super::view::View;
use super::change::{Change, Leaf, Tail, TailLeaf};
use super::journal;
use super::lines::{Lines, MOST_KEPT};
use super::rechunk::{seal, tail_dictionary};
use crate::error::Result;
use crate::store::Store;
use crate::store::commit::{Author, Batch, Edit, Extended, Extension};
use crate::store::journal::Room;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::address_bytes;

/// Bytes of stored lines that are worth chunks of their own; what is appended in smaller pieces is sealed later.
pub(super) const WORTH_A_CHUNK: u64 = 8 << 10;

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
    tail: Tail,
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
        Self { preparer: Preparer::new(reading), tail: Tail::default(), last: None }
    }

    /// Appends entries to a stored session, each below the one before, and returns their ids. The last one becomes the
    /// leaf.
    pub(super) fn append(
        &mut self,
        store: &Store,
        session: (SessionKey, &str),
        origin: Origin<'_>,
        mut additions: Vec<Addition>,
    ) -> Result<Vec<String>> {
        // Images are stored by their hashes, which is for the tables to do.
        let has_images = additions.iter().any(|addition| !addition.images.is_empty());
        loop {
            if !has_images {
                let mut tail = std::mem::take(&mut self.tail);
                let journaled = journal::append(store, session, &mut tail, |reader, tail| {
                    self.change(reader.view(), tail, origin, &additions)
                });
                self.tail = tail;
                if let Some(ids) = journaled? {
                    return Ok(ids);
                }
            }
            if let Some(ids) = self.append_to_tables(store, session, origin, &mut additions)? {
                return Ok(ids);
            }
        }
    }

    /// The entries as a change for the journal, and their ids. `None` if they cannot be made before the journal is in the
    /// tables.
    fn change(
        &self,
        view: View<'_>,
        tail: &Tail,
        origin: Origin<'_>,
        additions: &[Addition],
    ) -> Result<Option<(Change, Vec<String>)>> {
        // The leaf behind raw lines is found when they are in the tables.
        if tail.is_raw() {
            return Ok(None);
        }
        let leaf = view.leaf()?;
        let Some(mut lines) = self.lines_after(view, tail, origin, leaf)? else { return Ok(None) };
        for addition in additions {
            lines.add(view, &addition.draft)?;
        }
        // What goes on from the entry that was appended last follows from what was named then.
        let is_last = |base| Some(base) == leaf && self.is_last(view.key(), base);
        let goes_on = if tail.is_empty() {
            lines.base().is_some_and(is_last)
        } else {
            matches!(origin, Origin::Leaf)
                && tail.leaf.as_ref().is_some_and(|leaf| leaf.is_new)
                && lines.follows_journal()
        };
        if view.record().known_family().names_leaf() && !goes_on {
            if !tail.is_empty() {
                return Ok(None);
            }
            lines.name_leaf(view)?;
        }
        if lines.needs_tables() {
            return Ok(None);
        }
        let ids = lines.ids();
        let leaf = match lines.last_line() {
            _ if ids.is_empty() => Leaf::Same,
            Some(line) if line.len() <= MOST_KEPT => {
                Leaf::Last { line: Some((line.start as u64, line.end as u64)) }
            }
            // The next draft reads it from the tables.
            Some(_) => return Ok(None),
            None => Leaf::Last { line: None },
        };
        let session = address_of(view);
        let text = lines.text().to_vec();
        let of_bytes = ids.iter().map(|id| id.clone().into_bytes()).collect();
        Ok(Some((Change { session, text, ids: of_bytes, leaf, header: None }, ids)))
    }

    /// No lines yet, behind what the journal has. `None` if only the tables can tell what the first one follows.
    fn lines_after<'t>(
        &self,
        view: View<'_>,
        tail: &'t Tail,
        origin: Origin<'_>,
        leaf: Option<Ordinal>,
    ) -> Result<Option<Lines<'t>>> {
        let sees_above = view.record().known_family().sees_above();
        let named = match (origin, &tail.leaf) {
            (Origin::Root, _) => return Lines::below(view, Some(tail), None, None).map(Some),
            (Origin::Leaf, None) => {
                let above = self.entry_above(view, origin, leaf)?;
                let line = above.as_ref().and_then(|(at, _)| self.line_of(view.key(), *at));
                return Lines::below(view, Some(tail), above, line).map(Some);
            }
            (Origin::Leaf, Some(TailLeaf { id: None, .. })) => {
                return Lines::below(view, Some(tail), None, None).map(Some);
            }
            (Origin::Leaf, Some(TailLeaf { id: Some(id), line, is_new: true })) => {
                if sees_above && line.is_none() {
                    return Ok(None);
                }
                return Ok(Some(Lines::after(view, tail, id.clone(), line.clone())));
            }
            (Origin::Leaf, Some(TailLeaf { id: Some(id), .. })) => id.as_slice(),
            (Origin::Entry(id), _) => id.as_bytes(),
        };
        // Of an id that the journal adds again, the later entry counts.
        if tail.has(named) {
            let lines = || Lines::after(view, tail, named.to_vec(), None);
            return Ok((!sees_above).then(lines));
        }
        match view.find(named)? {
            Some(at) => Lines::below(view, Some(tail), Some((at, named.to_vec())), None).map(Some),
            None => Err(view.not_found(&String::from_utf8_lossy(named))),
        }
    }

    /// Appends the entries, which it takes, in a transaction of their own. `None` if there is a journal by now.
    fn append_to_tables(
        &mut self,
        store: &Store,
        session: (SessionKey, &str),
        origin: Origin<'_>,
        additions: &mut Vec<Addition>,
    ) -> Result<Option<Vec<String>>> {
        let written = journal::write_tables(store, |snapshot, begins_epoch| {
            let additions = std::mem::take(additions);
            let reader = SessionReader::open(snapshot, session)?;
            let view = reader.view();
            let (key, leaf) = (view.key(), view.leaf()?);
            let above = self.entry_above(view, origin, leaf)?;
            let line = above.as_ref().and_then(|(ordinal, _)| self.line_of(view.key(), *ordinal));
            let mut lines = Lines::below(view, None, above.clone(), line)?;
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
            let row = reader.snapshot().journal_row()?;
            let mut batch = Batch::default();
            let new = NewLines { text: lines.text(), images, above, leaf: NewLeaf::LastEntry };
            let leaf = extend(store, &mut self.preparer, reader, new, &mut batch)?;
            if begins_epoch {
                journal::begin_epoch(store, &row, Room::Written, &mut batch)?;
            }
            Ok((batch, (key, lines.finish(), leaf)))
        })?;
        let Some((key, (ids, line), leaf)) = written else { return Ok(None) };
        // Only after the commit: until then another process might get the line.
        if let Some(id) = ids.last() {
            self.last = leaf.map(|ordinal| LastEntry {
                session: key,
                ordinal,
                id: id.clone().into_bytes(),
                line,
            });
        }
        Ok(Some(ids))
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

/// Lines that follow those of a session.
pub(super) struct NewLines<'t> {
    /// Whole lines with their line feeds.
    pub(super) text: &'t [u8],
    pub(super) images: Vec<ExternalisedImage>,
    /// The entry that the first of them names as its parent, if that is known.
    pub(super) above: Option<(Ordinal, Vec<u8>)>,
    pub(super) leaf: NewLeaf,
}

/// The leaf behind new lines.
pub(super) enum NewLeaf {
    /// The last of their entries.
    LastEntry,
    /// The entry on this line, or none.
    Line(Option<Ordinal>),
}

/// Adds lines to a session, and returns its leaf then.
pub(super) fn extend(
    store: &Store,
    preparer: &mut Preparer,
    reader: SessionReader,
    new: NewLines<'_>,
    batch: &mut Batch,
) -> Result<Option<Ordinal>> {
    let view = reader.view();
    let (key, leaf) = (view.key(), view.leaf()?);
    let mut extension = Extension::new(batch, key, view.record());
    let mut record = view.record().clone();
    let dictionary = tail_dictionary(view, Ordinal::after(record.lines))?;
    let mut prepared = preparer.prepare(new.text, false, &dictionary);
    attach_images(&mut prepared.blobs, new.images);
    let is_worth_a_chunk = prepared.text_bytes >= WORTH_A_CHUNK;
    seal(view, &mut record, is_worth_a_chunk, (&mut extension, batch))?;
    let snapshot = Box::new(reader.into_snapshot());
    // If ids repeat, a parent is the last entry that has the id.
    let above = new.above.filter(|_| !record.irregular).map(|(ordinal, id)| (id, ordinal));
    let start = Start::Appended { leaf, snapshot, above };
    let mut indexer = Indexer::new(store, key, record, start, dictionary.id);
    let mut rows = extension.rows(batch);
    indexer.add(prepared, &mut rows)?;
    let Indexed { record, leaf: last, .. } = indexer.finish(&mut rows)?;
    let leaf = match new.leaf {
        NewLeaf::LastEntry => last,
        NewLeaf::Line(leaf) => leaf,
    };
    let (author, is_sealed) = (Author::Here, is_worth_a_chunk);
    let extended = Extended { record, leaf, author, is_sealed, source: None };
    extension.finish(batch, extended)?;
    Ok(leaf)
}

/// Moves the leaf of a stored session.
pub(super) fn move_leaf(
    store: &Store,
    session: (SessionKey, &str),
    to: Option<&str>,
) -> Result<()> {
    let journaled = journal::append(store, session, &mut Tail::default(), |reader, tail| {
        if tail.is_raw() {
            return Ok(None);
        }
        let view = reader.view();
        let leaf = match to {
            None => Leaf::None,
            Some(id) => {
                if !tail.has(id.as_bytes()) {
                    view.named(id)?;
                }
                Leaf::Moved(id.as_bytes().to_vec())
            }
        };
        let (session, text, ids) = (address_of(view), Vec::new(), Vec::new());
        Ok(Some((Change { session, text, ids, leaf, header: None }, ())))
    });
    match journaled? {
        Some(()) => Ok(()),
        None => move_leaf_in_tables(store, session, to),
    }
}

fn move_leaf_in_tables(store: &Store, session: (SessionKey, &str), to: Option<&str>) -> Result<()> {
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

/// Moves the leaf of a stored session to the entry above it, and returns the entry that it was.
pub(super) fn leave_leaf(store: &Store, session: (SessionKey, &str)) -> Result<Option<Entry>> {
    store.write(|snapshot| {
        let reader = SessionReader::open(snapshot, session)?;
        let view = reader.view();
        let mut batch = Batch::default();
        let Some(leaf) = view.leaf()? else { return Ok((batch, None)) };
        let (entry, above) = (view.entry(leaf)?, view.entry_node(leaf)?.parent.ordinal());
        let edit = Edit::new(&mut batch, view.key(), view.record());
        edit.move_leaf(&mut batch, view.record().clone(), above);
        Ok((batch, Some(entry)))
    })
}

/// The id by which a session is addressed.
pub(super) fn address_of(view: View<'_>) -> Vec<u8> {
    address_bytes(&view.record().external_id, view.record().number)
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
