//! Where the programs keep their sessions.

use std::path::{Path, PathBuf};

use leafline_import::{Family, Surroundings};

use super::import::find_files;

/// The folder in which a program keeps its sessions, existing or not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramFolder {
    /// The program.
    pub family: Family,
    /// The folder.
    pub path: PathBuf,
}

/// The folders in which the programs keep their sessions, in the order of [`Family::ALL`]; those into which a program
/// moves sessions follow its own if they exist. Empty if the user's home folder is not known.
///
/// They are `.pi/agent/sessions` (pi session file document, file location), `.omp/agent/sessions` (omp session storage
/// document), and, as observed, `.claude/projects`, `.opal/sessions` and `.codex/sessions` with
/// `.codex/archived_sessions`, all in the home folder: `HOME`, on Windows `USERPROFILE`. The programs' variables of the
/// environment for another folder, such as `CLAUDE_CONFIG_DIR`, are heeded ([`Family::folder_variables`]); their settings
/// files are not. Two programs that heed the same variable have the same folder.
///
/// ```
/// # fn main() -> leafline::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
/// let mut folders = leafline::import::program_folders();
/// folders.retain(|folder| folder.exists());
/// for folder in &folders {
///     let (files, bytes) = folder.size();
///     println!("{}: {files} files, {bytes} bytes in {}", folder.family, folder.path.display());
/// }
/// # folders.clear();
/// let paths: Vec<_> = folders.iter().map(|folder| &folder.path).collect();
/// store.import(&paths, &leafline::import::ImportOptions::default(), &mut ())?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn program_folders() -> Vec<ProgramFolder> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let variable = |name: &str| std::env::var_os(name);
    home.map(|home| folders_in(&Surroundings::new(&home, &variable))).unwrap_or_default()
}

fn folders_in(surroundings: &Surroundings<'_>) -> Vec<ProgramFolder> {
    let mut folders = Vec::new();
    for &family in Family::ALL {
        let of_family = family.folders(surroundings).into_iter().enumerate();
        let of_family = of_family.map(|(place, path)| (place, ProgramFolder { family, path }));
        folders.extend(
            of_family.filter(|(place, folder)| *place == 0 || folder.exists()).map(|(_, one)| one),
        );
    }
    folders
}

impl ProgramFolder {
    /// Whether it is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// The number and the bytes of the files that an import of it examines; zeros if it does not exist.
    #[must_use]
    pub fn size(&self) -> (u64, u64) {
        if !self.exists() {
            return (0, 0);
        }
        // The import reports what cannot be read.
        let files = find_files(&[&self.path], &mut |_, _| {});
        (files.len() as u64, files.iter().map(|file| file.bytes).sum())
    }
}

/// The folder in which a program keeps the blobs of the sessions at these paths: that of the first path that has one.
pub(super) fn blobs_of(paths: &[impl AsRef<Path>]) -> Option<PathBuf> {
    let programs = program_folders();
    let named = |family: Family| -> Vec<PathBuf> {
        let of_family = programs.iter().filter(|folder| folder.family == family);
        of_family.filter_map(|folder| std::path::absolute(&folder.path).ok()).collect()
    };
    paths.iter().find_map(|path| {
        let path = std::path::absolute(path).ok()?;
        let mut folders =
            Family::ALL.iter().filter_map(|&family| family.blobs_folder(&path, &named(family)));
        folders.find(|blobs| blobs.is_dir())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_stand_beside_omps_sessions_alone() {
        let home = tempfile::tempdir().unwrap();
        let omp = home.path().join(".omp/agent/sessions");
        let pi = home.path().join(".pi/agent/sessions");
        for folder in [&omp, &pi] {
            std::fs::create_dir_all(folder).unwrap();
        }
        assert_eq!(blobs_of(&[&omp]), None);
        for folder in [&omp, &pi] {
            std::fs::create_dir_all(folder.with_file_name("blobs")).unwrap();
        }
        let blobs = omp.with_file_name("blobs");
        assert_eq!(blobs_of(&[&pi]), None);
        assert_eq!(blobs_of(&[&pi, &omp]), Some(blobs.clone()));
        assert_eq!(blobs_of(&[omp.join("-work/one.jsonl")]), Some(blobs));
        assert_eq!(blobs_of(&[home.path()]), None);
    }

    #[test]
    fn a_folder_that_is_not_there_is_empty() {
        let home = tempfile::tempdir().unwrap();
        let folders = folders_in(&Surroundings::new(home.path(), &|_| None));
        assert_eq!(folders.len(), Family::ALL.len());
        assert!(folders.iter().all(|folder| !folder.exists() && folder.size() == (0, 0)));
        let claude = home.path().join(".claude/projects/-work");
        std::fs::create_dir_all(&claude).unwrap();
        std::fs::write(claude.join("a.jsonl"), "12345").unwrap();
        std::fs::write(claude.join("a.json"), "12345").unwrap();
        assert!(folders[2].exists());
        assert_eq!((folders[2].family, folders[2].size()), (Family::Claude, (1, 5)));
    }
}
