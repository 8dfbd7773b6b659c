//! `leafline append`.

mod stream;

use std::io::{IsTerminal, Write};

use leafline::Family;
use leafline::error::SessionError;
use leafline::live::{EntryDraft, NotWritten, Persistence};
use leafline_import::lines::LONGEST_LINE;

use self::stream::Stream;
use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::{Status, live};

/// Append entries to a session
///
/// Appends an entry below the session's leaf, and each further one below the one before; the last becomes the leaf. An
/// entry is a JSON object of the session's format, such as {"type":"message","message":{"role":"user","content":"Hi"}},
/// or for Opal a message such as {"role":"user","content":"Hi"}. For Claude Code it is a message of the API, such as
/// {"role":"user","content":"Hi"}, or a whole record; as the program does, each block of the model's and each tool's result
/// becomes an entry, and a result goes below its call. Leafline sets its id, parent and time, whatever it has,
/// and keeps its other members, except for what omp does to the entries of its sessions: strings of more than 500,000 UTF-16
/// units are cut, `partialJson` and `jsonlEvents` are left out, and images of 1,024 base64 characters or more become
/// references. --keep-everything prevents that. Sessions of Codex cannot be appended to.
///
/// Without ENTRY-JSON, reads entries from standard input, one a line, and skips blank lines. Prints the new ids in order,
/// one a line, with --json {"id": ID}, each once its entry is on disk. Stores as many lines at a time as are ready, up to
/// 1,000 entries or 4 MiB. A line that is not an entry ends the stream: the entries before it are stored, and the error
/// names the line.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline append 019c6605 '{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"Hi\"}}'
  leafline append 019c6605 < entries.jsonl
  leafline path 019c6605 | jq -c 'select(.type == \"message\")' | leafline append 019c7bd3")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The entry, instead of standard input
    #[arg(value_name = "ENTRY-JSON")]
    entry: Option<String>,

    /// Store what is given as it is, also in a session of omp's
    #[arg(long)]
    keep_everything: bool,

    /// Refuse a line of the input with more bytes than this
    #[arg(long, value_name = "BYTES", default_value_t = LONGEST_LINE)]
    longest_line: u64,
}

/// Appends the entries.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_change()?;
    let mut session = live::session(&store, &arguments.session)?;
    if arguments.keep_everything {
        session = session.with_persistence(Persistence::immediate());
    }
    let family = session.family();
    if !family.is_written() {
        let (id, operation) = (session.id().to_owned(), "appending");
        let refused = SessionError::WrongFamily { id, family, operation };
        return Err(leafline::Error::from(refused).into());
    }
    live::leave_breadcrumb(&store, &session)?;
    if let Some(json) = &arguments.entry {
        let drafts = drafts(json, family).map_err(|problem| Failure::NoEntry { problem })?;
        for id in session.append_all(drafts)? {
            live::print_entry(&id, out)?;
        }
        return Ok(Status::Done);
    }
    let input = std::io::stdin();
    if input.is_terminal() {
        // A hint for the user; nothing depends on it.
        let _ = writeln!(std::io::stderr(), "one entry a line, as JSON; Ctrl-D ends");
    }
    // Standard input has a small buffer of its own: large reads go past it.
    Stream::new(&mut session, family, arguments.longest_line, out).append(input.lock())?;
    Ok(Status::Done)
}

/// Parses an entry of the family, or says why it is not one.
fn drafts(json: &str, family: Family) -> Result<Vec<EntryDraft>, String> {
    EntryDraft::from_json(family, json).map_err(|error| match error {
        NotWritten::NotAnEntry { .. } => {
            format!("{error}; `leafline import` takes a session's whole file")
        }
        other => other.to_string(),
    })
}
