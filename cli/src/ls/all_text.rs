//! A session's facts as JSON, with all message text.

use std::io::Write;

use leafline::error::ExportError;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;

/// Receives the text of a message; returning `false` ends the walk.
type TakeText<'t> = &'t mut dyn FnMut(&str) -> leafline::Result<bool>;

/// Writes the facts with the member `all_messages_text`: the texts from `walk`, joined by spaces and written one at a
/// time, so that a long session needs no memory.
pub(super) fn write(
    facts: &impl Serialize,
    walk: impl FnOnce(TakeText<'_>) -> leafline::Result<()>,
    out: &mut Output,
) -> Result<(), Failure> {
    let facts = serde_json::to_string(facts).map_err(Failure::Json)?;
    let members = facts.strip_suffix('}').unwrap_or(&facts);
    write!(out, "{members},\"all_messages_text\":\"")?;
    let mut between = "";
    walk(&mut |text| {
        write_escaped(between, out)?;
        between = " ";
        write_escaped(text, out)?;
        Ok(true)
    })?;
    out.write_all(b"\"}\n")?;
    Ok(())
}

/// Writes the inside of a JSON string.
fn write_escaped(text: &str, out: &mut Output) -> leafline::Result<()> {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inside = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    Ok(out.write_all(inside.as_bytes()).map_err(ExportError::Output)?)
}
