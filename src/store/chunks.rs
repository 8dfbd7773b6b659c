//! A session's chunks, one after the other or by a line that one holds.

use super::chunk::Chunk;
use super::line_rows::ChunkBytes;
use super::ordinal::Ordinal;
use super::session_rows::SessionRows;
use crate::error::Result;

/// Goes through the chunks of a session; one at a time is in memory.
///
/// The chunks of a whole session follow each other without a gap from its first line to its last: anything else is damage,
/// here or in the session's record.
#[derive(Debug)]
pub(crate) struct Chunks<'s> {
    rows: SessionRows<'s>,
    /// How many lines the session has; `None` if that is not known, and so a gap is not damage.
    lines: Option<u64>,
    /// The first line of the next chunk.
    next: Ordinal,
    /// What the chunk at hand borrows from.
    bytes: Option<ChunkBytes>,
}

impl<'s> Chunks<'s> {
    pub(super) fn of_whole(rows: SessionRows<'s>, lines: u64) -> Self {
        Self { rows, lines: Some(lines), next: Ordinal::FIRST, bytes: None }
    }

    pub(super) fn left(rows: SessionRows<'s>) -> Self {
        Self { rows, lines: None, next: Ordinal::FIRST, bytes: None }
    }

    /// The first line of the next chunk.
    pub(crate) fn position(&self) -> Ordinal {
        self.next
    }

    /// Makes the chunk that begins with this line the next one.
    pub(crate) fn seek(&mut self, first: Ordinal) {
        self.next = first;
    }

    /// The next chunk; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk<'_>>> {
        self.bytes = None;
        let (first, bytes) = match self.lines {
            Some(lines) if !self.next.is_within(lines) => return Ok(None),
            Some(_) => (self.next, self.rows.chunk_at(self.next)?),
            None => match self.rows.chunk_from(self.next)? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        self.open(first, bytes).map(Some)
    }

    /// The chunk that holds a line, which must be there. The next chunk is then the one after it.
    pub(crate) fn holding(&mut self, ordinal: Ordinal) -> Result<Chunk<'_>> {
        self.bytes = None;
        let rows = self.rows;
        let (first, bytes) = rows.chunk_of(ordinal)?;
        let chunk = self.open(first, bytes)?;
        if chunk.holds(ordinal) { Ok(chunk) } else { Err(rows.no_line(ordinal).into()) }
    }

    fn open(&mut self, first: Ordinal, bytes: ChunkBytes) -> Result<Chunk<'_>> {
        let chunk = self.rows.parse(first, self.bytes.insert(bytes))?;
        let damaged = |problem: String| self.rows.damaged(first, problem);
        let end = first.later(chunk.line_count());
        let end = end.ok_or_else(|| damaged("its lines have no numbers".into()))?;
        if let Some(lines) = self.lines
            && let Some(last) = end.previous().filter(|last| !last.is_within(lines))
        {
            let problem = format!("it ends with line {last}, and the session has {lines} lines");
            return Err(damaged(problem).into());
        }
        self.next = end;
        Ok(chunk)
    }
}
