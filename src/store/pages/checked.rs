//! The checks between redb and the file.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use redb::{BackendError, StorageBackend};
use xxhash_rust::xxh3::xxh3_64;

use super::layout::{self, HEADER, Layout, Pointer, Tree};
use super::reading::NAMES;
use crate::error::Corruption;
use crate::store::tables;

/// A file below redb. It reads no page that is not the one that was written there.
#[derive(Debug)]
pub(crate) struct Checked<B> {
    file: B,
    pages: Arc<Pages>,
}

/// What is known of the pages of a file.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    state: Mutex<State>,
    /// Whether damage is only counted: while redb looks which of the last two commits is whole.
    is_lenient: AtomicBool,
    found: AtomicU64,
    /// Pages that were read although nothing was known of them.
    unknown: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    header: Option<Box<[u8; HEADER]>>,
    layout: Option<Layout>,
    known: HashMap<u64, Known>,
    trees: Vec<(Tree, TableName)>,
}

/// What errors call the table that a tree is; `None` while it is not known.
type TableName = Option<&'static str>;

/// What a page is, by its first byte in the file: 16 bytes, since there is one for each page that was met.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The lower half of the checksum that its parent has, or the XXH3 of all the bytes that were written here.
    check: u64,
    /// Pages of 4,096 bytes, as a power of two.
    order: u8,
    /// The tree, by its place among the trees; [`WRITTEN`] of what was written here.
    tree: u16,
}

/// The tree of a page that was written through this file: its children were met before, or written as well.
const WRITTEN: u16 = u16::MAX;

/// A page that is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the page at byte {at} is not what was written there")]
pub(crate) struct Damage {
    pub(crate) at: u64,
    /// Of a page that was written through this file it is not known.
    table: TableName,
}

/// Why a call of redb came to no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The table whose page is damaged.
    table: TableName,
    text: String,
}

impl Problem {
    /// One that redb does not tell more of.
    pub(crate) fn of_engine(text: &str) -> Self {
        Self { table: None, text: text.to_owned() }
    }

    /// An error of the table whose page it was; where that is not known, of the one that was used.
    pub(crate) fn at(self, used: &'static str, place: String) -> Corruption {
        Corruption { table: self.table.unwrap_or(used), place, problem: self.text }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl From<Damage> for Problem {
    fn from(damage: Damage) -> Self {
        Self { table: damage.table, text: damage.to_string() }
    }
}

thread_local! {
    /// How many calls that end at damage are running.
    static GUARDED: Cell<u32> = const { Cell::new(0) };
    /// How many calls are running whose panics become errors.
    static CAUGHT: Cell<u32> = const { Cell::new(0) };
    /// Whether one of them is panicking.
    static PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// Calls redb to read. Damage ends the call, wherever in redb it is met, and the store can be used as before; a panic of
/// redb is damage, too, and its text is in the error alone.
pub(crate) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Problem> {
    GUARDED.set(GUARDED.get() + 1);
    let result = caught(read);
    GUARDED.set(GUARDED.get() - 1);
    result
}

/// Calls redb where it cannot end in the middle: damage is an error of the system to it, after which it writes nothing more. A
/// panic of redb, or of another library, is an error as well.
pub(crate) fn contained<T>(write: impl FnOnce() -> T) -> Result<T, Problem> {
    let guarded = GUARDED.replace(0);
    let result = caught(write);
    GUARDED.set(guarded);
    result
}

fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Problem> {
    silence();
    CAUGHT.set(CAUGHT.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(call));
    CAUGHT.set(CAUGHT.get() - 1);
    PANICKED.set(false);
    result.map_err(|payload| problem_of(&*payload))
}

/// Sets the process's panic hook, once: it says nothing of a panic that [`caught`] makes an error of, and leaves all others
/// to the hook before it.
fn silence() {
    static SET: Once = Once::new();
    // The hook cannot be set while the thread panics; the next call does it.
    if std::thread::panicking() {
        return;
    }
    SET.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            // A second panic while the first unwinds ends the process, and is told.
            if CAUGHT.get() == 0 || PANICKED.replace(true) {
                before(panic);
            }
        }));
    });
}

fn problem_of(payload: &(dyn Any + Send)) -> Problem {
    if let Some(damage) = payload.downcast_ref::<Damage>() {
        return (*damage).into();
    }
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("it does not say why");
    Problem::of_engine(&format!("the engine gave up: {text}"))
}

impl Pages {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on damage is an error.
    pub(crate) fn be_strict(&self) {
        self.is_lenient.store(false, Ordering::Release);
    }

    /// Damaged pages that were let through.
    pub(crate) fn found(&self) -> u64 {
        self.found.load(Ordering::Acquire)
    }

    /// Pages that nothing was known of when they were read.
    #[cfg(test)]
    pub(crate) fn unknown(&self) -> u64 {
        self.unknown.load(Ordering::Acquire)
    }

    /// Takes the roots from the header.
    fn note_header(&self, bytes: &[u8]) {
        let Some(header) = bytes.first_chunk::<HEADER>() else { return };
        let mut state = self.state();
        if state.header.as_deref() == Some(header) {
            return;
        }
        state.header = Some(Box::new(*header));
        state.layout = Layout::of_header(header);
        for root in &layout::roots(header) {
            state.note(root, Some(root.table.as_deref().map_or(NAMES, tables::name)));
        }
    }

    /// Checks a page, and notes what it says of others.
    fn check(&self, at: u64, page: &[u8]) -> Result<(), Damage> {
        let mut state = self.state();
        let Some(&known) = state.known.get(&at) else {
            self.unknown.fetch_add(1, Ordering::AcqRel);
            return Ok(());
        };
        let tree = state.trees.get(usize::from(known.tree)).copied();
        let layout = state.layout;
        drop(state);
        let check = match tree {
            _ if known.order != order_of(page.len()) => None,
            Some((tree, _)) => layout::checksum(page, tree).map(half),
            None => Some(xxh3_64(page)),
        };
        if check != Some(known.check) {
            return Err(Damage { at, table: tree.and_then(|(_, table)| table) });
        }
        if let Some(((tree, table), layout)) = tree.zip(layout) {
            let children = layout::children(page, tree, layout);
            state = self.state();
            for child in &children {
                state.note(child, child.table.as_deref().map(tables::name).or(table));
            }
        }
        Ok(())
    }

    /// The table that has a page.
    fn table_of(&self, at: u64) -> TableName {
        let state = self.state();
        let tree = state.known.get(&at).map(|known| usize::from(known.tree));
        tree.and_then(|tree| state.trees.get(tree)).and_then(|(_, table)| *table)
    }

    /// Notes what was written.
    fn note_written(&self, at: u64, page: &[u8]) {
        let known = Known { check: xxh3_64(page), order: order_of(page.len()), tree: WRITTEN };
        self.state().known.insert(at, known);
    }
}

impl State {
    /// Notes a page of a table.
    fn note(&mut self, page: &Pointer, table: TableName) {
        let tree = match self.trees.iter().position(|known| *known == (page.tree, table)) {
            Some(place) => place,
            None => {
                self.trees.push((page.tree, table));
                self.trees.len() - 1
            }
        };
        let order = usize::try_from(page.length).map_or(u8::MAX, order_of);
        match u16::try_from(tree) {
            Ok(tree) => {
                self.known.insert(page.at, Known { check: half(page.check), order, tree });
            }
            // There are not so many kinds of tables.
            Err(_) => {
                self.known.remove(&page.at);
            }
        }
    }
}

fn half(check: u128) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = check.to_le_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

fn order_of(length: usize) -> u8 {
    u8::try_from(length.checked_ilog2().unwrap_or(0)).unwrap_or(u8::MAX)
}

impl<B: StorageBackend> Checked<B> {
    /// Below an open of a file. It is lenient if the last commit may be cut off, until [`Pages::be_strict`].
    pub(crate) fn new(file: B, is_strict: bool) -> io::Result<Self> {
        let pages = Arc::new(Pages::default());
        let mut header = [0; HEADER];
        if !is_strict && file.len()? >= HEADER as u64 {
            file.read(0, &mut header)?;
            pages.is_lenient.store(layout::may_be_cut_off(&header), Ordering::Release);
        }
        Ok(Self { file, pages })
    }

    pub(crate) fn pages(&self) -> Arc<Pages> {
        Arc::clone(&self.pages)
    }
}

impl<B: StorageBackend> StorageBackend for Checked<B> {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let read = self.file.read(offset, out);
        if offset < HEADER as u64 {
            if read.is_ok() && offset == 0 {
                self.pages.note_header(out);
            }
            return read;
        }
        let damage = match read {
            Ok(()) => match self.pages.check(offset, out) {
                Ok(()) => return Ok(()),
                Err(damage) => damage,
            },
            // The file ends before the page does.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Damage { at: offset, table: self.pages.table_of(offset) }
            }
            Err(error) => return Err(error),
        };
        if self.pages.is_lenient.load(Ordering::Acquire) {
            self.pages.found.fetch_add(1, Ordering::AcqRel);
            return read_again(&self.file, offset, out);
        }
        if GUARDED.get() > 0 {
            // An error would end this open file for all; this ends the call alone.
            resume_unwind(Box::new(damage));
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, damage))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.pages.state().known.retain(|at, _| *at < len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if offset >= HEADER as u64 {
            self.pages.note_written(offset, data);
        }
        self.file.write(offset, data)?;
        if offset == 0 {
            self.pages.note_header(data);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

/// What is there, as it is.
fn read_again(file: &impl StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
    file.read(offset, out)
}
