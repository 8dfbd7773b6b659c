//! Files under temporary names, and the leftovers of killed processes.
//!
//! A file that must appear complete is made in its folder under a recognisable name. Its maker holds a lock on it,
//! which the system releases when the process ends, however it ends: so the next process that writes into the folder
//! recognises abandoned files, and removes them. Only its user can open such a file.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;

use tempfile::{NamedTempFile, PathPersistError, TempPath};
use uuid::Uuid;

use crate::in_place::{is_refused_for_mount, write_over};
use crate::open_folder::{Kind, OpenFolder};
use crate::private::open_to_user;
use crate::store::recorder;
use crate::store::whole_lock::{lock, try_lock};

/// What the name of each begins with. The dot and the missing `.jsonl` keep imports from taking it for a session.
const PREFIX: &str = ".leafline-tmp-";

/// The letters and digits after that.
const RANDOM: usize = 16;

/// Endings of companion files, which belong to the file without the ending: a database that locks itself, which on some
/// systems would conflict with our lock, and its journals.
const COMPANIONS: [&str; 3] = [DATABASE, ".db-journal", ".db.journal"];
const DATABASE: &str = ".db";

/// A file that is being made; it is deleted if it is dropped before it gets its name.
#[derive(Debug)]
pub(crate) struct Temporary {
    file: File,
    folder: Arc<OpenFolder>,
    /// Empty once it has its own.
    name: OsString,
}

impl Temporary {
    /// Makes an empty file in a folder.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self> {
        Self::inside(&Arc::new(OpenFolder::open(folder)?))
    }

    /// The same in an open folder.
    pub(crate) fn inside(folder: &Arc<OpenFolder>) -> Result<Self> {
        loop {
            let digits = Uuid::new_v4().simple().to_string();
            let name = OsString::from(format!("{PREFIX}{digits:.RANDOM$}"));
            let file = match folder.create(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            // On a system without locks, no process gets one, so none takes the file for abandoned.
            let _ = lock(&file);
            let temporary = Self { file, folder: Arc::clone(folder), name };
            // A process that removes leftovers may have removed it meanwhile.
            if folder.look(&temporary.name)?.is_some() {
                return Ok(temporary);
            }
        }
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// An empty file beside it for a database, which counts as in use as long as this one does. Drop it first.
    pub(crate) fn database(&self) -> Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(&self.name).suffix(DATABASE).rand_bytes(0);
        let made = builder.tempfile_in(self.folder.path())?;
        open_to_user(made.as_file())?;
        recorder::created(self.folder.path(), made.as_file());
        Ok(made)
    }

    /// Gives it its name in its folder, or its bytes to the file that has the name and keeps it.
    pub(crate) fn rename(mut self, name: &OsStr) -> Result<()> {
        match self.folder.rename(&self.name, name) {
            Err(error) if is_refused_for_mount(&error, &self.folder.path().join(name)) => {
                write_over(&self.folder.write(name)?, &self.file)
            }
            renamed => {
                renamed?;
                self.name.clear();
                Ok(())
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = self.folder.remove(&self.name);
        }
    }
}

/// Gives a file the name of another one, which may be open. `persist` cannot do that on Windows.
pub(crate) fn replace(made: TempPath, path: &Path) -> Result<()> {
    let made = made.keep().map_err(|error| error.error)?;
    std::fs::rename(&made, path).inspect_err(|_| drop(std::fs::remove_file(&made)))
}

/// Gives a file its name, unless something has it: `AlreadyExists`. `otherwise` does so where the file system has neither hard links
/// nor a rename that replaces nothing.
pub(crate) fn name_new(
    made: TempPath,
    path: &Path,
    otherwise: impl FnOnce(PathPersistError) -> Result<()>,
) -> Result<()> {
    match made.persist_noclobber(path) {
        Err(refused)
            if !matches!(refused.error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) =>
        {
            otherwise(refused)
        }
        named => named.map_err(|refused| refused.error),
    }
}

/// The same by a look before, for a file that no other process is expected to make meanwhile.
pub(crate) fn name_if_free(made: TempPath, path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => replace(made, path),
        Err(error) => Err(error),
    }
}

/// Removes what killed processes left in a folder. What cannot be examined or removed stays.
pub(crate) fn remove_left(folder: &Path) {
    if let Ok(folder) = OpenFolder::open(folder) {
        remove_left_inside(&folder);
    }
}

/// The same in an open folder.
pub(crate) fn remove_left_inside(folder: &OpenFolder) {
    for name in folder.names().into_iter().flatten() {
        match parse(&name) {
            Some((_, "")) => remove_dead(folder, &name),
            Some((owner, _)) if matches!(folder.look(OsStr::new(owner)), Ok(None)) => {
                remove(folder, &name);
            }
            _ => {}
        }
    }
}

/// Removes a file and its companions, unless its maker is alive, or may be.
fn remove_dead(folder: &OpenFolder, name: &OsStr) {
    // Skips links, and anything else that was not made here.
    let Ok(file) = folder.write(name) else { return };
    if !matches!(try_lock(&file), Ok(true)) {
        return;
    }
    for companion in COMPANIONS {
        let mut name = name.to_owned();
        name.push(companion);
        remove(folder, &name);
    }
    // Last, since its lock stands for the others.
    remove(folder, name);
}

fn remove(folder: &OpenFolder, name: &OsStr) {
    if matches!(folder.look(name), Ok(Some(found)) if found.kind == Kind::File) {
        let _ = folder.remove(name);
    }
}

/// Whether a name is one of those that files have until they are complete.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    parse(name).is_some()
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
        let mut database = temporary.name.clone();
        database.push(DATABASE);
        std::fs::write(folder.path().join(database), "").unwrap();
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
        Temporary::in_folder(folder.path()).unwrap().rename(OsStr::new("place")).unwrap();
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
                        temporary.rename(OsStr::new(&format!("{writer}-{number}"))).unwrap();
                    }
                });
            }
            scope.spawn(move || (0..200).for_each(|_| remove_left(path)));
        });
        assert_eq!(names(path), 600);
    }
}
