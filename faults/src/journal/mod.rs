//! A journal that is damaged, replaced or held up while processes append, or after they were killed: nothing that was
//! acknowledged is lost but with bytes that no living process knew, and then an error names the journal.

mod appender;
mod incident;
mod judge;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fastrand::Rng;
use leafline::live::Persistence;
use leafline::{Family, NewSession, Store};
use serde_json::json;

pub use self::appender::work;
use self::incident::{Incident, Place};
use crate::command::driving::signal_group;

/// With this word, the program is a process that appends.
pub const WORD: &str = "journal-process";

const STORE: &str = "store.leafline";
const SHARED: &str = "shared";

/// A file that ends the appending.
const END: &str = "end";

/// A user that has no right to root's files.
const USER: u32 = 65_534;

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// For how long one of the processes is stopped.
const STOP: Duration = Duration::from_secs(1);

/// How often to look at what the processes have noted.
const PAUSE: Duration = Duration::from_millis(1);

/// The exit code of a process that has panicked.
const PANIC: i32 = 101;

/// What came of the runs with one incident.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    /// How often it happened.
    pub runs: u64,
    /// How often all processes were killed before it.
    pub killed: u64,
    /// Entries that were acknowledged.
    pub acknowledged: u64,
    /// Runs in which a call failed, or the store was refused.
    pub refused: u64,
    /// Entries that were lost with bytes that no living process knew.
    pub lost: u64,
    /// Last entries that were lost without an error: the journal looked shorter than it was.
    pub untold: u64,
}

/// The runs, and what must not be.
#[derive(Debug, Default)]
pub struct Report {
    /// By incident.
    pub counts: BTreeMap<&'static str, Count>,
    /// Each failure: the run, and what happened.
    pub failures: Vec<String>,
}

/// Makes this many runs from the one with the number `first`. `own` is `leafline-faults` itself, `program` is `leafline`.
///
/// # Panics
///
/// If no folder can be made for a run.
#[must_use]
pub fn run(seed: u64, first: u64, runs: u64, own: &Path, program: &Path) -> Report {
    let mut report = Report::default();
    for run in first..first.saturating_add(runs) {
        let run_seed = seed.wrapping_mul(1 << 32).wrapping_add(run);
        let mut random = Rng::with_seed(run_seed);
        let incident = Incident::any(&mut random);
        let is_killed = incident != Incident::Stopped && random.bool();
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let count = report.counts.entry(incident.name()).or_default();
        count.runs += 1;
        count.killed += u64::from(is_killed);
        // The owner of what this process makes.
        let is_root = folder.path().metadata().is_ok_and(|folder| folder.uid() == 0);
        let place = Place { folder: folder.path(), program, random, is_root };
        let scene = Scene { place, incident, is_killed, seed: run_seed };
        if let Err(problem) = scene.play(own, count) {
            let killed = if is_killed { ", all killed" } else { "" };
            let failure = format!("run {run} of seed {seed}: {incident:?}{killed}: {problem}");
            eprintln!("{failure}");
            report.failures.push(failure);
        }
    }
    report
}

/// The journal of a store.
fn journal_of(store: &Path) -> PathBuf {
    PathBuf::from(format!("{}.journal", store.display()))
}

/// The session that one process alone appends to.
fn own(number: usize) -> String {
    format!("own-{number}")
}

fn notes(number: usize) -> String {
    format!("notes-{number}")
}

/// A run.
struct Scene<'s> {
    place: Place<'s>,
    incident: Incident,
    is_killed: bool,
    seed: u64,
}

impl Scene<'_> {
    fn play(mut self, program: &Path, count: &mut Count) -> Result<(), String> {
        let processes = self.place.random.usize(2..4);
        let store = self.place.folder.join(STORE);
        self.begin(&store, processes).map_err(|error| error.to_string())?;
        let mut crowd = Crowd { folder: self.place.folder, children: Vec::new() };
        let is_other = self.incident == Incident::Denied && self.place.is_root;
        let own = self.place.folder.join("program");
        if is_other {
            // The folders above the program may be closed to others.
            fs::hard_link(program, &own)
                .or_else(|_| fs::copy(program, &own).map(drop))
                .and_then(|()| chown(self.place.folder, Some(USER), Some(USER)))
                .and_then(|()| chown(&store, Some(USER), Some(USER)))
                .map_err(|error| error.to_string())?;
        }
        for number in 0..processes {
            let mut command = Command::new(if is_other { &own } else { program });
            if is_other {
                command.uid(USER).gid(USER);
            }
            command.args([WORD, &number.to_string(), &self.seed.to_string()]);
            command.arg(self.place.folder).process_group(0).stdin(Stdio::null());
            crowd.children.push(command.spawn().map_err(|error| error.to_string())?);
        }
        self.perform(&mut crowd)?;
        let (folder, taken) = (self.place.folder.to_owned(), self.place.taken());
        let Self { is_killed, incident, seed, .. } = self;
        // Only what no process knew may be lost: all were killed, or the one that wrote it had closed the store.
        let has_visitor = || (0..processes).any(|number| appender::is_visitor(number, seed));
        let is_unknown = is_killed || incident.takes_records() && has_visitor();
        let loss = judge::Loss {
            told: is_unknown && incident.destroys(),
            end: is_unknown && incident.may_shorten(),
        };
        let (send, receive) = channel();
        // It is not joined: if it hangs, the others go on.
        std::thread::spawn(move || send.send(judge::judge(&folder, &taken, processes, loss)));
        let judged = receive.recv_timeout(PATIENCE);
        let judged = judged.map_err(|error| format!("the judge has no answer: {error}"))??;
        count.acknowledged += judged.acknowledged;
        count.refused += u64::from(judged.is_refused);
        count.lost += judged.lost;
        count.untold += judged.untold;
        Ok(())
    }

    /// Makes the store, a copy of it, and another one, each of the last two with a journal that a killed process would leave.
    fn begin(&self, path: &Path, processes: usize) -> leafline::Result<()> {
        let other = self.place.folder.join("other");
        for (path, sessions) in [(path, processes), (&other, 0)] {
            let store = Store::open(path)?;
            for id in (0..sessions).map(own).chain([SHARED.to_owned()]) {
                let mut new = NewSession::new(Family::Pi, "/work/journal");
                new.id = Some(id);
                new.persistence = Some(Persistence::keep_everything());
                store.create_session(&new)?;
            }
        }
        let Incident::Replaced(_) = self.incident else { return Ok(()) };
        let copy = self.place.folder.join("copy");
        fs::copy(path, &copy).expect("the folder can be written");
        for path in [&copy, &other] {
            let journal = journal_of(path);
            let kept = journal.with_extension("kept");
            let store = Store::open(path)?;
            let mut session = store.session(SHARED)?;
            for number in 0..5 {
                let text = format!("elsewhere {number}");
                let message = json!({"role": "user", "content": text, "timestamp": 1});
                session.append_message(&message)?;
            }
            fs::copy(&journal, &kept).expect("the folder can be written");
            drop((session, store));
            fs::rename(&kept, &journal).expect("the folder can be written");
        }
        Ok(())
    }

    /// Lets the processes append, and the incident happen.
    fn perform(&mut self, crowd: &mut Crowd<'_>) -> Result<(), String> {
        let (before, then) = (self.place.random.usize(1..60), self.place.random.usize(1..40));
        let journal = journal_of(&self.place.folder.join(STORE));
        crowd.wait_for(before)?;
        let _ = fs::copy(&journal, self.place.folder.join("earlier"));
        let noted = before + then;
        crowd.wait_for(noted)?;
        if self.is_killed {
            crowd.kill();
        }
        let stopped = self.place.random.usize(..crowd.children.len());
        if self.incident == Incident::Stopped {
            crowd.signal("-STOP", stopped)?;
            std::thread::sleep(STOP);
            crowd.signal("-CONT", stopped)?;
        }
        match self.place.happen(self.incident) {
            Err(error) if error.kind() == std::io::ErrorKind::Other => {
                return Err(error.to_string());
            }
            // Between two epochs there may be no journal, and where another was made at once it is another's.
            _ => {}
        }
        if !self.is_killed {
            crowd.wait_for(noted + self.place.random.usize(1..20))?;
        }
        if self.incident == (Incident::MovedAway { is_put_back: true }) {
            let _ = fs::rename(self.place.taken(), &journal);
        }
        crowd.end(self.is_killed)
    }
}

/// The processes that append.
struct Crowd<'c> {
    folder: &'c Path,
    children: Vec<Child>,
}

impl Crowd<'_> {
    fn signal(&self, signal: &str, number: usize) -> Result<(), String> {
        let group = self.children[number].id();
        signal_group(signal, group).map_err(|error| error.to_string())
    }

    fn noted(&self) -> usize {
        let read = |number| fs::read(self.folder.join(notes(number))).unwrap_or_default();
        let lines = |notes: Vec<u8>| notes.iter().filter(|&&byte| byte == b'\n').count();
        (0..self.children.len()).map(|number| lines(read(number))).sum()
    }

    fn have_ended(&mut self) -> Result<bool, String> {
        let mut have_ended = true;
        for child in &mut self.children {
            have_ended &= child.try_wait().map_err(|error| error.to_string())?.is_some();
        }
        Ok(have_ended)
    }

    /// Waits until so many lines are noted, or all have ended.
    fn wait_for(&mut self, count: usize) -> Result<(), String> {
        let begun = Instant::now();
        while self.noted() < count && !self.have_ended()? {
            if begun.elapsed() > PATIENCE {
                return Err("the appenders hang".to_owned());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn kill(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Ends the appending.
    fn end(&mut self, is_killed: bool) -> Result<(), String> {
        fs::write(self.folder.join(END), "").map_err(|error| error.to_string())?;
        self.wait_for(usize::MAX)?;
        for child in &mut self.children {
            let status = child.wait().map_err(|error| error.to_string())?;
            if status.code() == Some(PANIC) || (!status.success() && !is_killed) {
                return Err(format!("an appender ended with {status}"));
            }
        }
        Ok(())
    }
}

impl Drop for Crowd<'_> {
    fn drop(&mut self) {
        self.kill();
    }
}
