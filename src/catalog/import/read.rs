//! The reading side: each file is identified, compared with the store, and fed to the pipeline.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{BufReader, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use leafline_import::lines::split;
use leafline_import::migration::Migrated;
use leafline_import::{Migration, text};

use super::beginning;
use super::blob_folder::BlobFolder;
use super::candidate::Candidate;
use super::dictionary::Choice;
use super::digest::Digest;
use super::folder::FoundFile;
use super::grow::{Grown, Growth};
use super::items::{FileEnd, FileStart, Item, OnLoss, Replaced};
use super::journaled;
use super::known::{self, Plan};
use super::name::{Name, name_to_keep};
use super::notes::{Note, Notes};
use super::pipeline::{BLOCK_BYTES, Feeder};
use super::quick;
use super::report::{FileReport, ImportOptions, ImportStatus, Refusal};
use super::{Outcome, Step, go_on};
use crate::catalog::gone::exists;
use crate::error::{Corruption, Error, Result};
use crate::session::export::current_bytes;
use crate::session::view::View;
use crate::session::{SessionReader, tail_dictionary};
use crate::store::Store;
use crate::store::compression::Dictionary;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{ImportedBytes, NAMED_HERE, SessionRecord};
use crate::store::snapshot::Snapshot;

/// A file that has grown by more than this, and by more than its old size, is imported again as a whole, which is
/// faster, and replaces its session.
const SMALL_GROWTH: u64 = 16 << 20;

/// The most session keys that are reserved at once: a reservation is a commit of its own.
const MOST_KEYS: u64 = 1024;

/// How many unchanged files are looked up in one snapshot; while it is open, space cannot be reused.
const GLANCES: u32 = 64;

/// Whether a plan was carried out, or another process has changed what it was based on.
enum Done {
    Yes,
    Conflict,
}

/// What the session of a whole file becomes.
enum Target {
    /// A new session, which restores these removed ones.
    Own { restores: Vec<SessionKey> },
    /// One in the place of another.
    Of(Replaced),
}

impl From<Replaced> for Target {
    fn from(replaced: Replaced) -> Self {
        Self::Of(replaced)
    }
}

/// How files that were imported before are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Each file is compared as a whole with what is stored.
    Import,
    /// By size and time, and then by its beginning and its end.
    Sync,
    /// The same, and files that have grown go on growing.
    Follow,
}

/// Reads files, one after the other.
pub(super) struct Reader<'s> {
    store: &'s Store,
    options: &'s ImportOptions,
    mode: Mode,
    blobs: Option<&'s BlobFolder>,
    dictionary: Choice<'s>,
    /// Keys that are reserved.
    keys: std::ops::Range<u64>,
    reserve: u64,
    /// A snapshot, and the number of files that it was used for.
    glance: Option<(Snapshot, u32)>,
    notes: Notes<'s>,
    /// Files that cannot be merged with their session, and why.
    apart: &'s HashMap<PathBuf, String>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(
        store: &'s Store,
        (options, mode): (&'s ImportOptions, Mode),
        blobs: Option<&'s BlobFolder>,
        dictionary: Choice<'s>,
        (notes, apart): (Notes<'s>, &'s HashMap<PathBuf, String>),
    ) -> Self {
        let (keys, reserve, glance) = (0..0, 1, None);
        Self { store, options, mode, blobs, dictionary, keys, reserve, glance, notes, apart }
    }

    /// Commits the notes. Returns the files that must be compared again.
    pub(super) fn finish(&mut self, outcome: &mut Outcome<'_>) -> Result<Vec<PathBuf>> {
        self.notes.flush(outcome)?;
        Ok(self.notes.take_again())
    }

    /// Imports a file as needed. A damaged session fails only its own file.
    pub(super) fn read_file(
        &mut self,
        file: &FoundFile,
        in_flight: &mut HashSet<Vec<u8>>,
        feeder: &mut Feeder<'_>,
        outcome: &mut Outcome<'_>,
    ) -> Step {
        match self.decide(file, in_flight, feeder, outcome) {
            Err(Error::Corrupted(damage)) => {
                let mut report = FileReport::new(file.path.clone(), ImportStatus::Failed);
                report.bytes = file.bytes;
                outcome.add(&report.with_reason(of_session(&damage)));
                Ok(Ok(()))
            }
            step => step,
        }
    }

    fn decide(
        &mut self,
        file: &FoundFile,
        in_flight: &mut HashSet<Vec<u8>>,
        feeder: &mut Feeder<'_>,
        outcome: &mut Outcome<'_>,
    ) -> Step {
        let restores = self.options.restore;
        let mut opened = None;
        // Damage found here is found again, and reported or repaired, when the file is compared as a whole.
        if self.mode != Mode::Import && !self.options.replace {
            let report = match unless_damaged(quick::unchanged(self.glance()?, file, restores))? {
                Some(report) => Some(report),
                None => {
                    let how = (self.options, self.mode == Mode::Follow);
                    unless_damaged(journaled::take(self.store, how, file, &mut opened))?
                }
            };
            if let Some(report) = report {
                outcome.observer.read(report.bytes);
                outcome.add(&report);
                return Ok(Ok(()));
            }
        }
        // Further comparisons use the current state of the store.
        self.glance = None;
        let ImportOptions { family, recovery, .. } = *self.options;
        let opened = match opened {
            Some(candidate) => Ok(candidate),
            None => Candidate::open_found(file, family, recovery),
        };
        let mut candidate = match opened {
            Ok(candidate) => candidate,
            Err(report) => {
                outcome.observer.read(report.bytes);
                outcome.add(&report);
                return Ok(Ok(()));
            }
        };
        candidate.longest_line = self.options.longest_line;
        // The store's content counts only if no session with the same id is still being written.
        if in_flight.contains(candidate.external_id()) {
            go_on!(feeder.flush());
            in_flight.clear();
        }
        if self.notes.has(candidate.external_id()) {
            self.notes.flush(outcome)?;
        }
        // If the file cannot be read, reading it reports the error.
        if self.mode != Mode::Import
            && !self.apart.contains_key(&candidate.path)
            && candidate
                .leave_open_line(unless_damaged(self.stored_bytes(&candidate))?.unwrap_or(0))
                .is_ok()
            && let Some((session, record)) =
                unless_damaged(quick::grown(self.store, &mut candidate))?
            && let Done::Yes =
                go_on!(self.grow(&mut candidate, session, &record, feeder, outcome)?)
        {
            return Ok(Ok(()));
        }
        for _ in 0..super::ATTEMPTS {
            match go_on!(self.carry_out(&mut candidate, in_flight, feeder, outcome)?) {
                Done::Yes => return Ok(Ok(())),
                Done::Conflict => {}
            }
        }
        let report = candidate.report(ImportStatus::Failed);
        outcome.add(&report.with_reason(super::KEPT_CHANGING));
        Ok(Ok(()))
    }

    /// Compares a file with the store and acts on the result, unless another process is faster.
    fn carry_out(
        &mut self,
        candidate: &mut Candidate,
        in_flight: &mut HashSet<Vec<u8>>,
        feeder: &mut Feeder<'_>,
        outcome: &mut Outcome<'_>,
    ) -> Step<Done> {
        let failed = |candidate: &Candidate| candidate.report(ImportStatus::Failed);
        let planned = match known::plan(self.store, candidate, self.mode) {
            Ok(Ok(plan)) => Ok(plan),
            Ok(Err(error)) => Err(failed(candidate).unread(&error)),
            // A damaged session fails only its own file.
            Err(Error::Corrupted(damage)) => {
                Err(failed(candidate).refused(Refusal::Damaged, of_session(&damage)))
            }
            Err(error) => return Err(error),
        };
        let plan = match planned {
            Ok(plan) => plan,
            Err(report) => {
                outcome.add(&report);
                return Ok(Ok(Done::Yes));
            }
        };
        let plan = match plan {
            Plan::Removed { removed, number } if self.options.restore => {
                Plan::New { number, restores: removed.into_iter().map(|(key, _)| key).collect() }
            }
            plan => plan,
        };
        match plan {
            // The same bytes, read with other rules: nothing can be lost.
            Plan::Unchanged { session, record, ahead: false }
                if candidate.insists_on_recovery()
                    && !record.is_ahead()
                    && record.recovers != candidate.reading().recovers =>
            {
                let report = candidate.report(ImportStatus::Replaced);
                let replaced =
                    Replaced { session, revision: record.revision, on_loss: OnLoss::Accept };
                in_flight.insert(candidate.external_id().to_vec());
                self.whole(candidate, record.number, report, replaced.into(), feeder, outcome)
            }
            // With `--replace`, a file that is only a part of what was imported replaces the session.
            Plan::Unchanged { session, record, ahead: true }
                if self.options.replace
                    && candidate.size < record.imported.length
                    && record
                        .sources
                        .iter()
                        .any(|path| Some(path) == candidate.source.as_ref()) =>
            {
                let report = candidate.report(ImportStatus::Replaced);
                let replaced =
                    Replaced { session, revision: record.revision, on_loss: OnLoss::Accept };
                in_flight.insert(candidate.external_id().to_vec());
                self.whole(candidate, record.number, report, replaced.into(), feeder, outcome)
            }
            Plan::Unchanged { session, record, ahead } => {
                self.unchanged(candidate, session, &record, ahead, outcome)?;
                Ok(Ok(Done::Yes))
            }
            Plan::Replace { record, .. } | Plan::Grow { record, .. }
                if self.apart.contains_key(&candidate.path) =>
            {
                let id = candidate.external_id();
                let number = known::free_number(self.store, id, record.number + 1)?;
                let mut report = candidate.report(ImportStatus::Imported);
                report.add_reason(format!(
                    "{}; not merged, but kept as {}~{number}, a session of its own next to {}",
                    self.apart.get(&candidate.path).map_or("", String::as_str),
                    String::from_utf8_lossy(id),
                    record.id()
                ));
                in_flight.insert(id.to_vec());
                let target = Target::Own { restores: Vec::new() };
                self.whole(candidate, number, report, target, feeder, outcome)
            }
            Plan::Grow { session, record } => {
                self.grow(candidate, session, &record, feeder, outcome)
            }
            Plan::New { number, restores } => {
                let number = known::free_number(self.store, candidate.external_id(), number)?;
                let mut report = candidate.report(ImportStatus::Imported);
                if number > 1 {
                    report.add_reason(format!(
                        "another session has the id {0}, so this one is addressed as {0}~{number}",
                        String::from_utf8_lossy(candidate.external_id())
                    ));
                }
                in_flight.insert(candidate.external_id().to_vec());
                self.whole(candidate, number, report, Target::Own { restores }, feeder, outcome)
            }
            Plan::Removed { removed, .. } => {
                outcome.observer.read(candidate.size);
                let report = candidate.report(ImportStatus::Removed);
                // The one that was removed last, if they are several.
                let last = removed.iter().map(|(_, removed)| removed).max_by_key(|one| one.at);
                outcome.add(&match last {
                    Some(last) => report.of_removed(last),
                    None => report,
                });
                Ok(Ok(Done::Yes))
            }
            Plan::Restore { session, record, problem } => {
                let mut report = candidate.report(ImportStatus::Replaced);
                report.add_reason(format!(
                    "the store had lost a part of this session ({problem}); the file has all of it, and was imported again"
                ));
                let replaced =
                    Replaced { session, revision: record.revision, on_loss: OnLoss::Restore };
                in_flight.insert(candidate.external_id().to_vec());
                self.whole(candidate, record.number, report, replaced.into(), feeder, outcome)
            }
            Plan::Damaged { record, problem } => {
                let report = candidate.report(ImportStatus::Failed);
                outcome.observer.read(candidate.size);
                let reason = format!(
                    "the store has lost a part of session {} ({problem}), and the file does not have all of it",
                    record.id()
                );
                outcome.add(&report.refused(Refusal::Damaged, reason));
                Ok(Ok(Done::Yes))
            }
            Plan::Replace { session, record, is_of_path } => {
                let report = candidate.report(ImportStatus::Replaced);
                let on_loss = match is_of_path && self.options.replace {
                    true => OnLoss::Accept,
                    false => OnLoss::Merge { is_of_path },
                };
                let replaced = Replaced { session, revision: record.revision, on_loss };
                in_flight.insert(candidate.external_id().to_vec());
                self.whole(candidate, record.number, report, replaced.into(), feeder, outcome)
            }
        }
    }

    /// Records a file as a source and the title from another file, and adds blobs that its session lacks.
    fn unchanged(
        &mut self,
        candidate: &mut Candidate,
        session: SessionKey,
        record: &SessionRecord,
        ahead: bool,
        outcome: &mut Outcome<'_>,
    ) -> Result<()> {
        let mut report = candidate.report(ImportStatus::Unchanged);
        report.describe(record);
        let snapshot = self.store.snapshot()?;
        let mut noted = record.clone();
        let known = candidate.known_source(&snapshot)?;
        let mut source = candidate.source(session).filter(|(_, now)| known.as_ref() != Some(now));
        if ahead {
            report.add_reason("the store holds a later state of this session");
            // An earlier state at another path is not a source of the session.
            source = source.filter(|_| known.is_some_and(|known| known.session == session));
        } else {
            beginning::take_title_beside(&mut noted, candidate);
            // With a copy elsewhere, the file at the session's own path may be another state.
            let is_own =
                |own: &Vec<u8>| record.sources.iter().all(|path| path == own || !exists(path));
            if record.is_ahead() && candidate.source.as_ref().is_some_and(is_own) {
                noted.note_named();
                noted.imported = match record.rewritten {
                    true => saved_over(candidate).unwrap_or(noted.imported),
                    false => current(View::new(snapshot.rows(session), record))?,
                };
            }
        }
        let note = Note { session, record, noted, source };
        self.notes.add(&snapshot, note, self.blobs, report, outcome)
    }

    /// Adds what a file has gained: in one commit if it is little, otherwise by importing the file again.
    fn grow(
        &mut self,
        candidate: &mut Candidate,
        session: SessionKey,
        record: &SessionRecord,
        feeder: &mut Feeder<'_>,
        outcome: &mut Outcome<'_>,
    ) -> Step<Done> {
        let gained = candidate.size.saturating_sub(record.bytes);
        // A migration ends every line.
        let is_complete = record.imported.complete || record.is_ahead() || record.migrated;
        let is_read_alike =
            !candidate.insists_on_recovery() || record.recovers == candidate.reading().recovers;
        let extends = is_complete && is_read_alike && !candidate.needs_migration();
        let mut record = Cow::Borrowed(record);
        if extends && gained <= record.bytes.max(SMALL_GROWTH) {
            // The session's current dictionary: choosing one costs more than most growth.
            let whole = SessionRecord::clone(&record);
            let reader = SessionReader::new(self.store.snapshot()?, session, whole);
            let dictionary = tail_dictionary(reader.view(), Ordinal::after(record.lines))?;
            drop(reader);
            let growth = Growth { store: self.store, dictionary: &dictionary, blobs: self.blobs };
            match growth.extend(candidate, session, &record)? {
                Grown::Yes(report) => {
                    outcome.observer.read(candidate.size);
                    outcome.add(&report);
                    return Ok(Ok(Done::Yes));
                }
                Grown::Conflict => return Ok(Ok(Done::Conflict)),
                Grown::No(now) => record = Cow::Owned(*now),
            }
        }
        let report = candidate.report(ImportStatus::Grown);
        // The file begins with everything that the session has, so nothing can be lost; but its last line may have been
        // torn and be complete now. The lines of a migrated session may have changed since.
        let replaced = Replaced {
            session,
            revision: record.revision,
            on_loss: match candidate.needs_migration() {
                true => OnLoss::Merge { is_of_path: true },
                false => OnLoss::Accept,
            },
        };
        let number = record.number;
        go_on!(self.whole(candidate, number, report, replaced.into(), feeder, outcome)?);
        Ok(feeder.flush().map(|()| Done::Yes))
    }

    /// Feeds a whole file to the pipeline.
    fn whole(
        &mut self,
        candidate: &mut Candidate,
        number: u32,
        report: FileReport,
        place: Target,
        feeder: &mut Feeder<'_>,
        outcome: &mut Outcome<'_>,
    ) -> Step<Done> {
        let session = self.key()?;
        let mut record = beginning::record_of(candidate, number);
        let dictionary = self.dictionary.dictionary()?;
        let (replaces, restores) = match place {
            Target::Own { restores } => (None, restores),
            Target::Of(replaced) => (Some(replaced), Vec::new()),
        };
        let merges = matches!(replaces, Some(Replaced { on_loss: OnLoss::Merge { .. }, .. }));
        let mut report = report;
        let mut name = None;
        let mut ends_line = false;
        let snapshot = self.store.snapshot()?;
        if let Some(Replaced { session: old, .. }) = replaces.filter(|_| merges)
            && let Some(of_old) = snapshot.session(old)?
        {
            name = match name_to_keep(View::new(snapshot.rows(old), &of_old), candidate)? {
                Ok(name) => name,
                Err(error) => {
                    outcome.add(&candidate.report(ImportStatus::Failed).unread(&error));
                    return Ok(Ok(Done::Yes));
                }
            };
            // Lines of the store follow wherever it has any of its own.
            ends_line = of_old.is_ahead() && !of_old.migrated;
        }
        drop(snapshot);
        if let Some(name) = &name {
            report.status = ImportStatus::Grown;
            (record.title, record.rest.title_rank) = (name.title(), NAMED_HERE);
            report.add_reason(match record.title {
                Some(_) => "merged with the name set in the store",
                None => "merged without the name cleared in the store",
            });
            record.note_change();
        }
        // The original bytes of a migrated file are kept, whatever its name.
        let has_bytes_of_file = name.is_none() || record.rewritten || record.migrated;
        let start = FileStart {
            session,
            record,
            report,
            replaces,
            restores,
            is_agent: candidate.is_certain_agent(),
            hint: candidate.start.leaf.clone(),
            dictionary: dictionary.id,
        };
        go_on!(feeder.send(Item::Begin(Box::new(start))));
        let read = match candidate.start.migration.clone() {
            Some(migration) => {
                migrate(candidate, (&migration, name.as_ref()), feeder, &dictionary, outcome)
            }
            None => copy(candidate, (ends_line, name.as_ref()), feeder, &dictionary, outcome),
        };
        let item = match read {
            Ok(Ok((mut imported, dropped))) => {
                let mut source = candidate.source(session);
                if let Some((_, record)) = &mut source {
                    record.size = imported.length;
                }
                if !has_bytes_of_file {
                    // The session no longer begins with the file's bytes.
                    imported = ImportedBytes { complete: true, ..ImportedBytes::default() };
                }
                Item::End(Box::new(FileEnd { imported, dropped, source }))
            }
            Ok(Err(stopped)) => return Ok(Err(stopped)),
            Err(error) => Item::Abandon(error),
        };
        Ok(feeder.send(item).map(|()| Done::Yes))
    }

    /// How many bytes of the file are stored; `None` if it was never imported, or its session is gone.
    fn stored_bytes(&self, candidate: &Candidate) -> Result<Option<u64>> {
        let snapshot = self.store.snapshot()?;
        let Some(source) = candidate.known_source(&snapshot)? else { return Ok(None) };
        let record = snapshot.session(source.session)?;
        Ok(record.map(|record| record.imported.length))
    }

    /// The tables as they were a moment ago, for unchanged files: a snapshot for each would cost more than the look-up. If the
    /// journal has more of a file, the file is not what the tables say.
    fn glance(&mut self) -> Result<&Snapshot> {
        let kept = self.glance.take().filter(|(_, uses)| *uses < GLANCES);
        let (snapshot, uses) = match kept {
            Some(kept) => kept,
            None => (self.store.committed()?, 0),
        };
        Ok(&self.glance.insert((snapshot, uses + 1)).0)
    }

    /// A new session's key.
    fn key(&mut self) -> Result<SessionKey> {
        if self.keys.is_empty() {
            let first = self.store.reserve_sessions(self.reserve)?.raw();
            self.keys = first..first + self.reserve;
            self.reserve = (self.reserve * 4).min(MOST_KEYS);
        }
        Ok(SessionKey::new(self.keys.next().expect("a reservation is never empty")))
    }
}

/// The reason given for a file whose session is damaged.
pub(super) fn of_session(damage: &Corruption) -> String {
    format!("the store's session: {damage}")
}

/// `None` if a session is damaged.
fn unless_damaged<T>(found: Result<Option<T>>) -> Result<Option<T>> {
    match found {
        Err(Error::Corrupted(_)) => Ok(None),
        found => found,
    }
}

/// The bytes of a file that has the state of a session changed here, at the path that the session was imported from:
/// the imported bytes no longer exist anywhere else, and from now on these bytes identify the file.
fn saved_over(candidate: &mut Candidate) -> Option<ImportedBytes> {
    candidate.file.seek(SeekFrom::Start(0)).ok()?;
    let mut blocks = candidate.blocks();
    let mut digest = Digest::default();
    while let Some(block) = blocks.next_block(Vec::new()).ok()? {
        digest.take(&block);
    }
    Some(digest.finish())
}

/// The digest of a session's bytes, for a file that has all of them.
fn current(view: View<'_>) -> Result<ImportedBytes> {
    let mut digest = Digest::default();
    current_bytes(view, &mut |bytes| {
        digest.take(bytes);
        Ok(true)
    })?;
    Ok(digest.finish())
}

/// The result of reading a file: its bytes, and the number of lines that a migration dropped.
type Read = std::io::Result<Result<(ImportedBytes, u64), super::Stopped>>;

/// Feeds a file's lines unchanged, with two exceptions: `ends_line` adds the line feed that the last line may lack, and a name
/// replaces the one in the header.
fn copy(
    candidate: &mut Candidate,
    (ends_line, name): (bool, Option<&Name>),
    feeder: &mut Feeder<'_>,
    dictionary: &Arc<Dictionary>,
    outcome: &mut Outcome<'_>,
) -> Read {
    candidate.file.seek(SeekFrom::Start(0))?;
    let mut blocks = candidate.blocks();
    let mut digest = Digest::default();
    let mut opens_file = true;
    let reading = candidate.reading();
    while let Some(mut block) = blocks.next_block(feeder.buffer())? {
        if outcome.observer.is_stopped() {
            return Ok(Err(super::Stopped));
        }
        digest.take(&block);
        outcome.observer.read(block.len() as u64);
        if ends_line && !block.ends_with(b"\n") {
            block.push(b'\n');
        }
        if opens_file && let Some(name) = name {
            block = name.put_into(reading, &block);
        }
        go_on!(feeder.send_lines(block, opens_file, reading, dictionary));
        opens_file = false;
    }
    Ok(Ok((digest.finish(), 0)))
}

/// Feeds a file's lines as their program would rewrite them, with a name in their header, and the original bytes.
fn migrate(
    candidate: &mut Candidate,
    (migration, mut name): (&Migration, Option<&Name>),
    feeder: &mut Feeder<'_>,
    dictionary: &Arc<Dictionary>,
    outcome: &mut Outcome<'_>,
) -> Read {
    candidate.file.seek(SeekFrom::Start(0))?;
    let reading = candidate.reading();
    let ahead = || Ok(BufReader::with_capacity(BLOCK_BYTES, candidate.bytes()));
    let mut migrator = migration.begin(ahead)?;
    candidate.file.seek(SeekFrom::Start(0))?;
    let mut blocks = candidate.blocks();
    let mut digest = Digest::default();
    let mut dropped = 0;
    let mut migrated = feeder.buffer();
    migrated.clear();
    while let Some(block) = blocks.next_block(Vec::new())? {
        if outcome.observer.is_stopped() {
            return Ok(Err(super::Stopped));
        }
        digest.take(&block);
        outcome.observer.read(block.len() as u64);
        for line in split(&block) {
            let decoded = text::decode(line);
            let is_written = migrator.migrate_line(&decoded, &mut migrated) == Migrated::Written;
            dropped += u64::from(!is_written && !text::is_blank(&decoded));
        }
        go_on!(feeder.send_original(block));
        if migrated.len() >= BLOCK_BYTES {
            if let Some(name) = name.take() {
                migrated = name.put_into(reading, &migrated);
            }
            go_on!(feeder.send_lines(std::mem::take(&mut migrated), false, reading, dictionary));
        }
    }
    if migrator.finish(&mut migrated) == Migrated::Written {
        dropped -= 1;
    }
    if let Some(name) = name {
        migrated = name.put_into(reading, &migrated);
    }
    if !migrated.is_empty() {
        go_on!(feeder.send_lines(migrated, false, reading, dictionary));
    }
    Ok(Ok((digest.finish(), dropped)))
}
