//! A session's lines one after the other, as they are stored.

use crate::error::Result;
use crate::store::chunk::Hole;
use crate::store::node::Node;
use crate::store::snapshot::{Snapshot, damaged};

/// One line as it is stored: holes not filled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineView<'c> {
    pub(crate) ordinal: u64,
    pub(crate) node: &'c Node,
    pub(crate) text: &'c [u8],
    pub(crate) holes: &'c [Hole],
}

/// Goes through the lines of a session from some ordinal on; a chunk at a time is in memory.
#[derive(Debug)]
pub(crate) struct LineCursor<'a, 's> {
    snapshot: &'a Snapshot<'s>,
    session: u64,
    next: u64,
    /// How many lines the session has, where that is known.
    lines: u64,
    chunk: Option<OpenChunk>,
}

/// A chunk, all of it decoded.
#[derive(Debug)]
struct OpenChunk {
    first: u64,
    nodes: Vec<Node>,
    /// Where each line's text begins, and where the last one ends.
    starts: Vec<usize>,
    text: Vec<u8>,
    holes: Vec<Hole>,
}

impl<'a, 's> LineCursor<'a, 's> {
    /// A cursor before the line with the ordinal `from`.
    pub(crate) fn new(snapshot: &'a Snapshot<'s>, session: u64, from: u64) -> Self {
        Self { snapshot, session, next: from, lines: 0, chunk: None }
    }

    /// The same in a session that has so many lines: that one of them is not there is damage then.
    pub(crate) fn of_lines(self, lines: u64) -> Self {
        Self { lines, ..self }
    }

    /// Moves before another line.
    pub(crate) fn seek(&mut self, ordinal: u64) {
        self.next = ordinal;
    }

    /// The next line; `None` at the session's end.
    pub(crate) fn next(&mut self) -> Result<Option<LineView<'_>>> {
        if !self.chunk.as_ref().is_some_and(|chunk| chunk.holds(self.next)) {
            let found = self.snapshot.chunk_of(self.session, self.next)?;
            let Some((first, bytes)) = found else {
                return self.end();
            };
            let chunk = Snapshot::parse(self.session, first, &bytes)?;
            if !chunk.holds(self.next) {
                return self.end();
            }
            self.chunk = Some(open(self.snapshot, self.session, &chunk)?);
        }
        let ordinal = self.next;
        self.next += 1;
        Ok(self.chunk.as_ref().and_then(|chunk| chunk.line(ordinal)))
    }

    /// The end of the session, if that is why a line is not there.
    fn end(&self) -> Result<Option<LineView<'_>>> {
        let is_missing =
            self.next < self.lines || self.snapshot.chunk_from(self.session, self.next)?.is_some();
        if is_missing {
            let problem = format!("line {} is missing", self.next);
            return Err(damaged(self.session, self.next, problem).into());
        }
        Ok(None)
    }
}

fn open(
    snapshot: &Snapshot<'_>,
    session: u64,
    chunk: &crate::store::chunk::Chunk<'_>,
) -> Result<OpenChunk> {
    let first = chunk.first();
    let mut text = Vec::new();
    for index in 0..chunk.frames().len() {
        text.extend_from_slice(&snapshot.decompress_frame(session, chunk, index)?);
    }
    let mut at = 0usize;
    let mut starts = vec![0];
    for &length in chunk.lengths() {
        // The lengths add up to the text: `Chunk::parse` and the frames' checks prove it.
        at = at.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        starts.push(at);
    }
    if at != text.len() {
        return Err(damaged(session, first, "the lines do not fill the text".into()).into());
    }
    let nodes = chunk.nodes().map_err(|problem| damaged(session, first, problem))?;
    Ok(OpenChunk { first, nodes, starts, text, holes: chunk.holes().to_vec() })
}

impl OpenChunk {
    fn holds(&self, ordinal: u64) -> bool {
        ordinal >= self.first && ordinal - self.first < self.nodes.len() as u64
    }

    fn line(&self, ordinal: u64) -> Option<LineView<'_>> {
        let line = ordinal.checked_sub(self.first)?;
        let index = usize::try_from(line).ok()?;
        let text = self.text.get(*self.starts.get(index)?..*self.starts.get(index + 1)?)?;
        let from = self.holes.partition_point(|hole| hole.line < line);
        let to = self.holes.partition_point(|hole| hole.line <= line);
        Some(LineView {
            ordinal,
            node: self.nodes.get(index)?,
            text,
            holes: self.holes.get(from..to)?,
        })
    }
}
