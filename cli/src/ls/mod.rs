//! `leafline ls`.

mod all_text;
mod files;
mod rows;

use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::ValueEnum;
use leafline::list::{SessionFilter, SessionOrder};
use leafline::{Error, SessionFacts, Store};
use serde::Serialize;

use self::rows::Row;
pub(super) use self::rows::unique_prefix;
use super::failure::{Failure, complain, usage};
use super::number::counted;
use super::output::Output;
use super::place::Place;
use super::session_choice::SessionChoice;
use super::{Status, time};

const EXAMPLES: &str = "\
Examples:
  leafline ls --limit 10
  leafline ls --gone                           what the programs have deleted
  leafline ls --cwd . --since 7d
  leafline ls | cut -f 1,3
  leafline ls --json | jq .cwd
  leafline ls --files                          what the programs keep, imported or not
  leafline ls --files ~/backup --text login
  leafline ls --files --quick --limit 5        the files that were written last";

/// List the sessions, newest first
///
/// Lists the sessions: id, family, title or first prompt, working directory, entries, size, and the time of the
/// last message. A terminal shows each id's unique prefix. Without one, each session is a line of these seven columns,
/// separated by tabs and not shortened: entries and bytes as plain numbers, the time in UTC.
///
/// Leaves out an agent's session if the store has the session that started it: `leafline show` of that one lists its
/// agents, and --agents lists all. With --json each has the members agent and parent_session.
///
/// A session whose files are gone, as their program may have deleted them, is marked `gone`, in an eighth column; with
/// --json as gone. --gone lists only those, and `leafline export --to-source` puts one back.
///
/// With --files, lists session files, imported or not, without a store: the given files and those in the given folders,
/// or else what the programs keep in your home folder. Leaves out files that are not sessions. Without a terminal, or
/// with --json, prints each path. Reads every file whole, to count entries and find the time of the last message;
/// --quick reads only the first 4 KiB of the newest files.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// List at most this many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,

    /// List the sessions of agents too
    #[arg(long)]
    agents: bool,

    /// List only sessions that the store alone has: the files that they were imported from are gone
    #[arg(long, conflicts_with = "files")]
    gone: bool,

    #[command(flatten)]
    choice: SessionChoice,

    /// Only sessions with a message at this time or later: 2026-02-16, 2026-02-16T10:20, or for how long ago 30m
    /// (minutes), 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    since: Option<i64>,

    /// Only sessions with their last message before this time
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    until: Option<i64>,

    /// Only sessions with this in the title or at the beginning of the first prompt
    #[arg(long)]
    text: Option<String>,

    /// The order
    #[arg(long, value_enum, default_value_t = Order::Modified)]
    sort: Order,

    /// List session files instead of a store's sessions
    #[arg(long)]
    files: bool,

    /// The session files, or folders of them, to list with --files [default: where the programs keep them]
    #[arg(value_name = "PATH", requires = "files")]
    paths: Vec<PathBuf>,

    /// Read only the first 4 KiB of each file: newest file first, by the file's own time, without a count of entries
    #[arg(long, requires = "files", conflicts_with_all = ["sort", "all_messages_text"])]
    quick: bool,

    /// With --json, add the text of all messages of the user and the model, as all_messages_text
    #[arg(long)]
    all_messages_text: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Order {
    /// The time of the last message, newest first
    Modified,
    /// The time of creation, newest first
    Created,
    /// The title, or first prompt
    Title,
    /// The bytes, largest first
    Size,
}

impl Arguments {
    fn filter(&self) -> Result<SessionFilter, Failure> {
        Ok(SessionFilter {
            since: self.since,
            until: self.until,
            text: self.text.clone(),
            order: match self.sort {
                Order::Modified => SessionOrder::Modified,
                Order::Created => SessionOrder::Created,
                Order::Title => SessionOrder::Title,
                Order::Size => SessionOrder::Size,
            },
            without_agents: !self.agents,
            ..self.choice.filter()?
        })
    }
}

/// Lists the sessions.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    if arguments.all_messages_text && !out.is_json() {
        return Err(usage("--all-messages-text needs --json"));
    }
    match arguments.files {
        true => files::list(arguments, out),
        false => list(arguments, &place.open_to_read()?, out),
    }
}

fn list(arguments: &Arguments, store: &Store, out: &mut Output) -> Result<Status, Failure> {
    let filter = arguments.filter()?;
    // What is gone is only known once it was looked for.
    let limit = arguments.limit.filter(|_| !arguments.gone);
    let list = store.list_readable(&SessionFilter { limit, ..filter.clone() })?;
    let (mut listed, damaged) = (list.sessions, list.damaged);
    let gone = match store.without_files(listed.iter().map(|session| &*session.id)) {
        // Of some of the listed ones it cannot be told.
        Err(Error::Corrupted(_)) if !damaged.is_empty() => HashSet::new(),
        gone => gone?,
    };
    if arguments.gone {
        listed.retain(|session| gone.contains(&*session.id));
        listed.truncate(arguments.limit.unwrap_or(usize::MAX));
    }
    let is_gone = |session: &SessionFacts| gone.contains(&*session.id);
    if out.is_json() {
        for session in &listed {
            write_json(arguments, store, (session, is_gone(session)), out)?;
        }
    } else {
        let rows: Vec<Row<'_>> =
            listed.iter().map(|session| Row::of_session(session, is_gone(session))).collect();
        rows::write(&rows, || ids_around(store, listed.iter().map(|session| &*session.id)), out)?;
    }
    // For a list with a limit, counting what it leaves out would cost a read of all sessions.
    let is_whole = arguments.limit.is_none() || listed.is_empty();
    if is_whole && damaged.is_empty() && std::io::stderr().is_terminal() {
        hint(arguments, store, filter, listed.len(), out)?;
    }
    for (id, error) in &damaged {
        complain(&format!("session {id} is damaged: {error}"));
    }
    Ok(if damaged.is_empty() { Status::Done } else { Status::Failed })
}

/// The ids of the listed sessions and their neighbours, sorted: enough to find unique prefixes.
pub(super) fn ids_around<'i>(
    store: &Store,
    listed: impl Iterator<Item = &'i str> + Clone,
) -> Result<Vec<String>, Failure> {
    let mut ids: Vec<String> = listed.clone().map(str::to_owned).collect();
    ids.extend(store.neighbouring_ids(listed)?);
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// A session in the list, as JSON.
#[derive(Serialize)]
struct Listed<'f> {
    #[serde(flatten)]
    facts: &'f SessionFacts,
    /// Whether the files that it was imported from are gone.
    gone: bool,
}

fn write_json(
    arguments: &Arguments,
    store: &Store,
    (facts, gone): (&SessionFacts, bool),
    out: &mut Output,
) -> Result<(), Failure> {
    let listed = Listed { facts, gone };
    if !arguments.all_messages_text {
        return out.json(&listed);
    }
    let reader = store.reader(&facts.id)?;
    all_text::write(&listed, |take| reader.message_texts(|_, text| take(text)), out)
}

/// A hint for the user about what is not listed.
fn hint(
    arguments: &Arguments,
    store: &Store,
    filter: SessionFilter,
    found: usize,
    out: &mut Output,
) -> Result<(), Failure> {
    let mut all = store.list(&SessionFilter { without_agents: false, limit: None, ..filter })?;
    let mut gone = "";
    if arguments.gone {
        let ids = store.without_files(all.iter().map(|session| &*session.id))?;
        all.retain(|session| ids.contains(&*session.id));
        gone = "--gone ";
    }
    let all = all.len();
    let agents = all.saturating_sub(found) as u64;
    let words = if agents > 0 {
        let sessions = counted(agents, "session of an agent", "sessions of agents");
        format!("without {sessions}; `leafline ls {gone}--agents` lists them too")
    } else if all == 0 && store.sessions()?.is_empty() {
        "no sessions yet; `leafline import` brings some, `leafline new` begins one".to_owned()
    } else {
        return Ok(());
    };
    out.remark(words);
    Ok(())
}
