//! A session's tree, as `leafline tree` draws it. It is drawn in the background, as far as it is looked at.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::Builder;

use leafline::{SessionFacts, SessionReader, Store};

use super::cursor::Cursor;
use super::row::{self, Row};
use super::window::Look;
use super::words::{Sought, Words};
use crate::failure::Failure;
use crate::number::counted;
use crate::output::Output;
use crate::tree::draw::Drawing;

/// Rows that are handed over together, and how many of such pieces wait for the screen.
const PIECE: usize = 128;
const WAITING: usize = 4;

/// A tree.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) id: String,
    pub(super) facts: SessionFacts,
    reader: SessionReader,
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
    more: Option<Receiver<Result<Vec<Row>, Failure>>>,
}

impl Tree {
    /// The tree of a session, from its root on.
    pub(super) fn new(store: &Store, reader: SessionReader, look: Look) -> Self {
        let id = reader.id();
        Self {
            rows: Rows::draw(store, &id, look),
            facts: reader.facts(),
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
        Ok(self.reader.line(entry)?.and_then(|entry| entry.id()))
    }

    pub(super) fn look(&self) -> Look {
        self.look
    }

    /// Whether rows are awaited.
    pub(super) fn is_waiting(&self, height: usize) -> bool {
        self.next.is_some() || (self.rows.more.is_some() && self.rows() < self.wanted(height))
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
            if next.more.is_none() || next.rows.len() >= wanted {
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
        if self.rows.more.is_none() || self.cursor.at < self.rows() || self.wants_end {
            self.cursor.fit(self.rows(), height);
        }
        Ok(())
    }

    /// Draws it otherwise.
    pub(super) fn set_look(&mut self, store: &Store, look: Look) {
        if look != self.look {
            self.look = look;
            self.next = Some(Rows::draw(store, &self.id, look));
        }
    }

    /// Draws it again if something was written since.
    pub(super) fn refresh(&mut self, store: &Store) -> Result<(), Failure> {
        let reader = store.reader(&self.id)?;
        let facts = reader.facts();
        if facts != self.facts {
            self.wants_end |= self.rows.more.is_none() && self.cursor.at + 1 == self.rows();
            (self.reader, self.facts) = (reader, facts);
            self.next = Some(Rows::draw(store, &self.id, self.look));
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
        if self.rows.more.is_some() {
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
    fn draw(store: &Store, id: &str, look: Look) -> Self {
        let (to, more) = sync_channel(WAITING);
        let (store, id) = (store.clone(), id.to_owned());
        let failed = to.clone();
        let drawing = Builder::new().spawn(move || {
            if let Err(failure) = draw(&store, &id, look, &to) {
                // Nobody may look any more.
                let _ = to.send(Err(failure));
            }
        });
        if let Err(error) = drawing {
            let _ = failed.send(Err(Failure::Thread(error)));
        }
        Self { rows: Vec::new(), more: Some(more) }
    }

    /// Takes rows that are drawn until there are so many.
    fn take(&mut self, wanted: usize) -> Result<(), Failure> {
        while self.rows.len() < wanted
            && let Some(more) = &self.more
        {
            match more.try_recv() {
                Ok(Ok(piece)) => self.rows.extend(piece),
                Ok(Err(failure)) => {
                    self.more = None;
                    return Err(failure);
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.more = None,
            }
        }
        Ok(())
    }
}

fn draw(
    store: &Store,
    id: &str,
    look: Look,
    to: &SyncSender<Result<Vec<Row>, Failure>>,
) -> Result<(), Failure> {
    let gone = || Failure::Output(std::io::ErrorKind::BrokenPipe.into());
    let reader = store.reader(id)?;
    let outline = reader.get_outline()?;
    let mut out = Output::collected(look.columns, look.colour);
    let mut piece = Vec::with_capacity(PIECE);
    let mut printed = |out: &mut Output, entry: u64| {
        piece.extend(
            row::lines(&out.take(), look.columns).into_iter().map(|line| Row { line, entry }),
        );
        if piece.len() >= PIECE {
            to.send(Ok(std::mem::take(&mut piece))).map_err(|_| gone())?;
        }
        Ok(())
    };
    let drawing = Drawing::new(&reader, &outline, look.shows_all, &mut out, &mut printed);
    drawing.draw()?;
    if outline.unreachable() > 0 {
        let lost = counted(outline.unreachable(), "entry hangs", "entries hang");
        let lost = format!("{lost} in or below a loop of parents, where no root leads");
        let entry = outline.leaf().unwrap_or_default();
        piece.extend(row::lines(&lost, look.columns).into_iter().map(|line| Row { line, entry }));
    }
    to.send(Ok(piece)).map_err(|_| gone())
}
