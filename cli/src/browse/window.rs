//! A part of a path of entries, as rows: it is read page by page in both directions, whatever the length of the path.

use std::collections::VecDeque;

use leafline::page::{Page, PageLimit};
use leafline::{Entry, Error, Family, SessionReader};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::row::{self, Row};
use crate::failure::Failure;
use crate::output::{FAINT, LABEL, Output};
use crate::text;
use crate::transcript::Transcript;

/// The entries of a chunk.
const CHUNK: PageLimit = PageLimit { entries: 48, bytes: 1 << 20 };

/// Entries above a chunk that are read with it: who speaks and what a result belongs to is known from them.
const ABOVE: PageLimit = PageLimit { entries: 8, bytes: 256 << 10 };

/// Chunks that are kept, unless a screen needs more.
const KEPT: usize = 24;

/// The rows of one entry. An entry of a gigabyte has a million times as many.
const MOST_ROWS: usize = 5_000;

/// Entries that follow the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    /// Those of the path up to this one.
    Until(u64),
    /// Those of the path from the first of these ordinals to the last; between them no line is an entry of another path.
    Run { first: u64, last: u64 },
}

/// How entries become rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) columns: usize,
    pub(super) shows_all: bool,
    pub(super) colour: bool,
}

/// Some entries of the path, in their order.
#[derive(Debug)]
struct Chunk {
    first: u64,
    last: u64,
    rows: Vec<Row>,
    /// The entries that could have a label, by their ids, with the label that the rows show.
    labels: Vec<(String, Option<String>)>,
}

/// The window.
#[derive(Debug)]
pub(super) struct Window {
    look: Look,
    chunks: VecDeque<Chunk>,
    /// The entry above the first one; `None` at the root.
    above: Option<u64>,
    /// What follows, the nearest last.
    below: Vec<Below>,
    rows: usize,
}

impl Window {
    /// One that is to be read: upwards from an entry, downwards from what is below it.
    pub(super) fn new(look: Look, above: Option<u64>, below: Vec<Below>) -> Self {
        Self { look, chunks: VecDeque::new(), above, below, rows: 0 }
    }

    /// The same part of the path, to be read again from an entry of it.
    pub(super) fn again(&self, look: Look, entry: u64) -> Self {
        let mut below = self.below.clone();
        for chunk in self.chunks.iter().rev() {
            let is_edge = chunk.first == entry || chunk.last == entry;
            let has_entry = is_edge || chunk.rows.iter().any(|row| row.entry == entry);
            if !has_entry || chunk.last != entry {
                below.push(Below::Until(chunk.last));
            }
            if has_entry {
                break;
            }
        }
        Self::new(look, Some(entry), below)
    }

    /// The first entry in it.
    pub(super) fn first(&self) -> Option<u64> {
        self.chunks.front().map(|chunk| chunk.first)
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn row(&self, mut place: usize) -> Option<&Row> {
        for chunk in &self.chunks {
            if let Some(row) = chunk.rows.get(place) {
                return Some(row);
            }
            place -= chunk.rows.len();
        }
        None
    }

    /// The place of an entry's first row.
    pub(super) fn place_of(&self, entry: u64) -> Option<usize> {
        let mut rows = self.chunks.iter().flat_map(|chunk| &chunk.rows);
        rows.position(|row| row.entry == entry)
    }

    pub(super) fn is_at_root(&self) -> bool {
        self.above.is_none()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.below.is_empty()
    }

    /// The last entry in it.
    pub(super) fn last(&self) -> Option<u64> {
        self.chunks.back().map(|chunk| chunk.last)
    }

    /// Whether an entry in it has another label than its rows show.
    pub(super) fn has_other_labels(&self, reader: &SessionReader) -> Result<bool, Error> {
        for (id, label) in self.chunks.iter().flat_map(|chunk| &chunk.labels) {
            if reader.get_label(id)? != *label {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The path now goes on to this entry.
    pub(super) fn goes_on_to(&mut self, entry: u64) {
        self.below.insert(0, Below::Until(entry));
    }

    /// Reads nothing more in either direction.
    pub(super) fn stop(&mut self) {
        self.above = None;
        self.below.clear();
    }

    /// Reads the entries above. Returns how many rows they have.
    pub(super) fn extend_up(&mut self, reader: &SessionReader) -> Result<usize, Failure> {
        let Some(above) = self.above else { return Ok(0) };
        let page = reader.path_backwards_from(above, &CHUNK)?;
        self.above = page.next;
        let Some(chunk) = self.chunk(reader, page)? else { return Ok(0) };
        let added = chunk.rows.len();
        self.rows += added;
        self.chunks.push_front(chunk);
        Ok(added)
    }

    /// Reads the entries below. Returns how many rows they have; `None` if the path does not lead there from here.
    pub(super) fn extend_down(&mut self, reader: &SessionReader) -> Result<Option<usize>, Failure> {
        let Some(page) = self.page_below(reader)? else { return Ok(None) };
        let Some(chunk) = self.chunk(reader, page)? else { return Ok(Some(0)) };
        let added = chunk.rows.len();
        self.rows += added;
        self.chunks.push_back(chunk);
        Ok(Some(added))
    }

    /// The page that follows the last entry in the window.
    fn page_below(&mut self, reader: &SessionReader) -> Result<Option<Page>, Failure> {
        let bottom = self.last();
        let Some(below) = self.below.pop() else { return Ok(Some(Page::default())) };
        let mut from = match below {
            Below::Until(entry) => entry,
            Below::Run { first, last } => self.cut(reader, first, last)?,
        };
        loop {
            let mut page = reader.path_backwards_from(from, &CHUNK)?;
            if let Some(place) =
                page.entries.iter().position(|entry| Some(entry.ordinal()) == bottom)
            {
                page.entries.truncate(place);
                page.next = bottom;
            }
            match (page.next, bottom) {
                (next, bottom) if next == bottom => return Ok(Some(page)),
                // The path has passed the window by.
                (None, Some(_)) => return Ok(None),
                (Some(next), Some(bottom)) if next < bottom => return Ok(None),
                (Some(next), _) => {
                    self.below.push(Below::Until(from));
                    from = next;
                }
                (None, None) => return Ok(Some(page)),
            }
        }
    }

    /// The last entry of the first chunk of a run. The others stay below.
    fn cut(&mut self, reader: &SessionReader, first: u64, last: u64) -> Result<u64, Failure> {
        let end = first.saturating_add(CHUNK.entries as u64 - 1);
        if end >= last {
            return Ok(last);
        }
        let one = PageLimit { entries: 1, ..CHUNK };
        let page = reader.entries(end..=last, &one)?;
        let cut = page.entries.first().map_or(last, Entry::ordinal);
        if cut < last {
            self.below.push(Below::Run { first: cut + 1, last });
        }
        Ok(cut)
    }

    /// Forgets chunks that are far from the rows on the screen, these rows. Returns how many rows are gone at the beginning.
    pub(super) fn forget(&mut self, shown: std::ops::Range<usize>) -> usize {
        let height = shown.len().max(1);
        let mut gone = 0;
        while self.chunks.len() > KEPT
            && let Some(chunk) = self.chunks.front()
            && gone + chunk.rows.len() + height < shown.start
        {
            gone += chunk.rows.len();
            self.rows -= chunk.rows.len();
            self.above = Some(chunk.last);
            self.chunks.pop_front();
        }
        let end = (shown.end - gone.min(shown.end)) + height;
        while self.chunks.len() > KEPT
            && let Some(chunk) = self.chunks.back()
            && self.rows - chunk.rows.len() > end
        {
            self.rows -= chunk.rows.len();
            self.below.push(Below::Until(chunk.last));
            self.chunks.pop_back();
        }
        gone
    }

    /// The rows of a page, which has its entries backwards.
    fn chunk(&self, reader: &SessionReader, page: Page) -> Result<Option<Chunk>, Failure> {
        let [Some(first), Some(last)] =
            [page.entries.last(), page.entries.first()].map(|entry| entry.map(Entry::ordinal))
        else {
            return Ok(None);
        };
        let above = match page.next {
            Some(above) => reader.path_backwards_from(above, &ABOVE)?.entries,
            None => Vec::new(),
        };
        let mut out = Output::collected(self.look.columns, self.look.colour);
        let mut transcript = Transcript::new(&mut out, self.look.shows_all);
        for entry in above.iter().rev() {
            transcript.entry(entry)?;
        }
        transcript.take();
        let has_labels = matches!(reader.family(), Family::Pi | Family::Omp);
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for entry in page.entries.iter().rev() {
            transcript.entry(entry)?;
            let printed = transcript.take();
            let id = entry.id().filter(|_| has_labels);
            let label = id.as_deref().map(|id| reader.get_label(id)).transpose()?.flatten();
            let mut own = self.rows_of(entry, &printed, label.as_deref());
            labels.extend(id.map(|id| (id, label)));
            // The space before an entry is still the one's above.
            if let (Some(above), Some(first)) =
                (rows.last().map(|row: &Row| row.entry), own.first_mut())
                && first.line.spans.is_empty()
            {
                first.entry = above;
            }
            rows.append(&mut own);
        }
        Ok(Some(Chunk { first, last, rows, labels }))
    }

    fn rows_of(&self, entry: &Entry, printed: &str, label: Option<&str>) -> Vec<Row> {
        let columns = self.look.columns;
        let is_too_long = printed.lines().nth(MOST_ROWS).is_some();
        let mut lines = if is_too_long {
            let shown: Vec<&str> = printed.lines().take(MOST_ROWS).collect();
            row::lines(&shown.join("\n"), columns)
        } else {
            row::lines(printed, columns)
        };
        if is_too_long || lines.len() > MOST_ROWS {
            lines.truncate(MOST_ROWS);
            let id = entry.id().unwrap_or_default();
            let rest = format!("  … the rest is not shown here; `leafline show` prints entry {id}");
            let rest = text::fit(&text::printable(&rest), columns).into_owned();
            lines.push(Line::from(Span::styled(rest, self.style(FAINT))));
        }
        if let Some(label) = label {
            let label = format!(" [{}]", text::fit(&text::printable(label), 40));
            let said = lines.iter_mut().find(|line| !line.spans.is_empty());
            if let Some(line) = said {
                line.spans.push(Span::styled(label, self.style(LABEL)));
            }
        }
        let entry = entry.ordinal();
        lines.into_iter().map(|line| Row { line, entry }).collect()
    }

    fn style(&self, style: anstyle::Style) -> Style {
        super::style::of(style, self.look.colour)
    }
}
