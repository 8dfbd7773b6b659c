//! `leafline search`.

use std::io::IsTerminal;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use leafline::search::{DamagedSession, SearchHit, SearchIndex, SearchQuery};
use leafline::view::Role;
use serde_json::json;

use super::failure::{Failure, complain};
use super::index::{Readiness, behind, complete, readiness};
use super::interrupt::Interrupt;
use super::ls::unique_prefix;
use super::number::bytes;
use super::output::{FAINT, KIND, Output, STRONG};
use super::place::Place;
use super::session_choice::SessionChoice;
use super::table::write_tabs;
use super::{Status, text, time};

/// The default number of hits.
const USUAL_LIMIT: usize = 20;

/// Find entries by their words, the best first
///
/// Searches messages, thoughts, tool calls and their results in all sessions. Finds the entries that have all of the
/// words: "double quotes" for a phrase, word* for a prefix, -word to exclude (after -- if it comes first). Case and
/// accents do not matter. A compound such as build_context is a phrase.
///
/// Prints for each entry its session's id, its own id, its time, its role, and the text around the words. Without a
/// terminal, these five are columns separated by tabs. With --json each is an object: session, entry,
/// ordinal, role, time (milliseconds since 1970), score, family, title, cwd, snippet {text, matches}, where matches are
/// ranges of bytes of the text.
///
/// Uses the index beside the store, and brings it up to date first; if another process is at it, as after a large import,
/// waits for it. --no-wait searches what is indexed already.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline search login redirect
  leafline search '\"no such file\" migrat*' --role tool --since 7d
  leafline search pagination --limit 5 --json | jq -r '.session + \" \" + .entry'")]
pub(super) struct Arguments {
    /// The words
    #[arg(required = true)]
    query: Vec<String>,

    /// Only in this session: its id, or a unique prefix of it
    #[arg(long, value_name = "SESSION", add = crate::completion::sessions())]
    session: Option<String>,

    /// Only entries of this role; may be given several times
    #[arg(long = "role", value_name = "ROLE", value_parser = any_role())]
    roles: Vec<Role>,

    #[command(flatten)]
    choice: SessionChoice,

    /// Only entries of this time or later: 2026-02-16, 2026-02-16T10:20, or for how long ago 30m (minutes),
    /// 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    since: Option<i64>,

    /// Only entries before this time
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    until: Option<i64>,

    /// Search the index as it is, without updating it or waiting for another process that does
    #[arg(long)]
    no_wait: bool,

    /// Show at most this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = USUAL_LIMIT)]
    limit: usize,
}

/// The name of a role whose entries can be searched.
fn any_role() -> impl TypedValueParser<Value = Role> {
    let roles = SearchIndex::ROLES;
    PossibleValuesParser::new(roles.iter().map(|role| role.name())).map(move |name| {
        let role = roles.iter().find(|role| role.name() == name);
        *role.expect("the possible values are the roles' names")
    })
}

/// Searches the sessions.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let index = SearchIndex::open_or_create(&store)?;
    let readiness = if arguments.no_wait {
        readiness(&index)?
    } else {
        let interrupt = Interrupt::listen()?;
        let readiness = complete(&index, &|| !interrupt.is_set(), true)?;
        if interrupt.is_set() {
            complain("stopped; the next search or `leafline index` goes on with the index");
            return Ok(Status::Stopped);
        }
        readiness
    };
    if let Readiness::Missing(lacking) = readiness {
        return Err(Failure::NoIndex { bytes: bytes(lacking) });
    }
    let found = index.search_readable(&SearchQuery {
        session: arguments.session.clone(),
        sessions: arguments.choice.filter()?,
        roles: arguments.roles.clone(),
        since: arguments.since,
        until: arguments.until,
        limit: arguments.limit,
        ..SearchQuery::new(arguments.query.join(" "))
    })?;
    let hits = found.hits;
    let mut ids: Vec<String> = hits.iter().map(|hit| hit.session.clone()).collect();
    if out.width().is_some() {
        ids.extend(store.neighbouring_ids(hits.iter().map(|hit| &*hit.session))?);
    }
    ids.sort_unstable();
    ids.dedup();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for hit in &hits {
        print_hit(hit, &ids, out)?;
    }
    let mut damaged = found.damaged;
    match readiness {
        Readiness::Behind(sessions, failed) => out.remark(behind(sessions, failed.as_ref())),
        Readiness::Damaged(unread) => {
            let is_known =
                |one: &DamagedSession| damaged.iter().any(|two| two.session == one.session);
            let unread: Vec<DamagedSession> =
                unread.into_iter().filter(|one| !is_known(one)).collect();
            damaged.extend(unread);
        }
        Readiness::Complete | Readiness::Missing(_) => {}
    }
    if hits.is_empty() && std::io::stderr().is_terminal() {
        out.remark("nothing found".to_owned());
    }
    for DamagedSession { session, damage, .. } in &damaged {
        complain(&format!("session {session} is damaged, and not all of it was found: {damage}"));
    }
    Ok(if damaged.is_empty() { Status::Done } else { Status::Failed })
}

fn print_hit(hit: &SearchHit, ids: &[&str], out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(&as_json(hit));
    }
    // A prefix that no other session has, on a terminal.
    let session =
        if out.width().is_some() { unique_prefix(&hit.session, ids) } else { &hit.session };
    let session = text::printable(session);
    let entry = text::printable(hit.entry.as_deref().unwrap_or_default());
    let snippet = &hit.snippet;
    if out.width().is_none() {
        let time = hit.time.and_then(time::iso).unwrap_or_default();
        let said = text::printable(&snippet.text).into_owned();
        let row =
            [session.into_owned(), entry.into_owned(), time, hit.role.name().to_owned(), said];
        return write_tabs(out, &row);
    }
    let time = hit.time.and_then(time::local).unwrap_or_default();
    let (strong, kind) = (out.paint(STRONG, &session), out.paint(KIND, hit.role.name()));
    let title = text::one_line(hit.title.as_deref().unwrap_or_default(), 60);
    let taken = [&*session, &*entry, &*time, hit.role.name()].map(text::width);
    let taken = taken.iter().sum::<usize>() + 8;
    let room = out.width().unwrap_or_default().saturating_sub(taken);
    let title = text::fit(&title, room);
    let title = out.paint(FAINT, &text::isolated(&title));
    let heading = format!("{strong}  {entry}  {time}  {kind}  {title}");
    out.line(format_args!("{}", heading.trim_end()))?;
    let mut said = String::new();
    let mut end = 0;
    for place in &snippet.matches {
        let between = snippet.text.get(end..place.start).unwrap_or_default();
        said.push_str(&text::printable(between));
        let word = snippet.text.get(place.clone()).unwrap_or_default();
        said.push_str(&out.paint(STRONG, &text::printable(word)));
        end = place.end;
    }
    said.push_str(&text::printable(snippet.text.get(end..).unwrap_or_default()));
    let said = format!("    {said}");
    for line in text::wrapped(&said, out.width().unwrap_or(usize::MAX)) {
        out.line(format_args!("{line}"))?;
    }
    Ok(())
}

fn as_json(hit: &SearchHit) -> serde_json::Value {
    let matches: Vec<[usize; 2]> =
        hit.snippet.matches.iter().map(|place| [place.start, place.end]).collect();
    json!({
        "session": hit.session,
        "entry": hit.entry,
        "ordinal": hit.ordinal,
        "role": hit.role.name(),
        "time": hit.time,
        "score": hit.score,
        "family": hit.family.name(),
        "title": hit.title,
        "cwd": hit.cwd,
        "snippet": { "text": hit.snippet.text, "matches": matches },
    })
}
