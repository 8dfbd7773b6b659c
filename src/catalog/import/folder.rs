//! Finding the files of an import.

use std::ffi::OsStr;
use std::fs::{DirEntry, File, Metadata};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leafline_import::{Family, LeftOutReason};

use crate::regular_file::{check_regular, open_regular};
use crate::store::beside::ENDING;
use crate::store::home::{self, InHome};
use crate::store::source_record::path_of_bytes;
use crate::temporary::is_temporary;

/// Receives each file or folder that is not examined, and why.
type Failed<'f> = &'f mut dyn FnMut(&Path, &NotFound);

/// Why a file or a folder is not examined.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotFound {
    /// The system does not let it be seen.
    #[error("looking at it: {0}")]
    Failed(#[from] Error),
    /// A link to a folder above it.
    #[error("it is a link to a folder that it is in; it is not followed")]
    Loop,
    /// A link that leads nowhere.
    #[error("it is a link that leads nowhere")]
    Nowhere,
    /// A session's file in a form that is not read.
    #[error("{0}")]
    LeftOut(LeftOutReason),
}

/// A file that may be a session, as it was when it was found.
#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) modified: Option<SystemTime>,
    /// What was kept of an input that is no file; the path is only its name.
    pub(crate) kept: Option<File>,
}

impl FoundFile {
    fn new(path: PathBuf, metadata: &Metadata) -> Self {
        Self { path, bytes: metadata.len(), modified: metadata.modified().ok(), kept: None }
    }

    /// What was kept of an input, under a name for its report. Nobody has seen its time.
    pub(super) fn kept(name: PathBuf, file: File, metadata: &Metadata) -> Self {
        Self { path: name, bytes: metadata.len(), modified: None, kept: Some(file) }
    }

    /// Opens it to read it. What was kept is read from where it was last read.
    pub(super) fn open(&self) -> std::io::Result<File> {
        match &self.kept {
            Some(kept) => kept.try_clone(),
            None => open_regular(&self.path),
        }
    }
}

/// The files that the paths name, in order: the contents of a folder by name, files and folders mixed. Links are
/// followed; but each folder is examined only once, at the path where it really is if that is below one of the paths.
pub(crate) fn find(paths: &[impl AsRef<Path>], failed: Failed<'_>) -> Vec<FoundFile> {
    Search::of(paths, None, failed).files
}

/// The same, and the files that may stand beside sessions: those in a folder with the name of a session's file without its
/// ending, and in the folders in that. The file is there too, or `is_known` says of its path that it was imported from. Of a
/// path that is a file, those in the folder beside it. Of each session's file those in the folders for it in its program's home
/// too. A link to such a folder is followed, and so are links to files; one to a folder further down is not: what it leads to is
/// not what the program keeps. Agents' sessions in the folder beside a named file are taken only `with_agents`.
pub(super) fn find_with_beside(
    (paths, with_agents): (&[impl AsRef<Path>], bool),
    is_known: &dyn Fn(&Path) -> bool,
    failed: Failed<'_>,
) -> (Vec<FoundFile>, Vec<PathBuf>) {
    let beside = Some(Beside { is_known, with_agents, files: Vec::new() });
    let mut search = Search::of(paths, beside, failed);
    search.homes();
    (search.files, search.beside.map_or_else(Vec::new, |beside| beside.files))
}

/// A search of folders.
struct Search<'f> {
    /// The folders that are searched with all that is in them: where they really are.
    roots: Vec<PathBuf>,
    files: Vec<FoundFile>,
    /// What becomes of files with the names of sessions.
    sessions: Sessions,
    /// The files beside sessions, if they are wanted.
    beside: Option<Beside<'f>>,
    failed: Failed<'f>,
}

/// What becomes of files with the names of sessions.
#[derive(Clone, Copy)]
enum Sessions {
    /// They are taken as such.
    Wanted,
    /// They are left: agents' beside a file that the caller names.
    Left,
    /// They are files like others: no session is in the folders for one in its program's home.
    Files,
}

/// What is found beside sessions.
struct Beside<'f> {
    /// Whether a path that has no file was imported from.
    is_known: &'f dyn Fn(&Path) -> bool,
    /// True if the sessions in the folder beside a named file are taken.
    with_agents: bool,
    files: Vec<PathBuf>,
}

impl Beside<'_> {
    /// Whether a folder stands beside a session's file, or is in one that does.
    fn is_in(&self, folder: &Path) -> bool {
        let Ok(absolute) = std::path::absolute(folder) else { return false };
        absolute.ancestors().map(file_beside).any(|file| file.is_file() || (self.is_known)(&file))
            || is_in_home(&absolute)
    }
}

/// Whether an absolute path is in a folder for a session in a program's home, or is that folder.
pub(in crate::catalog) fn is_in_home(path: &Path) -> bool {
    home::places(path.as_os_str().as_encoded_bytes())
        .filter_map(|place| path_of_bytes(&place.session.sessions()))
        .any(|sessions| sessions.is_dir())
}

/// The session's file that a folder would stand beside.
pub(in crate::catalog) fn file_beside(folder: &Path) -> PathBuf {
    let mut file = folder.as_os_str().to_owned();
    file.push(ENDING);
    file.into()
}

/// A folder to be listed.
struct Folder {
    path: PathBuf,
    /// Whether a link on the way to it was followed, so that it may also be a root.
    is_linked: bool,
    /// Whether the files in it stand beside a session.
    is_beside: bool,
}

impl<'f> Search<'f> {
    /// Searches what the caller names.
    fn of(paths: &[impl AsRef<Path>], beside: Option<Beside<'f>>, failed: Failed<'f>) -> Self {
        let (roots, files) = (Vec::new(), Vec::new());
        let mut search = Self { roots, files, sessions: Sessions::Wanted, beside, failed };
        search.paths(paths);
        search
    }

    fn paths(&mut self, paths: &[impl AsRef<Path>]) {
        for path in paths {
            let path = path.as_ref();
            match std::fs::metadata(path) {
                Ok(metadata) if metadata.is_dir() => {
                    let is_beside = self.beside.as_ref().is_some_and(|beside| beside.is_in(path));
                    self.folder(path, is_beside);
                }
                Ok(metadata) => match check_regular(&metadata) {
                    Ok(()) => {
                        self.files.push(FoundFile::new(path.to_owned(), &metadata));
                        self.folder_beside(path);
                    }
                    Err(error) => (self.failed)(path, &error.into()),
                },
                Err(error) => (self.failed)(path, &error.into()),
            }
        }
    }

    /// Searches the folder beside a file, if there is one.
    fn folder_beside(&mut self, file: &Path) {
        let name = file.file_name().map(OsStr::as_encoded_bytes);
        let has_ending = name.is_some_and(|name| {
            name.strip_suffix(ENDING.as_bytes()).is_some_and(|stem| !stem.is_empty())
        });
        let folder = file.with_extension("");
        if let Some(beside) = self.beside.as_ref().filter(|_| has_ending && folder.is_dir()) {
            if !beside.with_agents {
                self.sessions = Sessions::Left;
            }
            self.folder(&folder, true);
            self.sessions = Sessions::Wanted;
        }
    }

    /// Searches the folders that programs have in their homes for the sessions that were found.
    fn homes(&mut self) {
        let mut folders = Vec::new();
        for file in &self.files {
            let Ok(file) = std::path::absolute(&file.path) else { continue };
            let session = InHome::of_file(file.as_os_str().as_encoded_bytes());
            let paths = session.into_iter().flat_map(InHome::folders);
            let paths = paths.filter_map(|(_, folder)| path_of_bytes(&folder));
            folders.extend(paths.filter(|folder| folder.is_dir()));
        }
        self.sessions = Sessions::Files;
        for folder in folders {
            self.folder(&folder, true);
        }
        self.sessions = Sessions::Wanted;
    }

    /// Searches a folder that the caller names.
    fn folder(&mut self, path: &Path, is_beside: bool) {
        // A folder that cannot be found any more is reported when it is listed.
        let root = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.roots = vec![root];
        // A list instead of recursion: a deep folder is bad input like any other.
        let mut folders = vec![Folder { path: path.to_owned(), is_linked: false, is_beside }];
        while let Some(folder) = folders.pop() {
            let inner = self.list(&folder);
            folders.extend(inner.into_iter().rev());
        }
    }

    /// Takes a folder's files, and returns the folders in it.
    fn list(&mut self, folder: &Folder) -> Vec<Folder> {
        let mut inner = Vec::new();
        let entries = match std::fs::read_dir(&folder.path) {
            Ok(entries) => entries,
            Err(error) => {
                (self.failed)(&folder.path, &error.into());
                return inner;
            }
        };
        let mut found = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => found.push(entry),
                // The system does not say which of its files the error is about.
                Err(error) => (self.failed)(&folder.path, &error.into()),
            }
        }
        found.sort_by_key(DirEntry::file_name);
        for entry in &found {
            let path = entry.path();
            let (mut is_linked, mut is_beside) = (folder.is_linked, folder.is_beside);
            let is_in = match find_at(entry) {
                Ok(Found::Folder) if folder.is_linked => self.is_new(&path),
                Ok(Found::Folder) => Ok(true),
                Ok(Found::LinkedFolder) => {
                    (is_linked, is_beside) = (true, false);
                    self.follow(&folder.path, &path)
                }
                Ok(Found::File(file)) if matches!(self.sessions, Sessions::Wanted) => {
                    self.files.push(file);
                    Ok(false)
                }
                Ok(Found::File(_)) if matches!(self.sessions, Sessions::Left) => Ok(false),
                Ok(Found::OtherFile)
                    if !is_beside && let Some(reason) = self.left_out(&path, &found) =>
                {
                    Err(NotFound::LeftOut(reason))
                }
                Ok(Found::OtherFile | Found::File(_)) => {
                    if let Some(beside) = self.beside.as_mut().filter(|_| is_beside) {
                        beside.files.push(path.clone());
                    }
                    Ok(false)
                }
                Ok(Found::Nothing) => Ok(false),
                Err(problem) => Err(problem),
            };
            match is_in {
                Ok(true) => {
                    if let Some(beside) = self.beside.as_ref().filter(|_| !is_beside) {
                        let file = file_beside(&path);
                        is_beside = is_among(&file, &found) || (beside.is_known)(&file);
                    }
                    inner.push(Folder { path, is_linked, is_beside });
                }
                Ok(false) => {}
                Err(problem) => (self.failed)(&path, &problem),
            }
        }
        inner
    }

    /// Why a file in a folder of sessions is left out although it holds one. Once it is decompressed, the session's file is
    /// next to it.
    fn left_out(&self, path: &Path, found: &[DirEntry]) -> Option<LeftOutReason> {
        if !matches!(self.sessions, Sessions::Wanted) {
            return None;
        }
        let name = path.file_name()?.to_str()?;
        let reason = Family::ALL.iter().find_map(|family| family.left_out(name))?;
        let plain = path.with_extension("");
        let is_plain_there = is_named_as_session(&plain) && is_among(&plain, found);
        (!is_plain_there).then_some(reason)
    }

    /// Whether a link to a folder is to be followed.
    fn follow(&mut self, folder: &Path, path: &Path) -> Result<bool, NotFound> {
        let target = std::fs::canonicalize(path)?;
        if std::fs::canonicalize(folder)?.starts_with(&target) {
            return Err(NotFound::Loop);
        }
        if self.roots.iter().any(|root| target.starts_with(root)) {
            // It is found where it is.
            return Ok(false);
        }
        self.roots.push(target);
        Ok(true)
    }

    /// Whether a folder below a link is not searched as a root.
    fn is_new(&self, path: &Path) -> Result<bool, NotFound> {
        Ok(!self.roots.contains(&std::fs::canonicalize(path)?))
    }
}

/// What a name in a folder stands for.
enum Found {
    Folder,
    /// A link to one.
    LinkedFolder,
    File(FoundFile),
    /// A file that is no session by its name.
    OtherFile,
    /// Nothing for an import, or no longer there.
    Nothing,
}

/// Whether one of these, which are in the order of their names, has a file's name.
fn is_among(file: &Path, entries: &[DirEntry]) -> bool {
    let order = |name: &OsStr| entries.binary_search_by(|entry| (*entry.file_name()).cmp(name));
    file.file_name().is_some_and(|name| order(name).is_ok())
}

/// Whether a file has the name of a session's.
pub(in crate::catalog) fn is_named_as_session(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

fn find_at(entry: &DirEntry) -> Result<Found, NotFound> {
    let path = entry.path();
    let has_ending = is_named_as_session(&path);
    let is_session = has_ending && !is_other_file(&entry.file_name());
    // What a program lists in such a file, and what an export is about to name, stays where it is.
    let is_other = !has_ending && !is_temporary(&entry.file_name());
    let kind = match entry.file_type() {
        Ok(kind) if kind.is_dir() => return Ok(Found::Folder),
        Ok(kind) if !is_session && kind.is_file() && is_other => return Ok(Found::OtherFile),
        Ok(kind) if !is_session && !kind.is_symlink() => return Ok(Found::Nothing),
        kind => kind,
    };
    let found = kind.and_then(|_| std::fs::metadata(&path));
    match found {
        Ok(metadata) if metadata.is_dir() => Ok(Found::LinkedFolder),
        Ok(metadata) if metadata.is_file() && is_session => {
            Ok(Found::File(FoundFile::new(path, &metadata)))
        }
        Ok(metadata) if metadata.is_file() && is_other => Ok(Found::OtherFile),
        Ok(_) => Ok(Found::Nothing),
        // Deleted since the folder was listed; a link that leads nowhere still exists.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if is_gone(&path) {
                Ok(Found::Nothing)
            } else if is_session {
                Err(error.into())
            } else {
                Err(NotFound::Nowhere)
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a program keeps something else than a session in files of this name.
fn is_other_file(name: &OsStr) -> bool {
    Family::ALL.iter().flat_map(|family| family.other_files()).any(|other| name == *other)
}

fn is_gone(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The files that are found below a folder, and what is said of links, as paths below the folder above it.
    fn found(folder: &Path) -> (Vec<String>, Vec<String>) {
        let above = folder.parent().unwrap();
        let name = |path: &Path| path.strip_prefix(above).unwrap().to_string_lossy().into_owned();
        let mut said = Vec::new();
        let files = find(&[folder], &mut |path, problem| {
            said.push(format!("{}: {problem}", name(path)));
        });
        (files.iter().map(|file| name(&file.path)).collect(), said)
    }

    fn write(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
    }

    #[test]
    fn links_to_folders_are_followed_once_and_loops_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["in/a/1.jsonl", "in/z/2.jsonl", "disk/p/3.jsonl", "disk/4.jsonl"] {
            write(&at(path));
        }
        // To another disk, twice; back from there; within the folder; to the folder itself and above it.
        symlink(at("disk"), at("in/b")).unwrap();
        symlink(at("disk/p"), at("in/c")).unwrap();
        symlink(at("in"), at("disk/back")).unwrap();
        symlink("../z", at("in/a/y")).unwrap();
        symlink("..", at("in/a/up")).unwrap();
        symlink(folder.path(), at("in/above")).unwrap();
        symlink("nowhere", at("in/gone")).unwrap();
        symlink("nowhere", at("in/x.jsonl")).unwrap();
        let (files, said) = found(&at("in"));
        assert_eq!(files, ["in/a/1.jsonl", "in/b/4.jsonl", "in/b/p/3.jsonl", "in/z/2.jsonl"]);
        let expected = ["in/a/up: it is a link to", "in/above: it is a link to"];
        let nowhere = ["in/gone: it is a link that leads nowhere", "in/x.jsonl: looking at it: "];
        for expected in expected.iter().chain(&nowhere) {
            assert!(said.iter().any(|said| said.starts_with(expected)), "{expected}: {said:?}");
        }
        assert_eq!(said.len(), 4, "{said:?}");
    }

    #[test]
    fn compressed_files_are_left_out_where_sessions_are() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let [plain, compressed] = ["rollout-a.jsonl", "rollout-a.jsonl.zst"];
        for path in ["in/1/", "in/2/", "in/s/"] {
            write(&at(path).join(compressed));
        }
        // Beside it, and in the folder beside a session.
        write(&at("in/2").join(plain));
        write(&at("in/s.jsonl"));
        symlink(at("in/1").join(compressed), at("in/rollout-b.jsonl.zst")).unwrap();
        let mut left_out = Vec::new();
        let mut failed = |path: &Path, problem: &NotFound| {
            assert!(matches!(problem, NotFound::LeftOut(LeftOutReason::Compressed)), "{problem}");
            left_out.push(path.to_owned());
        };
        let (files, beside) = find_with_beside((&[at("in")], false), &|_| false, &mut failed);
        assert_eq!(files.len(), 2);
        assert_eq!(left_out, [at("in/rollout-b.jsonl.zst"), at("in/1").join(compressed)]);
        assert_eq!(beside, [at("in/s").join(compressed)]);
    }

    #[test]
    fn a_folder_that_a_link_holds_is_examined_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        write(&at("disk/project/sessions/1.jsonl"));
        write(&at("disk/project/2.jsonl"));
        std::fs::create_dir(at("in")).unwrap();
        // The inner folder first, and then one that it is in.
        symlink(at("disk/project/sessions"), at("in/a")).unwrap();
        symlink(at("disk/project"), at("in/b")).unwrap();
        let (files, said) = found(&at("in"));
        assert_eq!(files, ["in/a/1.jsonl", "in/b/2.jsonl"]);
        assert_eq!(said, [""; 0]);
    }
}
