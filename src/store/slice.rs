//! A slice: rows that are committed together. An import collects one in memory, without holding the write
//! transaction, so that other writers wait for the commit alone.

use std::collections::HashMap;
use std::ops::Bound;

use redb::{ReadableTable, Table, WriteTransaction};

use super::blobs::{BlobTables, Hash};
use super::entry_record::EntryRows;
use super::label_record::LabelRecord;
use super::pointer_record::PointerRecord;
use super::record::Record;
use super::session_record::SessionRecord;
use super::settings_record::SettingsRecord;
use super::snapshot::Snapshot;
use super::source_record::SourceRecord;
use super::{Store, parts, proof, tables};
use crate::error::{Corruption, Result};

/// What a blob gains in a slice.
#[derive(Debug)]
pub(crate) struct BlobGain {
    /// The session whose lines name it.
    pub(crate) session: u64,
    pub(crate) hash: Hash,
    /// Its bytes, where the slice brings them.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Whether lines lost the base64: [`BlobRecord::holes`](super::blobs::BlobRecord).
    pub(crate) hole: bool,
    /// Whether a line refers to it; bytes may also be brought for lines that are there already.
    pub(crate) reference: bool,
}

/// What must be true of the store for a session's rows to be written: what the import that made them has
/// seen, before another process could change it.
#[derive(Debug)]
pub(crate) enum Guard {
    /// No session is addressed like this.
    Free { address: Vec<u8> },
    /// The session is there, and nobody has written it since.
    Same { session: u64, revision: u64 },
}

/// A session and the id of a label's target.
pub(crate) type LabelKey = (u64, Vec<u8>);

/// Rows to write. What is keyed by session is in ascending order of its keys within each session.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    pub(crate) chunks: Vec<((u64, u64), Vec<u8>)>,
    /// Chunks whose lines others hold from now on, and that are taken out before any are added.
    pub(crate) removed: Vec<(u64, u64)>,
    /// Chunks among others: they take the place of older ones with the same first line, or of removed ones.
    pub(crate) rewrites: Vec<((u64, u64), Vec<u8>)>,
    /// Sessions whose rows in `children` are removed before any are added.
    pub(crate) reset_children: Vec<u64>,
    pub(crate) entries: Vec<EntryRows>,
    pub(crate) children: Vec<(u64, u64, u64)>,
    /// (session, target), the line, and the label that it sets, or none where it clears it; in order of lines.
    pub(crate) labels: Vec<(LabelKey, u64, Option<Vec<u8>>)>,
    pub(crate) settings: Vec<((u64, u64), SettingsRecord)>,
    /// (session, ordinal), and what points to entries from there.
    pub(crate) pointers: Vec<((u64, u64), PointerRecord)>,
    pub(crate) leaves: Vec<(u64, u64)>,
    pub(crate) originals: Vec<((u64, u64), Vec<u8>)>,
    pub(crate) blobs: Vec<BlobGain>,
    /// References that lines no longer make, and whether the base64 had been cut out there.
    pub(crate) released: Vec<(Hash, bool)>,
    pub(crate) sessions: Vec<(u64, SessionRecord)>,
    pub(crate) session_ids: Vec<(Vec<u8>, u64)>,
    pub(crate) sources: Vec<(Vec<u8>, SourceRecord)>,
    /// Sessions whose rows become invisible, for a sweep by the owner with this token; and the session that
    /// takes the place, or its own key for a deletion.
    pub(crate) retired: Vec<(u64, u64, u64)>,
    /// Sessions that are complete with this slice, of which earlier slices were committed: their rows are proved.
    pub(crate) finished: Vec<u64>,
    /// Sessions of which earlier slices were committed, each with the token of its owner, whose mark they must still have.
    pub(crate) held: Vec<(u64, u64)>,
    /// Sessions that are begun with this slice, and their owner.
    pub(crate) begun: Vec<(u64, u64)>,
    /// Conditions, each with the session whose rows are left out where it does not hold.
    pub(crate) guards: Vec<(u64, Guard)>,
    /// Bytes of the values, roughly.
    pub(crate) weight: usize,
    /// Lines.
    pub(crate) lines: u64,
}

impl Slice {
    /// Adds a chunk.
    pub(crate) fn push_chunk(&mut self, session: u64, first: u64, bytes: Vec<u8>) {
        self.weight += bytes.len();
        self.chunks.push(((session, first), bytes));
    }

    /// Takes out whatever it holds of a session that was given up.
    pub(crate) fn forget(&mut self, session: u64) {
        self.chunks.retain(|((key, _), _)| *key != session);
        self.entries.retain(|rows| rows.session != session);
        self.children.retain(|(key, _, _)| *key != session);
        self.labels.retain(|((key, _), _, _)| *key != session);
        self.settings.retain(|((key, _), _)| *key != session);
        self.pointers.retain(|((key, _), _)| *key != session);
        self.originals.retain(|((key, _), _)| *key != session);
        self.forget_blobs(session);
        self.rewrites.retain(|((key, _), _)| *key != session);
        self.leaves.retain(|(key, _)| *key != session);
        self.sessions.retain(|(key, _)| *key != session);
        self.session_ids.retain(|(_, key)| *key != session);
        self.sources.retain(|(_, source)| source.session != session);
        self.finished.retain(|key| *key != session);
        self.held.retain(|(key, _)| *key != session);
    }

    /// Takes out a session's blobs. The bytes of one stay if another session refers to it: they are in the slice once.
    fn forget_blobs(&mut self, session: u64) {
        let (gone, mut kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.blobs).into_iter().partition(|gain| gain.session == session);
        let mut bytes: HashMap<Hash, Vec<u8>> = gone
            .into_iter()
            .filter_map(|gain| gain.bytes.map(|bytes| (gain.hash, bytes)))
            .collect();
        for gain in kept.iter_mut().filter(|gain| gain.bytes.is_none()) {
            gain.bytes = bytes.remove(&gain.hash);
        }
        self.blobs = kept;
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        // Every field by name: a new one must be thought of here.
        let Self {
            chunks,
            removed,
            rewrites,
            reset_children,
            entries,
            children,
            labels,
            settings,
            pointers,
            leaves,
            originals,
            blobs,
            released,
            sessions,
            session_ids,
            sources,
            retired,
            finished,
            held: _,
            begun,
            guards: _,
            weight: _,
            lines: _,
        } = self;
        chunks.is_empty()
            && removed.is_empty()
            && rewrites.is_empty()
            && reset_children.is_empty()
            && entries.is_empty()
            && children.is_empty()
            && labels.is_empty()
            && settings.is_empty()
            && pointers.is_empty()
            && leaves.is_empty()
            && originals.is_empty()
            && blobs.is_empty()
            && released.is_empty()
            && sessions.is_empty()
            && session_ids.is_empty()
            && sources.is_empty()
            && retired.is_empty()
            && finished.is_empty()
            && begun.is_empty()
    }
}

impl Store {
    /// Writes the slice in one durable transaction. Answers how many entries took the place of an earlier
    /// one with the same id, and how many blobs were new.
    ///
    /// # Errors
    ///
    /// [`Error::SessionLost`](crate::Error::SessionLost) where rows that earlier slices brought of a session are gone;
    /// nothing is written then.
    pub(crate) fn commit(&self, slice: Slice) -> Result<Committed> {
        if slice.is_empty() {
            return Ok(Committed::default());
        }
        let transaction = self.begin_write()?;
        let mut slice = slice;
        let conflicts = leave_out_conflicts(&transaction, &mut slice)?;
        proof::marks(&transaction, &slice.held)?;
        let finished: Vec<(u64, SessionRecord)> = slice
            .sessions
            .iter()
            .filter(|(key, _)| slice.finished.contains(key))
            .cloned()
            .collect();
        let committed = write(&transaction, slice)?;
        for (session, record) in &finished {
            proof::rows(&transaction, *session, record)?;
        }
        transaction.commit()?;
        Ok(Committed { conflicts, ..committed })
    }

    /// Writes, in one durable transaction, what `make` makes of the store as it is then. No other process or
    /// thread writes between what `make` sees and the commit. Nothing is written where it fails.
    pub(crate) fn write<T>(&self, make: impl FnOnce(Snapshot) -> Result<(Slice, T)>) -> Result<T> {
        // Begun first: while it is open nobody commits, so that a read transaction shows what it will change.
        let transaction = self.begin_write()?;
        let (slice, answer) = make(self.snapshot()?)?;
        if slice.is_empty() {
            transaction.abort()?;
            return Ok(answer);
        }
        write(&transaction, slice)?;
        transaction.commit()?;
        Ok(answer)
    }

    /// A session key that was never used.
    pub(crate) fn reserve_sessions(&self, count: u64) -> Result<u64> {
        let transaction = self.begin_write()?;
        let first = {
            let mut meta = transaction.open_table(tables::META)?;
            let first = meta.get("next_session")?.map(|value| value.value());
            // A key that is used twice would join two sessions.
            let first = first.ok_or_else(|| Corruption {
                table: "meta",
                place: "next_session".into(),
                problem: "the key of the next session is not there".into(),
            })?;
            meta.insert("next_session", first + count)?;
            first
        };
        transaction.commit()?;
        Ok(first)
    }
}

/// What a commit found.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    /// Sessions whose rows were left out, since their guard did not hold.
    pub(crate) conflicts: Vec<u64>,
    pub(crate) replaced_entries: u64,
    pub(crate) blob_bytes_saved: u64,
}

/// Takes out of the slice what its guards forbid. Answers the sessions.
fn leave_out_conflicts(transaction: &WriteTransaction, slice: &mut Slice) -> Result<Vec<u64>> {
    let guards = std::mem::take(&mut slice.guards);
    if guards.is_empty() {
        return Ok(Vec::new());
    }
    let ids = transaction.open_table(tables::SESSION_IDS)?;
    let sessions = transaction.open_table(tables::SESSIONS)?;
    let mut conflicts = Vec::new();
    let mut taken = std::collections::HashSet::new();
    for (session, guard) in guards {
        let holds = match guard {
            Guard::Free { address } => {
                let is_free = ids.get(address.as_slice())?.is_none();
                is_free && taken.insert(address)
            }
            Guard::Same { session, revision } => match sessions.get(session)? {
                Some(value) => {
                    let record = SessionRecord::from_bytes(value.value(), || session.to_string())?;
                    record.revision == revision
                }
                None => false,
            },
        };
        if !holds {
            conflicts.push(session);
        }
    }
    for session in &conflicts {
        slice.forget(*session);
        slice.retired.retain(|(_, _, by)| by != session);
    }
    Ok(conflicts)
}

fn write(transaction: &WriteTransaction, slice: Slice) -> Result<Committed> {
    let mut committed = Committed::default();
    remove_chunks(transaction, &slice.removed)?;
    write_chunks(transaction, slice.chunks)?;
    committed.replaced_entries = write_entries(transaction, slice.entries)?;
    rewrite_chunks(transaction, slice.rewrites)?;
    if !slice.children.is_empty() || !slice.reset_children.is_empty() {
        let mut table = transaction.open_table(tables::CHILDREN)?;
        for session in slice.reset_children {
            table.retain_in((session, 0, 0)..(session + 1, 0, 0), |_, ()| false)?;
        }
        for key in slice.children {
            table.insert(key, ())?;
        }
    }
    if !slice.labels.is_empty() {
        let mut table = transaction.open_table(tables::LABELS)?;
        for ((session, target), line, label) in slice.labels {
            set_label(&mut table, (session, target.as_slice()), line, label)?;
        }
    }
    if !slice.settings.is_empty() {
        let mut table = transaction.open_table(tables::SETTINGS)?;
        for (key, record) in slice.settings {
            table.insert(key, record.to_bytes().as_slice())?;
        }
    }
    if !slice.pointers.is_empty() {
        let mut table = transaction.open_table(tables::POINTERS)?;
        for (key, record) in slice.pointers {
            table.insert(key, record.to_bytes().as_slice())?;
        }
    }
    if !slice.originals.is_empty() {
        let mut table = transaction.open_table(tables::ORIGINALS)?;
        for (key, bytes) in slice.originals {
            table.insert(key, bytes.as_slice())?;
        }
    }
    committed.blob_bytes_saved = write_blobs(transaction, slice.blobs, &slice.released)?;
    let Slice { begun, retired, finished, .. } = slice;
    write_owners(transaction, &begun, &retired, &finished)?;
    let mut leaves = transaction.open_table(tables::LEAVES)?;
    for (session, leaf) in slice.leaves {
        leaves.insert(session, leaf)?;
    }
    if !slice.session_ids.is_empty() {
        let mut ids = transaction.open_table(tables::SESSION_IDS)?;
        for (id, session) in slice.session_ids {
            ids.insert(id.as_slice(), session)?;
        }
    }
    if !slice.sources.is_empty() {
        let mut sources = transaction.open_table(tables::SOURCES)?;
        for (path, record) in slice.sources {
            sources.insert(path.as_slice(), record.to_bytes().as_slice())?;
        }
    }
    let mut sessions = transaction.open_table(tables::SESSIONS)?;
    for (session, record) in slice.sessions {
        sessions.insert(session, record.to_bytes().as_slice())?;
    }
    Ok(committed)
}

/// Notes which sessions nobody has completed, and which are retired.
fn write_owners(
    transaction: &WriteTransaction,
    begun: &[(u64, u64)],
    retired: &[(u64, u64, u64)],
    finished: &[u64],
) -> Result<()> {
    if begun.is_empty() && retired.is_empty() && finished.is_empty() {
        return Ok(());
    }
    let mut unfinished = transaction.open_table(tables::UNFINISHED)?;
    for &(session, owner) in begun {
        unfinished.insert(session, owner)?;
    }
    for &(session, owner, _) in retired {
        retire(transaction, session)?;
        unfinished.insert(session, owner)?;
    }
    for &session in finished {
        unfinished.remove(session)?;
    }
    Ok(())
}

fn set_label(
    table: &mut Table<'_, (u64, &'static [u8]), &'static [u8]>,
    key: (u64, &[u8]),
    line: u64,
    label: Option<Vec<u8>>,
) -> Result<()> {
    let Some(label) = label else {
        table.remove(key)?;
        return Ok(());
    };
    let old = match table.get(key)? {
        Some(value) => Some(LabelRecord::from_bytes(value.value(), || format!("{key:?}"))?),
        None => None,
    };
    let place = old.map_or(line, |old| old.place);
    table.insert(key, LabelRecord { label, line, place }.to_bytes().as_slice())?;
    Ok(())
}

fn write_chunks(transaction: &WriteTransaction, chunks: Vec<((u64, u64), Vec<u8>)>) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(tables::LINES)?;
    let mut chunks = chunks.into_iter().peekable();
    while let Some(&((session, first), _)) = chunks.peek() {
        // A cursor loads ascending keys into a gap three times as fast as single inserts.
        let mut cursor = table.lower_bound_mut(Bound::Included((session, first, 0)))?;
        let mut last = None;
        while let Some(((session, first), bytes)) =
            chunks.next_if(|(key, _)| last.is_none_or(|last| *key > last))
        {
            for (part, row) in parts::cut(&bytes) {
                cursor.insert_before((session, first, part), row)?;
            }
            last = Some((session, first));
        }
        cursor.close()?;
    }
    Ok(())
}

fn remove_chunks(transaction: &WriteTransaction, chunks: &[(u64, u64)]) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(tables::LINES)?;
    for &(session, first) in chunks {
        let mut part = 0;
        while table.remove((session, first, part))?.is_some() {
            part += 1;
        }
    }
    Ok(())
}

fn rewrite_chunks(
    transaction: &WriteTransaction,
    chunks: Vec<((u64, u64), Vec<u8>)>,
) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let mut table = transaction.open_table(tables::LINES)?;
    for ((session, first), bytes) in chunks {
        let mut next = 0;
        for (part, row) in parts::cut(&bytes) {
            table.insert((session, first, part), row)?;
            next = part + 1;
        }
        while table.remove((session, first, next))?.is_some() {
            next += 1;
        }
    }
    Ok(())
}

fn write_entries(transaction: &WriteTransaction, entries: Vec<EntryRows>) -> Result<u64> {
    if entries.is_empty() {
        return Ok(0);
    }
    let mut table = transaction.open_table(tables::ENTRIES)?;
    let mut value = Vec::new();
    let mut replaced = 0;
    for rows in entries {
        let session = rows.session;
        let empty = table.range((session, &b""[..])..(session + 1, &b""[..]))?.next().is_none();
        if empty {
            let mut cursor = table.lower_bound_mut(Bound::Included((session, &b""[..])))?;
            for (id, record) in rows.iter() {
                record.write_to(&mut value);
                cursor.insert_before((session, id), value.as_slice())?;
            }
            cursor.close()?;
        } else {
            for (id, record) in rows.iter() {
                record.write_to(&mut value);
                let old = table.insert((session, id), value.as_slice())?;
                replaced += u64::from(old.is_some());
            }
        }
    }
    Ok(replaced)
}

fn write_blobs(
    transaction: &WriteTransaction,
    gains: Vec<BlobGain>,
    released: &[(Hash, bool)],
) -> Result<u64> {
    if gains.is_empty() && released.is_empty() {
        return Ok(0);
    }
    let mut saved = 0;
    let mut blobs = BlobTables {
        records: transaction.open_table(tables::BLOBS)?,
        parts: transaction.open_table(tables::BLOB_PARTS)?,
    };
    for gain in gains {
        if let Some(bytes) = gain.bytes
            && !blobs.put(&gain.hash, &bytes)?
        {
            saved += bytes.len() as u64;
        }
        if gain.reference {
            blobs.refer(&gain.hash, 1, u64::from(gain.hole))?;
        }
    }
    // After the gains, so that a blob that moves from line to line is not freed in between.
    for (hash, was_cut) in released {
        blobs.release(hash, 1, u64::from(*was_cut))?;
    }
    Ok(saved)
}

/// Takes a session out of everything that shows it; its other rows are swept later.
fn retire(transaction: &WriteTransaction, session: u64) -> Result<()> {
    let mut sessions = transaction.open_table(tables::SESSIONS)?;
    let record = match sessions.remove(session)? {
        Some(value) => SessionRecord::from_bytes(value.value(), || session.to_string())?,
        // Another process was faster.
        None => return Ok(()),
    };
    let mut ids = transaction.open_table(tables::SESSION_IDS)?;
    let id = super::session_record::address_bytes(&record.external_id, record.number);
    let is_its_own = ids.get(id.as_slice())?.is_some_and(|value| value.value() == session);
    if is_its_own {
        ids.remove(id.as_slice())?;
    }
    transaction.open_table(tables::LEAVES)?.remove(session)?;
    let mut sources = transaction.open_table(tables::SOURCES)?;
    for path in record.rest.sources {
        let is_its_own = match sources.get(path.as_slice())? {
            Some(value) => {
                SourceRecord::from_bytes(value.value(), || format!("{path:?}"))?.session == session
            }
            None => false,
        };
        if is_its_own {
            sources.remove(path.as_slice())?;
        }
    }
    Ok(())
}
