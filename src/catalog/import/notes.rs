//! Notes of unchanged files: their sources and times, committed together and not file by file.

use std::path::PathBuf;

use super::Outcome;
use super::blob_folder::BlobFolder;
use super::report::FileReport;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::commit::{Batch, Edit};
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;
use crate::store::source_record::SourceRecord;

/// The most notes of one commit: each holds a session's record.
const MOST_NOTES: usize = 1024;

/// Notes of files, until they are committed.
pub(super) struct Notes<'s> {
    store: &'s Store,
    most: usize,
    batch: Batch,
    waiting: Vec<Waiting>,
    /// Files whose session another process has changed meanwhile, or whose commit failed.
    again: Vec<PathBuf>,
}

/// A file whose report holds once the batch is committed.
struct Waiting {
    session: SessionKey,
    external_id: Vec<u8>,
    report: FileReport,
}

/// The facts to note of a file.
pub(super) struct Note<'n> {
    pub(super) session: SessionKey,
    pub(super) record: &'n SessionRecord,
    /// The record with the facts of the file.
    pub(super) noted: SessionRecord,
    pub(super) source: Option<(Vec<u8>, SourceRecord)>,
}

impl<'s> Notes<'s> {
    /// Notes that are committed together, or one by one after that has failed, so that a damaged session fails only its
    /// own file.
    pub(super) fn new(store: &'s Store, together: bool) -> Self {
        let most = if together { MOST_NOTES } else { 1 };
        Self { store, most, batch: Batch::default(), waiting: Vec::new(), again: Vec::new() }
    }

    /// Whether a session with this id has an uncommitted note, so that the store does not show its current state.
    pub(super) fn has(&self, external_id: &[u8]) -> bool {
        self.waiting.iter().any(|waiting| waiting.external_id == external_id)
    }

    /// The files that must be compared again.
    pub(super) fn take_again(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.again)
    }

    /// Adds a note, and blobs of the folder that the session lacks.
    pub(super) fn add(
        &mut self,
        snapshot: &Snapshot,
        note: Note<'_>,
        blobs: Option<&BlobFolder>,
        report: FileReport,
        outcome: &mut Outcome<'_>,
    ) -> Result<()> {
        let Note { session, record, noted, source } = note;
        let edit = Edit::new(&mut self.batch, session, record);
        if let Some(folder) = blobs
            && let Err(error) = folder.attach_missing(snapshot, session, (&edit, &mut self.batch))
        {
            self.batch.forget(session);
            return Err(error);
        }
        edit.note_file(&mut self.batch, record, noted, source);
        let external_id = record.external_id.clone();
        self.waiting.push(Waiting { session, external_id, report });
        let is_full = self.waiting.len() >= self.most || self.batch.has_blobs();
        if is_full { self.flush(outcome) } else { Ok(()) }
    }

    /// Commits the notes, and reports their files.
    pub(super) fn flush(&mut self, outcome: &mut Outcome<'_>) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let conflicts = match self.store.commit(std::mem::take(&mut self.batch)) {
            Ok(committed) => committed.conflicts,
            // A damaged session fails only its own file: each is compared again by itself.
            Err(Error::Corrupted(_)) if self.most > 1 => {
                waiting.iter().map(|waiting| waiting.session).collect()
            }
            Err(error) => return Err(error),
        };
        for Waiting { session, report, .. } in waiting {
            if conflicts.contains(&session) {
                self.again.push(report.path);
            } else {
                outcome.observer.read(report.bytes);
                outcome.add(&report);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::super::ImportOptions;
    use crate::store::failing_disk::Disk;

    /// Writes a file: its time is too recent for a sync to trust.
    fn write(path: &Path, id: &str) {
        let header = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}}"#
        );
        std::fs::write(path, header + "\n").unwrap();
    }

    /// Makes the file old enough for its time to be trusted.
    fn age(path: &Path) {
        let time = SystemTime::now() - Duration::from_secs(100);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    /// The number of disk syncs in a sync of files that were imported right after they were written, but for one by which the
    /// engine makes the file longer.
    fn waits(files: usize) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        let store = disk.open().unwrap();
        let paths: Vec<_> =
            (0..files).map(|number| folder.path().join(format!("{number}.jsonl"))).collect();
        for (number, path) in paths.iter().enumerate() {
            write(path, &format!("s{number}"));
        }
        // The same session twice: its second note does not undo the first.
        let copy = folder.path().join("copy.jsonl");
        write(&copy, "s0");
        let sync = |store: &crate::Store| {
            store.sync(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap()
        };
        assert_eq!(sync(&store).imported, files as u64);
        paths.iter().chain([&copy]).for_each(|path| age(path));
        let (before, length) = (disk.syncs(), disk.length());
        assert_eq!(sync(&store).unchanged, files as u64 + 1);
        let waits = disk.syncs() - before - u64::from(disk.length() > length);
        // Now their times show that they are unchanged.
        let before = disk.syncs();
        assert_eq!(sync(&store).unchanged, files as u64 + 1);
        assert!(disk.syncs() - before <= waits);
        let sources = store.session("s0").unwrap().reader().unwrap().record().sources.len();
        assert_eq!(sources, 2);
        assert_eq!(store.verify().unwrap().problems, []);
        waits
    }

    #[test]
    fn unchanged_files_are_noted_together() {
        let few = waits(3);
        assert_eq!(waits(300), few);
        // No more than there are bounded batches of them.
        assert!(waits(2 * super::MOST_NOTES + 3) <= 3 * few);
    }
}
