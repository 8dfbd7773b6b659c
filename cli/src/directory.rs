//! Working directories as sessions keep them: absolute, and without `.`, `..`, doubled and trailing separators.

use std::path::{Path, PathBuf};

use leafline::error::SessionError;
use leafline::list::whole_directory;

use super::failure::Failure;

/// A directory as [`whole_directory`] makes it.
///
/// # Errors
///
/// If it is empty or not UTF-8, or is relative and the current directory is not known.
pub(super) fn whole(named: &Path) -> Result<String, Failure> {
    match text(named.to_owned())?.as_str() {
        "" => Err(leafline::Error::from(SessionError::EmptyDirectory).into()),
        named => Ok(whole_directory(named)?),
    }
}

/// The named directory, or the current one.
///
/// # Errors
///
/// Those of [`whole`].
pub(super) fn named_or_current(named: Option<&Path>) -> Result<String, Failure> {
    match named {
        Some(named) => whole(named),
        None => text(std::env::current_dir().map_err(Failure::NoCurrentDirectory)?),
    }
}

fn text(directory: PathBuf) -> Result<String, Failure> {
    let text = directory.into_os_string().into_string();
    text.map_err(|path| Failure::DirectoryNotText { path: path.into() })
}
