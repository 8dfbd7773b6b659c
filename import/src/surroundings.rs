//! What decides where a program keeps its sessions, besides the program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The user's home folder and the variables of the environment.
pub struct Surroundings<'s> {
    home: &'s Path,
    variable: &'s dyn Fn(&str) -> Option<OsString>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Surroundings").field("home", &self.home).finish_non_exhaustive()
    }
}

impl<'s> Surroundings<'s> {
    /// With this home folder, and the values of variables that `variable` gives.
    pub fn new(home: &'s Path, variable: &'s dyn Fn(&str) -> Option<OsString>) -> Self {
        Self { home, variable }
    }

    /// The home folder.
    pub(crate) fn home(&self) -> &Path {
        self.home
    }

    /// A variable's value.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        (self.variable)(name)
    }

    /// The path that a variable has; `None` if it is empty.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// [`Self::path`], in which a `~` at the beginning is the home folder.
    pub(crate) fn path_from_home(&self, name: &str) -> Option<PathBuf> {
        let path = self.path(name)?;
        match path.strip_prefix("~") {
            Ok(below) => Some(self.home.join(below)),
            Err(_) => Some(path),
        }
    }
}
