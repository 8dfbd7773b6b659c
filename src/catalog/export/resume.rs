//! How a session's program goes on with it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::report::ExportReport;
use super::to_source::{PuttingBack, has_all};
use crate::error::{Error, ExportError, Result};
use crate::store::Store;

/// What goes on with a session: its program, with these arguments, in this directory.
#[derive(Debug)]
#[non_exhaustive]
pub struct Resumption {
    /// The session's id.
    pub session: String,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// A command that must succeed first, for example if Codex has archived the session.
    pub before: Option<Vec<OsString>>,
    /// The session's working directory, in which the program is to be started: some look for sessions by it. If the session
    /// names none, the one in which the program finds the file; `None` if it finds it from anywhere.
    pub directory: Option<PathBuf>,
    /// The directory that the session's file names, if the project was moved and the program still works in that directory
    /// wherever it is started, as pi and omp do. A [fork](Store::fork_from) names the new directory.
    pub file_directory: Option<PathBuf>,
    /// What was put where the program looks for it: the session's file, those of the sessions that it continues without
    /// repeating them, and those of the agents that it has started; after each of them the files beside it.
    pub files: Vec<ExportReport>,
}

impl Store {
    /// Puts a session back where its program looks for it, as [`Self::export_to_source`] does, and says how the program goes on
    /// with it.
    ///
    /// An existing file stays if it has all of the session. Lines that the program has added to it are stored first, and the
    /// whole session takes its place. The same applies to a file of an earlier version whose bytes the store has. If the file and
    /// the session cannot be merged, it is an error, and no file is written. If an agent's file or a file beside a session
    /// differs, it is only reported.
    ///
    /// # Errors
    ///
    /// [`ExportError::NotResumable`] for an agent's session, and for those of a program of which it is not known how it goes
    /// on; [`ExportError::OtherFile`] if there is another file in the place of the session, or of one that it continues;
    /// [`SessionError::BaseNotFound`](crate::error::SessionError::BaseNotFound) if it continues a session that the store does
    /// not have; those of [`Self::export_to_source`].
    pub fn resume(&self, session: &str) -> Result<Resumption> {
        let reader = self.reader(session)?;
        let facts = reader.facts();
        let session = facts.id.to_string();
        let refused = |problem: String| {
            let session = session.clone();
            Error::Export(ExportError::NotResumable { session, problem })
        };
        if facts.agent.is_some() {
            let starter = facts.parent_session.as_deref().unwrap_or("another session");
            return Err(refused(format!(
                "it is an agent's, which {starter} has started: resume that"
            )));
        }
        let external = String::from_utf8_lossy(&reader.record().external_id).into_owned();
        if facts.family.resume_command(&external, "".as_ref()).is_none() {
            let family = facts.family.name();
            return Err(refused(format!("how {family} goes on with a session is not known")));
        }
        let bases = reader.bases()?;
        let mut needed = vec![PuttingBack::at_leaf(self, &session)?];
        for base in bases {
            needed.push(PuttingBack::of(self, &base)?);
        }
        if let Some(other) = needed.iter().find(|planned| !planned.has_all()) {
            return Err(refused_by(&session, other.path()));
        }
        let mut files = Vec::new();
        for planned in needed {
            let reports = planned.carry_out(self)?;
            let own = reports.first().expect("the session's own report comes first");
            // The program may have come meanwhile with a file of its own.
            if !has_all(&own.outcome) {
                return Err(refused_by(&session, &own.path));
            }
            files.extend(reports);
        }
        let path = files.first().expect("the session's own report comes first").path.clone();
        for agent in self.with_agents(&session)?.iter().skip(1) {
            files.extend(PuttingBack::of(self, agent)?.carry_out(self)?);
        }
        let command = facts.family.resume_command(&external, &path);
        let command = command.expect("the family has one: that was asked before");
        let before = facts.family.before_resuming(&external, &path);
        let directory = facts.cwd.as_deref().map(PathBuf::from);
        let directory = directory.or_else(|| facts.family.resume_directory(&path));
        let named = reader.record().cwd.as_deref().filter(|_| facts.family.is_pi_omp());
        let file_directory =
            named.map(PathBuf::from).filter(|named| Some(named) != directory.as_ref());
        Ok(Resumption { session, command, before, directory, file_directory, files })
    }
}

/// Refuses a session because of a file that does not have all that the store has.
fn refused_by(session: &str, path: &Path) -> Error {
    let (session, path) = (session.to_owned(), path.to_owned());
    Error::Export(ExportError::OtherFile { session, path })
}
