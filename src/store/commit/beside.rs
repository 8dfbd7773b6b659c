//! The files beside a session in whose place another one comes.

use redb::{Table, WriteTransaction};

use super::files::{self, Tables};
use super::slice::Row;
use crate::error::Result;
use crate::store::beside::{folder_beside, is_of_another_below};
use crate::store::file_record::{FileContent, FileRecord};
use crate::store::home::InHome;
use crate::store::pages::ReadableTable;
use crate::store::session_key::SessionKey;
use crate::store::source_record::SourceRecord;
use crate::store::tables;

/// Lets the files follow that stand beside paths which led to a session, and lead to none since another one has taken its place:
/// they stand beside the file of that one from now on. Where it has a file of that name with the same bytes, that is the one; where
/// it has another one, `~2` and so on stands behind the name.
pub(super) fn hand_over(
    transaction: &WriteTransaction,
    forgotten: &[Vec<u8>],
    to: SessionKey,
    sources: &[Row<Vec<u8>, SourceRecord>],
) -> Result<()> {
    let mut tables = Tables::open(transaction)?;
    if forgotten.is_empty() || tables.files.first()?.is_none() {
        return Ok(());
    }
    let own = sources.iter().find(|row| row.session == to).map(|row| row.key.clone());
    let own = match own {
        Some(own) => Some(own),
        None => tables.sessions.get(to.raw())?.map(|path| path.value().to_vec()),
    };
    let Some(own) = own else { return Ok(()) };
    let Some(new) = folder_beside(&own) else { return Ok(()) };
    let is_kept = |path: &Vec<u8>| sources.iter().any(|row| row.key == *path);
    let table = transaction.open_table(tables::SOURCES)?;
    for file in forgotten.iter().filter(|file| !is_kept(file)) {
        let Some(old) = folder_beside(file) else { continue };
        let left = left_beside(&tables, &table, &old)?;
        tables.move_all(left, &old, &new)?;
        let Some(session) = InHome::of_file(file) else { continue };
        // Another project of the same home may have a file of this id.
        if sources.iter().any(|row| InHome::of_file(&row.key) == Some(session)) {
            continue;
        }
        for (name, old) in session.folders() {
            let left = left_beside(&tables, &table, &old)?;
            if left.is_empty() || has_file_in(&table, session)? {
                continue;
            }
            let new = match InHome::of_file(&own) {
                Some(session) => session.folder(name.as_bytes()),
                None => [&*new, old.get(session.below()..).unwrap_or_default()].concat(),
            };
            tables.move_all(left, &old, &new)?;
        }
    }
    Ok(())
}

/// Whether a path leads to a session that is in this home under this id.
fn has_file_in(
    sources: &Table<'_, &'static [u8], &'static [u8]>,
    session: InHome<'_>,
) -> Result<bool> {
    let beginning = session.sessions();
    for row in sources.range(&*beginning..)? {
        let (path, _) = row?;
        let path = path.value();
        if !path.starts_with(&beginning) {
            break;
        }
        if InHome::of_file(path) == Some(session) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The paths of the files in a folder that stand beside no other session's file.
fn left_beside(
    tables: &Tables<'_>,
    sources: &Table<'_, &'static [u8], &'static [u8]>,
    folder: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let mut left = Vec::new();
    for row in tables.files.range(folder..)? {
        let (path, value) = row?;
        let path = path.value();
        if !path.starts_with(folder) {
            break;
        }
        let FileRecord { content: FileContent::Bytes { .. }, .. } =
            crate::store::file_record::read(path, value.value())?
        else {
            continue;
        };
        let is_source = |file: &[u8]| Ok(sources.get(file)?.is_some());
        if !is_of_another_below(path, folder.len(), is_source)? {
            left.push(path.to_vec());
        }
    }
    Ok(left)
}

impl Tables<'_> {
    /// Moves files from a folder to another one, under their names.
    fn move_all(&mut self, paths: Vec<Vec<u8>>, from: &[u8], to: &[u8]) -> Result<()> {
        for path in paths {
            if let Some(name) = path.strip_prefix(from) {
                self.move_beside(&path, [to, name].concat())?;
            }
        }
        Ok(())
    }

    /// Gives a file of bytes a path, or one with a number behind it if another file has that.
    fn move_beside(&mut self, path: &[u8], to: Vec<u8>) -> Result<()> {
        let (mut place, mut number) = (to.clone(), 2);
        while let Some(there) = files::at(&self.files, &place)? {
            if self.is_same(path, there)? {
                self.take(path)?;
                return Ok(());
            }
            place = [&to, format!("~{number}").as_bytes()].concat();
            number += 1;
        }
        self.rename(path, &place)
    }

    /// Whether the file at a path has the bytes of another one.
    fn is_same(&self, path: &[u8], other: FileRecord) -> Result<bool> {
        let Some(own) = files::at(&self.files, path)? else { return Ok(false) };
        let (FileContent::Bytes { number: a, size }, FileContent::Bytes { number: b, size: same }) =
            (own.content, other.content)
        else {
            return Ok(false);
        };
        if size != same {
            return Ok(false);
        }
        let mut there = self.parts.range((b, 0)..=(b, u32::MAX))?;
        for row in self.parts.range((a, 0)..=(a, u32::MAX))? {
            let (_, part) = row?;
            let Some(other) = there.next() else { return Ok(false) };
            if part.value() != other?.1.value() {
                return Ok(false);
            }
        }
        Ok(there.next().is_none())
    }
}
