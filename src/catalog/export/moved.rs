//! Brings the file of a session in step whose path has changed: the old file is removed if nothing is lost by it.

use std::path::{Path, PathBuf};

use super::file::{self, Item};
use super::folder::FolderExport;
use super::manifest::{Entry, below};
use super::places::Listed;
use super::report::{ExportOutcome, KeptReason};
use super::standing::{Likeness, Stamp, Standing};
use crate::destination::{folder_of, refuse_store};
use crate::error::Result;
use crate::whole_file::sync_folder;

/// The file in the old place.
enum OldFile {
    /// There is none.
    Gone,
    /// It has nothing that the session lacks.
    Spare(Stamp),
    /// It has something that the session lacks.
    Foreign,
}

/// Brings the file at its new path in step, and then removes the old one.
pub(super) fn export_moved(
    export: &mut FolderExport<'_>,
    session: &Listed,
    path: PathBuf,
    old: &Entry,
) {
    let old_path = below(export.folder, &old.path);
    let old_file = match look(export, session, old, &old_path) {
        Ok(OldFile::Foreign) if !export.options.replace => {
            let outcome = ExportOutcome::Kept { reason: KeptReason::HoldsMore };
            return export.report(&session.id, old_path, outcome);
        }
        Ok(old_file) => old_file,
        Err(error) => return export.report(&session.id, path, ExportOutcome::Failed(error)),
    };
    let item = Item { session, path, noted: None };
    let outcome = file::export_file(export, &item).unwrap_or_else(ExportOutcome::Failed);
    let is_there = matches!(outcome, ExportOutcome::Written { .. } | ExportOutcome::Unchanged);
    export.report(&session.id, item.path.clone(), outcome);
    let outcome = match old_file {
        OldFile::Spare(stamp) if is_there => remove(export, &old_path, &item.path, stamp),
        OldFile::Foreign if is_there => stays(&KeptReason::HoldsMore.to_string()),
        _ => return,
    };
    export.report(&session.id, old_path, outcome);
}

fn look(export: &FolderExport<'_>, session: &Listed, old: &Entry, path: &Path) -> Result<OldFile> {
    let stamp = match Standing::of(path, Some(old))? {
        Standing::Absent | Standing::NoFile => return Ok(OldFile::Gone),
        Standing::AsLeft(stamp) => return Ok(OldFile::Spare(stamp)),
        Standing::Unknown(stamp) => stamp,
    };
    let reader = export.reader(session)?;
    Ok(match Likeness::of(path, &reader, &export.options.mode)? {
        Likeness::Same { .. } | Likeness::Beginning => OldFile::Spare(stamp),
        Likeness::Other => OldFile::Foreign,
    })
}

/// Removes the old file, once the new one is durable, and its folder if that is empty.
fn remove(export: &FolderExport<'_>, old: &Path, new: &Path, stamp: Stamp) -> ExportOutcome {
    sync_folder(folder_of(new));
    // One path may lead to the other through a link.
    let is_other = match (old.canonicalize(), new.canonicalize()) {
        (Ok(old), Ok(new)) => old != new,
        _ => false,
    };
    if !is_other || Stamp::of(std::fs::metadata(old)) != Some(stamp) {
        return stays("it was changed while its session was being exported");
    }
    if let Err(error) = refuse_store(old, export.store.path()) {
        return stays(&error.to_string());
    }
    if let Err(error) = std::fs::remove_file(old) {
        return stays(&error.to_string());
    }
    if let Some(folder) = old.parent().filter(|folder| *folder != export.folder) {
        // Fails if the folder is not empty.
        let _ = std::fs::remove_dir(folder);
    }
    ExportOutcome::Removed
}

fn stays(reason: &str) -> ExportOutcome {
    ExportOutcome::Left { reason: reason.to_owned() }
}
