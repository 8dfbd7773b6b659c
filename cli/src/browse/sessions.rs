//! The list of sessions.

use std::collections::HashMap;

use leafline::list::{ReadableList, SessionFilter};
use leafline::{SessionFacts, Store};

use super::cursor::Cursor;
use super::filter::Filter;

/// How many sessions are read for the first screen. The others follow in the background.
pub(super) const FIRST: usize = 200;

/// The sessions that are listed.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// Of which programs, directories and agents.
    pub(super) wanted: SessionFilter,
    all: Vec<SessionFacts>,
    /// The places in `all` of those that the filter lets through, in the order of the list.
    shown: Vec<usize>,
    pub(super) filter: Filter,
    pub(super) cursor: Cursor,
    /// How many could not be read.
    pub(super) damaged: usize,
    /// Whether all of them were read.
    pub(super) is_whole: bool,
    /// Of those that were on the screen: whether their files are gone.
    gone: HashMap<String, bool>,
}

impl Sessions {
    /// Those that are wanted, none of them read yet.
    pub(super) fn new(wanted: SessionFilter) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Takes a list in place of the one before. The chosen session stays the chosen one, where it was on the screen.
    pub(super) fn take(&mut self, list: ReadableList, is_whole: bool) {
        let chosen = self.chosen().map(|facts| facts.id.to_string());
        self.all = list.sessions;
        self.damaged = list.damaged.len();
        self.is_whole = is_whole;
        self.gone.clear();
        self.apply();
        let is_chosen = |place: &usize| {
            self.all.get(*place).is_some_and(|facts| Some(&*facts.id) == chosen.as_deref())
        };
        if let Some(place) = self.shown.iter().position(is_chosen) {
            // At the top of the list, what is new is seen.
            let is_at_top = self.cursor.top == 0;
            self.cursor.put(place);
            if is_at_top {
                self.cursor.top = 0;
            }
        }
    }

    /// Filters by what is typed, the best first; the newest first if nothing is.
    pub(super) fn set_filter(&mut self, text: &str) {
        self.filter.set(text);
        self.apply();
        self.cursor = Cursor::default();
    }

    fn apply(&mut self) {
        let mut scored: Vec<(u32, usize)> = Vec::with_capacity(self.all.len());
        for (place, facts) in self.all.iter().enumerate() {
            scored.extend(self.filter.score(facts).map(|score| (score, place)));
        }
        if !self.filter.text().is_empty() {
            scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        }
        self.shown = scored.into_iter().map(|(_, place)| place).collect();
    }

    /// How many are shown, and how many there are.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.all.len())
    }

    pub(super) fn get(&self, row: usize) -> Option<&SessionFacts> {
        self.shown.get(row).and_then(|&place| self.all.get(place))
    }

    pub(super) fn chosen(&self) -> Option<&SessionFacts> {
        self.get(self.cursor.at)
    }

    /// Whether a session that was on the screen has no file any more.
    pub(super) fn is_gone(&self, id: &str) -> bool {
        self.gone.get(id).copied().unwrap_or(false)
    }

    /// Brings the chosen one onto a screen of so many rows, and looks which of the files of those on it are gone.
    pub(super) fn fit(&mut self, height: usize, store: &Store) {
        self.cursor.fit(self.shown.len(), height);
        let rows = self.cursor.top..self.cursor.top.saturating_add(height);
        let ids = rows.filter_map(|row| self.get(row)).map(|facts| facts.id.to_string());
        let new: Vec<String> = ids.filter(|id| !self.gone.contains_key(id)).collect();
        if new.is_empty() {
            return;
        }
        // Of some it may not be known, as their records are damaged: they have no mark.
        let gone = store.without_files(new.iter().map(String::as_str)).unwrap_or_default();
        self.gone.extend(new.into_iter().map(|id| {
            let is_gone = gone.contains(id.as_str());
            (id, is_gone)
        }));
    }
}
