//! Files beside sessions: which session has a path beside it, and which files a session has beside it.
//!
//! A program keeps them in a folder that has the name of the session's file without its ending, or [elsewhere](super::home) in
//! its home. Nothing says of a file whose it is but its path.

use std::collections::BTreeSet;
use std::path::MAIN_SEPARATOR;

use super::file_record::{self, FileContent};
use super::home::{self, InHome};
use super::session_key::SessionKey;
use super::session_record::SessionRecord;
use super::snapshot::Snapshot;
use super::tables;
use crate::error::{Corruption, Result};

/// What the name of a session's file has behind that of the folder beside it.
pub(crate) const ENDING: &str = ".jsonl";

/// The byte between the names of a path.
pub(super) const SEPARATOR: u8 = MAIN_SEPARATOR as u8;

/// A file beside a session, as the tables have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BesideRow {
    /// The key of its path.
    pub(crate) path: Vec<u8>,
    /// Where the path goes on below the folder beside the session's file; or below the program's home, if it is there in a folder
    /// for the session.
    pub(crate) below: usize,
    /// If it is in a folder for the session in the program's home: the name of the home's folder that has those of all sessions,
    /// and where the path goes on below the session's.
    pub(crate) in_home: Option<(&'static str, usize)>,
    /// The number of its rows in `file_parts`.
    pub(crate) number: u64,
    /// Its bytes.
    pub(crate) size: u64,
    /// When it was written, in milliseconds since 1970.
    pub(crate) written: i64,
}

impl BesideRow {
    /// The path below the folder beside the session's file, or below the program's home.
    pub(crate) fn name(&self) -> &[u8] {
        self.path.get(self.below..).unwrap_or_default()
    }

    /// Where the file belongs if the session's file is this one; `None` if nothing can stand beside that. What was in the
    /// program's home, and is not to be in one, is put beside the session's file under its path in the home.
    pub(crate) fn place_for(&self, file: &[u8]) -> Option<Vec<u8>> {
        if let (Some((folder, rest)), Some(session)) = (self.in_home, InHome::of_file(file)) {
            let rest = self.path.get(rest..).unwrap_or_default();
            return Some([&session.folder(folder.as_bytes()), rest].concat());
        }
        Some([&folder_beside(file)?, self.name()].concat())
    }
}

/// The folder beside a session's file, with a separator behind it; `None` for a file whose name has no such ending, or nothing
/// else.
pub(super) fn folder_beside(file: &[u8]) -> Option<Vec<u8>> {
    let folder = file.strip_suffix(ENDING.as_bytes())?;
    let has_name = folder.last().is_some_and(|&last| last != SEPARATOR);
    has_name.then(|| [folder, &[SEPARATOR]].concat())
}

/// The folders that a path is in, from the nearest on, without a separator behind them.
fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let at = memchr::memrchr(SEPARATOR, rest)?;
        rest = rest.get(..at).unwrap_or_default();
        Some(rest)
    })
}

/// The path of the session's file beside which a folder would stand.
fn session_file(folder: &[u8]) -> Vec<u8> {
    [folder, ENDING.as_bytes()].concat()
}

/// Whether a path stands beside a session's file in a folder whose path has this length or more. `is_session` says whether there
/// is a session at the path of such a file.
pub(super) fn is_of_another_below(
    path: &[u8],
    length: usize,
    is_session: impl Fn(&[u8]) -> Result<bool>,
) -> Result<bool> {
    for folder in folders_above(path).take_while(|above| above.len() >= length) {
        if is_session(&session_file(folder))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What was found out about a folder, for the paths in it that follow each other.
#[derive(Default)]
struct OfFolder(Option<(Vec<u8>, bool)>);

impl OfFolder {
    /// What is so of the folder that a path is in, which is looked up if the path before was in another one.
    fn of(&mut self, path: &[u8], look: impl FnOnce() -> Result<bool>) -> Result<bool> {
        let folder = folders_above(path).next().unwrap_or_default();
        if let Some((known, is_so)) = &self.0
            && known == folder
        {
            return Ok(*is_so);
        }
        let is_so = look()?;
        self.0 = Some((folder.to_vec(), is_so));
        Ok(is_so)
    }
}

/// Whether a path below a folder stays below it.
fn stays_below(name: &[u8]) -> bool {
    name.split(|&byte| byte == SEPARATOR).all(|part| !matches!(part, b"" | b"." | b".."))
}

impl Snapshot {
    /// The session of a file: the one that a program keeps there in a session storage, or else the one that was imported from
    /// there, which may be removed.
    pub(crate) fn session_at(&self, file: &[u8]) -> Result<Option<SessionKey>> {
        match self.file(file)?.map(|file| file.content) {
            Some(FileContent::Session(session)) => Ok(Some(session)),
            Some(FileContent::Bytes { .. }) | None => {
                Ok(self.source(file)?.map(|source| source.session))
            }
        }
    }

    /// The session that has a path beside it, and its record: that of the nearest folder above that stands beside the file of a
    /// session, or else that has the path in a folder for it in its program's home. `None` if there is none, if that session was
    /// removed, and if its program keeps no files beside sessions'.
    pub(crate) fn session_beside(
        &self,
        path: &[u8],
    ) -> Result<Option<(SessionKey, SessionRecord)>> {
        for folder in folders_above(path) {
            let Some(session) = self.session_at(&session_file(folder))? else { continue };
            let record = self.session(session)?;
            let keeps = record.filter(|record| record.known_family().keeps_files_beside());
            return Ok(keeps.map(|record| (session, record)));
        }
        for place in home::places(path) {
            let keeps = self.session_in_home(place.session)?.filter(|(_, record)| {
                let folders = record.known_family().folders_by_id();
                folders.iter().any(|folder| folder.as_bytes() == place.folder)
            });
            if keeps.is_some() {
                return Ok(keeps);
            }
        }
        Ok(None)
    }

    /// The session whose file is in this home, under this id. If there are several, the folders for that id are of one of them.
    fn session_in_home(&self, place: InHome<'_>) -> Result<Option<(SessionKey, SessionRecord)>> {
        for (session, record) in self.sessions_with_id(place.id)? {
            let files = self.files_of(session, &record)?;
            if files.iter().any(|file| InHome::of_file(file) == Some(place)) {
                return Ok(Some((session, record)));
            }
        }
        Ok(None)
    }

    /// The paths of a session's files: those from which it was imported, and its own in a session storage.
    fn files_of(&self, session: SessionKey, record: &SessionRecord) -> Result<Vec<Vec<u8>>> {
        let mut files = record.sources.clone();
        files.extend(self.file_of(session)?.filter(|file| !record.sources.contains(file)));
        let mut own = Vec::new();
        for file in files {
            // A row of `sources` may be lost, of which the session's record still knows.
            if self.session_at(&file)?.is_none_or(|other| other == session) {
                own.push(file);
            }
        }
        Ok(own)
    }

    /// Passes on the size of every file beside a session of the store.
    pub(crate) fn each_file_beside(&self, mut take: impl FnMut(u64)) -> Result<()> {
        let mut is_beside = OfFolder::default();
        self.each_file(|path, record| {
            let FileContent::Bytes { size, .. } = record?.content else { return Ok(()) };
            if is_beside.of(path, || Ok(self.session_beside(path)?.is_some()))? {
                take(size);
            }
            Ok(())
        })
    }

    /// The files beside a session, in the order of its sources and of their paths.
    pub(crate) fn files_beside(
        &self,
        session: SessionKey,
        record: &SessionRecord,
    ) -> Result<Vec<BesideRow>> {
        let mut found = Vec::new();
        if !record.known_family().keeps_files_beside() {
            return Ok(found);
        }
        let mut homes = BTreeSet::new();
        for file in self.files_of(session, record)? {
            let Some(inside) = folder_beside(&file) else { continue };
            self.files_below(&inside, |mut row| {
                row.below = inside.len();
                found.push(row);
            })?;
            let Some(place) = InHome::of_file(&file) else { continue };
            if self.session_in_home(place)?.is_none_or(|(owner, _)| owner != session) {
                continue;
            }
            for (name, folder) in place.folders() {
                // Two files of a session may be in one home.
                if homes.insert(folder.clone()) {
                    self.files_below(&folder, |mut row| {
                        (row.below, row.in_home) = (place.below(), Some((name, folder.len())));
                        found.push(row);
                    })?;
                }
            }
        }
        Ok(found)
    }

    /// Passes on the files in a folder, whose path has a separator behind it, that stand beside no other session's file there.
    fn files_below(&self, folder: &[u8], mut take: impl FnMut(BesideRow)) -> Result<()> {
        let files = self.table(tables::FILES)?;
        let mut is_others = OfFolder::default();
        for row in files.range(folder..)? {
            let (path, value) = row?;
            let path = path.value();
            let Some(name) = path.strip_prefix(folder) else { break };
            let content = file_record::read(path, value.value())?;
            let FileContent::Bytes { number, size } = content.content else { continue };
            // Below the folder may be that of another session, which this one has started.
            let is_session = |file: &[u8]| Ok(self.session_at(file)?.is_some());
            let look = || is_of_another_below(path, folder.len(), is_session);
            if !is_others.of(path, look)? && stays_below(name) {
                let (path, written) = (path.to_vec(), content.written);
                take(BesideRow { path, below: 0, in_home: None, number, size, written });
            }
        }
        Ok(())
    }

    /// Passes on the rows of a file in `file_parts`, until `take` says that it needs no more.
    pub(crate) fn each_part_of_file(
        &self,
        number: u64,
        mut take: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        for row in self.table(tables::FILE_PARTS)?.range((number, 0)..=(number, u32::MAX))? {
            let (_, part) = row?;
            if !take(part.value())? {
                break;
            }
        }
        Ok(())
    }

    /// Passes on the bytes of a file that is not a session, row by row, until `take` says that it needs no more.
    pub(crate) fn each_piece_of_file(
        &self,
        path: &[u8],
        (number, size): (u64, u64),
        mut take: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        let (mut bytes, mut is_ended) = (0, false);
        self.each_part_of_file(number, |part| {
            bytes += part.len() as u64;
            // What is too much is not passed on.
            is_ended = bytes <= size && !take(part)?;
            Ok(bytes <= size && !is_ended)
        })?;
        if is_ended || bytes == size {
            return Ok(());
        }
        Err(Corruption {
            table: "file_parts",
            place: String::from_utf8_lossy(path).into_owned(),
            problem: format!("there are {bytes} bytes of {size}"),
        }
        .into())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_has_the_name_of_the_file() {
        let folder = |file: &str| {
            folder_beside(file.as_bytes()).map(|folder| String::from_utf8(folder).unwrap())
        };
        assert_eq!(folder("/p/4f2e.jsonl").as_deref(), Some("/p/4f2e/"));
        assert_eq!(folder("/p/a.b.jsonl").as_deref(), Some("/p/a.b/"));
        // All of the folder would belong to such a file.
        assert_eq!(folder("/p/.jsonl"), None);
        assert_eq!(folder(".jsonl"), None);
        assert_eq!(folder("/p/4f2e.json"), None);
        let above: Vec<&[u8]> = folders_above(b"/p/4f2e/x").collect();
        assert_eq!(above, [&b"/p/4f2e"[..], b"/p", b""]);
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for name in ["a", "a/b", "...", "a..b/c"] {
            assert!(stays_below(name.as_bytes()), "{name}");
        }
        for name in ["", "..", "a/../../b", "/a", "a//b", "a/", "./a"] {
            assert!(!stays_below(name.as_bytes()), "{name}");
        }
    }
}
