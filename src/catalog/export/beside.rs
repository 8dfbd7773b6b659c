//! Puts the files beside a session beside the file that it is exported to.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::file_tree::Place;
use super::folder::FolderExport;
use super::places::Listed;
use super::report::{ExportOutcome, ExportReport, KeptReason};
use crate::catalog::beside::FileBeside;
use crate::destination::{folder_of, refuse_store_file};
use crate::error::{FileContext, Result};
use crate::lasting::sync_folder;
use crate::open_folder::Kind;
use crate::redact::Redactor;
use crate::session::SessionReader;
use crate::temporary::remove_left_inside;
use crate::whole_file::WholeFile;

/// What becomes of another file in the place of one beside a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    /// It stays.
    Stay,
    /// It is overwritten.
    AreReplaced,
}

/// Writes the files beside a session that is in this file now, where its program looks for them. What is in their places stays:
/// it is unchanged if it has the same bytes, otherwise kept. One that cannot be written is reported, and the others are.
pub(super) fn put_back(reader: &SessionReader, session_file: &Path) -> Result<Vec<ExportReport>> {
    let (mut reports, mut tidied, mut touched) = (Vec::new(), None, BTreeSet::new());
    for file in files(reader)? {
        let Some(path) = file.place_for(session_file) else { continue };
        let outcome = Place::at(&path).and_then(|place| {
            put(reader, &file, (place, Others::Stay), |mut place| {
                place.make_folder()?;
                tidy(&place, &mut tidied);
                Ok(place)
            })
        });
        if let Ok(ExportOutcome::Written { .. }) = outcome {
            touched.insert(folder_of(&path).to_owned());
        }
        let outcome = outcome.unwrap_or_else(ExportOutcome::Failed);
        reports.push(ExportReport { session: reader.id(), path, is_beside: true, outcome });
    }
    touched.iter().for_each(|folder| sync_folder(folder));
    Ok(reports)
}

/// Removes what killed exports left in a place's folder, once for those that follow each other there.
fn tidy(place: &Place, tidied: &mut Option<PathBuf>) {
    let Some((folder, _)) = place.in_folder() else { return };
    if tidied.as_deref() != Some(folder.path()) {
        remove_left_inside(folder);
        *tidied = Some(folder.path().to_owned());
    }
}

/// Writes the files beside a session below the folder of an export, in which no link is followed, and reports them.
pub(super) fn export(export: &mut FolderExport<'_>, session: &Listed) {
    let found = export.reader(session).and_then(|reader| Ok((files(&reader)?, reader)));
    let (files, reader) = match found {
        Ok(found) => found,
        Err(error) => {
            let (session_file, outcome) = (&session.path, ExportOutcome::Failed(error));
            let path = export.tree.path(session_file).with_extension("");
            let session = session.id.clone();
            return export.tell(&ExportReport { session, path, is_beside: true, outcome });
        }
    };
    let mut tidied = None;
    for file in files {
        if let Some(redactor) = export.options.redactor() {
            // What its bytes and its name say is not looked at.
            withhold(redactor);
            continue;
        }
        let Some(path) = file.place_for(Path::new(&session.path)) else { continue };
        let others = if export.options.replace { Others::AreReplaced } else { Others::Stay };
        let outcome = below(&path).and_then(|name| {
            let place = export.tree.place(&name)?;
            put(&reader, &file, (place, others), |_| {
                let place = export.tree.make_place(&name)?;
                tidy(&place, &mut tidied);
                Ok(place)
            })
        });
        let path = export.tree.folder().join(&path);
        if let Ok(ExportOutcome::Written { .. }) = outcome {
            export.touch(&path);
        }
        let outcome = outcome.unwrap_or_else(ExportOutcome::Failed);
        let session = session.id.clone();
        export.tell(&ExportReport { session, path, is_beside: true, outcome });
    }
}

/// The files beside a session: of two with one name the one that was written last.
fn files(reader: &SessionReader) -> Result<Vec<FileBeside>> {
    let mut files = reader.files_beside()?;
    files.dedup_by(|later, first| later.name == first.name);
    Ok(files)
}

/// A path below the folder of an export, with `/` between its parts, which is text there.
pub(super) fn below(path: &Path) -> Result<String> {
    let not_text = || std::io::Error::from(ErrorKind::InvalidFilename);
    let parts = path.iter().map(|part| part.to_str().ok_or_else(not_text).at("naming", path));
    Ok(parts.collect::<Result<Vec<_>>>()?.join("/"))
}

/// Writes a file to its place, in the folder that `make` makes.
fn put(
    reader: &SessionReader,
    file: &FileBeside,
    (place, others): (Place, Others),
    make: impl FnOnce(Place) -> Result<Place>,
) -> Result<ExportOutcome> {
    let store = reader.snapshot().store().path();
    let before = place.look()?;
    match &before {
        None => {}
        Some(found) if found.kind == Kind::File => {
            refuse_store_file(&place.path, store)?;
            if found.bytes == file.bytes && has_bytes(reader, file, &place)? {
                return Ok(ExportOutcome::Unchanged);
            }
            if others == Others::Stay {
                return Ok(kept(KeptReason::Differs));
            }
        }
        Some(_) => return Ok(kept(KeptReason::NoFile)),
    }
    let place = make(place)?;
    let (folder, name) = place.in_folder().expect("the folder was made");
    let whole = WholeFile::inside(folder, name, store)?;
    file.each_piece(reader.snapshot(), |piece| {
        whole.file().write_all(piece).at("writing", &place.path)?;
        Ok(true)
    })?;
    // The program may have come meanwhile with a file of its own.
    if place.look()? != before && others == Others::Stay {
        return Ok(kept(KeptReason::Changed));
    }
    whole.name()?;
    Ok(ExportOutcome::Written { bytes: file.bytes })
}

fn kept(reason: KeptReason) -> ExportOutcome {
    ExportOutcome::Kept { reason }
}

/// Whether the file in a place has the bytes of the store's.
fn has_bytes(reader: &SessionReader, file: &FileBeside, place: &Place) -> Result<bool> {
    let mut found: BufReader<File> = BufReader::new(place.read()?);
    let mut is_same = true;
    let mut there = Vec::new();
    file.each_piece(reader.snapshot(), |piece| {
        there.clear();
        let read = found.by_ref().take(piece.len() as u64).read_to_end(&mut there);
        read.at("reading", &place.path)?;
        is_same = there == piece;
        Ok(is_same)
    })?;
    Ok(is_same && found.read(&mut [0]).at("reading", &place.path)? == 0)
}

/// A file that is not written goes to the redactor's account.
#[cfg(feature = "redact")]
fn withhold(redactor: &Redactor) {
    redactor.account(&crate::redact::Redactions::withheld("file-withheld"));
}

#[cfg(not(feature = "redact"))]
fn withhold(redactor: &Redactor) {
    match *redactor {}
}
