//! The tool `search_sessions`.

use std::collections::HashMap;
use std::fmt::Write;

use leafline::search::{DamagedSession, SearchHit, SearchOrder, SearchQuery};
use leafline::{SessionReader, Store};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Answer, QUOTED, budget, quoted_line};
use super::names::{SessionNames, name_of};
use super::ready::{Ready, ready};
use super::refusal::Refusal;
use super::server::Stop;
use super::{filters, list};
use crate::number::counted;
use crate::{text, time};

const USUAL_TOKENS: usize = 2000;
const USUAL_LIMIT: usize = 10;
const MOST: usize = 50;

/// The most characters of the text around the words; the index gives some 160.
const LONGEST: usize = 400;

/// What is searched for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// Words that an entry must all have; "a phrase", begin*, -without
    query: String,
    /// Only in this session
    session: Option<String>,
    /// Only sessions in or below this directory
    cwd: Option<String>,
    /// Only sessions of this program
    #[schemars(schema_with = "filters::families")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    family: Option<String>,
    /// Only entries of this role
    #[schemars(schema_with = "filters::roles")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// Only entries at this time or later: 2026-02-16, 2026-02-16T10:20, or 12h, 7d, 2w ago
    since: Option<String>,
    /// Only entries before this time
    until: Option<String>,
    /// The newest first, not the best
    #[serde(default)]
    newest: bool,
    /// At most so many; 10 by default, up to 50
    limit: Option<usize>,
    /// How many to pass over, as the answer before says
    #[serde(default)]
    offset: usize,
    /// 2000 by default
    max_tokens: Option<usize>,
}

/// Searches.
pub(super) fn answer(asked: &Asked, store: &Store, stop: &Stop) -> Result<String, Refusal> {
    let mut answer = Answer::new(budget(asked.max_tokens, USUAL_TOKENS)?);
    let limit = filters::limit(asked.limit, USUAL_LIMIT, MOST)?;
    let query = query(asked, limit)?;
    let Ready { index, lacking } = ready(store, stop)?;
    let found = index.search_readable(&query)?;
    let hits: Vec<&SearchHit> = found.hits.iter().skip(asked.offset).take(limit).collect();
    let order = if asked.newest { "newest first" } else { "best first" };
    answer.add(&match hits.is_empty() {
        true => "nothing found; try fewer words, or begin* for words that begin so\n".to_owned(),
        false => format!("entries found, {order}. {QUOTED}\n"),
    });
    let names = SessionNames::of(store, hits.iter().map(|hit| &*hit.session))?;
    let shown = write_hits(&hits, &names, store, &mut answer)?;
    let next = asked.offset + shown;
    let mut end = lacking;
    end.push_str(&damaged(&found.damaged));
    if found.hits.len() > next {
        let _ = writeln!(end, "more: offset={next}");
    }
    Ok(answer.end(&end))
}

fn query(asked: &Asked, limit: usize) -> Result<SearchQuery, Refusal> {
    let role = asked.role.as_deref().map(filters::role).transpose()?;
    Ok(SearchQuery {
        session: asked.session.clone(),
        sessions: filters::sessions(asked.family.as_deref(), asked.cwd.as_deref())?,
        roles: role.into_iter().collect(),
        since: filters::moment("since", asked.since.as_deref())?,
        until: filters::moment("until", asked.until.as_deref())?,
        order: if asked.newest { SearchOrder::Newest } else { SearchOrder::Best },
        // One more says whether there are more.
        limit: asked.offset.saturating_add(limit).saturating_add(1).min(list::FARTHEST),
        ..SearchQuery::new(&*asked.query)
    })
}

/// Writes the hits, as many as there is room for; a session is named before the first of its hits that follow one another.
/// Returns how many.
fn write_hits(
    hits: &[&SearchHit],
    names: &SessionNames,
    store: &Store,
    answer: &mut Answer,
) -> Result<usize, Refusal> {
    let mut readers: HashMap<&str, Option<SessionReader>> = HashMap::new();
    let mut last = None;
    for (shown, hit) in hits.iter().enumerate() {
        let mut lines = String::new();
        if last.replace(&*hit.session) != Some(&*hit.session) {
            let _ = writeln!(lines, "session {} {}", names.name(&hit.session), hit.family.name());
            lines.push_str(&list::quoted_title(hit.title.as_deref(), hit.cwd.as_deref()));
        }
        let reader = readers.entry(&hit.session).or_insert_with(|| store.reader(&hit.session).ok());
        // A session that is gone by now, or damaged, costs only the short name.
        let name = reader
            .as_ref()
            .and_then(|reader| name_of(reader, hit.entry.as_deref(), hit.ordinal).ok());
        let name = name.unwrap_or_else(|| format!("#{}", hit.ordinal));
        let time = hit.time.and_then(time::local).unwrap_or_default();
        let heading = format!("entry {name} {} {time}", hit.role.name());
        let _ = writeln!(lines, "{}", heading.trim_end());
        lines.push_str(&quoted_line(&hit.snippet.text, LONGEST));
        if !answer.add(&lines) {
            return Ok(shown);
        }
    }
    Ok(hits.len())
}

/// Says of which sessions something was left out.
fn damaged(sessions: &[DamagedSession]) -> String {
    let Some(one) = sessions.first() else { return String::new() };
    format!(
        "{} damaged, such as {}: not all of it was found\n",
        counted(sessions.len() as u64, "session is", "sessions are"),
        text::one_line(&one.session, 40),
    )
}
