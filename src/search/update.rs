//! Brings the index in step with the store.

use std::collections::HashMap;
use std::ops::Bound;

use leafline_import::view::Role;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::query::{BooleanQuery, Query, RangeQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{IndexWriter, TantivyDocument, TantivyError, Term};

use super::SearchIndex;
use super::passages::{SEARCHED, passages};
use super::states::{State, read_states};
use crate::error::{Corruption, Error, Result};
use crate::session::{Entry, SessionReader};
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;

/// The total memory of all threads that make the index: what fits in it becomes one segment.
const MEMORY: usize = 192 << 20;

/// More threads than these gain nothing: only one thread reads the store.
const MOST_THREADS: usize = 4;

/// Bytes of lines after which what was read is committed: an update that is killed loses no more than this.
const COMMIT_BYTES: u64 = 512 << 20;

/// The share of deleted documents from which a segment is rewritten without them.
const MOST_DELETED: f32 = 0.3;

/// What an update has done.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct IndexUpdate {
    /// Sessions that were new or had changed.
    pub sessions: u64,
    /// Entries that were added, including those of changed sessions again.
    pub entries: u64,
    /// Bytes of the lines that were read.
    pub bytes: u64,
    /// Sessions that are gone from the store.
    pub removed: u64,
    /// Whether the index has everything that the store had, except damaged sessions; not if the update was stopped.
    pub is_complete: bool,
    /// Sessions that were left out from the point where they are damaged.
    pub damaged: Vec<DamagedSession>,
}

/// A session that cannot be read to its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DamagedSession {
    /// Its id.
    pub session: String,
    /// What is wrong.
    pub damage: Corruption,
}

/// How far the index lags behind the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexLag {
    /// Sessions with unread lines, or that are gone.
    pub sessions: u64,
    /// Approximate bytes of lines to read: a session's bytes are assumed to be spread evenly over its lines.
    pub bytes: u64,
}

/// What is to be done.
struct Work {
    /// Sessions to read, and from which line; those with the latest messages first.
    read: Vec<(SessionKey, Ordinal)>,
    /// Sessions that are gone.
    gone: Vec<SessionKey>,
    /// Sessions whose records cannot be read. Their content in the index stays.
    damaged: Vec<DamagedSession>,
    lag: IndexLag,
    /// The commit of the index that this is based on, or an earlier one.
    commit: u64,
}

impl SearchIndex {
    /// How far the index lags behind the store. Costs a few microseconds for each session of the store.
    ///
    /// # Errors
    ///
    /// [`SearchError::Index`](crate::error::SearchError::Index), and those of [`crate::Store::list`].
    pub fn lag(&self) -> Result<IndexLag> {
        Ok(self.work()?.lag)
    }

    /// Brings the index in step with the store: reads the lines that are new to it, and all lines of a session whose
    /// lines were changed. `go_on` receives the number of bytes read, some thousand lines at a time, and returns
    /// whether to continue; what was done until then stays.
    ///
    /// Memory is bounded by some 300 MB. Several threads work. When it returns, the new index is on disk; an update
    /// that is killed loses at most the last 512 MB of lines.
    ///
    /// Deletes files in the folder that the index does not use, whichever process left them.
    ///
    /// A damaged session does not affect the others: it is named in the result, and the next update tries it again.
    ///
    /// # Errors
    ///
    /// [`SearchError::IndexBusy`](crate::error::SearchError::IndexBusy) if another process is updating it,
    /// [`SearchError::Index`](crate::error::SearchError::Index) if it cannot be written, [`Error::File`] if it may only be
    /// read.
    pub fn update(&self, go_on: impl FnMut(u64) -> bool) -> Result<IndexUpdate> {
        let work = self.work()?;
        if work.read.is_empty() && work.gone.is_empty() {
            // Failure is ignored: the process may not write here, or another one is updating the index.
            if self.has_dead_files()? {
                let _ = self.index_to_write();
            }
            let damaged = work.damaged;
            return Ok(IndexUpdate { is_complete: true, damaged, ..IndexUpdate::default() });
        }
        let mut writer = self.writer(work.lag.bytes)?;
        // The process that held the index until now may have done all of it.
        let work = if self.commit()? == work.commit { work } else { self.work()? };
        let mut run = Run {
            index: self,
            writer: &mut writer,
            go_on,
            done: IndexUpdate { damaged: work.damaged.clone(), ..IndexUpdate::default() },
            uncommitted: 0,
        };
        run.run(&work)?;
        let done = run.done;
        writer.wait_merging_threads().map_err(|error| self.failed(&error))?;
        Ok(done)
    }

    fn writer(&self, bytes: u64) -> Result<IndexWriter> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // A small update uses one thread, which makes one segment.
        let threads = if bytes < 16 << 20 { 1 } else { cores.min(MOST_THREADS) };
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .num_merge_threads(1)
            .memory_budget_per_thread(MEMORY / threads)
            .build();
        let index = self.index_to_write()?;
        let writer = index.writer_with_options(options).map_err(|error| self.failed(&error))?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(MOST_DELETED);
        writer.set_merge_policy(Box::new(policy));
        Ok(writer)
    }

    fn work(&self) -> Result<Work> {
        let commit = self.commit()?;
        let searcher = self.searcher()?;
        let mut known: HashMap<SessionKey, State> =
            read_states(&searcher).map_err(|error| self.failed(&error))?;
        let snapshot = self.store.snapshot()?;
        let mut read = Vec::new();
        let mut damaged = Vec::new();
        let mut lag = IndexLag::default();
        snapshot.each_session(|row| {
            let (key, record) = match row {
                Ok(row) => (row.key(), row.record()),
                Err(unreadable) => (unreadable.key, Err(unreadable.error)),
            };
            let state = known.remove(&key);
            let record = match record {
                Err(Error::Corrupted(damage)) => {
                    damaged.push(DamagedSession { session: snapshot.id_of(key)?, damage });
                    return Ok(());
                }
                record => record?,
            };
            let Some(from) = State::next_line(state.as_ref(), &record) else { return Ok(()) };
            lag.bytes += bytes_behind(&record, from);
            read.push((record.modified, key, from));
            Ok(())
        })?;
        read.sort_unstable_by(|one, other| other.cmp(one));
        let read: Vec<(SessionKey, Ordinal)> =
            read.into_iter().map(|(_, key, from)| (key, from)).collect();
        lag.sessions = (read.len() + known.len() + damaged.len()) as u64;
        Ok(Work { read, gone: known.into_keys().collect(), damaged, lag, commit })
    }
}

/// Approximate bytes of a session's lines from `line` on.
fn bytes_behind(record: &SessionRecord, line: Ordinal) -> u64 {
    let lines = record.lines.saturating_sub(line.lines_before());
    let share = u128::from(record.text_bytes) * u128::from(lines);
    u64::try_from(share / u128::from(record.lines.max(1))).unwrap_or(u64::MAX)
}

/// One update.
struct Run<'r, F> {
    index: &'r SearchIndex,
    writer: &'r mut IndexWriter,
    go_on: F,
    done: IndexUpdate,
    /// Bytes of lines read since the last commit.
    uncommitted: u64,
}

/// Whether to go on.
type GoesOn = bool;

impl<F: FnMut(u64) -> bool> Run<'_, F> {
    fn run(&mut self, work: &Work) -> Result<()> {
        for &session in &work.gone {
            self.remove(session);
            self.done.removed += 1;
        }
        let mut goes_on = true;
        for &(session, from) in &work.read {
            goes_on = self.read_session(session, from)?;
            if !goes_on {
                break;
            }
        }
        self.commit()?;
        self.done.is_complete = goes_on;
        Ok(())
    }

    fn remove(&mut self, session: SessionKey) {
        let fields = &self.index.fields;
        self.writer.delete_term(Term::from_field_u64(fields.session, session.raw()));
        self.writer.delete_term(Term::from_field_u64(fields.state, session.raw()));
    }

    /// Reads a session from a line on.
    fn read_session(&mut self, session: SessionKey, from: Ordinal) -> Result<GoesOn> {
        let snapshot = self.index.store.snapshot()?;
        let record = match snapshot.session(session) {
            Err(Error::Corrupted(damage)) => {
                let session = snapshot.id_of(session)?;
                self.done.damaged.push(DamagedSession { session, damage });
                return Ok(true);
            }
            record => record?,
        };
        let Some(record) = record else {
            // It is gone since.
            self.remove(session);
            return Ok(true);
        };
        let (id, state) = (record.id(), State::of(&record));
        let reader = SessionReader::new(snapshot, session, record);
        self.remove_from(session, from)?;
        let mut goes_on = true;
        let mut read = from.lines_before();
        let mut unreported = 0;
        let lines = reader.stored_lines(from, |entry| {
            let bytes = entry.line().len() as u64;
            read = entry.place().number();
            self.add(session, entry)?;
            self.done.bytes += bytes;
            self.uncommitted += bytes;
            unreported += bytes;
            if unreported >= 1 << 20 {
                goes_on = (self.go_on)(std::mem::take(&mut unreported));
            }
            if self.uncommitted >= COMMIT_BYTES {
                self.keep_state(session, State { lines: read, ..state })?;
                self.commit()?;
            }
            Ok(goes_on)
        });
        goes_on = (self.go_on)(unreported) && goes_on;
        let is_whole = match lines {
            Err(Error::Corrupted(damage)) => {
                self.done.damaged.push(DamagedSession { session: id, damage });
                // However far it was read, it is not complete.
                read = read.min(state.lines.saturating_sub(1));
                false
            }
            lines => {
                lines?;
                self.done.sessions += 1;
                goes_on
            }
        };
        self.keep_state(session, if is_whole { state } else { State { lines: read, ..state } })?;
        Ok(goes_on)
    }

    /// Removes the entries from a line on from the index.
    fn remove_from(&mut self, session: SessionKey, from: Ordinal) -> Result<()> {
        let fields = &self.index.fields;
        if from == Ordinal::FIRST {
            self.writer.delete_term(Term::from_field_u64(fields.session, session.raw()));
            return Ok(());
        }
        let of_session: Box<dyn Query> = Box::new(TermQuery::new(
            Term::from_field_u64(fields.session, session.raw()),
            IndexRecordOption::Basic,
        ));
        let first = Bound::Included(Term::from_field_u64(fields.ordinal, from.raw()));
        let following: Box<dyn Query> = Box::new(RangeQuery::new(first, Bound::Unbounded));
        let removed = self
            .writer
            .delete_query(Box::new(BooleanQuery::intersection(vec![of_session, following])));
        removed.map(drop).map_err(|error| self.index.failed(&error))
    }

    fn add(&mut self, session: SessionKey, entry: Entry) -> Result<()> {
        let (view, ordinal) = (entry.view(), entry.ordinal());
        // A long line and what it says are not both in memory longer than needed.
        drop(entry);
        if !SEARCHED.contains(&view.role) {
            return Ok(());
        }
        let fields = &self.index.fields;
        let mut document = TantivyDocument::new();
        document.add_u64(fields.session, session.raw());
        document.add_u64(fields.ordinal, ordinal);
        document.add_u64(fields.role, role_number(view.role));
        if let Some(time) = view.time {
            document.add_i64(fields.time, time);
        }
        let mut is_empty = true;
        for passage in passages(view) {
            is_empty = false;
            document.add_text(fields.text, passage);
        }
        if is_empty {
            return Ok(());
        }
        self.done.entries += 1;
        self.added(document)
    }

    /// Records how much of a session was read, replacing the previous state.
    fn keep_state(&mut self, session: SessionKey, state: State) -> Result<()> {
        let fields = &self.index.fields;
        self.writer.delete_term(Term::from_field_u64(fields.state, session.raw()));
        self.added(state.document(fields, session))
    }

    fn added(&mut self, document: TantivyDocument) -> Result<()> {
        match self.writer.add_document(document) {
            Ok(_) => Ok(()),
            // A thread has ended; the reason is reported when all are joined.
            Err(error) => {
                let cause = self.writer.commit().err().unwrap_or(error);
                Err(self.index.failed(&cause))
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        self.uncommitted = 0;
        let committed: Result<u64, TantivyError> = self.writer.commit();
        committed.map(drop).map_err(|error| self.index.failed(&error))
    }
}

/// A role's place among all.
pub(super) fn role_number(role: Role) -> u64 {
    Role::ALL.iter().position(|other| *other == role).unwrap_or(Role::ALL.len()) as u64
}
