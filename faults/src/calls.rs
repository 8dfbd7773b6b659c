//! Calls of the system that fail, one after the other, in every command.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use fastrand::Rng;

use crate::command::aftermath;
use crate::command::calling::{FAILING, is_met, is_met_by_memory, is_met_by_runtime};
use crate::command::case::{Prepared, Stage, some_of_each};
use crate::command::program::{Ended, Fault, Program};
use crate::command::{reading, writing};
use crate::refused;

/// Calls whose failure makes a salvage take something for damaged.
const UNREAD: [&str; 6] = ["read", "pread64", "mmap", "statx", "newfstatat", "fstat"];

/// Ends a program that asks for it.
const SIGABRT: i32 = 6;

/// What came of the failures of one call.
#[derive(Debug, Clone, Default)]
pub struct Count {
    /// Runs in which it failed.
    pub runs: u64,
    /// In how many the command succeeded all the same.
    pub done: u64,
    /// In how many it failed.
    pub failed: u64,
}

/// The runs by call, and what must not be.
#[derive(Debug, Default)]
pub struct Report {
    /// By the call's name.
    pub counts: BTreeMap<String, Count>,
    /// All combinations of a command, a call, an error, and whether it is for good.
    pub places: u64,
    /// The first of them, which have each call once and for good.
    pub calls: u64,
    /// Runs in which the call was not made, or was about something else than the folder.
    pub beside: u64,
    /// Runs that the runtime ended since there was no memory.
    pub aborted: u64,
    /// Each failure: the run, and what happened.
    pub failures: Vec<String>,
    /// What commands complained of, by the call and its error.
    pub complaints: BTreeMap<String, BTreeSet<String>>,
}

/// The errors that a call may have.
fn errors_of(call: &str) -> &'static [&'static str] {
    match call {
        "write" | "writev" | "pwrite64" => &["ENOSPC", "EIO", "EDQUOT"],
        "fsync" | "fdatasync" => &["EIO", "ENOSPC"],
        "ftruncate" | "fallocate" | "mkdir" | "mkdirat" | "rename" | "renameat" | "renameat2"
        | "link" | "linkat" | "copy_file_range" => &["ENOSPC", "EIO"],
        "openat" => &["EMFILE", "ENOMEM", "EIO"],
        "clone" | "clone3" => &["EAGAIN"],
        "mmap" | "mremap" | "fstat" | "newfstatat" | "statx" => &["ENOMEM"],
        "flock" | "fcntl" => &["ENOLCK", "EIO"],
        _ => &["EIO"],
    }
}

/// Which runs are made, and how.
#[derive(Debug, Clone)]
pub struct Runs<'r> {
    /// Puts the combinations into an order.
    pub seed: u64,
    /// Those of that order that are run.
    pub numbers: Range<u64>,
    /// How many are run at once.
    pub threads: usize,
    /// The program; else the one beside the running program.
    pub program: Option<&'r Path>,
    /// Only commands whose names contain this.
    pub only: &'r str,
    /// Only failures of calls of this name; if it is empty, of all.
    pub call: &'r str,
    /// How many calls of one name are tried of a command.
    pub most: usize,
    /// Only those that ask for memory or a thread; else only the others.
    pub memory: bool,
    /// A call always fails, by whatever name it is made, and with each error that a system has for what it does not do.
    pub always: bool,
}

/// Lets calls fail, each run one of the combinations.
///
/// # Errors
///
/// If there is no program, no tracer, or a command does not do what it should without a fault.
///
/// # Panics
///
/// If a thread does, outside of the runs.
pub fn run(runs: &Runs<'_>) -> Result<Report, String> {
    if !Program::can_trace() {
        return Err("`strace` is not there, or may not trace".to_owned());
    }
    let first = Worker::new(runs)?;
    let (combinations, calls) = first.combinations(runs);
    let next = AtomicU64::new(runs.numbers.start);
    let mut reports = thread::scope(|scope| {
        let (combinations, next) = (&combinations, &next);
        let others: Vec<_> = (1..runs.threads)
            .map(|_| scope.spawn(|| Ok(Worker::new(runs)?.work(runs, combinations, next))))
            .collect();
        let mut reports = vec![Ok(first.work(runs, combinations, next))];
        reports.extend(others.into_iter().map(|other| other.join().expect("a thread of runs")));
        reports
    })
    .into_iter();
    let (calls, places) = (calls as u64, combinations.len() as u64);
    let all = Report { calls, places, ..Report::default() };
    reports.try_fold(all, |all, report: Result<Report, String>| Ok(all.and(report?)))
}

impl Report {
    /// This one, and another of other runs.
    fn and(mut self, other: Self) -> Self {
        for (call, count) in other.counts {
            let all = self.counts.entry(call).or_default();
            all.runs += count.runs;
            all.done += count.done;
            all.failed += count.failed;
        }
        for (call, complaints) in other.complaints {
            self.complaints.entry(call).or_default().extend(complaints);
        }
        self.beside += other.beside;
        self.aborted += other.aborted;
        self.failures.extend(other.failures);
        self
    }
}

/// A place for runs, and the commands that are run there.
struct Worker {
    stage: Stage,
    cases: Vec<Prepared>,
}

impl Worker {
    fn new(runs: &Runs<'_>) -> Result<Self, String> {
        let stage = Stage::new(runs.program)?;
        let mut cases = Vec::new();
        for case in [writing::cases(), reading::cases()].concat() {
            if case.name.contains(runs.only) {
                let calls = if runs.always { refused::CALLS } else { FAILING };
                cases.push(stage.prepare(&case, calls)?);
            }
        }
        Ok(Self { stage, cases })
    }

    /// Each with the number of its command: first every call once and for good with one of its errors, then with the others.
    /// Returns how many the first are.
    fn combinations(&self, runs: &Runs<'_>) -> (Vec<(usize, Fault)>, usize) {
        let mut random = Rng::with_seed(runs.seed);
        let (mut firsts, mut others) = (Vec::new(), Vec::new());
        for (number, prepared) in self.cases.iter().enumerate() {
            if runs.always {
                self.stage.reset(prepared).expect("the folder can be copied");
                let refusals = refused::of_command(prepared, &self.stage.work, runs.call);
                firsts.extend(refusals.into_iter().map(|fault| (number, fault)));
                continue;
            }
            let places = if runs.memory { &prepared.memory } else { &prepared.places };
            for place in some_of_each(places, runs.most, &mut random) {
                let place = &places[place];
                // What a salvage cannot read is damaged, and it says what is missing then.
                let is_salvage = ["repair", "salvage"].iter().any(|word| case_is(prepared, word));
                let is_other = !runs.call.is_empty() && place.call != runs.call;
                let is_unread = is_salvage && UNREAD.contains(&place.call.as_str());
                if is_other || (is_unread && !runs.memory) {
                    continue;
                }
                let mut errors = errors_of(&place.call).to_vec();
                random.shuffle(&mut errors);
                if is_salvage {
                    // Nor what it cannot open for that reason.
                    errors.retain(|error| place.call != "openat" || *error != "EIO");
                }
                for (rank, error) in errors.into_iter().enumerate() {
                    for is_for_good in [false, true] {
                        let (call, nth) = (place.call.clone(), place.nth);
                        let fault = Fault::Fails { call, nth, is_for_good, error };
                        if rank == 0 { &mut firsts } else { &mut others }.push((number, fault));
                    }
                }
            }
        }
        random.shuffle(&mut firsts);
        random.shuffle(&mut others);
        let first = firsts.len();
        firsts.append(&mut others);
        (firsts, first)
    }

    /// Runs what no other thread has begun, until all are.
    fn work(&self, runs: &Runs<'_>, combinations: &[(usize, Fault)], next: &AtomicU64) -> Report {
        let mut report = Report::default();
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            let combination = usize::try_from(run).ok().and_then(|run| combinations.get(run));
            let Some((number, fault)) = combination.filter(|_| run < runs.numbers.end) else {
                return report;
            };
            let prepared = &self.cases[*number];
            let one = || one(&self.stage, prepared, fault, &mut report);
            let outcome = catch_unwind(AssertUnwindSafe(one)).unwrap_or_else(|payload| {
                let text = payload.downcast_ref::<String>().map_or("a panic", String::as_str);
                Err(format!("the library panicked: {text}"))
            });
            if let Err(problem) = outcome {
                let (seed, name) = (runs.seed, prepared.case.name);
                let failure = format!("run {run} of seed {seed}: {name}, {fault:?}: {problem}");
                // A long run need not end for it to be seen.
                eprintln!("{failure}");
                report.failures.push(failure);
            }
        }
    }
}

fn case_is(prepared: &Prepared, command: &str) -> bool {
    prepared.case.arguments.starts_with(command)
}

fn one(
    stage: &Stage,
    prepared: &Prepared,
    fault: &Fault,
    report: &mut Report,
) -> Result<(), String> {
    stage.reset(prepared).map_err(|error| error.to_string())?;
    let case = &prepared.case;
    let ended = stage.program.run(&stage.work, &prepared.arguments, case.input, fault);
    let is_of_memory = is_met_by_memory(&ended.calls, &stage.work);
    let is_refused = matches!(fault, Fault::Refused { .. });
    let is_made = is_refused && ended.calls.contains("(INJECTED)");
    if !(is_made || is_of_memory || is_met(&ended.calls, &stage.work)) {
        report.beside += 1;
        return Ok(());
    }
    let is_aborted = is_of_memory && is_out_of_memory(&ended);
    report.aborted += u64::from(is_aborted);
    let (call, error, is_for_good) = match fault {
        Fault::Fails { call, error, is_for_good, .. } => (call.as_str(), error, *is_for_good),
        Fault::Refused { calls, error, .. } => (*calls, error, true),
        _ => return Ok(()),
    };
    let count = report.counts.entry(call.to_owned()).or_default();
    count.runs += 1;
    if ended.is_done() {
        count.done += 1;
    } else {
        count.failed += 1;
        let folder = stage.work.to_string_lossy();
        let told = ended.stderr.replace(folder.as_ref(), "FOLDER");
        report.complaints.entry(format!("{call} {error}")).or_default().insert(told);
    }
    // Where several threads make such calls, the one that complains may be among those that fail.
    let is_of_stderr = |line: &str| line.contains("(INJECTED)") && line.contains("write(2<");
    let cannot_say =
        call.starts_with("write") && (is_for_good || ended.calls.lines().any(is_of_stderr));
    if !is_aborted {
        // Memory is nowhere.
        let cannot_say = cannot_say
            || is_of_memory
            || ended.is_rushed
            || is_met_by_runtime(&ended.calls, &stage.work);
        is_clear(prepared, &ended, &stage.work, cannot_say)?;
    }
    if is_refused && !case.is_damaged && ended.stderr.contains("damaged") {
        return Err(format!("it speaks of damage: {}", ended.described()));
    }
    aftermath::examine(stage, prepared, &ended)
}

/// Whether the runtime has ended the program since there was no memory, and said so: for a value, or for the stack on which a
/// thread's overflow is handled. So does the watcher of files, whose thread may fail just after another was given (notify 8.2).
fn is_out_of_memory(ended: &Ended) -> bool {
    let says = |text: &str| ended.stderr.contains(text);
    ended.signal == Some(SIGABRT)
        && (says("memory allocation of")
            || says("failed to allocate an alternative stack")
            || (says("/notify-8.2") && says("SendError")))
}

/// Whether the command has said what went wrong and where, or has printed all that it should.
fn is_clear(
    prepared: &Prepared,
    ended: &Ended,
    folder: &Path,
    cannot_say: bool,
) -> Result<(), String> {
    let complaint = &ended.stderr;
    if ended.hung || ended.status.is_none() || complaint.contains("panicked") {
        return Err(ended.described());
    }
    let is_all_done = prepared.case.input.is_done(&ended.stdout);
    if ended.is_done() && !is_all_done {
        // A server tells its client, and a watch goes on.
        let tells = ["\"isError\":true", "\"error\":", "\"status\":\"failed\""];
        let is_told = tells.iter().any(|told| ended.stdout.contains(told));
        return match is_told || !complaint.is_empty() || cannot_say {
            true => Ok(()),
            false => Err(format!("it does not say what is not done: {}", ended.described())),
        };
    }
    if ended.is_done() {
        let is_less = prepared.case.reads && ended.stdout != prepared.whole.stdout;
        return match is_less {
            true => {
                Err(format!("it ended well, and printed something else: {}", ended.described()))
            }
            false => Ok(()),
        };
    }
    let folder = folder.to_string_lossy();
    // Some paths are told as the command was given them.
    let names = [
        folder.as_ref(),
        "standard output",
        "standard input",
        "the folder .",
        "saved.leafline",
        "store.leafline",
        ".db",
        "out",
        "files",
        "kept",
    ];
    let said = format!("{complaint}{}", ended.stdout);
    let is_named = names.iter().any(|name| said.contains(name));
    if is_named || cannot_say {
        return Ok(());
    }
    Err(format!("its complaint does not say where: {}", ended.described()))
}
