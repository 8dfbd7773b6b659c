//! Files in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::writer::{Lines, Writer};
use super::{
    ExpectedSize, FileStat, SessionStorage, SessionStorageWriter, WriterOptions, absolute,
    absolute_file, not_found, pattern,
};
use crate::error::{Result, StorageError};
use crate::store::clock::now;

/// A storage that keeps nothing: for tests, and for sessions that need not be kept. Its clones have the same files.
#[derive(Debug, Clone, Default)]
pub struct MemorySessionStorage {
    files: Arc<Mutex<Files>>,
}

type Files = BTreeMap<PathBuf, MemoryFile>;

#[derive(Debug, Default)]
struct MemoryFile {
    bytes: Vec<u8>,
    modified: i64,
}

impl MemoryFile {
    /// Notes that it was written: later than before.
    fn touch(&mut self) {
        self.modified = now().max(self.modified.saturating_add(1));
    }
}

impl MemorySessionStorage {
    /// A storage without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fails if a new file cannot be at a path: there is a folder, or a file in the place of one above.
fn refuse_in_the_way(files: &Files, path: &Path) -> Result<()> {
    if files.contains_key(path) {
        return Ok(());
    }
    if let Some(above) = path.ancestors().skip(1).find(|above| files.contains_key(*above)) {
        return Err(StorageError::NotAFolder { path: above.to_owned() }.into());
    }
    match files.range(path.to_owned()..).next() {
        Some((below, _)) if below.starts_with(path) => {
            Err(StorageError::IsFolder { path: path.to_owned() }.into())
        }
        _ => Ok(()),
    }
}

impl SessionStorage for MemorySessionStorage {
    fn ensure(&self, folder: &Path) -> Result<()> {
        let (folder, files) = (absolute(folder)?, self.files());
        match folder.ancestors().find(|above| files.contains_key(*above)) {
            None => Ok(()),
            Some(above) => Err(StorageError::NotAFolder { path: above.to_owned() }.into()),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        Ok(self.files().contains_key(&absolute(path)?))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let files = self.files();
        let file = files.get(&absolute(path)?).ok_or_else(|| not_found(path))?;
        Ok(file.bytes.clone())
    }

    fn read_slices(&self, path: &Path, head: u64, tail: u64) -> Result<(Vec<u8>, Vec<u8>)> {
        let files = self.files();
        let bytes = &files.get(&absolute(path)?).ok_or_else(|| not_found(path))?.bytes;
        let most = |length: u64| usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
        let (first, _) = bytes.split_at(most(head));
        let (_, last) = bytes.split_at(bytes.len() - most(tail));
        Ok((first.to_vec(), last.to_vec()))
    }

    fn write_if(&self, path: &Path, content: &[u8], expected: ExpectedSize) -> Result<()> {
        let (path, mut files) = (absolute_file(path)?, self.files());
        refuse_in_the_way(&files, &path)?;
        expected.check(&path, files.get(&path).map(|file| file.bytes.len() as u64))?;
        let file = files.entry(path).or_default();
        file.bytes = content.to_vec();
        file.touch();
        Ok(())
    }

    fn write_start(&self, path: &Path, start: &[u8]) -> Result<()> {
        let mut files = self.files();
        let file = files.get_mut(&absolute(path)?).ok_or_else(|| not_found(path))?;
        let rest = file.bytes.get(start.len()..).unwrap_or_default();
        file.bytes = [start, rest].concat();
        file.touch();
        Ok(())
    }

    fn open_writer(
        &self,
        path: &Path,
        options: WriterOptions,
    ) -> Result<Box<dyn SessionStorageWriter>> {
        let file = absolute_file(path)?;
        if options.truncate || !self.exists(&file)? {
            self.write(&file, b"")?;
        }
        let lines = MemoryLines { storage: self.clone(), path: file };
        Ok(Box::new(Writer::new(path, lines, options)))
    }

    fn list(&self, folder: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
        let (folder, files) = (absolute(folder)?, self.files());
        let below = files.range(folder.clone()..).map(|(path, _)| path);
        let below = below.take_while(|path| path.starts_with(&folder));
        let named = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.parent() == Some(&*folder) && pattern::matches(&name, pattern)
        };
        Ok(below.filter(named).cloned().collect())
    }

    fn stat(&self, path: &Path) -> Result<FileStat> {
        let files = self.files();
        let file = files.get(&absolute(path)?).ok_or_else(|| not_found(path))?;
        Ok(FileStat { size: file.bytes.len() as u64, modified: file.modified })
    }

    fn rename(&self, path: &Path, to: &Path) -> Result<()> {
        let (from, to, mut files) = (absolute(path)?, absolute_file(to)?, self.files());
        if !files.contains_key(&from) {
            return Err(not_found(path));
        }
        refuse_in_the_way(&files, &to)?;
        if let Some(file) = files.remove(&from) {
            files.insert(to, file);
        }
        Ok(())
    }

    fn delete(&self, path: &Path) -> Result<()> {
        match self.files().remove(&absolute(path)?) {
            Some(_) => Ok(()),
            None => Err(not_found(path)),
        }
    }

    fn delete_if(&self, path: &Path, decide: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool> {
        let file = absolute(path)?;
        loop {
            let before = self.read(path)?;
            // It may use the storage itself.
            if !decide(&before) {
                return Ok(false);
            }
            let mut files = self.files();
            if files.get(&file).ok_or_else(|| not_found(path))?.bytes == before {
                files.remove(&file);
                return Ok(true);
            }
        }
    }

    fn delete_folder(&self, folder: &Path) -> Result<()> {
        let folder = absolute(folder)?;
        self.files().retain(|path, _| *path == folder || !path.starts_with(&folder));
        Ok(())
    }
}

/// Lines that are appended to a file in memory.
#[derive(Debug)]
struct MemoryLines {
    storage: MemorySessionStorage,
    path: PathBuf,
}

impl Lines for MemoryLines {
    fn append(&mut self, lines: &[u8]) -> Result<()> {
        let mut files = self.storage.files();
        refuse_in_the_way(&files, &self.path)?;
        let file = files.entry(self.path.clone()).or_default();
        file.bytes.extend_from_slice(lines);
        file.touch();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}
