//! Sessions whose files are gone: programs delete old ones, and the store keeps them.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;

use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;
use crate::store::source_record::path_of_bytes;

/// From this many sessions on, one pass over all paths costs less than a look at each session's.
const MANY: usize = 256;

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
    /// Those of the engine.
    pub fn without_files<'i>(
        &self,
        sessions: impl IntoIterator<Item = &'i str>,
    ) -> Result<HashSet<String>> {
        let snapshot = self.snapshot_to_read()?;
        let mut known = Vec::new();
        for id in sessions {
            known.extend(snapshot.key_of(id.as_bytes())?.map(|key| (key, id)));
        }
        let at_hand = match known.len() {
            0..MANY => HashMap::new(),
            _ => all_files(&snapshot, &known)?,
        };
        let mut gone = HashSet::new();
        for (key, id) in known {
            let is_gone = match at_hand.get(&key) {
                Some(is_there) => !is_there,
                None => has_lost_files(&snapshot, key)?,
            };
            if is_gone {
                gone.insert(id.to_owned());
            }
        }
        Ok(gone)
    }
}

/// Of those of the sessions to which a path leads, whether a file is there: one pass over all paths.
fn all_files(
    snapshot: &Snapshot,
    sessions: &[(SessionKey, &str)],
) -> Result<HashMap<SessionKey, bool>> {
    let wanted: HashSet<SessionKey> = sessions.iter().map(|(key, _)| *key).collect();
    let mut files = HashMap::new();
    snapshot.each_source(|path, source| {
        // A damaged row says nothing of any session.
        if let Ok(source) = source
            && wanted.contains(&source.session)
        {
            let is_there = files.entry(source.session).or_insert(false);
            *is_there = *is_there || exists(path);
        }
        Ok(())
    })?;
    Ok(files)
}

/// Whether a session was imported from files, and none of them is there. Of one whose rows are damaged that is not known.
fn has_lost_files(snapshot: &Snapshot, session: SessionKey) -> Result<bool> {
    let looked = snapshot.session(session).and_then(|record| match record {
        Some(record) if !record.sources.is_empty() => Ok(!has_file(snapshot, session, &record)?),
        _ => Ok(false),
    });
    match looked {
        Err(Error::Corrupted(_)) => Ok(false),
        looked => looked,
    }
}

/// Whether one of a session's files is there: a path that leads to another session by now is none of its.
fn has_file(snapshot: &Snapshot, session: SessionKey, record: &SessionRecord) -> Result<bool> {
    for path in &record.sources {
        let is_its_own = snapshot.source(path)?.is_some_and(|source| source.session == session);
        if is_its_own && exists(path) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether there is a file. One whose path cannot be made from its bytes, or that cannot be looked at, is assumed to exist.
pub(super) fn exists(path: &[u8]) -> bool {
    path_of_bytes(path).is_none_or(|path| match path.try_exists() {
        Ok(is_there) => is_there,
        Err(error) => error.kind() != ErrorKind::NotADirectory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::ImportOptions;

    #[test]
    #[cfg(unix)]
    fn a_file_that_cannot_be_looked_at_is_not_gone() {
        let folder = tempfile::tempdir().unwrap();
        let looped = folder.path().join("looped");
        std::os::unix::fs::symlink("looped", &looped).unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for (path, is_there) in [
            (looped, true),
            (file.join("below"), false),
            (file, true),
            (folder.path().join("none"), false),
        ] {
            assert_eq!(exists(path.as_os_str().as_encoded_bytes()), is_there, "{path:?}");
        }
    }

    fn session(id: usize) -> String {
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s{id}\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/w\"}}\n"
        )
    }

    #[test]
    fn many_sessions_are_looked_at_as_each_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = |id: usize| folder.path().join(format!("{id}.jsonl"));
        let store = Store::in_memory().unwrap();
        let count = MANY + 50;
        (0..count).for_each(|id| std::fs::write(file(id), session(id)).unwrap());
        store.import(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap();
        (0..count).step_by(3).for_each(|id| std::fs::remove_file(file(id)).unwrap());
        // A path comes to hold another session; a second file keeps one that lost its first.
        std::fs::write(file(1), session(count)).unwrap();
        std::fs::write(folder.path().join("copy.jsonl"), session(3)).unwrap();
        store.import(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap();

        let ids: Vec<String> =
            store.sessions().unwrap().iter().map(|facts| facts.id.to_string()).collect();
        assert_eq!(ids.len(), count + 1);
        let together = store.without_files(ids.iter().map(String::as_str)).unwrap();
        for id in &ids {
            let alone = !store.without_files([id.as_str()]).unwrap().is_empty();
            assert_eq!(together.contains(id), alone, "{id}");
        }
        assert!(together.contains("s0") && together.contains("s1") && !together.contains("s3"));
        assert_eq!(together.len(), count.div_ceil(3));
    }
}
