//! A file that has grown: its new lines follow those that the store has.

use std::collections::HashSet;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use leafline_import::Family;
use leafline_import::lines::BlockReader;

use super::agents;
use super::blob_folder::BlobFolder;
use super::candidate::Candidate;
use super::digest::Digest;
use super::pipeline::BLOCK_BYTES;
use super::report::{FileReport, ImportStatus};
use crate::error::Result;
use crate::session::Order;
use crate::session::index::indexer::{Indexed, Indexer};
use crate::session::index::prepare::Preparer;
use crate::session::index::reading::{ParentLink, Reading, read_line};
use crate::store::Store;
use crate::store::compression::Dictionary;
use crate::store::fingerprint::block_start;
use crate::store::node::Parent;
use crate::store::session_record::SessionRecord;
use crate::store::slice::{Guard, Slice};
use crate::store::tables::{NO_LEAF, NO_PARENT};

/// Bytes of new lines that are committed at once.
const PIECE_BYTES: u64 = 16 << 20;

/// What an extension works with.
pub(super) struct Growth<'s> {
    pub(super) store: &'s Store,
    pub(super) dictionary: &'s Arc<Dictionary>,
    pub(super) blobs: Option<&'s BlobFolder>,
}

/// What became of an extension.
pub(super) enum Extended {
    /// The lines are there; or the file could not be read, as the report says.
    Yes(Box<FileReport>),
    /// Not all is there: new lines change what earlier ones are, or the file has changed meanwhile. The session as it is
    /// now, with some of the new lines or none.
    No(Box<SessionRecord>),
    /// Another process has changed the session.
    Conflict,
}

impl Growth<'_> {
    /// Appends what the file has gained: in one commit, or in more where that is much. After each the session is what the
    /// file was at some time.
    pub(super) fn extend(
        &self,
        candidate: &mut Candidate,
        session: u64,
        record: &SessionRecord,
    ) -> Result<Extended> {
        let mut report = candidate.report(ImportStatus::Grown);
        let failed = |report: FileReport, error: &std::io::Error| {
            let mut report = report.with_reason(format!("reading it: {error}"));
            report.status = ImportStatus::Failed;
            Ok(Extended::Yes(Box::new(report)))
        };
        // The lines of a migrated session are not what was imported: that stays, and the file's beginning does not matter.
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
        let mut blocks = BlockReader::new((&candidate.file).take(gained), BLOCK_BYTES);
        let mut preparer = Preparer::new(Reading::of(record));
        let mut record = Box::new(record.clone());
        loop {
            let mut slice = Slice::default();
            let mut indexer = self.indexer(candidate, session, &record)?;
            let mut bytes = 0;
            let is_last = loop {
                let block = match blocks.next_block(Vec::new()) {
                    Ok(Some(block)) => block,
                    Ok(None) => break true,
                    Err(error) => return failed(report, &error),
                };
                digest.take(&block);
                bytes += block.len() as u64;
                let mut prepared = preparer.prepare(&block, false, self.dictionary);
                if let Some(folder) = self.blobs {
                    folder.bring(&mut prepared);
                }
                if indexer.add(prepared, &mut slice)? {
                    return Ok(Extended::No(record));
                }
                if bytes >= PIECE_BYTES {
                    break false;
                }
            };
            let Indexed { record: mut new, leaf, needs_resolving, .. } =
                indexer.finish(&mut slice)?;
            let imported = digest.clone().finish();
            if needs_resolving
                || (is_last && imported.length != expected)
                || repeats_ids(self.store, &slice)?
                || adopts_orphans(self.store, session, &record, &slice)?
            {
                return Ok(Extended::No(record));
            }
            agents::settle(&mut new, agents::is_among(&candidate.path));
            if !new.migrated {
                new.imported = imported;
            }
            new.sealed = new.lines;
            new.revision += 1;
            if is_last {
                // The file is known by its size and time once all of it is there.
                if !new.sources.contains(&candidate.source) {
                    new.sources.push(candidate.source.clone());
                }
                slice.sources.push((candidate.source.clone(), candidate.source_record(session)));
            }
            slice.leaves.push((session, leaf.unwrap_or(NO_LEAF)));
            slice.sessions.push((session, new.clone()));
            slice.guards.push((session, Guard::Same { session, revision: record.revision }));
            if let Some(folder) = self.blobs {
                folder.complete(self.store, &mut slice)?;
            }
            if !self.store.commit(slice)?.conflicts.is_empty() {
                return Ok(Extended::Conflict);
            }
            if is_last {
                report.describe(&new);
                report.stored = gained;
                return Ok(Extended::Yes(Box::new(report)));
            }
            *record = new;
        }
    }

    /// An indexer for what comes behind the lines of a session.
    fn indexer(
        &self,
        candidate: &Candidate,
        session: u64,
        record: &SessionRecord,
    ) -> Result<Indexer<'_>> {
        let snapshot = self.store.snapshot()?;
        let before = snapshot.leaf(session)?;
        let mut indexer =
            Indexer::new(self.store, session, record.clone(), before, self.dictionary.id);
        indexer.hint(candidate.leaf_hint());
        if candidate.reading().family == Family::Claude {
            indexer.know_pointers(snapshot.pointers_of(session)?);
        }
        Ok(indexer)
    }
}

/// Whether an id of the new entries is one that the session has already.
fn repeats_ids(store: &Store, slice: &Slice) -> Result<bool> {
    let snapshot = store.snapshot()?;
    for rows in &slice.entries {
        for (id, _) in rows.iter() {
            if snapshot.entry(rows.session, id)?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether an id of the new entries is the one that an entry of the session names as its parent and did not find.
fn adopts_orphans(
    store: &Store,
    session: u64,
    record: &SessionRecord,
    slice: &Slice,
) -> Result<bool> {
    if record.orphans == 0 {
        return Ok(false);
    }
    let new: HashSet<&[u8]> =
        slice.entries.iter().flat_map(|rows| rows.iter()).map(|(id, _)| id).collect();
    let snapshot = store.snapshot()?;
    let order = Order::of(session, record);
    let reading = Reading::of(record);
    let roots = (session, NO_PARENT, 0)..=(session, NO_PARENT, u64::MAX);
    for row in snapshot.children()?.range(roots)? {
        let (_, _, ordinal) = row?.0.value();
        let node = order.line(&snapshot, ordinal)?;
        order.check_child(ordinal, &node, None)?;
        if node.parent != Parent::Orphan {
            continue;
        }
        let line = snapshot.line(session, ordinal, None)?;
        // Nothing that was cut out of the line is an id.
        let is_adopted = read_line(reading, line.text(), |line| match line.parent() {
            ParentLink::Id(parent) => new.contains(&*parent) && line.id() != Some(parent),
            ParentLink::None | ParentLink::NoId => false,
        });
        if is_adopted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads what is known of the file again, as far as the digest needs it to go on.
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
