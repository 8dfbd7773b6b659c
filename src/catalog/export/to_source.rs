//! Puts a session back where its program looks for it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::file_tree::Place;
use super::places;
use super::report::{ExportOptions, ExportOutcome, ExportReport, KeptReason};
use super::standing::{Likeness, Standing};
use crate::catalog::programs::program_folders;
use crate::destination::{folder_of, refuse_store};
use crate::error::{Error, ExportError, Result};
use crate::session::{ExportMode, SessionReader};
use crate::store::Store;
use crate::temporary::remove_left_inside;
use crate::whole_file::{WholeFile, sync_folder};

impl Store {
    /// Writes a session to the file where its program looks for it: the path in the program's own folder from which it was
    /// imported, or else the one that the program would give it there. Folders that are missing are made.
    ///
    /// The agents that the session has started, and those that these have, are written likewise: the program looks for them
    /// too. Their reports follow the session's.
    ///
    /// The file is written under a temporary name and renamed. A file that is there is never overwritten: if it has the
    /// session's bytes, the outcome is [`ExportOutcome::Unchanged`], otherwise [`ExportOutcome::Kept`].
    ///
    /// # Errors
    ///
    /// [`ExportError::NoProgramFolder`] if the user's home folder is not known; [`Error::File`] of the file, and those of
    /// [`SessionReader::export`].
    pub fn export_to_source(&self, session: &str) -> Result<Vec<ExportReport>> {
        let mut reports = Vec::new();
        let mut left = vec![self.session(session)?.id().to_owned()];
        let mut known: HashSet<String> = left.iter().cloned().collect();
        while let Some(id) = left.pop() {
            reports.push(self.put_back(&id)?);
            let agents = self.agents_of(&id)?.into_iter().map(|agent| agent.id.to_string());
            // The order in which they were started; records may name each other in a ring.
            left.extend(agents.rev().filter(|agent| known.insert(agent.clone())));
        }
        Ok(reports)
    }

    /// The same without agents.
    pub(super) fn put_back(&self, session: &str) -> Result<ExportReport> {
        let reader = self.reader(session)?;
        let path = place_of(&reader)?;
        let outcome = put(self, &reader, &path)?;
        Ok(ExportReport { session: reader.id(), path, outcome })
    }
}

/// The path at which the program looks for the session.
fn place_of(reader: &SessionReader) -> Result<PathBuf> {
    let facts = reader.facts();
    let family = facts.family;
    let header = places::header_in_name(&facts, reader.snapshot(), reader.key())?;
    let name = places::name_of(&facts, header.as_deref());
    if let Some((source, _)) = places::placed_source(reader.record(), &name) {
        return Ok(source);
    }
    let mut folders = program_folders().into_iter().filter(|folder| folder.family == family);
    let folder = folders.next().ok_or(Error::Export(ExportError::NoProgramFolder))?;
    Ok(folder.path.join(family.file_path(&name)))
}

fn put(store: &Store, reader: &SessionReader, path: &Path) -> Result<ExportOutcome> {
    let options = ExportOptions::from(ExportMode::Current);
    let mut place = Place::at(path)?;
    match Standing::of(&place, None)? {
        Standing::Absent => {}
        Standing::NoFile => return Ok(ExportOutcome::Kept { reason: KeptReason::NoFile }),
        Standing::AsLeft(_) | Standing::Unknown(_) => {
            refuse_store(path, store.path())?;
            return Ok(match Likeness::of(&place, reader, &options)? {
                Likeness::Same { .. } => ExportOutcome::Unchanged,
                Likeness::Longer => ExportOutcome::Kept { reason: KeptReason::HoldsMore },
                Likeness::Beginning | Likeness::Other => {
                    ExportOutcome::Kept { reason: KeptReason::Differs }
                }
            });
        }
    }
    let name = path.file_name().expect("the place of a file has its name");
    let folder = place.make_folder()?;
    remove_left_inside(folder);
    let file = WholeFile::inside(folder, name, store.path())?;
    let written = super::write(reader, &options, file.file(), path)?;
    // The program may have come with a file of its own.
    if place.look()?.is_some() {
        return Ok(ExportOutcome::Kept { reason: KeptReason::Changed });
    }
    sync_folder(folder_of(&file.name()?));
    Ok(ExportOutcome::Written { bytes: written.exported.bytes })
}
