//! Finding the files of an import.

use std::path::{Path, PathBuf};

use super::Outcome;
use super::report::{FileReport, ImportStatus};

/// The files that the paths name, each with its size, in order: a folder's by name, its own files and
/// folders mixed. What cannot be looked at is reported. A link is followed where it leads to a file; links
/// to folders are not, since they may lead round in a circle, unless they are named by the caller.
pub(super) fn find(paths: &[impl AsRef<Path>], outcome: &mut Outcome<'_>) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => walk(path, &mut files, outcome),
            Ok(metadata) => files.push((path.to_owned(), metadata.len())),
            Err(error) => outcome.add(&failed(path, &error)),
        }
    }
    files
}

fn walk(folder: &Path, files: &mut Vec<(PathBuf, u64)>, outcome: &mut Outcome<'_>) {
    // A list instead of recursion: a folder's depth is bad input like any other.
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                outcome.add(&failed(&folder, &error));
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
                files.push((path, metadata.len()));
            }
        }
        folders.extend(inner.into_iter().rev());
    }
}

fn failed(path: &Path, error: &std::io::Error) -> FileReport {
    FileReport::new(path.to_owned(), ImportStatus::Failed)
        .with_reason(format!("looking at it: {error}"))
}
