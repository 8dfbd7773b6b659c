//! Where the pages of a state are in the file. Its inner pages say so; of the leaves only those are read that are asked for.

use std::path::Path;

use redb::StorageBackend;

use super::layout::{self, ENGINE, HEADER, Layout, Pointer, Tree};
use super::walk::MOST_LEVELS;
use crate::error::{Corruption, Error, FileContext, Result};
use crate::store::tables;

const PAGE: u64 = layout::PAGE as u64;

/// Powers of two that a page's length can have.
const ORDERS: usize = 21;

/// The share of the pages' bytes that may stay free among them, and the least.
const ROOM: u64 = 256;
const LEAST_ROOM: u64 = 16 * PAGE;

/// The state that a header names, which a read transaction keeps.
pub(crate) struct State<'f, F> {
    pub(crate) file: &'f F,
    /// Where the file is, for errors.
    pub(crate) path: &'f Path,
    pub(crate) header: [u8; HEADER],
}

/// Where the pages are.
pub(crate) struct Survey {
    layout: Layout,
    /// A bit for each smallest page of the file.
    taken: Vec<u64>,
    /// The bytes of a file that is longer than the shortest one that could have all pages by what may stay free.
    pub(crate) goal: u64,
    /// Bytes of pages behind [`Self::goal`].
    pub(crate) behind: u64,
    /// Bytes of the file that no page has.
    pub(crate) spare: u64,
}

/// A leaf, whose place may be left if any of its rows is written again.
pub(crate) struct Leaf<'p> {
    pub(crate) table: &'p str,
    /// That of its first row.
    pub(crate) key: &'p [u8],
    /// Bytes of its page.
    pub(crate) length: u64,
}

/// Free places by the power of two of their length: as the engine finds them, the smallest that is long enough is taken, and
/// divided if it is longer.
pub(crate) struct Free([u64; ORDERS]);

impl Free {
    /// Takes the place of a page of so many bytes. `false` if there is none.
    pub(crate) fn take(&mut self, length: u64) -> bool {
        let order = order_of(length);
        let Some(from) = (order..ORDERS).find(|order| self.0[*order] > 0) else { return false };
        self.0[from] -= 1;
        for half in &mut self.0[order..from] {
            *half += 1;
        }
        true
    }
}

/// The power of two, in smallest pages, of a page of so many bytes.
fn order_of(length: u64) -> usize {
    length.div_ceil(PAGE).next_power_of_two().trailing_zeros() as usize
}

impl Survey {
    /// The free places that end ahead of the byte behind which pages are moved.
    pub(crate) fn free(&self) -> Free {
        let mut free = Free([0; ORDERS]);
        for data in self.layout.data_until(self.goal) {
            let mut at = data.start;
            while at < data.end {
                if self.is_taken(at) {
                    at += PAGE;
                    continue;
                }
                // The longest place that can begin here, as the engine numbers pages.
                let most = ((at - data.start) / PAGE).trailing_zeros() as usize;
                let mut order = 0;
                while order < most.min(ORDERS - 1) {
                    let half = at + (PAGE << order);
                    let end = half + (PAGE << order);
                    let is_free =
                        |from: u64| (from..end).step_by(layout::PAGE).all(|at| !self.is_taken(at));
                    if end > data.end || !is_free(half) {
                        break;
                    }
                    order += 1;
                }
                free.0[order] += 1;
                at += PAGE << order;
            }
        }
        free
    }

    fn is_taken(&self, at: u64) -> bool {
        let page = at / PAGE;
        let bits = usize::try_from(page / 64).ok().and_then(|word| self.taken.get(word));
        bits.is_none_or(|bits| bits & (1 << (page % 64)) != 0)
    }

    fn note(&mut self, pointer: &Pointer) {
        for page in pointer.at / PAGE..(pointer.at + pointer.length).div_ceil(PAGE) {
            let word = usize::try_from(page / 64).ok().and_then(|word| self.taken.get_mut(word));
            if let Some(bits) = word {
                *bits |= 1 << (page % 64);
            }
        }
    }
}

impl<F: StorageBackend> State<'_, F> {
    /// Looks where all pages are. What may stay free among them is doubled so many times.
    pub(crate) fn survey(&self, doubled: u32) -> Result<Survey> {
        let layout = self.layout()?;
        let length = self.length()?;
        let words = usize::try_from(length / PAGE / 64 + 1).unwrap_or(usize::MAX);
        let mut survey = Survey { layout, taken: vec![0; words], goal: 0, behind: 0, spare: 0 };
        let mut used = 0;
        self.descend(
            |_| false,
            |pointer, _| {
                used += pointer.length;
                survey.note(pointer);
                Ok(true)
            },
        )?;
        let needed = layout.length_of(used).ok_or_else(not_a_header)?;
        survey.spare = length.saturating_sub(needed);
        let room = (used / ROOM).max(LEAST_ROOM) << doubled;
        survey.goal = layout.length_of(used + room).ok_or_else(not_a_header)?;
        let behind = (survey.goal..length).step_by(layout::PAGE).filter(|at| survey.is_taken(*at));
        survey.behind = PAGE * behind.count() as u64;
        Ok(survey)
    }

    /// Passes on the leaves of tables that have to be written again so that no page of a table ends behind a byte: those that do, and
    /// one below each inner page that does. It ends when `take` is `false`.
    pub(crate) fn leaves_behind(
        &self,
        byte: u64,
        mut take: impl FnMut(Leaf<'_>) -> Result<bool>,
    ) -> Result<()> {
        let is_behind = |pointer: &Pointer| {
            pointer.at + pointer.length > byte && pointer.table.as_deref() != Some(ENGINE)
        };
        self.descend(is_behind, |pointer, page| {
            let (Some(page), Some(table)) = (page, pointer.table.as_deref()) else {
                return Ok(true);
            };
            let Tree::Rows { key, value } = pointer.tree else { return Ok(true) };
            let first = layout::rows(page, key, value).and_then(|rows| rows.into_iter().next());
            match first.and_then(|(key, _)| page.get(key)) {
                Some(key) => take(Leaf { table, key, length: pointer.length }),
                None => Err(damaged(pointer)),
            }
        })
    }

    /// Passes on every page, and of the leaves of tables that are wanted the bytes, until `each` is `false`. A leaf is wanted if it is,
    /// or if it is the first below an inner page of a table that is.
    fn descend(
        &self,
        is_wanted: impl Fn(&Pointer) -> bool,
        mut each: impl FnMut(&Pointer, Option<&[u8]>) -> Result<bool>,
    ) -> Result<()> {
        let layout = self.layout()?;
        let length = self.length()?;
        let mut budget = length / PAGE + 1;
        let mut page = Vec::new();
        // Pages, how many are below each other in the tree from there on, if that is known, and whether the first leaf is wanted.
        let roots = layout::published_roots(&self.header);
        let mut left: Vec<(Pointer, Option<usize>, bool)> =
            roots.into_iter().map(|root| (root, None, false)).collect();
        while let Some((pointer, levels, mut wants)) = left.pop() {
            budget = budget.checked_sub(1).ok_or_else(|| damaged(&pointer))?;
            let levels = match levels {
                Some(levels) => levels,
                None => self.levels(&pointer, layout, length)?,
            };
            let is_of_rows = pointer.tree != Tree::Names;
            wants |= is_of_rows && is_wanted(&pointer);
            if is_of_rows && levels == 0 {
                if wants {
                    self.read(&pointer, length, &mut page)?;
                }
                if !each(&pointer, wants.then_some(page.as_slice()))? {
                    break;
                }
                continue;
            }
            self.read(&pointer, length, &mut page)?;
            if !each(&pointer, None)? {
                break;
            }
            // Those of a leaf of names are roots of tables.
            let below = levels.checked_sub(1);
            let children = layout::children(&page, pointer.tree, layout);
            for (number, mut child) in children.into_iter().enumerate().rev() {
                child.table = pointer.table.clone().or(child.table);
                left.push((child, below, wants && number == 0));
            }
        }
        Ok(())
    }

    /// How many pages of a tree are below each other under this one.
    fn levels(&self, root: &Pointer, layout: Layout, length: u64) -> Result<usize> {
        let mut page = Vec::new();
        let mut pointer = root.clone();
        for level in 0..MOST_LEVELS {
            self.read(&pointer, length, &mut page)?;
            if layout::is_leaf(&page) {
                return Ok(level);
            }
            let children = layout::children(&page, pointer.tree, layout);
            let first = children.into_iter().next().ok_or_else(|| damaged(&pointer))?;
            pointer = Pointer { table: pointer.table.clone(), ..first };
        }
        Err(damaged(root))
    }

    /// Reads a page, if it is what was written there.
    fn read(&self, pointer: &Pointer, length: u64, page: &mut Vec<u8>) -> Result<()> {
        let is_there = pointer.at.checked_add(pointer.length).is_some_and(|end| end <= length);
        let bytes = usize::try_from(pointer.length).ok().filter(|_| is_there);
        page.resize(bytes.ok_or_else(|| damaged(pointer))?, 0);
        self.file.read(pointer.at, page).at("reading", self.path)?;
        match layout::checksum(page, pointer.tree) == Some(pointer.check) {
            true => Ok(()),
            false => Err(damaged(pointer)),
        }
    }

    fn length(&self) -> Result<u64> {
        self.file.len().at("reading", self.path)
    }

    fn layout(&self) -> Result<Layout> {
        Layout::of_header(&self.header).ok_or_else(not_a_header)
    }
}

fn not_a_header() -> Error {
    let problem = "it cannot be one".into();
    Corruption { table: "engine", place: "the header".into(), problem }.into()
}

fn damaged(pointer: &Pointer) -> Error {
    Corruption {
        table: pointer.table.as_deref().map_or("engine", tables::name),
        place: format!("byte {}", pointer.at),
        problem: "this page is not what was written there".into(),
    }
    .into()
}
