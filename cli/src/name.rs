//! `leafline name`.

use leafline::Store;
use leafline::error::SessionError;
use serde_json::json;

use super::failure::{Failure, usage};
use super::output::Output;
use super::place::Place;
use super::{Status, text};

/// Name sessions, or print their names
///
/// Prints the names of the sessions; of several, each after its id and a tab. --set names them instead; an empty name
/// removes theirs. For pi, appends a session_info entry; for omp, changes the header's title; for Opal, the title in the
/// metadata; for Claude Code, appends what /rename writes, which cannot remove a name. With --json a line for each,
/// {"session": ID, "name": NAME}, null if it has none.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline name --set \"Flaky scheduler test\" 019c6605\n  leafline name 019c6605 5b0c7a52"
)]
pub(super) struct Arguments {
    /// The sessions: ids, or unique prefixes of ids
    #[arg(required = true, value_name = "SESSION", add = crate::completion::sessions())]
    sessions: Vec<String>,

    /// Give them this name
    #[arg(long, value_name = "NAME")]
    set: Option<String>,
}

/// Names the sessions, or prints their names.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = match arguments.set {
        Some(_) => place.open_to_change()?,
        None => place.open_to_read()?,
    };
    // Each of them is known before any is named.
    for session in &arguments.sessions {
        check(&store, session, arguments)?;
    }
    for session in &arguments.sessions {
        let mut session = store.session(session)?;
        if let Some(name) = &arguments.set {
            session.set_session_name(name)?;
        }
        let name = session.reader()?.facts().title;
        if out.is_json() {
            out.json(&json!({ "session": session.id(), "name": name }))?;
        } else if arguments.set.is_none() {
            print(session.id(), name.as_deref(), arguments.sessions.len() > 1, out)?;
        }
    }
    Ok(Status::Done)
}

/// Refuses what is no session. A name in its place is given with --set.
fn check(store: &Store, session: &str, arguments: &Arguments) -> Result<(), Failure> {
    match store.session(session) {
        Ok(_) => Ok(()),
        Err(leafline::Error::Session(SessionError::NotFound { .. }))
            if arguments.set.is_none() && arguments.sessions.len() > 1 =>
        {
            Err(usage(&format!(
                "{}: there is no such session; --set NAME names the sessions",
                text::printable(session)
            )))
        }
        Err(error) => Err(error.into()),
    }
}

fn print(
    session: &str,
    name: Option<&str>,
    is_one_of_many: bool,
    out: &mut Output,
) -> Result<(), Failure> {
    let name = name.map(text::printable);
    match (is_one_of_many, name) {
        (true, name) => {
            out.line(format_args!("{}\t{}", text::printable(session), name.unwrap_or_default()))
        }
        (false, Some(name)) => out.line(format_args!("{name}")),
        (false, None) => Ok(()),
    }
}
