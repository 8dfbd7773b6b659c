//! The change of settings that a stored line makes.

use leafline_import::{Effect, SettingsChange, read_line};

use super::lines::LineView;
use super::view::{View, rendered};
use crate::error::Result;

/// How a line changes the settings of its path; `stored` is the change read from the line in its stored form.
pub(super) fn whole_change(
    view: View<'_>,
    line: &LineView<'_>,
    stored: SettingsChange,
) -> Result<Option<SettingsChange>> {
    // Of all settings only a mode's data can contain what is cut out of lines.
    let is_whole = !matches!(stored, SettingsChange::Mode { .. })
        || !line.holes.iter().any(|hole| hole.kind.is_cut());
    if is_whole {
        return Ok(Some(stored));
    }
    let whole = rendered(view.snapshot(), line.text, line.holes)?;
    Ok(match read_line(view.reading(), &whole, |line| line.effect()) {
        Some(Effect::Settings(change)) => Some(change),
        _ => None,
    })
}
