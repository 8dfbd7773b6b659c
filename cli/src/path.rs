//! `leafline path`.

use std::io::Write;

use leafline::error::ExportError;
use leafline::{Entry, SessionReader};

use super::Status;
use super::entry_choice::entry_id;
use super::entry_json::EntryJson;
use super::failure::{Failure, usage};
use super::output::Output;
use super::place::Place;
use super::transcript::Transcript;

/// Print a conversation: the lines from the root to the leaf
///
/// Prints the exact lines of the path from the root of the tree down to the session's leaf, or to another entry,
/// without abandoned branches. With --json each line is in an object with its id, ordinal, type, role, model,
/// timestamp, parentId and text.
///
/// With --text, prints the conversation as text: who said what and when, and the model where it changes. Thoughts, tool
/// calls, results and settings take a line each; --full shows them whole.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Signs of --text:
  ~ a thought   → a tool call   ← its result   $ a command of the user's   ! an error   · any other entry

Examples:
  leafline path 019c6605 --text
  leafline path 019c6605
  leafline path 019c6605 --from 5937c1f0 | jq -r .message.role")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The entry at which the path ends, instead of the leaf: its id, or a unique prefix of it, or @last
    #[arg(long, value_name = "ENTRY")]
    from: Option<String>,

    /// Print text instead of lines
    #[arg(long)]
    text: bool,

    /// Shorten nothing
    #[arg(long, requires = "text")]
    full: bool,
}

/// Prints the path.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    if arguments.text && out.is_json() {
        return Err(usage(
            "the argument '--text' cannot be used with '--json', whose objects have the text",
        ));
    }
    let store = place.open_to_read()?;
    let reader = store.reader(&arguments.session)?;
    let from = arguments.from.as_deref().map(|from| entry_id(&reader, from)).transpose()?;
    let from = from.as_deref();
    if arguments.text {
        let mut transcript = Transcript::new(out, arguments.full);
        return walk(&reader, from, |entry| transcript.entry(entry));
    }
    let mut open_line = false;
    walk(&reader, from, |entry| {
        if out.is_json() {
            out.json(&EntryJson::new(entry))
        } else {
            write_line(out, entry.line(), &mut open_line)
        }
    })
}

/// Visits the entries of the path.
fn walk(
    reader: &SessionReader,
    from: Option<&str>,
    mut take: impl FnMut(&Entry) -> Result<(), Failure>,
) -> Result<Status, Failure> {
    let mut failure = None;
    let walked =
        reader.get_path(from, |entry| take(entry).map_err(|error| stop(error, &mut failure)));
    match failure {
        Some(failure) => Err(failure),
        None => Ok(walked.map(|_| Status::Done)?),
    }
}

/// Writes a line unchanged. Only the file's last line can lack its terminator; if its child precedes it in the file, it
/// gets one.
fn write_line(out: &mut Output, line: &[u8], open_line: &mut bool) -> Result<(), Failure> {
    if *open_line {
        out.write_all(b"\n")?;
    }
    *open_line = !line.ends_with(b"\n");
    out.write_all(line)?;
    Ok(())
}

/// Ends the walk with an error of the library, and keeps the original one.
fn stop(error: Failure, kept: &mut Option<Failure>) -> leafline::Error {
    *kept = Some(error);
    ExportError::Output(std::io::ErrorKind::Other.into()).into()
}
