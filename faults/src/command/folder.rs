//! Folders that are kept, put in place again, and compared by their names.

use std::collections::BTreeSet;
use std::fs::{File, FileTimes};
use std::io;
use std::path::Path;

/// Copies a folder, with rights, and the times of files: by them a sync knows what has changed.
///
/// # Errors
///
/// Those of the system.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    std::fs::set_permissions(to, std::fs::metadata(from)?.permissions())?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &target)?;
        } else {
            std::fs::copy(&source, &target)?;
            let times = FileTimes::new().set_modified(entry.metadata()?.modified()?);
            File::options().write(true).open(&target)?.set_times(times)?;
        }
    }
    Ok(())
}

/// Puts a copy of a folder in the place of another.
///
/// # Errors
///
/// Those of the system.
pub fn reset(place: &Path, from: &Path) -> io::Result<()> {
    if place.exists() {
        std::fs::remove_dir_all(place)?;
    }
    copy(from, place)
}

/// The names of all files below a folder.
///
/// Of a search index only the folder counts, since its files have names by chance; the time in the name of a store that was
/// repaired is left out. So is the store's journal: it may stay for the next one who appends.
///
/// # Errors
///
/// Those of the system.
pub fn names(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner)? {
            let path = entry?.path();
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            if path.is_dir() && !name.ends_with(".search") {
                folders.push(path);
            } else if let Some((store, kept)) = name.split_once(".damaged-") {
                let rest = kept.split_once('Z').map_or("", |(_, rest)| rest);
                names.insert(format!("{store}.damaged-*{rest}"));
            } else if name != "store.leafline.journal" {
                names.insert(name);
            }
        }
    }
    Ok(names)
}
