//! Sessions whose working directory has moved.

use super::folder::{self, Folder, named_directory};
use crate::error::{Error, Result, SessionError};
use crate::session::find;
use crate::store::Store;
use crate::store::commit::{Batch, Edit};
use crate::store::session_key::SessionKey;
use crate::store::session_record::{Moved, SessionRecord};

impl Store {
    /// Records that a session belongs to another working directory, because its project was moved. Lists, filters and
    /// [`Self::continue_recent`] use it, and so does the path that an export of all sessions gives it. The session's
    /// bytes stay, including its header, so that its file is still recognised.
    ///
    /// The move applies as long as the header names the same directory as now. Moving the session to that directory
    /// undoes it.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`] and the like; [`SessionError::EmptyDirectory`]; those of the store.
    pub fn move_session(&self, session: &str, cwd: &str) -> Result<()> {
        let cwd = &*named_directory(cwd)?;
        self.write(|snapshot| {
            // Looked up inside the write transaction, where it can no longer be replaced.
            let key = find(&snapshot, session)?;
            let record = snapshot.session(key)?;
            let record = record
                .ok_or_else(|| Error::Session(SessionError::NotFound { id: session.to_owned() }))?;
            let mut batch = Batch::default();
            move_record(&mut batch, key, record, cwd);
            Ok((batch, ()))
        })
    }

    /// Records that a directory was moved, for all sessions in it and below it, as [`Self::move_session`] does for one,
    /// in one transaction. Returns the number of sessions.
    ///
    /// # Errors
    ///
    /// [`SessionError::EmptyDirectory`]; those of the store.
    pub fn relocate(&self, old: &str, new: &str) -> Result<u64> {
        let (old, new) = (Folder::new(&named_directory(old)?), &*named_directory(new)?);
        self.write(|snapshot| {
            let mut batch = Batch::default();
            let mut count = 0;
            for row in snapshot.sessions()?.iter()? {
                let row = row?;
                let (key, record) = (row.key(), row.record()?);
                if let Some(rest) = record.directory().and_then(|directory| old.rest(directory)) {
                    move_record(&mut batch, key, record, &folder::join(new, &rest));
                    count += 1;
                }
            }
            Ok((batch, count))
        })
    }
}

fn move_record(batch: &mut Batch, session: SessionKey, mut record: SessionRecord, cwd: &str) {
    let edit = Edit::new(batch, session, &record);
    record.moved = Some(Moved { from: record.cwd.clone(), to: cwd.to_owned() })
        .filter(|moved| moved.from.as_deref() != Some(cwd));
    edit.note_facts(batch, record);
}
