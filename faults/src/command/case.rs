//! Cases: a command, the folder that it works in, and what it does there if nothing goes wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use super::aftermath;
use super::calling::{self, Place};
use super::driving::Input;
use super::folder;
use super::judge::{self, Rule, Told};
use super::program::{Ended, Fault, Program};
use super::state::{Known, State, lines_of};
use super::stock;
use crate::answers::Opening;

/// How many calls of one name are tried of a command: a journal is made in two thousand writes, and a kill at one is like that at
/// the next.
pub const MOST_OF_A_CALL: usize = 100;

/// A command, and what it may leave.
#[derive(Debug, Clone)]
pub struct Case {
    /// For reports.
    pub name: &'static str,
    /// Of the command; `{}` is the folder.
    pub arguments: &'static str,
    /// Its standard input, or what else it is given.
    pub input: Input,
    /// Puts into the folder what it needs, beside what all need.
    pub prepare: fn(&Program, &Path),
    /// How much of what it does comes at once.
    pub rule: Rule,
    /// What its output means.
    pub told: Told,
    /// Whether it does the same again if it is run again; if not, it does nothing then.
    pub repeats: bool,
    /// Whether it fails if it has been done before.
    pub is_refused_again: bool,
    /// Whether the store is damaged before.
    pub is_damaged: bool,
    /// Whether it only reads, so that its output is the same each time.
    pub reads: bool,
    /// A command whose output must be the same in the end.
    pub shows: &'static str,
    /// The file of the session `kept` if both have gone on, so that the command merges them; or nothing.
    pub merges: &'static str,
}

/// What most cases are.
pub const USUAL: Case = Case {
    name: "",
    arguments: "",
    input: Input::Whole(""),
    prepare: |_, _| {},
    rule: Rule::Whole,
    told: Told::All,
    repeats: false,
    is_refused_again: false,
    is_damaged: false,
    reads: false,
    shows: "",
    merges: "",
};

/// A case whose folder is made, and which was run without a fault.
#[derive(Debug)]
pub struct Prepared {
    /// The case.
    pub case: Case,
    kept: PathBuf,
    /// The command's arguments.
    pub arguments: Vec<String>,
    /// What was there before, and after.
    pub before: State,
    /// What was there after.
    pub after: State,
    /// Lines that are kept as they are.
    pub known: Known,
    /// The names of all files in the end.
    pub names: BTreeSet<String>,
    /// The run without a fault.
    pub whole: Ended,
    /// What `shows` printed.
    pub shown: String,
    /// Calls at which it can go wrong.
    pub places: Vec<Place>,
    /// Calls that ask for memory or a thread.
    pub memory: Vec<Place>,
}

impl Prepared {
    /// The numbers of its places, in any order; of a call that is made more often than so, so many.
    #[must_use]
    pub fn some_of_each(&self, most: usize, random: &mut Rng) -> Vec<usize> {
        some_of_each(&self.places, most, random)
    }
}

/// The numbers of places, in any order; of a call that is made more often than so, so many.
#[must_use]
pub fn some_of_each(places: &[Place], most: usize, random: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    random.shuffle(&mut order);
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    order.retain(|&place| {
        let count = taken.entry(&places[place].call).or_default();
        *count += 1;
        *count <= most
    });
    order
}

/// Where cases are run.
#[derive(Debug)]
pub struct Stage {
    _root: tempfile::TempDir,
    /// The folder in which each command works: always the same, since stores remember paths.
    pub work: PathBuf,
    stock: PathBuf,
    /// The program.
    pub program: Program,
}

impl Stage {
    /// A new one, in memory if the system has such a place.
    ///
    /// # Errors
    ///
    /// If there is no program.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written.
    pub fn new(program: Option<&Path>) -> Result<Self, String> {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let root = root.expect("a temporary folder can be made");
        let path = |name: &str| root.path().join(name);
        let program = Program::find(program, &path("prints"))?;
        let (work, stock) = (path("work"), path("stock"));
        std::fs::create_dir(&work).expect("a folder can be made");
        stock::fill(&work);
        folder::copy(&work, &stock).expect("a folder can be copied");
        Ok(Self { work, stock, program, _root: root })
    }

    /// Makes a case ready: runs it without a fault, and notes which calls it makes.
    ///
    /// # Errors
    ///
    /// If it fails, or does not do what it should.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written.
    pub fn prepare(&self, case: &Case, calls: &'static str) -> Result<Prepared, String> {
        let of = |problem: String| format!("{} without a fault: {problem}", case.name);
        self.prepared(case, calls).map_err(of)
    }

    fn prepared(&self, case: &Case, calls: &'static str) -> Result<Prepared, String> {
        let kept = self.stock.with_file_name(case.name);
        folder::reset(&self.work, &self.stock).expect("the folder can be copied");
        (case.prepare)(&self.program, &self.work);
        folder::copy(&self.work, &kept).expect("the folder can be copied");
        let arguments = arguments(case.arguments, &self.work);
        let state =
            |known: &Known, opening, verifies| State::of(&self.work, known, opening, verifies);
        let mut known = Known::new();
        let raw = state(&known, Opening::ToRead, !case.is_damaged)?;
        known.extend(lines_of(&raw.files));
        let before = state(&known, Opening::ToRead, false)?;
        let whole = self.program.run(&self.work, &arguments, case.input, &Fault::No);
        if !whole.is_done() && !case.is_damaged {
            return Err(whole.described());
        }
        let after = state(&known, Opening::ToRead, true)?;
        if !case.merges.is_empty() {
            judge::merged(&before, &after, case.merges)?;
        }
        let mut prepared = Prepared {
            case: case.clone(),
            kept,
            arguments,
            before,
            after,
            known,
            names: BTreeSet::new(),
            whole,
            shown: String::new(),
            places: Vec::new(),
            memory: Vec::new(),
        };
        // The second run as it comes after each fault.
        let end = aftermath::run_again(self, &prepared, &prepared.after)?;
        prepared.names = end.names;
        prepared.shown = end.shown;
        self.reset(&prepared).expect("the folder can be copied");
        let watched =
            self.program.run(&self.work, &prepared.arguments, case.input, &Fault::Watched(calls));
        prepared.places = calling::places(&watched.calls, &self.work).into_iter().collect();
        let memory = calling::places_of_memory(&watched.calls, &self.work);
        prepared.memory = memory.into_iter().collect();
        Ok(prepared)
    }

    /// Puts the folder as it was before the command.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn reset(&self, prepared: &Prepared) -> io::Result<()> {
        folder::reset(&self.work, &prepared.kept)
    }
}

/// The words of a command, in which `\\_` is a space and `{}` the folder.
#[must_use]
pub fn arguments(words: &str, folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy();
    let word = |word: &str| word.replace("{}", &folder).replace("\\_", " ");
    words.split_whitespace().map(word).collect()
}
