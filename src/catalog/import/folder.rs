//! Finding the files of an import.

use std::ffi::OsStr;
use std::fs::{DirEntry, Metadata};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leafline_import::Family;

/// Receives each file or folder that cannot be examined.
type Failed<'f> = &'f mut dyn FnMut(&Path, &Error);

/// A file that may be a session, as it was when it was found.
#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) modified: Option<SystemTime>,
}

impl FoundFile {
    fn new(path: PathBuf, metadata: &Metadata) -> Self {
        Self { path, bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// The files that the paths name, in order: the contents of a folder by name, files and folders mixed. A link to a file
/// is followed; links to folders are not, since they may form a circle, unless the caller names them.
pub(crate) fn find(paths: &[impl AsRef<Path>], failed: Failed<'_>) -> Vec<FoundFile> {
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => find_below(path, failed, &mut files),
            Ok(metadata) => files.push(FoundFile::new(path.to_owned(), &metadata)),
            Err(error) => failed(path, &error),
        }
    }
    files
}

fn find_below(folder: &Path, failed: Failed<'_>, files: &mut Vec<FoundFile>) {
    // A list instead of recursion: a deep folder is bad input like any other.
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                failed(&folder, &error);
                continue;
            }
        };
        let mut found = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => found.push(entry),
                // The system does not say which of its files the error is about.
                Err(error) => failed(&folder, &error),
            }
        }
        found.sort_by_key(DirEntry::file_name);
        let mut inner = Vec::new();
        for entry in found {
            match find_at(&entry) {
                Ok(Found::Folder) => inner.push(entry.path()),
                Ok(Found::File(file)) => files.push(file),
                Ok(Found::Nothing) => {}
                Err(error) => failed(&entry.path(), &error),
            }
        }
        folders.extend(inner.into_iter().rev());
    }
}

/// What a name in a folder stands for.
enum Found {
    Folder,
    File(FoundFile),
    /// Nothing for an import, or no longer there.
    Nothing,
}

fn find_at(entry: &DirEntry) -> Result<Found, Error> {
    let path = entry.path();
    let is_session = path.extension().is_some_and(|extension| extension == "jsonl")
        && !is_other_file(&entry.file_name());
    let found = entry.file_type().and_then(|kind| {
        if kind.is_dir() {
            return Ok(Found::Folder);
        }
        if !is_session {
            return Ok(Found::Nothing);
        }
        let metadata = std::fs::metadata(&path)?;
        Ok(match metadata.is_file() {
            true => Found::File(FoundFile::new(path.clone(), &metadata)),
            false => Found::Nothing,
        })
    });
    match found {
        // Deleted since the folder was listed; a link that leads nowhere still exists.
        Err(error) if error.kind() == ErrorKind::NotFound && is_gone(&path) => Ok(Found::Nothing),
        found => found,
    }
}

/// Whether a program keeps something else than a session in files of this name.
fn is_other_file(name: &OsStr) -> bool {
    Family::ALL.iter().flat_map(|family| family.other_files()).any(|other| name == *other)
}

fn is_gone(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
