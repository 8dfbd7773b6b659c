//! Creates a session, or replaces another one.

use super::guard::Guard;
use super::rows::{Rows, Tally};
use super::slice::{Retirement, Row};
use super::{Author, Batch, Committed, check};
use crate::error::Result;
use crate::store::Store;
use crate::store::clock::now;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{SessionRecord, address_bytes};
use crate::store::source_record::SourceRecord;

/// A session that is invisible until it is finished: in one commit with other sessions, or after several of its own.
#[derive(Debug)]
pub(crate) struct Creation {
    session: SessionKey,
    /// The token of the owner that marked earlier commits.
    mark: Option<u64>,
    tally: Tally,
}

/// The state of a session once all of its rows are written.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) record: SessionRecord,
    pub(crate) leaf: Option<Ordinal>,
    pub(crate) author: Author,
    pub(crate) place: Place,
    /// Its sources: paths that the record names, and what was imported from them.
    pub(crate) sources: Vec<(Vec<u8>, SourceRecord)>,
}

/// The place of a new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A new one: its address must be free.
    Own,
    /// That of another session, which the same commit retires, and which must still have this revision. The new session
    /// must have been marked before.
    Of { session: SessionKey, revision: u64 },
    /// A new one. The session that the file had before is removed with the same commit, and must still have this revision.
    /// The new session must have been marked before.
    Over { session: SessionKey, revision: u64 },
}

impl Creation {
    /// A session with a [reserved](crate::Store::reserve_sessions) key.
    pub(crate) fn new(session: SessionKey) -> Self {
        Self { session, mark: None, tally: Tally::default() }
    }

    pub(crate) fn session(&self) -> SessionKey {
        self.session
    }

    /// Where its rows go.
    pub(crate) fn rows<'b>(&'b mut self, batch: &'b mut Batch) -> Rows<'b> {
        Rows { slice: &mut batch.slice, session: self.session, tally: &mut self.tally }
    }

    /// Whether rows of it have been committed.
    pub(crate) fn is_begun(&self) -> bool {
        self.mark.is_some()
    }

    /// Marks the session as unfinished, for a commit of the batch that does not finish it. If it is never finished, the
    /// next writer after the owner sweeps the rows.
    pub(crate) fn mark(&mut self, owner: u64, batch: &mut Batch) {
        match self.mark {
            Some(mark) => self.hold(mark, batch),
            None => {
                self.mark = Some(owner);
                batch.slice.begun.push(Row { session: self.session, key: (), value: owner });
            }
        }
    }

    /// Commits the batch's rows of the session, which was [marked](Self::mark) before and is not finished yet.
    ///
    /// # Errors
    ///
    /// Those of [`Store::commit`].
    pub(crate) fn commit_part(&self, store: &Store, batch: &mut Batch) -> Result<()> {
        if let Some(mark) = self.mark {
            self.hold(mark, batch);
        }
        store.commit(std::mem::take(batch)).map(drop)
    }

    /// Lets the batch be committed only if the mark of earlier commits still exists.
    fn hold(&self, mark: u64, batch: &mut Batch) {
        batch.slice.held.push(Row { session: self.session, key: (), value: mark });
    }

    /// Records a commit with rows of the session. Returns how many entries replaced earlier ones with the same id.
    pub(crate) fn note(&mut self, committed: &Committed) -> u64 {
        let replaced = committed.replaced_entries(self.session);
        self.tally.ids = self.tally.ids.saturating_sub(replaced);
        replaced
    }

    /// Makes the session visible with the commit of the batch.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the record contradicts itself or the rows. The batch must not
    /// be committed then.
    pub(crate) fn finish(self, batch: &mut Batch, finished: Finished) -> Result<()> {
        let Self { session, mark, tally } = self;
        let Finished { mut record, leaf, author, place, sources } = finished;
        check::tally(session, &record, Tally::of(&record), tally)?;
        record.sealed = record.lines;
        author.note(&mut record);
        let row = |value| Row { session, key: (), value };
        if let Some(mark) = mark {
            batch.slice.held.push(row(mark));
            batch.slice.finished.push(Row { session, key: (), value: () });
        }
        let address = address_bytes(&record.external_id, record.number);
        let guard = match place {
            Place::Own => Guard::Free { address: address.clone() },
            Place::Of { session: old, revision } | Place::Over { session: old, revision } => {
                let Some(owner) = mark else {
                    let problem = "it takes the place of another one without a mark";
                    return Err(check::refused(session, problem));
                };
                let is_removed = matches!(place, Place::Over { .. });
                if is_removed {
                    let guard = Guard::Free { address: address.clone() };
                    batch.slice.guards.push(Row { session, key: (), value: guard });
                }
                let value = Retirement { owner, removed_at: is_removed.then(now) };
                batch.slice.retired.push(Row { session, key: old, value });
                Guard::Same { session: old, revision }
            }
        };
        batch.slice.guards.push(Row { session, key: (), value: guard });
        for (path, source) in sources {
            batch.put_source(session, &mut record, path, source);
        }
        batch.slice.session_ids.push(Row { session, key: address, value: () });
        batch.put(session, record, Some(leaf));
        Ok(())
    }
}
