//! Files that appear whole: written beside their place and renamed.

use std::fs::File;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{FileContext, Result};

/// A file that is being written and has no place yet; gone when it is dropped before it has.
#[derive(Debug)]
pub(crate) struct WholeFile {
    temporary: NamedTempFile,
}

impl WholeFile {
    /// Begins a file in the folder of its place, which is made where it is not there.
    pub(crate) fn beside(path: &Path) -> Result<Self> {
        let folder = folder_of(path);
        std::fs::create_dir_all(folder).at("making the folder", folder)?;
        let temporary = tempfile::Builder::new()
            .prefix(".leafline-")
            .permissions(new_file_permissions())
            .tempfile_in(folder)
            .at("making a file in", folder)?;
        Ok(Self { temporary })
    }

    /// The file, to be written.
    pub(crate) fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Gives the file its place, when what was written is on disk. Whether the name survives a crash of the machine is up
    /// to [`sync_folder`].
    pub(crate) fn name(self, path: &Path) -> Result<()> {
        self.file().sync_all().at("writing", path)?;
        self.temporary.persist(path).map_err(|error| error.error).at("naming", path)?;
        Ok(())
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes the names of a folder's files durable where the system can; elsewhere they are when the system says so.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// What a file made in the ordinary way would have; a temporary file is the owner's alone.
#[cfg(unix)]
pub(crate) fn new_file_permissions() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o666)
}

#[cfg(not(unix))]
pub(crate) fn new_file_permissions() -> std::fs::Permissions {
    // The one platform-independent source of permissions is a file that has them.
    std::env::current_exe()
        .and_then(std::fs::metadata)
        .map(|metadata| metadata.permissions())
        .expect("a running program's file can be looked at")
}
