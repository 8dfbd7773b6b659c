//! One session's rows in a snapshot. [Lines](super::line_rows) and [entries](super::entry_rows) have their own files.

use redb::AccessGuard;

use super::label_record::LabelRecord;
use super::ordinal::Ordinal;
use super::pointer_record::PointerRecord;
use super::record::Record;
use super::session_key::SessionKey;
use super::settings_record::SettingsRecord;
use super::snapshot::Snapshot;
use super::tables;
use crate::error::{Corruption, Result};

/// A session's rows in every table of a snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionRows<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) session: SessionKey,
}

impl Snapshot {
    /// The rows of the session with this key, even if there is no such session.
    pub(crate) fn rows(&self, session: SessionKey) -> SessionRows<'_> {
        SessionRows { snapshot: self, session }
    }
}

impl<'s> SessionRows<'s> {
    /// The session's key.
    pub(crate) fn key(self) -> SessionKey {
        self.session
    }

    /// The snapshot that the rows are in.
    pub(crate) fn snapshot(self) -> &'s Snapshot {
        self.snapshot
    }

    /// The settings that a node names; 0 stands for those of a root that changes nothing.
    pub(crate) fn settings(self, id: u64) -> Result<SettingsRecord> {
        if id == 0 {
            return Ok(SettingsRecord::default());
        }
        let place = || format!("session key {}, {id}", self.session);
        let table = self.snapshot.table(tables::SETTINGS)?;
        let value = table.get((self.session.raw(), id))?.ok_or_else(|| Corruption {
            table: "settings",
            place: place(),
            problem: "a node names it, and it is not there".into(),
        })?;
        SettingsRecord::from_bytes(value.value(), place)
    }

    /// The pointers in entries of the session, by ordinal.
    pub(crate) fn pointers(self) -> Result<Vec<(Ordinal, PointerRecord)>> {
        let mut pointers = Vec::new();
        let table = self.snapshot.table(tables::POINTERS)?;
        for row in table.range((self.session.raw(), 0)..(self.session.end(), 0))? {
            let (key, value) = row?;
            let ordinal = Ordinal::new(key.value().1);
            pointers.push((ordinal, self.read_pointer(ordinal, &value)?));
        }
        Ok(pointers)
    }

    /// Passes on the pointers in entries of the session, the last first, until `take` returns false.
    pub(crate) fn pointers_backwards(
        self,
        mut take: impl FnMut(Ordinal, PointerRecord) -> Result<bool>,
    ) -> Result<()> {
        let table = self.snapshot.table(tables::POINTERS)?;
        for row in table.range((self.session.raw(), 0)..(self.session.end(), 0))?.rev() {
            let (key, value) = row?;
            let ordinal = Ordinal::new(key.value().1);
            if !take(ordinal, self.read_pointer(ordinal, &value)?)? {
                break;
            }
        }
        Ok(())
    }

    /// The pointer of an entry that has one.
    pub(crate) fn pointer(self, ordinal: Ordinal) -> Result<PointerRecord> {
        let table = self.snapshot.table(tables::POINTERS)?;
        let value = table.get((self.session.raw(), ordinal.raw()))?.ok_or_else(|| Corruption {
            table: "pointers",
            place: format!("session key {}, line {ordinal}", self.session),
            problem: "an entry that points at another has no row".into(),
        })?;
        self.read_pointer(ordinal, &value)
    }

    fn read_pointer(
        self,
        ordinal: Ordinal,
        value: &AccessGuard<'_, &'static [u8]>,
    ) -> Result<PointerRecord> {
        let place = || format!("session {}, line {ordinal}", self.session);
        PointerRecord::from_bytes(value.value(), place)
    }

    /// The ordinal of the session's leaf.
    pub(crate) fn leaf(self) -> Result<Option<Ordinal>> {
        let row = self.snapshot.table(tables::LEAVES)?.get(self.session.raw())?;
        let leaf = row.ok_or_else(|| no_leaf_row(self.session))?.value();
        Ok((leaf != tables::NO_LEAF).then_some(Ordinal::new(leaf)))
    }

    /// The label on the entry with an id.
    pub(crate) fn label(self, target: &[u8]) -> Result<Option<LabelRecord>> {
        let value = self.snapshot.labels()?.get((self.session.raw(), target))?;
        value.map(|value| read_label(target, &value)).transpose()
    }

    /// All labels of the session, each with its target, in order of targets.
    pub(crate) fn labels(self) -> Result<Vec<(Vec<u8>, LabelRecord)>> {
        let mut labels = Vec::new();
        let all = (self.session.raw(), &b""[..])..(self.session.end(), &b""[..]);
        for row in self.snapshot.labels()?.range(all)? {
            let (key, value) = row?;
            let target = key.value().1;
            labels.push((target.to_vec(), read_label(target, &value)?));
        }
        Ok(labels)
    }
}

fn read_label(target: &[u8], value: &AccessGuard<'_, &'static [u8]>) -> Result<LabelRecord> {
    LabelRecord::from_bytes(value.value(), || format!("target {}", String::from_utf8_lossy(target)))
}

/// The error of a session without a row in `leaves`.
pub(crate) fn no_leaf_row(session: SessionKey) -> Corruption {
    Corruption {
        table: "leaves",
        place: format!("session key {session}"),
        problem: "the session has no row".into(),
    }
}
