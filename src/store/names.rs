//! The names of an open file: how many it has, and whether it has one; and its length, which is asked for with them.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(windows)]
use winapi_util::{Handle, file::information};

/// How many names a file has, and how many bytes.
///
/// Only these are asked of Linux. Who asks when a file was changed, too, makes the next change note its exact time, which
/// costs the next sync a second write.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn names_and_length(file: &File) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{AtFlags, StatxFlags, statx};
    use rustix::io::Errno;

    let wanted = StatxFlags::NLINK | StatxFlags::SIZE;
    match statx(file, "", AtFlags::EMPTY_PATH, wanted) {
        Ok(facts) if facts.stx_mask & wanted.bits() == wanted.bits() => {
            Ok((facts.stx_nlink.into(), facts.stx_size))
        }
        // The file system, the system or a sandbox does not know the question.
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => {
            file.metadata().map(|facts| (facts.nlink(), facts.len()))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) fn names_and_length(file: &File) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map(|facts| (facts.nlink(), facts.len()))
}

#[cfg(windows)]
pub(super) fn names_and_length(file: &File) -> io::Result<(u64, u64)> {
    information(file).map(|facts| (facts.number_of_links(), facts.file_size()))
}

/// How many names a file has: none once it was deleted or replaced.
pub(super) fn names_of(file: &File) -> io::Result<u64> {
    names_and_length(file).map(|(names, _)| names)
}

/// Whether the path still names the open file.
pub(super) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    match identity_and_length(path) {
        Ok((named, _)) => Ok(named == identity(file)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The same, except where the file system gives a file another number at each look: then any file at the path may be it.
pub(super) fn may_be_named(file: &File, path: &Path) -> io::Result<bool> {
    Ok(is_named(file, path)? || path.exists() && identity(file)? != identity(file)?)
}

/// The device of a file, and its number there.
pub(super) type Identity = (u64, u64);

/// The identity of an open file.
#[cfg(unix)]
pub(super) fn identity(file: &File) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map(|facts| (facts.dev(), facts.ino()))
}

#[cfg(windows)]
pub(super) fn identity(file: &File) -> io::Result<Identity> {
    information(file).map(|facts| (facts.volume_serial_number(), facts.file_index()))
}

/// The identity of the file that a path names, and how many bytes it has. Times are not asked for, as in [`names_and_length`].
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn identity_and_length(path: &Path) -> io::Result<(Identity, u64)> {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
    use rustix::io::Errno;

    let wanted = StatxFlags::INO | StatxFlags::SIZE;
    match statx(CWD, path, AtFlags::empty(), wanted) {
        Ok(facts) if facts.stx_mask & wanted.bits() == wanted.bits() => {
            let device = makedev(facts.stx_dev_major, facts.stx_dev_minor);
            Ok(((device, facts.stx_ino), facts.stx_size))
        }
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => {
            std::fs::metadata(path).map(|facts| ((facts.dev(), facts.ino()), facts.len()))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) fn identity_and_length(path: &Path) -> io::Result<(Identity, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).map(|facts| ((facts.dev(), facts.ino()), facts.len()))
}

#[cfg(windows)]
pub(super) fn identity_and_length(path: &Path) -> io::Result<(Identity, u64)> {
    let facts = information(Handle::from_path_any(path)?)?;
    Ok(((facts.volume_serial_number(), facts.file_index()), facts.file_size()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_an_open_file_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        let file = File::create(&first).unwrap();
        assert_eq!(names_of(&file).unwrap(), 1);
        file.set_len(5).unwrap();
        assert_eq!(names_and_length(&file).unwrap(), (1, 5));
        std::fs::hard_link(&first, &second).unwrap();
        assert_eq!(names_of(&file).unwrap(), 2);
        assert!(is_named(&file, &second).unwrap());
        std::fs::remove_file(&first).unwrap();
        assert!(!is_named(&file, &first).unwrap());
        std::fs::rename(&second, &first).unwrap();
        assert_eq!(names_of(&file).unwrap(), 1);
        File::create(&second).unwrap();
        assert!(is_named(&file, &first).unwrap() && !is_named(&file, &second).unwrap());
        std::fs::remove_file(&first).unwrap();
        assert_eq!(names_of(&file).unwrap(), 0);
    }
}
