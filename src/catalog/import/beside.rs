//! Files beside sessions go into the store as they are.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::file_time::{is_recent, nanoseconds};
use super::Outcome;
use super::report::BesideReport;
use crate::error::{Error, Result};
use crate::regular_file::{check_regular, open_regular};
use crate::store::Store;
use crate::store::clock::now;
use crate::store::commit::{Batch, FileChange};
use crate::store::file_record::{FileContent, FileRecord};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// The most bytes of a file that is taken, unless the caller says otherwise: 256 MiB. It is held in memory as a whole.
pub(super) const LARGEST: u64 = 256 << 20;

/// Bytes of files that are committed together, as those of a slice; and how many files.
const COMMIT_BYTES: u64 = 16 << 20;
const COMMIT_FILES: usize = 1024;

/// How many files are looked up in one snapshot; while it is open, space cannot be reused.
const GLANCES: u32 = 64;

/// Nanoseconds in a millisecond.
const MILLISECOND: i128 = 1_000_000;

/// Takes files into a store.
pub(super) struct Taking<'t, 'o> {
    store: &'t Store,
    largest: u64,
    outcome: &'t mut Outcome<'o>,
    /// A snapshot, and the number of files that it was used for.
    glance: Option<(Snapshot, u32)>,
    /// Whose the files of a folder are: those of one come one after the other.
    last: Option<(PathBuf, Option<Owner>)>,
    waiting: Vec<Waiting>,
    weight: u64,
}

/// The session that has a file beside it.
#[derive(Debug, Clone)]
struct Owner {
    key: SessionKey,
    id: String,
}

/// A file that is about to be committed.
struct Waiting {
    path: Vec<u8>,
    owner: SessionKey,
    /// What the store had of it when it was read.
    before: Option<FileRecord>,
    change: FileChange,
    report: BesideReport,
}

/// What a file has, if it could be read.
enum Content {
    Bytes(Vec<u8>, Metadata),
    TooLarge(u64),
}

impl<'t, 'o> Taking<'t, 'o> {
    pub(super) fn new(store: &'t Store, largest: u64, outcome: &'t mut Outcome<'o>) -> Self {
        let (glance, last, waiting, weight) = (None, None, Vec::new(), 0);
        Self { store, largest, outcome, glance, last, waiting, weight }
    }

    /// Takes the files that stand beside sessions of the store and differ from what it has. One that cannot be read fails alone.
    pub(super) fn take(mut self, mut files: Vec<PathBuf>) -> Result<()> {
        files.sort_unstable();
        files.dedup();
        for file in files {
            if self.outcome.observer.is_stopped() {
                break;
            }
            match self.take_file(&file) {
                Err(Error::Corrupted(damage)) => {
                    let reason = format!("what the store has of it is damaged: {damage}");
                    let session = self.last.as_ref().and_then(|(_, owner)| owner.clone());
                    let session = session.map(|owner| owner.id).unwrap_or_default();
                    self.report(BesideReport::failed(file, session, reason));
                }
                taken => taken?,
            }
        }
        self.commit()
    }

    fn take_file(&mut self, file: &Path) -> Result<()> {
        let Ok(absolute) = std::path::absolute(file) else { return Ok(()) };
        let Some(owner) = self.owner_of(&absolute)? else { return Ok(()) };
        let failed = |error: &io::Error| {
            BesideReport::failed(file.to_owned(), owner.id.clone(), format!("reading it: {error}"))
        };
        let metadata = match std::fs::metadata(file) {
            Ok(metadata) => metadata,
            // Deleted since its folder was listed, or a link that leads nowhere.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                self.report(failed(&error));
                return Ok(());
            }
        };
        if check_regular(&metadata).is_err() {
            return Ok(());
        }
        let key = absolute.as_os_str().as_encoded_bytes();
        let before = self.glance()?.file(key)?;
        let is_as_it_was = |record: &FileRecord| {
            let size = match record.content {
                FileContent::Bytes { size, .. } => size,
                FileContent::Session(_) => return false,
            };
            size == metadata.len() && Some(record.written) == milliseconds(metadata.modified().ok())
        };
        match before {
            // The file of a session storage: what the program has in the store is its session.
            Some(FileRecord { content: FileContent::Session(_), .. }) => return Ok(()),
            Some(record) if is_as_it_was(&record) => {
                let (path, bytes) = (file.to_owned(), metadata.len());
                self.report(BesideReport::unchanged(path, owner.id, bytes));
                return Ok(());
            }
            _ => {}
        }
        // The largest file is held in memory alone.
        if self.weight.saturating_add(metadata.len()) > COMMIT_BYTES {
            self.commit()?;
        }
        let (bytes, metadata) = match self.read(file) {
            Ok(Content::Bytes(bytes, metadata)) => (bytes, metadata),
            Ok(Content::TooLarge(bytes)) => {
                let report =
                    BesideReport::too_large(file.to_owned(), owner.id, bytes, self.largest);
                self.report(report);
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                self.report(failed(&error));
                return Ok(());
            }
        };
        let written = time_to_note(&metadata);
        let has_these = match before {
            Some(record) => has_bytes(self.glance()?, key, &record, &bytes)?,
            None => false,
        };
        let size = bytes.len() as u64;
        if has_these && before.is_some_and(|record| record.written == written) {
            self.report(BesideReport::unchanged(file.to_owned(), owner.id, size));
            return Ok(());
        }
        let (path, id) = (file.to_owned(), owner.id);
        let (change, report) = if has_these {
            (FileChange::Seen { written }, BesideReport::unchanged(path, id, size))
        } else {
            (FileChange::Taken { bytes, written }, BesideReport::taken(path, id, size))
        };
        self.weight += size;
        self.waiting.push(Waiting { path: key.to_vec(), owner: owner.key, before, change, report });
        if self.weight >= COMMIT_BYTES || self.waiting.len() >= COMMIT_FILES {
            self.commit()?;
        }
        Ok(())
    }

    /// The session that has a file beside it.
    fn owner_of(&mut self, file: &Path) -> Result<Option<Owner>> {
        let folder = file.parent().unwrap_or(file);
        if let Some((known, owner)) = &self.last
            && known == folder
        {
            return Ok(owner.clone());
        }
        self.last = None;
        let found = self.glance()?.session_beside(file.as_os_str().as_encoded_bytes())?;
        let owner = found.map(|(key, record)| Owner { key, id: record.id() });
        self.last = Some((folder.to_owned(), owner.clone()));
        Ok(owner)
    }

    /// A snapshot of what is committed, not older than a few files.
    fn glance(&mut self) -> Result<&Snapshot> {
        if self.glance.as_ref().is_some_and(|(_, files)| *files >= GLANCES) {
            self.glance = None;
        }
        let (snapshot, files) = match &mut self.glance {
            Some(glance) => glance,
            none => none.insert((self.store.committed()?, 0)),
        };
        *files += 1;
        Ok(snapshot)
    }

    fn read(&self, path: &Path) -> io::Result<Content> {
        let file = open_regular(path)?;
        // What is written while it is read makes it another one the next time.
        let metadata = file.metadata()?;
        if metadata.len() > self.largest {
            return Ok(Content::TooLarge(metadata.len()));
        }
        let room = usize::try_from(metadata.len()).unwrap_or_default();
        let mut bytes = Vec::with_capacity(room);
        file.take(self.largest.saturating_add(1)).read_to_end(&mut bytes)?;
        let read = bytes.len() as u64;
        Ok(if read > self.largest {
            Content::TooLarge(read)
        } else {
            Content::Bytes(bytes, metadata)
        })
    }

    /// Commits what is waiting, and reports it. A file whose session was removed meanwhile is left out, and so is one that another
    /// process has changed in the store.
    fn commit(&mut self) -> Result<()> {
        self.glance = None;
        self.weight = 0;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let reports = self.store.write(|snapshot| {
            let (mut batch, mut reports) = (Batch::default(), Vec::new());
            let mut owners: HashMap<PathBuf, Option<SessionKey>> = HashMap::new();
            for Waiting { path, owner, before, change, report } in waiting {
                let folder = report.path.parent().unwrap_or(&report.path);
                let now = match owners.get(folder) {
                    Some(now) => *now,
                    None => {
                        let now = snapshot.session_beside(&path)?.map(|(session, _)| session);
                        owners.insert(folder.to_owned(), now);
                        now
                    }
                };
                if now == Some(owner) && snapshot.file(&path)? == before {
                    batch.change_file(&path, change);
                    reports.push(report);
                }
            }
            Ok((batch, reports))
        })?;
        reports.into_iter().for_each(|report| self.report(report));
        Ok(())
    }

    fn report(&mut self, report: BesideReport) {
        self.outcome.totals.beside.add(&report);
        self.outcome.observer.beside(&report);
    }
}

/// A file's time of modification in milliseconds since 1970.
fn milliseconds(time: Option<SystemTime>) -> Option<i64> {
    let time = nanoseconds(time?).div_euclid(MILLISECOND);
    i64::try_from(time).ok()
}

/// The time to note of a file that was read. If it was written a moment before, it may be written again without its time changing:
/// it is noted as of a millisecond before, so that it is read again the next time.
fn time_to_note(metadata: &Metadata) -> i64 {
    let modified = metadata.modified().ok();
    // A system that has no such time has it read each time.
    let time = milliseconds(modified).unwrap_or_else(now);
    if modified.is_none_or(is_recent) { time.saturating_sub(1) } else { time }
}

/// Whether the store has a file with these bytes.
fn has_bytes(snapshot: &Snapshot, path: &[u8], record: &FileRecord, bytes: &[u8]) -> Result<bool> {
    let FileContent::Bytes { number, size } = record.content else { return Ok(false) };
    if size != bytes.len() as u64 {
        return Ok(false);
    }
    let (mut rest, mut is_same) = (bytes, true);
    let compared = snapshot.each_piece_of_file(path, (number, size), |piece| {
        is_same = rest.starts_with(piece);
        rest = rest.get(piece.len()..).unwrap_or_default();
        Ok(is_same)
    });
    match compared {
        // What the store has lost is there again.
        Err(Error::Corrupted(_)) => Ok(false),
        compared => compared.map(|()| is_same && rest.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_bound() {
        let stated = crate::documented::bound("a file beside a session");
        assert_eq!(stated, format!("{} MiB", LARGEST >> 20));
    }
}
