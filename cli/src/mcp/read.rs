//! The tool `read_session`.

use std::collections::VecDeque;
use std::fmt::Write;

use leafline::page::PageLimit;
use leafline::{Entry, EntryKind, SessionReader, Store};
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

const USUAL_TOKENS: usize = 4000;

/// What is read of the store at a time.
const PAGE: PageLimit = PageLimit { entries: 128, bytes: 1 << 20 };

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
    /// 4000 by default
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
        match (at, direction) {
            (None, Direction::After) => self.forwards(None),
            (None, _) => match self.reader.get_leaf()? {
                Some(leaf) => self.backwards(leaf.ordinal(), true, self.left),
                None => Ok(()),
            },
            (Some(at), Direction::Before) => {
                self.has_later = true;
                self.backwards(at, false, self.left)
            }
            (Some(at), Direction::After) => {
                self.has_earlier = true;
                self.forwards(Some(at))
            }
            (Some(at), Direction::Around) => {
                self.backwards(at, true, self.left / 2)?;
                self.forwards(Some(at))
            }
        }
    }

    /// Adds what leads to an entry, as far up as there is room.
    fn backwards(&mut self, from: u64, with_it: bool, room: usize) -> Result<(), Refusal> {
        let floor = self.left - room;
        let mut next = Some(from);
        while let Some(ordinal) = next.filter(|_| !self.stop.is_set()) {
            let page = self.reader.path_backwards_from(ordinal, &PAGE)?;
            next = page.next;
            let mut entries = page.entries;
            entries.retain(|entry| with_it || entry.ordinal() != from);
            entries.reverse();
            for shown in self.shown_of(&entries)?.into_iter().rev() {
                if self.left < floor + shown.tokens && !self.shown.is_empty() {
                    self.has_earlier = true;
                    return Ok(());
                }
                self.left = self.left.saturating_sub(shown.tokens);
                self.shown.push_front(shown);
            }
        }
        self.has_earlier = next.is_some();
        Ok(())
    }

    /// Adds what follows an entry, or the root and what follows it, as far down as there is room: towards the leaf, or, from
    /// an entry of another branch, to the end of that.
    fn forwards(&mut self, above: Option<u64>) -> Result<(), Refusal> {
        let (mut above, mut leaf) = (above, None);
        while !self.stop.is_set() {
            let page = match (self.reader.path_forwards(above, leaf, &PAGE)?, above) {
                (Some(page), _) => page,
                (None, Some(entry)) if leaf.is_none() => {
                    self.is_elsewhere = true;
                    leaf = Some(self.reader.branch_leaf(entry)?);
                    continue;
                }
                (None, _) => return Ok(()),
            };
            for shown in self.shown_of(&page.entries)? {
                if self.left < shown.tokens && !self.shown.is_empty() {
                    self.has_later = true;
                    return Ok(());
                }
                self.left = self.left.saturating_sub(shown.tokens);
                self.shown.push_back(shown);
            }
            above = page.entries.last().map(Entry::ordinal);
            self.has_later = page.next.is_some();
            if page.next.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The entries that are shown, in their order.
    fn shown_of(&self, entries: &[Entry]) -> Result<Vec<Shown>, Refusal> {
        let mut calls = Calls::new();
        let mut shown = Vec::new();
        for entry in entries {
            let turn = turn::entry(entry, self.detail == Detail::Full, &mut calls);
            if !self.is_shown(entry, &turn) {
                continue;
            }
            let name = entry_name(self.reader, entry)?;
            let heading = heading(&name, &turn, entry.timestamp());
            let mut lines = heading + &self.parts(&turn);
            let tokens = tokens(&lines);
            // One that has nothing to read is still named.
            lines.shrink_to_fit();
            shown.push(Shown { name, lines, tokens });
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
