//! Files of bytes whose paths are lost.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::keep_lines;
use crate::error::{FileContext, Result};
use crate::private::new_file;
use crate::store::Store;

/// Puts the bytes of files whose paths are lost beside the new store.
pub(super) fn keep_nameless(store: &Store, new: &Path) -> Result<Vec<PathBuf>> {
    let numbers = store.nameless_files()?;
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir().at("making a folder in", &std::env::temp_dir())?;
    let snapshot = store.committed()?;
    let mut kept = Vec::new();
    for number in numbers {
        let name = format!("file-{number}");
        let path = folder.path().join(&name);
        let options = new_file().write(true).create_new(true).open(&path);
        let mut file = options.at("making", &path)?;
        snapshot.each_part_of_file(number, |part| {
            file.write_all(part).at("writing", &path)?;
            Ok(true)
        })?;
        kept.push(keep_lines(&path, new, &name)?);
    }
    Ok(kept)
}
