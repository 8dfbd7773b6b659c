//! The fast way: what the index knows at the leaf, and a walk over no more than the context has.

use leafline_import::pi_omp::first_kept_entry_id;
use leafline_import::scan::Scanner;
use leafline_import::text;

use super::super::ancestor::is_ancestor;
use super::super::path::{Climb, PathRuns, WalkEnd};
use super::super::reader::SessionReader;
use super::selection::Selection;
use crate::error::Result;

impl Selection {
    /// What the context at an entry of a regular session is made of.
    pub(super) fn by_index(reader: &SessionReader, leaf: u64) -> Result<Self> {
        let order = reader.order();
        let node = reader.entry_node(leaf)?;
        let climb = |from| Climb::new(reader.snapshot(), order, from);
        let mut selection = Self {
            settings: reader.snapshot().settings(reader.key(), node.settings)?,
            compaction: node.compaction,
            ..Self::default()
        };
        let Some(compaction) = node.compaction else {
            selection.below = PathRuns::walk_to(climb(leaf), WalkEnd::Root)?;
            return Ok(selection);
        };
        selection.below = PathRuns::walk_to(climb(leaf), WalkEnd::Before(compaction))?;
        let compacted = reader.entry_node(compaction)?;
        if compacted.compaction != Some(compaction)
            || compacted.depth.checked_add(selection.below.len()) != Some(node.depth)
        {
            let problem = format!("line {leaf}: its compaction is not above it");
            return Err(order.damage(leaf, problem));
        }
        let above = compacted.parent.ordinal();
        if let (Some(above), Some(first)) = (above, first_kept(reader, compaction)?) {
            selection.kept = PathRuns::walk_to(climb(above), WalkEnd::At(first))?;
            if selection.kept.highest() != Some(first) {
                let problem = format!("line {first} is not above line {compaction}, as it says");
                return Err(order.damage(compaction, problem));
            }
        }
        Ok(selection)
    }
}

/// The first entry that a compaction keeps; `None` where it names none on the path above it.
fn first_kept(reader: &SessionReader, compaction: u64) -> Result<Option<u64>> {
    let (snapshot, session) = (reader.snapshot(), reader.key());
    let line = snapshot.line(session, compaction, None)?;
    // Nothing that was cut out of the line is an id.
    let decoded = text::decode(line.text());
    let scan = Scanner::new().scan(&decoded);
    let Some(id) = first_kept_entry_id(&scan) else {
        return Ok(None);
    };
    let Some(first) = snapshot.entry(session, &id)? else {
        return Ok(None);
    };
    let is_kept = is_ancestor(snapshot, reader.order(), first.ordinal, compaction)?;
    Ok(is_kept.then_some(first.ordinal))
}
