//! `leafline secrets`.

use leafline::redact::{RedactionOptions, Redactor, SecretsOfLine};
use serde_json::json;

use super::advice::advised;
use super::failure::{Failure, complain};
use super::number::{count, counted};
use super::output::Output;
use super::place::Place;
use super::progress::Bar;
use super::session_choice::SessionChoice;
use super::table::{Column, Table, write_tabs};
use super::{Status, text};

/// Say where secrets are, without printing them
///
/// Goes through the lines of all sessions, or of some, and prints for each entry that has secrets: the session, the entry,
/// the kind, and how many; on a terminal as a table, elsewhere in columns separated by tabs. It finds what `leafline export
/// --redact` replaces. With --json each is an object: session, entry, ordinal, kind, count; and the last one has the totals.
///
/// Images, other base64 that is longer than 1,024 characters, and what is encrypted or compressed are not looked at.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline secrets
  leafline secrets 019c6605 --emails
  leafline secrets --cwd ~/work/tide-clock --json | jq -r 'select(.kind == \"private-key\").session'")]
pub(super) struct Arguments {
    /// The sessions: ids, or unique prefixes of ids; without one, all
    #[arg(value_name = "SESSION", conflicts_with_all = ["family", "cwd"], add = crate::completion::sessions())]
    sessions: Vec<String>,

    #[command(flatten)]
    choice: SessionChoice,

    /// Also what matches; may be given several times
    #[arg(long = "pattern", value_name = "REGEX")]
    patterns: Vec<String>,

    /// Also e-mail addresses
    #[arg(long)]
    emails: bool,

    /// Also users' names in the paths of home folders
    #[arg(long)]
    homes: bool,
}

/// Lists the places.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let (patterns, emails, homes) = (arguments.patterns.clone(), arguments.emails, arguments.homes);
    // Nothing is replaced, so the key of the store's placeholders is not needed.
    let redactor = Redactor::with_new_key(&RedactionOptions { patterns, emails, homes })?;
    let mut sessions: Vec<String> = Vec::new();
    for session in &arguments.sessions {
        sessions.push(store.session(session)?.id().to_owned());
    }
    let mut status = Status::Done;
    if arguments.sessions.is_empty() {
        let list = store.list_readable(&arguments.choice.filter()?)?;
        sessions.extend(list.sessions.iter().map(|facts| facts.id.to_string()));
        for (id, error) in &list.damaged {
            complain(&format!("session {id} cannot be read: {}", advised(error)));
            status = Status::Failed;
        }
    }
    let mut table = Table::new([
        Column::Whole("session"),
        Column::Whole("entry"),
        Column::Text("kind"),
        Column::Number("secrets"),
    ]);
    let mut bar = Bar::of_sessions(sessions.len() as u64);
    let mut with_secrets = 0;
    for session in &sessions {
        let mut failure = None;
        let mut places = 0;
        let read = store.reader(session).and_then(|reader| {
            reader.secrets(&redactor, |line| {
                places += line.kinds.iter().map(|(_, count)| count).sum::<u64>();
                if out.width().is_some() && !out.is_json() {
                    tabulate(session, &line, &mut table);
                } else if failure.is_none() {
                    failure = bar.aside(|| print(session, &line, out)).err();
                }
                Ok(())
            })
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        if let Err(error) = read {
            let problem = advised(&error);
            bar.aside(|| complain(&format!("session {session} cannot be read: {problem}")));
            status = Status::Failed;
        }
        with_secrets += u64::from(places > 0);
        bar.advance(1);
    }
    drop(bar);
    if !table.is_empty() {
        table.write(out)?;
    }
    let kinds = redactor.redactions().kinds;
    if out.is_json() {
        out.json(&json!({ "sessions": with_secrets, "kinds": kinds }))?;
        return Ok(status);
    }
    let places = kinds.values().map(|count| count.places).sum();
    out.remark(match places {
        0 => "no secrets were found".to_owned(),
        _ => format!(
            "{} in {} of {}",
            counted(places, "secret", "secrets"),
            count(with_secrets),
            counted(sessions.len() as u64, "session", "sessions")
        ),
    });
    Ok(status)
}

/// A row for each kind.
fn tabulate(session: &str, line: &SecretsOfLine, table: &mut Table) {
    let entry = line.entry.as_deref().unwrap_or_default();
    let [session, entry] = [session, entry].map(|cell| text::printable(cell).into_owned());
    for (kind, places) in &line.kinds {
        table.push([session.clone(), entry.clone(), (*kind).to_owned(), count(*places)]);
    }
}

fn print(session: &str, line: &SecretsOfLine, out: &mut Output) -> Result<(), Failure> {
    for (kind, places) in &line.kinds {
        let entry = line.entry.as_deref().unwrap_or_default();
        if out.is_json() {
            out.json(&json!({
                "session": session,
                "entry": line.entry,
                "ordinal": line.ordinal,
                "kind": kind,
                "count": places,
            }))?;
        } else {
            let cells = [session, entry].map(|cell| text::printable(cell).into_owned());
            let [session, entry] = cells;
            write_tabs(out, &[session, entry, (*kind).to_owned(), places.to_string()])?;
        }
    }
    Ok(())
}
