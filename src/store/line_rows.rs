//! A session's rows of lines in a snapshot: its chunks, their frames, and single lines and nodes.

use std::sync::Arc;

use leafline_import::{EntryKind, MessageRole};
use redb::AccessGuard;

use super::cache::FrameKey;
use super::chunk::{Chunk, Hole, text_check};
use super::chunks::Chunks;
use super::node::Node;
use super::ordinal::Ordinal;
use super::session_rows::SessionRows;
use crate::error::{Corruption, Result};

/// A chunk's value, joined from its parts.
pub(super) enum ChunkBytes {
    Row(AccessGuard<'static, &'static [u8]>),
    Joined(Vec<u8>),
}

impl std::fmt::Debug for ChunkBytes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ChunkBytes")
    }
}

impl ChunkBytes {
    pub(super) fn as_slice(&self) -> &[u8] {
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
        self.text.get(self.start..self.end).expect("the line's place was checked against the text")
    }
}

impl<'s> SessionRows<'s> {
    /// The chunks of a session that has as many lines.
    pub(crate) fn chunks(self, lines: u64) -> Chunks<'s> {
        Chunks::of_whole(self, lines)
    }

    /// The chunks that are there of a session whose number of lines nobody knows, since it is not complete or partly swept.
    pub(crate) fn chunks_left(self) -> Chunks<'s> {
        Chunks::left(self)
    }

    /// The only chunk that can hold a line, and the chunk's first line. Whether it does, its directory says.
    pub(super) fn chunk_of(self, ordinal: Ordinal) -> Result<(Ordinal, ChunkBytes)> {
        let (lines, session) = (self.snapshot.lines()?, self.session.raw());
        let missing = || self.no_line(ordinal);
        let before = lines.range((session, 0, 0)..=(session, ordinal.raw(), 0))?.next_back();
        let (key, value) = before.ok_or_else(missing)??;
        let (_, raw, part) = key.value();
        let first = Ordinal::new(raw);
        if part == 0 {
            return Ok((first, self.join(first, value)?));
        }
        let row = lines.get((session, raw, 0))?.ok_or_else(missing)?;
        Ok((first, self.join(first, row)?))
    }

    /// The chunk that begins with a line, which must be there.
    pub(super) fn chunk_at(self, expected: Ordinal) -> Result<ChunkBytes> {
        let key = (self.session.raw(), expected.raw(), 0);
        if let Some(row) = self.snapshot.lines()?.get(key)? {
            return self.join(expected, row);
        }
        let problem = match self.chunk_from(expected)? {
            Some((found, _)) => format!("expected line {expected}, found {found}"),
            None => format!("expected line {expected}, found no more lines"),
        };
        Err(self.damaged(expected, problem).into())
    }

    /// The first chunk that begins with `from` or a later line.
    pub(super) fn chunk_from(self, from: Ordinal) -> Result<Option<(Ordinal, ChunkBytes)>> {
        let rows = (self.session.raw(), from.raw(), 0)..(self.session.end(), 0, 0);
        let Some(row) = self.snapshot.lines()?.range(rows)?.next() else { return Ok(None) };
        let (key, value) = row?;
        let first = Ordinal::new(key.value().1);
        Ok(Some((first, self.join(first, value)?)))
    }

    /// The first chunk that begins with `from` or a later line, and the number of its lines, if its directory can be read.
    pub(crate) fn chunk_beginning(self, from: Ordinal) -> Result<Option<(Ordinal, Option<u64>)>> {
        let Some((first, bytes)) = self.chunk_from(from)? else { return Ok(None) };
        let count = Chunk::parse(first, bytes.as_slice()).ok().map(|chunk| chunk.line_count());
        Ok(Some((first, count)))
    }

    fn join(self, first: Ordinal, row: AccessGuard<'static, &'static [u8]>) -> Result<ChunkBytes> {
        let one_part = Chunk::is_whole(row.value());
        if one_part {
            return Ok(ChunkBytes::Row(row));
        }
        let mut bytes = row.value().to_vec();
        let (session, first) = (self.session.raw(), first.raw());
        let others = (session, first, 1)..=(session, first, u32::MAX);
        for row in self.snapshot.lines()?.range(others)? {
            bytes.extend_from_slice(row?.1.value());
        }
        Ok(ChunkBytes::Joined(bytes))
    }

    /// Reads a chunk's directory.
    pub(super) fn parse(self, first: Ordinal, bytes: &ChunkBytes) -> Result<Chunk<'_>> {
        Chunk::parse(first, bytes.as_slice()).map_err(|problem| self.damaged(first, problem).into())
    }

    /// The nodes of a chunk. Each has a kind and a role that are known.
    pub(crate) fn nodes(self, chunk: &Chunk<'_>) -> Result<Vec<Node>> {
        let nodes = chunk.nodes().map_err(|problem| self.damaged(chunk.first(), problem))?;
        let is_known = |node: &Node| {
            EntryKind::from_code(node.kind).is_some() && MessageRole::from_code(node.role).is_some()
        };
        match chunk.first().onwards().zip(&nodes).find(|(_, node)| !is_known(node)) {
            None => Ok(nodes),
            Some((ordinal, Node { kind, role, .. })) => {
                let problem = format!("line {ordinal} has kind {kind} and role {role}");
                Err(self.damaged(chunk.first(), problem).into())
            }
        }
    }

    /// A frame's text, from the cache or decompressed and checked.
    pub(crate) fn frame_text(self, chunk: &Chunk<'_>, index: usize) -> Result<Arc<Vec<u8>>> {
        let Some(key) = self.frame_key(chunk, index) else {
            return Err(self.damaged(chunk.first(), "a frame is missing").into());
        };
        let cache = self.snapshot.store().cache();
        if let Some(text) = cache.get(&key) {
            return Ok(text);
        }
        let text = Arc::new(self.decompress_frame(chunk, index)?);
        cache.insert(key, &text);
        Ok(text)
    }

    fn frame_key(self, chunk: &Chunk<'_>, index: usize) -> Option<FrameKey> {
        let frame = chunk.frames().get(index)?;
        Some(FrameKey {
            session: self.session,
            chunk: chunk.first(),
            frame: u32::try_from(index).ok()?,
            check: frame.check,
            text_len: frame.text_len,
        })
    }

    /// A frame's text, decompressed and checked: for scans, which would only wash the cache out.
    pub(crate) fn decompress_frame(self, chunk: &Chunk<'_>, index: usize) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        self.append_frame(chunk, index, &mut text)?;
        Ok(text)
    }

    /// The text of all frames of a chunk, in memory that is no longer needed.
    pub(crate) fn decompress_chunk(
        self,
        chunk: &Chunk<'_>,
        mut memory: Vec<u8>,
    ) -> Result<Vec<u8>> {
        memory.clear();
        let bytes: u64 = chunk.lengths().iter().sum();
        let is_reserved = usize::try_from(bytes).map(|bytes| memory.try_reserve_exact(bytes));
        if !matches!(is_reserved, Ok(Ok(()))) {
            let problem = format!("no memory for a text of {bytes} bytes");
            return Err(self.damaged(chunk.first(), problem).into());
        }
        for index in 0..chunk.frames().len() {
            self.append_frame(chunk, index, &mut memory)?;
        }
        Ok(memory)
    }

    fn append_frame(self, chunk: &Chunk<'_>, index: usize, text: &mut Vec<u8>) -> Result<()> {
        let fail = |problem: String| self.damaged(chunk.first(), problem);
        let frame = chunk.frames().get(index).ok_or_else(|| fail("a frame is missing".into()))?;
        let stored = chunk.frame_bytes(index);
        let start = text.len();
        if frame.compressed {
            let length =
                usize::try_from(frame.text_len).map_err(|error| fail(error.to_string()))?;
            let store = self.snapshot.store();
            let dictionary = store.dictionary(chunk.dictionary())?;
            store.decompressors().decompress(stored, length, &dictionary, text).map_err(fail)?;
        } else {
            text.extend_from_slice(stored);
        }
        let appended = text.get(start..).unwrap_or_default();
        if appended.len() as u64 != frame.text_len || text_check(appended) != frame.check {
            return Err(fail("the text does not match its check".into()).into());
        }
        Ok(())
    }

    /// A line as it is stored. `hint` is the first line of the chunk that held the line when its entry's record was written:
    /// with it a look-up mostly replaces the search.
    pub(crate) fn line(self, ordinal: Ordinal, hint: Option<Ordinal>) -> Result<StoredLine> {
        if let Some(first) = hint
            && let Some(row) = self.snapshot.lines()?.get((self.session.raw(), first.raw(), 0))?
        {
            let bytes = self.join(first, row)?;
            if let Some(line) = self.line_in(ordinal, first, &bytes)? {
                return Ok(line);
            }
        }
        let (first, bytes) = self.chunk_of(ordinal)?;
        let line = self.line_in(ordinal, first, &bytes)?;
        line.ok_or_else(|| self.no_line(ordinal).into())
    }

    fn line_in(
        self,
        ordinal: Ordinal,
        first: Ordinal,
        bytes: &ChunkBytes,
    ) -> Result<Option<StoredLine>> {
        let chunk = self.parse(first, bytes)?;
        let Some(place) = chunk.locate(ordinal) else {
            return Ok(None);
        };
        let text = self.frame_text(&chunk, place.frame)?;
        if text.get(place.start..place.end).is_none() {
            return Err(self.damaged(first, "a line is longer than its frame").into());
        }
        let holes = chunk.holes_of(ordinal).to_vec();
        Ok(Some(StoredLine { text, start: place.start, end: place.end, holes }))
    }

    /// The node of a line. The nodes of its chunk stay at hand.
    pub(crate) fn node(self, ordinal: Ordinal) -> Result<Node> {
        if let Some(node) = self.snapshot.nodes.borrow_mut().get(self.session, ordinal) {
            return Ok(node);
        }
        let (first, bytes) = self.chunk_of(ordinal)?;
        let nodes = self.nodes(&self.parse(first, &bytes)?)?;
        let node = ordinal.index_from(first).and_then(|index| nodes.get(index)).copied();
        self.snapshot.nodes.borrow_mut().insert(self.session, first, nodes);
        node.ok_or_else(|| self.no_line(ordinal).into())
    }

    /// The error for a line that the session has and no chunk holds.
    pub(crate) fn no_line(self, ordinal: Ordinal) -> Corruption {
        Corruption {
            table: "lines",
            place: format!("session key {}", self.session),
            problem: format!("line {ordinal} is missing"),
        }
    }

    /// The error for a damaged chunk.
    pub(crate) fn damaged(self, first: Ordinal, problem: impl Into<String>) -> Corruption {
        self.session.damaged_chunk(first, problem)
    }
}
