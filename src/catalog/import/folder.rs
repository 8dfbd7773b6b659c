//! Finding the files of an import.

use std::fs::Metadata;
use std::io::Error;
use std::path::{Path, PathBuf};

/// Told of what cannot be looked at.
type Failed<'f> = &'f mut dyn FnMut(&Path, &Error);

/// Takes a file.
type Take<'t> = &'t mut dyn FnMut(PathBuf, &Metadata);

/// The files that the paths name, each with its size, in the order of [`walk`].
pub(crate) fn find(paths: &[impl AsRef<Path>], failed: Failed<'_>) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    walk(paths, failed, &mut |path, metadata| files.push((path, metadata.len())));
    files
}

/// Hands out the files that the paths name, in order: a folder's by name, its own files and folders mixed. A link is
/// followed where it leads to a file; links to folders are not, since they may lead round in a circle, unless they are
/// named by the caller.
pub(crate) fn walk(paths: &[impl AsRef<Path>], failed: Failed<'_>, take: Take<'_>) {
    for path in paths {
        let path = path.as_ref();
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => walk_folder(path, failed, take),
            Ok(metadata) => take(path.to_owned(), &metadata),
            Err(error) => failed(path, &error),
        }
    }
}

fn walk_folder(folder: &Path, failed: Failed<'_>, take: Take<'_>) {
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
                take(path, &metadata);
            }
        }
        folders.extend(inner.into_iter().rev());
    }
}
