//! What came of one damaged copy: it is salvaged, opened and asked, by a thread that may hang or panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use leafline::error::StoreError;
use leafline::{Error, Store};

use crate::answers::{Answers, Opening, ask, open};

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What came of a copy.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) salvaged: Salvaged,
    /// The answers and the number of problems that `verify` finds, or why the store cannot be opened.
    pub(crate) asked: Result<(Answers, usize), String>,
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

fn salvage(path: &Path, sessions: &[String]) -> Salvaged {
    let new = path.with_extension("new");
    let mut salvaged = Salvaged::default();
    match Store::salvage(path, &new) {
        Ok(salvage) => {
            salvaged.is_complete = salvage.is_complete();
            salvaged.told.extend(salvage.lost);
            salvaged.told.extend(salvage.damaged.into_iter().map(|session| session.id));
            salvaged.tells_of_journal = salvage.journal.is_some();
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

/// Salvages, opens and asks the copy at `path`.
///
/// # Errors
///
/// What it panicked with, or that it hangs.
pub(crate) fn of(
    path: PathBuf,
    opening: Opening,
    sessions: Arc<[String]>,
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
