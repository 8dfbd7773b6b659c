//! Those who append, read, and sync a file of their own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use leafline::Store;
use leafline::live::Persistence;
use leafline::pi::Draft;

use super::{APPENDERS, READERS};
use crate::answers::{Opening, open};
use crate::command::program::Program;

/// Between two reads, and between two bare syncs.
const PAUSE: Duration = Duration::from_millis(20);

/// For how many milliseconds a visitor stays away at most. If it came at once, there would be no moment in which nobody has the
/// store open.
const AWAY: u64 = 300;

/// The most entries that a visitor appends.
const MOST_ENTRIES: u64 = 3;

/// What the system says of the calling thread.
const HERE: &str = "/proc/thread-self/schedstat";

/// What all are told.
#[derive(Debug, Default)]
pub(super) struct Signs {
    over: AtomicBool,
    left: AtomicBool,
    /// How many appends each appender's process has made, and reads each reader: none while the process makes its first one.
    turns: [AtomicU64; APPENDERS + READERS],
}

impl Signs {
    /// It is over.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Whether those who keep the store open are to leave it, so that it can be compacted, and to come again later.
    pub(super) fn be_left(&self, left: bool) {
        self.left.store(left, Ordering::Relaxed);
    }

    /// The turns of all.
    pub(super) fn turns(&self) -> Vec<u64> {
        self.turns.iter().map(|turns| turns.load(Ordering::Relaxed)).collect()
    }

    fn has_turn(&self, person: usize) {
        self.turns[person].fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn is_to_be_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }
}

/// An append that was acknowledged.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) begun: Instant,
    pub(super) took: Duration,
    /// For how long of this the process that appended, or the thread that asked it to, could have gone on and had no core.
    pub(super) without_core: Duration,
    pub(super) id: String,
    /// Whether it is the first of its process: a commit, which waits for those of others.
    pub(super) is_first: bool,
}

/// What someone has appended to a session.
#[derive(Debug, Default)]
pub(super) struct Appended {
    pub(super) session: String,
    pub(super) all: Vec<Append>,
    pub(super) failures: Vec<String>,
}

/// One who keeps the store open: a process that appends, entry by entry.
#[derive(Debug)]
pub(super) struct Appender {
    pub(super) number: usize,
    pub(super) session: String,
}

impl Appender {
    /// Appends until it is over. Where the store is to be left, the process ends, and a new one goes on later.
    pub(super) fn run(self, program: &Program, folder: &Path, signs: &Signs) -> Appended {
        let mut appended = Appended { session: self.session.clone(), ..Appended::default() };
        while !signs.is_over() && appended.failures.is_empty() {
            if signs.is_to_be_left() {
                std::thread::sleep(PAUSE);
            } else {
                self.stay(program, folder, signs, &mut appended);
            }
        }
        appended
    }

    fn stay(&self, program: &Program, folder: &Path, signs: &Signs, appended: &mut Appended) {
        let mut command = program.plain(folder);
        command.args(["append", &self.session, "--sync", "each"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a process can be run");
        let mut input = child.stdin.take().expect("it has an input");
        let mut output = BufReader::new(child.stdout.take().expect("it has an output"));
        let mut is_first = true;
        signs.turns[self.number].store(0, Ordering::Relaxed);
        let appends = format!("/proc/{}/schedstat", child.id());
        let of_both = || without_core(&appends) + without_core(HERE);
        while !signs.is_over() && !signs.is_to_be_left() {
            let line = line(&format!("{} says {}", self.number, appended.all.len()));
            // The process has just been begun for the first one.
            let before = if is_first { without_core(HERE) } else { of_both() };
            let begun = Instant::now();
            let mut id = String::new();
            let answered =
                input.write_all(line.as_bytes()).and_then(|()| output.read_line(&mut id));
            if !matches!(answered, Ok(1..)) {
                break;
            }
            let took = begun.elapsed();
            let without_core = of_both().saturating_sub(before);
            let id = id.trim_end().to_owned();
            appended.all.push(Append { begun, took, without_core, id, is_first });
            is_first = false;
            signs.has_turn(self.number);
        }
        drop(input);
        let mut complaint = String::new();
        let _ = child.stderr.take().map(|mut errors| errors.read_to_string(&mut complaint));
        let is_well = child.wait().is_ok_and(|status| status.success());
        if !is_well || !complaint.is_empty() {
            appended.failures.push(format!("`append` {}: {complaint}", self.number));
        }
    }
}

/// One who opens the store, appends a few entries, and closes it, again and again.
#[derive(Debug)]
pub(super) struct Visitor {
    pub(super) number: usize,
    pub(super) session: String,
    /// Whether it is a program that has the library; else it is the command, anew each time.
    pub(super) has_library: bool,
}

/// What a visitor has done.
#[derive(Debug, Default)]
pub(super) struct Visits {
    /// How long each took, from before the store was opened until it was closed.
    pub(super) all: Vec<Duration>,
    pub(super) appended: Appended,
}

impl Visitor {
    /// Comes and goes until it is over.
    pub(super) fn run(self, program: &Program, folder: &Path, signs: &Signs) -> Visits {
        let mut random = Rng::new();
        let mut visits = Visits::default();
        visits.appended.session.clone_from(&self.session);
        while !signs.is_over() {
            let visit = visits.all.len();
            let words: Vec<String> = (0..random.u64(1..=MOST_ENTRIES))
                .map(|number| format!("{} says {number} at visit {visit}", self.number))
                .collect();
            let begun = Instant::now();
            let (ids, problem) = match self.has_library {
                true => self.call(&folder.join("store.leafline"), &words),
                false => self.command(program, folder, &words),
            };
            let took = begun.elapsed();
            visits.all.push(took);
            let append =
                |id| Append { begun, took, without_core: Duration::ZERO, id, is_first: true };
            visits.appended.all.extend(ids.into_iter().map(append));
            visits.appended.failures.extend(problem);
            std::thread::sleep(Duration::from_millis(random.u64(0..AWAY)));
        }
        visits
    }

    /// Appends with the command. Returns the ids that it has printed, and what went wrong.
    fn command(
        &self,
        program: &Program,
        folder: &Path,
        words: &[String],
    ) -> (Vec<String>, Option<String>) {
        let mut command = program.plain(folder);
        command.args(["append", &self.session, "--sync", "each"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a process can be run");
        let mut input = child.stdin.take().expect("it has an input");
        for words in words {
            // If it has ended, it says why.
            let _ = input.write_all(line(words).as_bytes());
        }
        drop(input);
        let output = child.wait_with_output().expect("a process can be waited for");
        let complaint = String::from_utf8_lossy(&output.stderr);
        let is_well = output.status.success() && complaint.is_empty();
        let problem = (!is_well).then(|| format!("`append` {}: {complaint}", self.number));
        let ids = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        (ids, problem)
    }

    /// Appends with the library. Returns the ids that it has got, and what went wrong.
    fn call(&self, path: &Path, words: &[String]) -> (Vec<String>, Option<String>) {
        let mut ids = Vec::new();
        let called = Store::open(path).and_then(|store| {
            let session = store.session(&self.session)?;
            let mut session = session.with_persistence(Persistence::keep_everything());
            for words in words {
                ids.push(session.append(Draft::message(&message(words))?)?);
            }
            Ok(())
        });
        (ids, called.err().map(|error| format!("visitor {}: {error}", self.number)))
    }
}

/// For how long the system says that a thread could have gone on and had no core; nothing where it does not say so, as of a process
/// that has ended.
fn without_core(statistics: &str) -> Duration {
    let text = std::fs::read_to_string(statistics).unwrap_or_default();
    let nanoseconds = text.split(' ').nth(1).and_then(|text| text.parse().ok());
    nanoseconds.map(Duration::from_nanos).unwrap_or_default()
}

/// An entry as the command takes it.
fn line(words: &str) -> String {
    format!("{{\"type\":\"message\",\"message\":{}}}\n", message(words))
}

fn message(words: &str) -> String {
    serde_json::json!({"role": "user", "content": words}).to_string()
}

/// What a reader has done.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// When each read began, and how long it took.
    pub(super) all: Vec<(Instant, Duration)>,
    pub(super) failures: Vec<String>,
}

/// Reads until it is over: the list, and of each session the last entry. What was there once must stay, also in another file.
/// While the store is to be left, it is opened for each read, and closed.
pub(super) fn read(number: usize, path: &Path, sessions: &[String], signs: &Signs) -> Reads {
    let mut random = Rng::new();
    let mut reads = Reads::default();
    let mut entries: HashMap<&str, u64> = HashMap::new();
    let mut kept: Option<Store> = None;
    for id in sessions.iter().cycle() {
        if signs.is_over() {
            break;
        }
        let store = match kept.take() {
            Some(store) => store,
            None => match open(path, Opening::ToRead) {
                Ok(store) => store,
                Err(error) => {
                    reads.failures.push(format!("opening the store to read: {error}"));
                    break;
                }
            },
        };
        let begun = Instant::now();
        let read = store.sessions().and_then(|list| {
            let reader = store.reader(id)?;
            Ok((list.len(), reader.facts().entries, reader.get_leaf()?.is_some()))
        });
        reads.all.push((begun, begun.elapsed()));
        signs.has_turn(APPENDERS + number);
        match read {
            Ok((listed, now, has_leaf)) => {
                let before = entries.insert(id, now).unwrap_or_default();
                if now < before || listed < sessions.len() || has_leaf != (now > 0) {
                    let told = format!("{id} had {before} entries, then {now}; {listed} sessions");
                    reads.failures.push(told);
                }
            }
            Err(error) => reads.failures.push(format!("reading {id}: {error}")),
        }
        if signs.is_to_be_left() {
            drop(store);
            std::thread::sleep(Duration::from_millis(random.u64(0..AWAY)));
        } else {
            kept = Some(store);
            std::thread::sleep(PAUSE);
        }
    }
    reads
}

/// Writes a page in place and syncs it, again and again.
pub(super) fn sync_bare(folder: &Path, signs: &Signs) -> Vec<Duration> {
    let mut file = File::create(folder.join("bare")).expect("a file can be made");
    file.write_all(&vec![0; 1 << 20]).expect("it can be written");
    file.sync_all().expect("it can be synced");
    let mut times = Vec::new();
    for number in 0u64.. {
        if signs.is_over() {
            break;
        }
        let page = [number.to_le_bytes()[0]; 4096];
        let begun = Instant::now();
        file.seek(SeekFrom::Start(number % 256 * 4096)).expect("it has such a place");
        file.write_all(&page).expect("it can be written");
        file.sync_data().expect("it can be synced");
        times.push(begun.elapsed());
        std::thread::sleep(PAUSE);
    }
    times
}
