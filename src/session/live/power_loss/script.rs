//! Random work by several threads over two open stores, as two processes have them, while all writes are recorded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use leafline_import::Family;

use super::Random;
use super::disk::Moment;
use super::expected::{SHARED, Sessions, Step, Thread, Times, Told, found};
use crate::error::{Error, Result};
use crate::session::live::{NewSession, Persistence, Session};
use crate::store::journal::{Areas, JournalFile};
use crate::store::recorder::{self, Event, Fault, FileId, Record, STORE};
use crate::store::{Store, StoreOptions};

/// What is played.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) seed: u64,
    /// Of each thread, in each part. Between the parts nobody has the store open.
    pub(super) steps: usize,
    pub(super) parts: usize,
    /// Bytes of an area of the journal; otherwise it is made while the script is played.
    pub(super) area: Option<u64>,
    /// The longest usual message.
    pub(super) text: usize,
    /// Whether the system fails now and then.
    pub(super) fails: bool,
}

/// A script that was played.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) store: Vec<u8>,
    pub(super) journal: Option<Vec<u8>>,
    pub(super) events: Vec<Event>,
    pub(super) threads: Vec<Thread>,
    pub(super) times: Times,
}

impl Played {
    /// The files before the first event.
    pub(super) fn before(&self) -> Moment {
        Moment::before(self.store.clone(), self.journal.clone())
    }
}

/// All is stored at once, and after an error more is.
pub(super) fn goes_on() -> Persistence {
    Persistence { latches_errors: false, ..Persistence::immediate() }
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
    pub(super) files: PathBuf,
    pub(super) random: Random,
    record: Record,
    pub(super) calls: Arc<AtomicUsize>,
    text: usize,
    fails: bool,
    pub(super) thread: Thread,
}

impl Script {
    pub(super) fn play(&self) -> Played {
        let folder = tempfile::tempdir_in(super::memory()).unwrap();
        let path = folder.path().join("store");
        let mut random = Random(self.seed);
        // The first store has two threads, or all do as they are alone.
        let count = if self.fails { 2 } else { 2 + random.below(2) };
        let mut threads = Vec::new();
        {
            let store = Store::open(&path).unwrap();
            begin(&store, SHARED, Family::Pi).unwrap();
            for number in 0..count {
                for (name, family) in
                    [("pi", Family::Pi), ("claude", Family::Claude), ("opal", Family::Opal)]
                {
                    begin(&store, &format!("t{number}-{name}"), family).unwrap();
                }
            }
            if let Some(area) = self.area {
                let journal = folder.path().join("store.journal");
                JournalFile::make(&journal, store.number().unwrap(), Areas::of_bytes(area))
                    .unwrap();
            }
            let before = found(&store);
            for number in 0..count {
                let prefix = format!("t{number}-");
                let own = before.iter().filter(|(id, _)| id.starts_with(&prefix));
                let before = own.map(|(id, told)| (id.clone(), told.clone())).collect();
                threads.push(Thread { prefix, before, steps: Vec::new() });
            }
        }
        let store = std::fs::read(&path).unwrap();
        let journal = std::fs::read(folder.path().join("store.journal")).ok();
        let record = recorder::record(&path);
        record.interleave(Some(Duration::from_millis(2)));
        if self.fails {
            for _ in 0..1 + random.below(3) {
                let after = u32::try_from(random.below(60)).unwrap();
                let (file, fault) = match random.below(5) {
                    0 => (STORE, Fault::Full(random.below(4096))),
                    1 => (FileId(1), Fault::Full(random.below(200))),
                    2 => (FileId(1), Fault::Evicting),
                    _ => (FileId(1), Fault::Forgetful),
                };
                record.fail(file, after, fault);
            }
        }
        let calls = Arc::new(AtomicUsize::new(0));
        for part in 0..self.parts {
            // The system may fail here, too.
            let open = || {
                let opened = (0..100).map(|_| Store::open(&path));
                opened
                    .filter(|opened| !self.fails || opened.is_ok())
                    .map(Result::unwrap)
                    .next()
                    .unwrap()
            };
            let shared = open();
            let workers: Vec<Worker> = threads
                .drain(..)
                .enumerate()
                .map(|(number, thread)| Worker {
                    is_alone: count == 2 || number == 2,
                    store: match number {
                        0 => shared.clone(),
                        1 if count == 3 => shared.clone(),
                        _ => open(),
                    },
                    sessions: BTreeMap::new(),
                    files: folder.path().join("files"),
                    random: Random(random.next()),
                    record: Arc::clone(&record),
                    calls: Arc::clone(&calls),
                    text: self.text,
                    fails: self.fails,
                    thread,
                })
                .collect();
            drop(shared);
            let running: Vec<_> = workers
                .into_iter()
                .map(|mut worker| {
                    let steps = self.steps;
                    std::thread::spawn(move || {
                        (0..steps).for_each(|_| worker.step());
                        worker.thread
                    })
                })
                .collect();
            threads.extend(running.into_iter().map(|thread| thread.join().unwrap()));
            // Nobody needs the journal now.
            if part + 1 < self.parts && random.below(2) == 0 {
                record.note(Event::Named(None));
                drop(std::fs::remove_file(folder.path().join("store.journal")));
            }
        }
        let events = recorder::end(&record);
        let mut times = Times::new();
        for (place, event) in events.iter().enumerate() {
            match event {
                Event::Began(call) => drop(times.insert(*call, (place, usize::MAX))),
                Event::Returned(call) => times.get_mut(call).unwrap().1 = place,
                _ => {}
            }
        }
        Played { store, journal, events, threads, times }
    }
}

impl Worker {
    /// What this thread was told of its sessions.
    pub(super) fn now(&self) -> &Sessions {
        self.thread.steps.last().map_or(&self.thread.before, |step| &step.after)
    }

    pub(super) fn told(&self, id: &str) -> &Told {
        &self.now()[id]
    }

    /// Calls something, and notes what the sessions are then.
    pub(super) fn call<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T>,
        note: impl FnOnce(&mut Sessions, Result<T>) -> Vec<String>,
    ) {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        self.record.note(Event::Began(call));
        let answer = act(self);
        self.record.note(Event::Returned(call));
        if !self.fails
            && let Err(error) = &answer
        {
            panic!("call {call}: {error}");
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
            let path = self.store.path().to_owned();
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
        "x".repeat(match random.below(80) {
            0 => 10 * longest.min(30_000),
            1 => 300_000,
            _ => 10 + random.below(longest),
        })
    }

    /// One of the thread's sessions that takes appends, of which it knows all.
    pub(super) fn own(&mut self, is: impl Fn(&str) -> bool) -> Option<String> {
        let known = |(id, told): &(&String, &Told)| told.uncertain.is_none() && is(id);
        let all: Vec<String> = self.now().iter().filter(known).map(|(id, _)| id.clone()).collect();
        let one = self.random.below(all.len());
        all.into_iter().nth(one)
    }

    fn step(&mut self) {
        if !self.fails {
            match self.random.below(60) {
                0 => return self.begin(),
                1 => return self.import(),
                2 => return self.remove(),
                3 => return self.compact(),
                4 => return self.open_again(),
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
            19 => self.call(|worker| worker.store.sessions().map(drop), |_, _| Vec::new()),
            // As when nothing was appended for a while.
            20 => self.store.fold_later(true),
            _ => self.append_several(),
        }
    }
}
