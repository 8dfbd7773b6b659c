//! A disk in memory that fails after a number of writes, for the tests of what remains then.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use redb::{Builder, Database, StorageBackend};

use super::Store;
use crate::error::Result;

/// Bytes in memory that accept a number of writes, and then no more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Clone, Default)]
struct State {
    bytes: Vec<u8>,
    /// Writes that are left; `None` is unlimited.
    left: Option<u32>,
    /// Whether what touches it then panics, instead of failing.
    panics: bool,
    /// How often it was synced.
    syncs: u64,
}

impl Disk {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A disk that holds a file.
    pub(crate) fn holding(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(State { bytes, ..State::default() })))
    }

    /// Another disk with the same contents.
    pub(crate) fn copy(&self) -> Self {
        Self::holding(self.with(|state| state.bytes.clone()))
    }

    /// Makes it fail after this many more writes.
    pub(crate) fn fail_after(&self, writes: u32) {
        self.with(|state| state.left = Some(writes));
    }

    /// Makes whatever touches it after this many more writes panic.
    pub(crate) fn panic_after(&self, writes: u32) {
        self.with(|state| (state.left, state.panics) = (Some(writes), true));
    }

    /// How often it was synced, as by `fdatasync`.
    pub(crate) fn syncs(&self) -> u64 {
        self.with(|state| state.syncs)
    }

    /// How many bytes it has.
    pub(crate) fn length(&self) -> usize {
        self.with(|state| state.bytes.len())
    }

    /// The database on the disk.
    pub(super) fn database(&self) -> Result<Database> {
        Ok(Builder::new().create_with_backend(self.clone())?)
    }

    /// Opens the store on the disk, or creates one.
    pub(crate) fn open(&self) -> Result<Store> {
        Store::on(self.clone())
    }

    fn change<T>(&self, act: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        self.with(|state| {
            if state.panics && state.left == Some(0) {
                state.left = None;
                panic!("the disk is gone");
            }
            if let Some(left) = &mut state.left {
                *left = left.checked_sub(1).ok_or_else(|| io::Error::other("the disk is full"))?;
            }
            Ok(act(&mut state.bytes))
        })
    }
}

fn place(offset: u64, length: usize) -> std::ops::Range<usize> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    start..start.saturating_add(length)
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.with(|state| state.bytes.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|state| match state.bytes.get(place(offset, out.len())) {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        })
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.change(|bytes| bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.with(|state| state.syncs += 1);
        self.change(|_| ())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(|bytes| match bytes.get_mut(place(offset, data.len())) {
            Some(place) => {
                place.copy_from_slice(data);
                Ok(())
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        })?
    }
}
