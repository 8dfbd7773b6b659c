//! The entry at which a program resumes a session: the leaf by the program's rule, which may differ from the store's.

use leafline_import::EntryKind;
use leafline_import::format::EntryIds;
use leafline_import::leaf::LeafHint;

use super::super::index::leaf::{Committed, decide};
use super::super::view::View;
use super::super::{Entry, Session, SessionReader};
use super::RepeatedIds;
use super::append::exact_id;
use crate::error::Result;
use crate::session::index::growth::last_leading_entry;
use crate::store::ordinal::Ordinal;

impl Session {
    /// If the session's program would not start at the leaf, appends a line that makes it start there: for Claude Code, the
    /// record that it writes when its user goes back; for pi and omp, an entry that clears a label that does not exist. Returns
    /// true if the program now starts at the leaf.
    pub(crate) fn begin_at_leaf(&mut self) -> Result<bool> {
        let reader = self.reader()?;
        let view = reader.view();
        let family = self.reading.family;
        // A program that saves the whole file states the leaf in the header, a session that is not a tree ends at its leaf, and
        // no program resumes an agent.
        let states_it = family.saves_whole()
            || family.entry_ids() == EntryIds::Ordinals
            || view.record().agent.is_some();
        if states_it || leaf_by_program(view)? == view.rows().leaf()? {
            return Ok(true);
        }
        if family.names_leaf() {
            let leaf = reader.get_leaf()?;
            // Claude Code ignores a record that names any other entry.
            let is_main = |leaf: &Entry| leaf.kind() == EntryKind::Message && !leaf.is_sidechain();
            if !leaf.as_ref().is_none_or(is_main) {
                return Ok(false);
            }
            let leaf = leaf.and_then(|leaf| exact_id(self.reading, leaf.line()));
            let mut line = Vec::new();
            let session = &view.record().external_id;
            family.explicit_leaf_line(leaf.as_deref(), session, &mut line);
            self.append_lines(&line, RepeatedIds::Add)?;
        } else {
            let Some((target, label)) = label_to_repeat(&reader)? else { return Ok(false) };
            self.label(&target, label.as_deref())?;
        }
        let reader = self.reader()?;
        Ok(leaf_by_program(reader.view())? == reader.view().rows().leaf()?)
    }
}

/// The leaf of a session by its program's rule.
fn leaf_by_program(view: View<'_>) -> Result<Option<Ordinal>> {
    let last = last_leading_entry(view)?;
    let pointers = view.rows().pointers()?;
    let mut lines = Committed { view };
    Ok(decide(&mut lines, view.record().into(), &pointers, &LeafHint::None, last)?.leaf)
}

/// An entry and its current label; preferably an entry without a label.
fn label_to_repeat(reader: &SessionReader) -> Result<Option<(String, Option<String>)>> {
    let mut labelled = None;
    for ordinal in Ordinal::FIRST.up_to(Ordinal::after(reader.record().lines)).rev() {
        let entry = reader.view().entry(ordinal)?;
        let Some(id) = entry.id().filter(|_| entry.kind().is_entry()) else { continue };
        let label = reader.get_label(&id)?;
        let is_free = label.is_none();
        labelled = Some((id, label));
        if is_free {
            break;
        }
    }
    Ok(labelled)
}
