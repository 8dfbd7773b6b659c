//! Processes that are forked while their parent has a store open: the child's calls through what it has inherited fail and
//! change nothing, and what any of them acknowledges through a store that it has opened itself is there in the end.

mod scene;

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use fastrand::Rng;
use leafline::live::Persistence;
use leafline::{Family, NewSession, Store};

pub use self::scene::{Case, work};
use crate::answers::{Opening, open};
use crate::command::driving::signal_group;

/// With this word, the program is a process of a scene.
pub const WORD: &str = "forking-process";

/// The store of a scene, what its processes have to say, and its session.
pub(crate) const STORE: &str = "store.leafline";
const LOG: &str = "log";
const SESSION: &str = "forked";

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest time that an appending parent is given before it is killed, in microseconds.
const LONGEST: u64 = 20_000;

/// What the processes of one case have done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    /// How often the case was played.
    pub runs: u64,
    /// Calls of inherited handles, all of which failed as they should.
    pub refused: u64,
    /// Entries that were acknowledged.
    pub acknowledged: u64,
}

/// The runs of all cases, and what must not be.
#[derive(Debug, Default)]
pub struct Report {
    /// By case.
    pub counts: BTreeMap<&'static str, Count>,
    /// Each failure: the run, and what happened.
    pub failures: Vec<String>,
}

/// Plays this many scenes, each case in its turn. `program` is `leafline-faults` itself.
///
/// # Panics
///
/// If no folder can be made for a scene.
#[must_use]
pub fn run(seed: u64, runs: u64, program: &Path) -> Report {
    let mut report = Report::default();
    for (run, case) in (0..runs).zip(Case::ALL.into_iter().cycle()) {
        let scene_seed = seed.wrapping_mul(1 << 32).wrapping_add(run);
        let count = report.counts.entry(case.name()).or_default();
        count.runs += 1;
        if let Err(problem) = play(case, scene_seed, program, count) {
            let name = case.name();
            report.failures.push(format!("run {run} of seed {seed}: {name}: {problem}"));
        }
    }
    report
}

fn play(case: Case, seed: u64, program: &Path, count: &mut Count) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = folder.path();
    begin(&folder.join(STORE)).map_err(|error| error.to_string())?;
    perform(case, seed, program, folder)?;
    judge(folder, count)
}

/// Makes a store with one session.
fn begin(path: &Path) -> leafline::Result<()> {
    let store = Store::open(path)?;
    let mut new = NewSession::new(Family::Pi, "/work/forks");
    new.id = Some(SESSION.to_owned());
    new.persistence = Some(Persistence::keep_everything());
    store.create_session(&new).map(drop)
}

/// Runs the parent, and waits for it and all that it forks.
fn perform(case: Case, seed: u64, program: &Path, folder: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args([WORD, case.name(), &seed.to_string()]).arg(folder);
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut parent = command.spawn().map_err(|error| error.to_string())?;
    let group = parent.id();
    let mut output = parent.stdout.take().expect("it is a pipe");
    let (send, ended) = channel();
    // A child has the pipe, too, so it ends with the last of them.
    let reading = std::thread::spawn(move || {
        let mut first = [0];
        let is_ready = matches!(output.read(&mut first), Ok(1));
        let _ = send.send(is_ready);
        let _ = send.send(output.read_to_end(&mut Vec::new()).is_ok());
    });
    let wait = || ended.recv_timeout(PATIENCE).map_err(|_| "it hangs".to_owned());
    let played = wait().and_then(|is_ready| {
        if case.is_killed() && is_ready {
            let micros = Rng::with_seed(seed).u64(..LONGEST);
            std::thread::sleep(Duration::from_micros(micros));
            parent.kill().map_err(|error| error.to_string())?;
        }
        wait().map(drop)
    });
    if played.is_err() {
        let _ = signal_group("-KILL", group);
    }
    let status = parent.wait().map_err(|error| error.to_string())?;
    let _ = reading.join();
    played?;
    match status.success() || case.is_killed() {
        true => Ok(()),
        false => Err(format!("the parent ended with {status}")),
    }
}

/// Compares what the store has in the end with what was acknowledged.
fn judge(folder: &Path, count: &mut Count) -> Result<(), String> {
    let log = std::fs::read_to_string(folder.join(LOG)).map_err(|error| error.to_string())?;
    let mut acknowledged = Vec::new();
    for line in log.lines() {
        match line.split_once(' ') {
            Some(("appended", id)) => acknowledged.push(id),
            Some(("refused", _)) => count.refused += 1,
            _ => return Err(line.to_owned()),
        }
    }
    count.acknowledged += acknowledged.len() as u64;
    let path: PathBuf = folder.join(STORE);
    let store = open(&path, Opening::ToWrite).map_err(|error| error.to_string())?;
    let mut there: HashMap<String, u32> = HashMap::new();
    let read = store.reader(SESSION).and_then(|reader| {
        reader.lines(1, |entry| {
            entry.id().into_iter().for_each(|id| *there.entry(id).or_default() += 1);
            Ok(true)
        })
    });
    read.map_err(|error| error.to_string())?;
    let lost = acknowledged.iter().filter(|id| there.get(**id) != Some(&1)).count();
    if lost > 0 {
        return Err(format!("{lost} of {} acknowledged entries are lost", acknowledged.len()));
    }
    let problems = store.verify().map_err(|error| error.to_string())?.problems;
    if problems.is_empty() { Ok(()) } else { Err(format!("verify: {problems:?}")) }
}
