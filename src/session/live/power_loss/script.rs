//! Random work by several threads over open stores, or by several processes, while all writes are recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use leafline_import::Family;

use super::Random;
use super::disk::{JOURNAL_NAME, Moment, STORE_NAME};
use super::expected::{Sessions, Thread, Times, Told, found};
use super::process::Processes;
use super::shared::SHARED;
use super::worker::{Worker, begin};
use crate::error::Result;
use crate::rights::Rights;
use crate::store::Store;
use crate::store::journal::{Areas, JournalFile, Room};
use crate::store::recorder::{self, Event, Fault, FileId, Record, STORE};

/// What is played.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) seed: u64,
    /// How many threads; by the seed two or three if it is 0.
    pub(super) threads: usize,
    /// Of each thread, in each part. Between the parts nobody has the store open.
    pub(super) steps: usize,
    pub(super) parts: usize,
    /// Of each thread after each part, while nobody else has the store open.
    pub(super) alone: usize,
    /// Bytes of an area of the journal; otherwise it is made while the script is played.
    pub(super) area: Option<u64>,
    /// The longest usual message.
    pub(super) text: usize,
    /// Whether the system fails now and then.
    pub(super) fails: bool,
    /// How long a sync waits for what other threads do meanwhile.
    pub(super) patience: Duration,
    /// The program whose processes the threads are, if they are.
    pub(super) program: Option<PathBuf>,
}

/// The files of a store from which a script goes on, as a loss of power left them, and what is in them.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) store: Arc<Vec<u8>>,
    pub(super) journal: Option<Arc<Vec<u8>>>,
    pub(super) found: Sessions,
    /// The number of the next call.
    pub(super) calls: usize,
}

/// A script that was played.
#[derive(Debug)]
pub(super) struct Played {
    store: Vec<u8>,
    journal: Option<Vec<u8>>,
    pub(super) events: Vec<Event>,
    pub(super) threads: Vec<Thread>,
    pub(super) times: Times,
    /// What the session of all threads had at first.
    pub(super) shared: Told,
    /// The number of the next call.
    pub(super) calls: usize,
}

impl Played {
    /// The files before the first event.
    pub(super) fn before(&self) -> Moment {
        Moment::before(self.store.clone(), self.journal.clone())
    }
}

/// Makes a store with a session of all threads, and some of each; or puts there what a loss of power has left.
fn set_out(script: &Script, count: usize, folder: &Path, left: Option<&Left>) -> Sessions {
    let (path, journal) = (folder.join(STORE_NAME), folder.join(JOURNAL_NAME));
    if let Some(left) = left {
        std::fs::write(&path, &**left.store).unwrap();
        if let Some(bytes) = &left.journal {
            std::fs::write(&journal, &***bytes).unwrap();
        }
        return left.found.clone();
    }
    let store = Store::open(&path).unwrap();
    begin(&store, SHARED, Family::Pi).unwrap();
    let families = [
        ("pi", Family::Pi),
        ("omp", Family::Omp),
        ("claude", Family::Claude),
        ("opal", Family::Opal),
    ];
    for number in 0..count {
        for (name, family) in families {
            begin(&store, &format!("t{number}-{name}"), family).unwrap();
        }
    }
    if let Some(area) = script.area {
        JournalFile::make(
            &journal,
            store.number().unwrap(),
            (Areas::of_bytes(area), Room::Written),
            &Rights::at(&path).unwrap(),
            false,
        )
        .unwrap();
    }
    found(&store)
}

/// When each call began and returned.
fn times(events: &[Event]) -> Times {
    let mut times = Times::new();
    for (place, event) in events.iter().enumerate() {
        match event {
            Event::Began(call) => drop(times.insert(*call, (place, usize::MAX))),
            Event::Returned(call) => times.get_mut(call).unwrap().1 = place,
            _ => {}
        }
    }
    times
}

impl Script {
    /// Plays it, from the beginning or from what a loss of power has left.
    pub(super) fn play(&self, left: Option<&Left>) -> Played {
        let folder = tempfile::tempdir_in(super::memory()).unwrap();
        let path = folder.path().join(STORE_NAME);
        let mut random = Random(self.seed);
        let count = if self.threads > 0 { self.threads } else { 2 + random.below(2) };
        let before = set_out(self, count, folder.path(), left);
        let mut threads: Vec<Thread> = (0..count)
            .map(|number| {
                let prefix = format!("t{number}-");
                let own = before.iter().filter(|(id, _)| id.starts_with(&prefix));
                let before = own.map(|(id, told)| (id.clone(), told.clone())).collect();
                Thread { prefix, before, ..Thread::default() }
            })
            .collect();
        let shared = before.get(SHARED).cloned().unwrap_or_default();
        let store = std::fs::read(&path).unwrap();
        let journal = std::fs::read(folder.path().join(JOURNAL_NAME)).ok();
        if let Some(program) = &self.program {
            let first = left.map_or(0, |left| left.calls);
            let mut processes = Processes::new(self, program, folder.path(), first);
            let record = recorder::record_with_others(&path, &processes.order(), 0).unwrap();
            for part in 0..self.parts {
                processes.play(&mut threads, &mut random);
                processes.play_alone(&mut threads, &mut random);
                self.perhaps_without_journal(part, folder.path(), &record, &mut random);
            }
            let (events, calls) = processes.events(recorder::end_of_several(&record));
            let times = times(&events);
            return Played { store, journal, events, threads, times, shared, calls };
        }
        let record = recorder::record(&path);
        record.interleave(Some(self.patience));
        if self.fails {
            self.plan_faults(&record, &mut random);
        }
        let calls = Arc::new(AtomicUsize::new(left.map_or(0, |left| left.calls)));
        let worker = |thread: Thread, store: Store, seed: u64| Worker {
            store,
            is_alone: false,
            sessions: BTreeMap::new(),
            folder: folder.path().to_owned(),
            random: Random(seed),
            record: Arc::clone(&record),
            calls: Arc::clone(&calls),
            text: self.text,
            fails: self.fails,
            thread,
        };
        for part in 0..self.parts {
            threads = self.play_part(threads, &path, &mut random, &worker);
            if !self.fails && self.alone > 0 {
                // One after another, each as a process of its own.
                threads = threads
                    .into_iter()
                    .map(|thread| {
                        let store = Store::open(&path).unwrap();
                        let mut worker = worker(thread, store, random.next());
                        worker.is_alone = true;
                        (0..self.alone).for_each(|_| worker.step_alone());
                        worker.thread
                    })
                    .collect();
            }
            self.perhaps_without_journal(part, folder.path(), &record, &mut random);
        }
        let events = recorder::end(&record);
        let times = times(&events);
        let calls = calls.load(Ordering::Relaxed);
        Played { store, journal, events, threads, times, shared, calls }
    }

    /// After a part nobody needs the journal, and perhaps it is gone.
    fn perhaps_without_journal(
        &self,
        part: usize,
        folder: &Path,
        record: &Record,
        random: &mut Random,
    ) {
        if part + 1 < self.parts && random.below(2) == 0 {
            record.note(Event::Named { name: JOURNAL_NAME.to_owned(), file: None });
            drop(std::fs::remove_file(folder.join(JOURNAL_NAME)));
        }
    }

    fn plan_faults(&self, record: &Record, random: &mut Random) {
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

    /// Plays a part by all threads at once.
    fn play_part(
        &self,
        threads: Vec<Thread>,
        path: &Path,
        random: &mut Random,
        worker: &impl Fn(Thread, Store, u64) -> Worker,
    ) -> Vec<Thread> {
        // The system may fail here, too.
        let open = || {
            let opened = (0..100).map(|_| Store::open(path));
            opened
                .filter(|opened| !self.fails || opened.is_ok())
                .map(Result::unwrap)
                .next()
                .unwrap()
        };
        let count = threads.len();
        // The first store has two threads, or all do as they are alone.
        let shared = open();
        let workers: Vec<Worker> = threads
            .into_iter()
            .enumerate()
            .map(|(number, thread)| {
                let store = match number {
                    0 => shared.clone(),
                    1 if count == 3 => shared.clone(),
                    _ => open(),
                };
                let mut worker = worker(thread, store, random.next());
                worker.is_alone = count < 3 || number == 2;
                worker
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
        let joined = running.into_iter().map(|thread| thread.join());
        joined
            .map(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    }
}
