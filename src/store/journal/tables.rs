//! What the tables know of the journal.

use redb::WriteTransaction;

use super::row::{JournalRow, KEY, Place};
use crate::error::{Corruption, Error, Result};
use crate::store::pages::ReadableTable;
use crate::store::record::Record;
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;
use crate::store::tables;

impl Snapshot {
    /// What the tables know of the journal.
    pub(crate) fn journal_row(&self) -> Result<JournalRow> {
        let row = self.table(tables::JOURNAL)?.get(KEY)?.ok_or_else(no_row)?;
        JournalRow::from_bytes(row.value(), || KEY.to_string())
    }

    /// The last epoch that was begun, and the last one that was [retired](JournalChange::Retire); 0 if none ever was.
    pub(crate) fn last_epochs(&self) -> Result<(u64, u64)> {
        let meta = self.transaction().open_table(tables::META)?;
        let number = |name| Ok::<_, Error>(meta.get(name)?.map_or(0, |number| number.value()));
        Ok((number(LAST_EPOCH)?, number(RETIRED)?))
    }

    /// The last record that the tables have of an epoch, if it was retired, and none since.
    pub(crate) fn end_of_retired(&self, epoch: u64) -> Result<Option<u64>> {
        let meta = self.transaction().open_table(tables::META)?;
        match meta.get(RETIRED)? {
            Some(retired) if retired.value() == epoch => {
                Ok(meta.get(RETIRED_END)?.map(|end| end.value()))
            }
            _ => Ok(None),
        }
    }

    /// Passes on the session of each record that could not become rows.
    pub(crate) fn each_unfolded(&self, mut take: impl FnMut(SessionKey)) -> Result<()> {
        let table = self.table(tables::UNFOLDED)?;
        for row in table.iter()? {
            take(SessionKey::new(row?.0.value().0));
        }
        Ok(())
    }

    /// The payloads of a session's records that could not become rows, in their order.
    pub(crate) fn unfolded_of(&self, session: SessionKey) -> Result<Vec<Vec<u8>>> {
        let table = self.table(tables::UNFOLDED)?;
        let kept = table.range((session.raw(), 0)..=(session.raw(), u64::MAX))?;
        kept.map(|row| Ok(row?.1.value().to_vec())).collect()
    }

    /// Fails if a session lacks changes that were acknowledged: what its tables say is not all.
    pub(crate) fn refuse_unfolded(&self, session: SessionKey) -> Result<()> {
        let table = self.table(tables::UNFOLDED)?;
        let mut kept = table.range((session.raw(), 0)..=(session.raw(), u64::MAX))?;
        match kept.next().transpose()? {
            None => Ok(()),
            Some(_) => Err(lacking(session).into()),
        }
    }

    /// The same for all sessions.
    pub(crate) fn refuse_any_unfolded(&self) -> Result<()> {
        let table = self.table(tables::UNFOLDED)?;
        match table.iter()?.next().transpose()? {
            None => Ok(()),
            Some((key, _)) => Err(lacking(SessionKey::new(key.value().0)).into()),
        }
    }
}

/// The damage of a session whose tables could not take what was appended to it.
fn lacking(session: SessionKey) -> Corruption {
    Corruption {
        table: "unfolded",
        place: format!("session key {session}"),
        problem:
            "what was appended last is kept apart, since the session's tables could not take it"
                .into(),
    }
}

/// The name in `meta` of the last epoch that was begun.
const LAST_EPOCH: &str = "journal_epoch";

/// The names of the last one that was retired, and of the last of its records that the tables have.
const RETIRED: &str = "journal_retired";
const RETIRED_END: &str = "journal_retired_end";

/// Writes the row of a store whose journal was never used.
pub(crate) fn make_row(transaction: &WriteTransaction) -> Result<()> {
    write_row(transaction, &JournalRow::default())
}

/// Writes the row.
pub(crate) fn write_row(transaction: &WriteTransaction, row: &JournalRow) -> Result<()> {
    let mut table = transaction.open_table(tables::JOURNAL)?;
    table.insert(KEY, row.to_bytes().as_slice())?;
    Ok(())
}

/// What a commit does to the journal.
#[derive(Debug, Clone)]
pub(crate) enum JournalChange {
    /// Its records up to this place are in the tables now.
    Fold(Place),
    /// The same, and they were all: the epoch ends.
    End(Place),
    /// The same while a process that does not get on has the right to append: nobody acknowledges the record that it may write.
    Retire(Place),
    /// The epoch ends at this place, and what a journal of another epoch has counts for nothing.
    GiveUp(Place, u64),
    /// An epoch begins.
    Begin(JournalRow),
}

/// Notes a commit that changes sessions in the row, as long as a journal is in use.
pub(crate) fn note_commit(
    transaction: &WriteTransaction,
    change: Option<JournalChange>,
) -> Result<()> {
    let mut row = row_of(transaction)?;
    if row.epoch == 0 && change.is_none() {
        return Ok(());
    }
    match change {
        None => {}
        Some(JournalChange::Fold(place)) => row.folded = place,
        Some(JournalChange::End(folded)) => {
            row = JournalRow { epoch: 0, folded, path: Vec::new(), ..row }
        }
        Some(JournalChange::Retire(end)) => {
            let mut meta = transaction.open_table(tables::META)?;
            meta.insert(RETIRED, row.epoch)?;
            meta.insert(RETIRED_END, end.sequence)?;
            // No later record has the number of the one that may be written.
            let folded = Place { sequence: end.sequence + 1, ..end };
            row = JournalRow { epoch: 0, folded, path: Vec::new(), ..row };
        }
        Some(JournalChange::GiveUp(folded, epoch)) => {
            transaction.open_table(tables::META)?.insert(LAST_EPOCH, epoch)?;
            row = JournalRow { epoch: 0, folded, path: Vec::new(), ..row };
        }
        Some(JournalChange::Begin(begun)) => {
            transaction.open_table(tables::META)?.insert(LAST_EPOCH, begun.epoch)?;
            row = begun;
        }
    }
    row.commits += 1;
    write_row(transaction, &row)
}

/// The row as a write transaction sees it.
pub(crate) fn row_of(transaction: &WriteTransaction) -> Result<JournalRow> {
    let table = transaction.open_table(tables::JOURNAL)?;
    let row = table.get(KEY)?.ok_or_else(no_row)?;
    JournalRow::from_bytes(row.value(), || KEY.to_string())
}

/// The damage of a store that does not say how far it is.
fn no_row() -> Corruption {
    Corruption {
        table: "journal",
        place: KEY.to_string(),
        problem: "the row that says how far the tables are is not there".into(),
    }
}
