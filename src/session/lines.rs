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

/// The bytes of text that a cursor keeps of chunks that it has left, where it is told to, and the most memory of a chunk
/// that it uses again.
const MOST_KEPT: usize = 1 << 20;

/// How far from the line that is read next a chunk is that is kept, at most, in lines.
const KEPT_WITHIN: u64 = 192;

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
    /// Chunks that were left, the last of them at the end.
    left: Vec<OpenChunk>,
    keeps: bool,
    /// Memory of the text of a chunk that was dropped.
    spare: Vec<u8>,
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
        let (lines, next) = (view.record().lines, Some(from));
        let (chunk, left, keeps, spare) = (None, Vec::new(), false, Vec::new());
        Self { rows, chunks, lines, next, chunk, left, keeps, spare }
    }

    /// The same cursor for lines that are read in no order but near each other: it keeps the chunks that it has left last and
    /// that are near, as long as their text is short.
    pub(super) fn keeping_chunks(self) -> Self {
        Self { keeps: true, ..self }
    }

    /// Whether the chunk in memory has a line.
    pub(crate) fn holds(&self, ordinal: Ordinal) -> bool {
        self.chunk.as_ref().is_some_and(|chunk| chunk.holds(ordinal))
    }

    /// The node of a line, if its chunk is in memory.
    pub(crate) fn node_at_hand(&self, ordinal: Ordinal) -> Option<&Node> {
        let at_hand = self.chunk.iter().chain(self.left.iter().rev());
        at_hand.into_iter().find_map(|chunk| chunk.node(ordinal))
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
            self.left.extend(self.chunk.take());
            self.chunk = match self.left.iter().position(|chunk| chunk.holds(ordinal)) {
                Some(place) => Some(self.left.remove(place)),
                None => {
                    self.drop_old(ordinal);
                    let chunk = self.chunks.holding(ordinal)?;
                    Some(open(self.rows, &chunk, std::mem::take(&mut self.spare))?)
                }
            };
        }
        self.next = ordinal.next();
        let line = self.chunk.as_ref().and_then(|chunk| chunk.line(ordinal));
        line.ok_or_else(|| self.rows.no_line(ordinal).into())
    }

    /// The text of the line read last, taken from the cursor if it is long; it cannot be read again then.
    #[cfg(any(feature = "search", feature = "redact"))]
    pub(crate) fn take_text(&mut self, ordinal: Ordinal) -> Result<Vec<u8>> {
        let text = self.chunk.as_mut().and_then(|chunk| chunk.take_text(ordinal));
        text.ok_or_else(|| self.rows.no_line(ordinal).into())
    }

    /// Drops the chunks that were left and need not be kept for what is near a line: all but near ones, and of these those
    /// that were left first, until the others are short enough.
    fn drop_old(&mut self, line: Ordinal) {
        let (keeps, spare) = (self.keeps, &mut self.spare);
        let mut bytes: usize = self.left.iter().map(|chunk| chunk.text.len()).sum();
        self.left.retain_mut(|chunk| {
            if keeps && bytes <= MOST_KEPT && chunk.is_near(line) {
                return true;
            }
            bytes -= chunk.text.len();
            if chunk.text.capacity() <= MOST_KEPT {
                *spare = std::mem::take(&mut chunk.text);
            }
            false
        });
    }
}

fn open(rows: SessionRows<'_>, chunk: &Chunk<'_>, memory: Vec<u8>) -> Result<OpenChunk> {
    let first = chunk.first();
    let text = rows.decompress_chunk(chunk, memory)?;
    let mut at = 0usize;
    let mut starts = Vec::with_capacity(chunk.lengths().len() + 1);
    starts.push(0);
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
    /// The text of a line; a long one is taken away.
    #[cfg(any(feature = "search", feature = "redact"))]
    fn take_text(&mut self, ordinal: Ordinal) -> Option<Vec<u8>> {
        let index = usize::try_from(ordinal.lines_since(self.first)?).ok()?;
        let (start, end) = (*self.starts.get(index)?, *self.starts.get(index + 1)?);
        if end - start <= MOST_KEPT {
            return Some(self.text.get(start..end)?.to_vec());
        }
        let behind = self.text.split_off(end);
        let mut line = std::mem::take(&mut self.text);
        self.text.extend_from_slice(line.get(..start)?);
        self.text.extend(behind);
        line.drain(..start);
        self.starts.iter_mut().skip(index + 1).for_each(|at| *at -= end - start);
        Some(line)
    }

    fn node(&self, ordinal: Ordinal) -> Option<&Node> {
        self.nodes.get(ordinal.index_from(self.first)?)
    }

    fn is_near(&self, ordinal: Ordinal) -> bool {
        let (first, line) = (self.first.raw(), ordinal.raw());
        let end = first.saturating_add(self.nodes.len() as u64);
        first.saturating_sub(KEPT_WITHIN) <= line && line <= end.saturating_add(KEPT_WITHIN)
    }

    fn holds(&self, ordinal: Ordinal) -> bool {
        self.node(ordinal).is_some()
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

#[cfg(test)]
mod tests {
    use crate::Store;
    use crate::import::ImportOptions;
    use crate::store::ordinal::Ordinal;

    use super::MOST_KEPT;

    #[test]
    fn lines_are_the_same_in_any_order_with_chunks_kept() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = leafline_generate::random_tree_session(5, 4_000, leafline_generate::Family::Pi);
        std::fs::write(folder.path().join("s.jsonl"), bytes).unwrap();
        let store = Store::in_memory().unwrap();
        store.import(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap();
        let reader = store.reader(&store.sessions().unwrap()[0].id).unwrap();
        let (mut plain, mut keeping) =
            (reader.view().cursor(), reader.view().cursor().keeping_chunks());
        let lines = reader.view().record().lines;
        let mut most = 0;
        for step in 0..2_000u64 {
            // Back and forth, and now and then elsewhere.
            let place = (step / 3 * 7 + step % 3 * 60 + step / 50 * 997) % lines;
            let ordinal = Ordinal::new(place);
            let text = plain.line(ordinal).unwrap().text.to_vec();
            assert_eq!(keeping.line(ordinal).unwrap().text, text, "{place}");
            most = most.max(keeping.left.iter().map(|chunk| chunk.text.len()).sum());
            // One chunk may have been left since the last was dropped.
            let far = keeping.left.iter().filter(|chunk| !chunk.is_near(ordinal)).count();
            assert!(far <= 1, "{place}");
        }
        let longest = keeping.left.iter().map(|chunk| chunk.text.len()).max().unwrap();
        assert!(most > longest && most <= MOST_KEPT + 2 * longest, "{most} {longest}");
        assert!(plain.left.is_empty());
    }
}
