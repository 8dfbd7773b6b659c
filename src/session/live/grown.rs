//! What the file of a session has gained goes the way of an append: into the journal, with what the store has of the file then. So
//! a crash loses both or neither.

use leafline_import::lines::split;

use super::super::index::prepare::Preparer;
use super::super::reader::SessionReader;
use super::super::view::View;
use super::append::address_of;
use super::change::{Change, ImportedFile, Leaf, Tail};
use super::journal::{self, begin_epoch};
use super::raw::{Plain, grow};
use crate::error::{Error, Result, SessionError};
use crate::store::Store;
use crate::store::commit::Batch;
use crate::store::journal::{JournalRow, Room};
use crate::store::session_key::SessionKey;
use crate::store::session_record::ImportedBytes;
use crate::store::source_record::SourceRecord;

/// What the journal has of a session beyond the tables.
#[derive(Debug)]
pub(crate) enum Beyond {
    Nothing,
    /// Growth of its file, and nothing else.
    File(Box<ImportedFile>),
    /// Something else, or it cannot be read.
    Other,
}

/// What the file of a session has gained.
#[derive(Debug)]
pub(crate) struct FileGrowth<'g> {
    /// What the store has of the file before.
    pub(crate) before: ImportedBytes,
    /// Whole lines; none if only the file's time is noted.
    pub(crate) lines: &'g [u8],
    /// What it has with these lines.
    pub(crate) after: ImportedBytes,
    pub(crate) path: &'g [u8],
    pub(crate) source: SourceRecord,
    /// Whether more is to follow, so that a journal is worth making.
    pub(crate) more_follows: bool,
}

impl FileGrowth<'_> {
    /// Appends it to the journal, which has it on the disk then. `None`, and nothing is written, if it has to go into the tables, or
    /// if the store does not have of the file what it had.
    pub(crate) fn append(
        &self,
        store: &Store,
        session: (SessionKey, &str),
    ) -> Result<Option<ImportedFile>> {
        let appended = if store.committed()?.journal_row()?.epoch == 0 {
            // As with other appends, the first one through an open store is a commit of its own.
            let begins = self.more_follows && !self.lines.is_empty() && store.begins_epoch();
            if begins { self.begin(store, session) } else { Ok(None) }
        } else {
            journal::append(store, session, &mut Tail::default(), |reader, tail| {
                self.change(reader.view(), tail)
            })
        };
        match appended {
            Err(Error::Session(SessionError::NotFound { .. })) => Ok(None),
            appended => appended,
        }
    }

    /// Puts it into the tables with the commit that begins an epoch.
    fn begin(&self, store: &Store, session: (SessionKey, &str)) -> Result<Option<ImportedFile>> {
        let begun = journal::write_tables(store, |snapshot, begins_epoch| {
            let nothing = || Ok((Batch::default(), None));
            let row = snapshot.journal_row()?;
            let reader = SessionReader::open(snapshot, session)?;
            let Some((_, file)) = self.change(reader.view(), &Tail::default())? else {
                return nothing();
            };
            let mut batch = Batch::default();
            let mut preparer = Preparer::new(reader.reading());
            if !grow(store, &mut preparer, reader, (self.lines, Some(&file)), &mut batch)? {
                return nothing();
            }
            if begins_epoch {
                begin_epoch(store, &row, Room::Reserved, &mut batch)?;
            }
            Ok((batch, Some(file)))
        });
        Ok(begun?.flatten())
    }

    /// It as a change for the journal.
    fn change(&self, view: View<'_>, tail: &Tail) -> Result<Option<(Change, ImportedFile)>> {
        let record = view.record();
        let (known, lines, entries) = match tail.file() {
            Some(file) => (file.imported, file.lines, file.entries),
            None if tail.is_empty() => (record.imported, record.physical_lines(), record.entries),
            None => return Ok(None),
        };
        if record.is_ahead() || record.migrated || known != self.before {
            return Ok(None);
        }
        let plain = Plain::of(view, tail, self.lines)?.filter(|plain| !plain.refers);
        let Some(Plain { ids, entries: new, .. }) = plain else { return Ok(None) };
        let file = ImportedFile {
            imported: self.after,
            lines: lines + split(self.lines).count() as u64,
            entries: entries + new,
            path: self.path.to_vec(),
            source: self.source.clone(),
        };
        let (session, text) = (address_of(view), self.lines.to_vec());
        let leaf = Leaf::Imported(Box::new(file.clone()));
        Ok(Some((Change { session, text, ids, leaf, header: None }, file)))
    }
}

impl Store {
    /// What the journal has of a session beyond the tables that have this row.
    pub(crate) fn beyond_tables(&self, row: &JournalRow, session: SessionKey) -> Result<Beyond> {
        if row.epoch == 0 {
            return Ok(Beyond::Nothing);
        }
        let Some(known) = self.known_journal() else { return Ok(Beyond::Other) };
        let last = known.pending(session).next_back();
        let Some(last) = last else { return Ok(Beyond::Nothing) };
        Ok(ImportedFile::of(last)?.map_or(Beyond::Other, |file| Beyond::File(Box::new(file))))
    }
}
