//! The exact way: the whole path is read line by line, as the programs do that hold all entries in memory.

use leafline_import::scan::{Raw, Scan, Scanner};
use leafline_import::{EntryKind, text};

use super::super::change::change_of;
use super::super::lines::LineView;
use super::super::path::{Climb, PathRuns, WalkEnd};
use super::super::reader::SessionReader;
use super::identity::is_same;
use super::kind_of;
use super::selection::Selection;
use crate::error::Result;
use crate::store::settings_record::SettingsRecord;

/// A compaction as its line names itself and what it keeps: JSON text, where there is any.
struct Compaction {
    id: Option<String>,
    first_kept: Option<String>,
}

impl Selection {
    /// What the context at an entry of any session is made of.
    pub(super) fn by_lines(reader: &SessionReader, leaf: u64) -> Result<Self> {
        let climb = |from| Climb::new(reader.snapshot(), reader.order(), from);
        let path = PathRuns::walk_to(climb(leaf), WalkEnd::Root)?;
        let (settings, compaction) = read_path(reader, &path)?;
        let Some(compaction) = compaction else {
            return Ok(Self { settings, below: path, ..Self::default() });
        };
        let (place, first) = find_places(reader, &path, &compaction)?;
        let mut selection = Self { settings, compaction: place, ..Self::default() };
        if let Some(place) = place {
            selection.below = PathRuns::walk_to(climb(leaf), WalkEnd::Before(place))?;
            let above = reader.entry_node(place)?.parent.ordinal();
            if let (Some(above), Some(first)) = (above, first) {
                selection.kept = PathRuns::walk_to(climb(above), WalkEnd::At(first))?;
            }
        }
        Ok(selection)
    }
}

/// The settings at the end of the path, and the last compaction on it.
fn read_path(
    reader: &SessionReader,
    path: &PathRuns,
) -> Result<(SettingsRecord, Option<Compaction>)> {
    let mut settings = SettingsRecord::default();
    let mut compaction = None;
    for_each_scan(reader, path, |kind, line, scan| {
        if kind == EntryKind::Compaction {
            let text = |raw: Option<Raw<'_>>| Some(raw?.as_str().to_owned());
            compaction = Some(Compaction {
                id: text(scan.members.id),
                first_kept: text(scan.members.first_kept_entry_id),
            });
        }
        if let Some(change) = change_of(reader.snapshot(), kind, line, scan)?
            && !change.changes_nothing(&settings)
        {
            settings = change.apply(&settings);
        }
        Ok(())
    })?;
    Ok((settings, compaction))
}

/// Where the compaction stands, and the first entry above it that it keeps.
///
/// pi looks for the first compaction of the path that has this one's id.
fn find_places(
    reader: &SessionReader,
    path: &PathRuns,
    compaction: &Compaction,
) -> Result<(Option<u64>, Option<u64>)> {
    let mut place = None;
    let mut first = None;
    for_each_scan(reader, path, |kind, line, scan| {
        let id = scan.members.id.map(|id| id.as_str());
        if place.is_some() {
            return Ok(());
        }
        if kind == EntryKind::Compaction && is_same(id, compaction.id.as_deref()) {
            place = Some(line.ordinal);
        } else if first.is_none() && is_same(id, compaction.first_kept.as_deref()) {
            first = Some(line.ordinal);
        }
        Ok(())
    })?;
    Ok((place, first))
}

/// Scans the path's lines from the root down; what was cut out of them is missing.
fn for_each_scan(
    reader: &SessionReader,
    path: &PathRuns,
    mut take: impl FnMut(EntryKind, &LineView<'_>, &Scan<'_>) -> Result<()>,
) -> Result<()> {
    let mut scanner = Scanner::new();
    let mut cursor = reader.cursor(0);
    for ordinal in path.downwards() {
        let line = cursor.line(ordinal)?;
        let decoded = text::decode(line.text);
        take(kind_of(&line), &line, &scanner.scan(&decoded))?;
    }
    Ok(())
}
