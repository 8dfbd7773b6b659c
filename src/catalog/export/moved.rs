//! Brings the file of a session in step whose path has changed: the old file is removed if nothing is lost by it.

use super::file_tree::Place;
use super::folder::FolderExport;
use super::manifest::Entry;
use super::places::Listed;
use super::report::{ExportOutcome, KeptReason};
use super::standing::{Likeness, Stamp, Standing};
use crate::destination::{folder_of, refuse_store_file};
use crate::error::Result;
use crate::lasting::sync_folder;

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
pub(super) fn export_moved(export: &mut FolderExport<'_>, session: &Listed, old: &Entry) {
    let old_path = export.tree.path(&old.path);
    let looked = export.tree.place(&old.path).and_then(|place| {
        let found = look(export, session, old, &place)?;
        Ok((place, found))
    });
    let (old_place, old_file) = match looked {
        Ok((_, OldFile::Foreign)) if !export.options.replace => {
            let outcome = ExportOutcome::Kept { reason: KeptReason::HoldsMore };
            return export.report(&session.id, old_path, outcome);
        }
        Ok(looked) => looked,
        Err(error) => {
            let path = export.tree.path(&session.path);
            return export.report(&session.id, path, ExportOutcome::Failed(error));
        }
    };
    let is_there = export.export_item(session, None);
    let outcome = match old_file {
        OldFile::Spare(stamp) if is_there => {
            let outcome = remove(export, (old, &old_place), session, stamp);
            if !matches!(outcome, ExportOutcome::Removed) {
                // The next export tries again.
                export.manifest.note(old.clone());
            }
            outcome
        }
        OldFile::Foreign if is_there => stays(&KeptReason::HoldsMore.to_string()),
        _ => return,
    };
    export.report(&session.id, old_path, outcome);
}

fn look(
    export: &FolderExport<'_>,
    session: &Listed,
    old: &Entry,
    place: &Place,
) -> Result<OldFile> {
    let stamp = match Standing::of(place, Some(old))? {
        Standing::Absent | Standing::NoFile => return Ok(OldFile::Gone),
        Standing::AsLeft(stamp) => return Ok(OldFile::Spare(stamp)),
        Standing::Unknown(stamp) => stamp,
    };
    let reader = export.reader(session)?;
    Ok(match Likeness::of(place, &reader, export.options)? {
        Likeness::Same { .. } | Likeness::Beginning => OldFile::Spare(stamp),
        Likeness::Longer | Likeness::Other => OldFile::Foreign,
    })
}

/// Removes the old file, once the new one is durable, and its folder if that is empty.
fn remove(
    export: &FolderExport<'_>,
    (old, place): (&Entry, &Place),
    session: &Listed,
    stamp: Stamp,
) -> ExportOutcome {
    let new = export.tree.path(&session.path);
    sync_folder(folder_of(&new));
    // A file system may take both names for one.
    let is_other = match (place.path.canonicalize(), new.canonicalize()) {
        (Ok(old), Ok(new)) => old != new,
        _ => false,
    };
    if !is_other || place.stamp() != Some(stamp) {
        return stays("it was changed while its session was being exported");
    }
    if let Err(error) = refuse_store_file(&place.path, export.store.path()) {
        return stays(&error.to_string());
    }
    if let Err(error) = place.remove() {
        return stays(&error.to_string());
    }
    export.tree.remove_empty(&old.path);
    ExportOutcome::Removed
}

fn stays(reason: &str) -> ExportOutcome {
    ExportOutcome::Left { reason: reason.to_owned() }
}
