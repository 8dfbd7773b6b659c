//! Breadcrumbs: each terminal's last session (omp session storage document, terminal breadcrumbs).

use std::ffi::OsStr;
use std::io::{IsTerminal, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::folder::{Folder, whole_directory};
use crate::destination::absolute_or_given;
use crate::error::{Error, FileContext, Result, SessionError};
use crate::open_folder::{Kind, OpenFolder, parts};
use crate::regular_file::may_be_at;
use crate::rights::Rights;
use crate::session::{NewSession, Session};
use crate::store::Store;
use crate::temporary::remove_left_inside;
use crate::whole_file::WholeFile;

/// The longest breadcrumb that is read: two paths.
const LONGEST: u64 = 64 << 10;

/// The separator between a store's file and a session's id.
const SEPARATOR: &str = "#";

/// The variables that identify a window of a terminal program, in the order in which omp asks them, and the prefix of
/// such a terminal's id.
const VARIABLES: [(&str, &str); 4] = [
    ("KITTY_WINDOW_ID", "kitty"),
    ("TMUX_PANE", "tmux"),
    ("TERM_SESSION_ID", "apple"),
    ("WT_SESSION", "wt"),
];

/// A folder of breadcrumbs, one file per terminal, and the terminal in which they are followed.
///
/// A breadcrumb is two lines: the working directory, and the session's file. omp keeps its own in
/// `~/.omp/agent/terminal-sessions`, and each of the two programs can follow the other's: an imported session is named
/// by the file it came from, if that still exists. A session without a file is named `<store>#<session id>`; omp finds
/// no such file and uses the latest session instead.
///
/// ```
/// use leafline::{Family, NewSession, Store};
/// use leafline::live::Persistence;
/// use leafline::omp::Breadcrumbs;
///
/// # fn main() -> leafline::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let store = Store::open(folder.path().join("sessions.leafline"))?;
/// let breadcrumbs =
///     Breadcrumbs::new(folder.path().join("terminal-sessions")).in_terminal(Some("pts-3"));
/// let mut new = NewSession::new(Family::Omp, "/work");
/// new.persistence = Some(Persistence::keep_everything());
/// let first = breadcrumbs.create_session(&store, &new)?.id().to_owned();
/// // A session of another terminal.
/// store.create_session(&new)?;
/// assert_eq!(breadcrumbs.continue_recent(&store, &new)?.id(), first);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Breadcrumbs {
    folder: PathBuf,
    terminal: Option<String>,
}

/// What a breadcrumb says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breadcrumb {
    /// The working directory.
    pub cwd: String,
    /// The session's file; for a session without one, `<store>#<session id>`.
    pub session_file: String,
}

impl Breadcrumbs {
    /// The breadcrumbs in a folder, followed in this process's terminal. A relative path begins in the working directory of this
    /// moment.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = absolute_or_given(folder.into());
        Self { folder, terminal: None }.in_terminal(terminal_id().as_deref())
    }

    /// The same for another terminal; with `None`, no breadcrumbs are left or followed.
    #[must_use]
    pub fn in_terminal(self, id: Option<&str>) -> Self {
        Self { terminal: id.filter(|id| is_inside(id)).map(str::to_owned), ..self }
    }

    /// Records a session as the terminal's last one in a directory. Returns whether it did: it does not without a
    /// terminal, for paths that do not fit on a line, or if the terminal's name is taken by a link or a file that is
    /// not a breadcrumb.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn write(&self, cwd: &str, session: &Session) -> Result<bool> {
        let Some(terminal) = &self.terminal else { return Ok(false) };
        let cwd = whole_directory(cwd)?;
        let file = session_file(session)?;
        let Some(file) = file.filter(|file| !file.contains(['\n', '\r'])) else {
            return Ok(false);
        };
        if cwd.is_empty() || cwd.contains(['\n', '\r']) {
            return Ok(false);
        }
        let path = self.folder.join(terminal);
        // One of omp's has nothing to do with the store.
        let store = session.store();
        let is_of_store = !store.is_in_memory() && self.folder == store.terminals_folder();
        let is_new = !self.folder.exists();
        let root = OpenFolder::make(&self.folder).at("making the folder", &self.folder)?;
        if is_of_store && is_new {
            let rights = Rights::at(store.path()).at("looking at", store.path())?;
            rights.lend_folder(&self.folder);
        }
        // Another terminal's file may be in the way, or a link.
        let Ok((folder, name)) = inside(root, terminal, OpenFolder::make_inner) else {
            return Ok(false);
        };
        if !may_be_written(&folder, name).at("reading", &path)? {
            return Ok(false);
        }
        remove_left_inside(&folder);
        let written = WholeFile::inside(&Arc::new(folder), name, session.store().path())?;
        written
            .file()
            .write_all(
                format!(
                    "{cwd}
{file}
"
                )
                .as_bytes(),
            )
            .at("writing", &path)?;
        if is_of_store {
            let rights = Rights::at(&self.folder).at("looking at", &self.folder)?;
            let _ = rights.lend(written.file());
        }
        written.name()?;
        Ok(true)
    }

    /// The terminal's breadcrumb; `None` if there is none, or if something else has its name: another file, a pipe, a
    /// link, which is not followed.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn read(&self) -> Result<Option<Breadcrumb>> {
        let Some(terminal) = &self.terminal else { return Ok(None) };
        let root =
            OpenFolder::open_if_there(&self.folder).at("opening the folder", &self.folder)?;
        let Some(root) = root else { return Ok(None) };
        let Ok((folder, name)) = inside(root, terminal, OpenFolder::inner) else {
            return Ok(None);
        };
        let text = read(&folder, name).at("reading", &self.folder.join(terminal))?;
        let Some(text) = text else { return Ok(None) };
        let mut lines = text.trim().lines();
        Ok(lines.next().zip(lines.next()).map(|(cwd, session_file)| Breadcrumb {
            cwd: cwd.to_owned(),
            session_file: session_file.to_owned(),
        }))
    }

    /// [`Store::create_session`], with a breadcrumb for the session.
    ///
    /// # Errors
    ///
    /// Those of [`Store::create_session`] and [`Self::write`].
    pub fn create_session(&self, store: &Store, new: &NewSession) -> Result<Session> {
        let session = store.create_session(new)?;
        self.write(&new.cwd, &session)?;
        Ok(session)
    }

    /// [`Store::session`], to open a session or to switch to it from a directory, with a breadcrumb for it.
    ///
    /// # Errors
    ///
    /// Those of [`Store::session`] and [`Self::write`].
    pub fn session(&self, store: &Store, id: &str, cwd: &str) -> Result<Session> {
        let session = store.session(id)?;
        self.write(cwd, &session)?;
        Ok(session)
    }

    /// The terminal's last session, if it was in the same directory, belongs to the family and still exists; otherwise
    /// [`Store::continue_recent`]. Leaves a breadcrumb for it.
    ///
    /// # Errors
    ///
    /// Those of [`Store::continue_recent`], [`Self::read`] and [`Self::write`].
    pub fn continue_recent(&self, store: &Store, new: &NewSession) -> Result<Session> {
        let folder = Folder::new(&new.cwd);
        let breadcrumb = self.read()?.filter(|breadcrumb| folder.is(&breadcrumb.cwd));
        let last = match breadcrumb {
            Some(breadcrumb) => find(store, &breadcrumb.session_file, new)?,
            None => None,
        };
        let session = match last {
            Some(session) => session,
            None => store.continue_recent(new)?,
        };
        self.write(&new.cwd, &session)?;
        Ok(session)
    }
}

/// This process's terminal: the device at standard input, such as `pts-3`; otherwise the window as identified by the
/// terminal program, such as `tmux-%1` (observed in omp). `None` if neither identifies it.
///
/// The device is available on Linux; elsewhere only the variables count.
pub fn terminal_id() -> Option<String> {
    let device = || {
        let path = std::fs::read_link("/proc/self/fd/0").ok()?;
        Some(path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "-"))
    };
    let device = if std::io::stdin().is_terminal() { device() } else { None };
    device.or_else(|| id_of_variables(|name| std::env::var(name).ok()))
}

fn id_of_variables(value_of: impl Fn(&str) -> Option<String>) -> Option<String> {
    VARIABLES.iter().find_map(|(variable, program)| {
        let value = value_of(variable).filter(|value| !value.is_empty())?;
        Some(format!("{program}-{value}"))
    })
}

/// Whether a terminal's id is the path of a file inside the folder, and not hidden.
fn is_inside(id: &str) -> bool {
    let names = || Path::new(id).components();
    let is_name = |name: &OsStr| !name.as_encoded_bytes().starts_with(b".");
    names().count() > 0
        && names().all(|name| matches!(name, Component::Normal(name) if is_name(name)))
        && !id.ends_with('/')
        && !id.contains(char::is_control)
}

/// The folder and the name of a terminal's file. An id with a `/` is a file in a folder of the folder, as omp has it.
fn inside(
    root: OpenFolder,
    terminal: &str,
    open: impl Fn(&OpenFolder, &OsStr) -> std::io::Result<OpenFolder>,
) -> std::io::Result<(OpenFolder, &OsStr)> {
    let (mut folders, name) = parts(terminal);
    Ok((folders.try_fold(root, |folder, name| open(&folder, name))?, name))
}

/// Whether a breadcrumb's file is missing, incompletely written, or a breadcrumb. Anything else with its name is the
/// user's, and so is a link, wherever it leads.
fn may_be_written(folder: &OpenFolder, name: &OsStr) -> std::io::Result<bool> {
    if folder.look(name)?.is_none() {
        return Ok(true);
    }
    let text = read(folder, name)?;
    Ok(text.is_some_and(|text| text.is_empty() || is_breadcrumb(&text)))
}

/// The text of a file that may be a breadcrumb; `None` if it is none, or if it is too long or not text.
fn read(folder: &OpenFolder, name: &OsStr) -> std::io::Result<Option<String>> {
    if folder.look(name)?.is_none_or(|found| found.kind != Kind::File) {
        return Ok(None);
    }
    let mut text = Vec::new();
    folder.read(name)?.take(LONGEST + 1).read_to_end(&mut text)?;
    let is_short = text.len() as u64 <= LONGEST;
    Ok(String::from_utf8(text).ok().filter(|_| is_short))
}

/// Whether a text is a directory and the absolute path of a file, each on a line.
fn is_breadcrumb(text: &str) -> bool {
    let mut lines = text.trim_end().lines();
    let (cwd, file, more) = (lines.next(), lines.next(), lines.next());
    cwd.is_some_and(|cwd| !cwd.is_empty())
        && file.is_some_and(|file| Path::new(file).is_absolute())
        && more.is_none()
}

/// The name of the session in a breadcrumb; `None` if it is not text, or if the store is in memory.
fn session_file(session: &Session) -> Result<Option<String>> {
    let store = session.store();
    let Some(prefix) = prefix_of(store.path()) else { return Ok(None) };
    let record = match session.is_waiting() {
        true => None,
        false => store.snapshot()?.session(session.key())?,
    };
    let sources = record.map(|record| record.rest.sources).unwrap_or_default();
    let files = sources.into_iter().filter_map(|path| String::from_utf8(path).ok());
    let file = files.rev().find(|path| may_be_at(Path::new(path)));
    Ok(Some(file.unwrap_or_else(|| format!("{prefix}{}", session.id()))))
}

/// The beginning of the names of a store's sessions in breadcrumbs.
fn prefix_of(store: &Path) -> Option<String> {
    let path = std::path::absolute(store).ok()?;
    Some(format!("{}{SEPARATOR}", path.to_str()?))
}

/// The session of the family that a breadcrumb names, if the store has it.
fn find(store: &Store, file: &str, new: &NewSession) -> Result<Option<Session>> {
    let snapshot = store.snapshot()?;
    let id = match snapshot.source(file.as_bytes())? {
        Some(source) => snapshot.session(source.session)?.map(|record| record.id()),
        None => {
            prefix_of(store.path()).and_then(|prefix| file.strip_prefix(&prefix).map(str::to_owned))
        }
    };
    let Some(id) = id else { return Ok(None) };
    match store.session(&id) {
        // The beginning of another session's id does not name that session.
        Ok(session) if session.id() == id && session.reader()?.family() == new.family => {
            Ok(Some(session))
        }
        Ok(_)
        | Err(Error::Session(SessionError::NotFound { .. } | SessionError::Ambiguous { .. })) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_identified_by_their_programs() {
        let of = |set: &[(&str, &str)]| {
            id_of_variables(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("TMUX_PANE", "")]), None);
        assert_eq!(of(&[("WT_SESSION", "a-b"), ("TMUX_PANE", "%3")]).as_deref(), Some("tmux-%3"));
        let kitty_and_tmux = [("TMUX_PANE", "%3"), ("KITTY_WINDOW_ID", "7")];
        assert_eq!(of(&kitty_and_tmux).as_deref(), Some("kitty-7"));
        assert_eq!(of(&[("WEZTERM_PANE", "2")]), None);
        let all = [("WEZTERM_PANE", "2"), ("WT_SESSION", "a-b"), ("TERM_SESSION_ID", "w0")];
        assert_eq!(of(&all).as_deref(), Some("apple-w0"));
        assert_eq!(of(&[("TERM_SESSION_ID", "x/y")]).as_deref(), Some("apple-x/y"));
    }

    #[test]
    #[cfg(unix)]
    fn other_files_are_not_breadcrumbs() {
        for own in ["/work\n/s.jsonl\n", "/work\n/store#id", "C:\\work\r\n/s.jsonl\r\n\n"] {
            assert!(is_breadcrumb(own), "{own:?}");
        }
        for other in ["", "\n", "\n/s.jsonl\n", "/work\n", "/work\nnotes\n", "a\n/b\nc\n", "{}"] {
            assert!(!is_breadcrumb(other), "{other:?}");
        }
    }

    #[test]
    fn ids_stay_in_their_folder() {
        for id in ["pts-3", "tmux-%1", "apple-x/y", "a..b"] {
            assert!(is_inside(id), "{id:?}");
        }
        for id in
            ["", ".", "..", "../x", "x/../../y", "apple-/../y", "/x", "x/", "x/.y", ".x", "a\nb"]
        {
            assert!(!is_inside(id), "{id:?}");
        }
    }
}
