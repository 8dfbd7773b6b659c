//! Reads every page that the header leads to.

use std::io;

use redb::StorageBackend;

use super::layout::{self, ENGINE, HEADER, Layout, Pointer};

/// Pages below each other, beyond which a tree is damaged.
pub(super) const MOST_LEVELS: usize = 64;

/// A page that is not what was written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DamagedPage {
    pub(crate) at: u64,
    /// Its bytes.
    pub(crate) length: u64,
    /// The table in which it is, or the engine's own ones; `None` of the names of tables.
    pub(crate) table: Option<String>,
}

/// Reads the header of a file.
pub(crate) fn read_header(file: &impl StorageBackend) -> io::Result<[u8; HEADER]> {
    let mut header = [0; HEADER];
    file.read(0, &mut header)?;
    Ok(header)
}

/// The position of the root of the tables, and its checksum.
pub(crate) type Root = Option<(u64, u128)>;

/// The root of the tables that a header names. As long as it is the same, all rows are the same.
pub(crate) fn tables_root(header: &[u8; HEADER]) -> Root {
    layout::published_roots(header)
        .into_iter()
        .find(|root| root.table.is_none())
        .map(|root| (root.at, root.check))
}

/// The first byte of a page in the file, and its bytes.
pub(crate) type PageBytes = (u64, Vec<u8>);

/// The engine's own pages of the state that a header names. `None` if one of them is not what was written there.
///
/// No read transaction keeps others from using them anew, so they may be of the next commit already.
pub(crate) fn engine_pages(
    file: &impl StorageBackend,
    header: &[u8; HEADER],
) -> io::Result<Option<Vec<PageBytes>>> {
    let roots = layout::roots(header).into_iter().filter(is_engine).collect();
    let mut pages = Vec::new();
    let is_whole = descend(file, header, roots, |pointer, page| {
        pages.extend(page.map(|page| (pointer.at, page.to_vec())));
        page.is_some()
    })?;
    Ok(is_whole.then_some(pages))
}

/// Checks all pages of the state that a header names, and passes on the damaged ones. What is below them is not found.
///
/// A read transaction of that state keeps others from using its pages anew. It does not keep the engine's own tables: they
/// are passed on only if the header is still the same at the end.
pub(crate) fn walk(
    file: &impl StorageBackend,
    header: &[u8; HEADER],
    mut found: impl FnMut(DamagedPage),
) -> io::Result<()> {
    let mut of_engine = Vec::new();
    descend(file, header, layout::roots(header), |pointer, page| {
        if page.is_none() {
            let is_engine = is_engine(&pointer);
            let Pointer { at, length, table, .. } = pointer;
            let page = DamagedPage { at, length, table };
            if is_engine { of_engine.push(page) } else { found(page) }
        }
        true
    })?;
    if !of_engine.is_empty() && read_header(file)? == *header {
        of_engine.into_iter().for_each(found);
    }
    Ok(())
}

fn is_engine(page: &Pointer) -> bool {
    page.table.as_deref() == Some(ENGINE)
}

/// Passes on each page from these roots on, with its bytes if they are what was written there, until `take` says no. What
/// is below a damaged page is not found. `false` if `take` said no, or the header cannot be one.
fn descend(
    file: &impl StorageBackend,
    header: &[u8; HEADER],
    roots: Vec<Pointer>,
    mut take: impl FnMut(Pointer, Option<&[u8]>) -> bool,
) -> io::Result<bool> {
    let Some(layout) = Layout::of_header(header) else { return Ok(false) };
    let length = file.len()?;
    let mut page = Vec::new();
    // Pages to be read, each with its level. A page that two others name is read twice; in a whole file there is none.
    let mut left: Vec<(Pointer, usize)> = roots.into_iter().map(|root| (root, 0)).collect();
    let mut budget = length / layout::PAGE as u64 + 1;
    while let Some((pointer, level)) = left.pop() {
        let is_there = pointer.at.checked_add(pointer.length).is_some_and(|end| end <= length);
        let bytes = usize::try_from(pointer.length).ok().filter(|_| is_there && budget > 0);
        let mut whole = None;
        if let Some(bytes) = bytes.filter(|_| level < MOST_LEVELS) {
            budget -= 1;
            page.resize(bytes, 0);
            file.read(pointer.at, &mut page)?;
            let is_whole = layout::checksum(&page, pointer.tree) == Some(pointer.check);
            whole = is_whole.then_some(page.as_slice());
        }
        for mut child in
            whole.map_or_else(Vec::new, |page| layout::children(page, pointer.tree, layout))
        {
            child.table = pointer.table.clone().or(child.table);
            left.push((child, level + 1));
        }
        if !take(pointer, whole) {
            return Ok(false);
        }
    }
    Ok(true)
}
