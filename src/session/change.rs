//! The change of settings that a stored line makes.

use leafline_import::scan::{Scan, Scanner};
use leafline_import::{EntryKind, text};

use super::index::effect::{SettingsChange, settings_change};
use super::lines::LineView;
use super::render::{Renderer, Rendering};
use crate::error::Result;
use crate::store::snapshot::Snapshot;

/// How a line changes the settings of the path that it is on; `scan` is of the line as it is stored.
pub(super) fn change_of(
    snapshot: &Snapshot,
    kind: EntryKind,
    line: &LineView<'_>,
    scan: &Scan<'_>,
) -> Result<Option<SettingsChange>> {
    // Of all settings only a mode's data can hold what is cut out of lines.
    let is_whole =
        kind != EntryKind::ModeChange || !line.holes.iter().any(|hole| hole.kind.is_cut());
    if is_whole {
        return Ok(settings_change(kind, scan));
    }
    let mut whole = Vec::new();
    Renderer::new(snapshot, Rendering::Exact).render(line.text, line.holes, &mut whole)?;
    Ok(settings_change(kind, &Scanner::new().scan(&text::decode(&whole))))
}
