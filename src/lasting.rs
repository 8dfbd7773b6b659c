//! Names that survive a crash of the machine: those of files in their folders, and those of the folders themselves.

use std::fs::File;
use std::io::Result;
use std::path::Path;

use crate::destination::folder_of;
use crate::private::make_folder;
use crate::store::recorder;

/// Makes a folder that only its user can open, and the folders that it is to be in, and makes their names durable. Those that
/// are there stay as they are.
pub(crate) fn make_folders(folder: &Path) -> Result<()> {
    let is_missing = |above: &&Path| !above.as_os_str().is_empty() && !above.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    if missing.is_empty() && !folder.as_os_str().is_empty() && !folder.is_dir() {
        return make_folder(folder);
    }
    for missing in missing.into_iter().rev() {
        match make_folder(missing) {
            // Another process may have made it.
            Err(_) if missing.is_dir() => {}
            made => made?,
        }
        sync_folder(folder_of(missing));
    }
    Ok(())
}

/// Makes the names of a folder's files durable if the system can; on others, the system decides when they are.
pub(crate) fn sync_folder(folder: &Path) {
    let sync = recorder::begin_folder_sync(folder);
    if let Ok(folder) = File::open(folder)
        && folder.sync_all().is_ok()
    {
        sync.done();
    }
}
