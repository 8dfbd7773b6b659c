//! Writers that append lines.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result, StorageError};

/// Appends lines to a file (omp session storage document, `SessionStorageWriter`).
///
/// The first error is kept: from then on the writer takes no line, and every call returns [`StorageError::Writer`] with it.
pub trait SessionStorageWriter: Send + std::fmt::Debug {
    /// Appends a line, or several. A line feed is added if there is none at the end. When this returns, everybody sees the
    /// line; see [`Self::fsync`] for what survives a loss of power.
    ///
    /// # Errors
    ///
    /// [`StorageError::Writer`], [`StorageError::Closed`].
    fn write_line(&mut self, line: &[u8]) -> Result<()>;

    /// Fails if a line could not be written. There is nothing to write: no line is held back.
    ///
    /// # Errors
    ///
    /// [`StorageError::Writer`].
    fn flush(&mut self) -> Result<()>;

    /// Returns when all lines are on the disk. In a store they are when [`Self::write_line`] returns.
    ///
    /// # Errors
    ///
    /// [`StorageError::Writer`], [`StorageError::Closed`].
    fn fsync(&mut self) -> Result<()>;

    /// Closes the writer. The first time it fails if a line could not be written.
    ///
    /// # Errors
    ///
    /// [`StorageError::Writer`].
    fn close(&mut self) -> Result<()>;

    /// Whether it takes lines: it was not closed.
    fn is_open(&self) -> bool;

    /// The first error.
    fn get_error(&self) -> Option<Arc<Error>>;
}

/// What is called with a writer's first error.
pub(super) type OnError = Box<dyn FnMut(&Error) + Send>;

/// How a writer is opened.
#[derive(Default)]
#[non_exhaustive]
pub struct WriterOptions {
    /// Whether what the file has is removed. Default: no.
    pub truncate: bool,
    /// Is called once, with the first error: the place to log it (omp session storage document, persistence).
    pub on_error: Option<OnError>,
}

impl std::fmt::Debug for WriterOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WriterOptions").field("truncate", &self.truncate).finish()
    }
}

/// Where a writer's lines go.
pub(super) trait Lines: Send + std::fmt::Debug {
    /// Appends whole lines.
    fn append(&mut self, lines: &[u8]) -> Result<()>;

    /// Returns when they are on the disk.
    fn sync(&mut self) -> Result<()>;
}

/// A writer of any storage: what they share is that the first error is kept.
pub(super) struct Writer<L> {
    path: PathBuf,
    lines: Option<L>,
    first: Option<Arc<Error>>,
    on_error: Option<OnError>,
}

impl<L: std::fmt::Debug> std::fmt::Debug for Writer<L> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut writer = formatter.debug_struct("Writer");
        writer.field("path", &self.path).field("lines", &self.lines).finish()
    }
}

impl<L: Lines> Writer<L> {
    pub(super) fn new(path: &Path, lines: L, options: WriterOptions) -> Self {
        let on_error = options.on_error;
        Self { path: path.to_owned(), lines: Some(lines), first: None, on_error }
    }

    /// Fails with the first error, if there was one.
    fn check(&self) -> Result<()> {
        match &self.first {
            None => Ok(()),
            Some(first) => {
                let (path, source) = (self.path.clone(), Arc::clone(first));
                Err(StorageError::Writer { path, source }.into())
            }
        }
    }

    fn run(&mut self, step: impl FnOnce(&mut L) -> Result<()>) -> Result<()> {
        let Some(lines) = &mut self.lines else {
            return Err(StorageError::Closed { path: self.path.clone() }.into());
        };
        if self.first.is_none()
            && let Err(error) = step(lines)
        {
            if let Some(on_error) = &mut self.on_error {
                on_error(&error);
            }
            self.first = Some(Arc::new(error));
        }
        self.check()
    }
}

impl<L: Lines> SessionStorageWriter for Writer<L> {
    fn write_line(&mut self, line: &[u8]) -> Result<()> {
        let line = if line.ends_with(b"\n") {
            Cow::Borrowed(line)
        } else {
            Cow::Owned([line, b"\n"].concat())
        };
        self.run(|lines| lines.append(&line))
    }

    fn flush(&mut self) -> Result<()> {
        self.check()
    }

    fn fsync(&mut self) -> Result<()> {
        self.run(Lines::sync)
    }

    fn close(&mut self) -> Result<()> {
        match self.lines.take() {
            Some(_) => self.check(),
            None => Ok(()),
        }
    }

    fn is_open(&self) -> bool {
        self.lines.is_some()
    }

    fn get_error(&self) -> Option<Arc<Error>> {
        self.first.clone()
    }
}
