//! Finding the files of an import.

use std::fs::Metadata;
use std::io::Error;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Told of what cannot be looked at.
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

/// The files that the paths name, in order: a folder's by name, its own files and folders mixed. A link is
/// followed where it leads to a file; links to folders are not, since they may lead round in a circle, unless they are
/// named by the caller.
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
    // A list instead of recursion: a folder's depth is bad input like any other.
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                failed(&folder, &error);
                continue;
            }
        };
        let mut found: Vec<_> = entries.flatten().collect();
        found.sort_by_key(std::fs::DirEntry::file_name);
        let mut inner = Vec::new();
        for entry in found {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                inner.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl")
                && let Ok(metadata) = std::fs::metadata(&path)
                && metadata.is_file()
            {
                files.push(FoundFile::new(path, &metadata));
            }
        }
        folders.extend(inner.into_iter().rev());
    }
}
