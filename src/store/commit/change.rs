//! Changes of an existing session: adds lines, or replaces lines or facts.

use super::guard::Guard;
use super::rows::{Rows, Tally};
use super::slice::{BlobGain, Row};
use super::{Author, Batch, check};
use crate::error::Result;
use crate::store::blobs::Hash;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::source_record::SourceRecord;

/// A session as it was when a change of it began. If another process was faster, the change is left out of the commit.
#[derive(Debug)]
struct Before {
    session: SessionKey,
    revision: u64,
    tally: Tally,
}

impl Before {
    fn of(batch: &mut Batch, session: SessionKey, record: &SessionRecord) -> Self {
        let guard = Guard::Same { session, revision: record.revision };
        batch.slice.guards.push(Row { session, key: (), value: guard });
        Self { session, revision: record.revision, tally: Tally::of(record) }
    }

    /// The record after the change, one revision later.
    fn next(&self, mut record: SessionRecord, author: Option<Author>) -> SessionRecord {
        record.revision = self.revision + 1;
        if author == Some(Author::Here) {
            record.note_change();
        }
        record
    }
}

/// Lines are added after the existing ones.
#[derive(Debug)]
pub(crate) struct Extension {
    before: Before,
    sealed: u64,
    tally: Tally,
}

/// The session's state with the added lines.
#[derive(Debug)]
pub(crate) struct Extended {
    pub(crate) record: SessionRecord,
    pub(crate) leaf: Option<Ordinal>,
    pub(crate) author: Author,
    /// Whether the new lines are in chunks large enough to keep.
    pub(crate) is_sealed: bool,
    /// A source of the session: its path, and what was imported from it.
    pub(crate) source: Option<(Vec<u8>, SourceRecord)>,
}

impl Extension {
    /// An extension of the session that has this record.
    pub(crate) fn new(batch: &mut Batch, session: SessionKey, record: &SessionRecord) -> Self {
        let before = Before::of(batch, session, record);
        Self { before, sealed: record.sealed, tally: Tally::default() }
    }

    /// Where the rows of the new lines go.
    pub(crate) fn rows<'b>(&'b mut self, batch: &'b mut Batch) -> Rows<'b> {
        Rows { slice: &mut batch.slice, session: self.before.session, tally: &mut self.tally }
    }

    /// Notes that the first `lines` lines are in chunks worth keeping.
    pub(crate) fn seal(&mut self, lines: u64) {
        self.sealed = lines;
    }

    /// Lets the batch's commit extend the session. Returns the session's new record.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the record contradicts the rows. The batch must not be
    /// committed then.
    pub(crate) fn finish(self, batch: &mut Batch, extended: Extended) -> Result<&SessionRecord> {
        let Self { before, sealed, tally } = self;
        let Extended { record, leaf, author, is_sealed, source } = extended;
        check::change(before.session, &record, before.tally, tally)?;
        let mut record = before.next(record, Some(author));
        record.sealed = if is_sealed { record.lines } else { sealed };
        if let Some((path, source)) = source {
            batch.put_source(before.session, &mut record, path, source);
        }
        Ok(batch.put(before.session, record, Some(leaf)))
    }
}

/// Lines or facts are replaced. The number of lines and entries stays the same.
#[derive(Debug)]
pub(crate) struct Edit {
    before: Before,
    tally: Tally,
}

impl Edit {
    /// An edit of the session that has this record.
    pub(crate) fn new(batch: &mut Batch, session: SessionKey, record: &SessionRecord) -> Self {
        Self { before: Before::of(batch, session, record), tally: Tally::default() }
    }

    /// Where the rows of changed lines go.
    pub(crate) fn rows<'b>(&'b mut self, batch: &'b mut Batch) -> Rows<'b> {
        Rows { slice: &mut batch.slice, session: self.before.session, tally: &mut self.tally }
    }

    /// Adds the bytes of a blob that lines already refer to.
    pub(crate) fn attach_blob(&self, batch: &mut Batch, hash: Hash, bytes: Vec<u8>) {
        let gain = BlobGain { bytes: Some(bytes), was_cut: false, is_reference: false };
        batch.slice.blobs.push(Row { session: self.before.session, key: hash, value: gain });
    }

    /// Replaces the contents of lines, with the record that counts them.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the record contradicts the rows. The batch must not be
    /// committed then.
    pub(crate) fn rewrite_lines(self, batch: &mut Batch, record: SessionRecord) -> Result<()> {
        check::change(self.before.session, &record, self.before.tally, self.tally)?;
        let mut record = self.before.next(record, Some(Author::Here));
        record.changed_at = record.revision;
        batch.put(self.before.session, record, None);
        Ok(())
    }

    /// Moves the leaf.
    pub(crate) fn move_leaf(self, batch: &mut Batch, record: SessionRecord, leaf: Option<Ordinal>) {
        let record = self.before.next(record, Some(Author::Here));
        batch.put(self.before.session, record, Some(leaf));
    }

    /// Changes facts that are not in any line.
    pub(crate) fn note_facts(self, batch: &mut Batch, record: SessionRecord) {
        let record = self.before.next(record, None);
        batch.put(self.before.session, record, None);
    }

    /// Notes a file as a source of the session, and the facts that the file gives. If the record already has them, the
    /// revision stays the same.
    pub(crate) fn note_file(
        self,
        batch: &mut Batch,
        record: &SessionRecord,
        mut noted: SessionRecord,
        source: Option<(Vec<u8>, SourceRecord)>,
    ) {
        if let Some((path, source)) = source {
            batch.put_source(self.before.session, &mut noted, path, source);
        }
        if noted != *record {
            self.note_facts(batch, noted);
        }
    }
}
