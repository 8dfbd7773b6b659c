//! How redb lays out its header and pages (its design document, "File format", versions 3 and 4): as much of it as it takes
//! to follow the checksums from the header to every page.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_128;

/// Bytes of redb's smallest pages. Others have so many times a power of two.
pub(crate) const PAGE: usize = 4096;

/// Bytes of the header.
pub(crate) const HEADER: usize = 320;

/// Bytes of the header before the two slots, and of a slot; the last of a slot are its checksum.
const SLOTS: usize = 64;
const SLOT: usize = 128;
const CHECKSUM: usize = 16;

/// Where the header has its flags, and the sizes of pages and regions.
const FLAGS: usize = 9;
const SIZES: usize = 12;

/// Where the header has how many regions are whole, and the pages of data in the one behind them.
const REGIONS: usize = 24;

/// Flags: the slot of the last commit, whether the file was not closed, whether the commit was made in two phases, and
/// whether it is not confirmed.
const SECOND_IS_PRIMARY: u8 = 1;
const RECOVERY: u8 = 2;
const TWO_PHASES: u8 = 4;
const UNCONFIRMED: u8 = 8;

/// The bytes with which pages begin.
const LEAF: u8 = 1;
const BRANCH: u8 = 2;

/// What redb's own tables are called here.
pub(super) const ENGINE: &str = "engine";

/// What a branch has where its child is not written yet.
const DEFERRED: u128 = 999;

/// A tree whose values are the roots of others, or one with rows of keys and values, each of a fixed length or of any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Tree {
    Names,
    Rows { key: Option<u32>, value: Option<u32> },
}

/// A page that another one, or the header, names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) at: u64,
    /// Bytes of the page.
    pub(super) length: u64,
    pub(super) check: u128,
    pub(super) tree: Tree,
    /// The table of which it is the root; [`ENGINE`] of the root of redb's own tables.
    pub(super) table: Option<String>,
}

/// Where pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) page: u64,
    region_header: u64,
    region: u64,
}

impl Layout {
    pub(super) fn of_header(header: &[u8; HEADER]) -> Option<Self> {
        let [page, header_pages, data_pages] =
            [0, 1, 2].map(|field| u32_at(header, SIZES + 4 * field).map(u64::from));
        let (page, region_header) = (page?, header_pages?.checked_mul(page?)?);
        let region = region_header.checked_add(data_pages?.checked_mul(page)?)?;
        page.is_power_of_two().then_some(Self { page, region_header, region })
    }

    /// The bytes of a file with so many whole regions, and so many pages of data in the one behind them.
    fn length(self, regions: u64, pages: u64) -> Option<u64> {
        let rest = match pages {
            0 => 0,
            pages => self.region_header.checked_add(pages.checked_mul(self.page)?)?,
        };
        self.page.checked_add(self.region.checked_mul(regions)?)?.checked_add(rest)
    }

    /// The bytes of the shortest file that has so many bytes of pages.
    pub(super) fn length_of(self, bytes: u64) -> Option<u64> {
        let data = self.region.checked_sub(self.region_header).filter(|data| *data > 0)?;
        self.length(bytes / data, (bytes % data).div_ceil(self.page))
    }

    /// Where regions have their pages, until a byte of the file.
    pub(super) fn data_until(self, end: u64) -> impl Iterator<Item = Range<u64>> {
        let step = usize::try_from(self.region).unwrap_or(usize::MAX).max(1);
        let regions = (self.page..end).step_by(step);
        regions.map(move |region| region + self.region_header..end.min(region + self.region))
    }

    /// The first byte and the length of the page with a number.
    fn place(self, number: u64) -> Option<(u64, u64)> {
        let order = number >> 59;
        let index = number & (0xf_ffff >> order);
        let region = (number >> 20) & 0xf_ffff;
        let length = self.page.checked_shl(u32::try_from(order).ok()?)?;
        let in_region = self.region_header.checked_add(index.checked_mul(length)?)?;
        let at = self.page.checked_add(region.checked_mul(self.region)?)?.checked_add(in_region)?;
        Some((at, length))
    }

    fn pointer(self, header: &[u8], tree: Tree, table: Option<String>) -> Option<Pointer> {
        let (at, length) = self.place(u64_at(header, 0)?)?;
        Some(Pointer { at, length, check: u128_at(header, 8)?, tree, table })
    }
}

/// The bytes that the file has at least whose header this is: redb writes the header once the file has grown, and before it
/// shortens the file. `None` if it cannot be one.
pub(crate) fn length(header: &[u8; HEADER]) -> Option<u64> {
    let layout = Layout::of_header(header)?;
    let [regions, pages] = [0, 4].map(|field| u32_at(header, REGIONS + field).map(u64::from));
    layout.length(regions?, pages?)
}

/// The bytes of a file of this length, whose header this is, without those behind its last page: tools that copy files, and
/// systems that crash, leave some there. The engine refuses a length that pages and regions do not come to.
pub(crate) fn without_rest(header: &[u8; HEADER], bytes: u64) -> u64 {
    let without = |layout: Layout| {
        let data = bytes.checked_sub(layout.page)?;
        let last = data.checked_rem(layout.region)?;
        let has_pages = last >= layout.region_header + layout.page;
        let rest = if has_pages { last % layout.page } else { last };
        Some(bytes - rest)
    };
    Layout::of_header(header).and_then(without).unwrap_or(bytes)
}

/// Whether a file of so many bytes, whose header this is, has another size that redb takes, with so many more: the last of its
/// regions is not whole then, either.
pub(crate) fn takes_more(header: &[u8; HEADER], bytes: u64, more: u64) -> bool {
    let Some(layout) = Layout::of_header(header) else { return false };
    let region = |bytes: u64| bytes.checked_sub(layout.page + 1)?.checked_div(layout.region);
    more.is_multiple_of(layout.page)
        && region(bytes).is_some()
        && region(bytes) == bytes.checked_add(more + layout.page).and_then(region)
}

/// Whether the last commit of a file with this header may be one that was cut off, so that the one before counts. Of a
/// commit in two phases, as processes that share a file make them, all was on the disk before the header named it.
pub(super) fn may_be_cut_off(header: &[u8; HEADER]) -> bool {
    header[FLAGS] & RECOVERY != 0 && header[FLAGS] & TWO_PHASES == 0
}

/// The roots of the states that are read: of the last commit, and while it is not confirmed of the one before.
pub(super) fn roots(header: &[u8; HEADER]) -> Vec<Pointer> {
    roots_of_slots(header, &slots_read(header))
}

/// The roots of the state that a read transaction begun now has: while the last commit is not confirmed, of the one before.
pub(super) fn published_roots(header: &[u8; HEADER]) -> Vec<Pointer> {
    let slots = slots_read(header);
    roots_of_slots(header, slots.last().map_or(&[], std::slice::from_ref))
}

/// The slots of the states that are read; the last is that of a read transaction begun now.
fn slots_read(header: &[u8; HEADER]) -> Vec<usize> {
    let primary = usize::from(header[FLAGS] & SECOND_IS_PRIMARY != 0);
    let mut slots = vec![primary];
    if header[FLAGS] & UNCONFIRMED != 0 {
        slots.push(1 - primary);
    }
    slots
}

fn roots_of_slots(header: &[u8; HEADER], slots: &[usize]) -> Vec<Pointer> {
    let Some(layout) = Layout::of_header(header) else { return Vec::new() };
    slots.iter().flat_map(|slot| roots_of(header, *slot, layout)).collect()
}

/// The roots that a slot names: that of the tables, and that of redb's own.
fn roots_of(header: &[u8; HEADER], slot: usize, layout: Layout) -> Vec<Pointer> {
    let Some(slot) = slot_of(header, slot) else { return Vec::new() };
    let root = |is_there: usize, at: usize| {
        let bytes = slot.get(at..).filter(|_| slot.get(is_there) == Some(&1))?;
        layout.pointer(bytes, Tree::Names, None)
    };
    let engine = root(2, 40).map(|root| Pointer { table: Some(ENGINE.to_owned()), ..root });
    root(1, 8).into_iter().chain(engine).collect()
}

/// Where a slot has the number of its commit.
const COMMIT: usize = 104;

/// The root of the tables of the newest commit whose slot is whole, whatever the header's flags say; and whether both slots
/// are, so that there is no newer one.
pub(super) fn newest_root(header: &[u8; HEADER], layout: Layout) -> Option<(Pointer, bool)> {
    let slots: Vec<&[u8]> = (0..2).filter_map(|slot| slot_of(header, slot)).collect();
    let newest = slots.iter().max_by_key(|slot| u64_at(slot, COMMIT))?;
    let root = newest.get(8..).filter(|_| newest.get(1) == Some(&1))?;
    Some((layout.pointer(root, Tree::Names, None)?, slots.len() == 2))
}

/// The versions of the file's format that are read here.
const VERSIONS: [u8; 2] = [3, 4];

/// Whether one of the two places of a commit has its checksum, and a version that is read here.
pub(crate) fn has_commit(header: &[u8; HEADER]) -> bool {
    let is_read = |slot: &[u8]| slot.first().is_some_and(|version| VERSIONS.contains(version));
    (0..2).any(|slot| slot_of(header, slot).is_some_and(is_read))
}

/// The bytes of a slot, if they have their checksum.
fn slot_of(header: &[u8; HEADER], slot: usize) -> Option<&[u8]> {
    let slot = header.get(SLOTS + slot * SLOT..)?.get(..SLOT)?;
    let (fields, check) = slot.split_at(SLOT - CHECKSUM);
    (xxh3_128(fields).to_le_bytes() == check).then_some(fields)
}

/// The checksum of a page of a tree, which covers what is used of it; `None` if it cannot be one.
pub(super) fn checksum(page: &[u8], tree: Tree) -> Option<u128> {
    let count = usize::from(u16_at(page, 2)?);
    let end = match (*page.first()?, tree) {
        (_, _) if count == 0 => return None,
        (LEAF, Tree::Names) => end_of_leaf(page, count, None, None)?,
        (LEAF, Tree::Rows { key, value }) => end_of_leaf(page, count, key, value)?,
        (BRANCH, Tree::Names) => end_of_branch(page, count, None)?,
        (BRANCH, Tree::Rows { key, .. }) => end_of_branch(page, count, key)?,
        _ => return None,
    };
    page.get(..end).map(xxh3_128)
}

/// The byte behind the last value.
fn end_of_leaf(page: &[u8], count: usize, key: Option<u32>, value: Option<u32>) -> Option<usize> {
    let ends = |is_there: bool| if is_there { 4 * count } else { 0 };
    let Some(value) = value else {
        return end_at(page, 4 + ends(key.is_none()) + 4 * (count - 1));
    };
    let keys = match key {
        None => end_at(page, 4 + 4 * (count - 1))?,
        Some(key) => 4 + count.checked_mul(usize::try_from(key).ok()?)?,
    };
    keys.checked_add(count.checked_mul(usize::try_from(value).ok()?)?)
}

/// The byte behind the last key.
fn end_of_branch(page: &[u8], count: usize, key: Option<u32>) -> Option<usize> {
    let children = 8 + (CHECKSUM + 8) * (count + 1);
    match key {
        None => end_at(page, children + 4 * (count - 1)),
        Some(key) => children.checked_add(count.checked_mul(usize::try_from(key).ok()?)?),
    }
}

/// Whether a page says that it is a leaf.
pub(super) fn is_leaf(page: &[u8]) -> bool {
    page.first() == Some(&LEAF)
}

/// The pages that a page names.
pub(super) fn children(page: &[u8], tree: Tree, layout: Layout) -> Vec<Pointer> {
    let count = u16_at(page, 2).map_or(0, usize::from);
    match (page.first(), tree) {
        (Some(&BRANCH), _) => (0..=count)
            .filter_map(|child| {
                let check = u128_at(page, 8 + CHECKSUM * child)?;
                let number = u64_at(page, 8 + CHECKSUM * (count + 1) + 8 * child)?;
                let (at, length) = layout.place(number)?;
                Some(Pointer { at, length, check, tree, table: None })
            })
            .filter(|child| child.check != DEFERRED)
            .collect(),
        (Some(&LEAF), Tree::Names) => {
            (0..count).filter_map(|row| table_root(page, count, row, layout)).collect()
        }
        _ => Vec::new(),
    }
}

/// The root of the table that a row of the tree of names names, unless it is empty or of another kind than ours.
fn table_root(page: &[u8], count: usize, row: usize, layout: Layout) -> Option<Pointer> {
    let key_end = |row: usize| end_at(page, 4 + 4 * row);
    let value_end = |row: usize| end_at(page, 4 + 4 * (count + row));
    let key_start = if row == 0 { 4 + 8 * count } else { key_end(row - 1)? };
    let value_start = if row == 0 { key_end(count - 1)? } else { value_end(row - 1)? };
    let name = page.get(key_start..key_end(row)?)?;
    let definition = page.get(value_start..value_end(row)?)?;
    // The kind of an ordinary table; its length; whether it has a root; the root, and its length.
    if definition.first() != Some(&3) || definition.get(9) != Some(&1) {
        return None;
    }
    let fixed = |at: usize| match definition.get(at)? {
        0 => Some(None),
        _ => u32_at(definition, at + 1).map(Some),
    };
    let tree = Tree::Rows { key: fixed(42)?, value: fixed(47)? };
    let name = String::from_utf8_lossy(name).into_owned();
    layout.pointer(definition.get(10..)?, tree, Some(name))
}

/// Where the keys and the values of a leaf are in its page; `None` if it cannot be a leaf of such rows. Of a page that is cut
/// off, the rows end beyond it.
pub(super) fn rows(
    page: &[u8],
    key: Option<u32>,
    value: Option<u32>,
) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let count = usize::from(u16_at(page, 2)?);
    if page.first() != Some(&LEAF) || count == 0 {
        return None;
    }
    let ends = |is_there: bool| if is_there { 4 * count } else { 0 };
    let first_key = 4 + ends(key.is_none()) + ends(value.is_none());
    let key_end = |row: usize| match key {
        None => end_at(page, 4 + 4 * row),
        Some(key) => first_key.checked_add((row + 1).checked_mul(usize::try_from(key).ok()?)?),
    };
    let first_value = key_end(count - 1)?;
    let value_end = |row: usize| match value {
        None => end_at(page, 4 + ends(key.is_none()) + 4 * row),
        Some(value) => {
            first_value.checked_add((row + 1).checked_mul(usize::try_from(value).ok()?)?)
        }
    };
    let (mut key_start, mut value_start) = (first_key, first_value);
    let mut rows = Vec::with_capacity(count);
    for row in 0..count {
        let (key, value) = (key_start..key_end(row)?, value_start..value_end(row)?);
        if key.end < key.start || value.end < value.start {
            return None;
        }
        (key_start, value_start) = (key.end, value.end);
        rows.push((key, value));
    }
    Some(rows)
}

fn end_at(page: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32_at(page, at)?).ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u128_at(bytes: &[u8], at: usize) -> Option<u128> {
    Some(u128::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
