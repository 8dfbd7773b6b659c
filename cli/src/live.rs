//! Shared by the commands that write sessions.

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
