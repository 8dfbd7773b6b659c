//! Where an output goes: what a path given by the user leads to, and whether it may be written.

use std::fs::Metadata;
use std::io::{Error as IoError, ErrorKind};
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, ExportError, FileContext, Result, StoreFile};
use crate::regular_file;
use crate::store::engine_file::MAGIC;
use crate::store::exposure::{
    JOURNAL_ENDING, REDACTION_KEY_ENDING, SEARCH_ENDING, SEARCH_MARK, TERMINALS_ENDING,
};
use crate::store::journal::JOURNAL_MAGIC;

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

/// A path that means the same when the process has changed its directory; as it is where that directory cannot be told.
pub(crate) fn absolute_or_given(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Refuses a path that leads to a store or to a file or folder that belongs to one, whether it exists or not.
pub(crate) fn refuse_store(path: &Path, store: &Path) -> Result<()> {
    refused_if(path, store_file(path, store)?)
}

/// Refuses an existing file that is a store or belongs to one, for files in a folder that [`refuse_store`] has let pass.
pub(crate) fn refuse_store_file(path: &Path, store: &Path) -> Result<()> {
    refused_if(path, existing_store_file(path, store)?)
}

fn refused_if(path: &Path, file: Option<StoreFile>) -> Result<()> {
    match file {
        Some(file) => {
            Err(Error::Export(ExportError::WouldReplaceStore { path: path.to_owned(), file }))
        }
        None => Ok(()),
    }
}

/// The part of a store that a path leads to. `store` is the one in use, or an empty path.
pub(crate) fn store_file(path: &Path, store: &Path) -> Result<Option<StoreFile>> {
    let existing = existing_store_file(path, store)?;
    if existing == Some(StoreFile::InUse) {
        return Ok(existing);
    }
    // A store in a place that belongs to another one would be in that one's way.
    Ok(place_of_store(&real_path(path), store).or(existing))
}

/// The same by the file's identity and its first bytes. Only a regular file is opened: a pipe would wait.
fn existing_store_file(path: &Path, store: &Path) -> Result<Option<StoreFile>> {
    if !look(path)?.is_some_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    if is_own(path, store, "") {
        return Ok(Some(StoreFile::InUse));
    }
    if is_own(path, store, REDACTION_KEY_ENDING) {
        return Ok(Some(StoreFile::RedactionKey));
    }
    // The journal has the name of the store itself, whatever link leads there.
    let is_journal = store.canonicalize().is_ok_and(|store| is_own(path, &store, JOURNAL_ENDING));
    let beginning = beginning(path)?;
    Ok(if is_journal || beginning == JOURNAL_MAGIC {
        Some(StoreFile::Journal)
    } else {
        beginning.starts_with(&MAGIC).then_some(StoreFile::Database)
    })
}

/// The part of a store in whose place a path is: by the names that a store gives to what belongs to it, by the mark of a search
/// folder, and by the identity of the folders of the store in use, to which links may lead.
fn place_of_store(path: &Path, store: &Path) -> Option<StoreFile> {
    let is_store = |path: &Path| {
        is_own(path, store, "")
            || beginning(path).is_ok_and(|beginning| beginning.starts_with(&MAGIC))
    };
    let is_beside_store = |part: &Path, ending: &str| {
        let has_ending =
            part.extension().is_some_and(|own| ending.strip_prefix('.') == own.to_str());
        has_ending && is_store(&part.with_extension(""))
    };
    path.ancestors().find_map(|part| {
        let is = |ending| is_own(part, store, ending) || is_beside_store(part, ending);
        if is(SEARCH_ENDING) || part.join(SEARCH_MARK).is_file() {
            Some(StoreFile::SearchFolder)
        } else if is(TERMINALS_ENDING) {
            Some(StoreFile::TerminalsFolder)
        } else if is(JOURNAL_ENDING) {
            Some(StoreFile::Journal)
        } else {
            is(REDACTION_KEY_ENDING).then_some(StoreFile::RedactionKey)
        }
    })
}

/// Whether a path leads to what the store in use has under its name with an ending.
fn is_own(path: &Path, store: &Path, ending: &str) -> bool {
    !store.as_os_str().is_empty() && is_same_file(path, &with_ending(store, ending))
}

/// The path that links lead to; of what does not exist, its place in the folders that do.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let Some(end) = end_of_links(path, |_| false).and_then(|end| std::path::absolute(end).ok())
    else {
        return path.to_owned();
    };
    for above in end.ancestors() {
        if let (Ok(mut real), Ok(rest)) = (above.canonicalize(), end.strip_prefix(above)) {
            for part in rest.components() {
                match part {
                    Component::ParentDir => drop(real.pop()),
                    other => real.push(other),
                }
            }
            return real;
        }
    }
    end
}

/// A path from the root, without `.`, `..`, doubled and trailing separators. It need not exist, so `..` is resolved by its words
/// alone.
pub(crate) fn plain_path(path: &Path) -> std::io::Result<PathBuf> {
    let mut plain = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::CurDir => {}
            // The root is its own parent.
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    Ok(plain)
}

/// A path with an ending.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
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

/// The first bytes of a regular file. One that cannot be read might be a store.
fn beginning(path: &Path) -> Result<Vec<u8>> {
    regular_file::beginning(path, JOURNAL_MAGIC.len()).at("reading", path)
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
    fn databases_and_journals_are_recognised_by_their_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let nowhere = Path::new("");
        drop(crate::Store::open(at("database")).unwrap());
        let found = |name: &str, store: &Path| store_file(&at(name), store).unwrap();
        assert_eq!(found("database", nowhere), Some(StoreFile::Database));
        assert_eq!(found("database", &at("database")), Some(StoreFile::InUse));
        std::fs::write(at("other"), [&JOURNAL_MAGIC[..], b"rest"].concat()).unwrap();
        assert_eq!(found("other", nowhere), Some(StoreFile::Journal));
        for bytes in
            [&b""[..], b"redb", &MAGIC[..8], &JOURNAL_MAGIC[..15], b"{\"type\":\"session\"}"]
        {
            std::fs::write(at("other"), bytes).unwrap();
            assert_eq!(found("other", nowhere), None);
        }
        assert_eq!(found("none", &at("database")), None);
    }

    #[test]
    fn the_places_of_what_belongs_to_a_store_are_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        drop(crate::Store::open(at("store")).unwrap());
        std::fs::create_dir_all(at("moved.search/inner")).unwrap();
        std::fs::write(at("moved.search/.leafline-search"), "").unwrap();
        let found = |name: &str| store_file(&at(name), Path::new("")).unwrap();
        for (name, file) in [
            ("store.journal", StoreFile::Journal),
            ("store.redaction-key", StoreFile::RedactionKey),
            ("store.search", StoreFile::SearchFolder),
            ("store.search/none/x.jsonl", StoreFile::SearchFolder),
            ("moved.search/inner/meta.json", StoreFile::SearchFolder),
            ("store.terminals/tty", StoreFile::TerminalsFolder),
            ("inner/../store.terminals/tty", StoreFile::TerminalsFolder),
        ] {
            assert_eq!(found(name), Some(file), "{name}");
        }
        for name in
            ["other.journal", "store.jsonl", "store.journal.txt", "journal", "other.search/x"]
        {
            assert_eq!(found(name), None, "{name}");
        }
        // A store whose first bytes are lost is known to the command that works on it.
        std::fs::write(at("store"), "damaged").unwrap();
        assert_eq!(found("store.journal"), None);
        let found = store_file(&at("store.journal"), &at("store")).unwrap();
        assert_eq!(found, Some(StoreFile::Journal));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_what_belongs_to_a_store_are_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        drop(crate::Store::open(at("store")).unwrap());
        symlink("store", at("link")).unwrap();
        symlink("store.journal", at("to-journal")).unwrap();
        std::fs::create_dir(at("elsewhere")).unwrap();
        symlink("elsewhere", at("link.terminals")).unwrap();
        std::fs::write(at("link.redaction-key"), "key").unwrap();
        std::fs::hard_link(at("link.redaction-key"), at("hard")).unwrap();
        let found = |name: &str| store_file(&at(name), &at("link")).unwrap();
        assert_eq!(found("to-journal"), Some(StoreFile::Journal));
        assert_eq!(found("elsewhere/tty"), Some(StoreFile::TerminalsFolder));
        assert_eq!(found("hard"), Some(StoreFile::RedactionKey));
        std::fs::write(at("store.journal"), "damaged").unwrap();
        std::fs::hard_link(at("store.journal"), at("hard-journal")).unwrap();
        assert_eq!(found("hard-journal"), Some(StoreFile::Journal));
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
