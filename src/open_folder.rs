//! A folder that is open, for what is in a folder that Leafline manages: a name is looked up in it and nowhere else, and no
//! link is followed, whatever others do to the folder meanwhile.
//!
//! The path by which a folder is opened itself is the user's, and links in it are followed.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use crate::lasting::make_folders;
use crate::private::open_to_user;
use crate::regular_file::check_regular;

#[cfg(unix)]
use self::by_descriptor as system;
#[cfg(not(unix))]
use self::by_path as system;

/// An open folder.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    folder: system::Folder,
    /// The path by which it was opened, for messages.
    path: PathBuf,
}

/// What a name stands for. A link is a link, whatever it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    pub(crate) modified: Option<SystemTime>,
    pub(crate) permissions: Permissions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

/// Why a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    /// A new file, to be read and written.
    Create,
}

impl OpenFolder {
    /// Opens a folder.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self { folder: system::open(path)?, path: path.to_owned() })
    }

    /// Opens a folder; `None` if there is none.
    pub(crate) fn open_if_there(path: &Path) -> Result<Option<Self>> {
        match Self::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Makes a folder that is not there, and those that it is in, and opens it.
    pub(crate) fn make(path: &Path) -> Result<Self> {
        make_folders(path)?;
        Self::open(path)
    }

    /// The path by which it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in it.
    pub(crate) fn inner(&self, name: &OsStr) -> Result<Self> {
        check_name(name)?;
        let folder = system::inner(&self.folder, name).map_err(|error| match self.look(name) {
            Ok(Some(Found { kind: Kind::Link, .. })) => is_link(),
            _ => error,
        })?;
        Ok(Self { folder, path: self.path.join(name) })
    }

    /// Makes a folder in it, unless it is there, and opens it.
    pub(crate) fn make_inner(&self, name: &OsStr) -> Result<Self> {
        check_name(name)?;
        match system::make_inner(&self.folder, name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => self.inner(name),
        }
    }

    /// What a name stands for; `None` if for nothing.
    pub(crate) fn look(&self, name: &OsStr) -> Result<Option<Found>> {
        check_name(name)?;
        match system::look(&self.folder, name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            looked => looked.map(Some),
        }
    }

    /// Opens a regular file to read it, without waiting.
    pub(crate) fn read(&self, name: &OsStr) -> Result<File> {
        self.open_regular(name, Access::Read)
    }

    /// Opens a regular file to write it, without waiting.
    pub(crate) fn write(&self, name: &OsStr) -> Result<File> {
        self.open_regular(name, Access::Write)
    }

    fn open_regular(&self, name: &OsStr, access: Access) -> Result<File> {
        // Opening a device may have an effect.
        match self.look(name)?.map(|found| found.kind) {
            None => return Err(ErrorKind::NotFound.into()),
            Some(Kind::Link) => return Err(is_link()),
            Some(Kind::Other) => {
                return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
            }
            Some(Kind::File | Kind::Folder) => {}
        }
        let file = system::open_file(&self.folder, name, access)?;
        check_regular(&file.metadata()?)?;
        Ok(file)
    }

    /// Makes a file that only its user can open; an error if the name is taken.
    pub(crate) fn create(&self, name: &OsStr) -> Result<File> {
        check_name(name)?;
        let file = system::open_file(&self.folder, name, Access::Create)?;
        open_to_user(&file)?;
        Ok(file)
    }

    /// Gives a file in it another name, in place of whatever file or link has it.
    pub(crate) fn rename(&self, old: &OsStr, new: &OsStr) -> Result<()> {
        check_name(old).and_then(|()| check_name(new))?;
        system::rename(&self.folder, old, new)
    }

    /// Gives a file in it a second name, which must be free.
    pub(crate) fn link(&self, file: &OsStr, name: &OsStr) -> Result<()> {
        check_name(file).and_then(|()| check_name(name))?;
        system::link(&self.folder, file, name)
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, name: &OsStr) -> Result<()> {
        check_name(name)?;
        system::remove(&self.folder, name)
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> Result<()> {
        check_name(name)?;
        system::remove_folder(&self.folder, name)
    }

    /// The names in it, in no order.
    pub(crate) fn names(&self) -> Result<Vec<OsString>> {
        system::names(&self.folder)
    }
}

/// The folders of a relative path, whose parts have `/` between them, and its last part.
pub(crate) fn parts(path: &str) -> (impl Iterator<Item = &OsStr>, &OsStr) {
    let (folders, name) = match path.rsplit_once('/') {
        Some((folders, name)) => (Some(folders), name),
        None => (None, path),
    };
    (folders.into_iter().flat_map(|folders| folders.split('/')).map(OsStr::new), OsStr::new(name))
}

/// Fails for what is not the name of something in a folder, such as a path that leads out of it.
fn check_name(name: &OsStr) -> Result<()> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == name => Ok(()),
        _ => Err(Error::new(ErrorKind::InvalidInput, "it is not the name of a file in a folder")),
    }
}

fn is_link() -> Error {
    Error::new(ErrorKind::InvalidInput, "it is a link, and none is followed there")
}

/// By the folder's descriptor.
#[cfg(unix)]
mod by_descriptor {
    use std::ffi::{OsStr, OsString};
    use std::fs::{File, Permissions};
    use std::io::Result;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};

    use super::{Access, Found, Kind};
    use crate::regular_file::WITHOUT_WAITING;

    pub(super) type Folder = OwnedFd;

    /// The right to look up names is enough where the system can open a folder with that alone.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    const READABLE: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    pub(super) fn open(path: &Path) -> Result<Folder> {
        Ok(rustix::fs::openat(CWD, path, FOLDER, Mode::empty())?)
    }

    pub(super) fn inner(folder: &Folder, name: &OsStr) -> Result<Folder> {
        Ok(rustix::fs::openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?)
    }

    pub(super) fn make_inner(folder: &Folder, name: &OsStr) -> Result<()> {
        rustix::fs::mkdirat(folder, name, Mode::RWXU)?;
        let made = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        // The umask may have taken some.
        if !Mode::from_raw_mode(made.st_mode).contains(Mode::RWXU) {
            rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::empty())?;
        }
        Ok(())
    }

    #[allow(clippy::useless_conversion, reason = "a mode's type differs from system to system")]
    pub(super) fn look(folder: &Folder, name: &OsStr) -> Result<Found> {
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        let permissions = Permissions::from_mode(stat.st_mode.into());
        Ok(Found { kind, bytes, modified: modified(&stat), permissions })
    }

    /// The time of modification, as [`std::fs::Metadata::modified`] has it.
    #[allow(clippy::useless_conversion, reason = "the fields' types differ from system to system")]
    fn modified(stat: &Stat) -> Option<SystemTime> {
        let nanoseconds = u32::try_from(stat.st_mtime_nsec).ok()?;
        let seconds = i64::try_from(stat.st_mtime).ok()?;
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let time = match seconds >= 0 {
            true => SystemTime::UNIX_EPOCH.checked_add(whole)?,
            false => SystemTime::UNIX_EPOCH.checked_sub(whole)?,
        };
        time.checked_add(Duration::from_nanos(nanoseconds.into()))
    }

    pub(super) fn open_file(folder: &Folder, name: &OsStr, access: Access) -> Result<File> {
        let flags = match access {
            Access::Read => OFlags::RDONLY | WITHOUT_WAITING,
            Access::Write => OFlags::WRONLY | WITHOUT_WAITING,
            Access::Create => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    pub(super) fn rename(folder: &Folder, old: &OsStr, new: &OsStr) -> Result<()> {
        Ok(rustix::fs::renameat(folder, old, folder, new)?)
    }

    pub(super) fn link(folder: &Folder, file: &OsStr, name: &OsStr) -> Result<()> {
        Ok(rustix::fs::linkat(folder, file, folder, name, AtFlags::empty())?)
    }

    pub(super) fn remove(folder: &Folder, name: &OsStr) -> Result<()> {
        Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
    }

    pub(super) fn remove_folder(folder: &Folder, name: &OsStr) -> Result<()> {
        Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
    }

    pub(super) fn names(folder: &Folder) -> Result<Vec<OsString>> {
        let readable = rustix::fs::openat(folder, ".", READABLE, Mode::empty())?;
        let mut names = Vec::new();
        for entry in Dir::new(readable)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }
}

/// By the folder's path, for systems that open no folders. A link that is put there at the wrong moment is followed; there
/// making one needs a right that users do not have.
#[cfg(any(not(unix), test))]
#[cfg_attr(unix, allow(dead_code, reason = "compiled for its tests"))]
mod by_path {
    use std::ffi::{OsStr, OsString};
    use std::fs::{File, OpenOptions};
    use std::io::{ErrorKind, Result};
    use std::path::{Path, PathBuf};

    use super::{Access, Found, Kind, is_link};
    use crate::private::new_file;

    pub(super) type Folder = PathBuf;

    pub(super) fn open(path: &Path) -> Result<Folder> {
        match std::fs::metadata(path)?.is_dir() {
            true => Ok(path.to_owned()),
            false => Err(ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn inner(folder: &Folder, name: &OsStr) -> Result<Folder> {
        match look(folder, name)?.kind {
            Kind::Folder => Ok(folder.join(name)),
            Kind::Link => Err(is_link()),
            Kind::File | Kind::Other => Err(ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn make_inner(folder: &Folder, name: &OsStr) -> Result<()> {
        std::fs::create_dir(folder.join(name))
    }

    pub(super) fn look(folder: &Folder, name: &OsStr) -> Result<Found> {
        let metadata = std::fs::symlink_metadata(folder.join(name))?;
        let kind = match metadata.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        let (bytes, modified) = (metadata.len(), metadata.modified().ok());
        Ok(Found { kind, bytes, modified, permissions: metadata.permissions() })
    }

    pub(super) fn open_file(folder: &Folder, name: &OsStr, access: Access) -> Result<File> {
        let path = folder.join(name);
        match access {
            Access::Read => File::open(path),
            Access::Write => OpenOptions::new().write(true).open(path),
            Access::Create => new_file().read(true).write(true).create_new(true).open(path),
        }
    }

    pub(super) fn rename(folder: &Folder, old: &OsStr, new: &OsStr) -> Result<()> {
        std::fs::rename(folder.join(old), folder.join(new))
    }

    pub(super) fn link(folder: &Folder, file: &OsStr, name: &OsStr) -> Result<()> {
        std::fs::hard_link(folder.join(file), folder.join(name))
    }

    pub(super) fn remove(folder: &Folder, name: &OsStr) -> Result<()> {
        std::fs::remove_file(folder.join(name))
    }

    pub(super) fn remove_folder(folder: &Folder, name: &OsStr) -> Result<()> {
        std::fs::remove_dir(folder.join(name))
    }

    pub(super) fn names(folder: &Folder) -> Result<Vec<OsString>> {
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn os(name: &str) -> &OsStr {
        OsStr::new(name)
    }

    /// A folder `inner` with a file, and beside it a folder `outside` with a file; links to both.
    fn scene() -> (tempfile::TempDir, OpenFolder) {
        let scene = tempfile::tempdir().unwrap();
        let at = |name: &str| scene.path().join(name);
        std::fs::create_dir(at("inner")).unwrap();
        std::fs::create_dir(at("outside")).unwrap();
        std::fs::write(at("inner/file"), "inside").unwrap();
        std::fs::write(at("outside/file"), "outside").unwrap();
        symlink("../outside/file", at("inner/link")).unwrap();
        symlink("../outside", at("inner/folder-link")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("inner/pipe")).status().unwrap();
        assert!(made.success());
        let folder = OpenFolder::open(&at("inner")).unwrap();
        (scene, folder)
    }

    #[test]
    fn nothing_is_followed_out_of_a_folder() {
        let (scene, folder) = scene();
        let mut text = String::new();
        folder.read(os("file")).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "inside");
        for other in
            ["link", "folder-link", "pipe", "none", "../outside/file", "..", ".", "", "a/b"]
        {
            assert!(folder.read(os(other)).is_err(), "{other}");
            assert!(folder.write(os(other)).is_err(), "{other}");
            assert!(folder.inner(os(other)).is_err(), "{other}");
        }
        for taken in ["file", "link", "folder-link", "pipe", "../outside/new"] {
            assert!(folder.create(os(taken)).is_err(), "{taken}");
        }
        for leads_out in ["file", "link", "folder-link", "pipe", ".."] {
            assert!(folder.make_inner(os(leads_out)).is_err(), "{leads_out}");
        }
        let said = folder.inner(os("folder-link")).unwrap_err().to_string();
        assert!(said.contains("it is a link"), "{said}");
        // A file takes the place of a link, not of what the link leads to.
        folder.create(os("new")).unwrap().write_all(b"new").unwrap();
        folder.rename(os("new"), os("link")).unwrap();
        assert_eq!(std::fs::read(scene.path().join("outside/file")).unwrap(), b"outside");
        assert_eq!(std::fs::read(scene.path().join("inner/link")).unwrap(), b"new");
        let mode = std::fs::metadata(scene.path().join("inner/link")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_folder_is_the_same_wherever_it_is() {
        let (scene, folder) = scene();
        let (inner, moved) = (scene.path().join("inner"), scene.path().join("moved"));
        std::fs::rename(&inner, &moved).unwrap();
        symlink("outside", &inner).unwrap();
        folder.create(os("new")).unwrap();
        folder.make_inner(os("made")).unwrap().create(os("deep")).unwrap();
        assert!(moved.join("new").exists() && moved.join("made/deep").exists());
        assert_eq!(std::fs::read_dir(scene.path().join("outside")).unwrap().count(), 1);
        folder.remove(os("new")).unwrap();
        folder.inner(os("made")).unwrap().remove(os("deep")).unwrap();
        folder.remove_folder(os("made")).unwrap();
        let mut names = folder.names().unwrap();
        names.sort();
        assert_eq!(names, ["file", "folder-link", "link", "pipe"]);
    }

    #[test]
    fn both_ways_find_the_same() {
        let (scene, folder) = scene();
        let path = scene.path().join("inner");
        let found: Vec<Kind> = ["file", "link", "folder-link", "pipe"]
            .map(|name| {
                let found = by_path::look(&path, os(name)).unwrap();
                assert_eq!(folder.look(os(name)).unwrap(), Some(found.clone()), "{name}");
                found.kind
            })
            .into();
        assert_eq!(found, [Kind::File, Kind::Link, Kind::Link, Kind::Other]);
        assert_eq!(folder.look(os("none")).unwrap(), None);
        assert!(by_path::inner(&path, os("folder-link")).is_err());
        by_path::open_file(&path, os("new"), Access::Create).unwrap();
        assert!(by_path::open_file(&path, os("link"), Access::Create).is_err());
    }
}
