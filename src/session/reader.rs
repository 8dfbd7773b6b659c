//! Reading a session at one moment.

use leafline_import::{EntryKind, Family};

use super::entry::Entry;
use super::export::{ExportMode, Exported, export};
use super::facts::SessionFacts;
use super::index::reading::Reading;
use super::lines::{LineCursor, LineView};
use super::order::Order;
use super::path::PathRuns;
use super::render::{Renderer, Rendering};
use crate::error::{Corruption, Error, Result};
use crate::store::node::Node;
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::{Snapshot, StoredLine};
use crate::store::tables::{NO_PARENT, SESSION_IDS};
use crate::temporary::remove_left;

/// A session as it was when the reader was made, whatever is written meanwhile.
///
/// Making one costs a few microseconds; many reads through one cost that once. A reader keeps old pages of
/// the store alive, so it is not to be kept for hours.
#[derive(Debug)]
pub struct SessionReader {
    snapshot: Snapshot,
    session: u64,
    record: SessionRecord,
}

impl SessionReader {
    pub(crate) fn new(snapshot: Snapshot, session: u64, record: SessionRecord) -> Self {
        Self { snapshot, session, record }
    }

    /// The session with this key, or, where an import has given it another one, with this whole id.
    pub(crate) fn open(snapshot: Snapshot, (key, id): (u64, &str)) -> Result<Self> {
        if let Some(record) = snapshot.session(key)? {
            return Ok(Self::new(snapshot, key, record));
        }
        let found = snapshot.table(SESSION_IDS)?.get(id.as_bytes())?.map(|key| key.value());
        let record = found.map(|key| snapshot.session(key)).transpose()?.flatten();
        match found.zip(record) {
            Some((key, record)) => Ok(Self::new(snapshot, key, record)),
            None => Err(Error::SessionNotFound { id: id.to_owned() }),
        }
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn into_snapshot(self) -> Snapshot {
        self.snapshot
    }

    pub(crate) fn key(&self) -> u64 {
        self.session
    }

    pub(crate) fn record(&self) -> &SessionRecord {
        &self.record
    }

    /// The id by which the session is addressed.
    pub fn id(&self) -> String {
        self.record.id()
    }

    /// [`Self::id`] by the name that the session managers of pi and omp have.
    pub fn get_session_id(&self) -> String {
        self.id()
    }

    /// The family whose format the session has.
    pub fn family(&self) -> Family {
        self.record.known_family()
    }

    /// The facts that a list shows, without a look at any line.
    pub fn facts(&self) -> SessionFacts {
        SessionFacts::of(&self.record)
    }

    /// The header line; Claude Code's sessions have none.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn get_header(&self) -> Result<Option<Entry>> {
        Ok(self.line(self.record.header)?.filter(|line| line.kind() == EntryKind::Header))
    }

    pub(crate) fn reading(&self) -> Reading {
        Reading::of(&self.record)
    }

    /// The entry with this id; of an id met twice, the later entry.
    ///
    /// # Errors
    ///
    /// [`Error::EntryNotFound`].
    pub fn get_entry(&self, id: &str) -> Result<Entry> {
        let found = find_entry(&self.snapshot, (self.session, self.reading()), id)?;
        found.ok_or_else(|| self.not_found(id))
    }

    /// The line with this ordinal, entry or not; `None` behind the session's end.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn line(&self, ordinal: u64) -> Result<Option<Entry>> {
        if ordinal < self.record.lines { self.known_line(ordinal).map(Some) } else { Ok(None) }
    }

    /// A line that the session must have, since its index names it.
    pub(crate) fn known_line(&self, ordinal: u64) -> Result<Entry> {
        let line = self.snapshot.line(self.session, ordinal, None)?;
        render(&self.snapshot, self.reading(), ordinal, &line)
    }

    /// The current leaf; `None` where the session has none.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn get_leaf(&self) -> Result<Option<Entry>> {
        match self.leaf_ordinal()? {
            Some(ordinal) => self.known_line(ordinal).map(Some),
            None => Ok(None),
        }
    }

    /// [`Self::get_leaf`] by the name that pi's documents have.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn get_leaf_entry(&self) -> Result<Option<Entry>> {
        self.get_leaf()
    }

    /// The current leaf's id; `None` where the session has no leaf, or the leaf no id.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn get_leaf_id(&self) -> Result<Option<String>> {
        Ok(self.get_leaf()?.and_then(|leaf| leaf.id()))
    }

    pub(crate) fn leaf_ordinal(&self) -> Result<Option<u64>> {
        let leaf = self.snapshot.leaf(self.session)?;
        if let Some(leaf) = leaf.filter(|&leaf| leaf >= self.record.lines) {
            let place = format!("session {}", self.id());
            let problem = format!("the leaf is line {}, behind the last", leaf + 1);
            return Err(Corruption { table: "leaves", place, problem }.into());
        }
        Ok(leaf)
    }

    /// The label set on an entry.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn get_label(&self, id: &str) -> Result<Option<String>> {
        let label = self.snapshot.label(self.session, id.as_bytes())?;
        Ok(label.map(|label| String::from_utf8_lossy(&label.label).into_owned()))
    }

    /// Hands out the path from the root down to an entry, or to the leaf, line by line. Answers how many
    /// entries it has. A loop in the file ends the path.
    ///
    /// # Errors
    ///
    /// [`Error::EntryNotFound`], and what `take` fails with.
    pub fn get_path(
        &self,
        from: Option<&str>,
        mut take: impl FnMut(&Entry) -> Result<()>,
    ) -> Result<u64> {
        let from = match from {
            Some(id) => Some(self.ordinal_of(id)?),
            None => self.leaf_ordinal()?,
        };
        let Some(from) = from else { return Ok(0) };
        let path = PathRuns::walk(&self.snapshot, self.order(), from)?;
        self.for_each(path.downwards(), |entry| take(&entry))?;
        Ok(path.len())
    }

    /// The direct children of an entry in the order of the file; of `None`, the roots.
    ///
    /// # Errors
    ///
    /// [`Error::EntryNotFound`].
    pub fn get_children(&self, id: Option<&str>) -> Result<Vec<Entry>> {
        let parent = match id {
            Some(id) => self.ordinal_of(id)?,
            None => NO_PARENT,
        };
        let mut children = Vec::new();
        self.for_each(self.child_ordinals(parent)?.into_iter(), |entry| {
            children.push(entry);
            Ok(())
        })?;
        Ok(children)
    }

    pub(crate) fn child_ordinals(&self, parent: u64) -> Result<Vec<u64>> {
        let order = self.order();
        let named = (parent != NO_PARENT).then_some(parent);
        let mut children = Vec::new();
        if let Some(next) = named.and_then(|parent| parent.checked_add(1))
            && next < order.lines()
            && order.line(&self.snapshot, next)?.parent.ordinal() == named
        {
            children.push(next);
        }
        let table = self.snapshot.children()?;
        for row in table.range((self.session, parent, 0)..=(self.session, parent, u64::MAX))? {
            children.push(row?.0.value().2);
        }
        for &child in &children {
            order.check_child(child, &order.line(&self.snapshot, child)?, named)?;
        }
        children.sort_unstable();
        Ok(children)
    }

    /// Hands out all lines from an ordinal on, until `take` answers `false`.
    ///
    /// # Errors
    ///
    /// What `take` fails with.
    pub fn lines(&self, from: u64, mut take: impl FnMut(Entry) -> Result<bool>) -> Result<()> {
        let mut cursor = self.cursor(from);
        while let Some(line) = cursor.next()? {
            if !take(self.entry_of(&line)?)? {
                break;
            }
        }
        Ok(())
    }

    /// The same with lines as they are stored: what was cut out of them as a blob is not filled in.
    #[cfg(feature = "search")]
    pub(crate) fn stored_lines(
        &self,
        from: u64,
        mut take: impl FnMut(Entry) -> Result<bool>,
    ) -> Result<()> {
        let mut cursor = self.cursor(from);
        while let Some(line) = cursor.next()? {
            let text = line.text.to_vec();
            if !take(Entry::with_node(self.reading(), line.ordinal, line.node, text))? {
                break;
            }
        }
        Ok(())
    }

    /// Writes the session in one of its forms; answers the bytes written.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] of the writer; [`Error::BlobsMissing`] where the form needs blobs that the store
    /// does not have.
    pub fn export(&self, mode: &ExportMode, out: &mut dyn std::io::Write) -> Result<u64> {
        mode.blobs().into_iter().for_each(remove_left);
        Ok(self.export_noting(mode, out)?.bytes)
    }

    /// [`Self::export`], and what else is to be known of it.
    pub(crate) fn export_noting(
        &self,
        mode: &ExportMode,
        out: &mut dyn std::io::Write,
    ) -> Result<Exported> {
        export(&self.snapshot, self.session, &self.record, mode, out)
    }

    pub(crate) fn cursor(&self, from: u64) -> LineCursor<'_> {
        LineCursor::new(&self.snapshot, self.session, &self.record, from)
    }

    /// What the session's nodes have to say.
    pub(crate) fn order(&self) -> Order {
        Order::of(self.session, &self.record)
    }

    /// The node of a line that must be there.
    pub(crate) fn node(&self, ordinal: u64) -> Result<Node> {
        self.order().line(&self.snapshot, ordinal)
    }

    /// The node of a line that must be there and an entry.
    pub(crate) fn entry_node(&self, ordinal: u64) -> Result<Node> {
        self.order().entry(&self.snapshot, ordinal)
    }

    pub(crate) fn ordinal_of(&self, id: &str) -> Result<u64> {
        let found = self.snapshot.entry(self.session, id.as_bytes())?;
        found.map(|record| record.ordinal).ok_or_else(|| self.not_found(id))
    }

    /// Renders a stored line.
    pub(crate) fn entry_of(&self, line: &LineView<'_>) -> Result<Entry> {
        let mut bytes = Vec::with_capacity(line.text.len());
        Renderer::new(&self.snapshot, Rendering::Exact)
            .render(line.text, line.holes, &mut bytes)?;
        Ok(Entry::with_node(self.reading(), line.ordinal, line.node, bytes))
    }

    /// Hands out lines by ordinal, which must be there; consecutive ones cost little.
    pub(crate) fn for_each(
        &self,
        ordinals: impl Iterator<Item = u64>,
        mut take: impl FnMut(Entry) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = self.cursor(0);
        for ordinal in ordinals {
            take(self.entry_of(&cursor.line(ordinal)?)?)?;
        }
        Ok(())
    }

    fn not_found(&self, id: &str) -> Error {
        Error::EntryNotFound { session: self.id(), entry: id.to_owned() }
    }
}

/// The entry with this id in the session with this key.
pub(super) fn find_entry(
    snapshot: &Snapshot,
    (session, reading): (u64, Reading),
    id: &str,
) -> Result<Option<Entry>> {
    let Some(record) = snapshot.entry(session, id.as_bytes())? else {
        return Ok(None);
    };
    let line = snapshot.line(session, record.ordinal, Some(record.chunk))?;
    render(snapshot, reading, record.ordinal, &line).map(Some)
}

fn render(snapshot: &Snapshot, reading: Reading, ordinal: u64, line: &StoredLine) -> Result<Entry> {
    let mut bytes = Vec::with_capacity(line.text().len());
    Renderer::new(snapshot, Rendering::Exact).render(line.text(), &line.holes, &mut bytes)?;
    Ok(Entry::new(reading, ordinal, bytes))
}

/// Whether a node is one of an entry.
pub(crate) fn is_entry(node: &Node) -> bool {
    EntryKind::from_code(node.kind).is_some_and(EntryKind::is_entry)
}
