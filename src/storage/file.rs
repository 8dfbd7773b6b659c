//! Files in the file system.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::writer::{Lines, Writer};
use super::{
    ExpectedSize, FileStat, SessionStorage, SessionStorageWriter, WriterOptions, absolute,
    absolute_file, not_found, pattern,
};
use crate::catalog::file_time::nanoseconds;
use crate::error::{Error, FileContext, Result, StorageError};
use crate::lasting::sync_folder;
use crate::temporary::replace;

/// The files that a program would have without a storage.
///
/// Those who write one file take turns: the file `.<name>.lock` beside it has their lock, and stays. A file that is written as
/// a whole comes under a temporary name, and is renamed once it is on the disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSessionStorage {}

impl FileSessionStorage {
    /// The files of the file system.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// A file's size; `None` if there is none.
fn size_of(path: &Path) -> Result<Option<u64>> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error).at("looking at", path),
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The error of a file that may not be there, or of a folder in its place.
fn failed(action: &'static str, path: &Path, error: std::io::Error) -> Error {
    if is_missing(&error) || path.is_dir() {
        return not_found(path);
    }
    Error::File { action, path: path.to_owned(), source: error }
}

/// Makes the folder of a new file.
fn make_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(StorageError::IsFolder { path: path.to_owned() }.into());
    }
    let Some(folder) = path.parent() else { return Ok(()) };
    FileSessionStorage::new().ensure(folder)
}

/// Holds a file's lock until it is dropped.
struct Turn {
    _lock: File,
}

impl Turn {
    /// Waits for the turn to write a file.
    fn of(path: &Path) -> Result<Self> {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".lock");
        let place = path.with_file_name(name);
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(&place);
        let file = file.at("opening", &place)?;
        file.lock().at("locking", &place)?;
        Ok(Self { _lock: file })
    }
}

impl SessionStorage for FileSessionStorage {
    fn ensure(&self, folder: &Path) -> Result<()> {
        let folder = absolute(folder)?;
        if let Some(file) = folder.ancestors().find(|above| above.is_file()) {
            return Err(StorageError::NotAFolder { path: file.to_owned() }.into());
        }
        std::fs::create_dir_all(&folder).at("making the folder", &folder)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        Ok(absolute(path)?.is_file())
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let file = absolute(path)?;
        std::fs::read(&file).map_err(|error| failed("reading", path, error))
    }

    fn read_slices(&self, path: &Path, head: u64, tail: u64) -> Result<(Vec<u8>, Vec<u8>)> {
        let read = || -> std::io::Result<(Vec<u8>, Vec<u8>)> {
            let mut file = File::open(absolute(path).map_err(std::io::Error::other)?)?;
            let (mut first, mut last) = (Vec::new(), Vec::new());
            (&mut file).take(head).read_to_end(&mut first)?;
            let size = file.metadata()?.len();
            file.seek(SeekFrom::Start(size.saturating_sub(tail)))?;
            (&mut file).take(tail.min(size)).read_to_end(&mut last)?;
            Ok((first, last))
        };
        read().map_err(|error| failed("reading", path, error))
    }

    fn write_if(&self, path: &Path, content: &[u8], expected: ExpectedSize) -> Result<()> {
        let file = absolute_file(path)?;
        make_folder(&file)?;
        let folder = file.parent().unwrap_or(&file);
        let mut name = std::ffi::OsString::from(".");
        name.push(file.file_name().unwrap_or_default());
        let temporary = tempfile::Builder::new().prefix(&name).suffix(".tmp").tempfile_in(folder);
        let mut temporary = temporary.at("making a file in", folder)?;
        temporary.write_all(content).at("writing", path)?;
        temporary.as_file().sync_all().at("writing", path)?;
        let turn = Turn::of(&file)?;
        expected.check(path, size_of(&file)?)?;
        replace(temporary.into_temp_path(), &file).at("naming", path)?;
        drop(turn);
        sync_folder(folder);
        Ok(())
    }

    fn write_start(&self, path: &Path, start: &[u8]) -> Result<()> {
        let file = absolute_file(path)?;
        if !file.is_file() {
            return Err(not_found(path));
        }
        let _turn = Turn::of(&file)?;
        let opened = OpenOptions::new().write(true).open(&file);
        let mut opened = opened.map_err(|error| failed("opening", path, error))?;
        opened.write_all(start).at("writing", path)
    }

    fn open_writer(
        &self,
        path: &Path,
        options: WriterOptions,
    ) -> Result<Box<dyn SessionStorageWriter>> {
        let file = absolute_file(path)?;
        make_folder(&file)?;
        if options.truncate {
            self.write(&file, b"")?;
        }
        let opened = append_to(&file)?;
        let lines = FileLines { path: file, file: opened };
        Ok(Box::new(Writer::new(path, lines, options)))
    }

    fn list(&self, folder: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
        let folder = absolute(folder)?;
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error).at("listing", &folder),
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.at("listing", &folder)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if pattern::matches(&name, pattern) && path.is_file() {
                paths.push(path);
            }
        }
        paths.sort_unstable();
        Ok(paths)
    }

    fn stat(&self, path: &Path) -> Result<FileStat> {
        let file = absolute(path)?;
        let metadata = std::fs::metadata(&file).map_err(|error| failed("reading", path, error))?;
        if metadata.is_dir() {
            return Err(not_found(path));
        }
        let modified = metadata.modified().at("reading the time of", path)?;
        let modified = i64::try_from(nanoseconds(modified) / 1_000_000).unwrap_or(i64::MAX);
        Ok(FileStat { size: metadata.len(), modified })
    }

    fn rename(&self, path: &Path, to: &Path) -> Result<()> {
        let (from, to) = (absolute(path)?, absolute_file(to)?);
        if !from.is_file() {
            return Err(not_found(path));
        }
        make_folder(&to)?;
        // In one order, whoever renames.
        let (first, second) = if from <= to { (&from, &to) } else { (&to, &from) };
        let _first = Turn::of(first)?;
        let _second = if first == second { None } else { Some(Turn::of(second)?) };
        std::fs::rename(&from, &to).map_err(|error| failed("renaming", path, error))
    }

    fn delete(&self, path: &Path) -> Result<()> {
        let file = absolute(path)?;
        if !file.is_file() {
            return Err(not_found(path));
        }
        let _turn = Turn::of(&file)?;
        std::fs::remove_file(&file).map_err(|error| failed("deleting", path, error))
    }

    fn delete_if(&self, path: &Path, decide: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool> {
        let file = absolute(path)?;
        loop {
            let before = self.read(path)?;
            // It may use the storage itself.
            if !decide(&before) {
                return Ok(false);
            }
            let _turn = Turn::of(&file)?;
            if self.read(path)? == before {
                std::fs::remove_file(&file).map_err(|error| failed("deleting", path, error))?;
                return Ok(true);
            }
        }
    }

    fn delete_folder(&self, folder: &Path) -> Result<()> {
        let folder = absolute(folder)?;
        if !folder.is_dir() {
            return Ok(());
        }
        std::fs::remove_dir_all(&folder).at("deleting", &folder)
    }
}

/// Opens a file to append to it.
fn append_to(path: &Path) -> Result<File> {
    OpenOptions::new().append(true).create(true).open(path).at("opening", path)
}

/// Lines that are appended to a file.
#[derive(Debug)]
struct FileLines {
    path: PathBuf,
    file: File,
}

impl FileLines {
    /// Opens the file again if another one is at its path by now, where the lines belong.
    fn follow(&mut self) -> Result<()> {
        if is_at(&self.file, &self.path).at("looking at", &self.path)? {
            return Ok(());
        }
        make_folder(&self.path)?;
        self.file = append_to(&self.path)?;
        Ok(())
    }
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((open.dev(), open.ino()) == (there.dev(), there.ino())),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// On other systems the path is always opened again.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(false)
}

impl Lines for FileLines {
    fn append(&mut self, lines: &[u8]) -> Result<()> {
        make_folder(&self.path)?;
        let _turn = Turn::of(&self.path)?;
        self.follow()?;
        let length = self.file.metadata().at("looking at", &self.path)?.len();
        let Err(error) = self.file.write_all(lines) else { return Ok(()) };
        // A part of a line would be joined to the next one.
        self.file.set_len(length).at("taking back a part of a line in", &self.path)?;
        Err(error).at("writing", &self.path)
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync_data().at("writing", &self.path)
    }
}
