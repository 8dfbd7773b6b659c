//! Opening a store's file.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use redb::{Builder, ConcurrencyMode, DatabaseError, StorageError};

use super::creation::{self, Standing};
use super::engine_file::{EngineFile, Recovery};
use super::{Handle, StoreOptions};
use crate::error::{Error, FileContext, Result, StoreError};

/// An open store file.
pub(super) struct Opened {
    pub(super) handle: Handle,
    pub(super) file: EngineFile,
}

/// Opens the store at `path` with these options, and creates it first if they say so.
pub(super) fn open(path: &Path, options: &StoreOptions) -> Result<Opened> {
    if creation::standing(path)? == Standing::Nothing {
        if options.read_only || !options.create {
            return Err(Error::Store(StoreError::NotFound { path: path.to_owned() }));
        }
        creation::make(path)?;
    }
    if options.read_only {
        return open_read_only(path, options);
    }
    match open_writable(path, options) {
        Err(Error::File { source, .. }) if is_write_refusal(source.kind()) => {
            open_read_only(path, options)
        }
        opened => opened,
    }
}

fn open_writable(path: &Path, options: &StoreOptions) -> Result<Opened> {
    let file = open_file(path)?;
    let file = EngineFile::new(file, Recovery::Needed).map_err(|error| refine(error, path))?;
    let database =
        builder(options).create_with_backend(file.clone()).map_err(|error| refine(error, path))?;
    Ok(Opened { handle: Handle::Writable(database), file })
}

/// Opens the store to read it. If a killed writer left it, it is recovered first, or, if it may not be written, read as
/// it was last committed.
fn open_read_only(path: &Path, options: &StoreOptions) -> Result<Opened> {
    match try_read_only(path, options, Recovery::Needed) {
        Err(DatabaseError::RepairAborted) => {}
        opened => return opened.map_err(|error| refine(error, path)),
    }
    match open_writable(path, options) {
        Ok(recovered) => drop(recovered),
        Err(Error::File { source, .. }) if is_write_refusal(source.kind()) => {
            return try_read_only(path, options, Recovery::Skipped)
                .map_err(|error| refine(error, path));
        }
        Err(error) => return Err(error),
    }
    try_read_only(path, options, Recovery::Needed).map_err(|error| refine(error, path))
}

fn try_read_only(
    path: &Path,
    options: &StoreOptions,
    recovery: Recovery,
) -> Result<Opened, DatabaseError> {
    let file = EngineFile::new(File::open(path)?, recovery)?;
    let database = builder(options).open_read_only_with_backend(file.clone())?;
    Ok(Opened { handle: Handle::ReadOnly(database), file })
}

/// The engine as every process opens it.
pub(super) fn builder(options: &StoreOptions) -> Builder {
    let mut builder = Builder::new();
    builder
        .set_concurrency_mode(ConcurrencyMode::MultiWriter)
        .set_cache_size(options.page_cache_bytes);
    builder
}

/// Opens a file to read and write it.
pub(super) fn open_file(path: &Path) -> Result<File> {
    OpenOptions::new().read(true).write(true).open(path).at("opening the store", path)
}

fn is_write_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

pub(super) fn refine(error: DatabaseError, path: &Path) -> Error {
    match error {
        DatabaseError::Storage(StorageError::Io(source))
            if source.kind() != ErrorKind::InvalidData =>
        {
            Error::File { action: "opening the store", path: path.to_owned(), source }
        }
        DatabaseError::DatabaseAlreadyOpen => {
            Error::Store(StoreError::InUse { path: path.to_owned() })
        }
        DatabaseError::Storage(StorageError::Io(_) | StorageError::Corrupted(_))
        | DatabaseError::UpgradeRequired(_) => Error::Store(StoreError::NotAStore {
            path: path.to_owned(),
            problem: format!("redb cannot read it ({error})"),
        }),
        other => other.into(),
    }
}
