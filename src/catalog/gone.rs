//! Sessions whose files are gone: programs delete old ones, and the store keeps them.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;
use crate::store::source_record::path_of_bytes;

impl Store {
    /// Those of these sessions that were imported from files, none of which is there any more: the store alone has them.
    /// A session that was made in the store never had a file, and is not among them; nor is an id that the store does not
    /// have, or a session whose record is damaged. It costs a look at the file system for each session.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// let file = folder.path().join("session.jsonl");
    /// std::fs::write(&file, concat!(
    ///     r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#, "\n",
    /// )).unwrap();
    /// let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// store.import(&[&file], &leafline::import::ImportOptions::default(), &mut ())?;
    /// assert!(store.without_files(["s1"])?.is_empty());
    /// std::fs::remove_file(&file).unwrap();
    /// assert!(store.without_files(["s1"])?.contains("s1"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the engine; [`Error::Corrupted`] if the record of a file is damaged.
    pub fn without_files<'i>(
        &self,
        sessions: impl IntoIterator<Item = &'i str>,
    ) -> Result<HashSet<String>> {
        let snapshot = self.snapshot()?;
        let mut gone = HashSet::new();
        for id in sessions {
            let Some(key) = snapshot.key_of(id.as_bytes())? else { continue };
            let record = match snapshot.session(key) {
                Ok(Some(record)) => record,
                Ok(None) | Err(Error::Corrupted(_)) => continue,
                Err(error) => return Err(error),
            };
            if !record.sources.is_empty() && files_of(&snapshot, key, &record)?.next().is_none() {
                gone.insert(id.to_owned());
            }
        }
        Ok(gone)
    }
}

/// The files of a session that are there: a path that leads to another session by now is none of its.
fn files_of(
    snapshot: &Snapshot,
    session: SessionKey,
    record: &SessionRecord,
) -> Result<impl Iterator<Item = PathBuf>> {
    let mut paths = Vec::new();
    for source in &record.sources {
        let is_its_own = snapshot.source(source)?.is_some_and(|source| source.session == session);
        // A path that cannot be made from its bytes is assumed to exist.
        paths.extend(is_its_own.then(|| path_of_bytes(source).unwrap_or_default()));
    }
    let is_there = |path: &PathBuf| path.as_os_str().is_empty() || path.exists();
    Ok(paths.into_iter().filter(is_there))
}
