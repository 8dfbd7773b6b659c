//! Shared by the commands that write sessions.

use std::path::{Component, Path, PathBuf};

use leafline::live::Persistence;
use leafline::omp::{Breadcrumbs, terminal_id};
use leafline::{Family, Session, Store};
use serde_json::json;

use super::failure::Failure;
use super::output::Output;
use super::text;

/// A session to write to, under the rules of its program.
pub(super) fn session(store: &Store, id: &str) -> Result<Session, Failure> {
    let session = store.session(id)?;
    let persistence = persistence(session.family());
    Ok(session.with_persistence(persistence))
}

/// How the family's program stores entries, but at once: a command cannot wait for an assistant message.
pub(super) fn persistence(family: Family) -> Persistence {
    let mut persistence = Persistence::documented(family);
    persistence.waits_for_assistant = false;
    persistence
}

/// Each terminal's last session, in a folder beside the store.
pub(super) fn breadcrumbs(store: &Store) -> Breadcrumbs {
    Breadcrumbs::new(store.terminals_folder())
}

/// Records this as the terminal's last session. A failure to record it does not fail the command.
pub(super) fn leave_breadcrumb(store: &Store, session: &Session) -> Result<(), Failure> {
    if terminal_id().is_some()
        && let Some(cwd) = session.reader()?.facts().cwd
    {
        let _ = breadcrumbs(store).write(&cwd, session);
    }
    Ok(())
}

/// Prints the id of a new entry.
pub(super) fn print_entry(id: &str, out: &mut Output) -> Result<(), Failure> {
    print_id("id", id, out)
}

/// Prints the id of a new session.
pub(super) fn print_session(id: &str, out: &mut Output) -> Result<(), Failure> {
    print_id("session", id, out)
}

fn print_id(name: &str, id: &str, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(&json!({ name: id }));
    }
    out.line(format_args!("{}", text::printable(id)))
}

/// A working directory in the form that the programs use: absolute, without `.` and `..`. By default the current one.
/// It need not exist: sessions outlive directories.
pub(super) fn working_directory(named: Option<&Path>) -> Result<String, Failure> {
    let directory = match named {
        Some(named) => std::path::absolute(named),
        None => std::env::current_dir(),
    };
    let directory = resolved(&directory.map_err(Failure::NoCurrentDirectory)?);
    let text = directory.into_os_string().into_string();
    text.map_err(|path| Failure::DirectoryNotText { path: path.into() })
}

fn resolved(absolute: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::CurDir => {}
            // The root is its own parent.
            Component::ParentDir => drop(resolved.pop()),
            other => resolved.push(other),
        }
    }
    resolved
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_absolute() {
        let of = |path: &str| working_directory(Some(Path::new(path))).unwrap();
        assert_eq!(of("/a//b/./c/../d/"), "/a/b/d");
        assert_eq!(of("/../.."), "/");
        assert_eq!(working_directory(None).unwrap(), of("."));
        assert_eq!(of("x"), format!("{}/x", of(".")));
    }
}
