//! Which process opened a store.

use std::path::PathBuf;

use super::engine_file::EngineFile;
use crate::error::{Result, StoreError};
use crate::process::Process;

/// The process that opened a store, and the store's path.
#[derive(Debug)]
pub(crate) struct Opener {
    process: Process,
    /// Empty for a store in memory.
    pub(super) path: PathBuf,
}

impl Opener {
    /// This process.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { process: Process::current(), path }
    }

    /// Whether this is the process that opened the store.
    pub(crate) fn is_here(&self) -> bool {
        self.process.is_current()
    }

    /// Fails in a process that was forked from it.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_here() {
            return Ok(());
        }
        EngineFile::let_go_of_inherited();
        let (path, process) = (self.path.clone(), self.process.id());
        Err(StoreError::Inherited { path, process }.into())
    }
}
