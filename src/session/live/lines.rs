//! The lines of the entries that are appended.

use std::collections::HashSet;
use std::ops::Range;

use leafline_import::Family;
use leafline_import::conversation::PathLimit;
use leafline_import::writing::{EntryDraft, Place};

use super::super::entry::Entry;
use super::super::view::View;
use super::append::exact_id;
use super::change::Tail;
use crate::error::Result;
use crate::store::clock::now;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::PointerKind;

/// Lines from the end of a session in which the call of a result is looked for: the program writes a result soon after its
/// call.
const CALL_WITHIN: u64 = 512;

/// The longest line that is kept for the next append.
pub(super) const MOST_KEPT: usize = 64 << 10;

/// The lines to be appended.
pub(super) struct Lines<'t> {
    /// What the journal says of the session beyond the view, if it does.
    tail: Option<&'t Tail>,
    /// Whether something has to be looked up that the journal may have.
    needs_tables: bool,
    family: Family,
    time: i64,
    text: Vec<u8>,
    /// The entry that the next one follows.
    parent: Option<Parent>,
    entries: Vec<Added>,
    known: HashSet<Vec<u8>>,
}

/// An entry that others follow.
#[derive(Clone)]
struct Parent {
    id: Vec<u8>,
    /// The stored entry that it is, or that it follows over new ones.
    stored: Option<Ordinal>,
    /// The first new entry on the way to the stored one.
    first: Option<usize>,
    line: Line,
}

/// Where the line of an entry is.
#[derive(Clone)]
enum Line {
    Nowhere,
    Stored(Vec<u8>),
    New(Range<usize>),
}

/// A new entry.
struct Added {
    id: String,
    stored: Option<Ordinal>,
    first: usize,
    line: Range<usize>,
}

impl<'t> Lines<'t> {
    /// No lines yet: the first will follow an entry that only the journal has.
    pub(super) fn after(
        view: View<'_>,
        tail: &'t Tail,
        id: Vec<u8>,
        line: Option<Vec<u8>>,
    ) -> Self {
        let line = line.map_or(Line::Nowhere, Line::Stored);
        Self::new(view, Some(tail), Some(Parent { id, stored: None, first: None, line }))
    }

    /// No lines yet: the first will follow this entry. `line` is that of the entry, if it is at hand.
    pub(super) fn below(
        view: View<'_>,
        tail: Option<&'t Tail>,
        above: Option<(Ordinal, Vec<u8>)>,
        line: Option<Vec<u8>>,
    ) -> Result<Self> {
        let family = view.record().known_family();
        let parent = match above {
            None => None,
            Some((ordinal, id)) => {
                let line = match line {
                    Some(line) => Line::Stored(line),
                    None if family.sees_above() => {
                        Line::Stored(view.entry(ordinal)?.line().to_vec())
                    }
                    None => Line::Nowhere,
                };
                Some(Parent { id, stored: Some(ordinal), first: None, line })
            }
        };
        Ok(Self::new(view, tail, parent))
    }

    fn new(view: View<'_>, tail: Option<&'t Tail>, parent: Option<Parent>) -> Self {
        Self {
            tail: tail.filter(|tail| !tail.is_empty()),
            needs_tables: false,
            family: view.record().known_family(),
            time: now(),
            text: Vec::new(),
            parent,
            entries: Vec::new(),
            known: HashSet::new(),
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Whether the lines cannot be made before the journal is in the tables.
    pub(super) fn needs_tables(&self) -> bool {
        self.needs_tables
    }

    /// Whether the last new entry is below another one by new ones alone, whose place is not in the tables.
    pub(super) fn follows_journal(&self) -> bool {
        self.entries.last().is_some_and(|last| last.stored.is_none())
    }

    /// Where the last entry's line is, if a draft that follows it needs it.
    pub(super) fn last_line(&self) -> Option<Range<usize>> {
        let last = self.entries.last().filter(|_| self.family.sees_above())?;
        Some(last.line.clone())
    }

    /// The new ids.
    pub(super) fn ids(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.id.clone()).collect()
    }

    /// The stored entry below which the last new one is; `None` if that is below a root, or if there is none.
    pub(super) fn base(&self) -> Option<Ordinal> {
        self.entries.last()?.stored
    }

    /// The new ids, and the last entry's line if it is worth keeping.
    pub(super) fn finish(self) -> (Vec<String>, Option<Vec<u8>>) {
        let line = self.entries.last().and_then(|last| self.text.get(last.line.clone()));
        let is_kept = |line: &&[u8]| self.family.sees_above() && line.len() <= MOST_KEPT;
        let line = line.filter(is_kept).map(<[u8]>::to_vec);
        (self.entries.into_iter().map(|entry| entry.id).collect(), line)
    }

    pub(super) fn add(&mut self, view: View<'_>, draft: &EntryDraft) -> Result<()> {
        let has = |id: &[u8]| -> Result<bool> {
            let is_journaled = || self.tail.is_some_and(|tail| tail.has(id));
            Ok(self.known.contains(id) || is_journaled() || view.find(id)?.is_some())
        };
        if let Some(target) = draft.target()
            && !has(&target)?
        {
            return Err(view.not_found(&String::from_utf8_lossy(&target)));
        }
        if !draft.is_entry() {
            self.write(view, draft, "", self.parent.clone().as_ref());
            return Ok(());
        }
        let id = self.family.fresh_entry_id(|id| has(id.as_bytes()))?;
        let parent = match draft.call() {
            Some(call) => self.caller(view, &call)?,
            None => None,
        };
        let parent = parent.or_else(|| self.parent.take());
        let line = self.write(view, draft, &id, parent.as_ref());
        let stored = parent.as_ref().and_then(|parent| parent.stored);
        let first = parent.and_then(|parent| parent.first).unwrap_or(self.entries.len());
        self.parent = Some(Parent {
            id: id.clone().into_bytes(),
            stored,
            first: Some(first),
            line: Line::New(line.clone()),
        });
        self.known.insert(id.clone().into_bytes());
        self.entries.push(Added { id, stored, first, line });
        Ok(())
    }

    /// Writes a draft below an entry. Returns the place of its line.
    fn write(
        &mut self,
        view: View<'_>,
        draft: &EntryDraft,
        id: &str,
        parent: Option<&Parent>,
    ) -> Range<usize> {
        let record = view.record();
        // The text grows while it is read: the line above is taken out of it.
        let above = match parent.map(|parent| &parent.line) {
            None | Some(Line::Nowhere) => None,
            Some(Line::Stored(line)) => Some(line.clone()),
            Some(Line::New(_)) if !self.family.sees_above() => None,
            Some(Line::New(range)) => self.text.get(range.clone()).map(<[u8]>::to_vec),
        };
        let start = self.text.len();
        let place = Place {
            session_id: &record.external_id,
            id,
            parent: parent.map(|parent| &*parent.id),
            time_ms: self.time,
            above: above.as_deref(),
            cwd: record.directory(),
        };
        draft.write(&place, &mut self.text);
        start..self.text.len()
    }

    /// The entry with a tool call, the last one of the session.
    fn caller(&mut self, view: View<'_>, call: &[u8]) -> Result<Option<Parent>> {
        for (place, entry) in self.entries.iter().enumerate().rev() {
            let line = self.text.get(entry.line.clone()).unwrap_or_default();
            if self.family.has_call(line, call) {
                let first = Some(entry.first.min(place));
                let (id, stored) = (entry.id.clone().into_bytes(), entry.stored);
                return Ok(Some(Parent { id, stored, first, line: Line::New(entry.line.clone()) }));
            }
        }
        if self.tail.is_some() {
            let is_caller = |parent: &&Parent| matches!(&parent.line, Line::Stored(line) if self.family.has_call(line, call));
            let parent = self.parent.as_ref().filter(is_caller).cloned();
            self.needs_tables |= parent.is_none();
            return Ok(parent);
        }
        let end = view.record().lines;
        for number in (end.saturating_sub(CALL_WITHIN)..end).rev() {
            let ordinal = Ordinal::new(number);
            let entry = view.entry(ordinal)?;
            if self.family.has_call(entry.line(), call)
                && let Some(id) = exact_id(view.reading(), entry.line())
            {
                let line = Line::Stored(entry.line().to_vec());
                return Ok(Some(Parent { id, stored: Some(ordinal), first: None, line }));
            }
        }
        Ok(None)
    }

    /// Adds the lines without which a reader of the file would take another entry than the last new one for the leaf: those
    /// in the file that name the leaf name one that is not above it.
    pub(super) fn name_leaf(&mut self, view: View<'_>) -> Result<()> {
        let Some(last) = self.entries.last().filter(|_| self.family.names_leaf()) else {
            return Ok(());
        };
        let (stored, first) = (last.stored, last.first);
        let id = self.entries.get(first).map(|first| first.id.clone()).unwrap_or_default();
        for kind in [PointerKind::LastPrompt, PointerKind::Summary] {
            let Some((ordinal, named)) = last_pointer(view, kind)? else { continue };
            let is_above = match stored {
                Some(stored) => is_at_or_above(view, named, stored)?,
                None => false,
            };
            // A summary that stands below the entry that it names is out of date once a message follows.
            let holds = kind == PointerKind::LastPrompt || named > ordinal;
            if holds && !is_above {
                let summary = match kind {
                    PointerKind::Summary => Some(view.entry(ordinal)?),
                    _ => None,
                };
                let summary = summary.as_ref().map(Entry::line);
                let session = &view.record().external_id;
                self.family.leaf_line(id.as_bytes(), summary, session, &mut self.text);
            }
        }
        Ok(())
    }
}

/// The places of the last record of a kind that names an entry of the session, and of that entry.
fn last_pointer(view: View<'_>, kind: PointerKind) -> Result<Option<(Ordinal, Ordinal)>> {
    let mut found = None;
    view.rows().pointers_backwards(|ordinal, pointer| {
        if pointer.kind == kind
            && let Some(target) = &pointer.target
            && let Some(named) = view.find(target)?
        {
            found = Some((ordinal, named));
        }
        Ok(found.is_none())
    })?;
    Ok(found)
}

/// Whether an entry is another one, or above it.
fn is_at_or_above(view: View<'_>, above: Ordinal, entry: Ordinal) -> Result<bool> {
    if !view.order().is_regular() {
        let path = view.walk(entry).up_to(PathLimit::At(above.raw()))?;
        return Ok(path.contains(above.raw()));
    }
    let depth = view.entry_node(above)?.depth;
    let mut at = entry;
    loop {
        let node: Node = view.entry_node(at)?;
        if at == above || node.depth <= depth {
            return Ok(at == above);
        }
        let Some(parent) = node.parent.ordinal() else { return Ok(false) };
        // Each step leads to an earlier line: in a regular session parents come first.
        let jump = view.entry_node(node.jump)?;
        at = if node.jump < at && jump.depth >= depth { node.jump } else { parent };
    }
}
