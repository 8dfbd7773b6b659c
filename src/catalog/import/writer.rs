//! The ordered end of the pipeline: sessions get their rows and are committed here.

use std::path::{Path, PathBuf};

use crossbeam_channel::Sender;
use leafline_import::leaf::LeafHint;

use super::agents;
use super::blob_folder::BlobFolder;
use super::items::{FileEnd, FileStart, Item, OnLoss, Replaced};
use super::losses::{Losses, losses};
use super::merged::{self, Leads};
use super::read::of_session;
use super::report::{FileReport, ImportStatus, Refusal, unread};
use crate::catalog::gone::exists;
use crate::error::{Error, ImportError, Result};
use crate::session::index::finish::NewLeaf;
use crate::session::index::indexer::{Indexer, Start};
use crate::session::index::prepare::Preparer;
use crate::session::live::KeptJournal;
use crate::session::tail_dictionary;
use crate::session::view::View;
use crate::store::Store;
use crate::store::commit::{Author, Batch, Committed, Creation, Edit, Finished, Place};
use crate::store::ordinal::Ordinal;
use crate::store::owner::Owner;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{NAMED_HERE, SessionRecord};
use crate::store::source_record::SourceRecord;

/// The file that is being written.
struct Current<'s> {
    start: FileStart,
    indexer: Indexer<'s>,
    creation: Creation,
    pieces: u64,
}

/// Where a file's session goes.
enum Placed {
    /// In the place of another session, whose lines follow the file's. These other files are sources of the new session too.
    Of { place: Place, own: Vec<Ordinal>, sources: Vec<(Vec<u8>, SourceRecord)> },
    /// Nowhere: the other session already has every line, in another order. This is its record.
    Known { record: Box<SessionRecord> },
    /// The two cannot be merged.
    Apart { reason: String },
    /// The file fails.
    Refused { refusal: Refusal, reason: String },
}

/// Takes the items of all files in order.
pub(super) struct Writer<'s> {
    store: &'s Store,
    owner: &'s Owner,
    blobs: Option<&'s BlobFolder>,
    batch: Batch,
    current: Option<Current<'s>>,
    /// Reports that become final once the batch is committed.
    pending: Vec<(SessionKey, FileReport)>,
    /// The report of a file that is being finished, until it is pending or sent.
    failing: Option<FileReport>,
    reports: Sender<Outcome>,
    /// In an import that takes some time: others append meanwhile.
    kept: Option<KeptJournal>,
}

/// What became of a file.
pub(super) enum Outcome {
    /// This, for good.
    Final(Box<FileReport>),
    /// Another process has changed the session meanwhile: the file must be examined again.
    Again(PathBuf),
    /// The file cannot be merged with the session that it was compared with, for this reason: it must be imported as a session
    /// of its own.
    Apart(PathBuf, String),
}

impl<'s> Writer<'s> {
    /// The store's file.
    pub(super) fn path(&self) -> &'s Path {
        self.store.path()
    }

    pub(super) fn new(
        store: &'s Store,
        owner: &'s Owner,
        blobs: Option<&'s BlobFolder>,
        reports: Sender<Outcome>,
    ) -> Self {
        Self {
            store,
            owner,
            blobs,
            batch: Batch::default(),
            current: None,
            pending: Vec::new(),
            failing: None,
            reports,
            kept: None,
        }
    }

    /// Takes the next item. A session that loses its rows meanwhile fails alone.
    pub(super) fn take(&mut self, item: Item) -> Result<()> {
        match self.take_item(item) {
            Err(lost @ Error::Import(ImportError::Lost { .. })) => {
                self.batch = Batch::default();
                self.give_up(&lost.to_string());
                // The failed commit also had other files.
                for (_, report) in self.pending.drain(..) {
                    let _ = self.reports.send(Outcome::Again(report.path));
                }
                Ok(())
            }
            taken => taken,
        }
    }

    fn take_item(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Begin(start) => self.begin(*start),
            Item::Lines(prepared) => {
                let Some(Current { indexer, creation, .. }) = &mut self.current else {
                    return Ok(());
                };
                let window_moved = indexer.add(*prepared, &mut creation.rows(&mut self.batch))?;
                if window_moved || self.batch.is_full() {
                    self.commit_part()?;
                }
            }
            Item::Original(bytes) => {
                let Some(Current { creation, pieces, .. }) = &mut self.current else {
                    return Ok(());
                };
                creation.rows(&mut self.batch).add_original(*pieces, bytes);
                *pieces += 1;
                if self.batch.is_full() {
                    self.commit_part()?;
                }
            }
            Item::End(end) => self.end(*end)?,
            Item::Abandon(error) => self.abandon(&error)?,
            Item::Flush(answer) => {
                self.commit_part()?;
                // The reader may have ended.
                let _ = answer.send(());
            }
        }
        Ok(())
    }

    /// Commits what is left. A file that was not read to its end leaves nothing: its reader was stopped, or fails with
    /// the reason.
    pub(super) fn finish(mut self) -> Result<()> {
        if let Some(current) = self.current.take() {
            self.batch.forget(current.start.session);
        }
        self.commit()?;
        Ok(())
    }

    fn begin(&mut self, start: FileStart) {
        let FileStart { session, dictionary, .. } = start;
        let file = Start::File(start.hint.clone());
        let indexer = Indexer::new(self.store, session, start.record.clone(), file, dictionary);
        let creation = Creation::new(session);
        self.current = Some(Current { start, indexer, creation, pieces: 0 });
    }

    /// Makes the batch durable, including its part of the file that is being written.
    fn commit_part(&mut self) -> Result<()> {
        if let Some(current) = &mut self.current {
            current.creation.mark(self.owner.token, &mut self.batch);
        }
        let committed = self.commit()?;
        if let Some(Current { indexer, creation, .. }) = &mut self.current {
            indexer.after_commit(creation.note(&committed));
        }
        Ok(())
    }

    /// Makes the batch durable, and reports its files.
    fn commit(&mut self) -> Result<Committed> {
        if let Some(folder) = self.blobs {
            folder.fetch_missing(self.store, &mut self.batch)?;
        }
        let batch = std::mem::take(&mut self.batch);
        // Where nobody else is about, one commit is no reason to make a journal.
        let is_long = || batch.is_full() || batch.takes_time() && self.store.is_open_elsewhere();
        if self.kept.is_none() && is_long() {
            self.kept = self.store.keep_journal()?;
        }
        let committed = self.store.commit(batch)?;
        self.report(&committed.conflicts);
        if let Some(kept) = &self.kept {
            kept.fold_if_long();
        }
        Ok(committed)
    }

    /// Reports the files that the last commit has made durable or left out.
    fn report(&mut self, conflicts: &[SessionKey]) {
        for (session, report) in self.pending.drain(..) {
            let outcome = if conflicts.contains(&session) {
                Outcome::Again(report.path)
            } else {
                Outcome::Final(Box::new(report))
            };
            // The receiver may be gone; the import continues.
            let _ = self.reports.send(outcome);
        }
    }

    fn end(&mut self, end: FileEnd) -> Result<()> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        let Current { start, indexer, mut creation, .. } = current;
        let FileStart { session, mut report, replaces, restores, is_agent, record: begun, .. } =
            start;
        let mut indexed = indexer.finish(&mut creation.rows(&mut self.batch))?;
        if begun.title_rank == NAMED_HERE && indexed.record.title == begun.title {
            indexed.record.title_rank = NAMED_HERE;
        }
        agents::settle(&mut indexed.record, is_agent);
        indexed.record.imported = end.imported;
        indexed.record.dropped = end.dropped;
        // The next steps read the session's rows, or find ids that were committed before.
        let must_commit = creation.is_begun() || indexed.needs_resolving || replaces.is_some();
        self.failing = Some(report.clone());
        if must_commit {
            creation.mark(self.owner.token, &mut self.batch);
            let committed = self.commit()?;
            indexed.note(&mut creation, &committed);
        }
        let (mut record, mut leaf) = indexed.settle(self.store, &mut creation, NewLeaf::ByRule)?;
        let mut place = Place::Own;
        let mut sources: Vec<_> = end.source.into_iter().collect();
        let own_path = sources.first().map(|(path, _)| path.clone());
        if let Some(replaced) = replaces {
            let own;
            match self.place(replaced, (session, own_path.as_deref()), &mut record, &mut report)? {
                Placed::Of { place: of, own: lines, sources: others } => {
                    (place, own) = (of, lines);
                    sources.extend(others);
                }
                Placed::Known { record } => {
                    return self.note_known((replaced.session, &record), sources, report);
                }
                Placed::Apart { reason } => {
                    // Its rows stay marked, so that the owner sweeps them. The receiver may be gone; the import continues.
                    let _ = self.reports.send(Outcome::Apart(report.path, reason));
                    self.failing = None;
                    return Ok(());
                }
                Placed::Refused { refusal, reason } => {
                    return self.refuse(report, refusal, &reason);
                }
            }
            if !own.is_empty() {
                match self.add_own(replaced, &own, (&mut creation, record, leaf)) {
                    Err(Error::Corrupted(damage)) => {
                        self.batch.forget(session);
                        return self.refuse(report, Refusal::Damaged, &of_session(&damage));
                    }
                    added => (record, leaf) = added?,
                }
            }
        }
        report.stored = report.bytes;
        report.describe(&record);
        let finished = Finished { record, leaf, author: Author::File, place, sources };
        creation.finish(&mut self.batch, finished)?;
        for removed in restores {
            self.batch.restore(session, removed);
        }
        self.pending.push((session, report));
        if self.batch.is_full() || must_commit {
            self.commit()?;
        }
        self.failing = None;
        Ok(())
    }

    /// Decides where a file's session goes.
    fn place(
        &self,
        replaced: Replaced,
        (session, own_path): (SessionKey, Option<&[u8]>),
        record: &mut SessionRecord,
        report: &mut FileReport,
    ) -> Result<Placed> {
        let Replaced { session: old, revision, on_loss } = replaced;
        let snapshot = self.store.snapshot()?;
        // If the session is gone, the commit notices.
        let Some(of_old) = snapshot.session(old)? else {
            let place = Place::Of { session: old, revision };
            return Ok(Placed::Of { place, own: Vec::new(), sources: Vec::new() });
        };
        let old_view = View::new(snapshot.rows(old), &of_old);
        let new_view = View::new(snapshot.rows(session), record);
        let losses = match losses_unless(on_loss, old_view, new_view, report) {
            Err(Error::Corrupted(damage)) => {
                let reason = of_session(&damage);
                return Ok(Placed::Refused { refusal: Refusal::Damaged, reason });
            }
            losses => losses?,
        };
        let mut own = Vec::new();
        match (losses, on_loss) {
            (None, _) => {}
            (Some(losses), OnLoss::Merge { .. }) => match losses.into_own() {
                Ok(_) if merged::adds_nothing(old_view, new_view)? => {
                    return Ok(Placed::Known { record: Box::new(of_old) });
                }
                Ok(lines) => own = lines,
                Err(losses) => return Ok(Placed::Apart { reason: losses.to_string() }),
            },
            (Some(losses), OnLoss::Accept | OnLoss::Restore) => {
                report.add_reason(losses.to_string());
            }
        }
        if !own.is_empty() {
            report.status = ImportStatus::Grown;
            let lines = if own.len() == 1 { "a line" } else { "lines" };
            report.add_reason(format!("merged with {lines} that only the store has"));
        }
        let mut sources = Vec::new();
        // After a merge the new session has all that the other files of the old one had.
        let is_merged = matches!(on_loss, OnLoss::Merge { .. });
        let is_other = |path: &&Vec<u8>| is_merged && Some(&***path) != own_path && exists(path);
        for path in of_old.rest.sources.iter().filter(is_other) {
            let source = snapshot.source(path)?.filter(|source| source.session == old);
            sources.extend(source.map(|source| (path.clone(), source)));
        }
        record.moved = of_old.moved;
        Ok(Placed::Of { place: Place::Of { session: old, revision }, own, sources })
    }

    /// Adds the lines that only the old session has after those of the file, which are already committed. The side with the
    /// newest message sets the leaf.
    fn add_own(
        &mut self,
        Replaced { session: old, revision, .. }: Replaced,
        own: &[Ordinal],
        (creation, record, leaf): (&mut Creation, SessionRecord, Option<Ordinal>),
    ) -> Result<(SessionRecord, Option<Ordinal>)> {
        let snapshot = self.store.snapshot()?;
        // If the old session was changed meanwhile, the commit notices.
        let old_record = snapshot.session(old)?.filter(|record| record.revision == revision);
        let Some(old_record) = old_record else { return Ok((record, leaf)) };
        let old = View::new(snapshot.rows(old), &old_record);
        let session = creation.session();
        let file = View::new(snapshot.rows(session), &record);
        let leads = merged::leads(old, own, file)?;
        let dictionary = tail_dictionary(old, Ordinal::after(old_record.lines))?;
        let pointers = file.rows().pointers()?;
        let start = Start::Grown { leaf, hint: LeafHint::None, pointers, snapshot: None };
        let mut record = record.clone();
        record.note_change();
        let has_orphans = record.orphans > 0;
        let mut indexer = Indexer::new(self.store, session, record, start, dictionary.id);
        let mut preparer = Preparer::new(old.reading());
        let mut lines = merged::Lines::new(old, own);
        while let Some(block) = lines.next_block()? {
            let prepared = preparer.prepare(&block, false, &dictionary);
            let window_moved = indexer.add(prepared, &mut creation.rows(&mut self.batch))?;
            if window_moved || self.batch.is_full() {
                creation.mark(self.owner.token, &mut self.batch);
                let committed = self.commit()?;
                indexer.after_commit(creation.note(&committed));
            }
        }
        let mut indexed = indexer.finish(&mut creation.rows(&mut self.batch))?;
        creation.mark(self.owner.token, &mut self.batch);
        let committed = self.commit()?;
        indexed.note(creation, &committed);
        // These lines may be the missing parents of entries in the file.
        indexed.needs_resolving |= has_orphans;
        let leaf = match leads {
            Leads::File => leaf,
            Leads::Store(None) => None,
            Leads::Store(Some(id)) => {
                let snapshot = self.store.snapshot()?;
                View::new(snapshot.rows(session), &indexed.record).find(&id)?
            }
        };
        indexed.settle(self.store, creation, NewLeaf::Line(leaf))
    }

    /// Ends a file with nothing new: notes its state on the session, so that the next sync does not read it. The rows of the file
    /// stay marked, so that the owner sweeps them.
    fn note_known(
        &mut self,
        (session, record): (SessionKey, &SessionRecord),
        sources: Vec<(Vec<u8>, SourceRecord)>,
        mut report: FileReport,
    ) -> Result<()> {
        report.status = ImportStatus::Unchanged;
        report.add_reason("the store holds a later state of this session");
        report.describe(record);
        let source = sources.into_iter().next();
        let source = source.map(|(path, source)| (path, SourceRecord { session, ..source }));
        let edit = Edit::new(&mut self.batch, session, record);
        edit.note_file(&mut self.batch, record, record.clone(), source);
        self.pending.push((session, report));
        self.commit()?;
        self.failing = None;
        Ok(())
    }

    /// Reports a file as failed; its rows stay marked, so that the owner sweeps them.
    fn refuse(&mut self, report: FileReport, refusal: Refusal, reason: &str) -> Result<()> {
        self.failing = Some(FileReport { refusal: Some(refusal), ..report });
        self.give_up(reason);
        Ok(())
    }

    /// Reports the file that is being written or finished as failed.
    fn give_up(&mut self, reason: &str) {
        let current = self.current.take().map(|current| current.start.report);
        for mut report in current.into_iter().chain(self.failing.take()) {
            self.pending.retain(|(_, pending)| pending.path != report.path);
            report.status = ImportStatus::Failed;
            report.add_reason(reason);
            // The receiver may be gone; the import continues.
            let _ = self.reports.send(Outcome::Final(Box::new(report)));
        }
    }

    /// Abandons the current file: its committed rows stay marked, and the owner sweeps them.
    fn abandon(&mut self, error: &std::io::Error) -> Result<()> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        self.batch.forget(current.start.session);
        let (refusal, reason) = unread(error);
        self.failing = Some(FileReport { refusal: Some(refusal), ..current.start.report });
        self.give_up(&reason);
        self.commit()?;
        Ok(())
    }
}

/// What would be lost with the replaced session.
fn losses_unless(
    on_loss: OnLoss,
    old: View<'_>,
    new: View<'_>,
    report: &mut FileReport,
) -> Result<Option<Losses>> {
    if on_loss == OnLoss::Restore {
        return Ok(None);
    }
    // Of several files, another one may have added the last imported lines.
    let is_one_of_several = old.record().sources.len() > 1;
    let needs_imported = on_loss != OnLoss::Merge { is_of_path: true } || !is_one_of_several;
    match losses(old, new, needs_imported) {
        Err(Error::Corrupted(damage)) if on_loss == OnLoss::Accept => {
            report.add_reason(format!("what the store held is not known: {damage}"));
            Ok(None)
        }
        losses => losses,
    }
}
