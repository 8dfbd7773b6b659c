//! How a session's program goes on with it.

use std::ffi::OsString;
use std::path::PathBuf;

use super::report::{ExportOutcome, ExportReport, KeptReason};
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
    /// The session's working directory, in which the program is to be started: some look for sessions by it. `None` if the
    /// session names none.
    pub directory: Option<PathBuf>,
    /// What was put where the program looks for it: the session's file, those of the agents that it has started, and those
    /// of the sessions that it continues without repeating them.
    pub files: Vec<ExportReport>,
}

impl Store {
    /// Puts a session back where its program looks for it, as [`Self::export_to_source`] does, and says how the program goes on
    /// with it.
    ///
    /// A file that is there stays. If it has all of the session, and perhaps more, the program goes on with it; otherwise
    /// something would be lost, and it is an error. A file of an agent's that differs is only reported.
    ///
    /// # Errors
    ///
    /// [`ExportError::NotResumable`] for an agent's session, and for those of a program of which it is not known how it goes
    /// on; [`ExportError::OtherFile`] if there is another file in the session's place;
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
        let mut files = self.export_to_source(&session)?;
        let own = files.first().expect("the session's own report comes first");
        goes_on_with(own)?;
        let command = facts.family.resume_command(&external, &own.path);
        let command = command.expect("the family has one: that was asked before");
        for base in bases {
            let report = self.put_back(&base)?;
            goes_on_with(&report)?;
            files.push(report);
        }
        let directory = facts.cwd.as_deref().map(PathBuf::from);
        Ok(Resumption { session, command, directory, files })
    }
}

/// Refuses a file that does not have all of its session.
fn goes_on_with(report: &ExportReport) -> Result<()> {
    match &report.outcome {
        ExportOutcome::Written { .. }
        | ExportOutcome::Unchanged
        | ExportOutcome::Kept { reason: KeptReason::HoldsMore } => Ok(()),
        _ => {
            let (session, path) = (report.session.clone(), report.path.clone());
            Err(Error::Export(ExportError::OtherFile { session, path }))
        }
    }
}
