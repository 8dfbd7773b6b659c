//! Where a store has the file of a path.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use super::Found;
use crate::error::{Corruption, Result, StorageError};
use crate::store::file_record::{FileContent, FileRecord};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;
use crate::store::source_record::path_of_bytes;

/// The key of an absolute path in the tables.
pub(super) fn key_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

/// The path of a key.
pub(super) fn path_of(key: &[u8]) -> Result<PathBuf> {
    let lost = || Corruption {
        table: "files",
        place: String::from_utf8_lossy(key).into_owned(),
        problem: "no path of this system has these bytes".into(),
    };
    Ok(path_of_bytes(key).ok_or_else(lost)?)
}

/// The folder's key with a separator at its end, with which the keys of all files below it begin.
pub(super) fn inside(folder: &Path) -> Vec<u8> {
    inside_key(&key_of(folder))
}

fn inside_key(folder: &[u8]) -> Vec<u8> {
    let separator = MAIN_SEPARATOR as u8;
    let mut key = folder.to_vec();
    if key.last() != Some(&separator) {
        key.push(separator);
    }
    key
}

/// Where the first separator of a name is.
pub(super) fn separator_in(name: &[u8]) -> Option<usize> {
    name.iter().position(|&byte| byte == MAIN_SEPARATOR as u8)
}

/// The first key behind those of the files below a folder.
pub(super) fn behind_folder(folder: &[u8]) -> Vec<u8> {
    [folder, &[MAIN_SEPARATOR as u8 + 1]].concat()
}

/// The file at a path: one that was written here, or one that a session was imported from that has no other file.
pub(super) fn locate(snapshot: &Snapshot, key: &[u8]) -> Result<Option<Found>> {
    if let Some(record) = snapshot.file(key)? {
        return Ok(Some(Found { path: key.to_vec(), record, is_source: false }));
    }
    let Some(source) = snapshot.source(key)? else { return Ok(None) };
    let Some(record) = snapshot.session(source.session)? else { return Ok(None) };
    let is_its_own = record.sources.iter().any(|path| path == key);
    if !is_its_own || record.migrated || snapshot.file_of(source.session)?.is_some() {
        return Ok(None);
    }
    let of_file = source.modified.and_then(|time| i64::try_from(time / 1_000_000).ok());
    // What was appended here is later than the file.
    let written = of_file.max(record.modified).unwrap_or_default();
    let record = FileRecord { content: FileContent::Session(source.session), written };
    Ok(Some(Found { path: key.to_vec(), record, is_source: true }))
}

/// The error of a file that names a session which is not there.
pub(super) fn no_session(session: SessionKey) -> Corruption {
    Corruption {
        table: "files",
        place: format!("session key {session}"),
        problem: "a file is a session that is not there".into(),
    }
}

/// Fails if a new file cannot be at a path: there is a folder, or a file in the place of one above.
pub(super) fn refuse_in_the_way(snapshot: &Snapshot, key: &[u8]) -> Result<()> {
    if locate(snapshot, key)?.is_some() {
        return Ok(());
    }
    let path = path_of(key)?;
    for above in path.ancestors().skip(1) {
        if locate(snapshot, &key_of(above))?.is_some() {
            return Err(StorageError::NotAFolder { path: above.to_owned() }.into());
        }
    }
    let inside = inside_key(key);
    let mut is_folder = false;
    snapshot.each_path_from(&inside, |below| {
        if is_folder || !below.starts_with(&inside) {
            return Ok(None);
        }
        is_folder = locate(snapshot, below)?.is_some();
        Ok(Some([below, b"\0"].concat()))
    })?;
    if is_folder { Err(StorageError::IsFolder { path }.into()) } else { Ok(()) }
}
