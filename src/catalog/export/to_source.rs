//! Puts a session back where its program looks for it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use leafline_import::{Family, FileName};

use super::super::import::candidate::Candidate;
use super::super::import::known::has_other_bytes;
use super::super::import::saved_state::{FileState, compare};
use super::super::import::{ImportOptions, Recovery};
use super::super::programs::{file_of, folders_of, is_in};
use super::file_tree::Place;
use super::report::{ExportOptions, ExportOutcome, ExportReport, KeptReason};
use super::standing::{Likeness, Stamp, Standing};
use super::{beside, blobs, places};
use crate::destination::{folder_of, refuse_store};
use crate::error::{Error, ExportError, FileContext, Result, SessionError};
use crate::lasting::sync_folder;
use crate::open_folder::{Kind, OpenFolder};
use crate::session::{ExportMode, SessionReader};
use crate::store::Store;
use crate::temporary::remove_left_inside;
use crate::whole_file::WholeFile;

/// What putting a session back comes to. Nothing is written before it is [carried out](Self::carry_out).
#[derive(Debug)]
pub(super) struct PuttingBack {
    reader: SessionReader,
    place: Place,
    /// What is in the file's place.
    standing: Standing,
    /// What becomes of the file; `None` if it is to be written.
    outcome: Option<ExportOutcome>,
}

impl Store {
    /// Writes a session to the file where its program looks for it: the path from which it was imported, if that is in the
    /// program's own folder, or else the one that the program would give it there. Folders that are missing are made.
    ///
    /// The agents that the session has started, and those that these have, are written likewise: the program looks for them
    /// too. Their reports follow the session's. So are the [files beside the sessions](SessionReader::files_beside), whose reports
    /// follow that of their session, and the blobs that the sessions refer to, beside omp's sessions.
    ///
    /// No line of an existing file is lost: lines that the program has added are stored first, as by [`Self::sync`], and the new
    /// file begins with them. A file that is not a state of the session is kept: [`ExportOutcome::Kept`]. If the program would
    /// not start at the session's leaf, a line that makes it start there is appended to the session. The file is written under a
    /// temporary name and renamed.
    ///
    /// # Errors
    ///
    /// [`ExportError::NoProgramFolder`] if the user's home folder is not known; [`Error::File`] of the file, and those of
    /// [`SessionReader::export`].
    pub fn export_to_source(&self, session: &str) -> Result<Vec<ExportReport>> {
        let sessions = self.with_agents(session)?;
        let (own, agents) = sessions.split_first().expect("the session itself comes first");
        let mut reports = PuttingBack::at_leaf(self, own)?.carry_out(self)?;
        for id in agents {
            reports.extend(PuttingBack::of(self, id)?.carry_out(self)?);
        }
        Ok(reports)
    }

    /// The ids of a session and of the agents that it has started, and these, in the order in which they were started.
    pub(super) fn with_agents(&self, session: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut left = vec![self.session(session)?.id().to_owned()];
        let mut known: HashSet<String> = left.iter().cloned().collect();
        while let Some(id) = left.pop() {
            let agents = self.agents_of(&id)?.into_iter().map(|agent| agent.id.to_string());
            // Records may name each other in a ring.
            left.extend(agents.rev().filter(|agent| known.insert(agent.clone())));
            found.push(id);
        }
        Ok(found)
    }
}

impl PuttingBack {
    /// Of a session, without its agents. The lines that the program has added are stored first.
    pub(super) fn of(store: &Store, session: &str) -> Result<Self> {
        let planned = Self::compared(store, session)?;
        let has_more = KeptReason::HoldsMore;
        match planned.outcome {
            Some(ExportOutcome::Kept { reason })
                if [KeptReason::Differs, has_more].contains(&reason) && !store.is_read_only() =>
            {
                store.sync(&[planned.path()], &ImportOptions::default(), &mut ())?;
                Self::compared(store, session)
            }
            _ => Ok(planned),
        }
    }

    /// The same of the session that the program resumes: if it would not start at the session's leaf, a line that makes it start
    /// there is appended.
    pub(super) fn at_leaf(store: &Store, session: &str) -> Result<Self> {
        let planned = Self::of(store, session)?;
        // A read-only store exports the session as it is.
        if store.is_read_only() || !planned.has_all() {
            return Ok(planned);
        }
        if !store.session(session)?.begin_at_leaf()? {
            return Err(Error::Export(ExportError::NotResumable {
                session: planned.reader.id(),
                problem: "its program would not start at its leaf; move the leaf to a message"
                    .to_owned(),
            }));
        }
        // To compare is to read the session and the file: once, unless a line was added.
        match store.reader(session)?.record().lines == planned.reader.record().lines {
            true => Ok(planned),
            false => Self::compared(store, session),
        }
    }

    /// Compares the session with the file, without storing or writing anything.
    fn compared(store: &Store, session: &str) -> Result<Self> {
        let reader = store.reader(session)?;
        let place = Place::at(&place_of(store, &reader)?)?;
        refuse_store(&place.path, store.path())?;
        let standing = Standing::of(&place, None)?;
        let outcome = match standing {
            Standing::Absent => None,
            Standing::NoFile => Some(ExportOutcome::Kept { reason: KeptReason::NoFile }),
            Standing::AsLeft(_) | Standing::Unknown(_) => of_file(&place, &reader)?,
        };
        Ok(Self { reader, place, standing, outcome })
    }

    /// Where the file is, or will be.
    pub(super) fn path(&self) -> &Path {
        &self.place.path
    }

    /// Whether the file has all of the session then, and perhaps more.
    pub(super) fn has_all(&self) -> bool {
        self.outcome.as_ref().is_none_or(has_all)
    }

    /// Writes what is to be written. The first report is the session's; those of the files beside it follow.
    pub(super) fn carry_out(mut self, store: &Store) -> Result<Vec<ExportReport>> {
        let outcome = match self.outcome.take() {
            Some(outcome) => outcome,
            None => self.write(store)?,
        };
        // From now on the file has the name that was set in the store, and another one is the program's.
        if matches!(outcome, ExportOutcome::Written { .. })
            && has_other_bytes(self.reader.record())
            && !store.is_read_only()
        {
            store.sync(&[self.path()], &ImportOptions::default(), &mut ())?;
        }
        let mut beside = Vec::new();
        if has_all(&outcome) {
            self.put_blobs()?;
            beside = beside::put_back(&self.reader, &self.place.path)?;
        }
        let (session, path) = (self.reader.id(), self.place.path);
        let own = ExportReport { session, path, is_beside: false, outcome };
        Ok(std::iter::once(own).chain(beside).collect())
    }

    fn write(&mut self, store: &Store) -> Result<ExportOutcome> {
        let path = self.place.path.clone();
        let name = path.file_name().expect("the place of a file has its name");
        let folder = self.place.make_folder()?;
        remove_left_inside(folder);
        let file = WholeFile::inside(folder, name, store.path())?;
        let options = ExportOptions::from(ExportMode::Current);
        let written = super::write(&self.reader, &options, file.file(), &path)?;
        let mut old = self.standing.stamp().map(|_| self.place.read()).transpose()?;
        // The program may have come with a file of its own, or gone on with the one that is there.
        let found = self.place.look()?;
        let is_as_it_was = match &found {
            None => matches!(self.standing, Standing::Absent),
            Some(found) => {
                found.kind == Kind::File && Some(Stamp::of_found(found)) == self.standing.stamp()
            }
        };
        if !is_as_it_was {
            return Ok(ExportOutcome::Kept { reason: KeptReason::Changed });
        }
        sync_folder(folder_of(&file.name()?));
        let mut bytes = written.exported.bytes;
        let is_rewritten = self.reader.facts().family.saves_whole();
        if let Some((old, stamp)) =
            old.as_mut().zip(self.standing.stamp()).filter(|_| !is_rewritten)
        {
            bytes += carry_over(old, stamp.bytes(), &path).at("writing", &path)?;
        }
        Ok(ExportOutcome::Written { bytes })
    }

    /// Puts the blobs that the session refers to where its program looks for them, as far as the store has them.
    fn put_blobs(&self) -> Result<()> {
        let family = self.reader.facts().family;
        let Some(folder) = family.blobs_folder(&self.place.path, &folders_of(family)) else {
            return Ok(());
        };
        blobs::put(&self.reader, None, || {
            Ok(Arc::new(OpenFolder::make(&folder).at("making the folder", &folder)?))
        })
        .map(drop)
    }
}

/// Appends the lines that the program added to a file just before it was replaced, from this offset on. Returns their bytes.
fn carry_over(old: &mut File, from: u64, path: &Path) -> io::Result<u64> {
    let mut added = Vec::new();
    old.seek(SeekFrom::Start(from))?;
    old.read_to_end(&mut added)?;
    if !added.is_empty() {
        let mut new = File::options().append(true).open(path)?;
        new.write_all(&added)?;
        new.sync_all()?;
    }
    Ok(added.len() as u64)
}

/// Whether a file has all of its session, and perhaps more.
pub(super) fn has_all(outcome: &ExportOutcome) -> bool {
    matches!(
        outcome,
        ExportOutcome::Written { .. }
            | ExportOutcome::Unchanged
            | ExportOutcome::Kept { reason: KeptReason::HoldsMore }
    )
}

/// What becomes of a file that is there; `None` if it is to be written over.
fn of_file(place: &Place, reader: &SessionReader) -> Result<Option<ExportOutcome>> {
    let likeness = |mode| Likeness::of(place, reader, &ExportOptions::from(mode));
    let kept = |reason| Some(ExportOutcome::Kept { reason });
    Ok(match likeness(ExportMode::Current)? {
        Likeness::Same { .. } => Some(ExportOutcome::Unchanged),
        Likeness::Longer => kept(KeptReason::HoldsMore),
        Likeness::Beginning => None,
        // A file of an earlier version, which the program would write over when it loads it. The store has its bytes too.
        Likeness::Other if reader.record().migrated => match likeness(ExportMode::Original)? {
            Likeness::Same { .. } | Likeness::Beginning => None,
            Likeness::Longer | Likeness::Other => kept(KeptReason::Differs),
        },
        // An earlier state of a session whose exported bytes were changed by the store.
        Likeness::Other if has_other_bytes(reader.record()) && is_earlier(place, reader)? => None,
        Likeness::Other => kept(KeptReason::Differs),
    })
}

/// Returns true if the session has every entry of the file.
fn is_earlier(place: &Place, reader: &SessionReader) -> Result<bool> {
    let family = Some(reader.facts().family);
    let Ok(mut candidate) = Candidate::open(&place.path, family, Recovery::Documented) else {
        return Ok(false);
    };
    let state = compare(reader.view(), &mut candidate)?.at("reading", &place.path)?;
    Ok(state == FileState::Earlier)
}

/// Whether a session, which was found by an id or its beginning, is the one beside whose file an agent's is.
fn is_starter(found: &SessionReader, agent: &FileName<'_>, family: Family) -> bool {
    let facts = found.facts();
    facts.family == family && facts.agent.is_none() && agent.agent_of == Some(&*facts.id)
}

/// The path at which the program looks for the session.
fn place_of(store: &Store, reader: &SessionReader) -> Result<PathBuf> {
    let facts = reader.facts();
    let family = facts.family;
    let header = places::header_in_name(&facts, reader.snapshot(), reader.key())?;
    let name = places::name_of(&facts, header.as_deref());
    if let Some((session, file)) = name.agent_of.zip(family.agent_file(&name)) {
        match store.reader(session) {
            Ok(starter) if is_starter(&starter, &name, family) => {
                return Ok(place_of(store, &starter)?.with_extension("").join(file));
            }
            Ok(_)
            | Err(Error::Session(SessionError::NotFound { .. } | SessionError::Ambiguous { .. })) =>
                {}
            Err(error) => return Err(error),
        }
    }
    let folders = folders_of(family);
    let is_own = |path: &Path| is_in(path, &folders);
    // The program may have moved the file since, as Codex does when it archives a session.
    let placed = |is: &dyn Fn(&Path) -> bool| places::placed_source(reader.record(), &name, is);
    let there = placed(&|path| is_own(path) && path.is_file());
    if let Some((source, _)) = there.or_else(|| placed(&is_own)) {
        return Ok(source);
    }
    file_of(family, &name).ok_or(Error::Export(ExportError::NoProgramFolder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_added_just_before_the_rename_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("s.jsonl"), folder.path().join("new"));
        std::fs::write(&path, "a\nadded\n").unwrap();
        std::fs::write(&new, "a\nstore\n").unwrap();
        let mut old = File::open(&path).unwrap();
        std::fs::rename(&new, &path).unwrap();
        assert_eq!(carry_over(&mut old, 2, &path).unwrap(), 6);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\nstore\nadded\n");
        assert_eq!(carry_over(&mut old, 8, &path).unwrap(), 0);
    }
}
