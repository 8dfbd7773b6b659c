//! Brings one session's file in step.

use std::time::SystemTime;

use super::super::file_time::RECENT;
use super::blobs;
use super::file_tree::Place;
use super::folder::FolderExport;
use super::manifest::{Digest, Entry, Form, Redaction};
use super::places::{self, Listed};
use super::report::{ExportOutcome, KeptReason};
use super::standing::{Likeness, Stamp, Standing};
use crate::destination::refuse_store_file;
use crate::error::Result;
use crate::session::SessionReader;
use crate::store::record::Record;
use crate::whole_file::WholeFile;

/// A session and its file.
pub(super) struct Item<'a> {
    pub(super) session: &'a Listed,
    pub(super) place: Place,
    /// The file's entry in the manifest.
    pub(super) noted: Option<Entry>,
}

/// What to note of a file.
struct Found {
    bytes: u64,
    modified: Option<i64>,
    fingerprint: u128,
    is_settled: bool,
}

/// Writes the file if it is out of date and nothing is lost by it.
pub(super) fn export_file(export: &mut FolderExport<'_>, item: &Item<'_>) -> Result<ExportOutcome> {
    let standing = Standing::of(&item.place, item.noted.as_ref())?;
    if let (Standing::AsLeft(stamp), Some(noted)) = (&standing, &item.noted)
        && is_current(export, item.session, noted)
    {
        // It may have been touched.
        if noted.modified.is_none() || noted.modified != stamp.nanoseconds() {
            export.manifest.note(Entry { modified: stamp.lasting(), ..noted.clone() });
        }
        return Ok(ExportOutcome::Unchanged);
    }
    // The comparison would treat it like any other file.
    refuse_store_file(&item.place.path, export.store.path())?;
    let reader = export.reader(item.session)?;
    let stamp = match standing {
        Standing::Absent | Standing::AsLeft(_) => return write(export, item, &reader, &standing),
        Standing::NoFile => return Ok(ExportOutcome::Kept { reason: KeptReason::NoFile }),
        Standing::Unknown(stamp) => stamp,
    };
    match Likeness::of(&item.place, &reader, export.options)? {
        Likeness::Same { fingerprint, is_settled } => {
            let references = blobs::export(export, item.session, &reader)?;
            let is_settled = is_settled && references == 0;
            let (bytes, modified) = (stamp.bytes(), stamp.lasting());
            note(export, item, &reader, Found { bytes, modified, fingerprint, is_settled });
            Ok(ExportOutcome::Unchanged)
        }
        Likeness::Longer | Likeness::Other if !export.options.replace => {
            Ok(ExportOutcome::Kept { reason: KeptReason::HoldsMore })
        }
        Likeness::Beginning | Likeness::Longer | Likeness::Other => {
            write(export, item, &reader, &standing)
        }
    }
}

/// Whether writing the file would give the same bytes again.
fn is_current(export: &FolderExport<'_>, session: &Listed, noted: &Entry) -> bool {
    noted.settled
        && noted.form == Form::of(&export.options.mode)
        && noted.redaction == Redaction::of(export.options)
        && noted.key == session.key.raw()
        && noted.record == session.record
}

fn write(
    export: &mut FolderExport<'_>,
    item: &Item<'_>,
    reader: &SessionReader,
    standing: &Standing,
) -> Result<ExportOutcome> {
    // First, so that a session is never there without them.
    let references = blobs::export(export, item.session, reader)?;
    let place = export.tree.make_place(&item.session.path)?;
    let (folder, name) = place.in_folder().expect("the folder was made");
    let file = WholeFile::inside(folder, name, export.store.path())?;
    let written = super::write(reader, export.options, file.file(), &place.path)?;
    let mut found = Found {
        bytes: written.exported.bytes,
        modified: None,
        fingerprint: written.fingerprint,
        is_settled: written.exported.is_settled && references == 0,
    };
    if let (Standing::AsLeft(stamp), Some(noted)) = (standing, &item.noted)
        && (noted.bytes, noted.fingerprint.0) == (found.bytes, found.fingerprint)
    {
        // The session has changed, but its bytes have not.
        found.modified = stamp.lasting();
        note(export, item, reader, found);
        return Ok(ExportOutcome::Unchanged);
    }
    // With the current time, the file could be changed without its time changing.
    if file.file().set_modified(SystemTime::now() - RECENT).is_ok() {
        found.modified = Stamp::of_file(file.file()).and_then(|stamp| stamp.nanoseconds());
    }
    if place.stamp() != standing.stamp() && !export.options.replace {
        return Ok(ExportOutcome::Kept { reason: KeptReason::Changed });
    }
    let named = file.name()?;
    export.touch(&named);
    let bytes = found.bytes;
    note(export, item, reader, found);
    Ok(ExportOutcome::Written { bytes })
}

fn note(export: &mut FolderExport<'_>, item: &Item<'_>, reader: &SessionReader, found: Found) {
    export.manifest.note(Entry {
        session: item.session.id.clone(),
        key: reader.key().raw(),
        record: places::record_digest(&reader.record().to_bytes()),
        form: Form::of(&export.options.mode),
        redaction: Redaction::of(export.options),
        settled: found.is_settled,
        path: item.session.path.clone(),
        instead_of: item.session.instead_of.clone(),
        bytes: found.bytes,
        modified: found.modified,
        fingerprint: Digest(found.fingerprint),
    });
}
