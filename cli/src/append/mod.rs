//! `leafline append`.

mod entries;
mod lines;
mod stream;

use std::io::{IsTerminal, Write};

use leafline::Family;
use leafline::error::SessionError;
use leafline::live::{EntryDraft, NotWritten, Persistence, RepeatedIds};
use leafline_import::lines::LONGEST_LINE;

use self::entries::Entries;
use self::lines::Lines;
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
/// 1,000 entries or 4 MiB; --sync says otherwise. A line that is not an entry ends the stream: the entries before it are
/// stored, and the error names the line.
///
/// With --lines, what is read are lines of the session's file as its program wrote them, of any family, Codex too. They are
/// kept byte for byte, and read as what a file has gained. Prints `added N`, with --json {"added": N, "ignored":
/// N}; --ignore-repeated skips lines that the session already has, so the same lines can be given again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline append 019c6605 '{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"Hi\"}}'
  leafline append 019c6605 < entries.jsonl
  leafline append 019c6605 --lines --ignore-repeated < ~/.claude/projects/-work/019c6605.jsonl
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

    /// When what is read from standard input is put on disk: `ready`, what has arrived, at once; `each`, every line by
    /// itself; `batch`, as many lines as fit, whenever they arrive
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, conflicts_with = "entry")]
    sync: Sync,

    /// Read lines of the session's file, and keep them as they are
    #[arg(long, conflicts_with_all = ["entry", "keep_everything"])]
    lines: bool,

    /// With --lines, skip lines that the session already has
    #[arg(long, requires = "lines")]
    ignore_repeated: bool,

    /// Refuse a line of the input with more bytes than this
    #[arg(long, value_name = "BYTES", default_value_t = LONGEST_LINE)]
    longest_line: u64,
}

/// When lines from standard input are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Sync {
    /// As many as are ready.
    #[default]
    Ready,
    /// One at a time.
    Each,
    /// As many as fit.
    Batch,
}

/// Appends the entries.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_change()?;
    let mut session = store.session(&arguments.session)?;
    if arguments.keep_everything {
        session = session.with_persistence(Persistence::keep_everything());
    }
    let family = session.family();
    if !family.is_written() && !arguments.lines {
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
    let (sync, longest_line) = (arguments.sync, arguments.longest_line);
    if arguments.lines {
        let repeated = match arguments.ignore_repeated {
            true => RepeatedIds::Ignore,
            false => RepeatedIds::Add,
        };
        let batch = Lines::new(&mut session, repeated);
        Stream::new(batch, sync, longest_line, out).append(input.lock())?;
    } else {
        let batch = Entries::new(&mut session, family);
        Stream::new(batch, sync, longest_line, out).append(input.lock())?;
    }
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
