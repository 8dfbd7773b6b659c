//! What came of one damaged copy: it is salvaged, opened and asked, and perhaps repaired, by a thread that may hang or panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use leafline::error::StoreError;
use leafline::salvage::{RepairOptions, Salvage};
use leafline::{Error, Store};

use crate::answers::{Answers, Opening, ask, open};

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// What came of a copy.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) salvaged: Salvaged,
    /// The answers and the number of problems that `verify` finds, or why the store cannot be opened.
    pub(crate) asked: Result<(Answers, usize), String>,
    /// What a repair of it then made, if it was to be repaired and needed that.
    pub(crate) repaired: Option<Salvaged>,
}

/// What a salvaged store says.
#[derive(Debug, Default)]
pub(crate) struct Salvaged {
    pub(crate) answers: Answers,
    /// Whether it is said that nothing is missing.
    pub(crate) is_complete: bool,
    /// Sessions of which it is said that they were damaged.
    pub(crate) told: Vec<String>,
    /// Whether it is said that anything may be missing.
    pub(crate) tells_all: bool,
    /// Whether it is said that something of the journal is missing.
    pub(crate) tells_of_journal: bool,
    pub(crate) problems: Vec<String>,
}

impl Salvaged {
    /// What is said of a store, and what the new one says itself.
    fn of(salvage: Salvage, new: &Path, opening: Opening, sessions: &[String]) -> Self {
        let mut salvaged = Self {
            is_complete: salvage.is_complete(),
            tells_of_journal: salvage.journal.is_some(),
            tells_all: salvage.may_be_earlier
                || salvage.may_lack_sessions
                || salvage.journal.is_some(),
            problems: salvage.problems.iter().map(|problem| format!("{problem:?}")).collect(),
            ..Self::default()
        };
        salvaged.told.extend(salvage.lost);
        salvaged.told.extend(salvage.damaged.into_iter().map(|session| session.id));
        match open(new, opening) {
            Ok(store) => salvaged.answers = ask(&store, sessions),
            Err(error) => salvaged.problems.push(error.to_string()),
        }
        salvaged
    }

    /// Nothing was saved. Nothing of a store may be left then.
    fn none(error: &Error) -> Self {
        let is_no_store = matches!(error, Error::Store(StoreError::NotAStore { .. }));
        let problems = (!is_no_store).then(|| error.to_string()).into_iter().collect();
        Self { tells_all: true, problems, ..Self::default() }
    }
}

fn salvage(path: &Path, sessions: &[String]) -> Salvaged {
    let new = path.with_extension("new");
    match Store::salvage(path, &new) {
        Ok(salvage) => Salvaged::of(salvage, &new, Opening::ToRead, sessions),
        Err(error) => Salvaged::none(&error),
    }
}

/// Repairs it in its place. `None` if it says that nothing is wrong, or that another store's journal is in its way.
fn repair(path: &Path, sessions: &[String]) -> Option<Salvaged> {
    match Store::repair(path, &RepairOptions::default()) {
        Ok(None) | Err(Error::Store(StoreError::NoJournal { .. })) => None,
        Ok(Some(repair)) => {
            let mut repaired = Salvaged::of(repair.salvage, path, Opening::ToWrite, sessions);
            if !repair.kept.is_file() {
                repaired.problems.push("the damaged store is gone".to_owned());
            }
            // Whoever opened it first has put the journal into its tables.
            let verified = open(path, Opening::ToRead).and_then(|store| store.verify());
            match verified {
                Ok(verified) => {
                    let found = verified.problems.iter().map(|problem| format!("{problem:?}"));
                    repaired.problems.extend(found);
                }
                Err(error) => repaired.problems.push(error.to_string()),
            }
            Some(repaired)
        }
        Err(error) => Some(Salvaged::none(&error)),
    }
}

/// Salvages, opens and asks the copy at `path`; then it is repaired, if that is wanted.
///
/// # Errors
///
/// What it panicked with, or that it hangs.
pub(crate) fn of(
    path: PathBuf,
    opening: Opening,
    sessions: Arc<[String]>,
    is_repaired: bool,
) -> Result<Outcome, String> {
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
            let repaired = is_repaired.then(|| repair(&path, &sessions)).flatten();
            Outcome { salvaged, asked, repaired }
        }));
        let _ = send.send(outcome);
    });
    match receive.recv_timeout(PATIENCE) {
        Ok(outcome) => outcome.map_err(|payload| {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            format!("a panic: {}", text.unwrap_or("without a text"))
        }),
        Err(_) => Err("no answer in ten minutes".to_owned()),
    }
}
