//! What `keep on` and `keep off` change: shown first, and then done.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use leafline::in_place::{is_refused_for_mount, write_over};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{FAINT, Output};
use crate::place::{quoted, shown};
use crate::text;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A file gets this content in place of the old one. What is shown of it is the part that is new.
    Write { path: PathBuf, old: Option<String>, new: String, shown: String },
    /// A file is deleted.
    Remove { path: PathBuf },
    /// A command is run; one that `may_fail` goes on.
    Run { program: String, arguments: Vec<String>, may_fail: bool },
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase", tag = "step")]
enum Json<'s> {
    Write { path: String, adds: &'s str },
    Remove { path: String },
    Run { command: Vec<&'s str> },
}

impl Step {
    pub(super) fn run(program: &str, arguments: &[&str]) -> Self {
        Self::running(program, arguments, false)
    }

    pub(super) fn try_to_run(program: &str, arguments: &[&str]) -> Self {
        Self::running(program, arguments, true)
    }

    fn running(program: &str, arguments: &[&str], may_fail: bool) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self::Run { program: program.to_owned(), arguments, may_fail }
    }

    /// A whole file.
    pub(super) fn write(path: PathBuf, old: Option<String>, new: String) -> Self {
        Self::Write { path, old, shown: new.clone(), new }
    }

    /// Prints what it will do, or has done.
    fn tell(&self, is_done: bool, out: &mut Output) -> Result<(), Failure> {
        let name = |path: &Path| text::printable(&shown(path)).into_owned();
        match self {
            Self::Write { path, old, new, shown } => {
                let what = match (old, shown.len() == new.len()) {
                    (None, _) => "write",
                    (Some(_), true) => "replace",
                    (Some(_), false) => "change",
                };
                let what = if is_done { done(what) } else { what };
                out.line(format_args!("{what} {}", name(path)))?;
                if !is_done {
                    for line in text::lines(shown) {
                        let line = out.paint(FAINT, &line);
                        out.line(format_args!("    {line}"))?;
                    }
                }
            }
            Self::Remove { path } => {
                let what = if is_done { "removed" } else { "remove" };
                out.line(format_args!("{what} {}", name(path)))?;
            }
            Self::Run { .. } => {
                let what = if is_done { "ran" } else { "run" };
                out.line(format_args!("{what} {}", text::printable(&self.command())))?;
            }
        }
        Ok(())
    }

    fn json(&self) -> Json<'_> {
        match self {
            Self::Write { path, shown: adds, .. } => Json::Write { path: shown(path), adds },
            Self::Remove { path } => Json::Remove { path: shown(path) },
            Self::Run { program, arguments, .. } => {
                let all = [program].into_iter().chain(arguments);
                Json::Run { command: all.map(String::as_str).collect() }
            }
        }
    }

    /// A command's line.
    fn command(&self) -> String {
        let Self::Run { program, arguments, .. } = self else { return String::new() };
        let words: Vec<String> =
            [program].into_iter().chain(arguments).map(|word| quoted(word)).collect();
        words.join(" ")
    }

    fn carry_out(&self) -> Result<(), Failure> {
        match self {
            Self::Write { path, old, new, .. } => write(path, old.as_deref(), new),
            Self::Remove { path } => match std::fs::remove_file(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                removed => {
                    removed.map_err(|source| Failure::KeepFile { path: path.clone(), source })
                }
            },
            Self::Run { program, arguments, may_fail } => {
                let mut command = Command::new(program);
                let failed = |problem: String| match may_fail {
                    true => Ok(()),
                    false => Err(Failure::KeepCommand { command: self.command(), problem }),
                };
                match command.args(arguments).stdin(Stdio::null()).output() {
                    Ok(output) if output.status.success() => Ok(()),
                    Ok(output) => {
                        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                        failed(if said.is_empty() { output.status.to_string() } else { said })
                    }
                    Err(error) => failed(error.to_string()),
                }
            }
        }
    }
}

fn done(what: &str) -> &str {
    match what {
        "write" => "wrote",
        "replace" => "replaced",
        _ => "changed",
    }
}

/// Prints steps that are not taken yet.
pub(super) fn show(steps: &[Step], out: &mut Output) -> Result<(), Failure> {
    for step in steps {
        if out.is_json() {
            out.json(&step.json())?;
        } else {
            step.tell(false, out)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Takes the steps, in their order. The first that fails ends it.
pub(super) fn carry_out(steps: &[Step], out: &mut Output) -> Result<(), Failure> {
    for step in steps {
        step.carry_out()?;
        if !out.is_json() {
            step.tell(true, out)?;
        }
    }
    Ok(())
}

/// Where a file really is: a link stays, and what it leads to is changed.
pub(super) fn real(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |source| Failure::KeepFile { path: path.to_owned(), source };
    match std::fs::canonicalize(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !path.is_symlink() => {
            Ok(path.to_owned())
        }
        real => real.map(usual).map_err(failed),
    }
}

/// A path as other programs of Windows take it, which cannot read all in the form that the system gives the real ones.
fn usual(path: PathBuf) -> PathBuf {
    let short = path.to_str().and_then(|path| path.strip_prefix(r"\\?\"));
    match short.filter(|path| path.as_bytes().get(1) == Some(&b':')) {
        Some(short) => short.into(),
        None => path,
    }
}

/// The content of a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Failure::KeepFile { path: path.to_owned(), source }),
    }
}

/// Makes a folder, with those that it is in, for its user alone.
fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// What the name of a file begins with before it gets its own, and the letters and digits after that: as the library's.
const UNFINISHED: &str = ".leafline-tmp-";
const RANDOM: usize = 16;

/// Removes files that killed processes have left in a folder. What cannot be examined or removed stays.
fn remove_left(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes());
        let is_file = is_ours && entry.file_type().is_ok_and(|kind| kind.is_file());
        let file = is_file.then(|| std::fs::File::options().write(true).open(entry.path()));
        if let Some(Ok(file)) = file
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_refusal_of_rights(error: &std::io::Error) -> bool {
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), PermissionDenied | Unsupported | InvalidInput)
}

/// Writes a file beside the old one and renames it; it keeps the rights of the old one, and is its user's alone if there was
/// none.
fn write(path: &Path, old: Option<&str>, new: &str) -> Result<(), Failure> {
    let failed = |source| Failure::KeepFile { path: path.to_owned(), source };
    if read(path)?.as_deref() != old {
        return Err(failed(std::io::Error::other(
            "another program has changed it meanwhile; nothing was written",
        )));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    make(folder).map_err(failed)?;
    remove_left(folder);
    let mut named = tempfile::Builder::new();
    let made = named.prefix(UNFINISHED).rand_bytes(RANDOM).tempfile_in(folder);
    let mut file = made.map_err(failed)?;
    // It is held while this process is alive. On a system without locks, nobody takes it for abandoned.
    let _ = file.as_file().lock();
    file.write_all(new.as_bytes()).map_err(failed)?;
    if old.is_some() {
        let rights = std::fs::metadata(path).map_err(failed)?.permissions();
        // Some file systems have the same rights for all files, and refuse to change them.
        match file.as_file().set_permissions(rights) {
            Err(error) if !is_refusal_of_rights(&error) => return Err(failed(error)),
            _ => {}
        }
    }
    file.as_file().sync_all().map_err(failed)?;
    // Unlike `persist`, a rename on Windows replaces a file that another program has open.
    let (file, made) = file.keep().map_err(|error| failed(error.error))?;
    let named = std::fs::rename(&made, path);
    if named.is_err() {
        let _ = std::fs::remove_file(&made);
    }
    match named {
        Err(error) if is_refused_for_mount(&error, path) => {
            let place = File::options().write(true).open(path).map_err(failed)?;
            write_over(&place, &file).map_err(failed)?;
        }
        named => named.map_err(failed)?,
    }
    // Where folders can be synced, the name survives a loss of power too.
    if let Ok(folder) = std::fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_path_is_as_others_take_it() {
        for (path, expected) in [
            (r"\\?\C:\Users\me", r"C:\Users\me"),
            (r"\\?\UNC\server\share", r"\\?\UNC\server\share"),
            ("/home/me", "/home/me"),
        ] {
            assert_eq!(usual(path.into()), Path::new(expected));
        }
    }
}
