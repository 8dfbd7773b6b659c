//! The rows of a list, as a table or separated by tabs.

use leafline::SessionFacts;
use leafline::files::{FileFacts, RecentSession};

use crate::failure::Failure;
use crate::number::{bytes, count};
use crate::output::Output;
use crate::place::shown;
use crate::table::{Column, Table, write_tabs};
use crate::{text, time};

/// The shortest id shown, even if fewer characters would be unique.
const SHORTEST_ID: usize = 8;

/// Marks a session whose file is gone.
const GONE: &str = "gone";

/// A narrower terminal gets the title in place of the size and the time of day, and the mark in place of the entries.
const WIDE: usize = 100;

/// The length of a date, `2026-02-16`.
const DATE: usize = 10;

/// The columns of a session in a list.
pub(super) struct Row<'f> {
    id: &'f str,
    family: &'f str,
    title: Option<&'f str>,
    cwd: Option<&'f str>,
    /// Unknown if only the beginning of the file was read.
    entries: Option<u64>,
    bytes: u64,
    modified: Option<i64>,
    /// The file, if the session is not in a store.
    path: Option<String>,
    /// Whether the files that it was imported from are gone.
    is_gone: bool,
}

impl<'f> Row<'f> {
    pub(super) fn of_session(facts: &'f SessionFacts, is_gone: bool) -> Self {
        Self {
            id: &facts.id,
            family: facts.family.name(),
            title: facts.title.as_deref().or(facts.first_prompt.as_deref()),
            cwd: facts.cwd.as_deref(),
            entries: Some(facts.entries),
            bytes: facts.bytes,
            modified: facts.modified,
            path: None,
            is_gone,
        }
    }

    pub(super) fn of_file(facts: &'f FileFacts) -> Self {
        Self {
            id: &facts.id,
            family: facts.family.name(),
            title: facts.title.as_deref().or(facts.first_prompt.as_deref()),
            cwd: facts.cwd.as_deref(),
            entries: Some(facts.entries),
            bytes: facts.bytes,
            modified: facts.modified,
            path: Some(shown(&facts.path)),
            is_gone: false,
        }
    }

    pub(super) fn of_recent(session: &'f RecentSession) -> Self {
        Self {
            id: &session.id,
            family: session.family.name(),
            title: session.title.as_deref().or(session.first_prompt.as_deref()),
            cwd: session.cwd.as_deref(),
            entries: None,
            bytes: session.bytes,
            modified: session.file_modified,
            path: Some(shown(&session.path)),
            is_gone: false,
        }
    }

    fn title(&self) -> String {
        self.title.map(|title| text::one_line(title, usize::MAX)).unwrap_or_default()
    }

    fn cwd(&self) -> String {
        text::printable(self.cwd.unwrap_or_default()).into_owned()
    }

    /// Its columns for a program: uncut, followed by the path if there is one, or by `gone`.
    fn plain(&self) -> Vec<String> {
        let mut cells = vec![
            text::printable(self.id).into_owned(),
            self.family.to_owned(),
            self.title(),
            self.cwd(),
            self.entries.map(|entries| entries.to_string()).unwrap_or_default(),
            self.bytes.to_string(),
            self.modified.and_then(time::iso).unwrap_or_default(),
        ];
        cells.extend(self.path.as_deref().map(|path| text::printable(path).into_owned()));
        cells.extend(self.is_gone.then(|| GONE.to_owned()));
        cells
    }
}

/// Writes the rows. An id is cut to a prefix that no other of `ids` has; these are requested only if they are needed.
pub(super) fn write(
    rows: &[Row<'_>],
    ids: impl FnOnce() -> Result<Vec<String>, Failure>,
    out: &mut Output,
) -> Result<(), Failure> {
    if out.width().is_none() {
        return rows.iter().try_for_each(|row| write_tabs(out, &row.plain()));
    }
    if rows.is_empty() {
        return Ok(());
    }
    let mut ids = ids()?;
    ids.sort_unstable();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let is_narrow = out.width().is_some_and(|width| width < WIDE);
    let mut columns = vec![
        Column::Whole("id"),
        Column::Whole("family"),
        Column::Text("title"),
        Column::Path("folder"),
    ];
    let is_any_gone = rows.iter().any(|row| row.is_gone);
    let has_entries = !(is_narrow && is_any_gone);
    columns.extend(has_entries.then_some(Column::Number("entries")));
    columns.extend((!is_narrow).then_some(Column::Number("size")));
    columns.push(Column::Whole("modified"));
    columns.extend(is_any_gone.then_some(Column::Whole("file")));
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = vec![
            text::printable(unique_prefix(row.id, &ids)).into_owned(),
            row.family.to_owned(),
            row.title(),
            row.cwd(),
        ];
        if has_entries {
            cells.push(row.entries.map(count).unwrap_or_default());
        }
        let mut modified = row.modified.and_then(time::local).unwrap_or_default();
        if is_narrow {
            modified.truncate(DATE);
        } else {
            cells.push(bytes(row.bytes));
        }
        cells.push(modified);
        if is_any_gone {
            cells.push(if row.is_gone { GONE.to_owned() } else { String::new() });
        }
        table.push(cells);
    }
    table.write(out)
}

/// The shortest prefix of an id that no other of the sorted ids has, but long enough to recognise. An id that is a
/// prefix of another one stays whole: the whole id names that session.
pub(crate) fn unique_prefix<'i>(id: &'i str, sorted: &[&str]) -> &'i str {
    let place = sorted.partition_point(|other| *other < id);
    let before = place.checked_sub(1).and_then(|before| sorted.get(before));
    let neighbours = before.into_iter().chain(sorted.get(place + 1));
    let shared = neighbours.map(|other| shared_characters(id, other)).max().unwrap_or(0);
    let characters = (shared + 1).max(SHORTEST_ID);
    id.char_indices().nth(characters).and_then(|(end, _)| id.get(..end)).unwrap_or(id)
}

fn shared_characters(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_unique_and_not_too_short() {
        let ids = [
            "019c6605-4c90-7d2a",
            "019c6605-5000-0000",
            "b6a3a0c8-44fd",
            "b6a3a0c8-44fd~2",
            "short",
        ];
        assert_eq!(unique_prefix(ids[0], &ids), "019c6605-4");
        assert_eq!(unique_prefix(ids[1], &ids), "019c6605-5");
        assert_eq!(unique_prefix(ids[2], &ids), "b6a3a0c8-44fd");
        assert_eq!(unique_prefix(ids[3], &ids), "b6a3a0c8-44fd~");
        assert_eq!(unique_prefix(ids[4], &ids), "short");
        assert_eq!(unique_prefix("äöüäöüäöüäöü", &["äöüäöüäöüäöü"]), "äöüäöüäö");
    }
}
