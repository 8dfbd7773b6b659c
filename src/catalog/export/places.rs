//! The sessions of the store, and the path of each one's file.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use leafline_import::FileName;
use xxhash_rust::xxh3::xxh3_128;

use super::manifest::{Digest, Manifest, folded};
use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::session::{SessionFacts, SharedTexts};
use crate::store::Store;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::sessions::{SessionRow, UnreadableRow};
use crate::store::snapshot::Snapshot;
use crate::store::source_record::path_of_bytes;

/// A session to be exported.
#[derive(Debug)]
pub(super) struct Listed {
    /// The id by which it is addressed.
    pub(super) id: String,
    pub(super) key: SessionKey,
    /// Identifies its record.
    pub(super) record: Digest,
    /// The path of its file relative to the folder, with `/` between the parts.
    pub(super) path: String,
    /// The path that it would have if another store had not put its file elsewhere first.
    pub(super) instead_of: Option<String>,
    /// When its last message was.
    modified: Option<i64>,
    /// The session beside whose file its own is, and where in that folder.
    beside: Option<(String, String)>,
}

/// A session that cannot be exported, since its record cannot be read.
#[derive(Debug)]
pub(super) struct Unnamed {
    /// The id by which it is addressed.
    pub(super) id: String,
    pub(super) error: Error,
}

/// All sessions and their paths, latest message first.
///
/// A session keeps its path in the manifest as long as its name stays the same, so that sessions with the same name
/// keep their numbers. A new one gets a free path: neither another session's, nor one where another session's file was
/// left. A session that another store has exported to the folder keeps the path that it has there.
///
/// And those that are damaged so that their names cannot be told.
///
/// Secrets are replaced in the paths as in the files.
pub(super) fn list(
    store: &Store,
    manifest: &Manifest,
    redactor: Option<&Redactor>,
) -> Result<(Vec<Listed>, Vec<Unnamed>)> {
    let (mut sessions, unnamed) = named(store, redactor)?;
    // A session first, then the agents beside it.
    sessions.sort_by_key(|session| session.beside.is_some());
    let mut taken: HashSet<String> = manifest.entries().map(|entry| folded(&entry.path)).collect();
    let mut kept = HashSet::new();
    let mut folders: HashMap<String, String> = HashMap::new();
    for session in &mut sessions {
        if let Some((starter, file)) = &session.beside
            && let Some(folder) = folders.get(starter)
            && program(folder) == program(&session.path)
        {
            session.path = format!("{folder}/{file}");
        }
        let noted = manifest.get(&session.id);
        let is_kept = noted.is_some_and(|entry| {
            let usual = entry.instead_of.as_ref().unwrap_or(&entry.path);
            is_numbered(&session.path, usual) && kept.insert(folded(&entry.path))
        });
        if let Some(entry) = noted.filter(|_| is_kept) {
            session.path.clone_from(&entry.path);
            session.instead_of.clone_from(&entry.instead_of);
        } else if let Some(path) = manifest.path_in_other_store(&session.id)
            && program(path) == program(&session.path)
            && taken.insert(folded(path))
        {
            let usual = std::mem::replace(&mut session.path, path.to_owned());
            session.instead_of = Some(usual).filter(|usual| !is_numbered(usual, path));
        } else {
            session.path = free_path(&session.path, &mut taken);
        }
        if session.beside.is_none() {
            folders.insert(session.id.clone(), stem(&session.path).to_owned());
        }
    }
    sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
    Ok((sessions, unnamed))
}

/// A digest that identifies a session's record.
pub(super) fn record_digest(record: &[u8]) -> Digest {
    Digest(xxh3_128(record))
}

/// The sessions in the order in which they were added to the store, each with its name as the path.
fn named(store: &Store, redactor: Option<&Redactor>) -> Result<(Vec<Listed>, Vec<Unnamed>)> {
    let snapshot = store.snapshot_to_read()?;
    let (mut listed, mut unnamed) = (Vec::new(), Vec::new());
    let mut texts = SharedTexts::by_session();
    snapshot.each_session(|row| {
        let row = match row {
            Ok(row) => row,
            Err(UnreadableRow { address, error, .. }) => {
                let id = String::from_utf8_lossy(&address).into_owned();
                unnamed.push(Unnamed { id, error });
                return Ok(());
            }
        };
        let record = record_digest(row.bytes());
        let facts = SessionFacts::listed(&row.listed()?, &mut texts);
        let header = header_in_name(&facts, &snapshot, row.key())?;
        let name = name_of(&facts, header.as_deref());
        let path = placed(&row, &name)?;
        let path = path.unwrap_or_else(|| facts.family.program_path(&name));
        let path = redacted(&with_slashes(&path), redactor);
        let path = format!("{}/{path}", facts.family.name());
        let agent = facts.family.agent_file(&name);
        let agent = agent.map(|file| redacted(&with_slashes(&file), redactor));
        let beside = name.agent_of.map(str::to_owned).zip(agent);
        let (key, modified) = (row.key(), facts.modified);
        let (id, instead_of) = (facts.id.into(), None);
        listed.push(Listed { id, key, record, path, instead_of, modified, beside });
        Ok(())
    })?;
    Ok((listed, unnamed))
}

#[cfg(feature = "redact")]
fn redacted(path: &str, redactor: Option<&Redactor>) -> String {
    redactor.map_or_else(|| path.to_owned(), |redactor| redactor.repeated_text(path))
}

#[cfg(not(feature = "redact"))]
fn redacted(path: &str, _: Option<&Redactor>) -> String {
    path.to_owned()
}

/// Where the session's program had put its file, from which it was imported, unless its project has moved since to another
/// place. A damaged record names none here: the session's export reports the damage.
fn placed(row: &SessionRow, name: &FileName<'_>) -> Result<Option<PathBuf>> {
    let record = match row.record() {
        Err(Error::Corrupted(_)) => return Ok(None),
        record => record?,
    };
    Ok(placed_source(&record, name, |_| true).map(|(_, placed)| placed))
}

/// The path of the session's file in a folder of its program, from which it was imported: the whole path, which has passed
/// `is_wanted`, and the part that the program gave it.
pub(super) fn placed_source(
    record: &SessionRecord,
    name: &FileName<'_>,
    is_wanted: impl Fn(&Path) -> bool,
) -> Option<(PathBuf, PathBuf)> {
    let family = record.known_family();
    let before = FileName { cwd: record.cwd.as_deref(), ..*name };
    if family.file_path(&before) != family.file_path(name) {
        return None;
    }
    // A second session with the same id has the id in its file's name, not its address.
    let id = String::from_utf8_lossy(&record.external_id);
    let name = FileName { id: &id, ..*name };
    let paths = record.sources.iter().filter_map(|source| path_of_bytes(source));
    let mut paths = paths.filter(|path| is_wanted(path));
    paths.find_map(|path| family.placed_path(&name, &path).map(|placed| (path, placed)))
}

/// What a session's file is named by. The header is what [`header_in_name`] gives.
pub(super) fn name_of<'f>(facts: &'f SessionFacts, header: Option<&'f [u8]>) -> FileName<'f> {
    let parent = facts.parent_session.as_deref();
    FileName {
        id: &facts.id,
        cwd: facts.cwd.as_deref(),
        created_ms: facts.created,
        has_parent: parent.is_some(),
        agent_of: facts.agent.as_ref().and(parent),
        agent: facts.agent.as_deref(),
        header,
    }
}

/// The text of a session's header line as it is stored, if the file is named by it. A damaged session has none here: its
/// export reports the damage.
pub(super) fn header_in_name(
    facts: &SessionFacts,
    snapshot: &Snapshot,
    session: SessionKey,
) -> Result<Option<Vec<u8>>> {
    if !facts.family.is_named_by_header(&name_of(facts, None)) {
        return Ok(None);
    }
    let line = match snapshot.session(session)? {
        Some(record) => snapshot.rows(session).line(record.header, None),
        None => return Ok(None),
    };
    match line {
        Ok(line) => Ok(Some(line.text().to_vec())),
        Err(Error::Corrupted(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn with_slashes(path: &Path) -> String {
    let name = |part: Component<'_>| part.as_os_str().to_string_lossy().into_owned();
    path.components().map(name).collect::<Vec<_>>().join("/")
}

/// The folder of a program's files in a folder of exports.
fn program(path: &str) -> Option<&str> {
    path.split('/').next()
}

/// Whether a path is a session's name, with or without a number, comparing names as the most tolerant file system does.
fn is_numbered(name: &str, path: &str) -> bool {
    let (name, path) = (folded(name), folded(path));
    let number = path.strip_prefix(stem(&name)).and_then(|rest| rest.strip_suffix(".jsonl"));
    number.is_some_and(|number| {
        let digits = number.strip_prefix('-').unwrap_or_default();
        number.is_empty() || digits.parse().is_ok_and(|number: u64| number >= 2)
    })
}

/// The name, or, if that is taken, the name with a number.
fn free_path(name: &str, taken: &mut HashSet<String>) -> String {
    let mut path = name.to_owned();
    let mut number = 2;
    while !taken.insert(folded(&path)) {
        path = format!("{}-{number}.jsonl", stem(name));
        number += 1;
    }
    path
}

fn stem(name: &str) -> &str {
    name.strip_suffix(".jsonl").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_make_another_name() {
        assert!(is_numbered("--w--/a.jsonl", "--w--/a.jsonl"));
        assert!(is_numbered("--w--/a.jsonl", "--w--/a-2.jsonl"));
        assert!(is_numbered("--w--/a.jsonl", "--W--/a-17.jsonl"));
        for other in ["--w--/a-1.jsonl", "--w--/a-b.jsonl", "--v--/a.jsonl", "--w--/a", "a2.jsonl"]
        {
            assert!(!is_numbered("--w--/a.jsonl", other), "{other}");
        }
    }

    #[test]
    fn the_same_name_gets_numbers() {
        let mut taken = HashSet::new();
        assert_eq!(free_path("w/a.jsonl", &mut taken), "w/a.jsonl");
        // Some file systems treat both as the same file.
        assert_eq!(free_path("w/A.jsonl", &mut taken), "w/A-2.jsonl");
        assert_eq!(free_path("w/a.jsonl", &mut taken), "w/a-3.jsonl");
    }
}
