//! The tool `list_sessions`.

use std::fmt::Write;

use leafline::list::SessionFilter;
use leafline::{SessionFacts, Store};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Answer, QUOTED, budget, quoted_line};
use super::filters;
use super::names::SessionNames;
use super::refusal::Refusal;
use crate::number::counted;
use crate::{text, time};

const USUAL_TOKENS: usize = 2000;
const USUAL_LIMIT: usize = 20;
const MOST: usize = 100;

/// How far paging goes: each page reads what it passes over.
pub(super) const FARTHEST: usize = 10_000;

/// The most characters of a title, and of a directory.
const LONGEST: usize = 120;

/// Which sessions are listed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// Only in or below this directory
    cwd: Option<String>,
    /// Only of this program
    #[schemars(schema_with = "filters::families")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    family: Option<String>,
    /// Only with a message at this time or later: 2026-02-16, 2026-02-16T10:20, or 12h, 7d, 2w ago
    since: Option<String>,
    /// Only with the last message before this time
    until: Option<String>,
    /// Only with this text in the title or at the beginning of the first prompt
    text: Option<String>,
    /// Sessions of agents that other sessions started, too
    #[serde(default)]
    agents: bool,
    /// At most so many; 20 by default, up to 100
    limit: Option<usize>,
    /// How many to pass over, as the answer before says
    #[serde(default)]
    offset: usize,
    /// 2000 by default
    max_tokens: Option<usize>,
}

/// Lists sessions.
pub(super) fn answer(asked: &Asked, store: &Store) -> Result<String, Refusal> {
    let mut answer = Answer::new(budget(asked.max_tokens, USUAL_TOKENS)?);
    let limit = filters::limit(asked.limit, USUAL_LIMIT, MOST)?;
    let filter = SessionFilter {
        since: filters::moment("since", asked.since.as_deref())?,
        until: filters::moment("until", asked.until.as_deref())?,
        text: asked.text.clone(),
        without_agents: !asked.agents,
        // One more says whether there are more.
        limit: Some(asked.offset.saturating_add(limit).saturating_add(1).min(FARTHEST)),
        ..filters::sessions(asked.family.as_deref(), asked.cwd.as_deref())?
    };
    let list = store.list_readable(&filter)?;
    let listed: Vec<&SessionFacts> = list.sessions.iter().skip(asked.offset).take(limit).collect();
    let names = SessionNames::of(store, listed.iter().map(|session| &*session.id))?;
    answer.add(&match listed.is_empty() {
        true => "no such sessions\n".to_owned(),
        false => format!("sessions, latest message first. {QUOTED}\n"),
    });
    let mut shown = 0;
    for session in &listed {
        let lines = heading(session, names.name(&session.id))
            + &quoted_title(said(session), session.cwd.as_deref());
        if !answer.add(&lines) {
            break;
        }
        shown += 1;
    }
    let next = asked.offset + shown;
    let mut end = String::new();
    if let Some((id, _)) = list.damaged.first() {
        let sessions = counted(list.damaged.len() as u64, "session is", "sessions are");
        let _ =
            writeln!(end, "{sessions} damaged and not listed, such as {}", text::one_line(id, 40));
    }
    if list.sessions.len() > next {
        let _ = writeln!(end, "more: offset={next}");
    }
    Ok(answer.end(&end))
}

/// The line at the margin that names a session.
pub(super) fn heading(session: &SessionFacts, name: &str) -> String {
    let entries = counted(session.entries, "entry", "entries");
    let time = session.modified.and_then(time::local).unwrap_or_default();
    let agent = if session.agent.is_some() { " agent" } else { "" };
    let heading = format!("session {name} {}{agent} {entries} {time}", session.family.name());
    format!("{}\n", heading.trim_end())
}

/// What a session is about, as far as its record says.
pub(super) fn said(session: &SessionFacts) -> Option<&str> {
    session.title.as_deref().or(session.first_prompt.as_deref())
}

/// The quoted line that says what a session is about, and where it was.
pub(super) fn quoted_title(title: Option<&str>, cwd: Option<&str>) -> String {
    let title = text::one_line(title.unwrap_or_default(), LONGEST);
    let cwd = cwd.map(|cwd| format!("[{}]", text::fit_end(&text::printable(cwd), LONGEST)));
    quoted_line(&format!("{title} {}", cwd.unwrap_or_default()), 3 * LONGEST)
}
