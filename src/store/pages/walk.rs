//! Reads every page that the header leads to.

use std::io;

use redb::StorageBackend;

use super::layout::{self, HEADER, Layout, Pointer};

/// Pages below each other, beyond which a tree is damaged.
const MOST_LEVELS: usize = 64;

/// A page that is not what was written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DamagedPage {
    pub(crate) at: u64,
    /// Its bytes.
    pub(crate) length: u64,
    /// The table in which it is; `None` of the pages in which the engine keeps the names of tables.
    pub(crate) table: Option<String>,
}

/// Checks all pages of the state that the header names, and passes on the damaged ones. What is below them is not found.
///
/// Nobody may use the pages of that state anew meanwhile. Says whether the header is still the same at the end.
pub(crate) fn walk(
    file: &impl StorageBackend,
    mut found: impl FnMut(DamagedPage),
) -> io::Result<bool> {
    let mut header = [0; HEADER];
    file.read(0, &mut header)?;
    let Some(layout) = Layout::of_header(&header) else { return Ok(true) };
    let length = file.len()?;
    let mut page = Vec::new();
    // Pages to be read, each with its level. A page that two others name is read twice; in a whole file there is none.
    let mut left: Vec<(Pointer, usize)> =
        layout::roots(&header).into_iter().map(|root| (root, 0)).collect();
    let mut budget = length / 4096 + 1;
    while let Some((pointer, level)) = left.pop() {
        let is_there = pointer.at.checked_add(pointer.length).is_some_and(|end| end <= length);
        let bytes = usize::try_from(pointer.length).ok().filter(|_| is_there && budget > 0);
        let mut is_whole = false;
        if let Some(bytes) = bytes.filter(|_| level < MOST_LEVELS) {
            budget -= 1;
            page.resize(bytes, 0);
            file.read(pointer.at, &mut page)?;
            is_whole = layout::checksum(&page, pointer.tree) == Some(pointer.check);
        }
        if is_whole {
            for mut child in layout::children(&page, pointer.tree, layout) {
                child.table = child.table.or_else(|| pointer.table.clone());
                left.push((child, level + 1));
            }
        } else {
            found(DamagedPage { at: pointer.at, length: pointer.length, table: pointer.table });
        }
    }
    let mut after = [0; HEADER];
    file.read(0, &mut after)?;
    Ok(header == after)
}
