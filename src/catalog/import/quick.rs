//! What a sync concludes about a file without reading all of it.

use std::io::{Read, Seek, SeekFrom};

use super::super::file_time::nanoseconds;
use super::candidate::Candidate;
use super::folder::FoundFile;
use super::report::{FileReport, ImportStatus};
use crate::error::Result;
use crate::session::export::exact_bytes;
use crate::session::view::View;
use crate::store::Store;
use crate::store::commit::proof;
use crate::store::fingerprint::{Fingerprint, block_start};
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;

/// Bytes of a file's beginning that are compared: programs rewrite a header or a title in place.
const HEAD_BYTES: usize = 4096;

/// A report on a file with the same size and time as when it was imported: it is not opened. `None` if they differ, if
/// the file is not known, if the session has lost lines, or if it was removed and is to be restored.
pub(super) fn unchanged(
    snapshot: &Snapshot,
    file: &FoundFile,
    restores: bool,
) -> Result<Option<FileReport>> {
    let Ok(absolute) = std::path::absolute(&file.path) else { return Ok(None) };
    let Some(source) = snapshot.source(absolute.as_os_str().as_encoded_bytes())? else {
        return Ok(None);
    };
    let modified = file.modified.map(nanoseconds);
    if source.size != file.bytes || source.modified.is_none() || source.modified != modified {
        return Ok(None);
    }
    let Some(record) = snapshot.session(source.session)? else {
        let removed = snapshot.removed(source.session)?.filter(|_| !restores);
        return Ok(removed.map(|removed| {
            let mut report = FileReport::new(file.path.clone(), ImportStatus::Removed);
            report.bytes = file.bytes;
            report.of_removed(&removed)
        }));
    };
    if proof::at_its_ends(snapshot.rows(source.session), &record)?.is_some() {
        return Ok(None);
    }
    let mut report = FileReport::new(file.path.clone(), ImportStatus::Unchanged);
    report.family = Some(record.known_family());
    report.bytes = file.bytes;
    report.describe(&record);
    Ok(Some(report))
}

/// The session that was imported from the file, if the file is longer and begins with the session's content, judging by
/// its beginning and last block.
pub(super) fn grown(
    store: &Store,
    candidate: &mut Candidate,
) -> Result<Option<(SessionKey, SessionRecord)>> {
    let snapshot = store.snapshot()?;
    let Some(source) = candidate.known_source(&snapshot)? else { return Ok(None) };
    let Some(record) = snapshot.session(source.session)? else { return Ok(None) };
    let view = View::new(snapshot.rows(source.session), &record);
    let imported = record.imported;
    let can_grow = imported.length > 0
        && imported.length < candidate.size
        && !record.is_ahead()
        && record.external_id == candidate.external_id()
        && record.reading() == candidate.reading();
    let is_whole = proof::at_its_ends(view.rows(), &record)?.is_none();
    if !can_grow || !is_whole || !begins_alike(view, candidate)? {
        return Ok(None);
    }
    // A file that cannot be read here is read, and reported, in the ordinary way.
    let is_same = last_block_digest(candidate, &record).is_ok_and(|found| found == imported.digest);
    Ok(is_same.then_some((source.session, record)))
}

pub(super) fn begins_alike(view: View<'_>, candidate: &mut Candidate) -> Result<bool> {
    let most = usize::try_from(view.record().imported.length).unwrap_or(usize::MAX).min(HEAD_BYTES);
    let mut stored = Vec::with_capacity(most);
    exact_bytes(view, &mut |bytes| {
        stored.extend_from_slice(bytes);
        Ok(stored.len() < most)
    })?;
    stored.truncate(most);
    let mut found = vec![0; most];
    let read =
        candidate.file.seek(SeekFrom::Start(0)).and_then(|_| candidate.file.read_exact(&mut found));
    Ok(read.is_ok() && found == stored)
}

/// The fingerprint of the imported bytes, if the part before the last whole block is unchanged.
fn last_block_digest(candidate: &mut Candidate, record: &SessionRecord) -> std::io::Result<u128> {
    let start = block_start(record.imported.length);
    candidate.file.seek(SeekFrom::Start(start))?;
    let mut known = Vec::new();
    (&mut candidate.file).take(record.imported.length - start).read_to_end(&mut known)?;
    let mut fingerprint = Fingerprint::resume(record.imported.chain, record.imported.length);
    fingerprint.take(&known);
    Ok(fingerprint.digest())
}
