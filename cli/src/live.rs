//! Shared by the commands that write sessions.

use leafline::omp::{Breadcrumbs, terminal_id};
use leafline::{Session, Store};
use serde_json::json;

use super::failure::Failure;
use super::output::Output;
use super::text;

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
