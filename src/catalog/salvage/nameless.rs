//! Files of bytes whose paths are lost.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::new_beside;
use crate::error::{FileContext, Result};
use crate::store::Store;

/// Puts the bytes of files whose paths are lost beside the new store.
pub(super) fn keep_nameless(store: &Store, new: &Path) -> Result<Vec<PathBuf>> {
    let snapshot = store.committed()?;
    let mut kept = Vec::new();
    for number in store.nameless_files()? {
        let (mut file, place) = new_beside(new, format!("file-{number}").as_ref())?;
        snapshot.each_part_of_file(number, |part| {
            file.write_all(part).at("writing", &place)?;
            Ok(true)
        })?;
        file.sync_all().at("writing", &place)?;
        kept.push(place);
    }
    Ok(kept)
}
