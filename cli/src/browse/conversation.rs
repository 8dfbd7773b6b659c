//! The conversation that leads to an entry, as `leafline path --text` prints it.

use leafline::tree::Outline;
use leafline::{Entry, PausedReader, SessionFacts, SessionReader, Store};

use super::cursor::Cursor;
use super::way;
use super::window::{Look, Window};
use super::words::{Sought, Words};
use crate::failure::Failure;

/// Chunks that are searched between two looks at the keys.
const SEARCHED: usize = 8;

/// What a search comes to that has been everywhere.
const NOWHERE: Result<Option<Sought>, Failure> = Ok(Some(Sought::Nowhere));

/// A session's conversation.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) id: String,
    pub(super) facts: SessionFacts,
    /// Paused while waiting for keys.
    reader: PausedReader,
    look: Look,
    window: Window,
    pub(super) cursor: Cursor,
    /// The last entry of the path.
    end: Option<u64>,
    /// Whether that is the session's leaf, whichever that becomes.
    follows: bool,
    /// What is marked.
    pub(super) words: Words,
    seek: Option<Seek>,
    /// Whether a search goes on from the beginning once that is known.
    awaits_start: bool,
}

/// A search that goes on beyond the window.
#[derive(Debug)]
struct Seek {
    forward: bool,
    window: Window,
    /// The rows of the entry at which it began are not searched again. `None` if it has wrapped around.
    begun: Option<u64>,
    /// The entry with whose rows it ends, once it has wrapped around.
    until: Option<u64>,
}

impl Conversation {
    /// The one that leads to the session's leaf, at its end.
    pub(super) fn at_leaf(reader: SessionReader, look: Look) -> Result<Self, Failure> {
        let end = reader.get_leaf()?.as_ref().map(Entry::ordinal);
        Ok(Self {
            id: reader.id(),
            facts: reader.facts(),
            reader: reader.pause(),
            look,
            window: Window::new(look, end, Vec::new()),
            cursor: Cursor::default(),
            end,
            follows: true,
            words: Words::default(),
            seek: None,
            awaits_start: false,
        })
    }

    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// The entry of the chosen row.
    pub(super) fn chosen(&self) -> Option<u64> {
        self.window.row(self.cursor.at).map(|row| row.entry)
    }

    /// The chosen entry's id.
    pub(super) fn chosen_id(&self) -> Result<Option<String>, Failure> {
        let Some(entry) = self.chosen() else { return Ok(None) };
        Ok(self.reader.resume()?.line(entry)?.and_then(|entry| entry.id()))
    }

    /// Whether the last row is the chosen one, so that what is added is followed.
    pub(super) fn is_at_end(&self) -> bool {
        self.window.is_at_end() && self.cursor.at + 1 >= self.window.rows()
    }

    /// Whether the first row is known, so that going there takes no look at the tree.
    pub(super) fn has_start(&self) -> bool {
        self.window.is_at_root()
    }

    /// Goes to an entry, on the path that leads through it.
    pub(super) fn jump(&mut self, outline: &Outline, entry: u64) -> Result<(), Failure> {
        let Some((end, below)) = way::through(outline, entry) else { return Ok(()) };
        self.follows = outline.leaf() == Some(end);
        self.end = Some(end);
        self.window = Window::new(self.look, Some(entry), below);
        self.window.extend_up(&self.reader.resume()?)?;
        let at = self.window.place_of(entry).unwrap_or(0);
        // A few rows of what is before it stay on the screen.
        self.cursor = Cursor { at, top: at.saturating_sub(3) };
        Ok(())
    }

    /// Goes to the path's first entry.
    pub(super) fn go_to_start(&mut self, outline: &Outline) {
        let end = if self.follows { outline.leaf() } else { self.end };
        if let Some(end) = end {
            self.end = Some(end);
            self.window = Window::new(self.look, None, way::down_to(outline, end));
            self.cursor = Cursor::default();
        }
    }

    /// Goes to the first row of all that is known.
    pub(super) fn go_to_known_start(&mut self) {
        self.cursor = Cursor::default();
    }

    /// Goes to the path's last entry.
    pub(super) fn go_to_end(&mut self) {
        if !self.window.is_at_end() {
            self.window = Window::new(self.look, self.end, Vec::new());
        }
        self.cursor.at = self.window.rows();
    }

    /// Goes to the next entry, or to the one before.
    pub(super) fn go_to_entry(&mut self, forward: bool) {
        let chosen = self.chosen();
        let mut at = self.cursor.at;
        loop {
            let next = if forward { Some(at + 1) } else { at.checked_sub(1) };
            let Some(row) = next.and_then(|next| self.window.row(next)) else {
                // What is known ends here; more of it is read around the chosen row.
                self.cursor.at = at;
                return;
            };
            at = next.unwrap_or(at);
            if Some(row.entry) != chosen {
                break;
            }
        }
        let entry = self.window.row(at).map(|row| row.entry);
        while !forward
            && let Some(before) = at.checked_sub(1)
            && self.window.row(before).map(|row| row.entry) == entry
        {
            at = before;
        }
        self.cursor.at = at;
    }

    /// Reads what a screen of so many rows needs around the chosen row.
    pub(super) fn fill(&mut self, height: usize) -> Result<(), Failure> {
        let filled = self.read_around(height);
        if filled.is_err() {
            // What cannot be read is not read again and again.
            self.window.stop();
        }
        self.cursor.fit(self.window.rows(), height);
        let shown = self.cursor.top..self.cursor.top + height;
        let gone = self.window.forget(shown);
        self.cursor.shift(-isize::try_from(gone).unwrap_or(0));
        filled
    }

    fn read_around(&mut self, height: usize) -> Result<(), Failure> {
        let mut resumed = None;
        loop {
            let is_below =
                self.cursor.at + height >= self.window.rows() && !self.window.is_at_end();
            let is_above =
                self.cursor.top.min(self.cursor.at) < height && !self.window.is_at_root();
            if !is_below && !is_above {
                return Ok(());
            }
            let reader = match &resumed {
                Some(reader) => reader,
                None => &*resumed.insert(self.reader.resume()?),
            };
            if !is_below {
                let added = self.window.extend_up(reader)?;
                self.cursor.shift(isize::try_from(added).unwrap_or(0));
            } else if self.window.extend_down(reader)?.is_none() {
                // The leaf is on another branch now.
                let leaf = reader.get_leaf()?.as_ref().map(Entry::ordinal);
                self.end = leaf;
                self.window = Window::new(self.look, leaf, Vec::new());
                self.cursor.at = 0;
            }
        }
    }

    /// Shows it otherwise. The chosen entry stays where it is on the screen.
    pub(super) fn set_look(&mut self, look: Look) -> Result<(), Failure> {
        if look == self.look {
            return Ok(());
        }
        self.look = look;
        self.read_again()
    }

    /// Shows all of each entry, or a line of what is not said.
    pub(super) fn toggle(&mut self) -> Result<(), Failure> {
        let shows_all = !self.look.shows_all;
        self.set_look(Look { shows_all, ..self.look })
    }

    pub(super) fn look(&self) -> Look {
        self.look
    }

    fn read_again(&mut self) -> Result<(), Failure> {
        if self.is_at_end() {
            self.window = Window::new(self.look, self.end, Vec::new());
            self.cursor = Cursor::default();
            Ok(())
        } else {
            self.show_again(&self.reader.resume()?)
        }
    }

    /// Takes in what was written since. At the end, it goes on to the new one.
    pub(super) fn refresh(&mut self, store: &Store) -> Result<(), Failure> {
        let resumed = self.reader.resume();
        // The session was rewritten or removed; if it was removed, opening it fails too.
        let is_another = resumed.is_err();
        let reader = resumed.or_else(|_| store.reader(&self.id))?;
        let facts = reader.facts();
        if facts == self.facts && !is_another {
            return Ok(());
        }
        let is_at_end = self.is_at_end();
        let leaf = reader.get_leaf()?.as_ref().map(Entry::ordinal);
        self.facts = facts;
        if is_another || (self.follows && is_at_end && leaf != self.end) {
            self.follows = true;
            self.end = leaf;
            self.window = Window::new(self.look, leaf, Vec::new());
            self.cursor = Cursor::default();
            if is_another {
                self.reader = reader.pause();
            }
            return Ok(());
        }
        if self.follows && leaf != self.end {
            self.end = leaf;
            leaf.iter().for_each(|leaf| self.window.goes_on_to(*leaf));
        }
        if self.window.has_other_labels(&reader)? { self.show_again(&reader) } else { Ok(()) }
    }

    /// Reads again what is shown. The chosen row stays where it is on the screen, if its entry still has so many rows.
    fn show_again(&mut self, reader: &SessionReader) -> Result<(), Failure> {
        let Some(entry) = self.chosen() else { return Ok(()) };
        let first = self.window.place_of(entry).unwrap_or(self.cursor.at);
        let offset = self.cursor.at.saturating_sub(first);
        self.window = self.window.again(self.look, entry);
        self.window.extend_up(reader)?;
        let first = self.window.place_of(entry).unwrap_or(0);
        let is_its = |at: &usize| self.window.row(*at).is_some_and(|row| row.entry == entry);
        self.cursor.put((first..=first + offset).rev().find(is_its).unwrap_or(first));
        Ok(())
    }

    /// Begins to look for the words, from the chosen row to one end, and then from the other end on. `None` if there is more to
    /// be searched, by [`Self::seek_on`].
    pub(super) fn seek(&mut self, forward: bool) -> Result<Option<Sought>, Failure> {
        let rows = self.window.rows();
        let mut ahead = self.cursor.at + 1..rows;
        let mut behind = (0..self.cursor.at.min(rows)).rev();
        let found = if forward {
            ahead.find(|place| self.is_found(&self.window, *place))
        } else {
            behind.find(|place| self.is_found(&self.window, *place))
        };
        if let Some(place) = found {
            self.cursor.at = place;
            return Ok(Some(Sought::Found));
        }
        let edge = if forward { self.window.last() } else { self.window.first() };
        let Some(begun) = edge else { return Ok(Some(Sought::Nowhere)) };
        let mut window = self.window.again(self.look, begun);
        if forward {
            window.extend_up(&self.reader.resume()?)?;
        }
        self.seek = Some(Seek { forward, window, begun: Some(begun), until: None });
        self.seek_on()
    }

    /// Goes on looking for them: `None` if there is more to be searched.
    pub(super) fn seek_on(&mut self) -> Result<Option<Sought>, Failure> {
        let Some(mut seek) = self.seek.take() else { return Ok(Some(Sought::Nowhere)) };
        let reader = self.reader.resume()?;
        for _ in 0..SEARCHED {
            let (forward, window) = (seek.forward, &mut seek.window);
            let is_over = if forward { window.is_at_end() } else { window.is_at_root() };
            if is_over {
                return if seek.begun.is_some() { self.wrap(forward) } else { NOWHERE };
            }
            let before = window.rows();
            let added = if forward {
                window.extend_down(&reader)?
            } else {
                Some(window.extend_up(&reader)?)
            };
            let Some(added) = added else { return NOWHERE };
            let is_new = |place: &usize| {
                seek.window.row(*place).is_some_and(|row| Some(row.entry) != seek.begun)
                    && self.is_found(&seek.window, *place)
            };
            let mut new = if forward { before..before + added } else { 0..added };
            let is_last = |place: usize| {
                let entry = seek.window.row(place).map(|row| row.entry);
                seek.until.is_some() && entry == seek.until
            };
            let is_over = new.clone().any(is_last);
            let found = if forward { new.find(is_new) } else { new.rev().find(is_new) };
            if let Some(at) = found {
                self.window = seek.window;
                self.cursor = Cursor { at, top: at.saturating_sub(3) };
                let has_wrapped = seek.begun.is_none();
                return Ok(Some(if has_wrapped { Sought::Wrapped } else { Sought::Found }));
            }
            if is_over {
                return NOWHERE;
            }
            let edge = if forward { seek.window.rows().saturating_sub(1) } else { 0 };
            seek.window.forget(edge..edge + 1);
        }
        self.seek = Some(seek);
        Ok(None)
    }

    /// Goes on from the other end, to the row that was chosen.
    fn wrap(&mut self, forward: bool) -> Result<Option<Sought>, Failure> {
        let rows = self.window.rows();
        let is_known = if forward { self.window.is_at_root() } else { self.window.is_at_end() };
        if is_known {
            let mut before = 0..(self.cursor.at + 1).min(rows);
            let mut behind = (self.cursor.at.min(rows)..rows).rev();
            let found = if forward {
                before.find(|place| self.is_found(&self.window, *place))
            } else {
                behind.find(|place| self.is_found(&self.window, *place))
            };
            let Some(place) = found else { return NOWHERE };
            self.cursor.at = place;
            return Ok(Some(Sought::Wrapped));
        }
        if forward {
            self.awaits_start = true;
            return Ok(Some(Sought::AwaitsStart));
        }
        let window = Window::new(self.look, self.end, Vec::new());
        self.seek = Some(Seek { forward, window, begun: None, until: self.chosen() });
        self.seek_on()
    }

    /// Goes on looking from the path's first entry, if that is still wanted.
    pub(super) fn seek_from_start(&mut self, outline: &Outline) -> bool {
        let end = if self.follows { outline.leaf() } else { self.end };
        let Some(end) = end.filter(|_| std::mem::take(&mut self.awaits_start)) else {
            return false;
        };
        let window = Window::new(self.look, None, way::down_to(outline, end));
        self.seek = Some(Seek { forward: true, window, begun: None, until: self.chosen() });
        true
    }

    /// Gives a search up.
    pub(super) fn stop_seeking(&mut self) {
        self.seek = None;
        self.awaits_start = false;
    }

    fn is_found(&self, window: &Window, place: usize) -> bool {
        window.row(place).is_some_and(|row| self.words.are_in(&row.text()))
    }
}
