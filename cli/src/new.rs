//! `leafline new`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use leafline::{Family, NewSession};

use super::Status;
use super::failure::{Failure, usage};
use super::family::written_family;
use super::live;
use super::output::Output;
use super::place::Place;

/// Begin a session
///
/// Makes a session without entries, and prints its id; with --json {"session": ID}. The store is made where there is
/// none. pi and omp write a session's file with the first message of an assistant; here the session is stored at
/// once.
///
/// With --continue it is the session of the directory that this terminal began or appended to last, else the one with the
/// latest message; a new one only where the directory has none. What a terminal had last is noted in the folder
/// <store>.terminals, in omp's form.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline new
  session=$(leafline new --family omp --title \"Dark mode\" --cwd ~/work/lantern)
  leafline new --family opal --title \"Fix auth bug\"
  leafline append $(leafline new --continue) < entries.jsonl")]
pub(super) struct Arguments {
    /// The working directory that the session is for [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// The program whose format the session has
    #[arg(long, value_parser = written_family(), default_value = Family::Pi.name())]
    family: Family,

    /// Go on with the directory's last session, if there is one
    #[arg(long = "continue", conflicts_with_all = ["id", "title", "parent"])]
    continues: bool,

    /// Its id [default: a new one, as the program makes them]
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    id: Option<String>,

    /// Its title; omp's and Opal's alone, a session of pi's gets its name from `leafline name`
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// What it descends from, in the program's own words: the path or the id of a session; not with Opal, whose sessions
    /// name none
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
            "--title TEXT goes with --family omp and opal only; `leafline name SESSION TEXT` names a session of pi's",
        ));
    }
    if arguments.parent.is_some() && arguments.family == Family::Opal {
        return Err(usage(
            "--parent TEXT goes with --family pi and omp only: Opal's sessions name no parent",
        ));
    }
    if arguments.id.as_ref().is_some_and(|id| id.chars().any(char::is_control)) {
        return Err(usage("--id takes no line breaks and no other control characters"));
    }
    let cwd = live::working_directory(arguments.cwd.as_deref())?;
    let mut new = NewSession::new(arguments.family, cwd);
    new.id = arguments.id;
    new.title = arguments.title;
    new.parent_session = arguments.parent;
    new.persistence = Some(live::persistence(new.family));
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
