//! How a folder and the store compare, without importing anything.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::file_time::nanoseconds;
use super::candidate::Candidate;
use super::folder::{FoundFile, NotFound, find};
use super::quick;
use super::report::{ImportStatus, Recovery};
use crate::catalog::gone::exists;
use crate::catalog::path_text;
use crate::error::Result;
use crate::store::Store;
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;
use crate::store::source_record::path_of_bytes;

/// Nanoseconds in a millisecond.
const MILLISECOND: i128 = 1_000_000;

/// What a store has of a folder's files; see [`Store::standing_of`].
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct FolderStanding {
    /// Files that a sync examines.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that the store has as they are.
    pub in_step: u64,
    /// Those of them that could not be merged with another session of the same id: each is a session of its own, `<id>~2`.
    pub apart: u64,
    /// Files whose session was removed from the store, which stay out of it.
    pub removed: u64,
    /// Files that are no sessions.
    pub no_sessions: u64,
    /// Files and folders that cannot be read.
    pub unreadable: u64,
    /// Files that the store does not have, or not as they are, in the order of a sync.
    pub behind: Vec<FileBehind>,
    /// Sessions that were imported from this folder and have no file any more: the store alone has them.
    pub kept: u64,
    /// The file that was written last, of those that the store has as they are or had.
    pub last: Option<LastSeen>,
}

/// A file that a store does not have as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileBehind {
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its size when it was imported; `None` if it never was.
    pub imported: Option<u64>,
}

/// The last that a store has seen of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LastSeen {
    /// The session's id, if the store still has it.
    pub session: Option<String>,
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// When the file was written, in milliseconds since 1970.
    pub written: i64,
}

impl Store {
    /// What the store has of a folder's files, judged as [`Self::sync`] does: by size and time of modification. Only files
    /// that the store does not know are opened, to tell sessions from other files by their beginning.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("session.jsonl");
    /// # let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
    /// # std::fs::write(&file, format!("{header}\n")).unwrap();
    /// let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// assert_eq!(store.standing_of(folder.path())?.behind[0].imported, None);
    /// store.sync(&[folder.path()], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let standing = store.standing_of(folder.path())?;
    /// assert_eq!((standing.in_step, standing.behind.len()), (1, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] if the store is damaged.
    pub fn standing_of(&self, folder: &Path) -> Result<FolderStanding> {
        let snapshot = self.snapshot()?;
        let mut standing = FolderStanding::default();
        let mut last = Last::default();
        let mut unreadable = 0;
        let files = match folder.is_dir() {
            true => find(&[folder], &mut |_, problem| {
                unreadable += u64::from(!matches!(problem, NotFound::LeftOut(_)));
            }),
            false => Vec::new(),
        };
        standing.unreadable = unreadable;
        for file in &files {
            standing.files += 1;
            standing.bytes += file.bytes;
            standing.add(&snapshot, file, &mut last)?;
        }
        standing.add_sources(&snapshot, folder, &mut last)?;
        standing.last = last.seen(&snapshot)?;
        Ok(standing)
    }
}

impl FolderStanding {
    fn add(&mut self, snapshot: &Snapshot, file: &FoundFile, last: &mut Last) -> Result<()> {
        let Ok(absolute) = std::path::absolute(&file.path) else {
            self.unreadable += 1;
            return Ok(());
        };
        let source = snapshot.source(absolute.as_os_str().as_encoded_bytes())?;
        let Some(source) = source else {
            match Candidate::open_found(file, None, Recovery::Documented) {
                Ok(_) => self.behind.push(FileBehind::of(file, None)),
                Err(report) if report.status == ImportStatus::Skipped => self.no_sessions += 1,
                Err(_) => self.unreadable += 1,
            }
            return Ok(());
        };
        let known = quick::unchanged(snapshot, file, false)?;
        // What was written while it was imported has no time yet: the next sync compares it.
        let is_undecided = source.modified.is_none() && source.size == file.bytes;
        match known {
            Some(report) if report.status == ImportStatus::Removed => self.removed += 1,
            None if !is_undecided || snapshot.session(source.session)?.is_none() => {
                self.behind.push(FileBehind::of(file, Some(source.size)));
            }
            _ => {
                self.in_step += 1;
                let record = snapshot.session(source.session)?;
                self.apart += u64::from(record.is_some_and(|record| record.number > 1));
                if let Some(modified) = file.modified.map(nanoseconds) {
                    last.note(absolute, modified, source.session);
                }
            }
        }
        Ok(())
    }

    /// Adds what the store knows of files that were in the folder.
    fn add_sources(&mut self, snapshot: &Snapshot, folder: &Path, last: &mut Last) -> Result<()> {
        let Ok(folder) = std::path::absolute(folder) else { return Ok(()) };
        let mut gone: HashSet<SessionKey> = HashSet::new();
        let mut there: HashSet<SessionKey> = HashSet::new();
        snapshot.each_source(|bytes, source| {
            let source = source?;
            let path = path_of_bytes(bytes).filter(|path| path.starts_with(&folder));
            let Some(path) = path else { return Ok(()) };
            if exists(bytes) {
                there.insert(source.session);
                return Ok(());
            }
            gone.insert(source.session);
            if let Some(modified) = source.modified {
                last.note(path, modified, source.session);
            }
            Ok(())
        })?;
        gone.retain(|session| !there.contains(session));
        if gone.is_empty() {
            return Ok(());
        }
        // A copy elsewhere is a file too.
        snapshot.each_source(|bytes, source| {
            let session = source?.session;
            let is_elsewhere =
                || path_of_bytes(bytes).is_some_and(|path| !path.starts_with(&folder));
            if gone.contains(&session) && is_elsewhere() && exists(bytes) {
                gone.remove(&session);
            }
            Ok(())
        })?;
        for session in gone {
            self.kept += u64::from(snapshot.session(session)?.is_some());
        }
        Ok(())
    }
}

impl FileBehind {
    fn of(file: &FoundFile, imported: Option<u64>) -> Self {
        Self { path: file.path.clone(), bytes: file.bytes, imported }
    }
}

/// The file that was written last so far.
#[derive(Debug, Default)]
struct Last(Option<(PathBuf, i128, SessionKey)>);

impl Last {
    fn note(&mut self, path: PathBuf, modified: i128, session: SessionKey) {
        if self.0.as_ref().is_none_or(|(_, last, _)| *last < modified) {
            self.0 = Some((path, modified, session));
        }
    }

    fn seen(self, snapshot: &Snapshot) -> Result<Option<LastSeen>> {
        let Some((path, modified, session)) = self.0 else { return Ok(None) };
        let session = snapshot.session(session)?.map(|record| record.id());
        let written = i64::try_from(modified.div_euclid(MILLISECOND)).unwrap_or(i64::MAX);
        Ok(Some(LastSeen { session, path, written }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::super::ImportOptions;
    use super::*;

    fn header(id: &str) -> String {
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/w\"}}\n"
        )
    }

    /// Writes a file of a time that a sync trusts.
    fn write(path: &Path, text: &str, seconds_ago: u64) {
        std::fs::write(path, text).unwrap();
        let time = SystemTime::now() - Duration::from_secs(seconds_ago);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn what_a_sync_would_do_is_said_before() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["same", "grown", "gone", "removed", "last"] {
            write(&at(&format!("{name}.jsonl")), &header(name), 100);
        }
        write(&at("last.jsonl"), &header("last"), 50);
        write(&at("none.jsonl"), "no session\n", 100);
        let store = Store::in_memory().unwrap();
        assert_eq!(store.standing_of(folder.path()).unwrap().behind.len(), 5);
        store.sync(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap();
        store.remove("removed").unwrap();
        std::fs::remove_file(at("gone.jsonl")).unwrap();
        let longer = header("grown")
            + "{\"type\":\"custom\",\"id\":\"a\",\"parentId\":null,\"customType\":\"x\"}\n";
        write(&at("grown.jsonl"), &longer, 40);
        write(&at("new.jsonl"), &header("new"), 30);
        // Just written, so that its time is not known.
        std::fs::write(at("fresh.jsonl"), header("fresh")).unwrap();
        store.sync(&[at("fresh.jsonl")], &ImportOptions::default(), &mut ()).unwrap();

        let standing = store.standing_of(folder.path()).unwrap();
        assert_eq!((standing.files, standing.in_step, standing.removed), (7, 3, 1));
        assert_eq!((standing.no_sessions, standing.unreadable, standing.kept), (1, 0, 1));
        let behind: Vec<_> = standing
            .behind
            .iter()
            .map(|file| (file.path.file_name().unwrap().to_str().unwrap(), file.imported))
            .collect();
        let old = header("grown").len() as u64;
        assert_eq!(behind, [("grown.jsonl", Some(old)), ("new.jsonl", None)]);
        assert_eq!(standing.last.unwrap().session.as_deref(), Some("fresh"));
        let totals = store.sync(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap();
        assert_eq!((totals.grown, totals.imported, totals.removed), (1, 1, 1));
        assert!(store.standing_of(folder.path()).unwrap().behind.is_empty());
        // A folder that is gone.
        std::fs::remove_dir_all(folder.path()).unwrap();
        let standing = store.standing_of(folder.path()).unwrap();
        assert_eq!((standing.files, standing.kept), (0, 6));
    }
}
