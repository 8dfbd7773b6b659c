//! The names of an open file: how many it has, and whether it has one.

use std::fs::File;
use std::io;
use std::path::Path;

/// How many names a file has: none once it was deleted or replaced.
///
/// Only that is asked of Linux. Who asks when a file was changed, too, makes the next change note its exact time, which
/// costs the next sync a second write.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn names_of(file: &File) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{AtFlags, StatxFlags, statx};
    use rustix::io::Errno;

    match statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::NLINK) {
        Ok(facts) if facts.stx_mask & StatxFlags::NLINK.bits() != 0 => Ok(facts.stx_nlink.into()),
        // The file system, the system or a sandbox does not know the question.
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => Ok(file.metadata()?.nlink()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) fn names_of(file: &File) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink())
}

/// On other systems an open file keeps its name.
#[cfg(not(unix))]
pub(super) fn names_of(_: &File) -> io::Result<u64> {
    Ok(1)
}

/// Whether the path still names the open file.
#[cfg(unix)]
pub(super) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match std::fs::metadata(path) {
        Ok(named) => Ok(identity(named) == identity(file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// On other systems an open file keeps its name.
#[cfg(not(unix))]
pub(super) fn is_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_an_open_file_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        let file = File::create(&first).unwrap();
        assert_eq!(names_of(&file).unwrap(), 1);
        std::fs::hard_link(&first, &second).unwrap();
        assert_eq!(names_of(&file).unwrap(), 2);
        std::fs::remove_file(&first).unwrap();
        std::fs::rename(&second, &first).unwrap();
        assert_eq!(names_of(&file).unwrap(), 1);
        std::fs::remove_file(&first).unwrap();
        assert_eq!(names_of(&file).unwrap(), 0);
    }
}
