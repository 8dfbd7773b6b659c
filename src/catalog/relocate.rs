//! Sessions whose working directory has moved.

use redb::ReadableTable;

use crate::error::{Error, Result};
use crate::session::find;
use crate::store::Store;
use crate::store::record::Record;
use crate::store::session_record::{Moved, SessionRecord};
use crate::store::slice::Slice;
use crate::store::tables::NO_LEAF;

impl Store {
    /// Notes that a session belongs to another working directory: its project was moved. Lists, filters and
    /// [`Self::continue_recent`] go by it, and so does the folder that an export of all sessions puts it in. The session's
    /// bytes stay, what its header says too, so that its file is still known as it is.
    ///
    /// It holds for as long as the header names the directory that it names now. The directory that the header names takes
    /// the note back.
    ///
    /// # Errors
    ///
    /// [`Error::SessionNotFound`] and the like; those of the store.
    pub fn move_session(&self, session: &str, cwd: &str) -> Result<()> {
        self.write(|snapshot| {
            // Looked up where nobody can replace it any more.
            let key = find(&snapshot, session)?;
            let record = snapshot.session(key)?;
            let mut record =
                record.ok_or_else(|| Error::SessionNotFound { id: session.to_owned() })?;
            move_record(&mut record, cwd);
            let leaf = snapshot.leaf(key)?.unwrap_or(NO_LEAF);
            let slice = Slice {
                sessions: vec![(key, record)],
                leaves: vec![(key, leaf)],
                ..Slice::default()
            };
            Ok((slice, ()))
        })
    }

    /// Notes that a directory was moved, for all sessions of it and of those below it, as [`Self::move_session`] does for
    /// one, in one transaction. Answers how many there are.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn relocate(&self, old: &str, new: &str) -> Result<u64> {
        self.write(|snapshot| {
            let mut slice = Slice::default();
            for row in snapshot.sessions()?.iter()? {
                let (key, value) = row?;
                let key = key.value();
                let mut record = SessionRecord::from_bytes(value.value(), || key.to_string())?;
                let moved = record
                    .directory()
                    .and_then(|directory| rest(directory, old))
                    .map(|rest| format!("{}{rest}", trim_end(new)));
                if let Some(moved) = moved {
                    move_record(&mut record, if moved.is_empty() { new } else { &moved });
                    slice.leaves.push((key, snapshot.leaf(key)?.unwrap_or(NO_LEAF)));
                    slice.sessions.push((key, record));
                }
            }
            let count = slice.sessions.len() as u64;
            Ok((slice, count))
        })
    }
}

fn move_record(record: &mut SessionRecord, cwd: &str) {
    record.moved = Some(Moved { from: record.cwd.clone(), to: cwd.to_owned() })
        .filter(|moved| moved.from.as_deref() != Some(cwd));
    record.revision += 1;
}

/// What is behind a directory in the path of it, or of one below it: nothing, or a separator and a name.
pub(super) fn rest<'d>(directory: &'d str, above: &str) -> Option<&'d str> {
    let rest = directory.strip_prefix(trim_end(above))?;
    (rest.is_empty() || rest.starts_with(['/', '\\'])).then_some(rest)
}

/// A path without separators at its end.
fn trim_end(path: &str) -> &str {
    path.trim_end_matches(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_below_others() {
        assert_eq!(rest("/work/app", "/work/app"), Some(""));
        assert_eq!(rest("/work/app/src", "/work/app/"), Some("/src"));
        assert_eq!(rest("/work/apple", "/work/app"), None);
        assert_eq!(rest("/work", "/"), Some("/work"));
        assert_eq!(rest(r"C:\work\app", r"C:\work"), Some(r"\app"));
    }
}
