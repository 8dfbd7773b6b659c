//! A snapshot: the store as one read transaction sees it.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use redb::{
    AccessGuard, Key, ReadOnlyTable, ReadOnlyUntypedTable, ReadTransaction, TableDefinition,
    UntypedTableHandle, Value,
};

use super::blobs::{self, BlobRecord, Hash};
use super::cache::FrameKey;
use super::chunk::{Chunk, Hole, HoleKind, text_check};
use super::entry_record::EntryRecord;
use super::label_record::LabelRecord;
use super::node::Node;
use super::pointer_record::PointerRecord;
use super::record::Record;
use super::session_record::SessionRecord;
use super::settings_record::SettingsRecord;
use super::source_record::SourceRecord;
use super::{Store, tables};
use crate::error::{Corruption, Result};

/// A table whose keys are a session and an id.
type ByText = ReadOnlyTable<(u64, &'static [u8]), &'static [u8]>;

/// The table of chunks.
type Lines = ReadOnlyTable<(u64, u64, u32), &'static [u8]>;

/// A chunk's nodes, with its session and first ordinal.
type DecodedNodes = (u64, u64, Arc<[Node]>);

/// One read transaction and the tables opened in it.
pub(crate) struct Snapshot {
    transaction: ReadTransaction,
    sessions: OnceCell<ReadOnlyTable<u64, &'static [u8]>>,
    entries: OnceCell<ByText>,
    lines: OnceCell<Lines>,
    children: OnceCell<ReadOnlyTable<(u64, u64, u64), ()>>,
    labels: OnceCell<ByText>,
    /// The chunk whose nodes were decoded last: walks stay in one for many steps.
    nodes: RefCell<Option<DecodedNodes>>,
    /// The last field: the store may close with it, after the transaction has ended.
    store: Store,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Snapshot")
    }
}

/// A chunk's value, joined from its parts.
pub(crate) enum ChunkBytes {
    Row(AccessGuard<'static, &'static [u8]>),
    Joined(Vec<u8>),
}

impl ChunkBytes {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Row(row) => row.value(),
            Self::Joined(bytes) => bytes,
        }
    }
}

/// A line as it is stored: holes not filled.
#[derive(Debug)]
pub(crate) struct StoredLine {
    text: Arc<Vec<u8>>,
    start: usize,
    end: usize,
    pub(crate) holes: Vec<Hole>,
}

impl StoredLine {
    pub(crate) fn text(&self) -> &[u8] {
        self.text.get(self.start..self.end).unwrap_or_default()
    }
}

impl Store {
    /// The store as it is now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        Ok(Snapshot {
            transaction: self.begin_read()?,
            sessions: OnceCell::new(),
            entries: OnceCell::new(),
            lines: OnceCell::new(),
            children: OnceCell::new(),
            labels: OnceCell::new(),
            nodes: RefCell::new(None),
            store: self.clone(),
        })
    }
}

impl Snapshot {
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    fn open<'a, K: Key + 'static, V: Value + 'static>(
        &self,
        cell: &'a OnceCell<ReadOnlyTable<K, V>>,
        definition: TableDefinition<'_, K, V>,
    ) -> Result<&'a ReadOnlyTable<K, V>> {
        match cell.get() {
            Some(table) => Ok(table),
            None => {
                let table = self.transaction.open_table(definition)?;
                Ok(cell.get_or_init(|| table))
            }
        }
    }

    pub(crate) fn table<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'_, K, V>,
    ) -> Result<ReadOnlyTable<K, V>> {
        Ok(self.transaction.open_table(definition)?)
    }

    /// All tables.
    pub(crate) fn list_tables(&self) -> Result<Vec<UntypedTableHandle>> {
        Ok(self.transaction.list_tables()?.collect())
    }

    /// A table without its types, for its statistics.
    pub(crate) fn untyped_table(&self, handle: UntypedTableHandle) -> Result<ReadOnlyUntypedTable> {
        Ok(self.transaction.open_untyped_table(handle)?)
    }

    pub(crate) fn sessions(&self) -> Result<&ReadOnlyTable<u64, &'static [u8]>> {
        self.open(&self.sessions, tables::SESSIONS)
    }

    pub(crate) fn entries(&self) -> Result<&ByText> {
        self.open(&self.entries, tables::ENTRIES)
    }

    pub(crate) fn lines(&self) -> Result<&Lines> {
        self.open(&self.lines, tables::LINES)
    }

    pub(crate) fn children(&self) -> Result<&ReadOnlyTable<(u64, u64, u64), ()>> {
        self.open(&self.children, tables::CHILDREN)
    }

    fn labels(&self) -> Result<&ByText> {
        self.open(&self.labels, tables::LABELS)
    }

    pub(crate) fn session(&self, key: u64) -> Result<Option<SessionRecord>> {
        self.sessions()?
            .get(key)?
            .map(|value| SessionRecord::from_bytes(value.value(), || key.to_string()))
            .transpose()
    }

    pub(crate) fn source(&self, path: &[u8]) -> Result<Option<SourceRecord>> {
        self.table(tables::SOURCES)?
            .get(path)?
            .map(|value| {
                SourceRecord::from_bytes(value.value(), || {
                    String::from_utf8_lossy(path).into_owned()
                })
            })
            .transpose()
    }

    /// The settings that a node names; 0 stands for those of a root that changes nothing.
    pub(crate) fn settings(&self, session: u64, id: u64) -> Result<SettingsRecord> {
        if id == 0 {
            return Ok(SettingsRecord::default());
        }
        let place = || format!("session key {session}, {id}");
        let value =
            self.table(tables::SETTINGS)?.get((session, id))?.ok_or_else(|| Corruption {
                table: "settings",
                place: place(),
                problem: "a node names it, and it is not there".into(),
            })?;
        SettingsRecord::from_bytes(value.value(), place)
    }

    /// What points to entries of a session, by ordinal.
    pub(crate) fn pointers_of(&self, session: u64) -> Result<Vec<(u64, PointerRecord)>> {
        let mut pointers = Vec::new();
        for row in self.table(tables::POINTERS)?.range((session, 0)..(session + 1, 0))? {
            let (key, value) = row?;
            let (_, ordinal) = key.value();
            let place = || format!("session {session}, line {ordinal}");
            pointers.push((ordinal, PointerRecord::from_bytes(value.value(), place)?));
        }
        Ok(pointers)
    }

    /// What a line of a session points to, where it does.
    pub(crate) fn pointer(&self, session: u64, ordinal: u64) -> Result<Option<PointerRecord>> {
        let place = || format!("session {session}, line {ordinal}");
        self.table(tables::POINTERS)?
            .get((session, ordinal))?
            .map(|value| PointerRecord::from_bytes(value.value(), place))
            .transpose()
    }

    /// The ordinal of the session's leaf.
    pub(crate) fn leaf(&self, session: u64) -> Result<Option<u64>> {
        let row = self.table(tables::LEAVES)?.get(session)?.map(|value| value.value());
        let row = row.ok_or_else(|| Corruption {
            table: "leaves",
            place: format!("session key {session}"),
            problem: "the session has no row".into(),
        })?;
        Ok((row != tables::NO_LEAF).then_some(row))
    }

    pub(crate) fn label(&self, session: u64, target: &[u8]) -> Result<Option<LabelRecord>> {
        self.labels()?.get((session, target))?.map(|value| read_label(target, &value)).transpose()
    }

    /// All labels of a session, each with its target, in order of targets.
    pub(crate) fn labels_of(&self, session: u64) -> Result<Vec<(Vec<u8>, LabelRecord)>> {
        let mut labels = Vec::new();
        for row in self.labels()?.range((session, &b""[..])..(session + 1, &b""[..]))? {
            let (key, value) = row?;
            let target = key.value().1;
            labels.push((target.to_vec(), read_label(target, &value)?));
        }
        Ok(labels)
    }

    pub(crate) fn entry(&self, session: u64, id: &[u8]) -> Result<Option<EntryRecord>> {
        EntryRecord::find(self.entries()?, session, id)
    }

    pub(crate) fn blob_record(&self, hash: &Hash) -> Result<Option<BlobRecord>> {
        blobs::read_record(&self.table(tables::BLOBS)?, hash)
    }

    pub(crate) fn blob(&self, hash: &Hash) -> Result<Option<Vec<u8>>> {
        blobs::read_bytes(&self.table(tables::BLOBS)?, &self.table(tables::BLOB_PARTS)?, hash)
    }

    /// The chunk that holds a line of the session, and its first ordinal. [`Self::parse_holding`] proves that it does.
    pub(crate) fn chunk_of(&self, session: u64, ordinal: u64) -> Result<(u64, ChunkBytes)> {
        let lines = self.lines()?;
        let missing = || no_line(session, ordinal);
        let before = lines.range((session, 0, 0)..=(session, ordinal, 0))?.next_back();
        let (key, value) = before.ok_or_else(missing)??;
        let (_, first, part) = key.value();
        if part == 0 {
            return Ok((first, self.join(session, first, value)?));
        }
        let row = lines.get((session, first, 0))?.ok_or_else(missing)?;
        Ok((first, self.join(session, first, row)?))
    }

    /// The chunk that begins with a line of the session: what a walk from chunk to chunk expects next.
    pub(crate) fn chunk_at(&self, session: u64, expected: u64) -> Result<ChunkBytes> {
        if let Some(row) = self.lines()?.get((session, expected, 0))? {
            return self.join(session, expected, row);
        }
        let problem = match self.chunk_from(session, expected)? {
            Some((found, _)) => format!("expected line {expected}, found {found}"),
            None => format!("expected line {expected}, found no more lines"),
        };
        Err(damaged(session, expected, problem).into())
    }

    /// The first chunk whose first line's ordinal is at least `from`: of a session whose number of lines nobody knows, since
    /// it is not complete or partly swept.
    pub(crate) fn chunk_from(&self, session: u64, from: u64) -> Result<Option<(u64, ChunkBytes)>> {
        let row = self.lines()?.range((session, from, 0)..(session + 1, 0, 0))?.next();
        let Some(row) = row else { return Ok(None) };
        let (key, value) = row?;
        let (_, first, _) = key.value();
        Ok(Some((first, self.join(session, first, value)?)))
    }

    /// The nodes of the chunk that begins with a line.
    pub(crate) fn nodes_at(&self, session: u64, expected: u64) -> Result<Vec<Node>> {
        let bytes = self.chunk_at(session, expected)?;
        let nodes = Self::parse(session, expected, &bytes)?.nodes();
        nodes.map_err(|problem| damaged(session, expected, problem).into())
    }

    fn join(
        &self,
        session: u64,
        first: u64,
        row: AccessGuard<'static, &'static [u8]>,
    ) -> Result<ChunkBytes> {
        let one_part = Chunk::is_whole(row.value());
        if one_part {
            return Ok(ChunkBytes::Row(row));
        }
        let mut bytes = row.value().to_vec();
        for row in self.lines()?.range((session, first, 1)..=(session, first, u32::MAX))? {
            bytes.extend_from_slice(row?.1.value());
        }
        Ok(ChunkBytes::Joined(bytes))
    }

    /// Reads a chunk's directory.
    pub(crate) fn parse<'b>(session: u64, first: u64, bytes: &'b ChunkBytes) -> Result<Chunk<'b>> {
        Chunk::parse(first, bytes.as_slice())
            .map_err(|problem| damaged(session, first, problem).into())
    }

    /// Reads the directory of the chunk that [`Self::chunk_of`] has found for a line, which it must hold.
    pub(crate) fn parse_holding<'b>(
        session: u64,
        (first, bytes): (u64, &'b ChunkBytes),
        ordinal: u64,
    ) -> Result<Chunk<'b>> {
        let chunk = Self::parse(session, first, bytes)?;
        if chunk.holds(ordinal) { Ok(chunk) } else { Err(no_line(session, ordinal).into()) }
    }

    /// A frame's text, from the cache or decompressed and checked.
    pub(crate) fn frame_text(
        &self,
        session: u64,
        chunk: &Chunk<'_>,
        index: usize,
    ) -> Result<Arc<Vec<u8>>> {
        let Some(key) = frame_key(session, chunk, index) else {
            return Err(damaged(session, chunk.first(), "a frame is missing".into()).into());
        };
        if let Some(text) = self.store.cache().get(&key) {
            return Ok(text);
        }
        let text = Arc::new(self.decompress_frame(session, chunk, index)?);
        self.store.cache().insert(key, &text);
        Ok(text)
    }

    /// A frame's text, decompressed and checked: for scans, which would only wash the cache out.
    pub(crate) fn decompress_frame(
        &self,
        session: u64,
        chunk: &Chunk<'_>,
        index: usize,
    ) -> Result<Vec<u8>> {
        let fail = |problem: String| damaged(session, chunk.first(), problem);
        let frame = chunk.frames().get(index).ok_or_else(|| fail("a frame is missing".into()))?;
        let stored = chunk.frame_bytes(index);
        let text = if frame.compressed {
            let length =
                usize::try_from(frame.text_len).map_err(|error| fail(error.to_string()))?;
            let dictionary = self.store.dictionary(chunk.dictionary())?;
            self.store.decompressors().decompress(stored, length, &dictionary).map_err(fail)?
        } else {
            stored.to_vec()
        };
        if text.len() as u64 != frame.text_len || text_check(&text) != frame.check {
            return Err(fail("the text does not match its check".into()).into());
        }
        Ok(text)
    }

    /// A line of the session as it is stored. `hint` is the first line of the chunk that held it when an entry's record
    /// was written: a look-up instead of a search.
    pub(crate) fn line(&self, session: u64, ordinal: u64, hint: Option<u64>) -> Result<StoredLine> {
        if let Some(first) = hint
            && let Some(row) = self.lines()?.get((session, first, 0))?
        {
            let bytes = self.join(session, first, row)?;
            if let Some(line) = self.line_in(session, ordinal, first, &bytes)? {
                return Ok(line);
            }
        }
        let (first, bytes) = self.chunk_of(session, ordinal)?;
        let line = self.line_in(session, ordinal, first, &bytes)?;
        line.ok_or_else(|| no_line(session, ordinal).into())
    }

    fn line_in(
        &self,
        session: u64,
        ordinal: u64,
        first: u64,
        bytes: &ChunkBytes,
    ) -> Result<Option<StoredLine>> {
        let chunk = Self::parse(session, first, bytes)?;
        let Some(place) = chunk.locate(ordinal) else {
            return Ok(None);
        };
        let text = self.frame_text(session, &chunk, place.frame)?;
        if place.end > text.len() {
            return Err(damaged(session, first, "a line is longer than its frame".into()).into());
        }
        let holes = chunk.holes_of(ordinal).to_vec();
        Ok(Some(StoredLine { text, start: place.start, end: place.end, holes }))
    }

    /// The node of a line of the session.
    pub(crate) fn node(&self, session: u64, ordinal: u64) -> Result<Node> {
        if let Some((known, first, nodes)) = &*self.nodes.borrow()
            && *known == session
            && ordinal >= *first
            && let Some(node) =
                usize::try_from(ordinal - first).ok().and_then(|index| nodes.get(index))
        {
            return Ok(*node);
        }
        let (first, bytes) = self.chunk_of(session, ordinal)?;
        let chunk = Self::parse_holding(session, (first, &bytes), ordinal)?;
        let nodes = chunk.nodes().map_err(|problem| damaged(session, first, problem))?;
        let node =
            usize::try_from(ordinal - first).ok().and_then(|index| nodes.get(index)).copied();
        *self.nodes.borrow_mut() = Some((session, first, nodes.into()));
        node.ok_or_else(|| no_line(session, ordinal).into())
    }
}

fn read_label(target: &[u8], value: &AccessGuard<'_, &'static [u8]>) -> Result<LabelRecord> {
    LabelRecord::from_bytes(value.value(), || format!("target {}", String::from_utf8_lossy(target)))
}

fn frame_key(session: u64, chunk: &Chunk<'_>, index: usize) -> Option<FrameKey> {
    let frame = chunk.frames().get(index)?;
    Some(FrameKey {
        session,
        chunk: chunk.first(),
        frame: u32::try_from(index).ok()?,
        check: frame.check,
        text_len: frame.text_len,
    })
}

/// The error of a line that the session has and no chunk holds.
pub(crate) fn no_line(session: u64, ordinal: u64) -> Corruption {
    Corruption {
        table: "lines",
        place: format!("session key {session}"),
        problem: format!("line {ordinal} is missing"),
    }
}

/// The error of a chunk that does not say what it must.
pub(crate) fn damaged(session: u64, first: u64, problem: String) -> Corruption {
    Corruption {
        table: "lines",
        place: format!("session key {session}, chunk of line {first}"),
        problem,
    }
}

impl HoleKind {
    /// Whether the line lost text here: it needs the blob to come back.
    pub(crate) fn is_cut(self) -> bool {
        matches!(self, Self::Image | Self::Payload)
    }
}
