//! `session_index.jsonl`: the names that users gave their sessions.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::lines;
use crate::scan::Raw;
use crate::text::decode;
use crate::time::parse_timestamp;

/// What the file is called.
pub(super) const INDEX_FILE: &str = "session_index.jsonl";

/// How many bytes are read from the end of an index: the names of some hundred thousand sessions.
const MOST_BYTES: u64 = 16 << 20;

/// A line of `session_index.jsonl`, beside the folder `sessions`. The rollouts themselves do not contain the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName {
    /// The session.
    pub id: String,
    /// Its name from this line on. A fork gets its session's name.
    pub name: String,
    /// When the name was given, in milliseconds since 1970.
    pub updated_ms: Option<i64>,
}

impl SessionName {
    /// Parses a line; `None` if it is not of this form. Of several lines with one id, the last counts.
    ///
    /// ```
    /// use leafline_import::codex::SessionName;
    ///
    /// let line = br#"{"id":"0199f2b4","thread_name":"Tide clock","updated_at":"2026-11-20T10:00:00.921854306Z"}"#;
    /// assert_eq!(SessionName::of(line).map(|found| found.name).as_deref(), Some("Tide clock"));
    /// ```
    #[must_use]
    pub fn of(line: &[u8]) -> Option<Self> {
        let text = decode(line);
        let record = Raw::parse(&text).ok()?;
        let [id, name, updated] = record.members(["id", "thread_name", "updated_at"]);
        Some(Self {
            id: id?.to_string_lossy()?.into_owned(),
            name: name?.to_string_lossy()?.into_owned(),
            updated_ms: updated.and_then(Raw::to_string_lossy).and_then(|at| parse_timestamp(&at)),
        })
    }
}

/// A session's name in an index; `None` if it has none, or if the index cannot be read.
///
/// The last index is cached, as an import asks for a name for each file; it is read again when its size or modification
/// time changes.
pub(super) fn name_in(index: &Path, session: &str) -> Option<String> {
    static LAST: Mutex<Option<Index>> = Mutex::new(None);
    // Opening anything but a file could block forever.
    let metadata = std::fs::metadata(index).ok().filter(Metadata::is_file)?;
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let known = last.take().filter(|known| known.is_of(index, &metadata));
    let index = last.insert(match known {
        Some(known) => known,
        None => Index::read(index, &metadata)?,
    });
    index.names.get(session).map(|name| name.clone().into())
}

/// The names of an index.
struct Index {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
    /// By session.
    names: HashMap<Box<str>, Box<str>>,
}

impl Index {
    fn is_of(&self, path: &Path, metadata: &Metadata) -> bool {
        (&*self.path, self.bytes, self.modified) == (path, metadata.len(), metadata.modified().ok())
    }

    fn read(path: &Path, metadata: &Metadata) -> Option<Self> {
        let bytes = metadata.len();
        let mut file = File::open(path).ok()?;
        let start = bytes.saturating_sub(MOST_BYTES);
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut text = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
        // If it does not begin at the start of the file, it begins within a line.
        let whole = lines::split(&text).skip(usize::from(start > 0));
        let mut names = HashMap::new();
        for SessionName { id, name, .. } in whole.filter_map(SessionName::of) {
            match name.trim() {
                "" => names.remove(id.as_str()),
                name => names.insert(id.into(), name.into()),
            };
        }
        Some(Self { path: path.to_owned(), bytes, modified: metadata.modified().ok(), names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, name: &str) -> String {
        format!("{{\"id\":\"{id}\",\"thread_name\":\"{name}\",\"updated_at\":\"t\"}}\n")
    }

    #[test]
    fn the_last_name_holds() {
        let folder = std::env::temp_dir().join(format!("leafline-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let index = folder.join(INDEX_FILE);
        let name = |session: &str| name_in(&index, session);
        assert_eq!(name("a"), None);
        let mut text = line("a", "One") + "torn\n" + &line("b", "Two") + &line("a", " Three ");
        std::fs::write(&index, &text).unwrap();
        assert_eq!((name("a").as_deref(), name("b").as_deref()), (Some("Three"), Some("Two")));
        assert_eq!(name("c"), None);
        text += &line("a", "");
        std::fs::write(&index, &text).unwrap();
        assert_eq!((name("a"), name("b").as_deref()), (None, Some("Two")));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(name("b"), None);
        // A folder of that name is not an index.
        assert_eq!(name_in(&std::env::temp_dir(), "a"), None);
    }
}
