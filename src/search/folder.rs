//! The folders of the indexes: which of them are ours, and which of their files.
//!
//! The name `<store>.search` may be taken by a folder of the user, and users put files anywhere. So a folder that we
//! create gets a mark, a folder without a mark is not touched, and in a marked one only the files of an index are
//! deleted.

use std::fs::{DirEntry, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use crate::error::{Error, FileContext, Result, SearchError};
use crate::private::{make_folder, new_file};
use crate::rights::Rights;
use crate::store::exposure::SEARCH_MARK as MARK;

/// The first line of the file that marks a folder as ours, and its explanation for the user.
const FIRST_LINE: &str = "leafline search index\n";
const EXPLANATION: &str = "Leafline makes this folder from its store, and deletes it and makes it again as it needs to.\n\
     Files that it has not made are left alone.\n";

/// The names of tantivy's files that do not belong to a segment.
pub(super) const META: &str = "meta.json";
pub(super) const MANAGED: &str = ".managed.json";
const LOCKS: [&str; 2] = [".tantivy-meta.lock", ".tantivy-writer.lock"];

/// The beginning of the name of a file that will replace `meta.json` or `.managed.json`, and the number of letters and
/// digits after it.
const TEMPORARY: &str = ".tmp";
const TEMPORARY_DIGITS: usize = 6;

/// The extensions of a segment's files after its number. In a file of deletions another number comes before it.
const SEGMENT_ENDINGS: [&str; 8] =
    ["idx", "pos", "term", "store", "store.temp", "temp", "fast", "fieldnorm"];
const DELETIONS_ENDING: &str = ".del";
const SEGMENT_DIGITS: usize = 32;

/// The digits of a store's number in the name of an index.
const STORE_DIGITS: usize = 16;

/// Which of our folders one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `<store>.search`. The user may have put a link to another folder there.
    Indexes,
    /// `<version>-<store number>` in that folder.
    Index,
}

/// Whose a folder is.
enum Standing {
    Missing,
    /// Unowned: it is empty, or has only a mark that was not written completely.
    Empty,
    /// It has our mark.
    Ours,
    /// It has no mark, since the release that created it wrote none, and nothing but what that release created.
    OursUnmarked,
    /// It belongs to something else, for this reason.
    Foreign(String),
}

/// Whether there is an index in its folder. An index that was created without a mark gets one.
pub(super) fn find(indexes: &Path, index: &Path) -> Result<bool> {
    if !is_ours(indexes, Kind::Indexes)? || !is_ours(index, Kind::Index)? {
        return Ok(false);
    }
    check_files(index)?;
    index.join(META).try_exists().at("looking for", &index.join(META))
}

fn is_ours(folder: &Path, kind: Kind) -> Result<bool> {
    match standing(folder, kind)? {
        Standing::Missing | Standing::Empty => Ok(false),
        Standing::Ours => Ok(true),
        Standing::OursUnmarked => {
            // If it is read-only, it is recognised without a mark.
            let _ = mark(folder);
            Ok(true)
        }
        Standing::Foreign(problem) => Err(foreign(folder, problem)),
    }
}

/// Creates the missing folders of an index, and marks them as ours.
pub(super) fn make(indexes: &Path, index: &Path, rights: &Rights) -> Result<()> {
    make_one(indexes, Kind::Indexes, rights)?;
    make_one(index, Kind::Index, rights)?;
    check_files(index)
}

fn make_one(folder: &Path, kind: Kind, rights: &Rights) -> Result<()> {
    match make_folder(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).at("making the folder", folder),
        Ok(()) => rights.lend_folder(folder),
    }
    match standing(folder, kind)? {
        Standing::Ours => Ok(()),
        Standing::Empty | Standing::OursUnmarked => {
            let _ = rights.lend(&mark(folder)?);
            Ok(())
        }
        Standing::Missing => Err(ErrorKind::NotFound.into()).at("opening the folder", folder),
        Standing::Foreign(problem) => Err(foreign(folder, problem)),
    }
}

/// Deletes all indexes, and the folder that they are in if nothing else is in it. A link to that folder stays.
pub(super) fn delete_all(indexes: &Path) -> Result<()> {
    if !is_ours(indexes, Kind::Indexes)? {
        return Ok(());
    }
    delete_indexes(indexes, None)?;
    delete_if_empty(indexes)
}

/// Deletes the indexes in a folder, except the one to keep: anything that is not ours stays.
pub(super) fn delete_indexes(indexes: &Path, keep: Option<&Path>) -> Result<()> {
    for entry in entries(indexes)? {
        let folder = entry.path();
        if Some(folder.as_path()) == keep || !is_index_name(&entry) {
            continue;
        }
        match standing(&folder, Kind::Index)? {
            Standing::Missing | Standing::Foreign(_) => {}
            Standing::Empty | Standing::Ours | Standing::OursUnmarked => delete_index(&folder)?,
        }
    }
    Ok(())
}

/// Deletes the files of an index, and its folder if nothing else is in it.
fn delete_index(folder: &Path) -> Result<()> {
    let mut own = Vec::new();
    for entry in entries(folder)? {
        if is_own_file(&entry) {
            own.push(entry.path());
        }
    }
    // Without meta.json there is no index; the list of its files is needed as long as there are any.
    own.sort_by_key(|path| match path.file_name() {
        Some(name) if name == META => 0,
        Some(name) if name == MANAGED => 2,
        _ => 1,
    });
    for path in own {
        delete_file(&path)?;
    }
    delete_if_empty(folder)
}

/// Deletes a folder of ours with its mark if there is nothing else in it. If it is a link, only the mark is deleted.
fn delete_if_empty(folder: &Path) -> Result<()> {
    if entries(folder)?.iter().any(|entry| entry.file_name() != MARK) {
        return Ok(());
    }
    delete_file(&folder.join(MARK))?;
    if folder.is_symlink() {
        return Ok(());
    }
    match std::fs::remove_dir(folder) {
        // Something was put there since.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => mark(folder).map(drop),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).at("deleting", folder),
        _ => Ok(()),
    }
}

/// The names of the files that a writer made in an index's folder, each with whether it belongs to a segment.
pub(super) fn written_files(index: &Path) -> Result<Vec<(String, bool)>> {
    let mut written = Vec::new();
    for entry in entries(index)? {
        if is_own_file(&entry)
            && let Ok(name) = entry.file_name().into_string()
        {
            let (is_segment, is_temporary) =
                (!name.starts_with('.') && name != META, name.starts_with(TEMPORARY));
            if is_segment || is_temporary {
                written.push((name, is_segment));
            }
        }
    }
    Ok(written)
}

pub(super) fn delete_file(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).at("deleting", path),
        _ => Ok(()),
    }
}

fn standing(folder: &Path, kind: Kind) -> Result<Standing> {
    let found = match std::fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Standing::Missing),
        found => found.at("looking at", folder)?,
    };
    let problem = match kind {
        Kind::Indexes if !found.is_symlink() && !found.is_dir() => Some("it is not a folder"),
        Kind::Indexes if !folder.is_dir() => Some("it is a link that leads to no folder"),
        Kind::Index if found.is_symlink() => Some("it is a link, and none is followed there"),
        Kind::Index if !found.is_dir() => Some("it is not a folder"),
        _ => None,
    };
    if let Some(problem) = problem {
        return Ok(Standing::Foreign(problem.to_owned()));
    }
    if has_mark(folder)? {
        return Ok(Standing::Ours);
    }
    let mut entries = entries(folder)?;
    entries.retain(|entry| !is_torn_mark(entry));
    if entries.is_empty() {
        return Ok(Standing::Empty);
    }
    let stranger = entries.iter().find(|entry| match kind {
        Kind::Indexes => !is_index_name(entry) || !is_index_without_mark(entry),
        Kind::Index => !is_own_file(entry) || !is_no_other_meta(entry),
    });
    let Some(stranger) = stranger else { return Ok(Standing::OursUnmarked) };
    // Another process may have made it meanwhile: the mark comes first.
    if has_mark(folder)? {
        return Ok(Standing::Ours);
    }
    let name = stranger.file_name();
    Ok(Standing::Foreign(format!("Leafline has not made it, and {} is in it", name.display())))
}

/// Whether a folder in a folder without a mark is an index, judging by its contents.
fn is_index_without_mark(entry: &DirEntry) -> bool {
    let standing = standing(&entry.path(), Kind::Index);
    matches!(standing, Ok(Standing::Empty | Standing::Ours | Standing::OursUnmarked))
}

/// Whether an entry is a folder with the name of an index.
fn is_index_name(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let Some((version, number)) = name.to_str().and_then(|name| name.split_once('-')) else {
        return false;
    };
    entry.file_type().is_ok_and(|kind| kind.is_dir())
        && !version.is_empty()
        && version.bytes().all(|byte| byte.is_ascii_digit())
        && is_lower_hex(number, STORE_DIGITS)
}

/// Whether an entry is a file, not a link, with a name that a file of an index has.
fn is_own_file(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    name.to_str().is_some_and(is_own_name) && entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// Whether an index may have a file with this name, other than the mark.
fn is_own_name(name: &str) -> bool {
    if name == META || name == MANAGED || LOCKS.contains(&name) {
        return true;
    }
    if let Some(digits) = name.strip_prefix(TEMPORARY) {
        return digits.len() == TEMPORARY_DIGITS
            && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    }
    let Some((segment, ending)) = name.split_once('.') else { return false };
    let deletions = ending.strip_suffix(DELETIONS_ENDING);
    let is_deletions = deletions
        .is_some_and(|stamp| !stamp.is_empty() && stamp.bytes().all(|byte| byte.is_ascii_digit()));
    is_lower_hex(segment, SEGMENT_DIGITS) && (is_deletions || SEGMENT_ENDINGS.contains(&ending))
}

fn is_lower_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a file is tantivy's `meta.json`, or has another name: many programs have a file called that.
fn is_no_other_meta(entry: &DirEntry) -> bool {
    if entry.file_name() != META {
        return true;
    }
    let value = std::fs::read(entry.path()).ok();
    let value = value.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    value.is_some_and(|value| {
        ["segments", "schema", "opstamp"].iter().all(|field| value.get(field).is_some())
    })
}

/// Refuses an index if something else has the name of one of its files, or if its list names other files: tantivy
/// writes through links, and deletes what its list names.
fn check_files(index: &Path) -> Result<()> {
    for entry in entries(index)? {
        let name = entry.file_name();
        if name.to_str().is_some_and(is_own_name) && !is_own_file(&entry) {
            return Err(foreign(&entry.path(), "it is not a file, or it is a link".to_owned()));
        }
    }
    let listed = match std::fs::read(index.join(MANAGED)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        listed => listed.at("reading", &index.join(MANAGED))?,
    };
    let problem = match serde_json::from_slice::<Vec<String>>(&listed) {
        Err(error) => format!("{MANAGED} is damaged: {error}"),
        Ok(names) => match names.iter().find(|name| !is_own_name(name)) {
            Some(other) => format!("{MANAGED} names {other:?}, which is not a file of an index"),
            None => return Ok(()),
        },
    };
    Err(Error::Search(SearchError::Index { path: index.to_owned(), problem }))
}

fn has_mark(folder: &Path) -> Result<bool> {
    let path = folder.join(MARK);
    match std::fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() => {}
        _ => return Ok(false),
    }
    let mut beginning = Vec::new();
    let file = File::open(&path).at("reading", &path)?;
    let longest = FIRST_LINE.len() as u64;
    file.take(longest).read_to_end(&mut beginning).at("reading", &path)?;
    Ok(beginning == FIRST_LINE.as_bytes())
}

/// Whether an entry is a mark that was not written completely.
fn is_torn_mark(entry: &DirEntry) -> bool {
    entry.file_name() == MARK
        && entry
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() < FIRST_LINE.len() as u64)
        && std::fs::read(entry.path()).is_ok_and(|text| FIRST_LINE.as_bytes().starts_with(&text))
}

/// Marks a folder as ours. Two processes may do so at once: both write the same.
fn mark(folder: &Path) -> Result<File> {
    let path = folder.join(MARK);
    let opened = new_file().write(true).create(true).truncate(false).open(&path);
    let mut file = opened.at("making", &path)?;
    file.write_all(format!("{FIRST_LINE}{EXPLANATION}").as_bytes()).at("writing", &path)?;
    file.sync_all().at("writing", &path)?;
    Ok(file)
}

fn entries(folder: &Path) -> Result<Vec<DirEntry>> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect);
    entries.at("listing", folder)
}

fn foreign(path: &Path, problem: String) -> Error {
    Error::Search(SearchError::FolderTaken { path: path.to_owned(), problem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_an_index() {
        let segment = "0123456789abcdef0123456789abcdef";
        for own in [
            META.to_owned(),
            MANAGED.to_owned(),
            ".tantivy-writer.lock".to_owned(),
            ".tmpaB3xY9".to_owned(),
            format!("{segment}.idx"),
            format!("{segment}.store.temp"),
            format!("{segment}.12.del"),
        ] {
            assert!(is_own_name(&own), "{own}");
        }
        for other in [
            String::new(),
            "notes.txt".to_owned(),
            "../meta.json".to_owned(),
            ".tantivy-other.lock".to_owned(),
            ".tmp".to_owned(),
            ".tmp/../ab".to_owned(),
            ".tmpaB3xY90".to_owned(),
            segment.to_owned(),
            format!("{segment}.txt"),
            format!("{segment}.del"),
            format!("{segment}..del"),
            format!("{segment}.x.del"),
            format!("{}.idx", &segment[1..]),
            format!("{}.idx", segment.to_uppercase()),
            format!("../{segment}.idx"),
            MARK.to_owned(),
        ] {
            assert!(!is_own_name(&other), "{other}");
        }
    }

    /// The names are tantivy's: all files that updates, deletions and merges leave are known.
    #[test]
    fn tantivy_makes_no_other_files() {
        use tantivy::schema::{FAST, INDEXED, Schema, TEXT};
        use tantivy::{Index, IndexWriter, Term, doc};

        let folder = tempfile::tempdir().unwrap();
        let mut schema = Schema::builder();
        let (text, number) =
            (schema.add_text_field("text", TEXT), schema.add_u64_field("number", INDEXED | FAST));
        let index = Index::create_in_dir(folder.path(), schema.build()).unwrap();
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
        for round in 0..4_u64 {
            for at in 0..20 {
                let number_of = round * 100 + at;
                writer.add_document(doc!(text => "some words", number => number_of)).unwrap();
            }
            writer.delete_term(Term::from_field_u64(number, round * 100 - round.min(1) * 95));
            writer.commit().unwrap();
        }
        let mut kinds = Vec::new();
        for entry in entries(folder.path()).unwrap() {
            assert!(is_own_file(&entry) && is_no_other_meta(&entry), "{entry:?}");
            let name = entry.file_name().into_string().unwrap();
            kinds.push(name.rsplit('.').next().unwrap().to_owned());
        }
        assert!(
            kinds.contains(&"del".to_owned()) && kinds.contains(&"json".to_owned()),
            "{kinds:?}"
        );
        writer.wait_merging_threads().unwrap();
        assert!(matches!(standing(folder.path(), Kind::Index).unwrap(), Standing::OursUnmarked));
    }
}
