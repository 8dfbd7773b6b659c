//! Saves what is whole in a damaged store's file.

mod lines;
mod nameless;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use leafline_import::{Family, TITLE_BESIDE};
use serde::Serialize;

use self::lines::{Lines, write_lines};
use self::nameless::keep_nameless;
use super::import::{FileReport, ImportObserver, ImportOptions, ImportStatus, Recovery};
use super::path_text;
use crate::destination::{refuse_store, with_ending};
use crate::error::{Error, FileContext, ImportError, Result, StoreError};
use crate::history;
use crate::lasting::make_folders;
use crate::private::new_file;
use crate::session::view::View;
use crate::session::{Finding, Findings, Verification, check_session};
use crate::store::journal::{JOURNAL_ENDING, Rescued, rescue, rescue_newest};
use crate::store::prompts::ReadPrompts;
use crate::store::salvage::{Salvaged, make};
use crate::store::session_key::SessionKey;
use crate::store::session_record::{SessionRecord, address_bytes, parse_address};
use crate::store::source_record::path_of_bytes;
use crate::store::{Store, StoreOptions, blobs};

/// What was saved of a damaged store, and what was not.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Salvage {
    /// Sessions that are in the new store as they were.
    pub whole: u64,
    /// Sessions that lack something, or of which something had to be made again.
    pub damaged: Vec<SalvagedSession>,
    /// Ids of sessions of which nothing was found.
    pub lost: Vec<String>,
    /// Files that sessions were imported from of which nothing was found.
    #[serde(serialize_with = "paths")]
    pub lost_sources: Vec<PathBuf>,
    /// Blobs that lines refer to and whose bytes are not whole: SHA-256 in hex.
    pub blobs: Vec<String>,
    /// Files of session storages that are no sessions, and files beside sessions, whose bytes are not whole.
    #[serde(serialize_with = "paths")]
    pub files: Vec<PathBuf>,
    /// Files beside the new store with bytes of such files whose paths are lost. Some of them may be missing.
    #[serde(serialize_with = "paths")]
    pub nameless_files: Vec<PathBuf>,
    /// Whether there may have been files whose paths are lost: pages that name files are damaged.
    pub may_lack_files: bool,
    /// Prompts of the history that were saved.
    pub prompts: u64,
    /// Whether prompts of the history are missing, or their index was made again.
    pub history_is_damaged: bool,
    /// Damaged pages that others lead to.
    pub pages: u64,
    /// Whether the place of the last commit in the header may be damaged: what it changed may be missing, since the commit
    /// before was taken.
    pub may_be_earlier: bool,
    /// Whether there may have been sessions whose ids are lost, too: pages that name sessions are damaged.
    pub may_lack_sessions: bool,
    /// What of the store's journal was not taken over, and why, if it has something that the file lacks.
    pub journal: Option<String>,
    /// What is still wrong in the new store: nothing, if all went well.
    pub problems: Vec<Finding>,
}

impl Salvage {
    /// Whether it is known that nothing is missing, and that all is as it was last.
    pub fn is_complete(&self) -> bool {
        self.damaged.iter().all(SalvagedSession::is_complete)
            && self.lost.is_empty()
            && self.blobs.is_empty()
            && self.files.is_empty()
            && self.nameless_files.is_empty()
            && !self.may_lack_files
            && !self.history_is_damaged
            && !self.may_be_earlier
            && !self.may_lack_sessions
            && self.journal.is_none()
            && self.problems.is_empty()
    }
}

impl Salvage {
    /// Imports the sessions of which something is missing, or all, from their files again, as far as these are still there, into
    /// the new store at `new`. Those that are whole then are no longer among the damaged and the lost ones; those of which
    /// something is lost that no file says stay among the damaged ones.
    ///
    /// # Errors
    ///
    /// Those of [`Store::import`].
    pub fn import_sources(&mut self, new: impl AsRef<Path>) -> Result<()> {
        struct Whole(Vec<PathBuf>);
        impl ImportObserver for Whole {
            fn file(&mut self, report: &FileReport) {
                if !matches!(report.status, ImportStatus::Failed | ImportStatus::Skipped) {
                    self.0.push(report.path.clone());
                }
            }
        }
        let lacking = self.damaged.iter().filter(|session| !session.is_complete());
        let paths: Vec<PathBuf> = lacking
            .flat_map(|session| &session.sources)
            .chain(&self.lost_sources)
            .filter(|path| path.exists())
            .cloned()
            .collect();
        if paths.is_empty() {
            return Ok(());
        }
        let store = open(new.as_ref())?;
        let mut whole = Whole(Vec::new());
        match store.import(&paths, &ImportOptions::default(), &mut whole) {
            // A session whose file cannot be read stays damaged.
            Ok(_) | Err(Error::Import(ImportError::Unreadable { .. })) => {}
            Err(error) => return Err(error),
        }
        self.damaged.retain_mut(|session| {
            if !session.sources.iter().any(|path| whole.0.contains(path)) {
                return true;
            }
            // What its file does not say stays unknown: its leaf, and what its record alone said.
            session.missing.clear();
            session.without_blobs.clear();
            session.is_doubtful || session.is_loose
        });
        self.lost_sources.retain(|path| !whole.0.contains(path));
        let snapshot = store.snapshot()?;
        let mut lost = Vec::new();
        for id in std::mem::take(&mut self.lost) {
            if snapshot.key_of(id.as_bytes())?.is_none() {
                lost.push(id);
            }
        }
        self.lost = lost;
        Ok(())
    }
}

/// A session of which something was damaged.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct SalvagedSession {
    /// Its id in the new store; of one that is not there, the id that it had.
    pub id: String,
    /// Lines that were saved.
    pub lines: u64,
    /// Lines that are missing, first and last of each gap, counted from 1. The last one may be open, if it is not known how
    /// many lines there were.
    pub missing: Vec<(u64, Option<u64>)>,
    /// Lines, counted from 1, that name a blob where they had its bytes, which are lost.
    pub without_blobs: Vec<u64>,
    /// Whether all lines are there, and only what follows from them was made again.
    pub is_rebuilt: bool,
    /// Whether lines, or its facts, come from pages that nothing leads to: they were the session's at some time.
    pub is_loose: bool,
    /// Whether something is lost that its lines do not say: what only its record says, its leaf, or the form in which it was
    /// imported. It is now what follows from its lines.
    pub is_doubtful: bool,
    /// Whether its lines could not be made a session again: they are in `file`.
    pub is_lines: bool,
    /// The file beside the new store with its lines.
    #[serde(serialize_with = "optional_path", skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Files that the session was imported from.
    #[serde(serialize_with = "paths")]
    pub sources: Vec<PathBuf>,
}

impl SalvagedSession {
    /// Whether it is known that nothing is missing, and that all is as it was last.
    fn is_complete(&self) -> bool {
        self.missing.is_empty()
            && self.without_blobs.is_empty()
            && !self.is_loose
            && !self.is_doubtful
            && !self.is_lines
    }
}

fn optional_path<S: serde::Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => path_text(path, serializer),
        None => serializer.serialize_none(),
    }
}

fn paths<S: serde::Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

impl Store {
    /// Reads a store's file page by page, without trusting any index, and makes a new store of what is whole in it.
    ///
    /// Rows to which checksums lead are taken as they are; lines, blobs, prompts and sessions' records on other pages only where
    /// their content proves itself. A session whose rows do not all fit its lines is made again from the lines that are there.
    /// What is whole in the journal beside the file goes into the new store, too. The files are only read, and others must not write to it
    /// meanwhile.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("damaged.leafline");
    /// # drop(leafline::Store::open(&file)?);
    /// let salvage = leafline::Store::salvage(&file, folder.path().join("new.leafline"))?;
    /// assert!(salvage.is_complete());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoreError::NotAStore`] if nothing of a store is in the file, [`StoreError::UnknownFormat`] if another version made it.
    /// [`ExportError::WouldReplaceStore`](crate::error::ExportError::WouldReplaceStore) if `new` is a store or what belongs to
    /// one. [`Error::File`] if there is a file at `new` already, and
    /// if the system fails. Damage is no error.
    pub fn salvage(damaged: impl AsRef<Path>, new: impl AsRef<Path>) -> Result<Salvage> {
        let (damaged, new) = (damaged.as_ref(), new.as_ref());
        refuse_store(new, damaged)?;
        if new.symlink_metadata().is_ok() {
            let source = std::io::ErrorKind::AlreadyExists.into();
            return Err(Error::File { action: "making", path: new.to_owned(), source });
        }
        let mut salvage = Salvage::default();
        make(new, damaged, |made| {
            salvage = fill(damaged, made, new)?;
            Ok(())
        })?;
        Ok(salvage)
    }
}

fn fill(damaged: &Path, made: &Path, new: &Path) -> Result<Salvage> {
    let store = open(made)?;
    let salvaged = store.take_rows_of(damaged)?;
    if let Some(format) = salvaged.other_format {
        let path = damaged.to_owned();
        return Err(Error::Store(StoreError::UnknownFormat { path, format, reader: None }));
    }
    let mut salvage = Salvage {
        pages: salvaged.damaged.len() as u64,
        lost: salvaged.lost.values().cloned().collect(),
        may_be_earlier: salvaged.may_be_earlier,
        may_lack_sessions: may_lack_sessions(&salvaged),
        may_lack_files: !is_whole(&salvaged, "files"),
        ..Salvage::default()
    };
    salvage.journal = take_journal(&store, damaged, &salvaged)?;
    let bad = bad_sessions(&store, &salvaged, &mut salvage)?;
    if salvage.whole == 0 && bad.is_empty() && !salvaged.damaged.is_empty() {
        let snapshot = store.snapshot()?;
        if !salvaged.has_number && snapshot.prompts()?.count()? == 0 {
            let problem = "nothing of a store was found in it".to_owned();
            let path = damaged.to_owned();
            return Err(Error::Store(StoreError::NotAStore { path, problem }));
        }
    }
    let sources = sources_of_missing(&store, &salvaged)?;
    let is_bad = |session: &SessionKey| bad.contains_key(session);
    let lost = sources.iter().filter(|(session, _)| !is_bad(session)).flat_map(|(_, paths)| paths);
    salvage.lost_sources = lost.cloned().collect();
    salvage.nameless_files = keep_nameless(&store, new)?;
    let lost = store.settle_files()?;
    salvage.files = lost.iter().filter_map(|path| path_of_bytes(path)).collect();
    rebuild(&store, &bad, &sources, &salvaged, new, &mut salvage)?;
    store.settle_files()?;
    store.forget_lost_sources()?;
    salvage.history_is_damaged = salvaged.has_loose_prompts || has_damaged_history(&store)?;
    if salvage.history_is_damaged {
        history::rebuild(&store)?;
    }
    salvage.prompts = store.snapshot()?.prompts()?.count()?;
    salvage.blobs = salvaged.broken_blobs.iter().map(blobs::hex).collect();
    salvage.problems = store.verify()?.problems;
    Ok(salvage)
}

/// Files that sessions were imported from.
type Sources = BTreeMap<SessionKey, Vec<PathBuf>>;

/// The files that sessions without a record were imported from.
fn sources_of_missing(store: &Store, salvaged: &Salvaged) -> Result<Sources> {
    let snapshot = store.snapshot()?;
    let mut sources = Sources::new();
    // Otherwise a session without a record may be one that was removed.
    let is_known = is_whole(salvaged, "removed");
    snapshot.each_source(|path, source| {
        let Ok(source) = source else { return Ok(()) };
        let session = source.session;
        let was_there = is_known
            || salvaged.lost.contains_key(&session)
            || salvaged.unnamed.contains_key(&session);
        if was_there
            && snapshot.session(session)?.is_none()
            && snapshot.removed(session)?.is_none()
            && let Some(path) = path_of_bytes(path)
        {
            sources.entry(session).or_default().push(path);
        }
        Ok(())
    })?;
    Ok(sources)
}

/// Whether no page of a table is damaged.
fn is_whole(salvaged: &Salvaged, table: &str) -> bool {
    let is_of_it = |of: &Option<String>| of.as_ref().is_none_or(|of| of == table);
    !salvaged.damaged.iter().any(|page| is_of_it(&page.table))
}

fn has_damaged_history(store: &Store) -> Result<bool> {
    let mut verification = Verification::default();
    let mut findings = Findings::new(None, &mut verification);
    let checked = history::check(&store.snapshot()?, &mut findings);
    findings.absorb(checked)?;
    Ok(!verification.problems.is_empty())
}

/// Whether neither the records of sessions nor their ids are all there.
fn may_lack_sessions(salvaged: &Salvaged) -> bool {
    !is_whole(salvaged, "sessions") && !is_whole(salvaged, "session_ids")
}

fn open(path: &Path) -> Result<Store> {
    Store::open_with(path, &StoreOptions { create: false, ..StoreOptions::default() })
}

/// Puts what is whole in the journal of the damaged store into the new one, which has no other rows than that. Returns what of
/// it was not taken over, and why.
fn take_journal(store: &Store, damaged: &Path, salvaged: &Salvaged) -> Result<Option<String>> {
    let beside = with_ending(damaged, JOURNAL_ENDING);
    let row = store.committed()?.journal_row()?;
    if row.epoch == 0 {
        if salvaged.has_journal_row || !beside.exists() {
            return Ok(None);
        }
        let newest = match salvaged.has_number {
            true => rescue_newest(&beside, store.number()?).at("reading the journal", &beside)?,
            false => None,
        };
        let problem = match newest {
            Some(Rescued { records, last, .. }) => {
                store.fold_unless_there(records, last)?;
                "which of its records the tables have is not known: those whose entries a session lacks were added to it"
            }
            None => {
                "what it alone has was not taken over: which of its records the tables have is not known"
            }
        };
        return Ok(Some(problem.to_owned()));
    }
    // The epoch's number, which each record repeats, tells it from others as well.
    let number = if salvaged.has_number { Some(store.number()?) } else { None };
    let rescued = rescue(&beside, number, &row).at("reading the journal", &beside)?;
    let Rescued { records, last, problem } = rescued;
    store.fold_rescued(records, last)?;
    Ok(problem)
}

/// The sessions whose rows do not fit their lines.
fn bad_sessions(
    store: &Store,
    salvaged: &Salvaged,
    salvage: &mut Salvage,
) -> Result<BTreeMap<SessionKey, Option<SessionRecord>>> {
    let snapshot = store.snapshot()?;
    let mut bad: BTreeMap<SessionKey, Option<SessionRecord>> =
        salvaged.unnamed.keys().map(|session| (*session, None)).collect();
    snapshot.each_unfolded(|session| {
        bad.insert(session, None);
    })?;
    snapshot.each_session(|row| {
        let Ok(row) = row else { return Ok(()) };
        let (key, record) = (row.key(), row.record()?);
        let mut verification = Verification::default();
        let mut findings = Findings::new(None, &mut verification);
        let view = View::new(snapshot.rows(key), &record);
        let checked = check_session(view, findings.counts());
        findings.absorb(checked)?;
        let lacks_blobs = || lines::lacks_blobs(view, &salvaged.broken_blobs);
        if !verification.problems.is_empty() || bad.contains_key(&key) || lacks_blobs()? {
            bad.insert(key, Some(record));
            return Ok(());
        }
        let is_loose = salvaged.loose.contains(&key);
        let without_blobs = lines::lines_without_blobs(view, &salvaged.broken_blobs)?;
        if is_loose || !without_blobs.is_empty() {
            let (id, lines, is_rebuilt) = (record.id(), record.lines, is_loose);
            let rest = SalvagedSession::default();
            let session =
                SalvagedSession { id, lines, is_loose, without_blobs, is_rebuilt, ..rest };
            salvage.damaged.push(session);
        } else {
            salvage.whole += 1;
        }
        Ok(())
    })?;
    Ok(bad)
}

/// Makes sessions again from their lines.
fn rebuild(
    store: &Store,
    bad: &BTreeMap<SessionKey, Option<SessionRecord>>,
    sources: &Sources,
    salvaged: &Salvaged,
    new: &Path,
    salvage: &mut Salvage,
) -> Result<()> {
    if bad.is_empty() {
        return Ok(());
    }
    let folder = tempfile::tempdir().at("making a folder in", &std::env::temp_dir())?;
    let snapshot = store.snapshot()?;
    let mut written: Vec<(SessionKey, PathBuf, Lines)> = Vec::new();
    for (&key, record) in bad {
        let id = match (record, salvaged.unnamed.get(&key)) {
            (Some(record), _) => String::from_utf8_lossy(&record.external_id).into_owned(),
            (None, Some(Some(id))) => id.clone(),
            (None, _) => format!("session-{key}"),
        };
        let path = folder.path().join(key.to_string()).join(file_name(&id));
        std::fs::create_dir(path.parent().unwrap_or(folder.path())).at("making", &path)?;
        let lines = write_lines(&snapshot, key, record.as_ref(), &path)?;
        written.push((key, path, lines));
    }
    drop(snapshot);
    store.discard(bad)?;
    for (key, path, lines) in written {
        let record = bad.get(&key).and_then(Option::as_ref);
        let known = salvaged.unnamed.get(&key).cloned().flatten();
        let is_loose = salvaged.loose.contains(&key);
        let mut session = SalvagedSession { is_loose, lines: lines.count, ..Default::default() };
        session.is_rebuilt = lines.missing.is_empty();
        session.missing.clone_from(&lines.missing);
        session.without_blobs.clone_from(&lines.without_blobs);
        let was_migrated = record.is_some_and(|record| record.migrated) && !lines.are_imported;
        session.is_doubtful = record.is_none() || was_migrated || lines.is_without_leaf;
        session.sources = match record {
            Some(record) => record.sources.iter().filter_map(|path| path_of_bytes(path)).collect(),
            None => sources.get(&key).cloned().unwrap_or_default(),
        };
        session.id = match (record, &known) {
            (Some(record), _) => record.id(),
            (None, Some(known)) => known.clone(),
            (None, None) => format!("session-{key}"),
        };
        match import(store, &path, record)? {
            Some(id) => {
                session.id.clone_from(&id);
                restore(store, &id, (record, known.as_deref()), &lines)?;
                if let Some(id) = record.map(SessionRecord::id).or(known) {
                    session.id = id;
                }
            }
            None if lines.count == 0 => {
                salvage.lost.push(session.id);
                salvage.lost_sources.append(&mut session.sources);
                continue;
            }
            None => {
                session.is_lines = true;
                session.file = Some(keep_lines(&path, new, &session.id)?);
            }
        }
        salvage.damaged.push(session);
    }
    Ok(())
}

/// A name of which Claude Code's and Opal's sessions get their ids.
fn file_name(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).take(120).collect();
    format!("{plain}.jsonl")
}

/// Moves a file of lines beside the new store.
fn keep_lines(path: &Path, new: &Path, id: &str) -> Result<PathBuf> {
    let name = path.file_name().map_or_else(|| id.into(), OsString::from);
    let (mut to, place) = new_beside(new, &name)?;
    let mut from = File::open(path).at("reading", path)?;
    std::io::copy(&mut from, &mut to).and_then(|_| to.sync_all()).at("writing", &place)?;
    Ok(place)
}

/// Makes a file beside the new store for what it does not have, with a number before its name if another one has that.
fn new_beside(new: &Path, name: &OsStr) -> Result<(File, PathBuf)> {
    let folder = with_ending(new, ".lines");
    make_folders(&folder).at("making the folder", &folder)?;
    let mut place = folder.join(name);
    let mut number = 2;
    while place.symlink_metadata().is_ok() {
        let mut other = OsString::from(format!("{number}-"));
        other.push(name);
        place = folder.join(other);
        number += 1;
    }
    let file = new_file().write(true).create_new(true).open(&place).at("making", &place)?;
    Ok((file, place))
}

/// Imports a file of lines; `None` if they are no session.
fn import(store: &Store, path: &Path, record: Option<&SessionRecord>) -> Result<Option<String>> {
    struct Imported(Option<String>);
    impl ImportObserver for Imported {
        fn file(&mut self, report: &FileReport) {
            if matches!(report.status, ImportStatus::Imported | ImportStatus::Replaced) {
                self.0.clone_from(&report.session);
            }
        }
    }
    let recovery = match record {
        Some(record) if record.recovers => Recovery::All,
        _ => Recovery::Documented,
    };
    let family = record.and_then(|record| Family::from_code(record.family));
    let options = ImportOptions { family, recovery, restore: true, ..ImportOptions::default() };
    let mut imported = Imported(None);
    store.import(&[path], &options, &mut imported)?;
    Ok(imported.0)
}

/// Gives a session back what its lines do not say. Without a record that is the id by which it was addressed, if it is known.
fn restore(
    store: &Store,
    id: &str,
    (record, known): (Option<&SessionRecord>, Option<&str>),
    lines: &Lines,
) -> Result<()> {
    let Some(key) = store.snapshot()?.key_of(id.as_bytes())? else { return Ok(()) };
    store.restore_facts(key, |new| {
        new.rest.sources.clear();
        let Some(old) = record else {
            if let Some(known) = known {
                (new.external_id, new.number) =
                    parse_address(known.as_bytes(), &new.external_id, new.number);
            }
            return;
        };
        new.external_id.clone_from(&old.external_id);
        new.number = old.number;
        new.moved.clone_from(&old.moved);
        new.agent.clone_from(&old.agent);
        new.parent_session = new.parent_session.take().or_else(|| old.parent_session.clone());
        if old.title_rank == TITLE_BESIDE {
            new.title.clone_from(&old.title);
            new.rest.title_rank = TITLE_BESIDE;
        }
        new.created = new.created.or(old.created);
        new.modified = new.modified.max(old.modified);
        new.rest.sources.clone_from(&old.rest.sources);
    })?;
    let Some(leaf) = &lines.leaf else { return Ok(()) };
    let Some(record) = store.snapshot()?.session(key)? else { return Ok(()) };
    let address = address_bytes(&record.external_id, record.number);
    let mut session = store.session(&String::from_utf8_lossy(&address))?;
    let leads = session.reader()?.get_leaf_id()?;
    if leads.as_deref() != Some(leaf) {
        match session.branch(leaf) {
            // Its line is among those that are missing.
            Err(Error::Session(_)) => {}
            moved => moved?,
        }
    }
    Ok(())
}
