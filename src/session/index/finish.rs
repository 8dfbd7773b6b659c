//! Decides what depends on all lines of a session: parents that come later, and the leaf.

use leafline_import::leaf::LeafHint;

use super::super::view::View;
use super::facts;
use super::leaf;
use super::resolve::resolve;
use crate::error::Result;
use crate::store::Store;
use crate::store::commit::{Committed, Creation};
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::PointerRecord;
use crate::store::session_record::SessionRecord;

/// A session with all its lines in rows, but without its record and its leaf.
pub(crate) struct Indexed {
    pub(crate) record: SessionRecord,
    pub(crate) leaf: Option<Ordinal>,
    /// Whether the parents must be resolved again, since some come later than their children.
    pub(crate) needs_resolving: bool,
    pub(super) leaf_facts: LeafFacts,
}

/// The facts that decide the leaf of an irregular session.
pub(super) struct LeafFacts {
    pub(super) pointers: Vec<(Ordinal, PointerRecord)>,
    pub(super) hint: LeafHint,
    pub(super) last: Option<Ordinal>,
}

/// Which entry is the leaf of a new session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NewLeaf {
    /// The one that the family's rule selects.
    ByRule,
    /// The entry on this line, or none.
    Line(Option<Ordinal>),
}

impl Indexed {
    /// Notes the commit with the last of the rows.
    pub(crate) fn note(&mut self, creation: &mut Creation, committed: &Committed) {
        self.record.duplicates += creation.note(committed);
    }

    /// Decides what depends on all rows, which must be committed if [`Self::needs_resolving`] says so. Returns the
    /// record and the leaf.
    pub(crate) fn settle(
        self,
        store: &Store,
        creation: &mut Creation,
        leaf: NewLeaf,
    ) -> Result<(SessionRecord, Option<Ordinal>)> {
        let Self { mut record, leaf: mut by_rule, needs_resolving, leaf_facts } = self;
        let is_irregular = needs_resolving || record.duplicates > 0;
        if is_irregular {
            record.irregular = true;
            record.orphans = resolve(store, creation, &record)?;
        }
        match leaf {
            NewLeaf::Line(leaf) => return Ok((record, leaf)),
            NewLeaf::ByRule if is_irregular => {
                by_rule = leaf_facts.decide(store, creation, &mut record)?;
            }
            NewLeaf::ByRule => {}
        }
        Ok((record, by_rule))
    }
}

impl LeafFacts {
    /// The leaf of the committed session, with all its parents; the record gets the title that depends on the leaf.
    fn decide(
        &self,
        store: &Store,
        creation: &Creation,
        record: &mut SessionRecord,
    ) -> Result<Option<Ordinal>> {
        let snapshot = store.snapshot()?;
        let view = View::new(snapshot.rows(creation.session()), record);
        let mut lines = leaf::Committed { view };
        let facts = (&*record).into();
        let decided = leaf::decide(&mut lines, facts, &self.pointers, &self.hint, self.last)?;
        facts::set_summary(record, decided.summary);
        Ok(decided.leaf)
    }
}
