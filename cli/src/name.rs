//! `leafline name`.

use serde_json::json;

use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::{Status, live, text};

/// Name a session, or print its name
///
/// Gives the session a name; an empty one takes it away. In a session of pi's a session_info entry is appended; in one
/// of omp's the header's title is changed, in one of Opal's the title in its metadata. Without TEXT prints the name that the session has. With --json
/// {"name": NAME}, and null where there is none.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline name 019c6605 \"Flaky scheduler test\"\n  leafline name 019c6605"
)]
pub(super) struct Arguments {
    /// The session: an id, or the unique beginning of one
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
