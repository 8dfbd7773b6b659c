//! `leafline show`.

use std::io::Write;

use leafline::error::SessionError;
use leafline::{Entry, SessionFacts, SessionReader, Store};
use serde::Serialize;

use super::entry_choice::entry_id;
use super::entry_json::EntryJson;
use super::failure::Failure;
use super::lines::Lines;
use super::number::{bytes, count, counted};
use super::output::{FAINT, Output, STRONG};
use super::place::Place;
use super::preview::{self, LONGEST};
use super::table::{Column, Table};
use super::{Status, text, time};

/// The columns of a fact's name.
const NAME_WIDTH: usize = 9;

/// Show sessions, or entries of them
///
/// Shows a session's header, its size, the agents that it started, and its entries and bytes by type; of several
/// sessions, one after the other. For an entry, prints only its exact line; with --json an object with its id, ordinal,
/// type, role, model, timestamp, parentId, text (without thoughts, calls and results) and line. If several entries have
/// the id, shows the last one.
///
/// The second of two arguments is an ENTRY if the session has one that it names, and otherwise a SESSION. With --entry, and
/// if they are more than two, all are sessions: scripts are safe with --entry.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "leafline show [OPTIONS] <SESSION> [ENTRY]\n       leafline show [OPTIONS] <SESSION>...",
    after_help = "\
Examples:
  leafline show 019c6605
  leafline show 019c6605 5937c1f0 | jq .message
  leafline show 019c6605 5b0c7a52 6d1f0f0e
  leafline show --entry @leaf 019c6605 5b0c7a52"
)]
pub(super) struct Arguments {
    /// The sessions: ids, or unique prefixes of ids
    #[arg(required = true, value_name = "SESSION", add = crate::completion::sessions())]
    sessions: Vec<String>,

    /// Show this entry of each session: an id, or a unique prefix of one, or @leaf or @last. May be given more than once
    #[arg(long = "entry", value_name = "ENTRY")]
    entries: Vec<String>,
}

/// A session's facts and leaf.
#[derive(Serialize)]
struct SessionJson<'a> {
    #[serde(flatten)]
    facts: &'a SessionFacts,
    leaf: Option<String>,
    agents: Vec<AgentJson<'a>>,
}

/// An agent's session, within the session that started it.
#[derive(Serialize)]
struct AgentJson<'a> {
    id: &'a str,
    agent: Option<&'a str>,
    entries: u64,
    first_prompt: Option<&'a str>,
}

/// Shows the session, or the entry.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let Chosen { readers, entries } = Chosen::of(arguments, &store)?;
    if !entries.is_empty() {
        return show_entries(&entries, out);
    }
    for (number, reader) in readers.iter().enumerate() {
        if number > 0 && !out.is_json() {
            out.line(format_args!(""))?;
        }
        show_session(reader, &store.agents_of(&reader.id())?, out)?;
    }
    Ok(Status::Done)
}

/// What is to be shown: all of it is found before any is.
struct Chosen {
    readers: Vec<SessionReader>,
    /// Entries of the sessions, instead of those.
    entries: Vec<Entry>,
}

impl Chosen {
    fn of(arguments: &Arguments, store: &Store) -> Result<Self, Failure> {
        let mut chosen = Self { readers: Vec::new(), entries: Vec::new() };
        if let ([session, named], []) = (&*arguments.sessions, &*arguments.entries) {
            let reader = store.reader(session)?;
            match entry_id(&reader, named) {
                Ok(id) => chosen.entries.push(reader.get_entry(&id)?),
                // It is a session then, or what is missing is the entry.
                Err(no_entry) if is_not_found(&no_entry) => {
                    let other = store.reader(named).map_err(|error| match error {
                        leafline::Error::Session(SessionError::NotFound { .. }) => no_entry,
                        error => error.into(),
                    })?;
                    chosen.readers.extend([reader, other]);
                }
                Err(failure) => return Err(failure),
            }
            return Ok(chosen);
        }
        for session in &arguments.sessions {
            let reader = store.reader(session)?;
            for named in &arguments.entries {
                chosen.entries.push(reader.get_entry(&entry_id(&reader, named)?)?);
            }
            chosen.readers.push(reader);
        }
        Ok(chosen)
    }
}

fn is_not_found(failure: &Failure) -> bool {
    let Failure::Library(leafline::Error::Session(error)) = failure else { return false };
    matches!(error, SessionError::EntryNotFound { .. })
}

fn show_entries(entries: &[Entry], out: &mut Output) -> Result<Status, Failure> {
    if out.is_json() {
        entries.iter().try_for_each(|entry| out.json(&EntryJson::new(entry)))?;
        return Ok(Status::Done);
    }
    let mut lines = Lines::new(out);
    for entry in entries {
        lines.begin()?;
        lines.write_all(entry.line())?;
    }
    Ok(Status::Done)
}

fn show_session(
    reader: &SessionReader,
    agents: &[SessionFacts],
    out: &mut Output,
) -> Result<(), Failure> {
    let facts = reader.facts();
    let leaf = reader.get_leaf()?;
    if out.is_json() {
        return out.json(&SessionJson {
            facts: &facts,
            leaf: leaf.as_ref().and_then(Entry::id),
            agents: agents.iter().map(AgentJson::new).collect(),
        });
    }
    write_facts(&facts, out)?;
    if let Some(leaf) = leaf {
        let id = leaf.id().unwrap_or_default();
        let view = leaf.view();
        let [name, words] = [preview::name(&leaf, &view), preview::words(&leaf, &view)];
        let words = format!("{} {name} {words}", text::printable(&id));
        write_fact("leaf", Some(words.trim_end()), out)?;
    }
    write_agents(agents, out)?;
    let mut table =
        Table::new([Column::Text("type"), Column::Number("lines"), Column::Number("bytes")]);
    for kind in &facts.types {
        table.push([
            text::printable(&kind.name).into_owned(),
            count(kind.lines),
            bytes(kind.bytes),
        ]);
    }
    out.line(format_args!(""))?;
    table.write(out)
}

fn write_agents(agents: &[SessionFacts], out: &mut Output) -> Result<(), Failure> {
    if agents.is_empty() {
        return Ok(());
    }
    let mut table =
        Table::new([Column::Whole("agent"), Column::Number("entries"), Column::Text("prompt")]);
    for agent in agents {
        let prompt = agent.first_prompt.as_deref().unwrap_or_default();
        table.push([printable(&agent.id), count(agent.entries), text::one_line(prompt, LONGEST)]);
    }
    out.line(format_args!(""))?;
    table.write(out)
}

impl<'a> AgentJson<'a> {
    fn new(facts: &'a SessionFacts) -> Self {
        Self {
            id: &facts.id,
            agent: facts.agent.as_deref(),
            entries: facts.entries,
            first_prompt: facts.first_prompt.as_deref(),
        }
    }
}

/// Prints one fact per line.
pub(super) fn write_facts(facts: &SessionFacts, out: &mut Output) -> Result<(), Failure> {
    let id = out.paint(STRONG, &text::printable(&facts.id));
    let migrated = if facts.migrated { ", migrated to version 3" } else { "" };
    let version = match &*facts.imported_version {
        "" => String::new(),
        version => format!(", version {version}{migrated}"),
    };
    let format = format!("{}{version}", facts.family);
    let lines = format!(
        "{}, {}",
        counted(facts.lines, "line", "lines"),
        counted(facts.entries, "entry", "entries")
    );
    let parent = facts.parent_session.as_deref().map(printable);
    let agent = facts.agent.as_deref().map(|agent| {
        let of = parent.as_ref().map_or_else(String::new, |parent| format!(" of {parent}"));
        format!("{}{of}", printable(agent))
    });
    let told = [
        ("session", Some(id)),
        ("title", facts.title.as_deref().map(printable)),
        ("prompt", facts.first_prompt.as_deref().map(printable)),
        ("format", Some(printable(&format))),
        ("folder", facts.cwd.as_deref().map(printable)),
        // The session that started an agent is shown with it.
        ("parent", parent.filter(|_| facts.agent.is_none())),
        ("agent", agent),
        ("created", facts.created.and_then(time::local)),
        ("modified", facts.modified.and_then(time::local)),
        ("holds", Some(format!("{lines}, {}", bytes(facts.bytes)))),
        ("remarks", remarks(facts)),
    ];
    for (name, fact) in told {
        write_fact(name, fact.as_deref(), out)?;
    }
    Ok(())
}

/// Prints a fact beside its name. On a terminal that is too narrow for it, its further lines stand below the first.
pub(super) fn write_fact(name: &str, fact: Option<&str>, out: &mut Output) -> Result<(), Failure> {
    let Some(fact) = fact else { return Ok(()) };
    let name = out.paint(FAINT, &format!("{name:<NAME_WIDTH$}"));
    write_beside(&format!("{name} "), NAME_WIDTH + 1, fact, out)
}

/// Prints words beside others that take so many columns, in as many lines as the terminal's width demands.
pub(super) fn write_beside(
    name: &str,
    name_width: usize,
    words: &str,
    out: &mut Output,
) -> Result<(), Failure> {
    let Some(width) = out.width() else { return out.line(format_args!("{name}{words}")) };
    let mut beside = name.to_owned();
    let columns = width.saturating_sub(name_width);
    let lines = text::wrapped(words, columns);
    // A path may be a word that is wider than the terminal.
    for line in lines.iter().flat_map(|line| text::pieces(line, columns)) {
        out.line(format_args!("{beside}{}", text::isolated(&line)))?;
        beside = " ".repeat(name_width);
    }
    Ok(())
}

fn printable(text: &str) -> String {
    text::printable(text).into_owned()
}

/// The oddities of the session.
fn remarks(facts: &SessionFacts) -> Option<String> {
    let counts = [
        (facts.malformed, "malformed line", "malformed lines"),
        (facts.orphans, "orphan", "orphans"),
        (facts.duplicates, "entry whose id is met again", "entries whose ids are met again"),
        (facts.unaddressed, "entry without an id", "entries without an id"),
    ];
    let told: Vec<String> = counts
        .iter()
        .filter(|(number, ..)| *number > 0)
        .map(|&(number, one, many)| counted(number, one, many))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}
