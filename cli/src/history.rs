//! `leafline history`.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use leafline::prompts::{HistoryEntry, HistoryTransfer};
use serde::Serialize;
use serde_json::json;

use super::failure::Failure;
use super::number::{count, counted};
use super::output::Output;
use super::place::{Place, shown};
use super::table::{Column, Table, write_tabs};
use super::{Status, directory, text, time};

/// The default number of prompts listed.
const USUAL_LIMIT: i64 = 20;

/// The highest limit (observed in omp).
const MOST: i64 = 1000;

/// Store, list and search prompts
///
/// The history holds the prompts added with `history add` or by agents through the library, those imported from omp's
/// history.db, and those that were typed in Claude Code, from its history.jsonl. It does not hold those in imported
/// sessions: `search --role user` finds these. White space around a prompt is trimmed; an empty prompt, or one equal to
/// the newest, is not stored.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline history add \"why is the build slow?\"
  leafline history search buil slo
  leafline history import ~/.omp/agent/history.db
  leafline history import ~/.claude/history.jsonl")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: HistoryCommand,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    /// Store a prompt
    ///
    /// Prints its id once it is on disk, with --json {"id": ID}; nothing, or {"id": null}, for a prompt that is not
    /// stored: an empty one, or one equal to the newest.
    #[command(
        after_help = "Examples:\n  leafline history add why is the build slow\n  leafline history add < prompt.txt"
    )]
    Add {
        /// The prompt, instead of standard input; several words are joined by spaces
        text: Vec<String>,

        /// The working directory that it was typed in [default: the current one]
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
    },
    /// List the newest prompts
    ///
    /// Lists the newest prompts first. Without a terminal, prints time, working directory and prompt in a line,
    /// separated by tabs; line breaks in a prompt become spaces. With --json prompts are unchanged.
    #[command(after_help = "Example:\n  leafline history recent --limit 5 --json | jq -r .prompt")]
    Recent {
        #[command(flatten)]
        limit: Limit,
    },
    /// Find prompts by the beginnings of their words
    ///
    /// Lists the newest prompts that have, for each word of the query, a word that begins with it. Words are runs of
    /// letters and digits; case and diacritics do not matter. Joined words, as in `git-com`, must follow each other in the
    /// prompt. Prints them as `recent` does.
    #[command(
        after_help = "Examples:\n  leafline history search buil slo\n  leafline history search git-com --json"
    )]
    Search {
        /// The beginnings of words
        #[arg(required = true)]
        query: Vec<String>,

        #[command(flatten)]
        limit: Limit,
    },
    /// Import the prompts of omp's history.db, or of Claude Code's history.jsonl
    ///
    /// Adds the prompts that the store does not have; importing a file again adds what is new. omp's prompts are the same with the
    /// same text, directory and second; Claude Code's with the same directory and millisecond. The file is not changed, and its
    /// program may be using it. `leafline import` and `sync` take Claude Code's own by themselves.
    #[command(
        after_help = "Examples:\n  leafline history import ~/.omp/agent/history.db\n  leafline history import ~/.claude/history.jsonl"
    )]
    Import {
        /// The SQLite database, or the file of JSON lines
        file: PathBuf,
    },
    /// Export prompts to omp's history.db
    ///
    /// Adds the prompts that the file does not have, and leaves its rows as they are. Creates a missing file as omp
    /// does.
    #[command(after_help = "Example:\n  leafline history export ~/.omp/agent/history.db")]
    Export {
        /// The SQLite database
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct Limit {
    /// List at most this many, up to 1,000
    #[arg(short = 'n', long, value_name = "N", default_value_t = USUAL_LIMIT, allow_negative_numbers = true)]
    limit: i64,
}

impl Limit {
    /// The number, clamped to its bounds.
    fn clamped(&self) -> usize {
        usize::try_from(self.limit.clamp(0, MOST)).unwrap_or_default()
    }
}

/// The result of a transfer, for JSON.
#[derive(Serialize)]
struct Told {
    file: String,
    #[serde(flatten)]
    transfer: HistoryTransfer,
}

/// Runs the history command.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    match &arguments.command {
        HistoryCommand::Add { text, cwd } => {
            let cwd = directory::named_or_current(cwd.as_deref())?;
            let prompt = if text.is_empty() { read_prompt()? } else { text.join(" ") };
            let added = place.open_or_create()?.history().add(&prompt, Some(&cwd))?;
            print_added(added, out)?;
        }
        HistoryCommand::Recent { limit } => {
            let prompts = place.open_to_read()?.history().recent(limit.clamped())?;
            list(&prompts, out)?;
        }
        HistoryCommand::Search { query, limit } => {
            let store = place.open_to_read()?;
            let prompts = store.history().search(&query.join(" "), limit.clamped())?;
            list(&prompts, out)?;
        }
        HistoryCommand::Import { file } => {
            let history = place.open_or_create()?.history();
            let transfer = match is_of_lines(file) {
                true => history.import_claude(file)?,
                false => history.import_omp(file)?,
            };
            print_transfer("imported", transfer, shown(file), out)?;
        }
        HistoryCommand::Export { file } => {
            let transfer = place.open_to_read()?.history().export_omp(file)?;
            print_transfer("exported", transfer, shown(file), out)?;
            if transfer.lost > 0 {
                return Ok(Status::Failed);
            }
        }
    }
    Ok(Status::Done)
}

/// Whether a file has JSON lines. What it is otherwise, and what is wrong with it, SQLite says.
fn is_of_lines(file: &Path) -> bool {
    let mut first = [0];
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let read = is_file.then(|| File::open(file).and_then(|mut file| file.read_exact(&mut first)));
    read.is_some_and(|read| read.is_ok()) && first == *b"{"
}

fn read_prompt() -> Result<String, Failure> {
    let mut input = std::io::stdin();
    if input.is_terminal() {
        // A hint for the user; nothing depends on it.
        let _ = writeln!(std::io::stderr(), "the prompt; Ctrl-D ends it");
    }
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(Failure::Input)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn print_added(id: Option<u64>, out: &mut Output) -> Result<(), Failure> {
    match id {
        _ if out.is_json() => out.json(&json!({ "id": id })),
        Some(id) => out.line(format_args!("{id}")),
        None => Ok(()),
    }
}

fn list(prompts: &[HistoryEntry], out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return prompts.iter().try_for_each(|prompt| out.json(prompt));
    }
    if out.width().is_none() {
        return prompts.iter().try_for_each(|prompt| {
            let time = time::iso(prompt.created_at).unwrap_or_default();
            write_tabs(out, &row(prompt, time))
        });
    }
    let mut table =
        Table::new([Column::Whole("given"), Column::Path("folder"), Column::Text("prompt")]);
    for prompt in prompts {
        table.push(row(prompt, time::local(prompt.created_at).unwrap_or_default()));
    }
    if prompts.is_empty() { Ok(()) } else { table.write(out) }
}

fn row(prompt: &HistoryEntry, time: String) -> [String; 3] {
    let cwd = text::printable(prompt.cwd.as_deref().unwrap_or_default()).into_owned();
    [time, cwd, text::one_line(&prompt.prompt, usize::MAX)]
}

fn print_transfer(
    done: &str,
    transfer: HistoryTransfer,
    file: String,
    out: &mut Output,
) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(&Told { file, transfer });
    }
    let left_out = match transfer.left_out {
        0 => String::new(),
        1 => "; 1 row holds no prompt".to_owned(),
        more => format!("; {} rows hold no prompt", count(more)),
    };
    let lost = match transfer.lost {
        0 => String::new(),
        lost => {
            format!("; {} not in it, removed or changed by the file's own triggers", count(lost))
        }
    };
    out.line(format_args!(
        "{}: {} {done}, {} there already{left_out}{lost}",
        text::printable(&file),
        counted(transfer.copied, "prompt", "prompts"),
        count(transfer.present),
    ))
}
