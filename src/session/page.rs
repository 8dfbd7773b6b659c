//! Reads a session a page at a time: never more than the limit, whatever the session's size.

use std::ops::{Bound, RangeBounds};

use super::chunk_lines::{ChunkLines, Frames, visit_lines};
use super::entry::Entry;
use super::reader::SessionReader;
use super::view::is_entry;
use super::walk::PageWalk;
use crate::error::{Result, SessionError};
use crate::store::ordinal::Ordinal;

/// The size of a page. Whichever bound is reached first ends it.
///
/// A page has at least one entry, if there is one: the first is returned even if it alone is longer than `bytes`, or
/// `entries` is 0. So reading page after page always reaches the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit {
    /// Entries. Default: 100.
    pub entries: usize,
    /// Total bytes of the entries' lines, as [`Entry::line`] returns them. Default: 1 MiB.
    pub bytes: u64,
}

impl Default for PageLimit {
    fn default() -> Self {
        Self { entries: 100, bytes: 1 << 20 }
    }
}

/// Some entries of a session, and where to continue.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Page {
    /// The entries, in the order that the method names.
    pub entries: Vec<Entry>,
    /// The ordinal of the entry that comes next; `None` at the end.
    pub next: Option<u64>,
}

impl SessionReader {
    /// The entries whose ordinals are in the range, in the order of the file. Ordinals are line numbers from 0; lines
    /// that are not entries are skipped. Continue with `next..`.
    ///
    /// Lines past the page are not decoded: a page costs the same anywhere in a session of any size.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// use leafline::page::PageLimit;
    ///
    /// let reader = store.reader("019c6605")?;
    /// let limit = PageLimit { entries: 10, bytes: 64 << 10 };
    /// let (mut from, mut count) = (Some(0), 0);
    /// while let Some(ordinal) = from {
    ///     let page = reader.entries(ordinal.., &limit)?;
    ///     count += page.entries.len() as u64;
    ///     from = page.next;
    /// }
    /// assert_eq!(count, reader.facts().entries);
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn entries(&self, range: impl RangeBounds<u64>, limit: &PageLimit) -> Result<Page> {
        let first = match range.start_bound() {
            Bound::Included(&ordinal) => Some(Ordinal::new(ordinal)),
            Bound::Excluded(&ordinal) => Ordinal::new(ordinal).next(),
            Bound::Unbounded => Some(Ordinal::FIRST),
        };
        let last = match range.end_bound() {
            Bound::Included(&ordinal) => Some(Ordinal::new(ordinal)),
            Bound::Excluded(&ordinal) => Ordinal::new(ordinal).previous(),
            Bound::Unbounded => Ordinal::last_of(self.record().lines),
        };
        let Some(last) = last else { return Ok(Page::default()) };
        let mut page = Filling::new(self, limit);
        visit_lines(self.view(), first, Frames::Cached, |lines, ordinal, node| {
            if ordinal > last || (is_entry(node) && !page.offer(lines, ordinal)?) {
                return Ok(None);
            }
            Ok(ordinal.next())
        })?;
        Ok(page.page)
    }

    /// The path from an entry, or from the leaf, up towards the root: the entry first, then its parent. Continue with
    /// [`Self::path_backwards_from`].
    ///
    /// This is [`Self::get_path`] in reverse, with one difference: if the file's parents form a loop, which no program
    /// writes, this path ends at the earliest line of the loop, while `get_path` follows it once. So all pages together
    /// are the same whatever their size, and they end.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// use leafline::page::PageLimit;
    ///
    /// let reader = store.reader("019c6605")?;
    /// let limit = PageLimit { entries: 5, ..PageLimit::default() };
    /// let mut page = reader.path_backwards(None, &limit)?;
    /// assert_eq!(page.entries[0].id(), reader.get_leaf_id()?);
    /// while let Some(next) = page.next {
    ///     page = reader.path_backwards_from(next, &limit)?;
    /// }
    /// assert_eq!(page.entries.last().and_then(|root| root.parent_id()), None);
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound).
    pub fn path_backwards(&self, from: Option<&str>, limit: &PageLimit) -> Result<Page> {
        let from = match from {
            Some(id) => Some(self.view().named(id)?),
            None => self.view().leaf()?,
        };
        let Some(from) = from else { return Ok(Page::default()) };
        self.view().entry_node(from)?;
        self.path_backwards_from(from.raw(), limit)
    }

    /// [`Self::path_backwards`] from the entry with this ordinal, such as the `next` of the previous page. Empty if
    /// there is no such entry.
    ///
    /// A page costs what it contains. Only if a parent comes later in the file than its child, each page walks the rest
    /// of the path once, without its text.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn path_backwards_from(&self, ordinal: u64, limit: &PageLimit) -> Result<Page> {
        let mut page = Filling::new(self, limit);
        let mut walk = PageWalk::new(self.view());
        let from = Ordinal::new(ordinal);
        visit_lines(self.view(), Some(from), Frames::Cached, |lines, at, node| {
            if at == from && !is_entry(node) {
                return Ok(None);
            }
            let parent = walk.parent(at, node)?;
            Ok(if page.offer(lines, at)? { parent } else { None })
        })?;
        Ok(page.page)
    }

    /// The ordinal of the last entry of the branch that an entry is on: from the entry down, and to the child that is last in
    /// the file wherever there are several.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let reader = store.reader("019c6605")?;
    /// let given_up = reader.get_entry("588262d5")?;
    /// let leaf = reader.line(reader.branch_leaf(given_up.ordinal())?)?;
    /// assert_eq!(leaf.and_then(|leaf| leaf.id()).as_deref(), Some("1530959b"));
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound) if no entry has the ordinal;
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn branch_leaf(&self, ordinal: u64) -> Result<u64> {
        let mut at = Ordinal::new(ordinal);
        if ordinal >= self.record().lines || !is_entry(&self.view().line_node(at)?) {
            let (session, entry) = (self.id(), ordinal.to_string());
            return Err(SessionError::EntryNotFound { session, entry }.into());
        }
        // Where parents come later, they may form a loop; elsewhere a child comes later.
        let mut left = self.record().lines;
        while let Some(child) = self.view().children(Some(at))?.pop()
            && left > 0
        {
            at = child;
            left -= 1;
        }
        Ok(at.raw())
    }

    /// Passes on all entries in the order of the file, until `take` returns `false`: [`Self::lines`] without header,
    /// blank and malformed lines.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let reader = store.reader("019c6605")?;
    /// let mut count = 0;
    /// reader.get_entries(|_| {
    ///     count += 1;
    ///     Ok(true)
    /// })?;
    /// assert_eq!(count, reader.facts().entries);
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `take`.
    pub fn get_entries(&self, mut take: impl FnMut(Entry) -> Result<bool>) -> Result<()> {
        let mut cursor = self.view().cursor();
        while let Some(line) = cursor.next()? {
            if is_entry(line.node) && !take(self.view().entry_of(&line)?)? {
                break;
            }
        }
        Ok(())
    }
}

/// A page that is being filled.
struct Filling<'r> {
    reader: &'r SessionReader,
    limit: PageLimit,
    page: Page,
    bytes: u64,
}

impl<'r> Filling<'r> {
    fn new(reader: &'r SessionReader, limit: &PageLimit) -> Self {
        Self { reader, limit: *limit, page: Page::default(), bytes: 0 }
    }

    /// Takes the entry, or records it as the next if there is no room. Returns whether it was taken.
    fn offer(&mut self, lines: &mut ChunkLines<'_>, ordinal: Ordinal) -> Result<bool> {
        if !self.has_room(lines, ordinal)? {
            self.page.next = Some(ordinal.raw());
            return Ok(false);
        }
        let entry = self.reader.view().entry_of(&lines.line(ordinal)?)?;
        self.bytes += entry.line().len() as u64;
        self.page.entries.push(entry);
        Ok(true)
    }

    fn has_room(&self, lines: &ChunkLines<'_>, ordinal: Ordinal) -> Result<bool> {
        if self.page.entries.is_empty() {
            return Ok(true);
        }
        if self.page.entries.len() >= self.limit.entries {
            return Ok(false);
        }
        Ok(self.bytes.saturating_add(lines.rendered_len(ordinal)?) <= self.limit.bytes)
    }
}
