//! The selection of sessions by program and directory, for `ls` and `search`.

use std::path::PathBuf;

use leafline::Family;
use leafline::list::SessionFilter;

use super::directory;
use super::failure::Failure;
use super::family::any_family;
use super::place::shown;

/// The sessions of a program and of a directory; all if neither is given.
#[derive(Debug, clap::Args)]
pub(super) struct SessionChoice {
    /// Only sessions of this program
    #[arg(long, value_name = "FAMILY", value_parser = any_family())]
    family: Option<Family>,

    /// Only sessions of this working directory and of those below it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

impl SessionChoice {
    /// The choice in words, to follow `session`: ` of pi in /work`; none if all are chosen.
    pub(super) fn words(&self) -> String {
        let family = self.family.map(|family| format!(" of {}", family.name()));
        let folder = self.cwd.as_deref().map(|folder| format!(" in {}", shown(folder)));
        family.into_iter().chain(folder).collect()
    }

    /// A filter for these sessions.
    pub(super) fn filter(&self) -> Result<SessionFilter, Failure> {
        Ok(SessionFilter {
            family: self.family,
            below: self.cwd.as_deref().map(directory::whole).transpose()?,
            ..SessionFilter::default()
        })
    }
}
