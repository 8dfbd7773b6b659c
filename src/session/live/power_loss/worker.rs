//! A thread of a script: what it has open, and how it chooses what to do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leafline_import::Family;

use super::Random;
use super::disk::STORE_NAME;
use super::expected::{Sessions, Step, Thread, Told, is_beside};
use crate::error::{Error, Result};
use crate::session::live::{NewSession, Persistence, Session};
use crate::store::recorder::{Event, Record};
use crate::store::{Store, StoreOptions};

/// All is stored at once, and after an error more is.
pub(super) fn goes_on() -> Persistence {
    Persistence::keep_everything()
}

pub(super) fn begin(store: &Store, id: &str, family: Family) -> Result<Session> {
    let mut new = NewSession::new(family, "/work");
    new.id = Some(id.to_owned());
    new.persistence = Some(goes_on());
    store.create_session(&new)
}

/// A thread of a script.
pub(super) struct Worker {
    pub(super) store: Store,
    /// Whether no other thread has the open store.
    pub(super) is_alone: bool,
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) folder: PathBuf,
    pub(super) random: Random,
    pub(super) record: Record,
    pub(super) calls: Arc<AtomicUsize>,
    pub(super) text: usize,
    pub(super) fails: bool,
    pub(super) thread: Thread,
}

impl Worker {
    /// What this thread was told of its sessions.
    pub(super) fn now(&self) -> &Sessions {
        self.thread.now()
    }

    pub(super) fn told(&self, id: &str) -> &Told {
        &self.now()[id]
    }

    /// A number that no other call has had.
    pub(super) fn number(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Counts a call that did what it was made for.
    pub(super) fn count(&mut self, kind: &'static str) {
        *self.thread.kinds.entry(kind.to_owned()).or_default() += 1;
    }

    /// Calls something, and notes what the sessions are then. Returns the call's number.
    pub(super) fn call<T>(
        &mut self,
        kind: &'static str,
        act: impl FnOnce(&mut Self) -> Result<T>,
        note: impl FnOnce(&mut Sessions, Result<T>) -> Vec<String>,
    ) -> usize {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        self.record.note(Event::Began(call));
        let answer = act(self);
        self.record.note(Event::Returned(call));
        if !self.fails
            && let Err(error) = &answer
        {
            panic!("call {call}, {kind}: {error}");
        }
        if answer.is_ok() {
            self.count(kind);
        }
        // After an error of the engine the store is closed for good; after others, often the caller just goes on.
        let is_over = match &answer {
            Err(Error::Engine(_)) => true,
            Err(_) => self.random.below(3) == 0,
            Ok(_) => false,
        };
        let mut after = self.now().clone();
        let shared = note(&mut after, answer);
        self.thread.steps.push(Step { call, after, shared });
        if is_over {
            self.open_again();
        }
        call
    }

    /// The session, opened once.
    pub(super) fn session(&mut self, id: &str) -> Result<&mut Session> {
        if !self.sessions.contains_key(id) {
            let session = self.store.session(id)?.with_persistence(goes_on());
            self.sessions.insert(id.to_owned(), session);
        }
        Ok(self.sessions.get_mut(id).unwrap())
    }

    fn open_again(&mut self) {
        self.sessions.clear();
        if self.is_alone {
            let path = self.folder.join(STORE_NAME);
            // The store is closed first, or another is open beside it.
            if self.random.below(2) == 0 {
                self.store = Store::in_memory().unwrap();
            }
            // Where nothing is wrong, nothing is given up.
            let without_journal = self.random.below(2) == 0;
            let options = StoreOptions { without_journal, ..StoreOptions::default() };
            for _ in 0..100 {
                match Store::open_with(&path, &options) {
                    Ok(store) => {
                        self.store = store;
                        self.count("open");
                        return;
                    }
                    // The system fails here, too.
                    Err(error) => assert!(self.fails, "{error}"),
                }
            }
            panic!("it is not opened");
        }
    }

    pub(super) fn text(&mut self) -> String {
        let (longest, random) = (self.text, &mut self.random);
        "x".repeat(match random.below(240) {
            0..=2 => 10 * longest.min(30_000),
            // More than a record of the journal takes.
            3 => 300_000,
            _ => 10 + random.below(longest),
        })
    }

    /// One of the thread's sessions that takes appends, of which it knows all.
    pub(super) fn own(&mut self, is: impl Fn(&str) -> bool) -> Option<String> {
        let known =
            |(id, told): &(&String, &Told)| told.uncertain.is_none() && !is_beside(id) && is(id);
        let all: Vec<String> = self.now().iter().filter(known).map(|(id, _)| id.clone()).collect();
        let one = self.random.below(all.len());
        all.into_iter().nth(one)
    }

    /// Does something while others do.
    pub(super) fn step(&mut self) {
        if !self.fails {
            match self.random.below(60) {
                0 => return self.begin(),
                1 | 2 => return self.import(),
                3 => return self.remove(),
                4 => return self.compact(),
                5 => return self.open_again(),
                6 | 12 | 13 => return self.back_up(),
                7 => return self.make_beside(),
                8..=11 => return self.edit(),
                _ => {}
            }
        }
        match self.random.below(24) {
            0..=8 => self.append(),
            9..=12 if !self.fails => self.append_to_shared(),
            13..=15 => self.append_lines(),
            16 => self.move_leaf(),
            17 => self.label(),
            18 if !self.fails => self.change_opal(),
            // It reads, and so folds.
            19 => {
                self.call("list", |worker| worker.store.sessions().map(drop), |_, _| Vec::new());
            }
            // As when nothing was appended for a while.
            20 => self.store.fold_later(true),
            _ => self.append_several(),
        }
    }

    /// Does something while nobody else has the store open.
    pub(super) fn step_alone(&mut self) {
        match self.random.below(10) {
            0 | 1 => self.compact(),
            2 | 3 => self.back_up(),
            4 => self.import(),
            5 => self.remove(),
            6 => self.open_again(),
            7 => self.edit(),
            8 => self.append_several(),
            _ => self.append(),
        }
    }

    fn edit(&mut self) {
        match self.random.below(4) {
            0 => self.name(),
            1 => self.rewrite(),
            2 => self.branch_with_summary(),
            _ => self.change_opal(),
        }
    }
}
