//! Puts the blobs to which sessions refer where their programs look for them.

use std::path::Path;
use std::sync::Arc;

use super::beside::below;
use super::folder::FolderExport;
use super::places::Listed;
use crate::error::Result;
use crate::open_folder::OpenFolder;
use crate::redact::Redactor;
use crate::session::export::{held, references, write_blobs};
use crate::session::{ExportMode, SessionReader};

/// Writes the blobs to which a session refers into a folder, which is made if the store has one of them. Returns the number of
/// references.
pub(super) fn put(
    reader: &SessionReader,
    redactor: Option<&Redactor>,
    make_folder: impl FnOnce() -> Result<Arc<OpenFolder>>,
) -> Result<usize> {
    let snapshot = reader.snapshot();
    let references = references(reader.view())?;
    let held = held(snapshot, &references)?;
    if !held.is_empty() {
        write_blobs(snapshot, &held, &make_folder()?, redactor)?;
    }
    Ok(references.len())
}

/// Writes the blobs to which a session in the folder of an export refers, unless its form has none or others. Returns the number
/// of references.
pub(super) fn export(
    export: &mut FolderExport<'_>,
    session: &Listed,
    reader: &SessionReader,
) -> Result<usize> {
    match export.options.mode {
        ExportMode::Current | ExportMode::Exact | ExportMode::Original => {}
        ExportMode::Portable | ExportMode::References { .. } => return Ok(0),
    }
    let family = reader.facts().family;
    let Some(folder) = family.blobs_folder(Path::new(&session.path), &[]) else { return Ok(0) };
    put(reader, export.options.redactor(), || export.tree.make_folder(&below(&folder)?))
}
