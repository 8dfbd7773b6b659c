//! The value of the `files` table: a file of a session storage, which is a session or other bytes, or a file beside a session.

use bincode::{Decode, Encode};

use super::record::Record;
use super::session_key::SessionKey;
use super::snapshot::Snapshot;
use super::tables;
use crate::error::{Corruption, Result};

/// A file that a program sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct FileRecord {
    pub(crate) content: FileContent,
    /// When it was written last, in milliseconds since 1970: later with each commit that changes a file of a storage; the file's
    /// time of modification of one beside a session.
    pub(crate) written: i64,
}

/// What a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) enum FileContent {
    /// The lines of a session.
    Session(SessionKey),
    /// Bytes that are not a session: the number of their rows in `file_parts`, and how many they are.
    Bytes { number: u64, size: u64 },
}

impl Record for FileRecord {
    const TABLE: &'static str = "files";
}

/// Reads the value of a path.
pub(super) fn read(path: &[u8], value: &[u8]) -> Result<FileRecord> {
    FileRecord::from_bytes(value, || String::from_utf8_lossy(path).into_owned())
}

impl Snapshot {
    /// The file at a path.
    pub(crate) fn file(&self, path: &[u8]) -> Result<Option<FileRecord>> {
        let table = self.table(tables::FILES)?;
        let value = table.get(path)?;
        value.map(|value| read(path, value.value())).transpose()
    }

    /// The path of the file that a session is.
    pub(crate) fn file_of(&self, session: SessionKey) -> Result<Option<Vec<u8>>> {
        let table = self.table(tables::SESSION_FILES)?;
        Ok(table.get(session.raw())?.map(|path| path.value().to_vec()))
    }

    /// Passes on the paths from one on, of files and of sources, each in order and whatever it leads to. `take` says from
    /// which path on the next is asked for; `None` ends it.
    pub(crate) fn each_path_from(
        &self,
        from: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        for definition in [tables::FILES, tables::SOURCES] {
            let table = self.table(definition)?;
            let mut next = Some(from.to_vec());
            while let Some(from) = next.take() {
                if let Some(row) = table.range(from.as_slice()..)?.next() {
                    next = take(row?.0.value())?;
                }
            }
        }
        Ok(())
    }

    /// Whether there is any file.
    pub(crate) fn has_files(&self) -> Result<bool> {
        let table = self.table(tables::FILES)?;
        Ok(table.range::<&[u8]>(..)?.next().is_some())
    }

    /// Passes on the path of every file, and its record.
    pub(crate) fn each_file(
        &self,
        mut take: impl FnMut(&[u8], Result<FileRecord>) -> Result<()>,
    ) -> Result<()> {
        let table = self.table(tables::FILES)?;
        for row in table.iter()? {
            let (path, value) = row?;
            take(path.value(), read(path.value(), value.value()))?;
        }
        Ok(())
    }

    /// Passes on every session that is a file, and the file's path.
    pub(crate) fn each_session_file(&self, mut take: impl FnMut(SessionKey, &[u8])) -> Result<()> {
        let table = self.table(tables::SESSION_FILES)?;
        for row in table.iter()? {
            let (session, path) = row?;
            take(SessionKey::new(session.value()), path.value());
        }
        Ok(())
    }

    /// Passes on the number and the length of every part of a file of bytes.
    pub(crate) fn each_file_part(&self, mut take: impl FnMut(u64, u64)) -> Result<()> {
        let table = self.table(tables::FILE_PARTS)?;
        for row in table.iter()? {
            let (key, part) = row?;
            take(key.value().0, part.value().len() as u64);
        }
        Ok(())
    }

    /// The bytes of a file that is not a session, from `from` up to `to` or its end.
    pub(crate) fn file_bytes(
        &self,
        path: &[u8],
        (number, size): (u64, u64),
        (from, to): (u64, u64),
    ) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut at = 0;
        let to = to.min(size);
        for row in self.table(tables::FILE_PARTS)?.range((number, 0)..=(number, u32::MAX))? {
            if at >= to {
                break;
            }
            let (_, part) = row?;
            let part = part.value();
            let within = |place: u64| {
                usize::try_from(place.saturating_sub(at))
                    .map_or(part.len(), |at| at.min(part.len()))
            };
            bytes.extend_from_slice(part.get(within(from)..within(to)).unwrap_or_default());
            at += part.len() as u64;
        }
        if at < to {
            return Err(Corruption {
                table: "file_parts",
                place: String::from_utf8_lossy(path).into_owned(),
                problem: format!("there are {at} bytes of {size}"),
            }
            .into());
        }
        Ok(bytes)
    }
}
