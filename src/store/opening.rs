//! Opening a store's file.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use redb::{Builder, ConcurrencyMode, DatabaseError, ReadOnlyDatabase, StorageError};

use super::creation::{self, Standing};
use super::engine_file::{EngineFile, MAGIC, NoProgress, Recovery};
use super::later::{Later, Writable};
use super::pages::{Checked, HEADER, Pages, guarded, has_commit};
use super::writing::Engine;
use super::{Handle, StoreOptions};
use crate::error::{Corruption, Error, FileContext, Result, StoreError};
use crate::regular_file::beginning;

/// How often a file is recovered before it is read: each time another writer may leave it again.
const RECOVERIES: u32 = 5;

/// How often the file is opened until it is the one that has the name.
const LOOKS: u32 = 100;

/// An open store file.
pub(super) struct Opened {
    pub(super) handle: Handle,
    pub(super) file: EngineFile,
}

/// Opens the store at `path` with these options, and creates it first if they say so.
///
/// The engine opens a file to be written within a write transaction. Unless the caller waits for that, a store that others have open
/// to be written is only read at first: what is appended to a journal needs no transaction.
pub(super) fn open(path: &Path, options: &StoreOptions, waits: bool) -> Result<Opened> {
    if creation::standing(path)? == Standing::Nothing {
        if options.read_only || !options.create {
            let (path, is_empty) = (path.to_owned(), path.exists());
            return Err(Error::Store(StoreError::NotFound { path, is_empty }));
        }
        creation::make(path)?;
    }
    if options.read_only {
        return open_read_only(path, options);
    }
    if !waits && let Some(opened) = open_later(path, options) {
        return Ok(opened);
    }
    match open_writable(path, options) {
        Err(Error::File { source, .. }) if is_write_refusal(source.kind()) => {
            open_read_only(path, options)
        }
        opened => opened,
    }
}

/// Opens a store that others have open to be written: to be read, and [written later](Later). `None` if nobody has. What keeps the
/// store from being opened so is met again when it is opened to be written.
fn open_later(path: &Path, options: &StoreOptions) -> Option<Opened> {
    let open = || {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        EngineFile::new(file, Recovery::Needed)
    };
    if !open().is_ok_and(|file| file.is_open_to_write_elsewhere()) {
        return None;
    }
    let later = |reading, file: &EngineFile| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Handle::Later(Box::new(Later::new(reading, file.clone(), path, options.clone())))
    };
    try_read(path, options, open, later).ok()?.ok()
}

fn open_writable(path: &Path, options: &StoreOptions) -> Result<Opened> {
    let Writable { database, file } = write(path, options, || {
        named(path, || {
            let file = EngineFile::new(open_file(path)?, Recovery::Needed);
            file.map_err(|error| refine(error, path))
        })?
    })?;
    Ok(Opened { handle: Handle::Writable(database), file })
}

/// Opens a file that the engine writes.
fn write(
    path: &Path,
    options: &StoreOptions,
    open: impl Fn() -> Result<EngineFile>,
) -> Result<Writable> {
    open_checked(|is_strict| {
        let file = open()?;
        let checked = Checked::new(file.clone(), is_strict).at("reading the store", path)?;
        let pages = checked.pages();
        let open = || builder(options).create_with_backend(checked);
        let database = of_engine(path, open)?.map_err(|error| refine(error, path))?;
        Ok((Writable { database: Engine::new(database), file }, pages))
    })
}

/// Opens the store to read it. If a killed writer left it, it is recovered first, or, if it may not be written, read as
/// it was last committed.
fn open_read_only(path: &Path, options: &StoreOptions) -> Result<Opened> {
    for _ in 0..RECOVERIES {
        match try_read_only(path, options, Recovery::Needed)? {
            Err(DatabaseError::RepairAborted) => {}
            opened => return opened.map_err(|error| refine(error, path)),
        }
        match open_writable(path, options) {
            Ok(recovered) => drop(recovered),
            // What is damaged may be on pages that only a recovery reads.
            Err(Error::Corrupted(_)) => {
                return try_read_only(path, options, Recovery::Skipped)?
                    .map_err(|error| refine(error, path));
            }
            Err(Error::File { source, .. }) if is_write_refusal(source.kind()) => {
                return try_read_only(path, options, Recovery::Skipped)?
                    .map_err(|error| refine(error, path));
            }
            Err(error) => return Err(error),
        }
    }
    let opened = match try_read_only(path, options, Recovery::Needed)? {
        // No recovery comes to its end: what the last step of it would write meets a damaged page.
        Err(DatabaseError::RepairAborted) => try_read_only(path, options, Recovery::Skipped)?,
        opened => opened,
    };
    opened.map_err(|error| refine(error, path))
}

fn try_read_only(
    path: &Path,
    options: &StoreOptions,
    recovery: Recovery,
) -> Result<Result<Opened, DatabaseError>> {
    let open = || EngineFile::new(File::open(path)?, recovery);
    try_read(path, options, open, |database, _| Handle::ReadOnly(database))
}

/// Opens a file of which the engine writes nothing.
fn try_read(
    path: &Path,
    options: &StoreOptions,
    open: impl Fn() -> Result<EngineFile, DatabaseError>,
    handle: impl Fn(Engine<ReadOnlyDatabase>, &EngineFile) -> Handle,
) -> Result<Result<Opened, DatabaseError>> {
    let refused = |error| (Err(error), Arc::default());
    open_checked(|is_strict| {
        let file = match named(path, &open)? {
            Ok(file) => file,
            Err(error) => return Ok(refused(error)),
        };
        let checked = Checked::new(file.clone(), is_strict).at("reading the store", path)?;
        let pages = checked.pages();
        let open = || builder(options).open_read_only_with_backend(checked);
        Ok(match of_engine(path, open)? {
            Ok(database) => {
                let handle = handle(Engine::new(database), &file);
                (Ok(Opened { handle, file }), pages)
            }
            Err(error) => refused(error),
        })
    })
}

/// Opens a file once more, to be written; waits for the write transaction of another process.
pub(super) fn open_again(
    first: &EngineFile,
    path: &Path,
    options: &StoreOptions,
) -> Result<Writable> {
    write(path, options, || {
        let file = first.again(open_file(path)?).map_err(|error| refine(error, path))?;
        if !first.is_at(path) {
            let gone = "it was moved, deleted or replaced while it was open";
            let source = std::io::Error::new(ErrorKind::NotFound, gone);
            return Err(Error::File { action: "writing", path: path.to_owned(), source });
        }
        Ok(file)
    })
}

/// Opens the file that has the name. While it waited for who has the file alone, another may have taken its place.
fn named<E>(
    path: &Path,
    open: impl Fn() -> Result<EngineFile, E>,
) -> Result<Result<EngineFile, E>> {
    for _ in 0..LOOKS {
        match open() {
            Ok(file) if !file.is_at(path) => {}
            opened => return Ok(opened),
        }
    }
    let problem = "the path keeps changing to a different file; another program keeps replacing it, or its file system does not number files";
    Err(std::io::Error::other(problem)).at("opening the store", path)
}

/// Opens a file of which all pages are checked from then on.
///
/// While the engine looks which of the last commits is whole, in a file that a process left which had it alone, it may meet
/// pages that are not. If it did, the file is opened again: now it says which one counts.
fn open_checked<T>(open: impl Fn(bool) -> Result<(T, Arc<Pages>)>) -> Result<T> {
    let (opened, pages) = open(false)?;
    if pages.found() == 0 {
        pages.be_strict();
        return Ok(opened);
    }
    drop(opened);
    open(true).map(|(opened, _)| opened)
}

/// Calls the engine to open a file. Damage that it meets is an error.
fn of_engine<T>(path: &Path, open: impl FnOnce() -> T) -> Result<T> {
    guarded(open).map_err(|problem| problem.at("engine", path.display().to_string()).into())
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

/// Whether a file that the engine does not open is one of the engine's, and damaged: most of the magic number is there, and the
/// place of a commit with its checksum.
fn has_damaged_header(path: &Path) -> bool {
    let read = beginning(path, HEADER).ok().and_then(|header| header.try_into().ok());
    let Some(header): Option<[u8; HEADER]> = read else { return false };
    // The engine writes it last: where it is missing, the file was never one.
    let of_magic = header.iter().zip(MAGIC).filter(|(byte, wanted)| **byte == *wanted).count();
    2 * of_magic > MAGIC.len() && has_commit(&header)
}

fn is_write_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

pub(crate) fn refine(error: DatabaseError, path: &Path) -> Error {
    match error {
        DatabaseError::Storage(error) if NoProgress::of(&error).is_some() => {
            NoProgress::named(error, path)
        }
        DatabaseError::Storage(StorageError::Unsupported) => {
            no_locks(ErrorKind::Unsupported.into(), path)
        }
        // What the system refuses is not damage.
        DatabaseError::Storage(StorageError::Io(source)) if source.raw_os_error().is_some() => {
            if is_refusal_of_locks(&source) {
                no_locks(source, path)
            } else {
                Error::File { action: "opening the store", path: path.to_owned(), source }
            }
        }
        DatabaseError::Storage(StorageError::Io(_) | StorageError::Corrupted(_))
        | DatabaseError::UpgradeRequired(_)
            if has_damaged_header(path) =>
        {
            let place = format!("the header of {}", path.display());
            Error::Corrupted(Corruption { table: "engine", place, problem: error.to_string() })
        }
        DatabaseError::Storage(StorageError::Io(source))
            if source.kind() == ErrorKind::UnexpectedEof =>
        {
            let problem = "it ends within what a store begins with".to_owned();
            Error::Store(StoreError::NotAStore { path: path.to_owned(), problem })
        }
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

fn no_locks(source: std::io::Error, path: &Path) -> Error {
    Error::Store(StoreError::NoLocks { path: path.to_owned(), source })
}

/// Whether a lock was refused that nobody has: NFS without a lock daemon does so.
#[cfg(unix)]
fn is_refusal_of_locks(error: &std::io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::NOLCK)
}

#[cfg(not(unix))]
fn is_refusal_of_locks(_: &std::io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    /// NFS without a lock daemon was once told to be a damaged header.
    #[cfg(unix)]
    #[test]
    fn a_refusal_of_the_system_is_not_damage() {
        use rustix::io::Errno;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        drop(Store::open(&path).unwrap());
        let refusals = [
            Errno::NOLCK,
            Errno::NOSYS,
            Errno::OPNOTSUPP,
            Errno::INVAL,
            Errno::PERM,
            Errno::ACCESS,
            Errno::AGAIN,
            Errno::MFILE,
            Errno::NOMEM,
            Errno::IO,
        ];
        for errno in refusals {
            let source = std::io::Error::from(errno);
            let told = source.to_string();
            let error = refine(StorageError::Io(source).into(), &path);
            let is_refusal =
                matches!(error, Error::File { .. } | Error::Store(StoreError::NoLocks { .. }));
            let said = error.to_string();
            let names_both = said.contains(&told) && said.contains(&path.display().to_string());
            assert!(is_refusal && names_both, "{said}");
        }
        let error = refine(StorageError::Unsupported.into(), &path);
        assert!(matches!(error, Error::Store(StoreError::NoLocks { .. })), "{error}");
        assert_eq!(error.code(), "NO_LOCKS");
    }

    #[test]
    fn a_name_that_never_leads_to_the_file_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["store", "other"].map(|name| folder.path().join(name));
        drop([&path, &other].map(|path| Store::open(path).unwrap()));
        let open = || EngineFile::new(open_file(&other).unwrap(), Recovery::Needed);
        let error = named(&path, open).unwrap_err().to_string();
        assert!(error.contains("keeps changing") && error.contains("store"), "{error}");
        assert!(named(&other, open).unwrap().is_ok());
    }

    #[test]
    fn the_last_one_to_write_leaves_a_file_that_needs_no_recovery() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let needs_recovery = || std::fs::read(&path).unwrap()[9] & 2 != 0;
        let read = || {
            let options = StoreOptions { read_only: true, ..StoreOptions::default() };
            Store::open_with(&path, &options).unwrap()
        };
        drop(Store::open(&path).unwrap());
        assert!(!needs_recovery());
        let reader = read();
        for is_reversed in [false, true] {
            let mut writers = [Store::open(&path).unwrap(), Store::open(&path).unwrap()];
            if is_reversed {
                writers.reverse();
            }
            let [first, last] = writers;
            first.reserve_sessions(1).unwrap();
            drop(first);
            // As long as there is one who writes, it is as it has to be.
            drop(read());
            drop(last);
            // Who only reads cannot say it.
            assert!(!needs_recovery());
            drop(read());
        }
        drop(reader);
    }
}
