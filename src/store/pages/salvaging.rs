//! Reads the rows of a file without the engine: those that the checksums lead to, and those on other pages.

use std::io;

use redb::StorageBackend;

use super::layout::{self, HEADER, Layout, PAGE, Pointer, Tree};
use super::walk::{DamagedPage, MOST_LEVELS};

/// The longest page of a row of ours is of 256 pages, and a leaf has some more rows on it.
const LONGEST: usize = 1024 * PAGE;

/// Bytes that are read at a time in search of pages.
const WINDOW: usize = 256 * PAGE;

/// A row, and where its value stands in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'p> {
    pub(crate) table: &'p str,
    pub(crate) key: &'p [u8],
    pub(crate) value: &'p [u8],
    pub(crate) value_at: u64,
}

/// The rows of a table whose pages are looked for: bytes of a key. Values are of any length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) table: &'static str,
    pub(crate) key: u32,
}

/// The pages that the checksums lead to.
#[derive(Debug)]
pub(crate) struct Reached {
    /// Those that are damaged.
    pub(crate) damaged: Vec<DamagedPage>,
    /// Whether the place of the newest commit in the header may be damaged, and these are the pages of the one before.
    pub(crate) may_be_earlier: bool,
    /// A bit for each page of 4,096 bytes.
    seen: Vec<u64>,
}

impl Reached {
    fn note(&mut self, at: u64, length: u64) {
        let pages = at / PAGE as u64..(at + length).div_ceil(PAGE as u64);
        for page in pages.filter_map(|page| usize::try_from(page).ok()) {
            if let Some(bits) = self.seen.get_mut(page / 64) {
                *bits |= 1 << (page % 64);
            }
        }
    }

    fn has(&self, page: usize) -> bool {
        self.seen.get(page / 64).is_some_and(|bits| bits & (1 << (page % 64)) != 0)
    }
}

/// Passes on the rows of the newest commit whose place in the header is whole, in the order of their keys, table by table.
///
/// The sizes of pages and regions are those of `sound`, the header of a store that this version has made: all stores have them.
pub(crate) fn reach<E: From<io::Error>>(
    file: &impl StorageBackend,
    sound: &[u8; HEADER],
    mut take: impl FnMut(Found<'_>) -> Result<(), E>,
) -> Result<Reached, E> {
    let length = file.len()?;
    let pages = usize::try_from(length / PAGE as u64).unwrap_or(usize::MAX);
    let seen = vec![0; pages / 64 + 1];
    let mut reached = Reached { damaged: Vec::new(), may_be_earlier: false, seen };
    let mut header = [0; HEADER];
    let has_header = length >= HEADER as u64;
    if has_header {
        file.read(0, &mut header)?;
    }
    let layout = Layout::of_header(sound);
    let root = layout.and_then(|layout| layout::newest_root(&header, layout).zip(Some(layout)));
    let Some(((root, is_newest), layout)) = root else {
        // An empty store has no root. Neither has one whose header is lost.
        reached.damaged.push(DamagedPage { at: 0, length: HEADER as u64, table: None });
        return Ok(reached);
    };
    if !is_newest {
        reached.damaged.push(DamagedPage { at: 0, length: HEADER as u64, table: None });
        reached.may_be_earlier = true;
    }
    let mut left: Vec<(Pointer, usize)> = vec![(root, 0)];
    let mut budget = length / PAGE as u64 + 1;
    let mut page = Vec::new();
    while let Some((pointer, level)) = left.pop() {
        let is_there = pointer.at.checked_add(pointer.length).is_some_and(|end| end <= length);
        let bytes = usize::try_from(pointer.length).ok();
        let mut is_whole = false;
        if let Some(bytes) = bytes.filter(|_| is_there && budget > 0 && level < MOST_LEVELS) {
            budget -= 1;
            page.resize(bytes, 0);
            file.read(pointer.at, &mut page)?;
            is_whole = layout::checksum(&page, pointer.tree) == Some(pointer.check);
        }
        let Pointer { at, length, tree, table, .. } = pointer;
        if !is_whole {
            reached.damaged.push(DamagedPage { at, length, table });
            continue;
        }
        reached.note(at, length);
        if let (Tree::Rows { key, value }, Some(table)) = (tree, &table) {
            for (key, value) in layout::rows(&page, key, value).unwrap_or_default() {
                let value_at = at + value.start as u64;
                if let (Some(key), Some(value)) = (page.get(key), page.get(value)) {
                    take(Found { table, key, value, value_at })?;
                }
            }
        }
        let mut children = layout::children(&page, tree, layout);
        children.iter_mut().for_each(|child| child.table = table.clone().or(child.table.take()));
        // The last one is read first.
        left.extend(children.into_iter().rev().map(|child| (child, level + 1)));
    }
    Ok(reached)
}

/// Passes on the rows of pages that the checksums do not lead to, and that could be of one of the tables. Whether they are,
/// and of which commit, nothing but their content tells.
pub(crate) fn scan<E: From<io::Error>>(
    file: &impl StorageBackend,
    reached: &Reached,
    shapes: &[Shape],
    mut take: impl FnMut(Found<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let length = file.len()?;
    let mut window = Vec::new();
    let mut long = Vec::new();
    let mut start = PAGE as u64;
    while start < length {
        let bytes = (length - start).min(WINDOW as u64);
        window.resize(usize::try_from(bytes).unwrap_or(WINDOW), 0);
        file.read(start, &mut window)?;
        for (number, page) in window.chunks(PAGE).enumerate() {
            let at = start + (number * PAGE) as u64;
            if usize::try_from(at / PAGE as u64).is_ok_and(|page| reached.has(page)) {
                continue;
            }
            for shape in shapes {
                let Some(rows) = layout::rows(page, Some(shape.key), None) else { continue };
                let end = rows.last().map_or(0, |(_, value)| value.end);
                if end > LONGEST || at.checked_add(end as u64).is_none_or(|end| end > length) {
                    continue;
                }
                let page = if end <= page.len() {
                    page
                } else {
                    long.resize(end, 0);
                    file.read(at, &mut long)?;
                    long.as_slice()
                };
                for (key, value) in rows {
                    let value_at = at + value.start as u64;
                    if let (Some(key), Some(value)) = (page.get(key), page.get(value)) {
                        take(Found { table: shape.table, key, value, value_at })?;
                    }
                }
            }
        }
        start += WINDOW as u64;
    }
    Ok(())
}
