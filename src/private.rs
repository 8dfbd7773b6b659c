//! New files and folders: only the user can open them, from the moment that they exist. Sessions hold secrets.
//!
//! On Unix files are made with mode 0600 and folders with 0700, whatever the process's umask. Elsewhere the system's
//! rules for new files hold.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// The bits of a mode that belong to others than the user.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// The modes of what is made.
#[cfg(unix)]
const MODE_OF_FILE: u32 = 0o600;
#[cfg(unix)]
const MODE_OF_FOLDER: u32 = 0o700;

/// Options that make a file only its user can open. A link is not followed.
pub(crate) fn new_file() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "other systems have no modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(MODE_OF_FILE).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options
}

/// Makes a folder that only its user can open.
#[cfg(unix)]
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    std::fs::DirBuilder::new().mode(MODE_OF_FOLDER).create(folder)?;
    if std::fs::symlink_metadata(folder)?.mode() & MODE_OF_FOLDER != MODE_OF_FOLDER {
        std::fs::set_permissions(folder, Permissions::from_mode(MODE_OF_FOLDER))?;
    }
    Ok(())
}

/// Makes a folder.
#[cfg(not(unix))]
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir(folder)
}

/// Gives its user the rights to a new file that the umask has taken.
pub(crate) fn open_to_user(file: &File) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        if file.metadata()?.mode() & MODE_OF_FILE != MODE_OF_FILE {
            return file.set_permissions(Permissions::from_mode(MODE_OF_FILE));
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Gives a [new file](new_file) the rights that its user has to the file that it replaces. Other users have none.
///
/// Where the system refuses, the file stays as it was made: only its user can open it, or the file system has the same rights for
/// all files.
pub(crate) fn keep_rights(file: &File, old: Permissions) -> Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "other systems have no modes"))]
    let (mut now, mut kept) = (file.metadata()?.permissions(), old);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        now.set_mode(now.mode() & 0o777);
        kept.set_mode(kept.mode() & 0o777 & !OTHERS);
    }
    match now == kept {
        true => Ok(()),
        false => file
            .set_permissions(kept)
            .or_else(|error| if is_refusal(&error) { Ok(()) } else { Err(error) }),
    }
}

/// Returns true if the system does not let this user change rights, or the file system or a container without root has no such
/// rights or owners.
pub(crate) fn is_refusal(error: &Error) -> bool {
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), PermissionDenied | InvalidInput | Unsupported)
}

/// Whether users other than its own have any right to a file or a folder. A path that leads nowhere is open to nobody.
#[cfg(unix)]
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.mode() & OTHERS != 0)
}

/// On other systems the rights of a file are not read.
#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &Path) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        make_folder(&folder.path().join("a")).unwrap();
        make_folder(&inner).unwrap();
        assert_eq!((mode(&inner), mode(&folder.path().join("a"))), (0o700, 0o700));
        let path = inner.join("file");
        new_file().write(true).create_new(true).open(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
        assert!(!is_open_to_others(&path) && !is_open_to_others(&inner.join("none")));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o604)).unwrap();
        assert!(is_open_to_others(&path));
        symlink(&path, inner.join("link")).unwrap();
        assert!(new_file().write(true).create(true).open(inner.join("link")).is_err());
    }

    #[test]
    fn only_the_rights_of_the_user_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        std::fs::write(&old, "").unwrap();
        for (before, after) in [(0o644, 0o600), (0o444, 0o400), (0o770, 0o700), (0o600, 0o600)] {
            std::fs::set_permissions(&old, std::fs::Permissions::from_mode(before)).unwrap();
            let file = File::create(&new).unwrap();
            keep_rights(&file, std::fs::metadata(&old).unwrap().permissions()).unwrap();
            assert_eq!(mode(&new), after);
            std::fs::remove_file(&new).unwrap();
        }
    }
}
