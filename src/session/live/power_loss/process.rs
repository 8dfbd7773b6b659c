//! Threads of a script that are processes of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use bincode::{Decode, Encode};
use tempfile::TempDir;

use super::Random;
use super::disk::STORE_NAME;
use super::expected::{Sessions, Thread};
use super::script::Script;
use super::worker::Worker;
use crate::store::Store;
use crate::store::record::{append, read};
use crate::store::recorder::{self, Event, Noted};

/// With this word, and the file of a job, the program does what the job says.
pub const WORD: &str = "power-process";

/// How many calls a process makes at most, so that each has numbers of its own.
const MOST_CALLS: usize = 100_000;

/// What a process is to do.
#[derive(Debug, Encode, Decode)]
struct Job {
    /// Where the store is, and the order of all events.
    folder: PathBuf,
    order: PathBuf,
    /// Its number among the processes of the script, from 1.
    number: u32,
    seed: u64,
    prefix: String,
    before: Sessions,
    /// The number of its first call.
    calls: usize,
    steps: usize,
    /// Whether no other process has the store open.
    is_alone: bool,
    text: usize,
    /// Bytes of an area of the journals that it makes; the usual ones if there is none.
    area: Option<u64>,
    patience: Duration,
}

/// What came of it.
#[derive(Debug, Encode, Decode)]
struct Done {
    thread: Thread,
    noted: Noted,
}

/// Where a process leaves what came of its job.
fn done_of(job: &Path) -> PathBuf {
    job.with_extension("done")
}

/// Does what a job says. It is the whole work of a process.
///
/// # Panics
///
/// If the job cannot be read, or a call fails.
pub fn work(job: &Path) {
    let path = job;
    let (job, _): (Job, usize) = read(&std::fs::read(path).unwrap()).unwrap();
    if let Some(area) = job.area {
        recorder::use_areas(area);
    }
    let store = job.folder.join(STORE_NAME);
    let record = recorder::record_with_others(&store, &job.order, job.number).unwrap();
    record.interleave(Some(job.patience));
    let thread = Thread { prefix: job.prefix, before: job.before, ..Thread::default() };
    let mut worker = Worker {
        store: Store::open(&store).unwrap(),
        // Its store is open to it alone.
        is_alone: true,
        sessions: BTreeMap::new(),
        folder: job.folder,
        random: Random(job.seed),
        record: Arc::clone(&record),
        calls: Arc::new(AtomicUsize::new(job.calls)),
        text: job.text,
        fails: false,
        thread,
    };
    for _ in 0..job.steps {
        if job.is_alone { worker.step_alone() } else { worker.step() }
    }
    let Worker { thread, store, sessions, .. } = worker;
    drop((sessions, store));
    let mut bytes = Vec::new();
    append(&Done { thread, noted: recorder::end_of_several(&record) }, &mut bytes);
    std::fs::write(done_of(path), bytes).unwrap();
}

/// The processes of a script.
pub(super) struct Processes<'s> {
    script: &'s Script,
    program: &'s Path,
    /// Where the store is.
    folder: PathBuf,
    /// Jobs, what came of them, and the order.
    desk: TempDir,
    /// What each process has noted, but for the one that plays the script.
    noted: Vec<Noted>,
    /// The number of its first call.
    calls: usize,
}

impl<'s> Processes<'s> {
    pub(super) fn new(script: &'s Script, program: &'s Path, folder: &Path, calls: usize) -> Self {
        let desk = tempfile::tempdir_in(super::memory()).unwrap();
        Self { script, program, folder: folder.to_owned(), desk, noted: Vec::new(), calls }
    }

    /// The file of the order of all events.
    pub(super) fn order(&self) -> PathBuf {
        self.desk.path().join("order")
    }

    /// Plays a part, all at once.
    pub(super) fn play(&mut self, threads: &mut [Thread], random: &mut Random) {
        let steps = self.script.steps;
        let running: Vec<(PathBuf, Child)> = threads
            .iter()
            .enumerate()
            .map(|(place, thread)| self.start(thread, place, (steps, false), random))
            .collect();
        let running = running.into_iter().zip(threads);
        running.for_each(|(running, thread)| self.end(running, thread));
    }

    /// Plays what each does alone, one after another.
    pub(super) fn play_alone(&mut self, threads: &mut [Thread], random: &mut Random) {
        for thread in threads {
            let running = self.start(thread, 0, (self.script.alone, true), random);
            self.end(running, thread);
        }
    }

    /// Starts the process of a thread, of which others run already.
    fn start(
        &self,
        thread: &Thread,
        others: usize,
        (steps, is_alone): (usize, bool),
        random: &mut Random,
    ) -> (PathBuf, Child) {
        let number = 1 + self.noted.len() + others;
        let job = Job {
            folder: self.folder.clone(),
            order: self.order(),
            number: u32::try_from(number).unwrap(),
            seed: random.next(),
            prefix: thread.prefix.clone(),
            before: thread.now().clone(),
            calls: self.calls + number * MOST_CALLS,
            steps,
            is_alone,
            text: self.script.text,
            area: recorder::area(),
            patience: self.script.patience,
        };
        let path = self.desk.path().join(format!("{number}.job"));
        let mut bytes = Vec::new();
        append(&job, &mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let mut command = Command::new(self.program);
        command.arg(WORD).arg(&path).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        (path, child)
    }

    /// Waits for the end of a process, and takes what came of it.
    fn end(&mut self, (job, child): (PathBuf, Child), thread: &mut Thread) {
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "a process: {}, {said}", ended.status);
        let (done, _): (Done, usize) = read(&std::fs::read(done_of(&job)).unwrap()).unwrap();
        thread.steps.extend(done.thread.steps);
        thread.backups.extend(done.thread.backups);
        for (kind, count) in done.thread.kinds {
            *thread.kinds.entry(kind).or_default() += count;
        }
        self.noted.push(done.noted);
    }

    /// The events of all processes, with those of the one that plays the script; and the number of the next call.
    pub(super) fn events(self, own: Noted) -> (Vec<Event>, usize) {
        let order = std::fs::read(self.order()).unwrap();
        let next = self.calls + (2 + self.noted.len()) * MOST_CALLS;
        let noted = std::iter::once(own).chain(self.noted).collect();
        (recorder::in_order(&order, noted), next)
    }
}
