//! Reads the state of a session at one moment.

use leafline_import::conversation::PathLimit;
use leafline_import::{EntryKind, Family, Reading};

use super::entry::Entry;
use super::export::{ExportMode, Exported, export};
use super::facts::SessionFacts;
use super::view::{View, rendered};
use crate::error::{Error, Result, SessionError};
use crate::redact::Redactor;
use crate::store::Store;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::session_rows::SessionRows;
use crate::store::snapshot::Snapshot;
use crate::temporary::remove_left;

/// How many ids an error names.
const EXAMPLES: usize = 3;

/// A session as it was when the reader was made, whatever is written later.
///
/// Making a reader costs a few microseconds, once for all reads through it. As long as it exists, no process can reuse space that
/// is freed, so each commit makes the store's file longer; [`Self::growth`] says by how much. [Pause](Self::pause) the reader
/// while waiting for a person or a caller.
pub struct SessionReader {
    snapshot: Snapshot,
    session: SessionKey,
    record: SessionRecord,
    /// Bytes of the store's file when it was made.
    file_bytes: u64,
}

impl std::fmt::Debug for SessionReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SessionReader")
            .field("id", &self.id())
            .field("family", &self.family())
            .field("store", self.store())
            .finish_non_exhaustive()
    }
}

impl SessionReader {
    pub(crate) fn new(snapshot: Snapshot, session: SessionKey, record: SessionRecord) -> Self {
        Self { snapshot, session, record, file_bytes: 0 }
    }

    /// The session with this key, or, if an import has given it another key, with this whole id.
    pub(crate) fn open(snapshot: Snapshot, (key, id): (SessionKey, &str)) -> Result<Self> {
        let mut found = snapshot.session(key)?.map(|record| (key, record));
        if found.is_none()
            && let Some(key) = snapshot.key_of(id.as_bytes())?
        {
            found = snapshot.session(key)?.map(|record| (key, record));
        }
        let Some((key, record)) = found else {
            return Err(Error::Session(SessionError::NotFound { id: id.to_owned() }));
        };
        snapshot.refuse_unfolded(key)?;
        // A store whose file was deleted can still be read.
        let file_bytes = snapshot.stored().file_bytes().unwrap_or(u64::MAX);
        Ok(Self { file_bytes, ..Self::new(snapshot, key, record) })
    }

    /// The number of bytes by which the store's file has grown since the reader was made. While other processes write to the
    /// store, the reader holds back most of them; after it is dropped or [paused](Self::pause), the next commits reuse them.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file's size cannot be read.
    pub fn growth(&self) -> Result<u64> {
        Ok(self.store().file_bytes()?.saturating_sub(self.file_bytes))
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn into_snapshot(self) -> Snapshot {
        self.snapshot
    }

    /// What the session is read through.
    pub(crate) fn view(&self) -> View<'_> {
        View::new(self.snapshot.rows(self.session), &self.record)
    }

    pub(crate) fn key(&self) -> SessionKey {
        self.session
    }

    pub(crate) fn record(&self) -> &SessionRecord {
        &self.record
    }

    /// The store that has the session.
    pub fn store(&self) -> &Store {
        self.snapshot.stored()
    }

    /// The id by which the session is addressed.
    pub fn id(&self) -> String {
        self.record.id()
    }

    /// The family of the session's format.
    pub fn family(&self) -> Family {
        self.record.known_family()
    }

    /// The facts that a list shows, without reading any line.
    pub fn facts(&self) -> SessionFacts {
        SessionFacts::of(&self.record)
    }

    /// The header line; Claude Code's sessions have none.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn get_header(&self) -> Result<Option<Entry>> {
        Ok(self.line(self.record.header.raw())?.filter(|line| line.kind() == EntryKind::Header))
    }

    pub(crate) fn reading(&self) -> Reading {
        self.record.reading()
    }

    /// The entry with this id; of an id that occurs twice, the later entry.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`].
    pub fn get_entry(&self, id: &str) -> Result<Entry> {
        let found = find_entry(self.view().rows(), self.reading(), id)?;
        found.ok_or_else(|| self.view().not_found(id))
    }

    /// The id of the entry that has this id, or whose id alone begins with it.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`] if there is none, [`SessionError::AmbiguousEntry`] if several ids begin with it.
    pub fn find_entry_id(&self, prefix: &str) -> Result<String> {
        let rows = self.view().rows();
        if rows.entry(prefix.as_bytes())?.is_some() {
            return Ok(prefix.to_owned());
        }
        let (mut count, mut examples) = (0, Vec::new());
        if !prefix.is_empty() {
            rows.each_id_beginning_with(prefix.as_bytes(), |id| {
                count += 1;
                if examples.len() < EXAMPLES {
                    examples.push(String::from_utf8_lossy(id).into_owned());
                }
            })?;
        }
        match (count, examples.pop()) {
            (1, Some(only)) => Ok(only),
            (_, None) => Err(self.view().not_found(prefix)),
            (_, Some(last)) => {
                examples.push(last);
                let (session, prefix) = (self.id(), prefix.to_owned());
                Err(SessionError::AmbiguousEntry { session, prefix, count, examples }.into())
            }
        }
    }

    /// The line with this ordinal, entry or not; `None` after the session's end.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn line(&self, ordinal: u64) -> Result<Option<Entry>> {
        let ordinal = Ordinal::new(ordinal);
        if !ordinal.is_within(self.record.lines) {
            return Ok(None);
        }
        self.view().entry(ordinal).map(Some)
    }

    /// The current leaf; `None` if the session has none.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn get_leaf(&self) -> Result<Option<Entry>> {
        match self.view().leaf()? {
            Some(ordinal) => self.view().entry(ordinal).map(Some),
            None => Ok(None),
        }
    }

    /// The current leaf's id; `None` if the session has no leaf, or the leaf has no id.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn get_leaf_id(&self) -> Result<Option<String>> {
        Ok(self.get_leaf()?.and_then(|leaf| leaf.id()))
    }

    /// The label set on an entry.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn get_label(&self, id: &str) -> Result<Option<String>> {
        let label = self.view().rows().label(id.as_bytes())?;
        Ok(label.map(|label| String::from_utf8_lossy(&label.label).into_owned()))
    }

    /// Passes on the path from the root down to an entry, or to the leaf, line by line. Returns the number of entries.
    /// A loop in the file ends the path.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`], and the error of `take`.
    pub fn get_path(
        &self,
        from: Option<&str>,
        mut take: impl FnMut(&Entry) -> Result<()>,
    ) -> Result<u64> {
        let from = match from {
            Some(id) => Some(self.view().named(id)?),
            None => self.view().leaf()?,
        };
        from.map_or(Ok(0), |from| self.each_on_path(from, &mut take))
    }

    /// Passes on the path from the root down to an entry. Returns the number of entries.
    pub(crate) fn each_on_path(
        &self,
        end: Ordinal,
        mut take: impl FnMut(&Entry) -> Result<()>,
    ) -> Result<u64> {
        let path = self.view().walk(end).up_to(PathLimit::Root)?;
        self.for_each(path.downwards().map(Ordinal::new), |entry| take(&entry))?;
        Ok(path.len())
    }

    /// The direct children of an entry in the order of the file; for `None`, the roots.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`].
    pub fn get_children(&self, id: Option<&str>) -> Result<Vec<Entry>> {
        let parent = match id {
            Some(id) => Some(self.view().named(id)?),
            None => None,
        };
        let mut children = Vec::new();
        self.for_each(self.view().children(parent)?.into_iter(), |entry| {
            children.push(entry);
            Ok(())
        })?;
        Ok(children)
    }

    /// Passes on all lines from an ordinal on, until `take` returns `false`.
    ///
    /// # Errors
    ///
    /// The error of `take`.
    pub fn lines(&self, from: u64, mut take: impl FnMut(Entry) -> Result<bool>) -> Result<()> {
        let mut cursor = self.view().cursor_from(Ordinal::new(from));
        while let Some(line) = cursor.next()? {
            if !take(self.view().entry_of(&line)?)? {
                break;
            }
        }
        Ok(())
    }

    /// The same with lines as they are stored: blobs that were cut out of them are left out.
    #[cfg(any(feature = "search", feature = "redact"))]
    pub(crate) fn stored_lines(
        &self,
        from: Ordinal,
        mut take: impl FnMut(Entry) -> Result<bool>,
    ) -> Result<()> {
        let mut cursor = self.view().cursor_from(from);
        while let Some(line) = cursor.next()? {
            let (ordinal, node) = (line.ordinal, *line.node);
            let text = cursor.take_text(ordinal)?;
            if !take(Entry::with_node(self.reading(), ordinal, &node, text))? {
                break;
            }
        }
        Ok(())
    }

    /// Writes the session in one of its forms; returns the bytes written.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`](crate::error::ExportError::Output) of the writer;
    /// [`ExportError::BlobsMissing`](crate::error::ExportError::BlobsMissing) if the form needs blobs that the store
    /// does not have.
    pub fn export(&self, mode: &ExportMode, out: &mut dyn std::io::Write) -> Result<u64> {
        mode.blobs().into_iter().for_each(remove_left);
        Ok(self.export_noting(mode, None, out)?.bytes)
    }

    /// Does what [`Self::export`] does, with secrets replaced. A blob of text in which there is one is not written: the line
    /// refers to it by the hash of what it holds.
    ///
    /// # Errors
    ///
    /// Those of [`Self::export`].
    #[cfg(feature = "redact")]
    pub fn export_redacted(
        &self,
        mode: &ExportMode,
        redactor: &Redactor,
        out: &mut dyn std::io::Write,
    ) -> Result<u64> {
        mode.blobs().into_iter().for_each(remove_left);
        Ok(self.export_noting(mode, Some(redactor), out)?.bytes)
    }

    /// [`Self::export`], with further facts about it.
    pub(crate) fn export_noting(
        &self,
        mode: &ExportMode,
        redactor: Option<&Redactor>,
        out: &mut dyn std::io::Write,
    ) -> Result<Exported> {
        export(self.view(), mode, redactor, out)
    }

    /// Passes on lines by ordinal, which must exist; consecutive ones cost little.
    pub(crate) fn for_each(
        &self,
        ordinals: impl Iterator<Item = Ordinal>,
        mut take: impl FnMut(Entry) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = self.view().cursor();
        for ordinal in ordinals {
            take(self.view().entry_of(&cursor.line(ordinal)?)?)?;
        }
        Ok(())
    }
}

/// The entry with this id among a session's rows.
pub(super) fn find_entry(
    rows: SessionRows<'_>,
    reading: Reading,
    id: &str,
) -> Result<Option<Entry>> {
    let Some(record) = rows.entry(id.as_bytes())? else {
        return Ok(None);
    };
    let line = rows.line(record.ordinal, Some(record.chunk))?;
    let bytes = rendered(rows.snapshot(), line.text(), &line.holes)?;
    Ok(Some(Entry::new(reading, record.ordinal, bytes)))
}
