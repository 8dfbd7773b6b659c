//! The files for `import` and `sync`.

use std::path::{Path, PathBuf};

use leafline::Family;
use leafline_import::lines::LONGEST_LINE;

use super::discovery::{Discovery, folders_to_watch};
use crate::failure::{Failure, complain, usage};
use crate::family::{AUTO, FamilyChoice, family_or_auto};
use crate::place::shown;

/// Which files to read, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Sources {
    /// Files, or folders that are searched for *.jsonl [default: where the programs keep their sessions]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The program that wrote the files; without a PATH, import only its folder
    #[arg(long, value_parser = family_or_auto(), default_value = AUTO)]
    family: FamilyChoice,

    /// The folder of the blobs that sessions refer to, each named by its SHA-256 [default: omp's own, for omp's folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) blobs: Option<PathBuf>,

    /// The most bytes of a line, which is held in memory as a whole; a file with a longer line fails
    #[arg(long, value_name = "BYTES", default_value_t = LONGEST_LINE)]
    pub(crate) longest_line: u64,
}

impl Sources {
    /// The chosen family.
    pub(crate) fn family(&self) -> Option<Family> {
        self.family.0
    }

    /// Whether the only path is standard input.
    pub(super) fn is_input(&self) -> bool {
        matches!(self.paths.as_slice(), [path] if is_standard_input(path))
    }

    /// The folder of blobs, if one is named; it must exist.
    pub(super) fn check_blobs(&self) -> Result<(), Failure> {
        match self.blobs.as_ref().filter(|path| !path.is_dir()) {
            Some(path) => Err(Failure::NoBlobFolder { path: path.clone() }),
            None => Ok(()),
        }
    }

    /// The paths, or without any the programs' folders.
    pub(crate) fn find(&self) -> Result<(Vec<PathBuf>, Option<Discovery>), Failure> {
        self.check()?;
        if !self.paths.is_empty() {
            return Ok((self.paths.clone(), None));
        }
        let discovery = Discovery::of(self.family())?;
        Ok((discovery.paths(), Some(discovery)))
    }

    /// The given paths, or else the programs' folders that exist, even if the programs have deleted all files in them.
    pub(crate) fn to_sync(&self) -> Result<Vec<PathBuf>, Failure> {
        self.check()?;
        if !self.paths.is_empty() {
            return Ok(self.paths.clone());
        }
        let folders = folders_to_watch(self.family())?;
        let there: Vec<PathBuf> = folders.iter().filter(|path| path.exists()).cloned().collect();
        if there.is_empty() { Err(Failure::NothingToImport { folders }) } else { Ok(there) }
    }

    /// The paths, or without any the programs' folders, those that are not there yet too.
    pub(crate) fn to_watch(&self) -> Result<Vec<PathBuf>, Failure> {
        self.check()?;
        if self.paths.is_empty() {
            return folders_to_watch(self.family());
        }
        for path in self.paths.iter().filter(|path| !path.exists()) {
            complain(&format!("{} is not there; it is watched once it is", shown(path)));
        }
        Ok(self.paths.clone())
    }

    fn check(&self) -> Result<(), Failure> {
        self.check_blobs()?;
        if self.paths.iter().any(|path| is_standard_input(path)) {
            return Err(usage(
                "- is standard input, which is one session: `leafline import -`; a file of that name is ./-",
            ));
        }
        Ok(())
    }
}

/// Whether an argument is standard input, and no file: one of that name is `./-`.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}
