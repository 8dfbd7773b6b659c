//! Where an output goes: what a path given by the user leads to, and whether it may be written.

use std::fs::Metadata;
use std::io::{Error as IoError, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, ExportError, FileContext, Result};
use crate::regular_file::open_regular;
use crate::store::engine_file::MAGIC;

/// A longer chain of links is a loop for the system too.
const MOST_LINKS: usize = 40;

/// What a path leads to, links followed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A file, or a path where one can be made. It is not a link, so that a file can be renamed to it.
    File(PathBuf),
    /// A device, a pipe, or a file that a process has open and that is named by its descriptor: no other file can
    /// replace it.
    Stream,
}

impl Destination {
    /// Follows a path; refuses a folder, the store and any other redb database.
    pub(crate) fn of(path: &Path, store: &Path) -> Result<Self> {
        refuse_store(path, store)?;
        let is_stream = match look(path)? {
            Some(metadata) if metadata.is_dir() => return Err(folder(path)),
            None if ends_with_separator(path) => return Err(folder(path)),
            found => found.is_some_and(|metadata| !metadata.is_file()),
        };
        if is_stream { Ok(Self::Stream) } else { follow(path) }
    }

    /// The file; refuses anything else.
    #[cfg(feature = "omp-history")]
    pub(crate) fn file(self, path: &Path) -> Result<PathBuf> {
        match self {
            Self::File(place) => Ok(place),
            Self::Stream => Err(refused(path, ErrorKind::InvalidInput, "it is not a file")),
        }
    }
}

/// Refuses a path that leads to the store, by whatever name, or to another redb database. Only a regular file is
/// opened: a pipe would wait.
pub(crate) fn refuse_store(path: &Path, store: &Path) -> Result<()> {
    if !look(path)?.is_some_and(|metadata| metadata.is_file()) {
        return Ok(());
    }
    let is_in_use = !store.as_os_str().is_empty() && is_same_file(path, store);
    if is_in_use || is_database(path)? {
        return Err(Error::Export(ExportError::WouldReplaceStore {
            path: path.to_owned(),
            is_in_use,
        }));
    }
    Ok(())
}

/// Refuses an existing path that is not a folder.
pub(crate) fn refuse_no_folder(path: &Path) -> Result<()> {
    match look(path)? {
        Some(metadata) if !metadata.is_dir() => {
            Err(refused(path, ErrorKind::NotADirectory, "it is not a folder"))
        }
        _ => Ok(()),
    }
}

/// What the system says of a file, links followed; `None` if there is none.
fn look(path: &Path) -> Result<Option<Metadata>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        looked => looked.map(Some).at("looking at", path),
    }
}

fn follow(path: &Path) -> Result<Destination> {
    match end_of_links(path, is_descriptor) {
        Some(place) if is_descriptor(&place) => Ok(Destination::Stream),
        Some(place) => Ok(Destination::File(place)),
        None => {
            Err(refused(path, ErrorKind::InvalidInput, "it is a link that leads back to itself"))
        }
    }
}

/// The target of a link, even if it does not exist; any other path as it is. Stops early at a path that `is_end`.
/// `None` for links that lead back to themselves.
pub(crate) fn end_of_links(path: &Path, is_end: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if is_end(&place) {
            return Some(place);
        }
        match std::fs::read_link(&place) {
            // A relative target is relative to the link's folder.
            Ok(target) => place = folder_of(&place).join(target),
            // Not a link, or it does not exist.
            Err(_) => return Some(place),
        }
    }
    None
}

/// Whether a path names what a process has open: `/dev/fd/1`, or `/proc/self/fd/1`, to which `/dev/stdout` leads. There a
/// link is read as the name of a file, and is none.
fn is_descriptor(path: &Path) -> bool {
    let folder = folder_of(path).canonicalize();
    folder.is_ok_and(|folder| folder.starts_with("/proc") || folder.starts_with("/dev/fd"))
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether both paths lead to one file, by whatever name.
#[cfg(unix)]
pub(crate) fn is_same_file(path: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    matches!((of(path), of(other)), (Ok(one), Ok(other)) if one == other)
}

/// Other systems reveal a file's identity only once it is open; a hard link is recognised by its first bytes.
#[cfg(not(unix))]
pub(crate) fn is_same_file(path: &Path, other: &Path) -> bool {
    match (path.canonicalize(), other.canonicalize()) {
        (Ok(path), Ok(other)) => path == other,
        _ => false,
    }
}

/// Whether a regular file begins like a redb database. One that cannot be read might.
fn is_database(path: &Path) -> Result<bool> {
    let mut beginning = Vec::with_capacity(MAGIC.len());
    let file = open_regular(path).at("reading", path)?;
    file.take(MAGIC.len() as u64).read_to_end(&mut beginning).at("reading", path)?;
    Ok(beginning == MAGIC)
}

fn ends_with_separator(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|byte| std::path::is_separator(char::from(*byte)))
}

fn folder(path: &Path) -> Error {
    refused(path, ErrorKind::IsADirectory, "it is a folder; name a file")
}

fn refused(path: &Path, kind: ErrorKind, problem: &'static str) -> Error {
    let source = IoError::new(kind, problem);
    Error::File { action: "writing", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_recognised_by_their_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("database");
        let nowhere = Path::new("");
        drop(crate::Store::open(&database).unwrap());
        let refused = refuse_store(&database, nowhere).unwrap_err();
        assert!(
            matches!(
                refused,
                Error::Export(ExportError::WouldReplaceStore { is_in_use: false, .. })
            ),
            "{refused}"
        );
        let refused = refuse_store(&database, &database).unwrap_err();
        assert!(
            matches!(
                refused,
                Error::Export(ExportError::WouldReplaceStore { is_in_use: true, .. })
            ),
            "{refused}"
        );
        for bytes in [&b""[..], b"redb", &MAGIC[..8], b"{\"type\":\"session\"}"] {
            std::fs::write(&database, bytes).unwrap();
            assert!(refuse_store(&database, nowhere).is_ok());
        }
        assert!(refuse_store(&folder.path().join("none"), &database).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_their_end() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let leads_to = |name: &str| Destination::of(&at(name), &at("store"));
        std::fs::create_dir(at("inner")).unwrap();
        symlink("inner/second", at("first")).unwrap();
        symlink("../end", at("inner/second")).unwrap();
        for _ in 0..2 {
            let Destination::File(place) = leads_to("first").unwrap() else { panic!("a file") };
            assert_eq!(place, at("inner/../end"));
            std::fs::write(at("end"), "there").unwrap();
        }
        symlink("ring", at("ring")).unwrap();
        assert!(leads_to("ring").is_err());
        assert!(leads_to("inner").is_err());
        symlink("/dev/fd/1", at("output")).unwrap();
        assert_eq!(leads_to("output").unwrap(), Destination::Stream);
        assert_eq!(
            Destination::of(Path::new("/dev/null"), &at("store")).unwrap(),
            Destination::Stream
        );
    }
}
