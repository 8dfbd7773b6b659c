//! Where the programs keep their sessions.

use std::path::{Path, PathBuf};

use leafline_import::{Family, FileName, Surroundings};

use super::import::{NotFound, find_files};

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
    in_surroundings(folders_in)
}

/// The folders in the surroundings of this process: none if the user's home folder is not known.
fn in_surroundings<Folder>(folders: impl FnOnce(&Surroundings<'_>) -> Vec<Folder>) -> Vec<Folder> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let variable = |name: &str| std::env::var_os(name);
    home.map_or_else(Vec::new, |home| folders(&Surroundings::new(&home, &variable)))
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

    /// Whether an import of it [leaves files out](crate::import::ImportTotals::left_out).
    #[must_use]
    pub fn has_left_out(&self) -> bool {
        let mut has_left_out = false;
        find_files(&[&self.path], &mut |_, problem| {
            has_left_out |= matches!(problem, NotFound::LeftOut(_));
        });
        has_left_out
    }
}

/// The folders of one program, existing or not: first the one in which it begins sessions. Empty if the user's home folder is
/// not known.
pub(super) fn folders_of(family: Family) -> Vec<PathBuf> {
    let folders = in_surroundings(|surroundings| family.folders(surroundings));
    folders.iter().filter_map(|folder| std::path::absolute(folder).ok()).collect()
}

/// The path of the file that a program would write for a session begun here; `None` if the user's home folder is not known.
pub(super) fn file_of(family: Family, name: &FileName<'_>) -> Option<PathBuf> {
    let paths = in_surroundings(|surroundings| {
        let folder = family.folders(surroundings).into_iter().take(1);
        folder.map(|folder| folder.join(family.file_at_home(name, surroundings))).collect()
    });
    paths.first().and_then(|path| std::path::absolute(path).ok())
}

/// The files in which programs keep what was typed, of those programs whose own folder of sessions is among these paths: for
/// [`PromptHistory::import_claude`](crate::prompts::PromptHistory::import_claude).
#[must_use]
pub fn prompt_files(paths: &[impl AsRef<Path>]) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> =
        paths.iter().filter_map(|path| std::path::absolute(path).ok()).collect();
    let mut files = Vec::new();
    for family in Family::ALL {
        let Some(name) = family.prompts() else { continue };
        let own = folders_of(*family).into_iter().filter(|folder| paths.contains(folder));
        files.extend(own.map(|folder| folder.with_file_name(name)).filter(|file| file.is_file()));
    }
    files
}

/// Whether a path, existing or not, leads into one of these folders, through links or not.
pub(super) fn is_in(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| {
        let leads_there = |real: &Path| {
            let mut above = path.ancestors();
            above.any(|above| above.canonicalize().is_ok_and(|above| above.starts_with(real)))
        };
        path.starts_with(folder) || folder.canonicalize().is_ok_and(|real| leads_there(&real))
    })
}

/// The folder in which a program keeps the blobs of the sessions at these paths: that of the first path that has one.
pub(super) fn blobs_of(paths: &[impl AsRef<Path>]) -> Option<PathBuf> {
    paths.iter().find_map(|path| {
        let path = std::path::absolute(path).ok()?;
        let folders = |&family: &Family| {
            // A folder of exports has one for each program.
            let sessions = family.folder().last().copied().unwrap_or_default();
            let exported = path.join(family.name()).join(sessions);
            [family.blobs_folder(&path, &folders_of(family)), family.blobs_folder(&exported, &[])]
        };
        Family::ALL.iter().flat_map(folders).flatten().find(|blobs| blobs.is_dir())
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
    #[cfg(unix)]
    fn a_folder_has_what_links_lead_to() {
        let place = tempfile::tempdir().unwrap();
        let [real, link, other] = ["real", "link", "other"].map(|name| place.path().join(name));
        std::fs::create_dir_all(real.join("inner")).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for (path, folder) in [(&real, &link), (&link, &real), (&real, &real)] {
            let folder = [folder.join("inner")];
            assert!(is_in(&path.join("inner/gone/a.jsonl"), &folder), "{}", path.display());
            assert!(!is_in(&path.join("a.jsonl"), &folder));
        }
        assert!(!is_in(&other.join("a.jsonl"), &[real, link, place.path().join("not there")]));
        assert!(is_in(&place.path().join("not there/a"), &[place.path().join("not there")]));
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
