//! Sessions that a program knows by a name of its own, and begins with lines of its own.

use leafline_import::{Reading, detect};

use super::super::Session;
use super::super::index::finish::NewLeaf;
use super::build::Builder;
use super::persistence::Persistence;
use super::raw::{AppendedLines, New};
use crate::error::{Result, SessionError};
use crate::store::Store;
use crate::store::clock::now;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{SessionRecord, address_bytes};
use crate::store::snapshot::Snapshot;

/// Nanoseconds of a millisecond.
const NANOSECONDS: i128 = 1_000_000;

impl Store {
    /// The session to which a name in `sources` leads: one that names it, too.
    pub(crate) fn session_named(
        snapshot: &Snapshot,
        name: &[u8],
    ) -> Result<Option<(SessionKey, SessionRecord)>> {
        let Some(source) = snapshot.source(name)? else { return Ok(None) };
        let record = snapshot.session(source.session)?;
        let record = record.filter(|record| record.sources.iter().any(|own| own == name));
        Ok(record.map(|record| (source.session, record)))
    }

    /// Begins a session with the lines of its program, in one commit: the record says whose it is, and the name in `sources`
    /// leads to it. It gets the first free address of its id. Of entries with one id the first is kept.
    ///
    /// # Errors
    ///
    /// [`SessionError::Exists`] if another one took its address or its name meanwhile; those of the store.
    pub(crate) fn begin_named(
        &self,
        record: SessionRecord,
        name: Vec<u8>,
        lines: &[u8],
    ) -> Result<(Session, AppendedLines)> {
        let family = record.known_family();
        let reading = Reading::plain(family);
        let new = New::of_new(reading, lines);
        let time = now();
        let mut record = SessionRecord { number: 1, modified: Some(time), ..record };
        // What only the beginning of a session says.
        if let Ok(start) = detect(&new.text, Some(family), true) {
            record.imported_version = start.version;
            record.cwd = start.cwd;
            record.created = start.created_ms;
        }
        record.created = record.created.or(Some(time));
        // Of one state of the store: who begins the same session takes the same address.
        let snapshot = self.snapshot()?;
        if Self::session_named(&snapshot, &name)?.is_some() {
            return Err(SessionError::Exists { id: record.id() }.into());
        }
        while snapshot.key_of(&address_bytes(&record.external_id, record.number))?.is_some() {
            record.number += 1;
        }
        drop(snapshot);
        let id = record.id();
        let modified = Some(i128::from(time) * NANOSECONDS);
        let mut builder = Builder::named(self, record, (name, modified))?;
        builder.push(&new.text)?;
        let key = builder.finish(NewLeaf::ByRule)?;
        let persistence = Persistence::documented(family);
        Ok((Session::stored(self, key, id, reading, persistence), new.appended))
    }
}
