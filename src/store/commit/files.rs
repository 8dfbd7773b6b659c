//! Files of a session storage, and those beside sessions: what a commit changes in them.

use std::collections::HashMap;

use redb::{Table, WriteTransaction};

use super::Batch;
use super::guard::Guard;
use super::slice::{BlobGain, Row};
use crate::error::{Corruption, Result};
use crate::store::blobs::Hash;
use crate::store::clock::now;
use crate::store::file_record::{FileContent, FileRecord, read};
use crate::store::pages::ReadableTable;
use crate::store::record::Record;
use crate::store::session_key::SessionKey;
use crate::store::{parts, tables};

/// A change of the file at a path.
#[derive(Debug)]
pub(super) struct FileRow {
    /// The session that the file becomes; [`NO_SESSION`] for any other change.
    pub(super) session: SessionKey,
    path: Vec<u8>,
    change: FileChange,
}

/// The key that no session has, for rows of none.
const NO_SESSION: SessionKey = SessionKey::new(0);

/// What becomes of a file.
#[derive(Debug)]
pub(crate) enum FileChange {
    /// It is this session. The session that it was, if it was another, is retired by the same commit.
    Session(SessionKey),
    /// It has these bytes, which are not a session.
    Bytes(Vec<u8>),
    /// It has these bytes, and was written at this time, as the file system says: a file beside a session.
    Taken { bytes: Vec<u8>, written: i64 },
    /// It has the bytes that it had, and was written at this time.
    Seen { written: i64 },
    /// These follow the bytes that it has.
    Longer(Vec<u8>),
    /// It is at another path. What was there is replaced.
    Renamed(Vec<u8>),
    /// It is gone. A session that it was is removed by the same commit.
    Removed,
}

impl Batch {
    /// Changes the file at a path.
    pub(crate) fn change_file(&mut self, path: &[u8], change: FileChange) {
        let session = match change {
            FileChange::Session(session) => session,
            _ => NO_SESSION,
        };
        self.slice.files.push(FileRow { session, path: path.to_vec(), change });
    }

    /// Lets a session that is made be committed only if the path still has this file.
    pub(crate) fn hold_file(
        &mut self,
        session: SessionKey,
        path: &[u8],
        record: Option<FileRecord>,
    ) {
        let guard = Guard::File { path: path.to_vec(), record };
        self.slice.guards.push(Row { session, key: (), value: guard });
    }

    /// Notes when a session was written, where that was before this commit.
    pub(crate) fn note_written(&mut self, session: SessionKey, at: i64) {
        self.slice.written.push(Row { session, key: (), value: at });
    }

    /// Adds the bytes of a blob that no line has to refer to yet.
    pub(crate) fn put_blob(&mut self, hash: Hash, bytes: Vec<u8>) {
        let gain = BlobGain { bytes: Some(bytes), was_cut: false, is_reference: false };
        self.slice.blobs.push(Row { session: NO_SESSION, key: hash, value: gain });
    }
}

pub(super) type Paths<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// The file at a path.
pub(super) fn at(files: &Paths<'_>, path: &[u8]) -> Result<Option<FileRecord>> {
    files.get(path)?.map(|value| read(path, value.value())).transpose()
}

fn put(files: &mut Paths<'_>, path: &[u8], record: FileRecord) -> Result<()> {
    files.insert(path, record.to_bytes().as_slice())?;
    Ok(())
}

/// The time of a write: later than that of the one before.
fn later(at: i64, before: Option<FileRecord>) -> i64 {
    before.map_or(at, |before| at.max(before.written.saturating_add(1)))
}

/// Notes that sessions have changed in the files that they are.
pub(super) fn note_written(
    transaction: &WriteTransaction,
    sessions: impl Iterator<Item = SessionKey>,
    written: &[Row<(), i64>],
) -> Result<()> {
    let paths = transaction.open_table(tables::SESSION_FILES)?;
    if paths.first()?.is_none() {
        return Ok(());
    }
    let times = written.iter().map(|row| (row.session, row.value));
    let times: HashMap<SessionKey, i64> = times.collect();
    let mut files = transaction.open_table(tables::FILES)?;
    for session in sessions {
        let Some(path) = paths.get(session.raw())? else { continue };
        let record = existing(&files, path.value())?;
        let time = times.get(&session).copied().unwrap_or_else(now);
        let record = FileRecord { written: later(time, Some(record)), ..record };
        put(&mut files, path.value(), record)?;
    }
    Ok(())
}

/// The file that a session's row names.
fn existing(files: &Paths<'_>, path: &[u8]) -> Result<FileRecord> {
    let lacks = || Corruption {
        table: "session_files",
        place: String::from_utf8_lossy(path).into_owned(),
        problem: "a session names a file that is not there".into(),
    };
    Ok(at(files, path)?.ok_or_else(lacks)?)
}

/// Makes the file of a session that of another, which takes its place.
pub(super) fn hand_over(
    transaction: &WriteTransaction,
    from: SessionKey,
    to: SessionKey,
) -> Result<()> {
    let mut paths = transaction.open_table(tables::SESSION_FILES)?;
    let path = paths.remove(from.raw())?.map(|path| path.value().to_vec());
    let Some(path) = path else { return Ok(()) };
    let mut files = transaction.open_table(tables::FILES)?;
    let record = existing(&files, &path)?;
    put(&mut files, &path, FileRecord { content: FileContent::Session(to), ..record })?;
    paths.insert(to.raw(), path.as_slice())?;
    Ok(())
}

/// Removes the file of a session that is removed.
pub(super) fn forget(transaction: &WriteTransaction, session: SessionKey) -> Result<()> {
    let mut paths = transaction.open_table(tables::SESSION_FILES)?;
    if let Some(path) = paths.remove(session.raw())? {
        transaction.open_table(tables::FILES)?.remove(path.value())?;
    }
    Ok(())
}

/// Makes the changes, in their order.
pub(super) fn write(transaction: &WriteTransaction, rows: Vec<FileRow>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut tables = Tables::open(transaction)?;
    for FileRow { path, change, .. } in rows {
        match change {
            FileChange::Session(session) => tables.put_session(&path, session)?,
            FileChange::Bytes(bytes) => tables.put_bytes(&path, &bytes, None)?,
            FileChange::Taken { bytes, written } => {
                tables.put_bytes(&path, &bytes, Some(written))?;
            }
            FileChange::Seen { written } => tables.note_time(&path, written)?,
            FileChange::Longer(bytes) => tables.extend(&path, &bytes)?,
            FileChange::Renamed(to) => tables.rename(&path, &to)?,
            FileChange::Removed => drop(tables.take(&path)?),
        }
    }
    Ok(())
}

/// The tables of files.
pub(super) struct Tables<'t> {
    pub(super) files: Paths<'t>,
    pub(super) parts: Table<'t, (u64, u32), &'static [u8]>,
    pub(super) sessions: Table<'t, u64, &'static [u8]>,
}

impl<'t> Tables<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self> {
        Ok(Self {
            files: transaction.open_table(tables::FILES)?,
            parts: transaction.open_table(tables::FILE_PARTS)?,
            sessions: transaction.open_table(tables::SESSION_FILES)?,
        })
    }
}

impl Tables<'_> {
    /// Takes a file away, with all that the tables have of it.
    pub(super) fn take(&mut self, path: &[u8]) -> Result<Option<FileRecord>> {
        let found = at(&self.files, path)?;
        match found.map(|found| found.content) {
            Some(FileContent::Session(session)) => {
                let own = self.sessions.get(session.raw())?.map(|own| own.value() == path);
                if own == Some(true) {
                    self.sessions.remove(session.raw())?;
                }
            }
            Some(FileContent::Bytes { number, .. }) => self.remove_parts(number)?,
            None => return Ok(None),
        }
        self.files.remove(path)?;
        Ok(found)
    }

    fn remove_parts(&mut self, number: u64) -> Result<()> {
        let mut part = 0;
        while self.parts.remove((number, part))?.is_some() {
            part += 1;
        }
        Ok(())
    }

    fn put_session(&mut self, path: &[u8], session: SessionKey) -> Result<()> {
        let before = self.take(path)?;
        let content = FileContent::Session(session);
        let elsewhere = self.sessions.insert(session.raw(), path)?.map(|old| old.value().to_vec());
        if let Some(old) = elsewhere {
            self.files.remove(old.as_slice())?;
        }
        put(&mut self.files, path, FileRecord { content, written: later(now(), before) })
    }

    /// Gives a file these bytes. Without a time it was written now.
    fn put_bytes(&mut self, path: &[u8], bytes: &[u8], written: Option<i64>) -> Result<()> {
        let before = self.take(path)?;
        let number = self.parts.last()?.map_or(1, |(key, _)| key.value().0 + 1);
        for (part, row) in parts::cut(bytes) {
            self.parts.insert((number, part), row)?;
        }
        let content = FileContent::Bytes { number, size: bytes.len() as u64 };
        let written = written.unwrap_or_else(|| later(now(), before));
        put(&mut self.files, path, FileRecord { content, written })
    }

    fn note_time(&mut self, path: &[u8], written: i64) -> Result<()> {
        match at(&self.files, path)? {
            Some(record) => put(&mut self.files, path, FileRecord { written, ..record }),
            None => Ok(()),
        }
    }

    fn extend(&mut self, path: &[u8], bytes: &[u8]) -> Result<()> {
        let before = at(&self.files, path)?;
        let (number, size) = match before.map(|before| before.content) {
            None => return self.put_bytes(path, bytes, None),
            Some(FileContent::Bytes { number, size }) => (number, size),
            Some(FileContent::Session(_)) => {
                return Err(Corruption {
                    table: "files",
                    place: format!("{}, before it is written", String::from_utf8_lossy(path)),
                    problem: "bytes that are not lines of a session would follow one".into(),
                }
                .into());
            }
        };
        // The last row is filled, and others follow.
        let last = self.parts.range((number, 0)..=(number, u32::MAX))?.next_back().transpose()?;
        let last = last.map(|(key, row)| (key.value().1, row.value().to_vec()));
        let (first, mut value) = last.ok_or_else(|| Corruption {
            table: "file_parts",
            place: String::from_utf8_lossy(path).into_owned(),
            problem: format!("there are no rows of {size} bytes"),
        })?;
        value.extend_from_slice(bytes);
        for (part, row) in parts::cut(&value) {
            self.parts.insert((number, first + part), row)?;
        }
        let content = FileContent::Bytes { number, size: size + bytes.len() as u64 };
        put(&mut self.files, path, FileRecord { content, written: later(now(), before) })
    }

    /// Gives a file another path; what was there is replaced.
    pub(super) fn rename(&mut self, path: &[u8], to: &[u8]) -> Result<()> {
        if path == to {
            return Ok(());
        }
        let Some(record) = at(&self.files, path)? else { return Ok(()) };
        self.take(to)?;
        self.files.remove(path)?;
        if let FileContent::Session(session) = record.content {
            self.sessions.insert(session.raw(), to)?;
        }
        put(&mut self.files, to, record)
    }
}
