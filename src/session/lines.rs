//! A session's lines in order, in their stored form.

use super::view::View;
use crate::error::Result;
use crate::store::chunk::{Chunk, Hole};
use crate::store::chunks::Chunks;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;
use crate::store::session_rows::SessionRows;

/// One line in its stored form: holes are not filled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineView<'c> {
    pub(crate) ordinal: Ordinal,
    pub(crate) node: &'c Node,
    pub(crate) text: &'c [u8],
    pub(crate) holes: &'c [Hole],
}

/// Goes through the lines of a session from some ordinal on; one chunk at a time is in memory.
#[derive(Debug)]
pub(crate) struct LineCursor<'s> {
    rows: SessionRows<'s>,
    chunks: Chunks<'s>,
    /// How many lines the session has.
    lines: u64,
    /// The next line, if one can follow the last.
    next: Option<Ordinal>,
    chunk: Option<OpenChunk>,
}

/// A chunk, all of it decoded.
#[derive(Debug)]
struct OpenChunk {
    first: Ordinal,
    nodes: Vec<Node>,
    /// The start of each line's text, and the end of the last one.
    starts: Vec<usize>,
    text: Vec<u8>,
    holes: Vec<Hole>,
}

impl<'s> LineCursor<'s> {
    /// A cursor before the line `from`.
    pub(super) fn new(view: View<'s>, from: Ordinal) -> Self {
        let (rows, chunks) = (view.rows(), view.chunks());
        Self { rows, chunks, lines: view.record().lines, next: Some(from), chunk: None }
    }

    /// Whether the chunk in memory has a line.
    pub(crate) fn holds(&self, ordinal: Ordinal) -> bool {
        self.chunk.as_ref().is_some_and(|chunk| chunk.holds(ordinal))
    }

    /// Moves before another line, or with `None` after all of them.
    pub(crate) fn seek(&mut self, next: Option<Ordinal>) {
        self.next = next;
    }

    /// The next line; `None` at the session's end. A missing line before that is damage.
    pub(crate) fn next(&mut self) -> Result<Option<LineView<'_>>> {
        match self.next.filter(|next| next.is_within(self.lines)) {
            Some(next) => self.line(next).map(Some),
            None => Ok(None),
        }
    }

    /// A line that the session must have, since its index names it. The next line is then the one after it.
    pub(crate) fn line(&mut self, ordinal: Ordinal) -> Result<LineView<'_>> {
        if !self.holds(ordinal) {
            self.chunk = None;
            let chunk = self.chunks.holding(ordinal)?;
            self.chunk = Some(open(self.rows, &chunk)?);
        }
        self.next = ordinal.next();
        let line = self.chunk.as_ref().and_then(|chunk| chunk.line(ordinal));
        line.ok_or_else(|| self.rows.no_line(ordinal).into())
    }
}

fn open(rows: SessionRows<'_>, chunk: &Chunk<'_>) -> Result<OpenChunk> {
    let first = chunk.first();
    let mut text = Vec::new();
    for index in 0..chunk.frames().len() {
        text.extend_from_slice(&rows.decompress_frame(chunk, index)?);
    }
    let mut at = 0usize;
    let mut starts = vec![0];
    for &length in chunk.lengths() {
        // The lengths add up to the text: `Chunk::parse` and the frames' checks prove it.
        at = at.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        starts.push(at);
    }
    if at != text.len() {
        return Err(rows.damaged(first, "the lines do not fill the text").into());
    }
    let nodes = rows.nodes(chunk)?;
    Ok(OpenChunk { first, nodes, starts, text, holes: chunk.holes().to_vec() })
}

impl OpenChunk {
    fn holds(&self, ordinal: Ordinal) -> bool {
        ordinal.index_from(self.first).is_some_and(|index| index < self.nodes.len())
    }

    fn line(&self, ordinal: Ordinal) -> Option<LineView<'_>> {
        let line = ordinal.lines_since(self.first)?;
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
