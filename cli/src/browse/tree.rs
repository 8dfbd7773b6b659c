//! A session's tree, as `leafline tree` draws it. It is drawn in the background, as far as it is looked at.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::Builder;

use leafline::tree::Outline;
use leafline::{PausedReader, SessionFacts, SessionReader, Store};

use super::cursor::Cursor;
use super::row::{self, Row};
use super::window::Look;
use super::words::{Sought, Words};
use crate::failure::Failure;
use crate::number::counted;
use crate::output::Output;
use crate::tree::draw::Drawing;

/// The number of rows that are sent together.
const PIECE: usize = 128;

/// The fewest lines that are drawn before the drawing waits for the view to need more.
const LEAST: u64 = 512;

/// A tree.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) id: String,
    pub(super) facts: SessionFacts,
    /// Paused while waiting for keys.
    reader: PausedReader,
    look: Look,
    rows: Rows,
    /// The rows that take the place of those, once there are enough of them.
    next: Option<Rows>,
    pub(super) cursor: Cursor,
    /// Whether the last row is wanted, whichever that is.
    wants_end: bool,
    pub(super) words: Words,
    /// Whether a search goes on, and where to.
    seeks: bool,
}

/// Rows that come from a drawing.
#[derive(Debug)]
struct Rows {
    rows: Vec<Row>,
    look: Look,
    state: State,
}

/// The progress of a drawing.
#[derive(Debug)]
enum State {
    /// A thread is drawing, or has just ended.
    Draws(Receiver<Result<Drawn, Failure>>),
    /// The drawing waits until more rows are needed, and holds no state of the store.
    Waits(Box<Rest>),
    Whole,
}

/// A message from a drawing thread.
#[derive(Debug)]
enum Drawn {
    Rows(Vec<Row>),
    /// The thread has drawn enough lines; this is the rest.
    Rest(Box<Rest>),
}

/// The part of a tree that is not drawn yet.
#[derive(Debug)]
struct Rest {
    reader: PausedReader,
    /// Read by the first thread that draws.
    outline: Option<Outline>,
    /// The number of lines drawn so far.
    lines: u64,
}

impl Tree {
    /// The tree of a session, from its root on.
    pub(super) fn new(reader: SessionReader, look: Look) -> Self {
        let (id, facts, reader) = (reader.id(), reader.facts(), reader.pause());
        Self {
            rows: Rows::draw(&reader, look),
            facts,
            reader,
            id,
            look,
            next: None,
            cursor: Cursor::default(),
            wants_end: false,
            words: Words::default(),
            seeks: false,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.rows.len()
    }

    pub(super) fn row(&self, place: usize) -> Option<&Row> {
        self.rows.rows.get(place)
    }

    /// The entry of the chosen row.
    pub(super) fn chosen(&self) -> Option<u64> {
        self.row(self.cursor.at).map(|row| row.entry)
    }

    /// The chosen entry's id.
    pub(super) fn chosen_id(&self) -> Result<Option<String>, Failure> {
        let Some(entry) = self.chosen() else { return Ok(None) };
        Ok(self.reader.resume()?.line(entry)?.and_then(|entry| entry.id()))
    }

    pub(super) fn look(&self) -> Look {
        self.look
    }

    /// Whether rows are awaited.
    pub(super) fn is_waiting(&self, height: usize) -> bool {
        self.next.is_some() || (!self.rows.are_all() && self.rows() < self.wanted(height))
    }

    pub(super) fn go_to_end(&mut self) {
        self.wants_end = true;
    }

    pub(super) fn go(&mut self, by: isize) {
        self.wants_end = false;
        self.cursor.go(by);
    }

    pub(super) fn go_to_start(&mut self) {
        self.wants_end = false;
        self.cursor = Cursor::default();
    }

    fn wanted(&self, height: usize) -> usize {
        if self.wants_end || self.seeks {
            usize::MAX
        } else {
            self.cursor.at.saturating_add(height.saturating_mul(2))
        }
    }

    /// Takes the rows that a screen of so many rows needs, as far as they are drawn.
    pub(super) fn fill(&mut self, height: usize) -> Result<(), Failure> {
        let wanted = self.wanted(height);
        self.rows.take(wanted)?;
        if let Some(next) = &mut self.next {
            next.take(wanted)?;
            if next.are_all() || next.rows.len() >= wanted {
                let chosen = self.row(self.cursor.at).map(|row| row.entry);
                if let Some(next) = self.next.take() {
                    self.rows = next;
                }
                let place = self.rows.rows.iter().position(|row| Some(row.entry) == chosen);
                place.iter().for_each(|place| self.cursor.put(*place));
            }
        }
        if self.wants_end {
            self.cursor.at = self.rows();
        }
        // Rows that are on their way are not given up.
        if self.rows.are_all() || self.cursor.at < self.rows() || self.wants_end {
            self.cursor.fit(self.rows(), height);
        }
        Ok(())
    }

    /// Draws it otherwise.
    pub(super) fn set_look(&mut self, look: Look) {
        if look != self.look {
            self.look = look;
            self.next = Some(Rows::draw(&self.reader, look));
        }
    }

    /// Draws it again if something was written since.
    pub(super) fn refresh(&mut self, store: &Store) -> Result<(), Failure> {
        let resumed = self.reader.resume();
        let is_another = resumed.is_err();
        let reader = resumed.or_else(|_| store.reader(&self.id))?;
        let facts = reader.facts();
        if facts != self.facts || is_another {
            self.wants_end |= self.rows.are_all() && self.cursor.at + 1 == self.rows();
            (self.reader, self.facts) = (reader.pause(), facts);
            self.next = Some(Rows::draw(&self.reader, self.look));
        }
        Ok(())
    }

    /// Looks for the words, from the chosen row to one end, and then from the other end on. `None` if rows are still awaited.
    pub(super) fn seek(&mut self, forward: bool) -> Option<Sought> {
        self.wants_end = false;
        self.seeks = false;
        let rows = &self.rows.rows;
        let is_found =
            |place: &usize| rows.get(*place).is_some_and(|row| self.words.are_in(&row.text()));
        let at = self.cursor.at.min(rows.len());
        let (mut before, mut behind) = (0..at, at + 1..rows.len());
        let found = if forward { behind.find(is_found) } else { before.rev().find(is_found) };
        if let Some(place) = found {
            self.cursor.at = place;
            return Some(Sought::Found);
        }
        if !self.rows.are_all() {
            self.seeks = true;
            return None;
        }
        (before, behind) = (0..(at + 1).min(rows.len()), at..rows.len());
        let found = if forward { before.find(is_found) } else { behind.rev().find(is_found) };
        let Some(place) = found else { return Some(Sought::Nowhere) };
        self.cursor.at = place;
        Some(Sought::Wrapped)
    }

    pub(super) fn stop_seeking(&mut self) {
        self.seeks = false;
    }
}

impl Rows {
    /// Begins to draw.
    fn draw(reader: &PausedReader, look: Look) -> Self {
        let rest = Rest { reader: reader.clone(), outline: None, lines: 0 };
        let state = Self::draw_more(rest, look, LEAST);
        Self { rows: Vec::new(), look, state }
    }

    /// Draws the given number of further lines.
    fn draw_more(rest: Rest, look: Look, lines: u64) -> State {
        let (to, more) = channel();
        let failed = to.clone();
        let drawing = Builder::new().spawn(move || {
            if let Err(failure) = draw(rest, look, lines, &to) {
                // Nobody may look any more.
                let _ = to.send(Err(failure));
            }
        });
        if let Err(error) = drawing {
            let _ = failed.send(Err(Failure::Thread(error)));
        }
        State::Draws(more)
    }

    /// Returns true if the whole tree is drawn.
    fn are_all(&self) -> bool {
        matches!(self.state, State::Whole)
    }

    /// Takes rows that are drawn until there are so many.
    fn take(&mut self, wanted: usize) -> Result<(), Failure> {
        while self.rows.len() < wanted {
            self.state = match std::mem::replace(&mut self.state, State::Whole) {
                State::Whole => break,
                State::Draws(more) => match more.try_recv() {
                    Ok(Ok(Drawn::Rows(piece))) => {
                        self.rows.extend(piece);
                        State::Draws(more)
                    }
                    Ok(Ok(Drawn::Rest(rest))) => State::Waits(rest),
                    Ok(Err(failure)) => return Err(failure),
                    Err(TryRecvError::Empty) => {
                        self.state = State::Draws(more);
                        break;
                    }
                    Err(TryRecvError::Disconnected) => State::Whole,
                },
                State::Waits(rest) => {
                    // The walk restarts at the root. Doubling the lines each time bounds this to one more walk in total.
                    let lines = if wanted == usize::MAX { u64::MAX } else { rest.lines.max(LEAST) };
                    Self::draw_more(*rest, self.look, lines)
                }
            };
        }
        Ok(())
    }
}

fn draw(
    rest: Rest,
    look: Look,
    most: u64,
    to: &Sender<Result<Drawn, Failure>>,
) -> Result<(), Failure> {
    let stopped = || Failure::Output(std::io::ErrorKind::BrokenPipe.into());
    let Rest { reader: paused, outline, lines } = rest;
    let reader = paused.resume()?;
    let outline = match outline {
        Some(outline) => outline,
        None => reader.get_outline()?,
    };
    let mut out = Output::collected(look.columns, look.colour);
    let mut piece = Vec::with_capacity(PIECE);
    let mut drawn = 0;
    let mut printed = |out: &mut Output, entry: u64| {
        piece.extend(
            row::lines(&out.take(), look.columns).into_iter().map(|line| Row { line, entry }),
        );
        drawn += 1;
        if piece.len() >= PIECE {
            let piece = std::mem::take(&mut piece);
            to.send(Ok(Drawn::Rows(piece))).map_err(|_| stopped())?;
        }
        if drawn == most { Err(stopped()) } else { Ok(()) }
    };
    let drawing = Drawing::new(&reader, &outline, look.shows_all, &mut out, &mut printed);
    let ended = drawing.after(lines).draw();
    if drawn == most {
        let _ = to.send(Ok(Drawn::Rows(piece)));
        let rest = Rest { reader: paused, outline: Some(outline), lines: lines + drawn };
        let _ = to.send(Ok(Drawn::Rest(Box::new(rest))));
        return Ok(());
    }
    ended?;
    if outline.unreachable() > 0 {
        let lost = counted(outline.unreachable(), "entry hangs", "entries hang");
        let lost = format!("{lost} in or below a loop of parents, where no root leads");
        let entry = outline.leaf().unwrap_or_default();
        piece.extend(row::lines(&lost, look.columns).into_iter().map(|line| Row { line, entry }));
    }
    to.send(Ok(Drawn::Rows(piece))).map_err(|_| stopped())
}
