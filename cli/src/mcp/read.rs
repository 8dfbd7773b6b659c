//! The tool `read_session`.

use std::collections::VecDeque;
use std::fmt::Write;

use leafline::context::{ContextLeaf, HistoryScope};
use leafline::error::SessionError;
use leafline::{Entry, EntryKind, Error, SessionReader, Store};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{Answer, QUOTED, budget, quoted_line, quoted_within};
use super::list;
use super::names::{SessionNames, entry_name, entry_ordinal};
use super::refusal::Refusal;
use super::server::Stop;
use super::tokens::tokens;
use crate::preview;
use crate::time;
use crate::transcript::turn::{self, Calls, Turn, TurnPart};

/// Some less than 4,000: another vocabulary may count more than the estimate.
const USUAL_TOKENS: usize = 3500;

/// How many entries are read at a time: of a tool's results among them, the calls are known.
const TOGETHER: usize = 64;

/// The most characters of the first prompt.
const LONGEST_PROMPT: usize = 200;

/// The most agents that are named.
const MOST_AGENTS: usize = 5;

/// Marks an entry of which a part was left out.
const CUT: &str = "cut; get_entry has all of it\n";

/// What is read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// The session
    session: String,
    /// Where to read, instead of at the end of the conversation
    entry: Option<String>,
    /// Whether to read around the entry, before it or after it; after no entry is from the beginning
    #[serde(default)]
    direction: Direction,
    #[serde(default)]
    detail: Detail,
    /// 3500 by default
    max_tokens: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Direction {
    #[default]
    Around,
    Before,
    After,
}

/// talk is only what was said; brief has thoughts, tool calls and results in a line each; full has them whole
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Detail {
    Talk,
    #[default]
    Brief,
    Full,
}

/// Reads a part of the conversation.
pub(super) fn answer(asked: &Asked, store: &Store, stop: &Stop) -> Result<String, Refusal> {
    let mut answer = Answer::new(budget(asked.max_tokens, USUAL_TOKENS)?);
    let reader = store.reader(&asked.session)?;
    let at = asked.entry.as_deref().map(|named| entry_ordinal(&reader, named)).transpose()?;
    write_heading(store, &reader, at.is_none(), &mut answer)?;
    let mut part = Part::new(&reader, asked.detail, answer.left(), stop);
    part.read(at, asked.direction)?;
    if part.is_elsewhere {
        answer.add("this is another branch than the one with the session's leaf\n");
    }
    for shown in &part.shown {
        // The room was that of the answer.
        answer.add(&shown.lines);
    }
    if part.shown.is_empty() {
        answer.add("nothing to read there\n");
    }
    let mut end = String::new();
    if let Some(first) = part.shown.front().filter(|_| part.has_earlier) {
        let _ = writeln!(end, "earlier: entry={} direction=before", first.name);
    }
    if let Some(last) = part.shown.back().filter(|_| part.has_later) {
        let _ = writeln!(end, "later: entry={} direction=after", last.name);
    }
    Ok(answer.end(&end))
}

/// Writes which session it is; with what it is about, if the reader has not come from there.
fn write_heading(
    store: &Store,
    reader: &SessionReader,
    is_first: bool,
    answer: &mut Answer,
) -> Result<(), Refusal> {
    let facts = reader.facts();
    let names = SessionNames::of(store, [&*facts.id])?;
    answer.add(&list::heading(&facts, names.name(&facts.id)));
    if !is_first {
        answer.add(&format!("{QUOTED}\n"));
        return Ok(());
    }
    let prompt = facts.first_prompt.as_deref().filter(|_| facts.title.is_some());
    let about = [
        list::quoted_title(list::said(&facts), facts.cwd.as_deref()),
        quoted_line(prompt.unwrap_or_default(), LONGEST_PROMPT),
    ];
    for line in about {
        // The conversation comes first where there is little room.
        if tokens(&line) < answer.left() / 4 {
            answer.add(&line);
        }
    }
    answer.add(&format!("{QUOTED} ~ thought, → tool call, ← result, $ command, ! error\n"));
    let agents = store.agents_of(&facts.id)?;
    if !agents.is_empty() {
        let names = SessionNames::of(store, agents.iter().map(|agent| &*agent.id))?;
        let some = agents.iter().take(MOST_AGENTS).map(|agent| names.name(&agent.id));
        let some = some.collect::<Vec<_>>().join(", ");
        answer.add(&format!("sessions of its {} agents: {some}\n", agents.len()));
    }
    Ok(())
}

/// An entry as it is shown.
struct Shown {
    name: String,
    lines: String,
    tokens: usize,
}

/// A part of a path that is being read.
struct Part<'r> {
    reader: &'r SessionReader,
    detail: Detail,
    stop: &'r Stop,
    /// Tokens that are left for it.
    left: usize,
    /// The most tokens of an entry: one that is long must not be all there is.
    most: usize,
    shown: VecDeque<Shown>,
    has_earlier: bool,
    has_later: bool,
    /// Whether it is on another path than the leaf's.
    is_elsewhere: bool,
}

impl<'r> Part<'r> {
    fn new(reader: &'r SessionReader, detail: Detail, left: usize, stop: &'r Stop) -> Self {
        let shown = VecDeque::new();
        let (has_earlier, has_later, is_elsewhere) = (false, false, false);
        let most = left / 2;
        Self { reader, detail, stop, left, most, shown, has_earlier, has_later, is_elsewhere }
    }

    /// Reads towards where it was asked for. Without an entry, the end says most: what was decided, and what was left.
    fn read(&mut self, at: Option<u64>, direction: Direction) -> Result<(), Refusal> {
        let said = self.said(at)?;
        let place = at.and_then(|at| said.iter().position(|ordinal| *ordinal == at));
        let (first, last) = match (place, direction) {
            (None, Direction::After) => (0, self.forwards(&said, 0)?),
            (None, _) => (self.backwards(&said, said.len(), self.left)?, said.len()),
            (Some(place), Direction::Before) => (self.backwards(&said, place, self.left)?, place),
            (Some(place), Direction::After) => (place + 1, self.forwards(&said, place + 1)?),
            (Some(place), Direction::Around) => {
                let first = self.backwards(&said, place + 1, self.left / 2)?;
                (first, self.forwards(&said, place + 1)?)
            }
        };
        (self.has_earlier, self.has_later) = (first > 0, last < said.len());
        Ok(())
    }

    /// The ordinals of everything that was said up to the leaf, above compactions too; for an entry of another branch, up to
    /// the end of that.
    fn said(&mut self, at: Option<u64>) -> Result<Vec<u64>, Refusal> {
        let said = self.said_up_to(ContextLeaf::Current)?;
        let Some(at) = at.filter(|at| !said.contains(at)) else { return Ok(said) };
        self.is_elsewhere = true;
        let leaf = self.reader.line(self.reader.branch_leaf(at)?)?;
        let leaf = leaf.and_then(|leaf| leaf.id());
        let said = match &leaf {
            Some(leaf) => self.said_up_to(ContextLeaf::Entry(leaf))?,
            None => Vec::new(),
        };
        if said.contains(&at) {
            return Ok(said);
        }
        Err(Refusal::wrong(format!(
            "entry #{at} is beside the conversation; get_entry reads it, and read_session without an entry the end"
        )))
    }

    fn said_up_to(&self, leaf: ContextLeaf<'_>) -> Result<Vec<u64>, Refusal> {
        match self.reader.get_history(leaf, HistoryScope::Full) {
            Ok(history) => Ok(history.ordinals().collect()),
            // What it continues is not stored; what it has itself is.
            Err(Error::Session(SessionError::BaseNotFound { .. })) => {
                let mut path = Vec::new();
                self.reader.get_path(None, |entry| {
                    path.push(entry.ordinal());
                    Ok(())
                })?;
                Ok(path)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Adds what is ahead of a place, as far up as there is room. Returns the place where it begins.
    fn backwards(&mut self, said: &[u64], before: usize, room: usize) -> Result<usize, Refusal> {
        let floor = self.left.saturating_sub(room);
        let mut begin = before;
        while begin > 0 && !self.stop.is_set() {
            let from = begin.saturating_sub(TOGETHER);
            let together = said.get(from..begin).unwrap_or_default();
            for (place, shown) in self.shown_of(together)?.into_iter().rev() {
                if self.left < floor + shown.tokens && !self.shown.is_empty() {
                    return Ok(begin);
                }
                begin = from + place;
                self.left = self.left.saturating_sub(shown.tokens);
                self.shown.push_front(shown);
            }
            begin = from;
        }
        Ok(begin)
    }

    /// Adds what is behind a place, as far down as there is room. Returns the place where it ends.
    fn forwards(&mut self, said: &[u64], from: usize) -> Result<usize, Refusal> {
        let mut end = from;
        while end < said.len() && !self.stop.is_set() {
            let to = said.len().min(end + TOGETHER);
            let together = said.get(end..to).unwrap_or_default();
            let begin = end;
            for (place, shown) in self.shown_of(together)? {
                if self.left < shown.tokens && !self.shown.is_empty() {
                    return Ok(end);
                }
                end = begin + place + 1;
                self.left = self.left.saturating_sub(shown.tokens);
                self.shown.push_back(shown);
            }
            end = to;
        }
        Ok(end)
    }

    /// Those of the entries that are shown, each with its place among them.
    fn shown_of(&self, ordinals: &[u64]) -> Result<Vec<(usize, Shown)>, Refusal> {
        let mut calls = Calls::new();
        let mut shown = Vec::new();
        for (place, ordinal) in ordinals.iter().enumerate() {
            let Some(entry) = self.reader.line(*ordinal)? else { continue };
            let turn = turn::entry(&entry, self.detail == Detail::Full, &mut calls);
            if !self.is_shown(&entry, &turn) {
                continue;
            }
            let name = entry_name(self.reader, &entry)?;
            let lines = heading(&name, &turn, entry.timestamp()) + &self.parts(&turn);
            let tokens = tokens(&lines);
            shown.push((place, Shown { name, lines, tokens }));
        }
        Ok(shown)
    }

    fn is_shown(&self, entry: &Entry, turn: &Turn) -> bool {
        // Changes of the model and the like say little.
        let is_setting =
            turn.parts.iter().any(|part| matches!(part, TurnPart::Aside { sign: "·", .. }));
        match self.detail {
            Detail::Full => true,
            Detail::Brief => !is_setting || entry.kind() == EntryKind::Label,
            Detail::Talk => turn.parts.iter().any(|part| matches!(part, TurnPart::Text(_))),
        }
    }

    /// The quoted lines of an entry.
    fn parts(&self, turn: &Turn) -> String {
        let mut lines = String::new();
        let mut is_whole = true;
        for part in &turn.parts {
            let room = self.most.saturating_sub(tokens(&lines));
            match part {
                TurnPart::Text(text) => is_whole &= add_quoted(text, room, &mut lines),
                TurnPart::Aside { .. } if self.detail == Detail::Talk => {}
                TurnPart::Aside { sign, name, text, .. } if self.detail == Detail::Full => {
                    lines.push_str(&quoted_line(&format!("{sign} {name}"), preview::LONGEST));
                    is_whole &= add_quoted(text, room, &mut lines);
                }
                TurnPart::Aside { sign, name, text, .. } => {
                    // The beginning is enough to cut it to a line.
                    let start = leafline_import::text::one_line(text, preview::LONGEST);
                    let line = quoted_line(&format!("{sign} {name} {start}"), 2 * preview::LONGEST);
                    is_whole &= tokens(&line) <= room;
                    if tokens(&line) <= room {
                        lines.push_str(&line);
                    }
                }
            }
        }
        if !is_whole {
            lines.push_str(CUT);
        }
        lines
    }
}

/// Adds the beginning of a text. Returns whether it is all of it.
fn add_quoted(text: &str, room: usize, lines: &mut String) -> bool {
    let text = text.trim_end();
    let (quoted, bytes) = quoted_within(text, room);
    lines.push_str(&quoted);
    bytes == text.len()
}

/// The line at the margin that names an entry.
pub(super) fn heading(name: &str, turn: &Turn, time: Option<i64>) -> String {
    let said = turn.heading.as_deref().and_then(|heading| heading.split(' ').next());
    // An extension's own word for its messages may be anything.
    let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_setting =
        turn.parts.iter().any(|part| matches!(part, TurnPart::Aside { sign: "·", .. }));
    let role = match said.filter(is_word) {
        Some(word) => word,
        None if said.is_some() => "message",
        None if is_setting => "setting",
        None => "tool",
    };
    let time = time.and_then(time::local).unwrap_or_default();
    let heading = format!("entry {name} {role} {time}");
    format!("{}\n", heading.trim_end())
}
