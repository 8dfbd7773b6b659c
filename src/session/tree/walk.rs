//! Reads the entries of an outline.

use leafline_import::format::EntryIds;
use leafline_import::{EntryKind, Line, LineReader, MessageRole, text};

use super::super::entry::Entry;
use super::super::lines::LineCursor;
use super::super::reader::SessionReader;
use super::super::view::is_entry;
use super::ids::Ids;
use super::outline::Outline;
use crate::error::Result;
use crate::store::node::Parent;
use crate::store::ordinal::Ordinal;

/// The greatest distance of a line after the one read before, if both are part of a run.
const NEAR: u64 = 16;

/// Lines of a run that are read individually: after them its chunks are read as a whole.
const ROW: u32 = 3;

/// Walks the entries of an [`Outline`], a segment at a time. It keeps one chunk of lines; for the
/// tree's JSON, also ids of at most 64 MiB.
#[derive(Debug)]
pub struct OutlineReader<'r> {
    reader: &'r SessionReader,
    outline: &'r Outline,
    lines: NearLines<'r>,
    /// Read when the first id is asked for; empty where they take too much memory.
    ids: Option<Ids>,
    place: usize,
    /// The next line; `None` at the segment's end.
    next: Option<Ordinal>,
}

/// An entry of an outline, or a node that records were folded into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutlineEntry {
    /// The entry's line number.
    pub ordinal: u64,
    /// Its kind.
    pub kind: EntryKind,
    /// Whose message it is.
    pub role: MessageRole,
    /// Its timestamp in milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// Whether it belongs to an agent's conversation beside the session's own (Claude Code).
    pub is_sidechain: bool,
    /// Whether it has no parent in the session.
    pub is_root: bool,
    /// Whether it names a parent that the session does not have.
    pub is_orphan: bool,
    /// Whether the conversation branches here: see [`Tree::forks`](super::Tree::forks).
    pub is_fork: bool,
    /// Whether a branch begins with it: see [`TreeNode::is_branch`](super::TreeNode::is_branch).
    pub is_branch: bool,
}

impl SessionReader {
    /// Reads the entries of an outline of this session, beginning with those of its first segment.
    pub fn read_outline<'r>(&'r self, outline: &'r Outline) -> OutlineReader<'r> {
        let lines = NearLines::new(self);
        let next = outline.segment(0).map(|segment| segment.first);
        OutlineReader { reader: self, outline, lines, ids: None, place: 0, next }
    }
}

impl OutlineReader<'_> {
    /// Goes to the beginning of a segment, by its index in [`Outline::segments`].
    pub fn begin(&mut self, segment: usize) {
        self.place = segment;
        self.next = self.outline.segment(segment).map(|segment| segment.first);
    }

    /// The segment's next entry; `None` after the last.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn next_entry(&mut self) -> Result<Option<OutlineEntry>> {
        let Some(segment) = self.outline.segment(self.place) else { return Ok(None) };
        while let Some(ordinal) = self.next {
            self.next = ordinal.next().filter(|&next| next <= segment.last);
            let node = self.reader.view().node(ordinal)?;
            if !is_entry(&node) || self.outline.folds.hides(ordinal) {
                continue;
            }
            let (is_first, is_last) = (ordinal == segment.first, ordinal == segment.last);
            return Ok(Some(OutlineEntry {
                ordinal: ordinal.raw(),
                kind: EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown),
                role: MessageRole::from_code(node.role).unwrap_or(MessageRole::None),
                timestamp: node.time,
                is_sidechain: node.is_sidechain,
                is_root: is_first && segment.parent().is_none(),
                is_orphan: self.outline.folds.parent(ordinal, &node) == Parent::Orphan,
                is_fork: is_last && segment.is_fork(),
                is_branch: is_first && segment.is_branch(),
            }));
        }
        Ok(None)
    }

    /// The line of an entry, or any other line of the session; consecutive ones cost little.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn line(&mut self, ordinal: u64) -> Result<Entry> {
        self.lines.entry(Ordinal::new(ordinal))
    }

    /// The id of an entry, for one who asks for most of them.
    pub(super) fn id(&mut self, ordinal: Ordinal) -> Result<Option<String>> {
        if self.ids.is_none() {
            self.ids = Some(Ids::of(self.reader.view())?.unwrap_or_default());
        }
        if let Some(id) = self.ids.as_ref().and_then(|ids| ids.get(ordinal)) {
            return Ok(Some(String::from_utf8_lossy(id).into_owned()));
        }
        let id = self.lines.id(ordinal)?;
        Ok(id.map(|id| String::from_utf8_lossy(&id).into_owned()))
    }
}

/// Lines in an order in which most follow each other: those that do are read a chunk at a time, and others
/// individually.
#[derive(Debug)]
pub(super) struct NearLines<'r> {
    reader: &'r SessionReader,
    cursor: LineCursor<'r>,
    scanner: LineReader,
    /// The line that was read last, and how many of its row were read before it.
    last: Option<Ordinal>,
    row: u32,
}

impl<'r> NearLines<'r> {
    pub(super) fn new(reader: &'r SessionReader) -> Self {
        let (cursor, scanner) = (reader.view().cursor(), LineReader::new(reader.reading()));
        Self { reader, cursor, scanner, last: None, row: 0 }
    }

    /// Whether a line should be read with its chunk.
    fn is_in_row(&mut self, ordinal: Ordinal) -> bool {
        let distance = self.last.replace(ordinal).and_then(|last| ordinal.lines_since(last));
        let is_near = distance.is_some_and(|distance| distance <= NEAR);
        self.row = if is_near { self.row.saturating_add(1) } else { 0 };
        self.row >= ROW || self.cursor.holds(ordinal)
    }

    /// Reads something from a line in its stored form: what was cut out of it is not an id.
    pub(super) fn read<T>(
        &mut self,
        ordinal: Ordinal,
        read: impl FnOnce(&Line<'_>) -> T,
    ) -> Result<T> {
        let read_text = |scanner: &mut LineReader, line: &[u8]| {
            let decoded = text::decode(line);
            read(&scanner.read(text::trim_start_of_file(&decoded)))
        };
        if self.is_in_row(ordinal) {
            Ok(read_text(&mut self.scanner, self.cursor.line(ordinal)?.text))
        } else {
            let line = self.reader.view().line(ordinal)?;
            Ok(read_text(&mut self.scanner, line.text()))
        }
    }

    /// The id of an entry, as WTF-8.
    pub(super) fn id(&mut self, ordinal: Ordinal) -> Result<Option<Vec<u8>>> {
        let reading = self.reader.reading();
        match reading.family.entry_ids() {
            EntryIds::Ordinals => Ok(Some(ordinal.to_string().into_bytes())),
            EntryIds::Stated => self.read(ordinal, |line| {
                reading.id_at(line, ordinal.raw()).map(std::borrow::Cow::into_owned)
            }),
        }
    }

    fn entry(&mut self, ordinal: Ordinal) -> Result<Entry> {
        if self.is_in_row(ordinal) {
            self.reader.view().entry_of(&self.cursor.line(ordinal)?)
        } else {
            self.reader.view().entry(ordinal)
        }
    }
}
