//! A conversation as a person reads it: the messages of a context, or the entries of a path.

pub(crate) mod turn;

use leafline::context::JsonText;
use leafline::{Entry, Family};

use self::turn::{Calls, Turn, TurnPart};
use super::failure::Failure;
use super::output::{BAD, FAINT, KIND, Output};
use super::{preview, text, time};

/// Precedes the text of a message.
const INDENT: &str = "  ";

/// Prints messages one after the other.
pub(super) struct Transcript<'o> {
    out: &'o mut Output,
    /// Messages and entries so far.
    pub(super) length: u64,
    /// Whether nothing is cut to a line.
    shows_all: bool,
    /// Whether the last message printed is the model's.
    in_answer: bool,
    /// The model shown last.
    model: Option<String>,
    calls: Calls,
}

impl<'o> Transcript<'o> {
    /// An empty transcript. Thoughts, calls and results take a line each, unless it shows all.
    pub(super) fn new(out: &'o mut Output, shows_all: bool) -> Self {
        Self { out, length: 0, shows_all, in_answer: false, model: None, calls: Calls::new() }
    }

    /// Prints a message of a context, with its own time or that of its entry.
    pub(super) fn message(
        &mut self,
        family: Family,
        json: &JsonText,
        entry_time: impl FnOnce() -> Result<Option<i64>, leafline::Error>,
    ) -> Result<(), Failure> {
        let mut turn = turn::message(family, json, &mut self.calls);
        if turn.heading.is_some() && turn.time.is_none() {
            turn.time = entry_time()?;
        }
        // Each is a separate message to the model.
        self.in_answer = false;
        self.write(&turn)
    }

    /// Prints an entry of a path.
    pub(super) fn entry(&mut self, entry: &Entry) -> Result<(), Failure> {
        let turn = turn::entry(entry, self.shows_all, &mut self.calls);
        self.write(&turn)
    }

    /// What was printed since the last call, into an output that collects it.
    pub(super) fn take(&mut self) -> String {
        self.out.take()
    }

    fn write(&mut self, turn: &Turn) -> Result<(), Failure> {
        let model = turn.model.as_ref().filter(|model| Some(*model) != self.model.as_ref());
        let goes_on = self.in_answer && turn.is_answer && model.is_none();
        if let Some(heading) = turn.heading.as_ref().filter(|_| !goes_on) {
            self.heading(heading, turn.time.and_then(time::local), model)?;
        }
        if model.is_some() {
            self.model.clone_from(&turn.model);
        }
        for part in &turn.parts {
            self.part(part)?;
        }
        self.in_answer = turn.is_answer;
        self.length += 1;
        Ok(())
    }

    fn heading(
        &mut self,
        heading: &str,
        time: Option<String>,
        model: Option<&String>,
    ) -> Result<(), Failure> {
        if self.length > 0 {
            self.out.line(format_args!(""))?;
        }
        let model = model.map(|model| text::one_line(model, preview::LONGEST));
        let mut line = self.out.paint(KIND, heading);
        for fact in time.into_iter().chain(model) {
            line.push_str("  ");
            line.push_str(&self.out.paint(FAINT, &fact));
        }
        self.out.line(format_args!("{line}"))
    }

    fn part(&mut self, part: &TurnPart) -> Result<(), Failure> {
        match part {
            TurnPart::Text(text) => self.lines(text),
            TurnPart::Aside { sign, name, text, is_error, .. } if self.shows_all => {
                let style = if *is_error { BAD } else { FAINT };
                let name = if name.is_empty() { String::new() } else { format!(" {name}") };
                let sign = self.out.paint(style, &format!("{sign}{name}"));
                let lines: Vec<String> = text::lines(text).collect();
                let only = if let [only] = &lines[..] { only } else { "" };
                self.out.line(format_args!("{}", format!("{INDENT}{sign} {only}").trim_end()))?;
                for line in lines.iter().filter(|_| lines.len() > 1) {
                    let line = format!("{INDENT}{INDENT}{line}");
                    self.out.line(format_args!("{}", line.trim_end()))?;
                }
                Ok(())
            }
            TurnPart::Aside { sign, name, text, is_quoted, is_error } => {
                let room = self.out.width().unwrap_or(usize::MAX);
                let room = room.saturating_sub(INDENT.len() + text::width(sign) + 1);
                let words = if *is_quoted {
                    preview::quoted(text)
                } else {
                    text::one_line(text, preview::LONGEST)
                };
                let words = format!("{name} {words}");
                let words = text::fit(words.trim(), room);
                let style = if *is_error { BAD } else { FAINT };
                let line = self.out.paint(style, &format!("{sign} {words}"));
                self.out.line(format_args!("{INDENT}{line}"))
            }
        }
    }

    fn lines(&mut self, text: &str) -> Result<(), Failure> {
        for line in text::lines(text) {
            let line = format!("{INDENT}{line}");
            let line = line.trim_end();
            match self.out.width() {
                Some(width) => {
                    for part in text::wrapped(line, width) {
                        self.out.line(format_args!("{part}"))?;
                    }
                }
                None => self.out.line(format_args!("{line}"))?,
            }
        }
        Ok(())
    }
}
