//! Creates a store: under a temporary name, complete and on disk before it gets its own name.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind};
use std::path::Path;
use std::time::Duration;

use redb::Database;
use tempfile::TempPath;

use super::engine_file::{EngineFile, MAGIC, Recovery};
use super::journal::JOURNAL_ENDING;
use super::names::is_named;
use super::opening::{builder, open_file, refine};
use super::{StoreOptions, format, journal, recorder, tables};
use crate::destination::{end_of_links, folder_of, with_ending};
use crate::error::{Error, FileContext, Result, StoreError};
use crate::lasting::{make_folders, sync_folder};
use crate::private::new_file;
use crate::regular_file::beginning;
use crate::rights::Rights;
use crate::store::pages::ReadableTable;
use crate::store::whole_lock::try_lock;
use crate::temporary::{Temporary, name_new, remove_left, replace};

/// How often, and after what delay, to check again a file in which another process is creating a store.
const PATIENCE: usize = 3_000;
const PAUSE: Duration = Duration::from_millis(10);

/// What exists at a store's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing, or an empty file.
    Nothing,
    /// A file, which may be a store.
    File,
}

/// Examines a store's path.
///
/// # Errors
///
/// [`StoreError::NotAStore`] for a folder, a device and the like.
pub(super) fn standing(path: &Path) -> Result<Standing> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Standing::Nothing),
        Err(error) => return Err(error).at("looking for", path),
    };
    if !metadata.is_file() {
        let problem = "it is not an ordinary file".to_owned();
        return Err(Error::Store(StoreError::NotAStore { path: path.to_owned(), problem }));
    }
    Ok(if metadata.len() == 0 { Standing::Nothing } else { Standing::File })
}

/// Creates a store at `path` if there is none. When this returns there is one; another process may have created it.
pub(super) fn make(path: &Path) -> Result<()> {
    let path = &end_of_links(path, |_| false).ok_or_else(|| {
        let problem = "it is a link that leads to itself".to_owned();
        Error::Store(StoreError::NotAStore { path: path.to_owned(), problem })
    })?;
    let folder = folder_of(path);
    make_folders(folder).at("making the folder", folder)?;
    remove_left(folder);
    for _ in 0..PATIENCE {
        let place = check_place(path);
        if standing(path)? == Standing::File {
            return Ok(());
        }
        place?;
        let leftover = match take_leftover(path)? {
            Leftover::None => None,
            Leftover::Taken(file) => Some(file),
            Leftover::Busy => {
                std::thread::sleep(PAUSE);
                continue;
            }
        };
        let temporary = Temporary::in_folder(folder).at("making the store beside", path)?;
        let made = new_store(&temporary, path)?;
        // The process that has the leftover's lock may overwrite it; if there is no leftover, the first process creates
        // the store.
        let named = match leftover {
            // Some file systems of Windows name nothing over a file that is open.
            Some(lock) if cfg!(windows) => {
                let removed = std::fs::remove_file(path);
                drop(lock);
                removed.and_then(|()| name(made, path))
            }
            Some(_) => replace(made, path),
            None => name(made, path),
        };
        match named {
            Ok(()) => {
                recorder::named(path);
                sync_folder(folder);
                return Ok(());
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
            Err(error) => return Err(error).at("naming", path),
        }
    }
    Err(Error::Store(StoreError::InUse { path: path.to_owned() }))
}

/// Creates a store at `path`, where none may be, in a folder that exists, and calls `fill` with its temporary path before it gets its name.
/// It gets the rights to the file that it is made from; where that cannot be, only this user can open it.
pub(super) fn make_filled(
    path: &Path,
    from: Option<&Path>,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    check_place(path)?;
    std::fs::metadata(folder_of(path)).at("looking at the folder", folder_of(path))?;
    let made = Unnamed::make_beside(path)?;
    fill(made.path())?;
    if let Some(from) = from {
        let rights = Rights::at(from).at("looking at", from)?;
        let _ = rights.lend(&open_file(made.path())?);
    }
    made.sync()?;
    name(made.file, path).at("naming", path)?;
    recorder::named(path);
    sync_folder(folder_of(path));
    Ok(())
}

/// Fails if a store at this path would be in the place of another one's journal, or beside a journal that may hold entries of a
/// store that is gone.
fn check_place(path: &Path) -> Result<()> {
    let store = path.with_extension("");
    if with_ending(&store, JOURNAL_ENDING) == path && is_store(&store) {
        return Err(StoreError::PlaceOfJournal { path: path.to_owned(), store }.into());
    }
    let journal = with_ending(path, JOURNAL_ENDING);
    let problem = match journal::is_closed(&journal) {
        Ok(true) => return Ok(()),
        Ok(false) => "the store that it belongs to is not there".to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => error.to_string(),
    };
    Err(StoreError::ForeignJournal { path: path.to_owned(), journal, problem }.into())
}

/// Whether a file begins as a store does.
fn is_store(path: &Path) -> bool {
    beginning(path, MAGIC.len()).is_ok_and(|beginning| beginning == MAGIC)
}

/// A store without sessions that has a temporary name, and is removed unless it gets another.
#[derive(Debug)]
pub(super) struct Unnamed {
    file: TempPath,
    /// Shows that somebody works on it.
    _temporary: Temporary,
}

impl Unnamed {
    /// Makes one in the folder of `path`.
    pub(super) fn make_beside(path: &Path) -> Result<Self> {
        let folder = folder_of(path);
        remove_left(folder);
        let temporary = Temporary::in_folder(folder).at("making the store beside", path)?;
        let file = new_store(&temporary, path)?;
        Ok(Self { file, _temporary: temporary })
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// Syncs its contents to the disk. Windows syncs only a file that is open for writing.
    pub(super) fn sync(&self) -> Result<()> {
        let file = File::options().write(true).open(&self.file);
        file.and_then(|file| sync(&file)).at("writing", &self.file)
    }

    /// Gives it the name of a file, which it replaces.
    pub(super) fn replace(self, path: &Path) -> Result<()> {
        replace(self.file, path).at("naming", path)?;
        recorder::named(path);
        sync_folder(folder_of(path));
        Ok(())
    }
}

/// Gives a store its name, unless something has it.
fn name(made: TempPath, path: &Path) -> std::io::Result<()> {
    name_new(made, path, |refused| name_in_place_of_empty(refused.path, path))
}

/// Gives a store its name where that may replace something: an empty file takes the name first, and the store replaces it.
fn name_in_place_of_empty(made: TempPath, path: &Path) -> std::io::Result<()> {
    new_file().write(true).create_new(true).open(path)?;
    match take_leftover(path) {
        Ok(Leftover::Taken(lock)) => replace(made, path).inspect_err(|_| {
            let _ = std::fs::remove_file(path);
            drop(lock);
        }),
        // Another process was faster, and has it now.
        Ok(Leftover::None | Leftover::Busy) => Err(ErrorKind::AlreadyExists.into()),
        // Without the lock it may be another's by now, and stays.
        Err(error) => Err(IoError::other(error)),
    }
}

/// What exists at the path of a store to be created.
enum Leftover {
    None,
    /// It is locked, so no other process can use it.
    Taken(File),
    /// Another process is using it.
    Busy,
}

fn take_leftover(path: &Path) -> Result<Leftover> {
    let file = match open_file(path) {
        Ok(file) => file,
        Err(Error::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Ok(Leftover::None);
        }
        Err(error) => return Err(error),
    };
    // Another process may have put a finished store here by now. It is not locked, since that would keep others from opening it.
    let is_empty = || Ok::<_, Error>(file.metadata().at("looking at", path)?.len() == 0);
    if !is_empty()? || !try_lock(&file).at("locking", path)? {
        return Ok(Leftover::Busy);
    }
    // The previous holder of the lock may have put a store in its place.
    let is_still_there = is_named(&file, path).at("looking at", path)?;
    Ok(if is_still_there && is_empty()? { Leftover::Taken(file) } else { Leftover::Busy })
}

/// A store without sessions, on disk, that does not have its name yet. The temporary file's lock shows that a process
/// is working on it: the locks on the store itself are the engine's.
fn new_store(temporary: &Temporary, path: &Path) -> Result<TempPath> {
    let made = temporary.database().at("making the store beside", path)?;
    let (file, made) = made.into_parts();
    let synced = file.try_clone().at("opening", &made)?;
    let database = EngineFile::new(file, Recovery::Needed)
        .and_then(|file| builder(&StoreOptions::default()).create_with_backend(file))
        .map_err(|error| refine(error, path))?;
    make_tables(&database, path)?;
    database.close().map_err(|error| refine(error, path))?;
    sync(&synced).at("writing", &made)?;
    Ok(made)
}

/// Puts a file on the disk.
fn sync(file: &File) -> std::io::Result<()> {
    let sync = recorder::begin_sync(file)?;
    file.sync_all()?;
    sync.done(file)
}

/// Creates the tables of a database that has none; does nothing to one with tables.
///
/// # Errors
///
/// [`StoreError::NotAStore`] for another program's database.
pub(super) fn make_tables(database: &Database, path: &Path) -> Result<()> {
    let transaction = database.begin_write()?;
    let foreign = transaction.list_tables()?.next().is_some();
    {
        let mut meta = transaction.open_table(tables::META)?;
        // Another process may have been faster.
        if meta.get(format::NAME)?.is_some() {
            return Ok(());
        }
        if foreign {
            return Err(Error::Store(StoreError::NotAStore {
                path: path.to_owned(),
                problem: "it is a redb database of something else".into(),
            }));
        }
        for (name, number) in format::rows() {
            meta.insert(name, number)?;
        }
        meta.insert("next_session", 1)?;
        meta.insert("store", uuid::Uuid::new_v4().as_u64_pair().1)?;
        transaction.open_table(tables::SESSIONS)?;
        transaction.open_table(tables::SESSION_IDS)?;
        transaction.open_table(tables::SESSION_TIMES)?;
        transaction.open_table(tables::SESSION_PARENTS)?;
        transaction.open_table(tables::ENTRIES)?;
        transaction.open_table(tables::CHILDREN)?;
        transaction.open_table(tables::LEAVES)?;
        transaction.open_table(tables::LINES)?;
        transaction.open_table(tables::LABELS)?;
        transaction.open_table(tables::SETTINGS)?;
        transaction.open_table(tables::POINTERS)?;
        transaction.open_table(tables::USAGE)?;
        transaction.open_table(tables::BLOBS)?;
        transaction.open_table(tables::BLOB_PARTS)?;
        transaction.open_table(tables::ORIGINALS)?;
        transaction.open_table(tables::SOURCES)?;
        transaction.open_table(tables::FILES)?;
        transaction.open_table(tables::FILE_PARTS)?;
        transaction.open_table(tables::SESSION_FILES)?;
        transaction.open_table(tables::REMOVED)?;
        transaction.open_table(tables::REMOVED_IDS)?;
        transaction.open_table(tables::SUMMARIES)?;
        transaction.open_table(tables::DICTIONARIES)?;
        transaction.open_table(tables::UNFINISHED)?;
        transaction.open_table(tables::UNFOLDED)?;
        journal::make_row(&transaction)?;
        transaction.open_table(tables::HISTORY)?;
        transaction.open_table(tables::HISTORY_TERMS)?;
        transaction.open_table(tables::HISTORY_BLOCKS)?;
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::store::failing_disk::Disk;

    /// What the engine does with what it had written of a new database when it was killed; docs/reliability.md has it under "The
    /// engine's own". If this fails, the engine has changed.
    #[test]
    fn the_engine_alone_does_not_open_what_it_was_making_when_it_was_killed() {
        let mut refusals = Vec::new();
        for writes in 0.. {
            let disk = Disk::default();
            disk.fail_after(writes);
            let is_made = disk.database().is_ok();
            let left = disk.copy();
            if let Err(error) = left.database() {
                refusals.push((left.length(), error.to_string()));
            }
            if is_made {
                break;
            }
        }
        println!("{refusals:?}");
        assert!(!refusals.is_empty());
    }

    #[test]
    fn makers_side_by_side_make_one_store() {
        for is_empty in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("new").join("store");
            if is_empty {
                std::fs::create_dir(folder.path().join("new")).unwrap();
                std::fs::write(&path, "").unwrap();
            }
            let numbers: Vec<u64> = std::thread::scope(|scope| {
                let makers: Vec<_> = (0..8)
                    .map(|_| scope.spawn(|| crate::Store::open(&path).unwrap().number().unwrap()))
                    .collect();
                makers.into_iter().map(|maker| maker.join().unwrap()).collect()
            });
            assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
            assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        }
    }

    #[test]
    fn what_killed_makers_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".leafline-tmp-0123456789abcdef", ".leafline-tmp-0123456789abcdef.db"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        crate::Store::open(folder.path().join("store")).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
