//! `leafline new`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use leafline::{Family, NewSession};

use super::failure::{Failure, usage, wrong_value};
use super::family::written_family;
use super::output::Output;
use super::place::Place;
use super::{Status, directory, live};

/// Begin a session
///
/// Makes a session without entries, and prints its id; with --json {"session": ID}. Creates the store if there is none. pi
/// and omp write a session's file with the first assistant message; here the session is stored at once.
///
/// With --continue, prints the directory's session that this terminal began or appended to last, else the one with the
/// latest message, and makes a new one only if the directory has none. The folder <store>.terminals stores each
/// terminal's last session, in omp's form.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline new
  session=$(leafline new --family omp --title \"Dark mode\" --cwd ~/work/lantern)
  leafline new --family opal --title \"Fix auth bug\"
  leafline new --family claude
  leafline append $(leafline new --continue) < entries.jsonl")]
pub(super) struct Arguments {
    /// The working directory that the session is for [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// The program whose format the session has
    #[arg(long, value_parser = written_family(), default_value = Family::Pi.name())]
    family: Family,

    /// Continue the directory's last session, if there is one
    #[arg(long = "continue", conflicts_with_all = ["id", "title", "parent"])]
    continues: bool,

    /// Its id [default: a new one, as the program makes them]
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    id: Option<String>,

    /// Its title, not for pi; `leafline name` names a session of pi
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Its parent as the program writes it: the path or the id of a session; for pi and omp only, as others name none
    #[arg(long, value_name = "TEXT")]
    parent: Option<String>,
}

/// Makes the session.
pub(super) fn run(
    arguments: Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    if arguments.title.is_some() && arguments.family == Family::Pi {
        return Err(usage(
            "--title TEXT does not go with --family pi; `leafline name --set TEXT SESSION` names a session of pi's",
        ));
    }
    if arguments.parent.is_some() && !arguments.family.is_pi_omp() {
        return Err(usage(
            "--parent TEXT goes with --family pi and omp only: the others' sessions name no parent",
        ));
    }
    if arguments.id.as_ref().is_some_and(|id| id.chars().any(char::is_control)) {
        return Err(wrong_value("--id takes no line breaks and no other control characters"));
    }
    let cwd = directory::named_or_current(arguments.cwd.as_deref())?;
    let mut new = NewSession::new(arguments.family, cwd);
    new.id = arguments.id;
    new.title = arguments.title;
    new.parent_session = arguments.parent;
    let store = place.open_or_create()?;
    let session = if arguments.continues {
        live::breadcrumbs(&store).continue_recent(&store, &new)?
    } else {
        let session = store.create_session(&new)?;
        live::leave_breadcrumb(&store, &session)?;
        session
    };
    live::print_session(session.id(), out)?;
    Ok(Status::Done)
}
