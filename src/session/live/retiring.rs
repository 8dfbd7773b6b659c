//! Ending an epoch while a process that does not get on has the right to append.
//!
//! That process may write one more record once it goes on. So the journal is sealed first: who has written a record looks at the
//! seal before it is acknowledged. What was acknowledged was written before the seal, is read after it, and goes into the tables
//! with the commit that ends the epoch. A record that is written later counts for nothing. No other epoch begins before the process
//! has given the right back, so that it never writes into one.

use super::folding::Folding;
use crate::error::{Error, Result, StoreError};
use crate::store::Store;
use crate::store::commit::Batch;
use crate::store::journal::Written;

/// What has become of an epoch for whose journal one waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retired {
    /// It has ended.
    Ended,
    /// It goes on: the right to append was given back meanwhile.
    Freed,
}

impl Store {
    /// Ends an epoch whose right to append could not be had.
    ///
    /// # Errors
    ///
    /// The same error, unless it says that a process does not get on.
    pub(crate) fn retire_after(&self, error: Error, epoch: u64) -> Result<Retired> {
        match error {
            Error::Store(StoreError::HeldUp { .. }) => self.retire(epoch),
            error => Err(error),
        }
    }

    /// Ends an epoch although another process has the right to append, or if its journal is sealed.
    pub(super) fn retire(&self, epoch: u64) -> Result<Retired> {
        while self.committed()?.journal_row()?.epoch == epoch {
            let is_sealed = self.write_tables(|snapshot| {
                let row = snapshot.journal_row()?;
                if row.epoch != epoch {
                    return Ok((Batch::default(), true));
                }
                if !self.seal_journal(&row)? {
                    return Ok((Batch::default(), false));
                }
                let (batch, _) = self.folded(self, Folding::AndRetire, snapshot)?;
                Ok((batch, true))
            })?;
            if !is_sealed {
                return Ok(Retired::Freed);
            }
        }
        Ok(Retired::Ended)
    }

    /// Whether the tables have a record that was not acknowledged, of an epoch that was retired; `None` if it was not, or not as the
    /// last one.
    pub(crate) fn is_kept_of_retired(&self, written: &Written) -> Result<Option<bool>> {
        if written.is_sealed() {
            self.retire(written.epoch)?;
        }
        let end = self.committed()?.end_of_retired(written.epoch)?;
        Ok(end.map(|end| written.end.sequence <= end))
    }
}
