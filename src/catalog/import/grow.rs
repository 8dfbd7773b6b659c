//! A file that has grown: its new lines follow those that the store has.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use leafline_import::lines::BlockReader;

use super::agents;
use super::beginning;
use super::blob_folder::BlobFolder;
use super::candidate::Candidate;
use super::digest::Digest;
use super::pipeline::BLOCK_BYTES;
use super::report::{FileReport, ImportStatus};
use crate::error::Result;
use crate::session::index::beginning::fill;
use crate::session::index::finish::Indexed;
use crate::session::index::growth::{changes_earlier_lines, last_that_leads};
use crate::session::index::indexer::{Indexer, Start};
use crate::session::index::prepare::Preparer;
use crate::session::view::View;
use crate::store::Store;
use crate::store::commit::{Author, Batch, Extended, Extension, Rows};
use crate::store::compression::Dictionary;
use crate::store::fingerprint::block_start;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;

/// Bytes of new lines committed at once.
const PIECE_BYTES: u64 = 16 << 20;

/// What an extension works with.
pub(super) struct Growth<'s> {
    pub(super) store: &'s Store,
    pub(super) dictionary: &'s Arc<Dictionary>,
    pub(super) blobs: Option<&'s BlobFolder>,
}

/// What became of an extension.
pub(super) enum Grown {
    /// All lines are stored; or the file could not be read, as the report says.
    Yes(Box<FileReport>),
    /// Not everything is stored: new lines change the meaning of earlier ones, or the file has changed meanwhile. Has
    /// the session's current state, with some of the new lines or none.
    No(Box<SessionRecord>),
    /// Another process has changed the session.
    Conflict,
}

/// A part of the new lines, indexed but not committed.
enum Piece {
    /// The lines, up to the file's end or not.
    Lines { indexed: Box<Indexed>, is_last: bool },
    /// They are too many for one commit.
    TooLong,
}

impl Growth<'_> {
    /// Appends what the file has gained: in one commit, or in several if it is much. After each commit the session is
    /// what the file was at some time.
    pub(super) fn extend(
        &self,
        candidate: &mut Candidate,
        session: SessionKey,
        record: &SessionRecord,
    ) -> Result<Grown> {
        let report = candidate.report(ImportStatus::Grown);
        let failed = |report: FileReport, error: &std::io::Error| {
            let report = FileReport { status: ImportStatus::Failed, ..report };
            Ok(Grown::Yes(Box::new(report.unread(error))))
        };
        // The lines of a migrated session are not the imported bytes: those stay, and the file's beginning does not
        // matter.
        let (mut digest, known) = if record.migrated {
            (Digest::default(), record.bytes..record.bytes)
        } else {
            let start = block_start(record.imported.length);
            (Digest::resume(&record.imported), start..record.bytes)
        };
        let expected = candidate.size - if record.migrated { record.bytes } else { 0 };
        if let Err(error) = digest_known(candidate, known, &mut digest) {
            return failed(report, &error);
        }
        let gained = candidate.size - record.bytes;
        let mut blocks = BlockReader::new((&candidate.file).take(gained), BLOCK_BYTES)
            .longest_line(candidate.longest_line)
            .beginning_at(record.bytes);
        let mut preparer = Preparer::new(record.reading());
        let mut record = Box::new(record.clone());
        loop {
            let mut batch = Batch::default();
            let mut extension = Extension::new(&mut batch, session, &record);
            let mut rows = extension.rows(&mut batch);
            let indexer = self.indexer(candidate, session, &record)?;
            let piece = self.piece(&mut blocks, &mut digest, &mut preparer, indexer, &mut rows)?;
            let (indexed, is_last) = match piece {
                Ok(Piece::Lines { indexed, is_last }) => (indexed, is_last),
                Ok(Piece::TooLong) => return Ok(Grown::No(record)),
                Err(error) => return failed(report, &error),
            };
            let imported = digest.clone().finish();
            if indexed.needs_resolving || (is_last && imported.length != expected) {
                return Ok(Grown::No(record));
            }
            let snapshot = self.store.snapshot()?;
            if changes_earlier_lines(View::new(snapshot.rows(session), &record), &rows)? {
                return Ok(Grown::No(record));
            }
            drop(snapshot);
            let Indexed { record: mut new, leaf, .. } = *indexed;
            agents::settle(&mut new, candidate.is_certain_agent());
            beginning::take_title_beside(&mut new, candidate);
            fill(&mut new, &candidate.start);
            if !new.migrated {
                new.imported = imported;
            }
            new.note_named();
            // The file's size and time are recorded once all of it is stored.
            let source = if is_last { candidate.source(session) } else { None };
            let author = Author::File;
            let extended = Extended { record: new, leaf, author, is_sealed: true, source };
            let new = extension.finish(&mut batch, extended)?.clone();
            if let Some(folder) = self.blobs {
                folder.fetch_missing(self.store, &mut batch)?;
            }
            if !self.store.commit(batch)?.conflicts.is_empty() {
                return Ok(Grown::Conflict);
            }
            if is_last {
                let mut report = report;
                report.describe(&new);
                report.stored = gained;
                return Ok(Grown::Yes(Box::new(report)));
            }
            *record = new;
        }
    }

    /// Indexes new lines, as many as fit in one commit.
    fn piece(
        &self,
        blocks: &mut BlockReader<impl Read>,
        digest: &mut Digest,
        preparer: &mut Preparer,
        mut indexer: Indexer<'_>,
        rows: &mut Rows<'_>,
    ) -> Result<std::io::Result<Piece>> {
        let mut bytes = 0;
        let is_last = loop {
            let block = match blocks.next_block(Vec::new()) {
                Ok(Some(block)) => block,
                Ok(None) => break true,
                Err(error) => return Ok(Err(error)),
            };
            digest.take(&block);
            bytes += block.len() as u64;
            let mut prepared = preparer.prepare(&block, false, self.dictionary);
            if let Some(folder) = self.blobs {
                folder.fetch(&mut prepared);
            }
            if indexer.add(prepared, rows)? {
                return Ok(Ok(Piece::TooLong));
            }
            if bytes >= PIECE_BYTES {
                break false;
            }
        };
        let indexed = Box::new(indexer.finish(rows)?);
        Ok(Ok(Piece::Lines { indexed, is_last }))
    }

    /// An indexer for lines that follow those of a session.
    fn indexer(
        &self,
        candidate: &Candidate,
        session: SessionKey,
        record: &SessionRecord,
    ) -> Result<Indexer<'_>> {
        let snapshot = self.store.snapshot()?;
        // The record may be older than the snapshot: a leaf older than the lines is not damage.
        let rows = snapshot.rows(session);
        let (pointers, leaf) = (rows.pointers()?, last_that_leads(View::new(rows, record))?);
        let hint = candidate.start.leaf.clone();
        let start = Start::Grown { leaf, hint, pointers, snapshot: None };
        Ok(Indexer::new(self.store, session, record.clone(), start, self.dictionary.id))
    }
}

/// Reads the known part of the file again, as far as the digest needs it to go on.
fn digest_known(
    candidate: &mut Candidate,
    known: Range<u64>,
    digest: &mut Digest,
) -> std::io::Result<()> {
    candidate.file.seek(SeekFrom::Start(known.start))?;
    let mut buffer = vec![0; BLOCK_BYTES];
    let mut left = known.end.saturating_sub(known.start);
    while left > 0 {
        let most = usize::try_from(left).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
        let read = candidate.file.read(buffer.get_mut(..most).unwrap_or_default())?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        digest.take(buffer.get(..read).unwrap_or_default());
        left -= read as u64;
    }
    Ok(())
}
