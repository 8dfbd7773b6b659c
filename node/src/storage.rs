//! The files of an agent in a store, by their paths.

use std::path::{Path, PathBuf};

use leafline::error::StorageError;
use leafline::storage::{
    ExpectedSize, SessionStorage as _, SessionStorageWriter as Writer, StoreSessionStorage,
    WriterOptions,
};
use napi::bindgen_prelude::{
    AsyncTask, Buffer, Either, Either3, Function, Null, ToNapiValue, TypeName, Undefined,
};
use napi_derive::napi;

use crate::objects::{natural, number};
use crate::store::Store;
use crate::work::{Dependents, Result, Shared, Work, failed, spawn, unexpected};

/// The size and the time of a file.
#[napi(object)]
pub struct FileStat {
    /// Bytes.
    pub size: i64,
    /// When it was written last, in milliseconds since 1970.
    pub modified: i64,
}

/// Why a file was not written: somebody else has written it.
#[napi(object)]
pub struct WriteConflict {
    /// The bytes that it has; null for no file.
    pub actual_size: Either<i64, Null>,
}

/// Text or bytes.
type Content = Either<String, Buffer>;

fn bytes_of(content: Content) -> Vec<u8> {
    match content {
        Either::A(text) => text.into_bytes(),
        Either::B(bytes) => bytes.to_vec(),
    }
}

/// A size, null or undefined: an option would take one for the other.
type Expected = Either3<i64, Null, Undefined>;

/// What a writer believes: undefined is nothing, null is no file.
fn expected(size: Expected) -> Result<ExpectedSize> {
    match size {
        Either3::C(()) => Ok(ExpectedSize::Any),
        Either3::B(_) => Ok(ExpectedSize::NoFile),
        Either3::A(size) => natural(size, "expectedSize").map(ExpectedSize::Bytes),
    }
}

fn write(
    storage: &StoreSessionStorage,
    path: &str,
    content: &[u8],
    expected: ExpectedSize,
) -> leafline::Result<Option<WriteConflict>> {
    match storage.write_if(Path::new(path), content, expected) {
        Ok(()) => Ok(None),
        Err(leafline::Error::Storage(StorageError::Conflict { actual, .. })) => {
            let actual_size = actual.map_or(Either::B(Null), |size| Either::A(number(size)));
            Ok(Some(WriteConflict { actual_size }))
        }
        Err(error) => Err(error),
    }
}

/// The files of an agent in a store: what it writes to a path it reads there, byte for byte, and a file that is a session is
/// one of the store. An error of a missing file has the code `FILE_NOT_FOUND`.
#[napi]
pub struct StoreStorage {
    storage: Shared<StoreSessionStorage>,
    dependents: Dependents,
}

impl StoreStorage {
    fn spawn<T: ToNapiValue + TypeName + Send + 'static>(
        &self,
        act: impl FnOnce(&StoreSessionStorage) -> leafline::Result<T> + Send + 'static,
    ) -> AsyncTask<Work<T>> {
        let storage = self.storage.clone();
        spawn(move || act(&storage.get()?).map_err(failed))
    }

    fn run<T>(&self, act: impl FnOnce(&StoreSessionStorage) -> leafline::Result<T>) -> Result<T> {
        act(&self.storage.get()?).map_err(failed)
    }
}

#[napi]
impl StoreStorage {
    /// The files of a store.
    #[napi(constructor)]
    pub fn new(store: &Store) -> Result<Self> {
        let storage = Shared::new(StoreSessionStorage::new(store.store.get()?));
        store.dependents.add(&storage);
        Ok(Self { storage, dependents: store.dependents.clone() })
    }

    /// The id of the session that a file is; null for a file that is no session.
    #[napi]
    pub fn session_id_sync(&self, path: String) -> Result<Option<String>> {
        self.run(|storage| storage.session_id(Path::new(&path)))
    }

    /// Fails if a file is in the place of the folder.
    #[napi]
    pub fn ensure_sync(&self, folder: String) -> Result<()> {
        self.run(|storage| storage.ensure(Path::new(&folder)))
    }

    /// Whether there is a file at a path.
    #[napi]
    pub fn exists_sync(&self, path: String) -> Result<bool> {
        self.run(|storage| storage.exists(Path::new(&path)))
    }

    /// All bytes of a file.
    #[napi]
    pub fn read_sync(&self, path: String) -> Result<Buffer> {
        self.run(|storage| storage.read(Path::new(&path))).map(Buffer::from)
    }

    /// All bytes of a file.
    #[napi(ts_return_type = "Promise<Buffer>")]
    pub fn read(&self, path: String) -> AsyncTask<Work<Buffer>> {
        self.spawn(move |storage| storage.read(Path::new(&path)).map(Buffer::from))
    }

    /// The first bytes of a file and its last. The rest is not read.
    #[napi(ts_return_type = "Promise<[Buffer, Buffer]>")]
    pub fn read_slices(
        &self,
        path: String,
        head: i64,
        tail: i64,
    ) -> Result<AsyncTask<Work<Vec<Buffer>>>> {
        let (head, tail) = (natural(head, "head")?, natural(tail, "tail")?);
        Ok(self.spawn(move |storage| {
            let (head, tail) = storage.read_slices(Path::new(&path), head, tail)?;
            Ok(vec![head.into(), tail.into()])
        }))
    }

    /// Writes a file as a whole. `expectedSize`: the bytes that it has, null if there is none, undefined for any. Returns null,
    /// or what it is instead; nothing is written then.
    #[napi(ts_args_type = "path: string, content: string | Buffer, expectedSize?: number | null")]
    pub fn write_sync(
        &self,
        path: String,
        content: Content,
        expected_size: Expected,
    ) -> Result<Option<WriteConflict>> {
        let expected = expected(expected_size)?;
        self.run(|storage| write(storage, &path, &bytes_of(content), expected))
    }

    /// Writes a file as a whole. `expectedSize`: the bytes that it has, null if there is none, undefined for any. Gives null,
    /// or what it is instead; nothing is written then.
    #[napi(
        ts_args_type = "path: string, content: string | Buffer, expectedSize?: number | null",
        ts_return_type = "Promise<WriteConflict | null>"
    )]
    pub fn write(
        &self,
        path: String,
        content: Content,
        expected_size: Expected,
    ) -> Result<AsyncTask<Work<Option<WriteConflict>>>> {
        let (expected, content) = (expected(expected_size)?, bytes_of(content));
        Ok(self.spawn(move |storage| write(storage, &path, &content, expected)))
    }

    /// Writes over the first bytes of a file.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn write_start(&self, path: String, start: Content) -> AsyncTask<Work<()>> {
        let start = bytes_of(start);
        self.spawn(move |storage| storage.write_start(Path::new(&path), &start))
    }

    /// The size and the time of a file.
    #[napi]
    pub fn stat_sync(&self, path: String) -> Result<FileStat> {
        let stat = self.run(|storage| storage.stat(Path::new(&path)))?;
        Ok(FileStat { size: number(stat.size), modified: stat.modified })
    }

    /// The paths of the files in a folder whose names match a pattern with `*` and `?`.
    #[napi]
    pub fn list_sync(&self, folder: String, pattern: String) -> Result<Vec<String>> {
        let paths = self.run(|storage| storage.list(Path::new(&folder), &pattern))?;
        Ok(paths.iter().map(|path: &PathBuf| path.to_string_lossy().into_owned()).collect())
    }

    /// Gives a file another path.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn rename(&self, path: String, to: String) -> AsyncTask<Work<()>> {
        self.spawn(move |storage| storage.rename(Path::new(&path), Path::new(&to)))
    }

    /// Deletes a file, and its session from the store.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn delete(&self, path: String) -> AsyncTask<Work<()>> {
        self.spawn(move |storage| storage.delete(Path::new(&path)))
    }

    /// Deletes all files in a folder and below it.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn delete_folder(&self, folder: String) -> AsyncTask<Work<()>> {
        self.spawn(move |storage| storage.delete_folder(Path::new(&folder)))
    }

    /// Deletes a file if `decide` says so of its bytes, which cannot change in between. Returns whether it did.
    #[napi(ts_args_type = "path: string, decide: (content: Buffer) => boolean")]
    pub fn delete_if_sync(&self, path: String, decide: Function<'_, Buffer, bool>) -> Result<bool> {
        let mut thrown = None;
        let deleted = self.run(|storage| {
            storage.delete_if(Path::new(&path), &mut |bytes| match decide.call(Buffer::from(bytes))
            {
                Ok(answer) => answer,
                Err(error) => {
                    thrown = Some(unexpected(error));
                    false
                }
            })
        });
        thrown.map_or(deleted, Err)
    }

    /// Opens a file to append lines, and makes it if there is none. `truncate`: what it has is removed.
    #[napi]
    pub fn open_writer_sync(&self, path: String, truncate: Option<bool>) -> Result<StorageWriter> {
        let mut options = WriterOptions::default();
        options.truncate = truncate.unwrap_or(false);
        let writer = self.run(|storage| storage.open_writer(Path::new(&path), options))?;
        let writer = Shared::new(writer);
        self.dependents.add(&writer);
        Ok(StorageWriter { writer })
    }
}

/// Appends lines to a file. The first error is kept: every later call fails with it.
#[napi]
pub struct StorageWriter {
    writer: Shared<Box<dyn Writer>>,
}

#[napi]
impl StorageWriter {
    /// Appends a line, or several. When this returns they are on disk.
    #[napi]
    pub fn write_line_sync(&self, line: Content) -> Result<()> {
        let line = bytes_of(line);
        self.writer.with(|writer| writer.write_line(&line))
    }

    /// Fails if a line could not be written.
    #[napi]
    pub fn flush_sync(&self) -> Result<()> {
        self.writer.with(|writer| writer.flush())
    }

    /// Closes the writer; fails if a line could not be written.
    #[napi]
    pub fn close_sync(&self) -> Result<()> {
        self.writer.with(|writer| writer.close())
    }
}
