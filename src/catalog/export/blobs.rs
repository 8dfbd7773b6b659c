//! Puts the blobs to which sessions refer where their programs look for them.

use std::ffi::OsStr;
use std::io::Read;
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
use crate::store::blobs::hex;

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
        let folder = make_folder()?;
        write_blobs(snapshot, &held, &folder, redactor)?;
        for hash in &held {
            // A failure does no harm: omp makes the name itself when it shows the picture.
            let _ = name_as_picture(&folder, &hex(hash));
        }
    }
    Ok(references.len())
}

/// Gives a picture a second name with an extension that the system's viewers recognise, as omp does.
fn name_as_picture(folder: &OpenFolder, hash: &str) -> std::io::Result<()> {
    let mut beginning = Vec::new();
    folder.read(OsStr::new(hash))?.take(12).read_to_end(&mut beginning)?;
    let ending = match *beginning {
        [0x89, b'P', b'N', b'G', ..] => "png",
        [0xFF, 0xD8, 0xFF, ..] => "jpg",
        [b'G', b'I', b'F', b'8', ..] => "gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P'] => "webp",
        _ => return Ok(()),
    };
    folder.link(OsStr::new(hash), OsStr::new(&format!("{hash}.{ending}")))
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
