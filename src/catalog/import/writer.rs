//! The ordered end of the pipeline: sessions get their rows here, and commits happen here.

use std::path::PathBuf;

use crossbeam_channel::Sender;

use super::agents;
use super::blob_folder::BlobFolder;
use super::items::{FileEnd, FileStart, Item, OnLoss, Replaced};
use super::known::free_number;
use super::read::of_session;
use super::report::{FileReport, ImportStatus, Refusal};
use crate::error::{Error, Result};
use crate::session::index::indexer::{Indexed, Indexer};
use crate::session::index::resolve::resolve;
use crate::store::Store;
use crate::store::owner::Owner;
use crate::store::session_record::address_bytes;
use crate::store::slice::{Guard, Slice};
use crate::store::tables::NO_LEAF;

/// The file that is being written.
struct Current<'s> {
    start: FileStart,
    indexer: Indexer<'s>,
    pieces: u64,
    /// Whether rows of it are committed already, and marked as unfinished.
    begun: bool,
}

/// Takes the items of all files in order.
pub(super) struct Writer<'s> {
    store: &'s Store,
    owner: &'s Owner,
    blobs: Option<&'s BlobFolder>,
    slice: Slice,
    current: Option<Current<'s>>,
    /// Reports that hold once the slice is committed.
    pending: Vec<(u64, FileReport)>,
    /// The report of a file that is being ended, until it is pending or sent.
    failing: Option<FileReport>,
    reports: Sender<Outcome>,
}

/// What became of a file.
pub(super) enum Outcome {
    /// This, for good.
    Final(Box<FileReport>),
    /// Another process has changed the session meanwhile: the file is to be looked at again.
    Again(PathBuf),
}

impl<'s> Writer<'s> {
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
            slice: Slice::default(),
            current: None,
            pending: Vec::new(),
            failing: None,
            reports,
        }
    }

    /// Takes the next item. A session whose rows are lost on the way fails alone.
    pub(super) fn take(&mut self, item: Item) -> Result<()> {
        match self.take_item(item) {
            Err(lost @ Error::SessionLost { .. }) => {
                self.slice = Slice::default();
                self.give_up(&lost.to_string());
                // The commit was to bring other files as well.
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
                let Some(current) = &mut self.current else {
                    return Ok(());
                };
                let window_moved = current.indexer.add(*prepared, &mut self.slice)?;
                if window_moved || Indexer::is_slice_full(&self.slice) {
                    self.commit()?;
                }
            }
            Item::Original(bytes) => {
                let Some(current) = &mut self.current else {
                    return Ok(());
                };
                self.slice.weight += bytes.len();
                self.slice.originals.push(((current.start.session, current.pieces), bytes));
                current.pieces += 1;
                if Indexer::is_slice_full(&self.slice) {
                    self.commit()?;
                }
            }
            Item::End(end) => self.end(*end)?,
            Item::Abandon(reason) => self.abandon(&reason)?,
            Item::Flush(answer) => {
                self.commit()?;
                // The reader may have ended.
                let _ = answer.send(());
            }
        }
        Ok(())
    }

    /// Commits what is left.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.current.is_some() {
            self.abandon("the import ended before the file did")?;
        }
        self.commit()?;
        Ok(())
    }

    fn begin(&mut self, start: FileStart) {
        let mut indexer =
            Indexer::new(self.store, start.session, start.record.clone(), None, start.dictionary);
        indexer.hint(start.hint.clone());
        self.current = Some(Current { start, indexer, pieces: 0, begun: false });
    }

    /// Makes the slice durable, and tells of the files that are in it.
    fn commit(&mut self) -> Result<u64> {
        if let Some(current) = &mut self.current {
            let owned = (current.start.session, self.owner.token);
            if current.begun {
                self.slice.held.push(owned);
            } else {
                self.slice.begun.push(owned);
                current.begun = true;
            }
        }
        if let Some(folder) = self.blobs {
            folder.complete(self.store, &mut self.slice)?;
        }
        let committed = self.store.commit(std::mem::take(&mut self.slice))?;
        if let Some(current) = &mut self.current {
            current.indexer.after_commit(committed.replaced_entries);
        }
        self.tell(&committed.conflicts);
        Ok(committed.replaced_entries)
    }

    /// Tells of the files that the last commit has made durable, or left out.
    fn tell(&mut self, conflicts: &[u64]) {
        for (session, report) in self.pending.drain(..) {
            let outcome = if conflicts.contains(&session) {
                Outcome::Again(report.path)
            } else {
                Outcome::Final(Box::new(report))
            };
            // Whoever listens may have gone; the import goes on.
            let _ = self.reports.send(outcome);
        }
    }

    fn end(&mut self, end: FileEnd) -> Result<()> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        let Current { start, indexer, begun, .. } = current;
        let FileStart { session, mut report, replaces, is_agent, .. } = start;
        let Indexed { mut record, mut leaf, leaf_facts, needs_resolving } =
            indexer.finish(&mut self.slice)?;
        agents::settle(&mut record, is_agent);
        record.imported = end.imported;
        record.sealed = record.lines;
        record.dropped = end.dropped;
        record.sources = vec![end.source.clone()];
        // What follows looks at the session's rows, or finds ids that were committed before.
        let must_commit = begun || needs_resolving || replaces.is_some();
        self.failing = Some(report.clone());
        if must_commit {
            let owned = (session, self.owner.token);
            if begun { &mut self.slice.held } else { &mut self.slice.begun }.push(owned);
            record.duplicates += self.commit()?;
        }
        if needs_resolving || record.duplicates > 0 {
            record.irregular = true;
            record.orphans = resolve(self.store, session, &record)?;
            leaf = leaf_facts.decide(self.store, session, &mut record)?;
        }
        let mut keeps_address = false;
        if let Some(replaced) = replaces {
            let losses = match replaced.on_loss {
                OnLoss::Restore => None,
                _ => {
                    match super::losses::losses(self.store, replaced.session, (session, &record)) {
                        // A damaged session costs its own file alone.
                        Err(Error::Corrupted(damage)) if replaced.on_loss == OnLoss::Accept => {
                            report
                                .add_reason(format!("what the store held is not known: {damage}"));
                            None
                        }
                        Err(Error::Corrupted(damage)) => {
                            let reason = of_session(&damage);
                            return self.refuse(report, Refusal::Damaged, &reason);
                        }
                        losses => losses?,
                    }
                }
            };
            match (losses, replaced.on_loss) {
                (Some(losses), OnLoss::Fail) => {
                    return self.refuse(report, Refusal::WouldLose, &losses.to_string());
                }
                (Some(losses), OnLoss::KeepBoth(number)) => {
                    record.number = free_number(self.store, &record.external_id, number)?;
                    report.status = ImportStatus::Imported;
                    report.add_reason(format!(
                        "another file's session has the same id, and {losses}: this one is kept as {}",
                        record.id()
                    ));
                }
                (losses, _) => {
                    self.slice.retired.push((replaced.session, self.owner.token, session));
                    let Replaced { session: old, revision, .. } = replaced;
                    self.slice.guards.push((session, Guard::Same { session: old, revision }));
                    keeps_address = true;
                    record.moved = self.store.snapshot()?.session(old)?.and_then(|old| old.moved);
                    if let Some(losses) = losses {
                        report.add_reason(losses.to_string());
                    }
                }
            }
        }
        report.stored = report.bytes;
        report.describe(&record);
        if must_commit {
            self.slice.held.push((session, self.owner.token));
            self.slice.finished.push(session);
        }
        self.slice.leaves.push((session, leaf.unwrap_or(NO_LEAF)));
        let address = address_bytes(&record.external_id, record.number);
        if !keeps_address {
            self.slice.guards.push((session, Guard::Free { address: address.clone() }));
        }
        self.slice.session_ids.push((address, session));
        self.slice.sources.push((end.source, end.source_record));
        self.slice.sessions.push((session, record));
        self.pending.push((session, report));
        if Indexer::is_slice_full(&self.slice) || must_commit {
            self.commit()?;
        }
        self.failing = None;
        Ok(())
    }

    /// Reports a file as failed whose rows stay marked, so that the owner sweeps them.
    fn refuse(&mut self, report: FileReport, refusal: Refusal, reason: &str) -> Result<()> {
        self.failing = Some(FileReport { refusal: Some(refusal), ..report });
        self.give_up(reason);
        Ok(())
    }

    /// Reports the file that is being written, or ended, as failed.
    fn give_up(&mut self, reason: &str) {
        let current = self.current.take().map(|current| current.start.report);
        for mut report in current.into_iter().chain(self.failing.take()) {
            self.pending.retain(|(_, pending)| pending.path != report.path);
            report.status = ImportStatus::Failed;
            report.add_reason(reason);
            // Whoever listens may have gone; the import goes on.
            let _ = self.reports.send(Outcome::Final(Box::new(report)));
        }
    }

    /// Gives the current file up: what is committed of it stays marked, and the owner sweeps it.
    fn abandon(&mut self, reason: &str) -> Result<()> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        self.slice.forget(current.start.session);
        self.failing = Some(current.start.report);
        self.give_up(reason);
        self.commit()?;
        Ok(())
    }
}
