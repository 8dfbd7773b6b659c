//! Judges a store after an incident: follows the advice of its errors, then looks for every acknowledged entry.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use leafline::error::{Error, StoreError};
use leafline::salvage::RepairOptions;
use leafline::{Result, Store, StoreOptions};

use super::{SHARED, STORE, journal_of, notes, own};

/// How many errors are followed one after the other.
const STEPS: usize = 8;

/// The entries that an incident may have lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loss {
    /// Entries whose loss an error reports, naming the journal.
    pub(super) told: bool,
    /// The last entries of each session, as by a loss of power before their sync.
    pub(super) end: bool,
}

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) acknowledged: u64,
    pub(super) lost: u64,
    pub(super) untold: u64,
    pub(super) is_refused: bool,
}

/// Judges the store in `folder`, whose journal may be at `taken`.
pub(super) fn judge(
    folder: &Path,
    taken: &Path,
    processes: usize,
    loss: Loss,
) -> std::result::Result<Judged, String> {
    let mut errors = Vec::new();
    let mut acknowledged: HashMap<String, Vec<Vec<String>>> = HashMap::new();
    for number in 0..processes {
        let noted = fs::read_to_string(folder.join(notes(number))).unwrap_or_default();
        let mut texts = [Vec::new(), Vec::new()];
        for line in noted.lines() {
            match line.split_once(' ') {
                Some(("own", text)) => texts[0].push(text.to_owned()),
                Some((SHARED, text)) => texts[1].push(text.to_owned()),
                Some(("error", error)) => errors.push(error.to_owned()),
                _ => return Err(format!("a note: {line}")),
            }
        }
        let [alone, shared] = texts;
        acknowledged.entry(own(number)).or_default().push(alone);
        acknowledged.entry(SHARED.to_owned()).or_default().push(shared);
    }
    let mut recovery = Recovery { path: folder.join(STORE), taken, errors };
    let store = recovery.store()?;
    let errors = recovery.errors;
    let is_told = errors.iter().any(|error| error.contains(".journal"));
    let mut judged = Judged { is_refused: !errors.is_empty(), ..Judged::default() };
    for (session, texts_of_each) in acknowledged {
        let there = texts(&store, &session).map_err(|error| error.to_string())?;
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, text) in there.iter().enumerate() {
            if places.insert(text, place).is_some() {
                return Err(format!("{session}: {text} is there twice"));
            }
        }
        for texts in texts_of_each {
            let found: Vec<Option<&usize>> =
                texts.iter().map(|text| places.get(text.as_str())).collect();
            let lost = found.iter().filter(|place| place.is_none()).count();
            let is_end = !found.iter().skip_while(|place| place.is_some()).any(Option::is_some);
            if lost > 0 && !(loss.told && is_told || loss.end && is_end) {
                let all = texts.len();
                return Err(format!("{session}: {lost} of {all} are lost; errors: {errors:?}"));
            }
            if !found.iter().flatten().is_sorted() {
                return Err(format!("{session}: the entries are in another order"));
            }
            judged.acknowledged += texts.len() as u64;
            let sum = if is_told { &mut judged.lost } else { &mut judged.untold };
            *sum += lost as u64;
        }
    }
    Ok(judged)
}

fn texts(store: &Store, session: &str) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    store.reader(session)?.get_entries(|entry| {
        let json = entry.json().unwrap_or_default();
        texts.extend(json["message"]["content"].as_str().map(str::to_owned));
        Ok(true)
    })?;
    Ok(texts)
}

/// A store that is opened, whatever it takes.
struct Recovery<'r> {
    path: PathBuf,
    taken: &'r Path,
    errors: Vec<String>,
}

impl Recovery<'_> {
    fn store(&mut self) -> std::result::Result<Store, String> {
        for _ in 0..STEPS {
            let opened = Store::open(&self.path);
            let verified = opened.and_then(|store| Ok((store.verify()?.problems, store)));
            let followed = match verified {
                Ok((problems, store)) if problems.is_empty() => return Ok(store),
                Ok((problems, _)) => {
                    self.errors.push(format!("verify: {problems:?}"));
                    self.repair()
                }
                Err(error) => {
                    self.errors.push(error.to_string());
                    self.follow(error)
                }
            };
            followed.map_err(|error| format!("{error}, after {:?}", self.errors))?;
        }
        Err(format!("the advice leads nowhere: {:?}", self.errors))
    }

    fn repair(&self) -> std::result::Result<(), String> {
        let repaired = Store::repair(&self.path, &RepairOptions::default());
        repaired.map(drop).map_err(|error| format!("repair: {error}"))
    }

    fn follow(&self, error: Error) -> std::result::Result<(), String> {
        let journal = journal_of(&self.path);
        let Error::Store(error) = error else { return self.repair() };
        let is_there = journal.symlink_metadata().is_ok();
        let done = match error {
            StoreError::JournalDenied { .. } => {
                fs::set_permissions(&journal, fs::Permissions::from_mode(0o600))
            }
            StoreError::NoJournal { .. }
            | StoreError::ForeignJournal { .. }
            | StoreError::JournalAhead { .. }
                if self.taken.exists() =>
            {
                self.move_away(&journal).and_then(|()| fs::rename(self.taken, &journal))
            }
            StoreError::ForeignJournal { .. } => self.move_away(&journal),
            StoreError::NoJournal { .. } | StoreError::JournalAhead { .. } => {
                let options = StoreOptions { without_journal: true, ..StoreOptions::default() };
                match Store::open_with(&self.path, &options) {
                    Ok(_) => Ok(()),
                    // Something that cannot be a journal is in its place.
                    Err(_) if is_there => self.move_away(&journal),
                    Err(error) => return Err(format!("without its journal: {error}")),
                }
            }
            error => return Err(error.to_string()),
        };
        done.map_err(|error| error.to_string())
    }

    /// Moves away what is in the journal's place, if anything is.
    fn move_away(&self, journal: &Path) -> std::io::Result<()> {
        match journal.symlink_metadata() {
            Ok(_) => fs::rename(journal, self.path.with_extension("intruder")),
            Err(_) => Ok(()),
        }
    }
}
