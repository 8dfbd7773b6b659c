//! The tool `recent_prompts`.

use std::collections::HashMap;
use std::fmt::Write;

use leafline::list::Folder;
use leafline::prompts::HistoryEntry;
use leafline::search::{SearchHit, SearchIndex, SearchOrder, SearchQuery};
use leafline::view::Role;
use leafline::{Error, SessionReader, Store};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Answer, QUOTED, budget, quoted_line, quoted_within};
use super::names::{SessionNames, name_of};
use super::ready::{Ready, ready};
use super::refusal::Refusal;
use super::server::Stop;
use super::{filters, list};
use crate::{text, time};

const USUAL_TOKENS: usize = 2000;
const USUAL_LIMIT: usize = 20;
const MOST: usize = 100;

/// The most tokens of a prompt.
const LONGEST: usize = 150;

/// The most characters of a directory.
const LONGEST_DIRECTORY: usize = 120;

/// A prompt of the history and the message that it became are written within this many milliseconds.
const SAME: i64 = 60_000;

/// Which prompts are listed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// Only prompts with these words
    query: Option<String>,
    /// Only in or below this directory
    cwd: Option<String>,
    /// Only of sessions of this program
    #[schemars(schema_with = "filters::families")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    family: Option<String>,
    /// Only at this time or later: 2026-02-16, 2026-02-16T10:20, or 12h, 7d, 2w ago
    since: Option<String>,
    /// Only before this time
    until: Option<String>,
    /// At most so many; 20 by default, up to 100
    limit: Option<usize>,
    /// How many to pass over, as the answer before says
    #[serde(default)]
    offset: usize,
    /// 2000 by default
    max_tokens: Option<usize>,
}

/// A prompt, and where it is.
struct Prompt {
    text: String,
    time: i64,
    cwd: Option<String>,
    /// Its session's id, and its entry's name; the history has neither.
    place: Option<(String, String)>,
}

/// Lists prompts.
pub(super) fn answer(asked: &Asked, store: &Store, stop: &Stop) -> Result<String, Refusal> {
    let mut answer = Answer::new(budget(asked.max_tokens, USUAL_TOKENS)?);
    let limit = filters::limit(asked.limit, USUAL_LIMIT, MOST)?;
    // One more says whether there are more.
    let most = asked.offset.saturating_add(limit).saturating_add(1).min(list::FARTHEST);
    let times = Times {
        since: filters::moment("since", asked.since.as_deref())?,
        until: filters::moment("until", asked.until.as_deref())?,
    };
    let Ready { index, lacking } = ready(store, stop)?;
    let mut prompts = of_sessions(asked, store, &index, (times, most))?;
    add_history(asked, store, (times, most), &mut prompts)?;
    let all = prompts.len();
    let listed: Vec<&Prompt> = prompts.iter().skip(asked.offset).take(limit).collect();
    answer.add(&match listed.is_empty() {
        true => "no such prompts\n".to_owned(),
        false => format!("prompts, newest first. {QUOTED}\n"),
    });
    let places = listed.iter().filter_map(|prompt| prompt.place.as_ref());
    let names = SessionNames::of(store, places.map(|(session, _)| session.as_str()))?;
    let (mut shown, mut cwd) = (0, None);
    for prompt in listed {
        if !answer.add(&lines(prompt, &names, cwd.replace(&prompt.cwd) != Some(&prompt.cwd))) {
            break;
        }
        shown += 1;
    }
    let next = asked.offset + shown;
    let mut end = lacking;
    if all > next {
        let _ = writeln!(end, "more: offset={next}");
    }
    Ok(answer.end(&end))
}

fn lines(prompt: &Prompt, names: &SessionNames, is_elsewhere: bool) -> String {
    let time = time::local(prompt.time).unwrap_or_default();
    let mut lines = match &prompt.place {
        Some((session, entry)) => format!("session {} entry {entry} {time}\n", names.name(session)),
        None => format!("history {time}\n"),
    };
    if let Some(cwd) = prompt.cwd.as_deref().filter(|_| is_elsewhere) {
        lines.push_str(&quoted_line(
            &format!("[{}]", text::one_line(cwd, LONGEST_DIRECTORY)),
            usize::MAX,
        ));
    }
    let said = prompt.text.trim();
    let (quoted, bytes) = quoted_within(said, LONGEST);
    lines.push_str(&quoted);
    if bytes < said.len() {
        lines.push_str("cut\n");
    }
    lines
}

/// The bounds of time that are asked for.
#[derive(Debug, Clone, Copy)]
struct Times {
    since: Option<i64>,
    until: Option<i64>,
}

impl Times {
    fn have(self, time: i64) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}

/// The newest messages of users. Those that a program has written in the user's name are none of the user's.
fn of_sessions(
    asked: &Asked,
    store: &Store,
    index: &SearchIndex,
    (times, most): (Times, usize),
) -> Result<Vec<Prompt>, Refusal> {
    let mut sessions = filters::sessions(asked.family.as_deref(), asked.cwd.as_deref())?;
    sessions.without_agents = true;
    let mut wanted = most;
    loop {
        let found = index.search_readable(&SearchQuery {
            sessions: sessions.clone(),
            roles: vec![Role::User],
            since: times.since,
            until: times.until,
            order: SearchOrder::Newest,
            limit: wanted,
            ..SearchQuery::new(asked.query.as_deref().unwrap_or_default())
        })?;
        let mut readers = HashMap::new();
        let mut prompts = Vec::new();
        for hit in &found.hits {
            // A session that is damaged or gone costs its own prompts alone.
            match prompt(hit, store, &mut readers) {
                Err(Error::Corrupted(_) | Error::Session(_)) => {}
                prompt => prompts.extend(prompt?),
            }
        }
        let is_all = found.hits.len() < wanted || wanted >= list::FARTHEST;
        if prompts.len() >= most || is_all {
            prompts.truncate(most);
            return Ok(prompts);
        }
        wanted = wanted.saturating_mul(4).min(list::FARTHEST);
    }
}

/// The user's message that was found; `None` if it is none.
fn prompt(
    hit: &SearchHit,
    store: &Store,
    readers: &mut HashMap<String, SessionReader>,
) -> leafline::Result<Option<Prompt>> {
    if !readers.contains_key(&hit.session) {
        readers.insert(hit.session.clone(), store.reader(&hit.session)?);
    }
    let Some(reader) = readers.get(&hit.session) else { return Ok(None) };
    let Some(entry) = reader.line(hit.ordinal)? else { return Ok(None) };
    let view = entry.view();
    let text = view.text();
    let (Some(time), false) =
        (hit.time, view.is_hidden || view.is_sidechain || text.trim().is_empty())
    else {
        return Ok(None);
    };
    let name = name_of(reader, hit.entry.as_deref(), hit.ordinal)?;
    Ok(Some(Prompt { text, time, cwd: hit.cwd.clone(), place: Some((hit.session.clone(), name)) }))
}

/// Adds the prompts of the history that no session has, at their places.
fn add_history(
    asked: &Asked,
    store: &Store,
    (times, most): (Times, usize),
    prompts: &mut Vec<Prompt>,
) -> Result<(), Refusal> {
    // The history does not say of which program's session they are.
    if asked.family.is_some() {
        return Ok(());
    }
    let history = store.history();
    let found: Vec<HistoryEntry> = match &asked.query {
        Some(query) => history.search(query, usize::MAX)?,
        None => history.recent(usize::MAX)?,
    };
    let below = filters::sessions(None, asked.cwd.as_deref())?.below;
    let below = below.as_deref().map(Folder::new);
    let is_below = |cwd: &str| below.as_ref().is_none_or(|below| below.holds(cwd));
    let is_asked = |prompt: &HistoryEntry| {
        times.have(prompt.created_at) && is_below(prompt.cwd.as_deref().unwrap_or_default())
    };
    for prompt in found.into_iter().filter(is_asked).take(most) {
        let is_same = |other: &Prompt| {
            other.place.is_some()
                && other.text.trim() == prompt.prompt.trim()
                && (other.time - prompt.created_at).abs() <= SAME
        };
        if !prompts.iter().any(is_same) {
            let (text, time, cwd) = (prompt.prompt, prompt.created_at, prompt.cwd);
            prompts.push(Prompt { text, time, cwd, place: None });
        }
    }
    prompts.sort_by_key(|prompt| std::cmp::Reverse(prompt.time));
    prompts.truncate(most);
    Ok(())
}
