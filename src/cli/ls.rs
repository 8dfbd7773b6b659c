//! `leafline ls`.

use std::io::{IsTerminal, Write};

use clap::ValueEnum;
use leafline::{Family, SessionFacts, SessionFilter, SessionOrder, Store};

use super::failure::Failure;
use super::family::any_family;
use super::number::{bytes, count, counted};
use super::output::Output;
use super::place::{Place, whole_path};
use super::table::{Column, Table, write_tabs};
use super::{Status, text, time};

/// No id is shown shorter than this, though fewer characters of it may be enough.
const SHORTEST_ID: usize = 8;

/// List the sessions, newest first
///
/// Lists the sessions: id, family, title or first prompt, working directory, entries, size, and the time of the
/// last message. On a terminal ids are cut to a beginning that is unique. Without one each session is a line of
/// those seven columns with tabs between them and nothing cut: entries and bytes as plain numbers, the time in UTC.
///
/// Sessions of agents are left out where the session that started them is in the store: `leafline show` of that one
/// lists them, and --agents lists all. With --json each has the members agent and parent_session.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline ls --limit 10\n  leafline ls --cwd . --since 7d\n  leafline ls | cut -f 1,3\n  leafline ls --json | jq .cwd"
)]
pub(super) struct Arguments {
    /// List only so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// List the sessions of agents too
    #[arg(long)]
    agents: bool,

    /// Only sessions of this program
    #[arg(long, value_name = "FAMILY", value_parser = any_family())]
    family: Option<Family>,

    /// Only sessions of this working directory, and of those below it
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// Only sessions with a message at this time or later: 2026-02-16, 2026-02-16T10:20, or 12h, 7d, 2w for how long ago
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    since: Option<i64>,

    /// Only sessions with their last message before this time
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    until: Option<i64>,

    /// Only sessions with this in the title or in the beginning of the first prompt
    #[arg(long)]
    text: Option<String>,

    /// What decides the order
    #[arg(long, value_enum, default_value_t = Order::Modified)]
    sort: Order,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Order {
    /// The time of the last message, newest first
    Modified,
    /// The time when it was begun, newest first
    Created,
    /// The title, or first prompt
    Title,
    /// The bytes, largest first
    Size,
}

impl Arguments {
    fn filter(&self) -> SessionFilter {
        SessionFilter {
            family: self.family,
            below: self.cwd.as_deref().map(whole_path),
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
            ..SessionFilter::default()
        }
    }
}

/// Lists the sessions.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let filter = arguments.filter();
    let mut listed = store.list(&filter)?;
    let found = listed.len();
    listed.truncate(arguments.limit.unwrap_or(usize::MAX));
    if out.is_json() {
        for session in &listed {
            out.json(session)?;
        }
    } else if out.width().is_some() {
        write_table(&store.sessions()?, &listed, out)?;
    } else {
        for session in &listed {
            write_tabs(out, &plain_row(session))?;
        }
    }
    // What is listed stands above what is said of it.
    out.show()?;
    if std::io::stderr().is_terminal() {
        hint(&store, filter, found)?;
    }
    Ok(Status::Done)
}

/// Tells whoever is there of what is not listed; nothing depends on it.
fn hint(store: &Store, filter: SessionFilter, found: usize) -> Result<(), Failure> {
    let all = store.list(&SessionFilter { without_agents: false, ..filter })?.len();
    let agents = all.saturating_sub(found) as u64;
    let words = if agents > 0 {
        let sessions = counted(agents, "session of an agent", "sessions of agents");
        format!("without {sessions}; `leafline ls --agents` lists them too")
    } else if all == 0 && store.sessions()?.is_empty() {
        "no sessions yet; `leafline import` brings some, `leafline new` begins one".to_owned()
    } else {
        return Ok(());
    };
    let _ = writeln!(std::io::stderr(), "{words}");
    Ok(())
}

fn write_table(
    all: &[SessionFacts],
    listed: &[SessionFacts],
    out: &mut Output,
) -> Result<(), Failure> {
    if listed.is_empty() {
        return Ok(());
    }
    let mut ids: Vec<&str> = all.iter().map(|session| session.id.as_str()).collect();
    ids.sort_unstable();
    let mut table = Table::new([
        Column::Whole("id"),
        Column::Whole("family"),
        Column::Text("title"),
        Column::Path("folder"),
        Column::Number("entries"),
        Column::Number("size"),
        Column::Whole("modified"),
    ]);
    for session in listed {
        table.push([
            text::printable(unique_prefix(&session.id, &ids)).into_owned(),
            session.family.to_owned(),
            title(session),
            cwd(session),
            count(session.entries),
            bytes(session.bytes),
            session.modified.and_then(time::local).unwrap_or_default(),
        ]);
    }
    table.write(out)
}

fn plain_row(session: &SessionFacts) -> [String; 7] {
    [
        text::printable(&session.id).into_owned(),
        session.family.to_owned(),
        title(session),
        cwd(session),
        session.entries.to_string(),
        session.bytes.to_string(),
        session.modified.and_then(time::iso).unwrap_or_default(),
    ]
}

fn title(session: &SessionFacts) -> String {
    let title = session.title.as_ref().or(session.first_prompt.as_ref());
    title.map(|title| text::one_line(title, usize::MAX)).unwrap_or_default()
}

fn cwd(session: &SessionFacts) -> String {
    text::printable(session.cwd.as_deref().unwrap_or_default()).into_owned()
}

/// The shortest beginning of an id that no other of the sorted ids begins with, though not shorter than is easily
/// recognised. An id that another one begins with stays whole: given whole, it is that session's.
fn unique_prefix<'i>(id: &'i str, sorted: &[&str]) -> &'i str {
    let place = sorted.partition_point(|other| *other < id);
    let before = place.checked_sub(1).and_then(|before| sorted.get(before));
    let neighbours = before.into_iter().chain(sorted.get(place + 1));
    let shared = neighbours.map(|other| shared_characters(id, other)).max().unwrap_or(0);
    let characters = (shared + 1).max(SHORTEST_ID);
    id.char_indices().nth(characters).and_then(|(end, _)| id.get(..end)).unwrap_or(id)
}

fn shared_characters(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_unique_and_not_too_short() {
        let ids = [
            "019c6605-4c90-7d2a",
            "019c6605-5000-0000",
            "b6a3a0c8-44fd",
            "b6a3a0c8-44fd~2",
            "short",
        ];
        assert_eq!(unique_prefix(ids[0], &ids), "019c6605-4");
        assert_eq!(unique_prefix(ids[1], &ids), "019c6605-5");
        assert_eq!(unique_prefix(ids[2], &ids), "b6a3a0c8-44fd");
        assert_eq!(unique_prefix(ids[3], &ids), "b6a3a0c8-44fd~");
        assert_eq!(unique_prefix(ids[4], &ids), "short");
        assert_eq!(unique_prefix("äöüäöüäöüäöü", &["äöüäöüäöüäöü"]), "äöüäöüäö");
    }
}
