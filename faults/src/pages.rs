//! Damaged files: flipped bits, pages that are zeroed, stale, swapped or cut off, and damage to the journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;

use crate::answers::{Answer, Answers, Opening, ask, open};
use crate::damage::{self, Damage, Image, KINDS};
use crate::expected::{Expected, JournalDamage};
use crate::outcome::{self, Outcome, Salvaged};
use crate::sample::{self, Files, Size};

/// Of so many runs one damages the sample of the usual size.
const USUAL: u64 = 8;

/// Of so many runs one repairs the copy.
const REPAIRED: u64 = 4;

/// What came of the runs of one kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    /// How many there were.
    pub runs: u64,
    /// In how many no answer changed.
    pub unchanged: u64,
    /// In how many the last appends are missing, of which nothing is left that could say so.
    pub earlier: u64,
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
    /// Stores that were repaired.
    pub repaired: u64,
}

impl Count {
    fn add(&mut self, other: &Self) {
        let Self { runs, unchanged, earlier, refused, found, .. } = other;
        let Self { errors, answers, sessions, saved, repaired, .. } = other;
        self.runs += runs;
        self.unchanged += unchanged;
        self.earlier += earlier;
        self.refused += refused;
        self.found += found;
        self.errors += errors;
        self.answers += answers;
        self.sessions += sessions;
        self.saved += saved;
        self.repaired += repaired;
    }
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

impl Report {
    fn add(&mut self, other: Self) {
        for (damage, count) in &other.counts {
            self.counts.entry(*damage).or_default().add(count);
        }
        self.failures.extend(other.failures);
        self.refusals.extend(other.refusals);
    }
}

/// How a process has left the store that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Closed, without a journal.
    Closed,
    /// Killed, with a journal that has what the tables lack.
    Killed,
    /// Closed, with a journal whose content counts no more.
    Ended,
}

/// A sample and what it says when it is whole.
#[derive(Debug)]
struct Sample {
    folder: PathBuf,
    files: Files,
    closed: Truth,
    /// Behind each append to the journal, from before the first one on.
    killed: Vec<Truth>,
}

/// The ids of a whole store's sessions, and what it says.
#[derive(Debug)]
struct Truth {
    sessions: Arc<[String]>,
    answers: Answers,
    /// The same by session.
    of: BTreeMap<String, Answers>,
}

impl Sample {
    /// Makes one from a seed.
    ///
    /// # Panics
    ///
    /// If it cannot be made, or does not verify.
    fn new(folder: &Path, seed: u64, size: Size) -> Self {
        let folder = folder.join(format!("{size:?}"));
        std::fs::create_dir(&folder).expect("a folder can be made");
        let files = sample::make(&folder, seed, size).expect("the sample can be made");
        let [closed, killed] = ["closed", "killed"].map(|name| folder.join(name));
        write(&closed, &files.closed);
        let closed = Truth::of(&closed);
        let killed: Vec<Truth> = files
            .journals
            .iter()
            .map(|journal| {
                write(&killed, &files.killed);
                write_image(&journal_of(&killed), journal);
                Truth::of(&killed)
            })
            .collect();
        let sample = Self { folder, files, closed, killed };
        let all = sample.all();
        assert!(all.sessions.len() > sample.closed.sessions.len(), "the journal has sessions");
        let ended = sample.folder.join("ended");
        write(&ended, &sample.files.ended.0);
        assert!(Truth::of(&ended).answers == all.answers, "closed, the store has all of it");
        sample
    }

    /// What the killed store says with all of its journal.
    fn all(&self) -> &Truth {
        self.killed.last().expect("there is one more than appends")
    }

    /// Damages a copy as the number of the run says, and asks it all questions.
    ///
    /// # Panics
    ///
    /// If the temporary folder cannot be written.
    fn run(&self, name: &str, random: &mut Rng, report: &mut Report) {
        let damage = random.choice(KINDS).unwrap_or(Damage::Bit);
        let opening = random.choice([Opening::ToRead, Opening::ToWrite]).unwrap_or(Opening::ToRead);
        let left = match damage.is_of_journal() {
            // Mostly one that counts.
            true => [Left::Killed, Left::Killed, Left::Killed, Left::Ended][random.usize(0..4)],
            false => [Left::Killed, Left::Closed][random.usize(0..2)],
        };
        let path = self.folder.join(format!("damaged-{}", random.u64(..)));
        let (bytes, journal, truth) = match left {
            Left::Closed => (&self.files.closed, None, &self.closed),
            Left::Killed => (&self.files.killed, self.files.journals.last(), self.all()),
            Left::Ended => (&self.files.ended.0, Some(&self.files.ended.1), self.all()),
        };
        let mut journal = journal.cloned();
        let mut of_journal = None;
        if let Some(journal) = journal.as_mut().filter(|_| damage.is_of_journal()) {
            write(&path, bytes);
            let files = &self.files;
            let others = (&files.earlier_journals[..], &files.foreign, &files.copy);
            damage::journal(journal, others, damage, random);
            of_journal = Some(JournalDamage::of(&self.files, journal));
        } else {
            let mut bytes = bytes.clone();
            damage::store(&mut bytes, &self.files.earlier, damage, random);
            write(&path, &bytes);
        }
        if let Some(journal) = &journal {
            write_image(&journal_of(&path), journal);
        }
        let name = format!("{name}: {damage:?}, {left:?}, {opening:?}");
        // Chosen last, so that the damage of a seed stays what it was.
        let is_repaired = random.u64(0..REPAIRED) == 0;
        let sessions = Arc::clone(&truth.sessions);
        let outcome = outcome::of(path.clone(), opening, sessions, is_repaired);
        remove_all(&path);
        let mut judge =
            Judge { name, damage, truth, count: Count { runs: 1, ..Count::default() }, report };
        match (outcome, of_journal) {
            (Err(problem), _) => judge.fails(&problem),
            (Ok(outcome), None) => judge.damaged_pages(outcome),
            (Ok(outcome), Some(of)) => judge.damaged_journal(self, left, outcome, &of),
        }
        let Judge { count, report, .. } = judge;
        report.counts.entry(damage).or_default().add(&count);
    }
}

/// Compares what came of a run with what may.
struct Judge<'r> {
    name: String,
    damage: Damage,
    /// What the store said when it was whole.
    truth: &'r Truth,
    count: Count,
    report: &'r mut Report,
}

impl Judge<'_> {
    fn fails(&mut self, problem: &str) {
        self.report.failures.push(format!("{}: {problem}", self.name));
    }

    /// The answers of the open store, if it could be opened, and the problems that `verify` finds.
    fn asked(&mut self, asked: Result<(Answers, usize), String>) -> Option<(Answers, usize)> {
        match asked {
            Ok((answers, problems)) => {
                self.count.answers += answers.len() as u64;
                self.count.errors +=
                    answers.values().filter(|answer| answer.is_err()).count() as u64;
                self.count.found += u64::from(problems > 0);
                Some((answers, problems))
            }
            Err(reason) => {
                self.count.refused += 1;
                self.report.refusals.push(format!("{}: {reason}", self.name));
                None
            }
        }
    }

    /// Counts sessions that were saved; those that were not and must be are failures, as `must` says of their ids.
    fn salvaged(&mut self, salvaged: &Salvaged, must: impl Fn(&str) -> bool) {
        let saved = self.saved("salvage", salvaged, must);
        self.count.sessions += self.truth.of.len() as u64;
        self.count.saved += saved;
    }

    /// The same of what a repair has made.
    fn repaired(&mut self, repaired: Option<&Salvaged>, must: impl Fn(&str) -> bool) {
        if let Some(repaired) = repaired {
            self.saved("repair", repaired, must);
            self.count.repaired += 1;
        }
    }

    /// How many sessions a new store has as they were.
    fn saved(&mut self, word: &str, salvaged: &Salvaged, must: impl Fn(&str) -> bool) -> u64 {
        let mut saved = 0;
        for problem in &salvaged.problems {
            self.fails(&format!("after `{word}`: {problem}"));
        }
        let is_other = |(question, answer): &(&String, &Answer)| {
            salvaged.is_complete && salvaged.answers.get(*question) != Some(*answer)
        };
        if let Some((question, _)) = self.truth.answers.iter().find(is_other) {
            self.fails(&format!("`{word}` changed {question} and said that nothing is missing"));
        }
        for (id, answers) in &self.truth.of {
            let other = answers
                .iter()
                .find(|(question, answer)| salvaged.answers.get(*question) != Some(*answer));
            let Some((question, _)) = other else {
                saved += 1;
                continue;
            };
            if !salvaged.tells_all && !salvaged.told.contains(id) {
                self.fails(&format!("`{word}` changed {question} and did not say so"));
            } else if must(id) {
                self.fails(&format!("`{word}` lost {id}, which is whole"));
            }
        }
        saved
    }

    fn damaged_pages(&mut self, outcome: Outcome) {
        let asked = self.asked(outcome.asked);
        let is_opened = asked.is_some();
        let (answers, problems) = asked.unwrap_or_default();
        let (truth, damage) = (self.truth, self.damage);
        // Its pages are whole, and it could be read.
        let can_be_read = |id: &str| {
            let right = |(question, answer)| answers.get(question) == Some(answer);
            damage != Damage::Header && truth.of.get(id).is_some_and(|of| of.iter().all(right))
        };
        self.salvaged(&outcome.salvaged, can_be_read);
        self.repaired(outcome.repaired.as_ref(), can_be_read);
        let mut is_changed = false;
        for (question, answer) in &answers {
            is_changed |= answer.is_err();
            if answer.is_ok() && truth.answers.get(question) != Some(answer) {
                self.fails(&format!("a wrong answer to {question}"));
                is_changed = true;
            }
        }
        self.count.unchanged += u64::from(is_opened && !is_changed);
        if is_changed && problems == 0 {
            self.fails("`verify` finds nothing");
        }
    }

    fn damaged_journal(
        &mut self,
        sample: &Sample,
        left: Left,
        outcome: Outcome,
        of: &JournalDamage,
    ) {
        let Outcome { salvaged, asked, repaired } = outcome;
        let asked = self.asked(asked);
        let expected = match left {
            Left::Killed => of.expected,
            _ => Expected::Answers { appends: sample.killed.len() - 1 },
        };
        match expected {
            Expected::Errors => {
                self.salvaged(&salvaged, |id| of.spares(&sample.files, id));
                self.repaired(repaired.as_ref(), |id| of.spares(&sample.files, id));
                let is_lost = of.is_whole.iter().any(|is_whole| !is_whole);
                if is_lost && !salvaged.tells_of_journal {
                    self.fails("`salvage` does not say that appends are missing");
                }
                let Some((answers, problems)) = asked else { return };
                if let Some((question, _)) = answers.iter().find(|(_, answer)| answer.is_ok()) {
                    self.fails(&format!("appends are missing, and {question} is answered"));
                }
                if problems == 0 {
                    self.fails("`verify` finds nothing");
                }
            }
            Expected::Answers { appends } => {
                let Some(truth) = sample.killed.get(appends) else { return };
                let is_all = appends + 1 == sample.killed.len();
                for (id, answers) in &self.truth.of {
                    let is_same = |(question, answer): (&String, &Answer)| {
                        salvaged.answers.get(question) == Some(answer)
                    };
                    self.count.sessions += 1;
                    self.count.saved += u64::from(answers.iter().all(is_same));
                    if !truth.of.get(id).is_some_and(|of| of.iter().all(is_same)) {
                        self.fails(&format!("`salvage` lost {id}, which is whole"));
                    }
                }
                for problem in &salvaged.problems {
                    self.fails(&format!("after `salvage`: {problem}"));
                }
                let Some((answers, problems)) = asked else {
                    // A file that cannot be told from another's is to be moved away.
                    if left == Left::Killed || !of.is_other_file {
                        self.fails("the store is not opened");
                    }
                    return;
                };
                let is_wrong = |(question, answer): &(&String, &Answer)| {
                    truth.answers.get(*question) != Some(*answer)
                };
                if let Some((question, _)) = answers.iter().find(is_wrong) {
                    self.fails(&format!("a wrong answer to {question}"));
                }
                if problems > 0 {
                    self.fails("`verify` finds something");
                }
                if repaired.is_some() {
                    self.fails("`repair` finds something");
                }
                self.count.unchanged += u64::from(is_all);
                self.count.earlier += u64::from(!is_all);
            }
        }
    }
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("a copy can be written");
}

/// Writes a file that ends with zeros.
fn write_image(path: &Path, image: &Image) {
    write(path, &image.bytes[..image.bytes.len().min(image.length)]);
    let file = std::fs::File::options().write(true).open(path);
    file.and_then(|file| file.set_len(image.length as u64)).expect("a copy can be written");
}

/// Removes a copy, with what was made beside it.
fn remove_all(path: &Path) {
    let name = path.file_name().expect("a copy has a name").as_encoded_bytes();
    let folder = path.parent().expect("it is in a folder");
    for entry in std::fs::read_dir(folder).expect("its folder is there").flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(name) {
            let path = entry.path();
            // A folder has lines that could not be taken over.
            let removed = match path.is_dir() {
                true => std::fs::remove_dir_all(&path),
                false => std::fs::remove_file(&path),
            };
            removed.expect("it can be removed");
        }
    }
}

fn journal_of(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(".journal");
    path.into()
}

impl Truth {
    /// What a whole store says.
    fn of(path: &Path) -> Self {
        let store = open(path, Opening::ToRead).expect("the sample can be opened");
        let problems = store.verify().expect("it can be verified").problems;
        assert!(problems.is_empty(), "{problems:#?}");
        let sessions = store.sessions().expect("it can be listed");
        let sessions: Arc<[String]> =
            sessions.into_iter().map(|session| session.id.to_string()).collect();
        let answers = ask(&store, &sessions);
        let errors: Vec<_> = answers.iter().filter(|(_, answer)| answer.is_err()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let of = sessions.iter().map(|id| (id.clone(), questions_of(id, &answers))).collect();
        Self { sessions, answers, of }
    }
}

/// The questions about a session, and the answers.
fn questions_of(id: &str, answers: &Answers) -> Answers {
    let ending = format!(" of {id}");
    let of_it = answers.iter().filter(|(question, _)| question.ends_with(&ending));
    of_it.map(|(question, answer)| (question.clone(), answer.clone())).collect()
}

/// Which runs there are.
#[derive(Debug, Clone, Copy)]
pub struct Runs {
    /// The same seed gives the same ones.
    pub seed: u64,
    /// The number of the first.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// How many are made at once.
    pub threads: usize,
}

/// Makes the runs. `each` is told of each that is done, and of its failures.
///
/// # Panics
///
/// If the samples cannot be made.
#[must_use]
pub fn run(runs: Runs, each: &(dyn Fn(&Report) + Sync)) -> Report {
    let folder = temporary();
    let [usual, small] =
        [Size::Usual, Size::Small].map(|size| Sample::new(folder.path(), runs.seed, size));
    let next = AtomicU64::new(runs.first);
    let report = Mutex::new(Report::default());
    let end = runs.first.saturating_add(runs.count);
    std::thread::scope(|scope| {
        for _ in 0..runs.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= end {
                        return;
                    }
                    let seed = runs.seed;
                    let mut random = Rng::with_seed(seed.wrapping_mul(1 << 32).wrapping_add(run));
                    let sample = if random.u64(0..USUAL) == 0 { &usual } else { &small };
                    let mut of_run = Report::default();
                    sample.run(&format!("run {run} of seed {seed}"), &mut random, &mut of_run);
                    each(&of_run);
                    report.lock().expect("no run panics").add(of_run);
                }
            });
        }
    });
    let mut report = report.into_inner().expect("no run panics");
    report.failures.sort();
    report.refusals.sort();
    report
}

/// A folder in memory, if the system has one: the copies are not worth a disk's time.
fn temporary() -> tempfile::TempDir {
    let shared = Path::new("/dev/shm");
    let made = match shared.is_dir() {
        true => tempfile::tempdir_in(shared).or_else(|_| tempfile::tempdir()),
        false => tempfile::tempdir(),
    };
    made.expect("a temporary folder can be made")
}
