//! Sweeping: removes the rows that no session record shows, in slices, so that no writer waits long.

use redb::{Table, TableHandle as _, WriteTransaction};

use crate::destination::{end_of_links, folder_of};
use crate::error::{Error, Result};
use crate::store::blobs::BlobTables;
use crate::store::chunk::Chunk;
use crate::store::ordinal::Ordinal;
use crate::store::owner::{Owner, SWEPT};
use crate::store::pages::ReadableTable;
use crate::store::session_key::SessionKey;
use crate::store::{Store, tables};
use crate::temporary::remove_left;

/// Rows of small tables that one commit removes.
const ROWS_A_COMMIT: usize = 50_000;

/// Chunks that one commit removes: about 16 MiB of the file.
const CHUNKS_A_COMMIT: usize = 1_000;

impl Store {
    /// Removes the rows of every unfinished session whose owner is gone, and the files beside the store that a killed
    /// compaction left. Returns the bytes of blobs freed. Rows on damaged pages stay, as nobody sees them: whoever writes
    /// another session goes on.
    pub(crate) fn sweep(&self) -> Result<u64> {
        let path = Some(self.path()).filter(|_| !self.is_in_memory());
        if let Some(path) = path.and_then(|path| end_of_links(path, |_| false)) {
            remove_left(folder_of(&path));
        }
        self.sweep_sessions(|token| !self.owners().is_alive(token))
    }

    /// Removes the rows of the sessions that this owner has retired or abandoned, but for those on damaged pages. Returns the
    /// bytes of blobs freed.
    pub(crate) fn sweep_own(&self, owner: &Owner) -> Result<u64> {
        self.sweep_sessions(|token| token == owner.token)
    }

    fn sweep_sessions(&self, is_due: impl Fn(u64) -> bool) -> Result<u64> {
        let table = self.begin_read()?.open_table(tables::UNFINISHED)?;
        let mut due = Vec::new();
        for row in table.iter()? {
            let (session, token) = row?;
            if is_due(token.value()) {
                due.push((SessionKey::new(session.value()), token.value()));
            }
        }
        let mut freed = 0;
        for (session, token) in due {
            match self.sweep_session(session, token) {
                Ok(bytes) => freed += bytes,
                // `verify` finds the page, and that the rows are there.
                Err(Error::Corrupted(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(freed)
    }

    /// Removes the rows of a session that this owner has retired. Returns the bytes of blobs freed.
    pub(crate) fn sweep_session(&self, session: SessionKey, token: u64) -> Result<u64> {
        let mut freed = 0;
        loop {
            let transaction = self.begin_write()?;
            // An owner that finished, and released its lock, after the table was read has completed the session.
            let is_due =
                transaction.act(|transaction| is_unfinished(transaction, session, token))?;
            if !is_due {
                transaction.abort()?;
                return Ok(freed);
            }
            let (bytes, done) = transaction.act(|transaction| {
                let (bytes, done) = sweep_slice(transaction, session)?;
                let mut unfinished = transaction.open_table(tables::UNFINISHED)?;
                // The commit that removes the first rows replaces the mark with the sweep's: an owner that turns out to
                // be alive finds a mark that is not its own, and does not finish a session that has lost rows.
                if done {
                    unfinished.remove(session.raw())?;
                } else {
                    unfinished.insert(session.raw(), SWEPT)?;
                }
                Ok((bytes, done))
            })?;
            transaction.commit_beside_appends()?;
            freed += bytes;
            if done {
                return Ok(freed);
            }
        }
    }
}

/// Whether the session still needs a sweep of this owner's rows, begun or not.
fn is_unfinished(transaction: &WriteTransaction, session: SessionKey, token: u64) -> Result<bool> {
    let table = transaction.open_table(tables::UNFINISHED)?;
    let mark = table.get(session.raw())?.map(|mark| mark.value());
    Ok(mark == Some(token) || mark == Some(SWEPT))
}

/// Removes one slice of the session's rows; returns the freed bytes of blobs and whether all are gone.
fn sweep_slice(transaction: &WriteTransaction, session: SessionKey) -> Result<(u64, bool)> {
    let (raw, end) = (session.raw(), session.end());
    let mut lines = transaction.open_table(tables::LINES)?;
    let mut firsts = Vec::new();
    for row in lines.range((raw, 0, 0)..(end, 0, 0))? {
        let (_, first, part) = row?.0.value();
        if part == 0 {
            firsts.push(Ordinal::new(first));
        }
        if firsts.len() > CHUNKS_A_COMMIT {
            break;
        }
    }
    if !firsts.is_empty() {
        let mut freed = 0;
        let mut blobs = BlobTables {
            records: transaction.open_table(tables::BLOBS)?,
            parts: transaction.open_table(tables::BLOB_PARTS)?,
        };
        for first in firsts {
            freed += remove_chunk(&mut lines, &mut blobs, session, first)?;
        }
        return Ok((freed, false));
    }
    // Of a damaged chunk whose beginning is lost the rest may be there.
    let mut parts = Vec::new();
    for row in lines.range((raw, 0, 0)..(end, 0, 0))?.take(CHUNKS_A_COMMIT) {
        parts.push(row?.0.value());
    }
    if !parts.is_empty() {
        for key in parts {
            lines.remove(key)?;
        }
        return Ok((0, false));
    }
    let mut left = ROWS_A_COMMIT;
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut entries = transaction.open_table(tables::ENTRIES)?;
    for row in entries.range((raw, &b""[..])..(end, &b""[..]))?.take(left) {
        keys.push(row?.0.value().1.to_vec());
    }
    left -= keys.len();
    for id in keys.drain(..) {
        entries.remove((raw, id.as_slice()))?;
    }
    let mut labels = transaction.open_table(tables::LABELS)?;
    for row in labels.range((raw, &b""[..])..(end, &b""[..]))?.take(left) {
        keys.push(row?.0.value().1.to_vec());
    }
    left -= keys.len();
    for target in keys {
        labels.remove((raw, target.as_slice()))?;
    }
    // To open a table is to make it, and a store has this one only with its first row.
    if transaction.list_tables()?.any(|table| table.name() == tables::SUMMARIES.name()) {
        let mut summaries = transaction.open_table(tables::SUMMARIES)?;
        summaries.retain_in((raw, &b""[..])..(end, &b""[..]), |_, _| false)?;
    }
    let mut children = transaction.open_table(tables::CHILDREN)?;
    let mut triples = Vec::new();
    for row in children.range((raw, 0, 0)..(end, 0, 0))?.take(left) {
        triples.push(row?.0.value());
    }
    left -= triples.len();
    for key in triples {
        children.remove(key)?;
    }
    left -= remove_pairs(&mut transaction.open_table(tables::SETTINGS)?, session, left)?;
    left -= remove_pairs(&mut transaction.open_table(tables::POINTERS)?, session, left)?;
    left -= remove_pairs(&mut transaction.open_table(tables::USAGE)?, session, left)?;
    left -= remove_pairs(&mut transaction.open_table(tables::UNFOLDED)?, session, left)?;
    left -= remove_pairs(&mut transaction.open_table(tables::ORIGINALS)?, session, left.min(200))?;
    transaction.open_table(tables::LEAVES)?.remove(raw)?;
    Ok((0, left == ROWS_A_COMMIT))
}

fn remove_pairs(
    table: &mut Table<'_, (u64, u64), &'static [u8]>,
    session: SessionKey,
    most: usize,
) -> Result<usize> {
    let mut keys = Vec::new();
    for row in table.range((session.raw(), 0)..=(session.raw(), u64::MAX))?.take(most) {
        keys.push(row?.0.value());
    }
    let count = keys.len();
    for key in keys {
        table.remove(key)?;
    }
    Ok(count)
}

fn remove_chunk(
    lines: &mut Table<'_, (u64, u64, u32), &'static [u8]>,
    blobs: &mut BlobTables<'_>,
    session: SessionKey,
    first: Ordinal,
) -> Result<u64> {
    let mut bytes = Vec::new();
    let mut part = 0;
    while let Some(row) = lines.remove((session.raw(), first.raw(), part))? {
        bytes.extend_from_slice(row.value());
        part += 1;
    }
    // References of a damaged chunk stay counted, which `verify` reports; the chunk must not stop all writers.
    let Ok(chunk) = Chunk::parse(first, &bytes) else {
        return Ok(0);
    };
    let mut freed = 0;
    for hole in chunk.holes() {
        freed += blobs.release(&hole.hash, 1, u64::from(hole.kind.is_cut()))?;
    }
    Ok(freed)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;

    use super::super::slice::Row;
    use super::super::tests::{chunk, finished, record};
    use super::super::{Batch, Creation};
    use super::*;
    use crate::store::session_record::SessionRecord;

    const OWNER: u64 = 7;

    /// Commits sessions of one line each, and returns them.
    fn begin<const N: usize>(store: &Store, keys: [u64; N]) -> [Creation; N] {
        let mut batch = Batch::default();
        let creations = keys.map(|key| {
            let mut creation = Creation::new(SessionKey::new(key));
            creation.rows(&mut batch).add_chunk(chunk(Ordinal::FIRST, b"one\n"), &mut Vec::new());
            creation.mark(OWNER, &mut batch);
            creation
        });
        store.commit(batch).unwrap();
        creations
    }

    #[test]
    fn a_session_that_is_completed_meanwhile_is_not_swept() {
        let store = Store::in_memory().unwrap();
        let [one, _] = begin(&store, [1, 2]);
        let one = Cell::new(Some(one));
        store
            .sweep_sessions(|_| {
                if let Some(one) = one.take() {
                    let mut batch = Batch::default();
                    one.finish(&mut batch, finished(record("one", 1))).unwrap();
                    store.commit(batch).unwrap();
                }
                true
            })
            .unwrap();
        let snapshot = store.snapshot().unwrap();
        assert!(snapshot.rows(SessionKey::new(2)).chunks_left().next().unwrap().is_none());
        let row = snapshot.table(tables::LINES).unwrap().get((1, 0, 0)).unwrap();
        assert!(row.is_some(), "the lines of a session that shows stay");
    }

    #[test]
    fn what_is_left_of_a_damaged_chunk_is_swept() {
        let store = Store::in_memory().unwrap();
        let [_, _] = begin(&store, [1, 2]);
        let transaction = store.begin_write().unwrap();
        {
            let mut lines = transaction.open_table(tables::LINES).unwrap();
            lines.remove((1, 0, 0)).unwrap();
            for key in [(1, 0, 1), (1, 0, 2), (1, 7, 3), (2, 0, 2)] {
                lines.insert(key, &b"a part"[..]).unwrap();
            }
        }
        transaction.commit().unwrap();
        store.sweep_sessions(|_| true).unwrap();
        let snapshot = store.snapshot().unwrap();
        assert!(snapshot.stray_sessions(&BTreeSet::new()).unwrap().is_empty());
        assert!(snapshot.unfinished().unwrap().is_empty());
    }

    #[test]
    fn an_owner_whose_rows_were_swept_finds_another_mark() {
        let store = Store::in_memory().unwrap();
        let [mut creation] = begin(&store, [1]);
        // A sweep that is cut off after its first commit.
        let transaction = store.begin_write().unwrap();
        assert!(is_unfinished(&transaction, SessionKey::new(1), OWNER).unwrap());
        transaction.open_table(tables::UNFINISHED).unwrap().insert(1, SWEPT).unwrap();
        transaction.commit().unwrap();
        let mut next = Batch::default();
        creation.rows(&mut next).add_original(0, vec![1]);
        let error = creation.commit_part(&store, &mut next).unwrap_err();
        assert!(
            matches!(error, crate::Error::Import(crate::error::ImportError::Lost { .. })),
            "{error}"
        );
        // The next sweep continues it.
        store.sweep().unwrap();
        let snapshot = store.snapshot().unwrap();
        assert!(snapshot.rows(SessionKey::new(1)).chunks_left().next().unwrap().is_none());
    }

    #[test]
    fn a_session_is_complete_only_with_all_of_its_rows() {
        let record = record("one", 1);
        let entries = SessionRecord { entries: 1, ..record.clone() };
        let longer = SessionRecord { lines: 2, ..record.clone() };
        let original = SessionRecord { migrated: true, ..record };
        let mut original = original;
        original.imported.length = 4;
        for (record, problem) in [
            (entries, "0 of 1 entries are there"),
            (longer, "its last line is not line 2"),
            (original, "the imported bytes are not there"),
        ] {
            let store = Store::in_memory().unwrap();
            begin(&store, [1]);
            // More than the handle has counted.
            let mut batch = Batch::default();
            let session = SessionKey::new(1);
            batch.put(session, record, Some(None));
            batch.slice.finished.push(Row { session, key: (), value: () });
            batch.slice.held.push(Row { session, key: (), value: OWNER });
            let error = store.commit(batch).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
            assert!(
                store.snapshot().unwrap().session(session).unwrap().is_none(),
                "nothing is written"
            );
        }
    }
}
