//! `leafline rm`.

use std::collections::HashSet;

use leafline::Store;
use leafline::list::SessionFilter;
use leafline::statistics::Removed;
use serde_json::json;

use super::confirmation;
use super::failure::{Failure, complain, usage};
use super::index::forget_removed;
use super::number::{bytes, counted};
use super::output::{Output, is_ascii_locale};
use super::place::Place;
use super::progress::Spinner;
use super::session_choice::SessionChoice;
use super::{Status, text, time};

/// The most sessions that a question names one by one.
const MOST_NAMED: usize = 20;

/// Delete sessions
///
/// Deletes the sessions and their agents' sessions with all entries, the files imported from beside them, the blobs that no other
/// session shares, and their words in the search index, in one step: all of them, or none if one does not exist or the disk is
/// too full. Later imports reuse the space; `leafline compact` returns it to the file system.
///
/// Files stay where they are, and no import or sync brings a deleted session back from them: they report when it was
/// removed. `leafline import --restore PATH` imports it again, with the agents in the folder next to it.
///
/// Asks before it deletes more than one session. Without a terminal that needs --yes.
///
/// Prints a line for each session. If a deleted session's space could not be freed at once, as on a full disk, the line
/// says so; with --json as `unswept`. The next import or compaction frees it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline rm 019c6605
  leafline rm 019c6605 b6a3a0c8 --yes
  leafline rm --older-than 90d --cwd ~/scratch --dry-run")]
pub(super) struct Arguments {
    /// The sessions: ids, or unique prefixes of ids
    #[arg(
        required_unless_present_any = ["older_than", "family", "cwd"],
        conflicts_with_all = ["older_than", "family", "cwd"],
        value_name = "SESSION",
        add = crate::completion::sessions()
    )]
    sessions: Vec<String>,

    #[command(flatten)]
    choice: SessionChoice,

    /// Only sessions with their last message before this time: 12h, 7d, 2w for how long ago, 2026-02-16 or
    /// 2026-02-16T10:20
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    older_than: Option<i64>,

    /// Print what would be deleted, and delete nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Delete without a question
    #[arg(short, long)]
    yes: bool,
}

/// A session that is to be deleted.
struct Chosen {
    id: String,
    title: Option<String>,
    lines: u64,
    bytes: u64,
}

/// Deletes the sessions.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    if arguments.dry_run {
        return foretell(&chosen(arguments, &place.open_to_read()?)?.1, out);
    }
    let store = place.open_to_change()?;
    let (named, chosen) = chosen(arguments, &store)?;
    if named > 1 && !arguments.yes && !is_confirmed(&chosen)? {
        complain("nothing was deleted");
        return Ok(Status::Failed);
    }
    let ids: Vec<&str> = chosen.iter().map(|session| session.id.as_str()).collect();
    let spinner = Spinner::new("deleting");
    let all = if ids.is_empty() { Vec::new() } else { store.remove_all(&ids)? };
    forget_removed(&store);
    drop(spinner);
    for removed in &all {
        tell(removed, out)?;
    }
    if all.is_empty() && !out.is_json() {
        out.line(format_args!("no session is of that kind; nothing was deleted"))?;
    }
    out.show()?;
    Ok(Status::Done)
}

/// The number of sessions that the arguments name or describe, and these sessions with their agents', each once.
fn chosen(arguments: &Arguments, store: &Store) -> Result<(usize, Vec<Chosen>), Failure> {
    let mut all = Vec::new();
    if arguments.sessions.is_empty() {
        let filter = SessionFilter { until: arguments.older_than, ..arguments.choice.filter()? };
        all.extend(store.list(&filter)?);
    }
    for id in &arguments.sessions {
        all.push(store.reader(id)?.facts());
    }
    let mut ids: Vec<&str> = all.iter().map(|session| &*session.id).collect();
    let mut known = HashSet::new();
    ids.retain(|id| known.insert(*id));
    let (named, with_agents) = (ids.len(), store.would_remove(&ids)?);
    let chosen = with_agents.into_iter().map(|facts| Chosen {
        title: facts.title.as_deref().or(facts.first_prompt.as_deref()).map(str::to_owned),
        id: facts.id.to_string(),
        lines: facts.lines,
        bytes: facts.bytes,
    });
    Ok((named, chosen.collect()))
}

/// Asks at the terminal whether the sessions are to be deleted.
fn is_confirmed(chosen: &[Chosen]) -> Result<bool, Failure> {
    let sessions = counted(chosen.len() as u64, "session", "sessions");
    if !confirmation::can_be_asked() {
        return Err(usage(&format!(
            "{sessions} would be deleted; --yes deletes them without a question, --dry-run names them"
        )));
    }
    let size = terminal_size::terminal_size_of(std::io::stderr());
    let columns = size.map_or(usize::MAX, |(columns, _)| usize::from(columns.0));
    let mut told = String::new();
    for session in chosen.iter().take(MOST_NAMED) {
        let described = format!("  {}", describe(session));
        told.push_str(&text::fit(&described, columns));
        told.push('\n');
    }
    if let Some(more) = chosen.len().checked_sub(MOST_NAMED).filter(|&more| more > 0) {
        told.push_str(&format!("  and {more} more\n"));
    }
    if is_ascii_locale() {
        told = text::ascii(&told);
    }
    let total = bytes(chosen.iter().map(|session| session.bytes).sum());
    confirmation::is_given(&told, &format!("delete {sessions}, {total}?"))
}

fn describe(session: &Chosen) -> String {
    let lines = counted(session.lines, "line", "lines");
    let title = session.title.as_deref().map(|title| text::one_line(title, 60));
    let title = title.map(|title| format!("  {title}")).unwrap_or_default();
    format!("{}: {lines}, {}{title}", text::printable(&session.id), bytes(session.bytes))
}

/// Prints what would be deleted.
fn foretell(chosen: &[Chosen], out: &mut Output) -> Result<Status, Failure> {
    for session in chosen {
        if out.is_json() {
            let Chosen { id, lines, bytes, .. } = session;
            let told = json!({"session": id, "lines": lines, "bytes": bytes, "dry_run": true});
            out.json(&told)?;
        } else {
            let described = format!("would remove {}", describe(session));
            let columns = out.width().unwrap_or(usize::MAX);
            out.line(format_args!("{}", text::fit(&described, columns)))?;
        }
    }
    if !out.is_json() {
        let sessions = counted(chosen.len() as u64, "session", "sessions");
        let total = bytes(chosen.iter().map(|session| session.bytes).sum());
        out.line(format_args!("{sessions}, {total}; nothing was deleted"))?;
    }
    out.show()?;
    Ok(Status::Done)
}

/// Prints what was deleted.
fn tell(removed: &Removed, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(removed);
    }
    let id = text::printable(&removed.session);
    let lines = counted(removed.lines, "line", "lines");
    let own = bytes(removed.bytes);
    let space = match &removed.unswept {
        None => format!("{} of blobs freed", bytes(removed.blob_bytes)),
        Some(reason) => {
            let reason = text::printable(reason);
            format!("the space is given back by the next import or compaction ({reason})")
        }
    };
    let beside = match removed.files {
        0 => String::new(),
        files => format!(
            "{} beside it, {}; ",
            counted(files, "file", "files"),
            bytes(removed.file_bytes)
        ),
    };
    out.line(format_args!("removed {id}: {lines}, {own}; {beside}{space}"))
}
