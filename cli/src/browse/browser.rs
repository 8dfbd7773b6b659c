//! What is shown, and what the keys and the time do to it. No terminal is needed for it.

use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;
use leafline::Store;
use leafline::export::Resumption;
use leafline::list::SessionFilter;

use super::changes::Changes;
use super::conversation::Conversation;
use super::found::Found;
use super::keys::{Action, action};
use super::prompt::{Prompt, Purpose};
use super::sessions::{FIRST, Sessions};
use super::tree::Tree;
use super::window::Look;
use super::words::{Sought, Words};
use super::work::Work;
use crate::failure::Failure;
use crate::place::Place;

/// Columns beside the text of an entry: the mark of the chosen one.
pub(super) const GUTTER: usize = 2;

/// The sessions are listed again at most in this part of the time: of 100,000, a list takes a tenth of a second.
const LISTED_SHARE: u32 = 10;

/// Views that can be gone back to.
const MOST_VIEWS: usize = 50;

/// What lies over the list of sessions.
#[derive(Debug)]
pub(super) enum View {
    Conversation(Box<Conversation>),
    Tree(Box<Tree>),
    Found(Found),
}

/// How it ends.
#[derive(Debug)]
pub(super) enum Ending {
    Quit,
    Resume(Resumption),
}

/// All of it.
pub(super) struct Browser {
    pub(super) store: Store,
    pub(super) place: Place,
    pub(super) colour: bool,
    /// The terminal's columns and rows.
    size: (usize, usize),
    pub(super) sessions: Sessions,
    pub(super) views: Vec<View>,
    pub(super) prompt: Option<Prompt>,
    /// Whether the help is shown, and from which of its lines on.
    pub(super) help: Option<usize>,
    /// What was done, or could not be.
    pub(super) status: Option<String>,
    pub(super) work: Option<Work>,
    listing: Option<(Work, Instant)>,
    /// Whether the sessions should be listed again, and when they may be.
    wants_list: bool,
    list_after: Instant,
    changes: Changes,
    /// Whether the words are being looked for, and in which direction.
    seeks: Option<bool>,
    /// What a terminal is to be told.
    pub(super) clipboard: Option<String>,
    pub(super) is_cleared: bool,
    /// Whether the screen is not what it should be any more.
    pub(super) is_stale: bool,
    pub(super) ending: Option<Ending>,
}

impl Browser {
    /// A browser of these sessions, of which the newest are read.
    pub(super) fn new(
        store: Store,
        place: Place,
        wanted: SessionFilter,
        colour: bool,
    ) -> Result<Self, Failure> {
        let changes = Changes::of(&store);
        let mut sessions = Sessions::new(wanted);
        let newest = SessionFilter { limit: Some(FIRST), ..sessions.wanted.clone() };
        let list = store.list_readable(&newest)?;
        let is_whole = list.sessions.len() < FIRST;
        sessions.take(list, is_whole);
        Ok(Self {
            store,
            place,
            colour,
            size: (80, 24),
            sessions,
            views: Vec::new(),
            prompt: None,
            help: None,
            status: None,
            work: None,
            listing: None,
            wants_list: !is_whole,
            list_after: Instant::now(),
            changes,
            seeks: None,
            clipboard: None,
            is_cleared: false,
            is_stale: true,
            ending: None,
        })
    }

    /// How entries are shown at this size.
    pub(super) fn look(&self) -> Look {
        let columns = self.size.0.saturating_sub(GUTTER).max(1);
        let shows_all = match self.views.last() {
            Some(View::Conversation(conversation)) => conversation.look().shows_all,
            _ => false,
        };
        Look { columns, shows_all, colour: self.colour }
    }

    /// The rows between the bars.
    pub(super) fn height(&self) -> usize {
        self.size.1.saturating_sub(2)
    }

    pub(super) fn set_size(&mut self, columns: u16, rows: u16) {
        let size = (columns.into(), rows.into());
        self.is_stale |= size != self.size;
        self.size = size;
    }

    /// Says something at the bottom of the screen.
    pub(super) fn say(&mut self, said: impl Into<String>) {
        self.status = Some(said.into());
    }

    pub(super) fn say_failure<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.say(failure.to_string())).ok()
    }

    /// How long to wait for a key before [`Self::go_on`] is called again.
    pub(super) fn patience(&self) -> Duration {
        let height = self.height();
        let awaits_rows =
            matches!(self.views.last(), Some(View::Tree(tree)) if tree.is_waiting(height));
        if self.seeks.is_some() {
            Duration::ZERO
        } else if self.work.is_some() || self.listing.is_some() || awaits_rows {
            Duration::from_millis(5)
        } else {
            Duration::from_millis(100)
        }
    }

    /// Takes in what was done in the background, and what others have written, and reads what the screen needs.
    pub(super) fn go_on(&mut self) {
        let height = self.height();
        self.is_stale |= self.seeks.is_some()
            || matches!(self.views.last(), Some(View::Tree(tree)) if tree.is_waiting(height));
        if self.changes.are_there() {
            self.is_stale = true;
            self.wants_list = true;
            let refreshed = self.refresh();
            self.say_failure(refreshed);
        }
        self.list();
        if let Some(mut work) = self.work.take() {
            match work.result() {
                None => self.work = Some(work),
                Some(result) => {
                    self.is_stale = true;
                    let applied = result.and_then(|apply| apply(self));
                    self.say_failure(applied);
                }
            }
        }
        let filled = self.fill();
        self.say_failure(filled);
        self.seek_on();
    }

    /// Takes what others have written into the view that is shown.
    pub(super) fn refresh(&mut self) -> Result<(), Failure> {
        match self.views.last_mut() {
            Some(View::Conversation(conversation)) => conversation.refresh(&self.store),
            Some(View::Tree(tree)) => tree.refresh(&self.store),
            Some(View::Found(_)) | None => Ok(()),
        }
    }

    /// Lists the sessions in the background, if they are to be listed.
    fn list(&mut self) {
        if let Some((mut work, begun)) = self.listing.take() {
            match work.result() {
                None => self.listing = Some((work, begun)),
                Some(result) => {
                    self.is_stale = true;
                    self.list_after = Instant::now() + begun.elapsed() * LISTED_SHARE;
                    let applied = result.and_then(|apply| apply(self));
                    self.say_failure(applied);
                }
            }
        }
        let is_due = self.wants_list && self.list_after <= Instant::now();
        if !is_due || self.listing.is_some() {
            return;
        }
        self.wants_list = false;
        let (store, wanted) = (self.store.clone(), self.sessions.wanted.clone());
        let work = Work::begin("listing", move |_| {
            let list = store.list_readable(&wanted)?;
            Ok(Box::new(move |browser: &mut Self| {
                // While it was made, others may have been asked for.
                if browser.sessions.wanted == wanted {
                    browser.sessions.take(list, true);
                }
                Ok(())
            }))
        });
        self.listing = Some((work, Instant::now()));
    }

    /// Reads what the screen needs.
    fn fill(&mut self) -> Result<(), Failure> {
        let (look, height) = (self.look(), self.height());
        match self.views.last_mut() {
            Some(View::Conversation(conversation)) => {
                conversation.set_look(look)?;
                conversation.fill(height)
            }
            Some(View::Tree(tree)) => {
                let shows_all = tree.look().shows_all;
                tree.set_look(Look { shows_all, ..look });
                tree.fill(height)
            }
            Some(View::Found(found)) => {
                found.fit(height);
                Ok(())
            }
            None => {
                // A row tells more about the chosen one.
                self.sessions.fit(height.saturating_sub(1), &self.store);
                Ok(())
            }
        }
    }

    /// The session that a key is about.
    pub(super) fn session(&self) -> Option<String> {
        match self.views.last() {
            Some(View::Conversation(conversation)) => Some(conversation.id.clone()),
            Some(View::Tree(tree)) => Some(tree.id.clone()),
            Some(View::Found(found)) => found.chosen().map(|item| item.session.clone()),
            None => self.sessions.chosen().map(|facts| facts.id.to_string()),
        }
    }

    /// The id of the entry that a key is about.
    pub(super) fn entry(&self) -> Result<Option<String>, Failure> {
        match self.views.last() {
            Some(View::Conversation(conversation)) => conversation.chosen_id(),
            Some(View::Tree(tree)) => tree.chosen_id(),
            Some(View::Found(found)) => Ok(found.chosen().and_then(|item| item.id.clone())),
            None => Ok(None),
        }
    }

    /// Shows a view over the others.
    pub(super) fn show(&mut self, view: View) {
        if self.views.len() >= MOST_VIEWS {
            self.views.remove(0);
        }
        self.views.push(view);
    }

    /// Opens the conversation of a session at its end, or at an entry.
    pub(super) fn open(
        &mut self,
        session: &str,
        entry: Option<u64>,
        words: Words,
    ) -> Result<(), Failure> {
        let reader = self.store.reader(session)?;
        let look = Look { shows_all: false, ..self.look() };
        let mut conversation = Conversation::at_leaf(reader, look)?;
        conversation.words = words;
        self.show(View::Conversation(Box::new(conversation)));
        if let Some(entry) = entry {
            self.with_outline(session, move |conversation, outline| {
                conversation.jump(outline, entry)
            });
        }
        Ok(())
    }

    /// Does something with a conversation that needs the outline of its tree.
    fn with_outline(
        &mut self,
        session: &str,
        then: impl FnOnce(&mut Conversation, &leafline::tree::Outline) -> Result<(), Failure>
        + Send
        + 'static,
    ) {
        let (store, session) = (self.store.clone(), session.to_owned());
        self.begin("reading the tree", move |_| {
            let outline = store.reader(&session)?.get_outline()?;
            Ok(Box::new(move |browser: &mut Self| match browser.views.last_mut() {
                Some(View::Conversation(conversation)) if conversation.id == session => {
                    then(conversation, &outline)
                }
                _ => Ok(()),
            }))
        });
    }

    /// Begins work in the background; what was under way is given up.
    pub(super) fn begin(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&std::sync::atomic::AtomicBool) -> Result<super::work::Apply, Failure>
        + Send
        + 'static,
    ) {
        self.work = Some(Work::begin(name, work));
    }

    /// A key was pressed.
    pub(super) fn press(&mut self, key: KeyEvent) {
        self.is_stale = true;
        self.status = None;
        self.seeks = None;
        match self.views.last_mut() {
            Some(View::Conversation(conversation)) => conversation.stop_seeking(),
            Some(View::Tree(tree)) => tree.stop_seeking(),
            _ => {}
        }
        if self.prompt.is_some() {
            self.type_key(key);
        } else if let Some(action) = action(key) {
            let done = match self.help {
                Some(_) => {
                    self.act_in_help(action);
                    Ok(())
                }
                None => self.act(action),
            };
            self.say_failure(done);
        }
    }

    fn act_in_help(&mut self, action: Action) {
        let height = isize::try_from(self.height()).unwrap_or(isize::MAX);
        let most = super::keys::HELP.len().saturating_sub(self.height());
        let Some(line) = &mut self.help else { return };
        match action {
            Action::Rows(by) => *line = line.saturating_add_signed(by).min(most),
            Action::Halves(by) => {
                *line = line.saturating_add_signed(by.saturating_mul(height / 2)).min(most);
            }
            Action::Quit => self.ending = Some(Ending::Quit),
            _ => self.help = None,
        }
    }

    fn act(&mut self, action: Action) -> Result<(), Failure> {
        let half = isize::try_from((self.height() / 2).max(1)).unwrap_or(1);
        match action {
            Action::Rows(by) => self.go(by),
            Action::Halves(by) => self.go(by.saturating_mul(half)),
            Action::Start => self.go_to_start(),
            Action::End => self.go_to_end(),
            Action::Entry { forward } => match self.views.last_mut() {
                Some(View::Conversation(conversation)) => conversation.go_to_entry(forward),
                _ => self.go(if forward { 1 } else { -1 }),
            },
            Action::Open => return self.open_chosen(),
            Action::Back => self.go_back(),
            Action::Quit => self.ending = Some(Ending::Quit),
            Action::Find => self.ask_what_to_find(),
            Action::Next { forward } => self.seek(forward)?,
            Action::Search => self.prompt = Some(Prompt::new(Purpose::Search, "")),
            Action::Tree => return self.open_tree(),
            Action::Labels => self.open_labels(),
            Action::ShowAll => return self.show_all(),
            Action::Agents => self.list_agents(),
            Action::Help => self.help = Some(0),
            Action::Redraw => self.is_cleared = true,
            Action::Label => return self.ask_label(),
            Action::Page => self.open_page(),
            Action::Resume => self.resume(),
            Action::Copy => {
                let id = self.session();
                self.copy(id);
            }
            Action::CopyEntry => {
                let id = self.entry()?;
                self.copy(id);
            }
            Action::Export => self.ask_where_to_export(),
        }
        Ok(())
    }

    pub(super) fn go(&mut self, by: isize) {
        match self.views.last_mut() {
            Some(View::Conversation(conversation)) => conversation.cursor.go(by),
            Some(View::Tree(tree)) => tree.go(by),
            Some(View::Found(found)) => found.cursor.go(by),
            None => self.sessions.cursor.go(by),
        }
    }

    fn go_to_start(&mut self) {
        match self.views.last_mut() {
            Some(View::Conversation(conversation)) if conversation.has_start() => {
                conversation.go_to_known_start();
            }
            Some(View::Conversation(conversation)) => {
                let id = conversation.id.clone();
                self.with_outline(&id, |conversation, outline| {
                    conversation.go_to_start(outline);
                    Ok(())
                });
            }
            Some(View::Tree(tree)) => tree.go_to_start(),
            Some(View::Found(found)) => found.cursor.at = 0,
            None => self.sessions.cursor.at = 0,
        }
    }

    fn go_to_end(&mut self) {
        match self.views.last_mut() {
            Some(View::Conversation(conversation)) => conversation.go_to_end(),
            Some(View::Tree(tree)) => tree.go_to_end(),
            Some(View::Found(found)) => found.cursor.at = found.items.len(),
            None => self.sessions.cursor.at = self.sessions.counts().0,
        }
    }

    fn go_back(&mut self) {
        // What is under way is given up before a view is.
        if self.work.take().is_some() {
            return self.say("stopped");
        }
        if self.views.pop().is_some() {
            // What was written while another view lay over this one.
            let refreshed = self.refresh();
            self.say_failure(refreshed);
            return;
        }
        if self.sessions.filter.text().is_empty() {
            self.ending = Some(Ending::Quit);
        } else {
            self.sessions.set_filter("");
        }
    }

    pub(super) fn open_chosen(&mut self) -> Result<(), Failure> {
        let (session, entry, words) = match self.views.last() {
            None => (self.session(), None, Words::default()),
            Some(View::Tree(tree)) => (Some(tree.id.clone()), tree.chosen(), Words::default()),
            Some(View::Found(found)) => {
                (self.session(), found.chosen().map(|item| item.entry), found.words.clone())
            }
            Some(View::Conversation(_)) => return self.show_all(),
        };
        match session {
            Some(session) => self.open(&session, entry, words),
            None => Ok(()),
        }
    }

    fn open_tree(&mut self) -> Result<(), Failure> {
        let Some(session) = self.session() else { return Ok(()) };
        if matches!(self.views.last(), Some(View::Tree(_))) {
            self.go_back();
            return Ok(());
        }
        let reader = self.store.reader(&session)?;
        let look = Look { shows_all: false, ..self.look() };
        self.show(View::Tree(Box::new(Tree::new(reader, look))));
        Ok(())
    }

    fn open_labels(&mut self) {
        let Some(session) = self.session() else { return };
        let (store, colour) = (self.store.clone(), self.colour);
        self.begin("reading the labels", move |_| {
            let found = Found::labels(&store, &session, colour)?;
            Ok(Box::new(move |browser: &mut Self| {
                if found.items.is_empty() {
                    browser.say("the session has no labels");
                } else {
                    browser.show(View::Found(found));
                }
                Ok(())
            }))
        });
    }

    fn show_all(&mut self) -> Result<(), Failure> {
        match self.views.last_mut() {
            Some(View::Conversation(conversation)) => conversation.toggle(),
            Some(View::Tree(tree)) => {
                let look = tree.look();
                tree.set_look(Look { shows_all: !look.shows_all, ..look });
                Ok(())
            }
            Some(View::Found(_)) | None => Ok(()),
        }
    }

    fn list_agents(&mut self) {
        if self.views.is_empty() {
            let wanted = &mut self.sessions.wanted;
            wanted.without_agents = !wanted.without_agents;
            let said = if wanted.without_agents { "without" } else { "with" };
            self.say(format!("{said} the sessions of agents"));
            self.wants_list = true;
            self.list_after = Instant::now();
        }
    }

    fn ask_what_to_find(&mut self) {
        self.prompt = Some(match self.views.last() {
            None => Prompt::new(Purpose::Filter, self.sessions.filter.text()),
            Some(View::Found(_)) => Prompt::new(Purpose::Search, ""),
            Some(_) => Prompt::new(Purpose::Find, ""),
        });
    }

    /// Goes to the next row with the words, or to the one before.
    pub(super) fn seek(&mut self, forward: bool) -> Result<(), Failure> {
        let found = match self.views.last_mut() {
            Some(View::Conversation(conversation)) if !conversation.words.is_empty() => {
                conversation.seek(forward)?
            }
            Some(View::Tree(tree)) if !tree.words.is_empty() => tree.seek(forward),
            Some(View::Conversation(_) | View::Tree(_)) => {
                self.say("there is nothing to look for yet: / asks what");
                return Ok(());
            }
            Some(View::Found(_)) | None => {
                self.go(if forward { 1 } else { -1 });
                return Ok(());
            }
        };
        self.tell_found(found, forward);
        Ok(())
    }

    fn seek_on(&mut self) {
        let Some(forward) = self.seeks else { return };
        let found = match self.views.last_mut() {
            Some(View::Conversation(conversation)) => conversation.seek_on(),
            Some(View::Tree(tree)) => Ok(tree.seek(forward)),
            _ => Ok(Some(Sought::Found)),
        };
        match self.say_failure(found) {
            Some(found) => self.tell_found(found, forward),
            None => self.seeks = None,
        }
    }

    fn tell_found(&mut self, found: Option<Sought>, forward: bool) {
        self.seeks = found.is_none().then_some(forward);
        match found {
            None => self.say("looking for it; any key stops it"),
            Some(Sought::Found) => self.status = None,
            Some(Sought::Wrapped) if forward => self.say("found from the beginning on"),
            Some(Sought::Wrapped) => self.say("found from the end on"),
            Some(Sought::Nowhere) => self.say("not found"),
            Some(Sought::AwaitsStart) => self.seek_from_start(),
        }
    }

    /// Has a search go on from the beginning of a conversation.
    fn seek_from_start(&mut self) {
        let Some(session) = self.session() else { return };
        let store = self.store.clone();
        self.begin("reading the tree", move |_| {
            let outline = store.reader(&session)?.get_outline()?;
            Ok(Box::new(move |browser: &mut Self| {
                if let Some(View::Conversation(conversation)) = browser.views.last_mut()
                    && conversation.id == session
                    && conversation.seek_from_start(&outline)
                {
                    browser.seeks = Some(true);
                }
                Ok(())
            }))
        });
    }
}
