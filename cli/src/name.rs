//! `leafline name`.

use serde_json::json;

use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::{Status, live, text};

/// Name a session, or print its name
///
/// Sets the session's name; an empty one removes it. For pi, appends a session_info entry; for omp, changes the header's
/// title; for Opal, the title in the metadata; for Claude Code, appends what /rename writes, which cannot remove a name. Without TEXT, prints the session's name. With --json {"name": NAME}, null if
/// it has none.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline name 019c6605 \"Flaky scheduler test\"\n  leafline name 019c6605"
)]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The name
    text: Option<String>,
}

/// Names the session, or prints the name.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = match arguments.text {
        Some(_) => place.open_to_change()?,
        None => place.open_to_read()?,
    };
    let mut session = live::session(&store, &arguments.session)?;
    if let Some(name) = &arguments.text {
        session.set_session_name(name)?;
    }
    let name = session.reader()?.facts().title;
    if out.is_json() {
        out.json(&json!({ "name": name }))?;
    } else if let Some(name) = name.filter(|_| arguments.text.is_none()) {
        out.line(format_args!("{}", text::printable(&name)))?;
    }
    Ok(Status::Done)
}
