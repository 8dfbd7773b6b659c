//! The store's file with changes in memory: what the tables become with the journal in them, for a process that only reads.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::{Builder, StorageBackend};

use super::engine_file::EngineFile;
use super::pages::{Checked, HEADER, Problem, Root, engine_pages, guarded, tables_root};
use super::writing::Engine;
use super::{Handle, Store, StoreOptions};
use crate::error::{FileContext, Result};

/// Bytes of the pages in which changes are kept.
const PAGE: usize = 4096;

/// A file that is only read, and pages that were changed in memory.
struct Overlay {
    file: EngineFile,
    changes: Mutex<Changes>,
}

#[derive(Default)]
struct Changes {
    pages: HashMap<u64, Box<[u8; PAGE]>>,
    /// Bytes of the whole.
    length: u64,
    /// Bytes from which on the file's own do not count.
    file: u64,
}

impl std::fmt::Debug for Overlay {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Overlay")
    }
}

impl Store {
    /// Another store with the tables of this one as they are, or as they were committed since; what is written to it stays
    /// in memory. `None` if the file was changed while its first page and the engine's own ones were read.
    ///
    /// It reads pages of the file's current state. Whenever it is used, a read transaction has to keep these pages: one that
    /// began while the file's header named the returned root of the tables.
    pub(crate) fn overlay(&self) -> Result<Option<(Self, Root)>> {
        let Some(file) = self.shared.file.clone() else { return Ok(None) };
        let backend = Overlay::new(file.clone()).at("reading", self.path())?;
        let Some(backend) = backend else { return Ok(None) };
        let options = StoreOptions {
            page_cache_bytes: 16 << 20,
            line_cache_bytes: 4 << 20,
            ..StoreOptions::default()
        };
        let mut builder = Builder::new();
        builder.set_cache_size(options.page_cache_bytes);
        let mut first = [0; PAGE];
        backend.read(0, &mut first).at("reading", self.path())?;
        let is_current = || {
            let mut now = [0; PAGE];
            file.read(0, &mut now).is_ok() && now == first
        };
        let checked = Checked::new(backend, false).at("reading", self.path())?;
        let pages = checked.pages();
        let database = match guarded(|| builder.create_with_backend(checked)) {
            Ok(Ok(database)) if pages.found() == 0 => database,
            // What the first page said may be gone, or half of it may be of another commit.
            _ if !is_current() => return Ok(None),
            Ok(Err(error)) => return Err(error.into()),
            damaged => {
                let some = || Problem::of_engine("some pages are damaged");
                let problem = damaged.err().unwrap_or_else(some);
                return Err(problem.at("engine", self.path().display().to_string()).into());
            }
        };
        pages.be_strict();
        let handle =
            Handle::Overlay { database: Engine::new(database), is_sealed: AtomicBool::new(true) };
        let root = first.first_chunk::<HEADER>().and_then(tables_root);
        let store = Self::with_handle(handle, None, self.path().to_owned(), &options)?;
        Ok(Some((store, root)))
    }

    /// Calls `write`, during which an [overlay](Self::overlay) can be written.
    pub(crate) fn unsealed<T>(&self, write: impl FnOnce() -> T) -> T {
        let seal = |is_sealed| {
            if let Handle::Overlay { is_sealed: sealed, .. } = &self.shared.handle {
                sealed.store(is_sealed, Ordering::Release);
            }
        };
        seal(false);
        let written = write();
        seal(true);
        written
    }
}

impl Overlay {
    fn new(file: EngineFile) -> io::Result<Option<Self>> {
        let mut first = Box::new([0; PAGE]);
        let mut again = Box::new([0; PAGE]);
        file.read(0, &mut *first)?;
        let length = file.len()?;
        file.read(0, &mut *again)?;
        if first != again {
            return Ok(None);
        }
        // No read transaction keeps these pages, and later writes need them. Those that are intact belong to this state, whatever
        // others commit meanwhile.
        let of_engine = match first.first_chunk::<HEADER>() {
            Some(header) => engine_pages(&file, header)?,
            None => None,
        };
        file.read(0, &mut *again)?;
        if of_engine.is_none() && first != again {
            return Ok(None);
        }
        let changes = Changes { pages: HashMap::from([(0, first)]), length, file: length };
        let overlay = Self { file, changes: Mutex::new(changes) };
        for (at, page) in of_engine.into_iter().flatten() {
            overlay.write(at, &page)?;
        }
        Ok(Some(overlay))
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads bytes of the file; beyond its end there are zeros.
    fn read_file(&self, offset: u64, out: &mut [u8], end: u64) -> io::Result<()> {
        let there = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (there, beyond) = out.split_at_mut(there.min(out.len()));
        beyond.fill(0);
        if there.is_empty() { Ok(()) } else { self.file.read(offset, there) }
    }
}

/// The pieces of a range that lie in one page each: the page, the piece in it, and the piece in the range.
fn pieces(
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (u64, std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= length {
            return None;
        }
        let at = offset + done as u64;
        let page = at / PAGE as u64;
        // Less than a page.
        let start = usize::try_from(at % PAGE as u64).unwrap_or(0);
        let count = (PAGE - start).min(length - done);
        let piece = (page, start..start + count, done..done + count);
        done += count;
        Some(piece)
    })
}

fn out_of_range() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a read beyond the end of the file")
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.changes().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let changes = self.changes();
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= changes.length);
        end.ok_or_else(out_of_range)?;
        self.read_file(offset, out, changes.file)?;
        for (page, from, to) in pieces(offset, out.len()) {
            if let Some(changed) = changes.pages.get(&page)
                && let Some((to, from)) = out.get_mut(to).zip(changed.get(from))
            {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut changes = self.changes();
        if length < changes.length {
            changes.file = changes.file.min(length);
            let (last, kept) = (length / PAGE as u64, usize::try_from(length % PAGE as u64));
            changes.pages.retain(|page, _| *page <= last);
            if let Some((page, kept)) = changes.pages.get_mut(&last).zip(kept.ok()) {
                page.iter_mut().skip(kept).for_each(|byte| *byte = 0);
            }
        }
        changes.length = length;
        Ok(())
    }

    /// There is nothing to put on a disk.
    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut changes = self.changes();
        let end = offset.checked_add(data.len() as u64).filter(|end| *end <= changes.length);
        end.ok_or_else(out_of_range)?;
        for (page, to, from) in pieces(offset, data.len()) {
            if !changes.pages.contains_key(&page) {
                let mut bytes = Box::new([0; PAGE]);
                // A page that is written whole need not be read.
                if to.len() < PAGE {
                    self.read_file(page * PAGE as u64, &mut *bytes, changes.file)?;
                }
                changes.pages.insert(page, bytes);
            }
            let page = changes.pages.get_mut(&page).and_then(|page| page.get_mut(to));
            if let Some((to, from)) = page.zip(data.get(from)) {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::pages::read_header;

    #[test]
    fn an_overlay_has_the_pages_that_no_reader_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::open(&path).unwrap();
        for _ in 0..5 {
            store.reserve_sessions(1).unwrap();
        }
        let next = store.reserve_sessions(1).unwrap().raw() + 1;
        drop(store);
        let options = StoreOptions { read_only: true, ..StoreOptions::default() };
        let reader = Store::open_with(&path, &options).unwrap();
        let _pin = reader.committed().unwrap();
        let (overlay, _) = reader.overlay().unwrap().unwrap();
        // As a later commit may do, although the state is being read.
        let file = reader.shared.file.as_ref().unwrap();
        let of_engine = engine_pages(file, &read_header(file).unwrap()).unwrap().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        for (at, page) in of_engine {
            let at = usize::try_from(at).unwrap();
            bytes[at..at + page.len()].fill(0);
        }
        std::fs::write(&path, bytes).unwrap();
        for more in 0..3 {
            let reserved = overlay.unsealed(|| overlay.reserve_sessions(1)).unwrap();
            assert_eq!(reserved.raw(), next + more);
        }
    }
}
