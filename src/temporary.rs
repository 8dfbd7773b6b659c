//! Files under temporary names, and the leftovers of killed processes.
//!
//! A file that must appear complete is made in its folder under a recognisable name. Its maker holds a lock on it,
//! which the system releases when the process ends, however it ends: so the next process that writes into the folder
//! recognises abandoned files, and removes them. Only its user can open such a file.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::path::Path;

use tempfile::NamedTempFile;

/// What the name of each begins with. The dot and the missing `.jsonl` keep imports from taking it for a session.
const PREFIX: &str = ".leafline-tmp-";

/// The letters and digits after that.
const RANDOM: usize = 16;

/// Endings of companion files, which belong to the file without the ending: a database that locks itself, which on some
/// systems would conflict with our lock, and its journal.
const COMPANIONS: [&str; 2] = [DATABASE, ".db-journal"];
const DATABASE: &str = ".db";

/// A file that is being made; it is deleted if it is dropped before it gets its name.
#[derive(Debug)]
pub(crate) struct Temporary {
    file: NamedTempFile,
}

impl Temporary {
    /// Makes an empty file in a folder.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self> {
        loop {
            let file =
                tempfile::Builder::new().prefix(PREFIX).rand_bytes(RANDOM).tempfile_in(folder)?;
            // On a system without locks, no process gets one, so none takes the file for abandoned.
            let _ = file.as_file().lock();
            // A process that removes leftovers may have removed it meanwhile.
            if file.path().exists() {
                return Ok(Self { file });
            }
        }
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// An empty file beside it for a database, which counts as in use as long as this one does. Drop it first.
    pub(crate) fn database(&self) -> Result<NamedTempFile> {
        let name = self.file.path().file_name().expect("a temporary file has a name");
        let folder = self.file.path().parent().expect("a temporary file is in a folder");
        let mut builder = tempfile::Builder::new();
        builder.prefix(name).suffix(DATABASE).rand_bytes(0);
        builder.tempfile_in(folder)
    }

    /// Gives it its name.
    pub(crate) fn rename(self, path: &Path) -> Result<()> {
        self.file.persist(path).map(drop).map_err(|error| error.error)
    }
}

/// Removes what killed processes left in a folder. What cannot be examined or removed stays.
pub(crate) fn remove_left(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for name in entries.map(|entry| entry.file_name()) {
        match parse(&name) {
            Some((_, "")) => remove_dead(folder, &name),
            Some((owner, _)) if !is_there(&folder.join(owner)) => remove(&folder.join(&name)),
            _ => {}
        }
    }
}

/// Removes a file and its companions, unless its maker is alive, or may be.
fn remove_dead(folder: &Path, name: &OsStr) {
    let path = folder.join(name);
    // Skips links, and anything else that was not made here.
    if !std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
        return;
    }
    let Ok(file) = OpenOptions::new().write(true).open(&path) else { return };
    if file.try_lock().is_err() {
        return;
    }
    for companion in COMPANIONS {
        let mut name = name.to_owned();
        name.push(companion);
        remove(&folder.join(name));
    }
    // Last, since its lock stands for the others.
    remove(&path);
}

fn remove(path: &Path) {
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        let _ = std::fs::remove_file(path);
    }
}

/// Whether there may be such a file.
fn is_there(path: &Path) -> bool {
    let looked = std::fs::symlink_metadata(path);
    !looked.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// A temporary name: that of the file whose lock stands for it, and the rest.
fn parse(name: &OsStr) -> Option<(&str, &str)> {
    let name = name.to_str()?;
    let random = name.strip_prefix(PREFIX)?.get(..RANDOM)?;
    let (owner, rest) = name.split_at_checked(PREFIX.len() + RANDOM)?;
    let is_ours = random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_ours && (rest.is_empty() || COMPANIONS.contains(&rest))).then_some((owner, rest))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn only_names_of_ours_are_ours() {
        let owner = ".leafline-tmp-0123456789abCDEF";
        for rest in ["", ".db", ".db-journal"] {
            let name = OsString::from(format!("{owner}{rest}"));
            assert_eq!(parse(&name), Some((owner, rest)));
        }
        for other in [
            "",
            ".leafline-manifest",
            ".leafline-tmp-",
            ".leafline-tmp-0123456789abcde",
            ".leafline-tmp-0123456789abcdef0",
            ".leafline-tmp-0123456789abcde.",
            ".leafline-tmp-0123456789abcd\u{e9}",
            ".leafline-tmp-0123456789abcdef.txt",
            ".leafline-tmp-0123456789abcdef.db.db",
            "a.leafline-tmp-0123456789abcdef",
        ] {
            assert_eq!(parse(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_file_stays_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = Temporary::in_folder(folder.path()).unwrap();
        let database = temporary.file.path().with_extension("db");
        std::fs::write(database, "").unwrap();
        remove_left(folder.path());
        assert_eq!(names(folder.path()), 2);
        drop(temporary);
        remove_left(folder.path());
        assert_eq!(names(folder.path()), 0);
    }

    #[test]
    fn a_file_that_has_its_place_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        Temporary::in_folder(folder.path()).unwrap().rename(&place).unwrap();
        remove_left(folder.path());
        assert_eq!(names(folder.path()), 1);
        assert!(place.exists());
    }

    #[test]
    fn what_is_removed_while_others_write_is_never_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::thread::scope(|scope| {
            for writer in 0..3 {
                scope.spawn(move || {
                    for number in 0..200 {
                        let temporary = Temporary::in_folder(path).unwrap();
                        temporary.rename(&path.join(format!("{writer}-{number}"))).unwrap();
                    }
                });
            }
            scope.spawn(move || (0..200).for_each(|_| remove_left(path)));
        });
        assert_eq!(names(path), 600);
    }
}
