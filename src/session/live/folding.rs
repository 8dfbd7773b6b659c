//! Folding: what the journal has goes into the tables, many changes in one commit.

use std::collections::BTreeMap;
use std::thread::{Builder, JoinHandle};

use leafline_import::lines::split;

use super::super::index::prepare::Preparer;
use super::super::reader::SessionReader;
use super::super::view::View;
use super::append::{NewLeaf, NewLines, exact_id, extend};
use super::change::{Change, Leaf, ReadChange};
use super::journal::is_damage;
use super::raw::grow;
use crate::error::{Corruption, Error, Result};
use crate::store::Store;
use crate::store::commit::{Batch, Edit};
use crate::store::journal::{JournalChange, JournalLock, JournalRow, Journaled, Place};
use crate::store::ordinal::Ordinal;
use crate::store::record::Record;
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// What becomes of the epoch when the journal is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folding {
    /// It goes on.
    All,
    /// It ends: no one appends meanwhile.
    AndEnd,
    /// It ends although another process has the right to append: the journal is [sealed](Store::seal_journal).
    AndRetire,
}

impl Store {
    /// Puts what the journal has into the tables, in one commit.
    pub(super) fn fold(&self, folding: Folding) -> Result<()> {
        self.fold_journal_of(self, folding)
    }

    /// The same with the journal of a store of which this one is an overlay.
    pub(super) fn fold_journal_of(&self, other: &Self, folding: Folding) -> Result<()> {
        while self.fold_part(other, folding)? {}
        Ok(())
    }

    /// The same as [`Self::fold`], if nobody has the write transaction; `false` if somebody has.
    pub(super) fn try_fold(&self) -> Result<bool> {
        loop {
            let folded =
                self.try_write_tables(|snapshot| self.folded(self, Folding::All, snapshot))?;
            match folded {
                None => return Ok(false),
                Some((true, _)) => {}
                Some((false, _)) => return Ok(true),
            }
        }
    }

    /// Folds what goes into one commit; says whether more follows.
    fn fold_part(&self, other: &Self, folding: Folding) -> Result<bool> {
        let (more, _) = self.write_tables(|snapshot| self.folded(other, folding, snapshot))?;
        Ok(more)
    }

    /// What goes into one commit; whether more follows; and the lock that is held until the commit.
    pub(super) fn folded(
        &self,
        other: &Self,
        folding: Folding,
        snapshot: Snapshot,
    ) -> Result<(Batch, (bool, Option<JournalLock<'_>>))> {
        let row = snapshot.journal_row()?;
        if row.epoch == 0 {
            return Ok((Batch::default(), (false, None)));
        }
        let lock = match folding {
            Folding::All | Folding::AndRetire => None,
            Folding::AndEnd => self.lock_journal()?,
        };
        let journaled = other.journaled(&row);
        drop(snapshot);
        let (mut journaled, mut end) = match journaled {
            Err(error) if is_damage(&error) && self.is_same(other) => {
                return self.folded_from_memory(&row, lock, error);
            }
            journaled => journaled?,
        };
        // What the file has lost this process may still know.
        let known = match &lock {
            Some(lock) => lock.pending_beyond(&row, journaled.len()),
            None => self.known_beyond(&row, journaled.len()),
        };
        if let Some(last) = known.last()
            && known.starts_with(&journaled)
            && self.is_same(other)
        {
            (end, journaled) = (last.end, known);
        }
        let mut batch = Batch::default();
        if journaled.is_empty() && folding == Folding::All {
            return Ok((batch, (false, None)));
        }
        let left = leave_for_next(&mut journaled);
        fold_sessions(self, journaled, &mut batch)?;
        if folding == Folding::All {
            batch.let_appends_pass();
        }
        batch.change_journal(match (left, folding) {
            (Some(place), _) => JournalChange::Fold(place),
            (None, Folding::AndEnd) if !self.lacks_records(&end)? => JournalChange::End(end),
            (None, Folding::AndRetire) => {
                self.check_records(&row, &end)?;
                JournalChange::Retire(end)
            }
            (None, _) => JournalChange::Fold(end),
        });
        Ok((batch, (left.is_some(), lock)))
    }

    /// The same of a journal that is damaged: what this process knows of it. The epoch goes on, for others may know more.
    fn folded_from_memory<'s>(
        &'s self,
        row: &JournalRow,
        lock: Option<JournalLock<'s>>,
        error: Error,
    ) -> Result<(Batch, (bool, Option<JournalLock<'s>>))> {
        let mut known = match &lock {
            Some(lock) => lock.pending_beyond(row, 0),
            None => self.known_beyond(row, 0),
        };
        let mut batch = Batch::default();
        let left = leave_for_next(&mut known);
        let Some(end) = left.or(known.last().map(|last| last.end)) else { return Err(error) };
        fold_sessions(self, known, &mut batch)?;
        batch.change_journal(JournalChange::Fold(end));
        // Then it is found again, and there is nothing more to save.
        Ok((batch, (true, lock)))
    }

    /// Puts what the journal has into the tables and ends the epoch, after a sync of it failed: the system may have forgotten
    /// what it could not write, so that no later sync says anything of it.
    ///
    /// # Errors
    ///
    /// If the tables cannot be written either. Then the records are in doubt as before.
    pub(super) fn save_journal(&self) -> Result<()> {
        while self.save_part()? {}
        Ok(())
    }

    /// Saves what goes into one commit; says whether more follows.
    fn save_part(&self) -> Result<bool> {
        let saved = self.write_tables(|snapshot| {
            let row = snapshot.journal_row()?;
            drop(snapshot);
            let mut batch = Batch::default();
            let Some(mut lock) = self.lock_journal()? else { return Ok((batch, (false, None))) };
            let last = lock.last();
            if !lock.knows(&row) {
                // Another process has ended the epoch, with these records or without.
                let is_end = row.epoch == 0 && row.folded.is_behind_same(&last);
                return Ok((batch, (false, Some((lock, last.sequence, is_end)))));
            }
            let (journaled, place) = match lock.catch_up(&row).and_then(|()| self.journaled(&row)) {
                Err(error) if is_damage(&error) => {
                    let mut known = lock.pending_beyond(&row, 0);
                    if known.is_empty() && lock.has_pending() {
                        return Err(error);
                    }
                    // Others may know more: the epoch goes on.
                    let left = leave_for_next(&mut known);
                    if let Some(end) = left.or(known.last().map(|last| last.end)) {
                        batch.change_journal(JournalChange::Fold(end));
                    }
                    fold_sessions(self, known, &mut batch)?;
                    let saved = left.is_none().then_some((lock, last.sequence, true));
                    return Ok((batch, (left.is_some(), saved)));
                }
                journaled => journaled?,
            };
            // The file may have lost the end of what it had. This process still has it.
            let known = lock.all_pending();
            let is_folded = last.sequence < row.folded.sequence
                || (last.sequence == row.folded.sequence && !row.folded.is_behind_same(&last));
            let are_kept = !is_folded && known.starts_with(&journaled);
            // The numbers of records that are lost are not used again.
            let sequence = place.sequence.max(last.sequence);
            let (mut records, end) = match are_kept {
                true => (known, lock.last()),
                false => (journaled, Place { sequence, ..place }),
            };
            let left = leave_for_next(&mut records);
            fold_sessions(self, records, &mut batch)?;
            if let Some(place) = left {
                batch.change_journal(JournalChange::Fold(place));
                return Ok((batch, (true, None)));
            }
            batch.change_journal(match self.lacks_records(&end)? {
                true => JournalChange::Fold(end),
                false => JournalChange::End(end),
            });
            let last = if are_kept { end } else { last };
            Ok((batch, (false, Some((lock, last.sequence, are_kept)))))
        })?;
        let (more, saved) = saved;
        if let Some((lock, last, are_kept)) = saved {
            self.end_doubt(last, are_kept);
            drop(lock);
            self.put_off_epoch();
        }
        Ok(more)
    }

    /// Puts records that were read of a damaged journal into the tables, and ends its epoch: `last` is a number behind all of
    /// them.
    pub(crate) fn fold_rescued(&self, records: Vec<Journaled>, last: u64) -> Result<()> {
        let mut rest = records;
        loop {
            let left = rest.split_off(in_one_commit(&rest));
            let is_end = left.is_empty();
            self.write_tables(|snapshot| {
                drop(snapshot);
                let mut batch = Batch::default();
                fold_sessions(self, rest, &mut batch)?;
                if is_end {
                    let end = Place { sequence: last, ..Place::default() };
                    batch.change_journal(JournalChange::End(end));
                }
                Ok((batch, ()))
            })?;
            if is_end {
                return Ok(());
            }
            rest = left;
        }
    }

    /// The same with records of which the tables may have some, and nothing says which: of each session those are left out up
    /// to the last one whose entries the session has.
    pub(crate) fn fold_unless_there(&self, records: Vec<Journaled>, last: u64) -> Result<()> {
        let mut rest = Vec::new();
        for (session, mut records) in by_session(records) {
            let snapshot = self.committed()?;
            let Some(record) = snapshot.session(session)? else { continue };
            let reader = SessionReader::new(snapshot, session, record);
            let there = match count_there(reader.view(), &records) {
                // They are kept apart when they are folded.
                Err(Error::Corrupted(_)) => 0,
                there => there?,
            };
            rest.extend(records.split_off(there));
        }
        rest.sort_by_key(Journaled::sequence);
        self.fold_rescued(rest, last)
    }

    /// Tells the thread in the background of a record that was appended, and whether a part of the journal is full; starts it
    /// before the first one.
    pub(super) fn fold_later(&self, fills_part: bool) {
        self.background_folding().appended(fills_part, || start(self.background()));
    }

    /// Ends the epoch if no one else uses the journal: the store's file has all then. If that fails, whoever opens the
    /// store next folds the journal, or is told what is wrong.
    pub(crate) fn close_journal(&self) {
        let is_panicking = std::thread::panicking();
        let store = self.background();
        // The processes that stay may not know them.
        if !is_panicking && store.shares_journal() && store.has_lost_records() {
            let _ = store.fold(Folding::All);
        }
        self.leave_journal(|| {
            if !is_panicking {
                let _ = store.fold(Folding::AndEnd);
                store.close_epoch();
            }
        });
    }

    /// Returns true if the journal lacks records that this process knows and the tables lack.
    fn has_lost_records(&self) -> bool {
        let Ok(row) = self.committed().and_then(|snapshot| snapshot.journal_row()) else {
            return false;
        };
        let known = self.known_beyond(&row, 0).len();
        known > 0
            && match self.journaled(&row) {
                Ok((there, _)) => there.len() < known,
                Err(error) => is_damage(&error),
            }
    }

    /// Folds a journal that a killed process left, and ends its epoch.
    pub(crate) fn take_left_journal(&self) -> Result<()> {
        if self.is_read_only() || self.committed()?.journal_row()?.epoch == 0 {
            return Ok(());
        }
        let mut folded = Ok(());
        self.unless_used(|| {
            folded = self.fold(Folding::AndEnd);
            self.close_epoch();
            if folded.is_ok() {
                folded = self.remove_unused_journal();
            }
        })?;
        folded
    }
}

/// The thread that folds the journal when there is a moment for it.
fn start(store: Store) -> std::io::Result<JoinHandle<()>> {
    Builder::new().name("leafline-fold".to_owned()).spawn(move || {
        while store.background_folding().wait() {
            // The journal keeps what cannot be folded now. Who reads or appends next is told why.
            let _ = store.fold(Folding::All);
        }
    })
}

/// Leaves those records for the next commit that do not go into one with the first. Returns the place behind the last of
/// these, if any are left.
fn leave_for_next(records: &mut Vec<Journaled>) -> Option<Place> {
    let count = in_one_commit(records);
    let is_all = count == records.len();
    records.truncate(count);
    records.last().map(|last| last.end).filter(|_| !is_all)
}

/// How many records, from the first on, go into one commit.
///
/// A record that replaces lines that were there has a commit of its own: they may be in the chunk to which others add lines.
fn in_one_commit(records: &[Journaled]) -> usize {
    let is_alone = |journaled: &Journaled| {
        ReadChange::of(journaled).is_ok_and(|change| change.header.is_some())
    };
    match records.iter().position(is_alone) {
        Some(0) => 1,
        Some(first) => first,
        None => records.len(),
    }
}

fn by_session(records: Vec<Journaled>) -> BTreeMap<SessionKey, Vec<Journaled>> {
    let mut sessions: BTreeMap<SessionKey, Vec<Journaled>> = BTreeMap::new();
    for record in records {
        sessions.entry(record.session).or_default().push(record);
    }
    sessions
}

/// Makes rows of the records, session by session.
fn fold_sessions(store: &Store, journaled: Vec<Journaled>, batch: &mut Batch) -> Result<()> {
    for (session, records) in by_session(journaled) {
        match fold_session(store, session, &records, batch) {
            Ok(()) => {}
            Err(Error::Corrupted(_)) => {
                batch.forget(session);
                records.into_iter().for_each(|record| batch.keep_unfolded(record));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn fold_session(
    store: &Store,
    session: SessionKey,
    records: &[Journaled],
    batch: &mut Batch,
) -> Result<()> {
    let changes = records.iter().map(ReadChange::of).collect::<Result<Vec<ReadChange<'_>>>>()?;
    let Some(last) = changes.last() else { return Ok(()) };
    // Who replaces a session folds what the journal has of it before, so one that is not there was deleted.
    let snapshot = store.committed()?;
    let Some(record) = snapshot.session(session)? else { return Ok(()) };
    // What follows changes that are kept apart is kept with them.
    snapshot.refuse_unfolded(session)?;
    let reader = SessionReader::new(snapshot, session, record);
    if let Leaf::Written { at } = last.leaf {
        batch.note_written(session, at);
    }
    if let [ReadChange { header: Some(header), .. }] = &*changes {
        return header.fold(&reader, batch);
    }
    let view = reader.view();
    let text = changes.iter().map(|change| change.text).collect::<Vec<_>>().concat();
    let mut preparer = Preparer::new(view.reading());
    // All of them have raw lines, or none.
    if last.leaf.is_of_file() {
        // Where a record before is lost, the session no longer has all of the file, and a sync must compare it.
        let mut length = view.record().imported.length;
        let mut file = None;
        for change in &changes {
            length += change.text.len() as u64;
            if let Leaf::Imported(imported) = &change.leaf {
                let is_whole = imported.imported.length == length;
                file = Some(&**imported).filter(|_| is_whole);
                if !is_whole {
                    break;
                }
            }
        }
        if text.is_empty() {
            // Where all were there before, the record only put those on the disk.
            let Some(file) = file else { return Ok(()) };
            let source = Some((file.path.clone(), file.source.clone()));
            let edit = Edit::new(batch, view.key(), view.record());
            edit.note_file(batch, view.record(), view.record().clone(), source);
            return Ok(());
        }
        return match grow(store, &mut preparer, reader, (&text, file), batch)? {
            true => Ok(()),
            false => Err(Corruption {
                table: Change::TABLE,
                place: String::from_utf8_lossy(last.session).into_owned(),
                problem: "lines that only follow others change what those mean".into(),
            }
            .into()),
        };
    }
    let leaf =
        match changes.iter().rev().map(|change| &change.leaf).find(|leaf| **leaf != Leaf::Same) {
            None => NewLeaf::Line(view.leaf()?),
            Some(Leaf::None) => NewLeaf::Line(None),
            Some(Leaf::Moved(id)) => NewLeaf::Line(place_of(view, &text, id)?),
            Some(_) => NewLeaf::LastEntry,
        };
    if text.is_empty() {
        if let NewLeaf::Line(leaf) = leaf
            && leaf != view.leaf()?
        {
            let edit = Edit::new(batch, view.key(), view.record());
            edit.move_leaf(batch, view.record().clone(), leaf);
        }
        return Ok(());
    }
    let new = NewLines { text: &text, images: Vec::new(), above: None, leaf };
    extend(store, &mut preparer, reader, new, batch).map(drop)
}

/// How many of a session's records, from the first one on, its tables have.
fn count_there(view: View<'_>, records: &[Journaled]) -> Result<usize> {
    let changes = records.iter().map(ReadChange::of).collect::<Result<Vec<ReadChange<'_>>>>()?;
    let (mut there, mut behind) = (0, None);
    for (index, change) in changes.iter().enumerate().rev() {
        if let Some(id) = change.ids.last()
            && let Some(ordinal) = view.find(id)?
        {
            (there, behind) = (index + 1, ordinal.next());
            break;
        }
    }
    let imported = view.record().imported.length;
    for (index, change) in changes.iter().enumerate().skip(there) {
        if let Leaf::Imported(file) = &change.leaf
            && file.imported.length <= imported
        {
            (there, behind) = (index + 1, None);
        }
    }
    // Lines outside the tree have no ids: the session has them if it ends with them.
    let lines = view.record().lines;
    for change in changes.iter().skip(there) {
        let count = split(change.text).count() as u64;
        let at = behind.unwrap_or(Ordinal::after(lines.saturating_sub(count)));
        let Some(end) = at.later(count).filter(|end| end.raw() <= lines) else { break };
        let is_outside = change.ids.is_empty() && count > 0;
        if !is_outside {
            break;
        }
        match text_of(view, at, end) {
            Ok(text) if text == change.text => {}
            // Of lines that are missing nothing says that they are these.
            Ok(_) | Err(Error::Corrupted(_)) => break,
            Err(error) => return Err(error),
        }
        (there, behind) = (there + 1, Some(end));
    }
    Ok(there)
}

/// The text of the lines from one on, up to another, which is left out.
fn text_of(view: View<'_>, from: Ordinal, end: Ordinal) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for ordinal in from.up_to(end) {
        text.extend_from_slice(view.entry(ordinal)?.line());
    }
    Ok(text)
}

/// The line of an entry that is in a session or among new lines; of an id met twice, the later one.
fn place_of(view: View<'_>, text: &[u8], id: &[u8]) -> Result<Option<Ordinal>> {
    let mut found = None;
    for (ordinal, line) in Ordinal::after(view.record().lines).onwards().zip(split(text)) {
        if exact_id(view.reading(), line).as_deref() == Some(id) {
            found = Some(ordinal);
        }
    }
    match found {
        Some(ordinal) => Ok(Some(ordinal)),
        None => view.find(id),
    }
}

#[cfg(test)]
mod tests {
    use leafline_import::Family;

    use super::super::change::ImportedFile;
    use super::*;
    use crate::NewSession;
    use crate::catalog::import::digest::Digest;
    use crate::import::ImportOptions;
    use crate::pi::Draft;
    use crate::session::{ExportMode, Persistence};
    use crate::store::source_record::SourceRecord;

    #[test]
    fn a_commit_notices_what_the_journal_has_of_its_session() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store")).unwrap();
        let mut new = NewSession::new(Family::Pi, "/work");
        new.persistence = Some(Persistence::keep_everything());
        let mut session = store.create_session(&new).unwrap();
        let append = |session: &mut crate::Session, text: &str| {
            let message = serde_json::json!({"role": "user", "content": text});
            session.append(Draft::message(&message.to_string()).unwrap()).unwrap()
        };
        append(&mut session, "one");
        append(&mut session, "two");
        let key = store.snapshot().unwrap().key_of(session.id().as_bytes()).unwrap().unwrap();
        for is_late in [false, true] {
            let other = Store::open(folder.path().join("store")).unwrap();
            let snapshot = other.snapshot().unwrap();
            let record = snapshot.session(key).unwrap().unwrap();
            if is_late {
                append(&mut session, "three");
            }
            let mut batch = Batch::default();
            let edit = Edit::new(&mut batch, key, &record);
            edit.move_leaf(&mut batch, record.clone(), Some(Ordinal::new(1)));
            let conflicts = other.commit(batch).unwrap().conflicts;
            assert_eq!(conflicts.is_empty(), !is_late, "{conflicts:?}");
        }
        assert!(store.verify().unwrap().problems.is_empty());
    }

    #[test]
    fn what_a_damaged_session_cannot_take_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::open(&path).unwrap();
        let mut new = NewSession::new(Family::Pi, "/work");
        new.persistence = Some(Persistence::keep_everything());
        let mut sessions = [&new, &new].map(|new| store.create_session(new).unwrap());
        for text in ["one", "two", "three"] {
            let message = serde_json::json!({"role": "user", "content": text}).to_string();
            for session in &mut sessions {
                session.append(Draft::message(&message).unwrap()).unwrap();
            }
        }
        let damaged = sessions[0].id().to_owned();
        let key = store.snapshot().unwrap().key_of(damaged.as_bytes()).unwrap().unwrap();
        for session in &mut sessions {
            session.append(Draft::session_info("named")).unwrap();
        }
        for line in 1..4 {
            store.lose_chunk(key, Ordinal::new(line)).unwrap();
        }
        // The other session has all of it, and so has the store.
        assert_eq!(sessions[1].reader().unwrap().facts().entries, 4);
        let problems = store.verify().unwrap().problems;
        let kept = problems.iter().find(|problem| problem.kind == "unfolded");
        assert!(kept.is_some_and(|kept| kept.text.contains(&damaged)), "{problems:#?}");
    }

    /// A store that has a file of these lines, and the records of the journal that add more lines to it one by one.
    fn followed(begun: &str, more: &[(&str, &str)]) -> (tempfile::TempDir, Store, Vec<Journaled>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.jsonl");
        std::fs::write(&path, begun).unwrap();
        let store = Store::in_memory().unwrap();
        store.import(&[&path], &ImportOptions::default(), &mut ()).unwrap();
        let session = store.snapshot().unwrap().key_of(b"f").unwrap().unwrap();
        let mut bytes = begun.to_owned();
        let records = (1..).zip(more).map(|(sequence, (id, line))| {
            bytes += line;
            let mut digest = Digest::default();
            digest.take(bytes.as_bytes());
            let size = bytes.len() as u64;
            let file = ImportedFile {
                imported: digest.finish(),
                lines: 0,
                entries: 0,
                path: path.as_os_str().as_encoded_bytes().to_vec(),
                source: SourceRecord { session, size, modified: None },
            };
            let change = Change {
                session: b"f".to_vec(),
                text: line.as_bytes().to_vec(),
                ids: Some(id.as_bytes().to_vec()).filter(|id| !id.is_empty()).into_iter().collect(),
                leaf: Leaf::Imported(Box::new(file)),
                header: None,
            };
            let end = Place { sequence, ..Place::default() };
            Journaled { session, payload: change.to_bytes(), end }
        });
        let records = records.collect();
        std::fs::write(&path, bytes).unwrap();
        (folder, store, records)
    }

    /// Syncs the file, and asserts that the store has its bytes.
    fn assert_followed(folder: &tempfile::TempDir, store: &Store) {
        let path = folder.path().join("f.jsonl");
        store.sync(&[&path], &ImportOptions::default(), &mut ()).unwrap();
        let mut bytes = Vec::new();
        store.reader("f").unwrap().export(&ExportMode::Exact, &mut bytes).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), std::fs::read_to_string(&path).unwrap());
        assert_eq!(store.sessions().unwrap().len(), 1);
        assert_eq!(store.verify().unwrap().problems, []);
    }

    #[test]
    fn a_record_after_a_lost_one_does_not_stand_for_the_whole_file() {
        let header = r#"{"type":"session","version":3,"id":"f","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
        let line = |id: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":null,"message":{{"role":"user","content":"{id}"}}}}"#
            ) + "\n"
        };
        let (one, two) = (line("a1"), line("b1"));
        let more = [("a1", &*one), ("b1", &*two)];
        let (folder, store, mut records) = followed(&format!("{header}\n"), &more);
        records.remove(0);
        store.fold_rescued(records, 2).unwrap();
        let record = store.reader("f").unwrap().record().clone();
        assert_eq!((record.lines, record.imported.length), (2, header.len() as u64 + 1));
        assert_followed(&folder, &store);
    }

    #[test]
    fn lines_without_ids_that_the_tables_have_are_not_added_again() {
        let meta = r#"{"timestamp":"2026-02-18T09:00:00.540Z","type":"session_meta","payload":{"id":"f","timestamp":"2026-02-18T09:00:00.528Z","cwd":"/work","originator":"codex_cli_rs","cli_version":"0.171.0","source":"cli"}}"#;
        let line = |text: &str| {
            format!(
                r#"{{"timestamp":"2026-02-18T09:00:01.000Z","type":"event_msg","payload":{{"type":"user_message","message":"{text}"}}}}"#
            ) + "\n"
        };
        let (one, two) = (line("one"), line("two"));
        let (folder, store, records) =
            followed(&format!("{meta}\n"), &[("", &one), ("", &two), ("", &two)]);
        for _ in 0..2 {
            store.fold_unless_there(records.clone(), 3).unwrap();
            assert_eq!(store.reader("f").unwrap().record().lines, 4);
        }
        assert_followed(&folder, &store);
    }
}
