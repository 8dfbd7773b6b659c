//! The selection of sessions by program and directory, for `ls` and `search`.

use std::path::PathBuf;

use leafline::Family;
use leafline::list::SessionFilter;

use super::directory;
use super::failure::Failure;
use super::family::any_family;

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
    /// A filter for these sessions.
    pub(super) fn filter(&self) -> Result<SessionFilter, Failure> {
        Ok(SessionFilter {
            family: self.family,
            below: self.cwd.as_deref().map(directory::whole).transpose()?,
            ..SessionFilter::default()
        })
    }
}
