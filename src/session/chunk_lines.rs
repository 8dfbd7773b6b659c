//! Lines selected from their chunks: a line's node and length are known before any text is decompressed.

use std::sync::Arc;

use super::lines::LineView;
use super::render::rendered_len;
use super::view::View;
use crate::error::Result;
use crate::store::chunk::Chunk;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;
use crate::store::session_rows::SessionRows;

/// What happens to a frame after it is decompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// It goes into the store's cache: its neighbours will be read.
    Cached,
    /// It is dropped: a scan would only displace the cache's contents.
    Forgotten,
}

/// One chunk's lines.
pub(crate) struct ChunkLines<'c> {
    rows: SessionRows<'c>,
    chunk: &'c Chunk<'c>,
    nodes: Vec<Node>,
    frames: Frames,
    /// The frame read last: consecutive lines share it, and a large one is not in the cache.
    frame: Option<(usize, Arc<Vec<u8>>)>,
}

/// Goes from line to line, beginning at `from`. `visit` returns where to go next; the visit ends with `None` and after
/// the session's last line. A missing line before that is damage.
pub(crate) fn visit_lines(
    view: View<'_>,
    from: Option<Ordinal>,
    frames: Frames,
    mut visit: impl FnMut(&mut ChunkLines<'_>, Ordinal, &Node) -> Result<Option<Ordinal>>,
) -> Result<()> {
    let (rows, end) = (view.rows(), view.record().lines);
    let mut chunks = view.chunks();
    let mut next = from;
    while let Some(ordinal) = next.filter(|ordinal| ordinal.is_within(end)) {
        let chunk = chunks.holding(ordinal)?;
        let nodes = rows.nodes(&chunk)?;
        let mut lines = ChunkLines { rows, chunk: &chunk, nodes, frames, frame: None };
        while let Some(ordinal) = next
            && let Some(node) = lines.node(ordinal)
        {
            next = visit(&mut lines, ordinal, &node)?;
        }
    }
    Ok(())
}

impl ChunkLines<'_> {
    fn index(&self, ordinal: Ordinal) -> Option<usize> {
        ordinal.index_from(self.chunk.first())
    }

    fn node(&self, ordinal: Ordinal) -> Option<Node> {
        self.nodes.get(self.index(ordinal)?).copied()
    }

    /// Bytes of the line as it was imported. Its text is not read.
    pub(crate) fn rendered_len(&self, ordinal: Ordinal) -> Result<u64> {
        let stored = self.index(ordinal).and_then(|index| self.chunk.lengths().get(index));
        let stored = stored.ok_or_else(|| self.rows.no_line(ordinal))?;
        rendered_len(self.rows.snapshot(), *stored, self.chunk.holes_of(ordinal))
    }

    /// A line of the chunk in its stored form; only its frame is decompressed.
    pub(crate) fn line(&mut self, ordinal: Ordinal) -> Result<LineView<'_>> {
        let missing = |problem: &str| self.rows.damaged(self.chunk.first(), problem);
        let place = self.chunk.locate(ordinal).ok_or_else(|| missing("a line is missing"))?;
        if self.frame.as_ref().is_none_or(|(index, _)| *index != place.frame) {
            let text = match self.frames {
                Frames::Cached => self.rows.frame_text(self.chunk, place.frame)?,
                Frames::Forgotten => Arc::new(self.rows.decompress_frame(self.chunk, place.frame)?),
            };
            self.frame = Some((place.frame, text));
        }
        let text = self.frame.as_ref().and_then(|(_, text)| text.get(place.start..place.end));
        let node = self.index(ordinal).and_then(|index| self.nodes.get(index));
        match (text, node) {
            (Some(text), Some(node)) => {
                Ok(LineView { ordinal, node, text, holes: self.chunk.holes_of(ordinal) })
            }
            _ => Err(missing("a line is longer than its frame").into()),
        }
    }
}
