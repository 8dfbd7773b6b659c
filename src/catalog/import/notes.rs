//! What an import notes of files that bring nothing new: that they lead to their sessions.

use std::collections::HashSet;

use crossbeam_channel::Sender;

use super::report::FileReport;
use super::writer::Outcome;
use crate::error::Result;
use crate::store::Store;
use crate::store::commit::Batch;
use crate::store::session_key::SessionKey;

/// Files that are noted in one commit. A note holds its session's record and its report, some 2 KB.
const MOST_NOTES: usize = 1024;

/// Notes that wait to be committed together: a commit for each would wait for the disk each time.
pub(super) struct Notes<'s> {
    store: &'s Store,
    batch: Batch,
    pending: Vec<(SessionKey, FileReport)>,
    /// The ids of their sessions.
    ids: HashSet<Vec<u8>>,
    reports: Sender<Outcome>,
}

impl<'s> Notes<'s> {
    pub(super) fn new(store: &'s Store, reports: Sender<Outcome>) -> Self {
        Self { store, batch: Batch::default(), pending: Vec::new(), ids: HashSet::new(), reports }
    }

    /// Whether a note of a session with this id waits: the store does not show its current state.
    pub(super) fn concern(&self, id: &[u8]) -> bool {
        self.ids.contains(id)
    }

    /// The batch to which the next note is added.
    pub(super) fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// Ends the note of a file of the session with the id `id`.
    pub(super) fn end(&mut self, session: SessionKey, id: &[u8], report: FileReport) -> Result<()> {
        self.ids.insert(id.to_vec());
        self.pending.push((session, report));
        if self.pending.len() >= MOST_NOTES || self.batch.is_full() {
            self.commit()?;
        }
        Ok(())
    }

    /// Commits the notes and reports their files. A file whose session another process has changed meanwhile is to be
    /// looked at again.
    pub(super) fn commit(&mut self) -> Result<()> {
        let committed = self.store.commit(std::mem::take(&mut self.batch))?;
        self.ids.clear();
        for (session, report) in self.pending.drain(..) {
            let outcome = if committed.conflicts.contains(&session) {
                Outcome::Again(report.path)
            } else {
                Outcome::Final(Box::new(report))
            };
            // The receiver may be gone; the import goes on.
            let _ = self.reports.send(outcome);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    use crossbeam_channel::unbounded;

    use super::super::report::{ImportOptions, ImportStatus};
    use super::*;
    use crate::store::commit::Edit;
    use crate::store::failing_disk::Disk;

    fn write_session(folder: &Path, name: &str, id: &str) -> PathBuf {
        let path = folder.join(name);
        let header = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}}"#
        );
        std::fs::write(&path, header + "\n").unwrap();
        path
    }

    /// Gives the files a time of modification that differs from the one that they were imported with.
    fn touch(folder: &Path) {
        let earlier = SystemTime::now() - Duration::from_mins(1);
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = File::options().write(true).open(entry.unwrap().path()).unwrap();
            file.set_modified(earlier).unwrap();
        }
    }

    #[test]
    fn files_with_another_time_are_noted_in_one_commit() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..200 {
            write_session(folder.path(), &format!("{number}.jsonl"), &format!("s{number}"));
        }
        let disk = Disk::default();
        let store = disk.open().unwrap();
        let sync = || {
            let before = disk.syncs();
            let totals = store.sync(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap();
            (totals.imported, totals.unchanged, disk.syncs() - before)
        };
        assert_eq!(sync().0, 200);
        touch(folder.path());
        let (_, noted, with_notes) = sync();
        let (_, unchanged, idle) = sync();
        assert_eq!((noted, unchanged), (200, 200));
        assert!(with_notes > idle, "{with_notes} syncs, and {idle} with nothing to note");
        assert!(with_notes <= idle + 4, "{with_notes} syncs, and {idle} with nothing to note");
    }

    #[test]
    fn two_files_of_one_session_are_both_noted() {
        let folder = tempfile::tempdir().unwrap();
        let first = write_session(folder.path(), "a.jsonl", "s");
        let store = Store::in_memory().unwrap();
        let options = ImportOptions::default();
        assert_eq!(store.import(&[&first], &options, &mut ()).unwrap().imported, 1);
        for name in ["b.jsonl", "c.jsonl"] {
            write_session(folder.path(), name, "s");
        }
        touch(folder.path());
        assert_eq!(store.sync(&[folder.path()], &options, &mut ()).unwrap().unchanged, 3);
        let snapshot = store.snapshot().unwrap();
        let session = snapshot.key_of(b"s").unwrap().unwrap();
        assert_eq!(snapshot.session(session).unwrap().unwrap().sources.len(), 3);
    }

    #[test]
    fn a_file_whose_session_was_changed_meanwhile_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_memory().unwrap();
        for id in ["s", "t"] {
            let path = write_session(folder.path(), &format!("{id}.jsonl"), id);
            store.import(&[path], &ImportOptions::default(), &mut ()).unwrap();
        }
        let (send, reports) = unbounded();
        let mut notes = Notes::new(&store, send);
        let snapshot = store.snapshot().unwrap();
        let note = |batch: &mut Batch, id: &str| {
            let session = snapshot.key_of(id.as_bytes()).unwrap().unwrap();
            let record = snapshot.session(session).unwrap().unwrap();
            let mut noted = record.clone();
            noted.sources.push(format!("/other/{id}").into_bytes());
            Edit::new(batch, session, &record).note_file(batch, &record, noted, None);
            session
        };
        for id in ["s", "t"] {
            let session = note(notes.batch(), id);
            let report = FileReport::new(PathBuf::from(id), ImportStatus::Unchanged);
            notes.end(session, id.as_bytes(), report).unwrap();
        }
        assert!(notes.concern(b"s") && notes.concern(b"t"));
        let mut other = Batch::default();
        note(&mut other, "s");
        assert!(store.commit(other).unwrap().conflicts.is_empty());
        notes.commit().unwrap();
        assert!(!notes.concern(b"s"));
        let outcome = |outcome| match outcome {
            Outcome::Again(path) => (path, false),
            Outcome::Final(report) => (report.path, true),
        };
        let outcomes: Vec<_> = reports.try_iter().map(outcome).collect();
        assert_eq!(outcomes, [(PathBuf::from("s"), false), (PathBuf::from("t"), true)]);
    }
}
