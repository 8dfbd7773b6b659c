//! Damaged pages: flipped bits, and pages that are zeroed, stale, swapped or cut off.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use fastrand::Rng;

use leafline::error::StoreError;
use leafline::{Error, Store};

use crate::answers::{Answer, Answers, Opening, ask, open};
use crate::sample::{self, Files};

/// Bytes of a page.
const PAGE: usize = 4096;

/// Bytes of the header of the file.
const HEADER: usize = 320;

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// One bit.
    Bit,
    /// Eight bits of one page.
    Bits,
    /// One bit of the file's header.
    Header,
    /// A page of zeros.
    Zeroed,
    /// A page as an earlier commit had it: a write that was lost.
    Stale,
    /// Two pages in each other's place.
    Swapped,
    /// A file that ends early.
    CutOff,
}

/// All kinds.
pub const KINDS: [Damage; 7] = [
    Damage::Bit,
    Damage::Bits,
    Damage::Header,
    Damage::Zeroed,
    Damage::Stale,
    Damage::Swapped,
    Damage::CutOff,
];

/// What came of the runs of one kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    /// How many there were.
    pub runs: u64,
    /// In how many no answer changed.
    pub unchanged: u64,
    /// In how many the store could not be opened.
    pub refused: u64,
    /// In how many `verify` found the damage.
    pub found: u64,
    /// Answers that were errors.
    pub errors: u64,
    /// Answers altogether.
    pub answers: u64,
    /// Sessions that the stores had.
    pub sessions: u64,
    /// Those that `salvage` saved as they were.
    pub saved: u64,
}

/// The runs of all kinds, and what must not be.
#[derive(Debug, Default)]
pub struct Report {
    /// By kind.
    pub counts: BTreeMap<Damage, Count>,
    /// Each failure: the run, and what happened.
    pub failures: Vec<String>,
    /// Each store that could not be opened, and why.
    pub refusals: Vec<String>,
}

/// A sample store and what it says when it is whole.
#[derive(Debug)]
pub struct Sample {
    folder: tempfile::TempDir,
    files: Files,
    /// Of the store that was closed, and of the one that was not: the ids, and what it says.
    closed: (Vec<String>, Answers),
    killed: (Vec<String>, Answers),
}

impl Sample {
    /// Makes one from a seed.
    ///
    /// # Panics
    ///
    /// If it cannot be made, or does not verify.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let files = sample::make(folder.path(), seed).expect("the sample can be made");
        let [closed, killed] = ["closed", "killed"].map(|name| folder.path().join(name));
        write(&closed, &files.closed);
        write(&killed, &files.killed.0);
        write(&journal_of(&killed), &files.killed.1);
        let [closed, killed] = [closed, killed].map(|path| truth_of(&path));
        assert!(killed.0.len() > closed.0.len(), "the journal has a session");
        Self { folder, files, closed, killed }
    }

    /// A copy of the store with damage.
    fn damaged(&self, bytes: &[u8], damage: Damage, random: &mut Rng) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let earlier = &self.files.earlier;
        let pages = bytes.len() / PAGE;
        // Behind the first page, which has the header.
        let page = |random: &mut Rng| random.usize(1..pages) * PAGE;
        let flip = |bytes: &mut [u8], at: usize, random: &mut Rng| {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.u8(0..8);
            }
        };
        match damage {
            Damage::Bit => {
                let at = random.usize(PAGE..bytes.len());
                flip(&mut bytes, at, random);
            }
            Damage::Bits => {
                let page = page(random);
                for _ in 0..8 {
                    let at = page + random.usize(0..PAGE);
                    flip(&mut bytes, at, random);
                }
            }
            Damage::Header => {
                let at = random.usize(0..HEADER);
                flip(&mut bytes, at, random);
            }
            Damage::Zeroed => {
                let page = page(random);
                bytes[page..page + PAGE].fill(0);
            }
            Damage::Stale => {
                let stale = earlier.len().min(bytes.len()) / PAGE;
                let page = random.usize(1..stale) * PAGE;
                bytes[page..page + PAGE].copy_from_slice(&earlier[page..page + PAGE]);
            }
            Damage::Swapped => {
                let (one, other) = (page(random), page(random));
                for byte in 0..PAGE {
                    bytes.swap(one + byte, other + byte);
                }
            }
            Damage::CutOff => bytes.truncate(page(random)),
        }
        bytes
    }

    /// Damages a copy as the number of the run says, and asks it all questions.
    ///
    /// # Panics
    ///
    /// If the temporary folder cannot be written.
    pub fn run(&self, seed: u64, run: u64, report: &mut Report) {
        let mut random = Rng::with_seed(seed.wrapping_mul(1 << 32).wrapping_add(run));
        let damage = random.choice(KINDS).unwrap_or(Damage::Bit);
        let opening = random.choice([Opening::ToRead, Opening::ToWrite]).unwrap_or(Opening::ToRead);
        let is_killed = random.bool();
        let path = self.folder.path().join(format!("damaged-{run}"));
        let (bytes, (sessions, truth)) = match is_killed {
            true => (&self.files.killed.0, &self.killed),
            false => (&self.files.closed, &self.closed),
        };
        write(&path, &self.damaged(bytes, damage, &mut random));
        if is_killed {
            write(&journal_of(&path), &self.files.killed.1);
        }
        let state = if is_killed { "killed" } else { "closed" };
        let name = format!("run {run} of seed {seed}: {damage:?}, {state}, {opening:?}");
        let outcome = outcome(path.clone(), opening, sessions.clone());
        std::fs::remove_file(&path).expect("the copy can be removed");
        // A close may have removed it.
        let _ = std::fs::remove_file(journal_of(&path));
        let count = report.counts.entry(damage).or_default();
        count.runs += 1;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(problem) => return report.failures.push(format!("{name}: {problem}")),
        };
        let (answers, problems) = match outcome.asked {
            Ok(outcome) => outcome,
            Err(reason) => {
                count.refused += 1;
                report.refusals.push(format!("{name}: {reason}"));
                (Answers::new(), 0)
            }
        };
        let salvaged = outcome.salvaged;
        for problem in &salvaged.problems {
            report.failures.push(format!("{name}: after `salvage`: {problem}"));
        }
        for id in sessions {
            let is_right = |answers: &Answers| {
                questions_of(id, truth)
                    .all(|(question, answer)| answers.get(question) == Some(answer))
            };
            count.sessions += 1;
            if is_right(&salvaged.answers) {
                count.saved += 1;
            } else if !salvaged.tells_all && !salvaged.told.contains(id) {
                let other = questions_of(id, truth)
                    .find(|(question, answer)| salvaged.answers.get(*question) != Some(*answer));
                let other = other.map_or("nothing", |(question, _)| question);
                report
                    .failures
                    .push(format!("{name}: `salvage` changed {other} and did not say so"));
            } else if is_right(&answers) && damage != Damage::Header {
                // Its pages are whole, and it could be read.
                report.failures.push(format!("{name}: `salvage` lost {id}, which can be read"));
            }
        }
        let mut is_changed = false;
        for (question, answer) in &answers {
            count.answers += 1;
            match answer {
                Ok(answer) if truth.get(question) != Some(&Ok(answer.clone())) => {
                    report.failures.push(format!("{name}: a wrong answer to {question}"));
                    is_changed = true;
                }
                Ok(_) => {}
                Err(_) => {
                    count.errors += 1;
                    is_changed = true;
                }
            }
        }
        count.unchanged += u64::from(!is_changed);
        count.found += u64::from(problems > 0);
        if is_changed && problems == 0 {
            report.failures.push(format!("{name}: `verify` finds nothing"));
        }
    }
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("a copy can be written");
}

fn journal_of(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(".journal");
    path.into()
}

/// The ids of a whole store, and what it says.
fn truth_of(path: &Path) -> (Vec<String>, Answers) {
    let store = open(path, Opening::ToRead).expect("the sample can be opened");
    let problems = store.verify().expect("it can be verified").problems;
    assert!(problems.is_empty(), "{problems:#?}");
    let sessions = store.sessions().expect("it can be listed");
    let sessions: Vec<String> =
        sessions.into_iter().map(|session| session.id.to_string()).collect();
    let truth = ask(&store, &sessions);
    let errors: Vec<_> = truth.iter().filter(|(_, answer)| answer.is_err()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    (sessions, truth)
}

/// The questions about a session, and the answers.
fn questions_of<'a>(
    id: &'a str,
    answers: &'a Answers,
) -> impl Iterator<Item = (&'a String, &'a Answer)> {
    let ending = format!(" of {id}");
    answers.iter().filter(move |(question, _)| question.ends_with(&ending))
}

/// What came of a run.
struct Outcome {
    salvaged: Salvaged,
    /// The answers and the number of problems that `verify` finds, or why the store cannot be opened.
    asked: Result<(Answers, usize), String>,
}

/// What a salvaged store says.
#[derive(Default)]
struct Salvaged {
    answers: Answers,
    /// Sessions of which it is said that they were damaged.
    told: Vec<String>,
    /// Whether it is said that anything may be missing.
    tells_all: bool,
    problems: Vec<String>,
}

fn salvage(path: &Path, sessions: &[String]) -> Salvaged {
    let new = path.with_extension("new");
    let mut salvaged = Salvaged::default();
    match Store::salvage(path, &new) {
        Ok(salvage) => {
            salvaged.told.extend(salvage.lost);
            salvaged.told.extend(salvage.damaged.into_iter().map(|session| session.id));
            salvaged.tells_all =
                salvage.may_be_earlier || salvage.may_lack_sessions || salvage.journal.is_some();
            salvaged.problems.extend(salvage.problems.iter().map(|problem| format!("{problem:?}")));
            match open(&new, Opening::ToRead) {
                Ok(store) => salvaged.answers = ask(&store, sessions),
                Err(error) => salvaged.problems.push(error.to_string()),
            }
        }
        Err(error) => {
            salvaged.tells_all = true;
            // Nothing of it may be left.
            if !matches!(error, Error::Store(StoreError::NotAStore { .. })) {
                salvaged.problems.push(error.to_string());
            }
        }
    }
    let _ = std::fs::remove_file(&new);
    let _ = std::fs::remove_dir_all(format!("{}.lines", new.display()));
    salvaged
}

fn outcome(path: PathBuf, opening: Opening, sessions: Vec<String>) -> Result<Outcome, String> {
    let (send, receive) = mpsc::channel();
    // It is not joined: if it hangs, the others go on.
    std::thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            // First, since an open may recover the file.
            let salvaged = salvage(&path, &sessions);
            let asked = open(&path, opening).map_err(|error| error.to_string()).map(|store| {
                let answers = ask(&store, &sessions);
                let problems = store.verify().map_or(1, |verification| verification.problems.len());
                (answers, problems)
            });
            Outcome { salvaged, asked }
        }));
        let _ = send.send(outcome);
    });
    match receive.recv_timeout(PATIENCE) {
        Ok(outcome) => outcome.map_err(|payload| {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            format!("a panic: {}", text.unwrap_or("without a text"))
        }),
        Err(_) => Err("no answer in a minute".to_owned()),
    }
}

/// Runs so many times.
#[must_use]
pub fn run(seed: u64, runs: u64) -> Report {
    let sample = Sample::new(seed);
    let mut report = Report::default();
    for number in 0..runs {
        sample.run(seed, number, &mut report);
    }
    report
}
