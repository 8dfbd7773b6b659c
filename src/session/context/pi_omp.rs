//! The messages of pi's and omp's contexts.

use leafline_import::{EntryKind, Family};

use super::super::history::HistoryScope;
use super::super::path::{Climb, PathRuns, WalkEnd};
use super::super::reader::SessionReader;
use super::Take;
use super::kind_of;
use super::message::MessageMaker;
use super::selection::Selection;
use super::settings::ContextSettings;
use crate::error::Result;

/// Hands out the messages of the context at an entry, or of the whole path to it, and answers the settings in force.
pub(super) fn tell(
    reader: &SessionReader,
    leaf: Option<u64>,
    family: Family,
    scope: HistoryScope,
    take: Take<'_>,
) -> Result<ContextSettings> {
    let selection = select(reader, leaf, scope)?;
    let mut maker = MessageMaker::new(reader.snapshot(), family);
    let mut cursor = reader.cursor(0);
    let mut message = Vec::new();
    let mut make = |ordinal, is_summary| -> Result<()> {
        let line = cursor.line(ordinal)?;
        message.clear();
        // A compaction gives a message only where it is the one that counts.
        let gives = is_summary || kind_of(&line) != EntryKind::Compaction;
        if gives && maker.append(kind_of(&line), &line, &mut message)? {
            take(&[ordinal], &message)?;
        }
        Ok(())
    };
    if let Some(compaction) = selection.compaction {
        make(compaction, true)?;
    }
    for ordinal in selection.entries() {
        make(ordinal, scope == HistoryScope::Full)?;
    }
    Ok(ContextSettings::of(&selection.settings, family))
}

fn select(reader: &SessionReader, leaf: Option<u64>, scope: HistoryScope) -> Result<Selection> {
    let Some(leaf) = leaf else {
        return Ok(Selection::default());
    };
    if scope == HistoryScope::Context {
        return Selection::at(reader, leaf);
    }
    let climb = Climb::new(reader.snapshot(), reader.order(), leaf);
    Ok(Selection {
        settings: Selection::settings_at(reader, leaf)?,
        below: PathRuns::walk_to(climb, WalkEnd::Root)?,
        ..Selection::default()
    })
}
