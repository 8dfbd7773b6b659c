//! The programs' folders in the user's home folder.

use std::path::{Path, PathBuf};

use leafline::Family;
use leafline::import::{ProgramFolder, program_folders};
use serde::Serialize;

use super::teller::STATUS_WIDTH;
use crate::failure::Failure;
use crate::number::{bytes, counted};
use crate::output::{FAINT, GOOD, Output};
use crate::place::shown;
use crate::show::write_beside;
use crate::text;

/// Where the programs keep their sessions, a line each.
pub(super) fn folders() -> String {
    let widest = Family::ALL.iter().map(|family| family.program().len()).max().unwrap_or(0);
    let mut lines = String::new();
    for family in Family::ALL {
        let folder = Path::new("~").join(family.folder().iter().collect::<PathBuf>());
        let blobs = family.blobs_folder(&folder, &[]);
        let blobs = blobs
            .map(|blobs| format!(", with the blobs in {}", blobs.display()))
            .unwrap_or_default();
        let program = family.program();
        lines += &format!("  {program:widest$}   {}{blobs}\n", folder.display());
    }
    let mut named: Vec<&str> = Vec::new();
    for name in Family::ALL.iter().flat_map(|family| family.folder_variables()) {
        if !named.contains(name) {
            named.push(name);
        }
    }
    lines += &format!("or where the programs' own variables say: {}\n", named.join(", "));
    lines
}

/// The programs' folders, with and without session files.
pub(crate) struct Discovery {
    found: Vec<ProgramFolder>,
    folders: Vec<FoundFolder>,
}

/// One folder, as reported.
#[derive(Debug, Serialize)]
pub(crate) struct FoundFolder {
    family: &'static str,
    path: String,
    exists: bool,
    files: u64,
    bytes: u64,
}

impl Discovery {
    /// Looks for all programs' folders, or for one program's. Fails if no file is found.
    pub(crate) fn of(family: Option<Family>) -> Result<Self, Failure> {
        let mut found = program_folders();
        if found.is_empty() {
            return Err(Failure::NoHomeFolder);
        }
        found.retain(|folder| family.is_none_or(|family| family == folder.family));
        let folders: Vec<FoundFolder> = found.iter().map(FoundFolder::new).collect();
        if folders.iter().all(|folder| folder.files == 0)
            && !found.iter().any(ProgramFolder::has_left_out)
        {
            let folders = found.into_iter().map(|folder| folder.path).collect();
            return Err(Failure::NothingToImport { folders });
        }
        found.retain(ProgramFolder::exists);
        Ok(Self { found, folders })
    }

    /// The folders that exist, each once: programs may share one.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        each_once(&self.found)
    }

    /// All folders, for JSON.
    pub(super) fn folders(&self) -> &[FoundFolder] {
        &self.folders
    }

    /// Prints a line per folder.
    pub(super) fn print(&self, out: &mut Output) -> Result<(), Failure> {
        for folder in &self.folders {
            let (status, style) =
                if folder.exists { ("found", GOOD) } else { ("not there", FAINT) };
            let size = match folder.exists {
                true => [counted(folder.files, "file", "files"), bytes(folder.bytes)],
                false => ["-".to_owned(), "-".to_owned()],
            };
            let status = format!("{}  ", out.paint(style, &format!("{status:<9}")));
            let rest = format!(
                "{:<36}  {:>14}  {:>8}  {}",
                folder.family,
                size[0],
                size[1],
                text::printable(&folder.path),
            );
            write_beside(&status, STATUS_WIDTH, &rest, out)?;
        }
        out.show()
    }
}

/// The folders of all programs or of one, those that are not there yet too.
pub(crate) fn folders_to_watch(family: Option<Family>) -> Result<Vec<PathBuf>, Failure> {
    let mut folders = program_folders();
    folders.retain(|folder| family.is_none_or(|family| family == folder.family));
    if folders.is_empty() { Err(Failure::NoHomeFolder) } else { Ok(each_once(&folders)) }
}

fn each_once(folders: &[ProgramFolder]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders {
        if !paths.contains(&folder.path) {
            paths.push(folder.path.clone());
        }
    }
    paths
}

impl FoundFolder {
    fn new(folder: &ProgramFolder) -> Self {
        let (files, bytes) = folder.size();
        Self {
            family: folder.family.name(),
            path: shown(&folder.path),
            exists: folder.exists(),
            files,
            bytes,
        }
    }
}
