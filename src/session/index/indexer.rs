//! The part of indexing that needs order: ordinals, parents, depths, settings, and the rows of each table.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use leafline_import::EntryKind;

use super::super::order::Order;
use super::super::reader::is_entry;
use super::effect::{Effect, SettingsChange};
use super::facts;
use super::leaf::{self, LeafHint, LeafSourceLines};
use super::nodes::{Ancestor, NODE_WINDOW, NodeWindow};
use super::prepare::{ParentName, Prepared, PreparedBlob, PreparedLine};
use super::window::EntryWindow;
use crate::error::Result;
use crate::store::Store;
use crate::store::chunk::{ChunkBuilder, EncodedFrame};
use crate::store::entry_record::EntryRecord;
use crate::store::node::{Node, Parent};
use crate::store::pointer_record::{PointerKind, PointerRecord};
use crate::store::session_record::SessionRecord;
use crate::store::settings_record::SettingsRecord;
use crate::store::slice::{BlobGain, Slice};
use crate::store::snapshot::Snapshot;
use crate::store::tables::NO_PARENT;
use crate::store::type_counts::{OTHER, TypeCount};

/// Bytes of values that a slice gathers before it is committed: a tenth of a second, and so the longest that
/// a live agent waits.
const SLICE_BYTES: usize = 16 << 20;

/// Lines a slice gathers: what the node window has forgotten must be committed.
const SLICE_LINES: u64 = NODE_WINDOW as u64 / 2;

/// Bytes of blobs that wait for their chunk: lines are short once their images are cut out.
const CHUNK_BLOB_BYTES: usize = 4 << 20;

/// Parents that are remembered until the end of the file, since they may yet come.
const UNRESOLVED: usize = 100_000;

/// Different type names that a session's counts tell apart.
const TYPE_NAMES: usize = 256;

/// Settings that are remembered, so that equal ones share a row.
const SETTINGS_REMEMBERED: usize = 4096;

/// Turns the lines of one session, in order, into rows.
pub(crate) struct Indexer<'s> {
    store: &'s Store,
    session: u64,
    record: SessionRecord,
    chunk: ChunkBuilder,
    /// What the chunk's lines refer to.
    blobs: Vec<BlobGain>,
    blob_bytes: usize,
    entries: EntryWindow,
    nodes: NodeWindow,
    settings: HashMap<Arc<SettingsRecord>, u64>,
    settings_by_id: HashMap<u64, Arc<SettingsRecord>>,
    previous: Option<(Vec<u8>, u64)>,
    unresolved: Vec<Vec<u8>>,
    /// Whether entries were committed which the window no longer holds.
    has_committed: bool,
    snapshot: Option<Snapshot>,
    leaf: Option<u64>,
    /// Whether more parents were unresolved than are remembered.
    overflowed: bool,
    /// The first header's ordinal, once it was met.
    header: Option<u64>,
    /// What points to entries, in the order of the lines.
    pointers: Vec<(u64, PointerRecord)>,
    /// What the file's header says of the leaf.
    hint: LeafHint,
    /// Whether the lines are made here, so that the last entry is the leaf.
    is_live: bool,
    /// Entries that shared an id with a later one before the first of these lines.
    duplicates: u64,
}

/// A session's rows are all written but for its record.
pub(crate) struct Indexed {
    pub(crate) record: SessionRecord,
    pub(crate) leaf: Option<u64>,
    /// What decides about the leaf again, once the parents are resolved.
    pub(crate) leaf_facts: UndecidedLeaf,
    /// Whether the parents must be resolved again, since some come later than their children.
    pub(crate) needs_resolving: bool,
}

/// What the leaf of an irregular session is decided by.
pub(crate) struct UndecidedLeaf {
    pointers: Vec<(u64, PointerRecord)>,
    hint: LeafHint,
    last: Option<u64>,
}

impl UndecidedLeaf {
    /// The leaf of the session as it is committed, with all its parents; the record gets the title that goes with it.
    pub(crate) fn decide(
        &self,
        store: &Store,
        session: u64,
        record: &mut SessionRecord,
    ) -> Result<Option<u64>> {
        let snapshot = store.snapshot()?;
        let order = Order::of(session, record);
        let mut lines = leaf::Committed { snapshot: &snapshot, order };
        let decided = leaf::decide(&mut lines, record, &self.pointers, &self.hint, self.last)?;
        facts::set_summary(record, decided.summary);
        Ok(decided.leaf)
    }
}

impl<'s> Indexer<'s> {
    /// An indexer for a new session, or for the continuation of one that is in the store.
    pub(crate) fn new(
        store: &'s Store,
        session: u64,
        record: SessionRecord,
        leaf: Option<u64>,
        dictionary: u32,
    ) -> Self {
        let next = record.lines;
        Self {
            store,
            session,
            chunk: ChunkBuilder::new(next, dictionary),
            blobs: Vec::new(),
            blob_bytes: 0,
            entries: EntryWindow::default(),
            nodes: NodeWindow::new(next),
            settings: HashMap::new(),
            settings_by_id: HashMap::new(),
            previous: None,
            unresolved: Vec::new(),
            has_committed: next > 0,
            snapshot: None,
            leaf,
            overflowed: false,
            header: (next > 0).then_some(record.header),
            pointers: Vec::new(),
            hint: LeafHint::None,
            is_live: false,
            duplicates: record.duplicates,
            record,
        }
    }

    /// Lets it look in this snapshot for what is committed, until the next commit.
    pub(crate) fn look_in(&mut self, snapshot: Snapshot) {
        self.snapshot = Some(snapshot);
    }

    /// Tells it that the lines are made here: the last entry is the leaf.
    pub(crate) fn set_live(&mut self) {
        self.is_live = true;
    }

    /// Tells it what the file's header says of the leaf.
    pub(crate) fn hint(&mut self, hint: LeafHint) {
        self.hint = hint;
    }

    /// Tells it what pointed to entries among the lines that are there already.
    pub(crate) fn know_pointers(&mut self, pointers: Vec<(u64, PointerRecord)>) {
        self.pointers = pointers;
    }

    /// Tells it of the committed entry that the next line's parent is, if it has this id.
    pub(crate) fn know(&mut self, id: Vec<u8>, ordinal: u64) {
        self.previous = Some((id, ordinal));
    }

    /// Whether the slice should be committed before more is added.
    pub(crate) fn is_slice_full(slice: &Slice) -> bool {
        slice.weight >= SLICE_BYTES || slice.lines >= SLICE_LINES
    }

    /// Forgets what is no longer true after a commit: the snapshot shows the store before it.
    pub(crate) fn after_commit(&mut self, replaced_entries: u64) {
        self.snapshot = None;
        self.record.duplicates += replaced_entries;
        if self.settings.len() > SETTINGS_REMEMBERED {
            self.settings.clear();
            self.settings_by_id.clear();
        }
    }

    /// Adds a block of lines. Answers whether the window was moved into the slice, which must then be
    /// committed before the next block.
    pub(crate) fn add(&mut self, prepared: Prepared, slice: &mut Slice) -> Result<bool> {
        let Prepared { lines, names, frames, blobs, effects, types, bytes, text_bytes } = prepared;
        self.count(&lines, types, bytes, text_bytes);
        slice.lines += lines.len() as u64;
        let mut blobs = blobs.into_iter();
        let mut effects = effects.into_iter().peekable();
        let mut lines = lines.iter().enumerate();
        let mut nodes = Vec::new();
        for frame in frames.iter() {
            nodes.clear();
            for (index, line) in lines.by_ref().take(frame.lengths.len()) {
                let effect = effects.next_if(|(at, _)| *at == index).map(|(_, effect)| effect);
                nodes.push(self.add_line(line, &names, effect, slice)?);
            }
            self.add_frame(&frame, &nodes, blobs.by_ref().take(frame.holes.len()), slice);
        }
        let full = self.entries.is_full();
        if full {
            self.load_entries(slice);
        }
        Ok(full)
    }

    fn count(
        &mut self,
        lines: &[PreparedLine],
        types: Vec<(String, u64, u64)>,
        bytes: u64,
        text_bytes: u64,
    ) {
        let record = &mut self.record;
        record.bytes += bytes;
        record.text_bytes += text_bytes;
        let before = record.lines;
        for (index, line) in (0..).zip(lines) {
            facts::count(record, line);
            record.unaddressed += u64::from(line.kind.is_entry() && line.id.is_none());
            if line.kind == EntryKind::Header && self.header.is_none() {
                record.header = before + index;
                self.header = Some(record.header);
            }
        }
        for (name, lines, bytes) in types {
            let known = record.types.iter().position(|count| count.name == name);
            let name = if known.is_none() && record.types.len() >= TYPE_NAMES {
                OTHER.to_owned()
            } else {
                name
            };
            match record.types.iter_mut().find(|count| count.name == name) {
                Some(count) => {
                    count.lines += lines;
                    count.bytes += bytes;
                }
                None => record.types.push(TypeCount { name, lines, bytes }),
            }
        }
    }

    fn add_frame(
        &mut self,
        frame: &EncodedFrame<'_>,
        nodes: &[Node],
        blobs: impl Iterator<Item = PreparedBlob>,
        slice: &mut Slice,
    ) {
        let is_full = self.blob_bytes >= CHUNK_BLOB_BYTES || !self.chunk.has_room(frame, nodes);
        if !self.chunk.is_empty() && is_full {
            self.close_chunk(slice);
        }
        if self.chunk.is_empty() {
            self.entries.begin_chunk(self.chunk.first());
        }
        for (hole, blob) in frame.holes.iter().zip(blobs) {
            self.blob_bytes += blob.bytes.as_ref().map_or(0, Vec::len);
            self.blobs.push(BlobGain {
                session: self.session,
                hash: blob.hash,
                bytes: blob.bytes,
                hole: hole.kind.is_cut(),
                reference: true,
            });
        }
        self.chunk.push(frame, nodes);
    }

    /// Moves the chunk into the slice, and with it the references that its lines make: one transaction
    /// counts them and stores who made them, so that a sweep takes back what was counted.
    fn close_chunk(&mut self, slice: &mut Slice) {
        let next = ChunkBuilder::new(self.chunk.next_ordinal(), self.chunk.dictionary());
        let full = std::mem::replace(&mut self.chunk, next);
        let first = full.first();
        if !full.is_empty() {
            slice.push_chunk(self.session, first, full.finish());
        }
        slice.weight += self.blob_bytes + 40 * self.blobs.len();
        slice.blobs.append(&mut self.blobs);
        self.blob_bytes = 0;
    }

    fn add_line(
        &mut self,
        line: &PreparedLine,
        names: &[u8],
        effect: Option<Effect>,
        slice: &mut Slice,
    ) -> Result<Node> {
        let ordinal = self.record.lines;
        self.record.lines += 1;
        let mut node = Node {
            kind: line.kind.code(),
            role: line.role.code(),
            is_sidechain: line.is_sidechain,
            time: line.time,
            jump: ordinal,
            ..Node::default()
        };
        let settings = self.apply(effect, ordinal, slice);
        facts::note_message(&mut self.record, line, ordinal);
        if line.kind.is_entry() {
            self.place(&mut node, ordinal, line, names, settings, slice)?;
        }
        self.nodes.push(&node);
        Ok(node)
    }

    /// Puts an entry into the tree.
    fn place(
        &mut self,
        node: &mut Node,
        ordinal: u64,
        line: &PreparedLine,
        names: &[u8],
        change: Option<SettingsChange>,
        slice: &mut Slice,
    ) -> Result<()> {
        let name = |range: &Range<usize>| names.get(range.clone()).unwrap_or_default();
        let id = line.id.as_ref().map(name);
        node.parent = match &line.parent {
            ParentName::None => Parent::None,
            ParentName::NoId => Parent::Orphan,
            ParentName::Id(range) if Some(name(range)) == id => Parent::Orphan,
            ParentName::Id(range) => self.find_parent(name(range))?,
        };
        self.record.orphans += u64::from(node.parent == Parent::Orphan);
        let mut settings = 0;
        if let Parent::At(parent) = node.parent {
            let above = self.ancestor(parent)?;
            node.depth = above.depth.saturating_add(1);
            node.compaction = above.compaction();
            node.jump = self.jump(parent, above)?;
            settings = above.settings;
        }
        node.settings = match change {
            Some(change) => self.changed_settings(settings, &change, slice)?,
            None => settings,
        };
        if line.kind == EntryKind::Compaction {
            node.compaction = Some(ordinal);
        }
        match node.parent.ordinal() {
            Some(parent) if parent + 1 == ordinal => {}
            Some(parent) => slice.children.push((self.session, parent, ordinal)),
            None => slice.children.push((self.session, NO_PARENT, ordinal)),
        }
        self.leaf = Some(ordinal);
        if let Some(id) = id {
            self.record.duplicates += u64::from(self.entries.insert(id, ordinal).is_some());
            let previous = self.previous.get_or_insert_default();
            previous.0.clear();
            previous.0.extend_from_slice(id);
            previous.1 = ordinal;
        }
        Ok(())
    }

    fn find_parent(&mut self, id: &[u8]) -> Result<Parent> {
        if let Some((previous, ordinal)) = &self.previous
            && previous == id
        {
            return Ok(Parent::At(*ordinal));
        }
        if let Some(ordinal) = self.find(id)? {
            return Ok(Parent::At(ordinal));
        }
        if self.unresolved.len() < UNRESOLVED {
            self.unresolved.push(id.to_vec());
        } else {
            self.overflowed = true;
        }
        Ok(Parent::Orphan)
    }

    /// The ordinal of an entry of this session, whether it is committed yet or not.
    fn find(&mut self, id: &[u8]) -> Result<Option<u64>> {
        if let Some(ordinal) = self.entries.find(id) {
            return Ok(Some(ordinal));
        }
        if !self.has_committed {
            return Ok(None);
        }
        let session = self.session;
        Ok(self.snapshot()?.entry(session, id)?.map(|record: EntryRecord| record.ordinal))
    }

    fn snapshot(&mut self) -> Result<&Snapshot> {
        let snapshot = match self.snapshot.take() {
            Some(snapshot) => snapshot,
            None => self.store.snapshot()?,
        };
        Ok(self.snapshot.insert(snapshot))
    }

    /// What is to be known of a line that was added, now or before.
    fn ancestor(&mut self, ordinal: u64) -> Result<Ancestor> {
        let order = Order::of(self.session, &self.record);
        if !self.nodes.forgot(ordinal) {
            let known = self.nodes.get(ordinal);
            return known.ok_or_else(|| order.damage(ordinal, format!("no line {ordinal} yet")));
        }
        let node = order.line(self.snapshot()?, ordinal)?;
        if is_entry(&node) {
            order.check(ordinal, &node)?;
        }
        Ok(Ancestor::from(&node))
    }

    /// The jump pointer of a child: the parent's, one step further, where two jumps of equal length follow
    /// each other, else the parent. Any ancestor is then a logarithmic number of steps away.
    fn jump(&mut self, parent: u64, above: Ancestor) -> Result<u64> {
        let far = self.ancestor(above.jump)?;
        let farther = self.ancestor(far.jump)?;
        let equal =
            above.depth - far.depth.min(above.depth) == far.depth - farther.depth.min(far.depth);
        Ok(if equal { far.jump } else { parent })
    }

    fn changed_settings(
        &mut self,
        before: u64,
        change: &SettingsChange,
        slice: &mut Slice,
    ) -> Result<u64> {
        let old = self.settings_of(before)?;
        // Most messages of the assistant name the model that is in force.
        if change.changes_nothing(&old) {
            return Ok(before);
        }
        let new = Arc::new(change.apply(&old));
        if new == old {
            return Ok(before);
        }
        if let Some(id) = self.settings.get(&new) {
            return Ok(*id);
        }
        // 0 stands for the settings of a root that changes nothing, and has no row.
        self.record.settings += 1;
        let id = self.record.settings;
        slice.settings.push(((self.session, id), SettingsRecord::clone(&new)));
        self.settings_by_id.insert(id, Arc::clone(&new));
        self.settings.insert(new, id);
        Ok(id)
    }

    fn settings_of(&mut self, id: u64) -> Result<Arc<SettingsRecord>> {
        if let Some(known) = self.settings_by_id.get(&id) {
            return Ok(Arc::clone(known));
        }
        let session = self.session;
        let record = Arc::new(self.snapshot()?.settings(session, id)?);
        self.settings_by_id.insert(id, Arc::clone(&record));
        Ok(record)
    }

    /// Carries an effect out; a change of settings is answered, since it depends on the parent's.
    fn apply(
        &mut self,
        effect: Option<Effect>,
        ordinal: u64,
        slice: &mut Slice,
    ) -> Option<SettingsChange> {
        match effect? {
            Effect::Settings(change) => return Some(change),
            Effect::Label { target, label } => {
                slice.labels.push(((self.session, target), ordinal, label));
            }
            Effect::Title { title, rank } => facts::set_title(&mut self.record, title, rank),
            Effect::Pointer { kind, target, text } => {
                let message_before =
                    self.record.last_message.filter(|_| kind == PointerKind::Boundary);
                let pointer = PointerRecord { kind, target, text, message_before };
                slice.weight += 64;
                slice.pointers.push(((self.session, ordinal), pointer.clone()));
                self.pointers.push((ordinal, pointer));
            }
            Effect::Prompt(prompt) => {
                self.record.first_prompt.get_or_insert(prompt);
            }
        }
        None
    }

    fn load_entries(&mut self, slice: &mut Slice) {
        let session = self.session;
        let sorted = self.entries.drain_sorted(session);
        if !sorted.is_empty() {
            slice.entries.push(sorted);
        }
        self.has_committed = true;
        // The chunk under way goes on, and its lines are looked up in it.
        if !self.chunk.is_empty() {
            self.entries.begin_chunk(self.chunk.first());
        }
    }

    /// Writes what is left. After this the slice must be committed; the record is not in it yet.
    pub(crate) fn finish(mut self, slice: &mut Slice) -> Result<Indexed> {
        self.close_chunk(slice);
        let unresolved = std::mem::take(&mut self.unresolved);
        let mut needs_resolving = self.overflowed || self.record.duplicates > self.duplicates;
        for id in unresolved {
            needs_resolving = needs_resolving || self.find(&id)?.is_some();
        }
        let mut leaf = self.leaf;
        let pointers = std::mem::take(&mut self.pointers);
        let hint = std::mem::take(&mut self.hint);
        if !needs_resolving && self.family_decides()? {
            let record = self.record.clone();
            let decided = leaf::decide(&mut self, &record, &pointers, &hint, leaf)?;
            facts::set_summary(&mut self.record, decided.summary);
            leaf = decided.leaf;
        }
        self.load_entries(slice);
        facts::set_modified(&mut self.record);
        let leaf_facts = UndecidedLeaf { pointers, hint, last: self.leaf };
        Ok(Indexed { record: self.record, leaf, leaf_facts, needs_resolving })
    }

    /// Whether the last entry need not be the leaf.
    fn family_decides(&self) -> Result<bool> {
        Ok(!self.record.known_family().is_pi_omp() && !self.is_live)
    }
}

impl LeafSourceLines for Indexer<'_> {
    fn find(&mut self, id: &[u8]) -> Result<Option<u64>> {
        Indexer::find(self, id)
    }

    fn node(&mut self, ordinal: u64) -> Result<Ancestor> {
        self.ancestor(ordinal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_bounds() {
        use crate::documented::{bound, number};
        let slice = format!("{} MiB of values, {} lines", SLICE_BYTES >> 20, number(SLICE_LINES));
        assert_eq!(bound("a slice"), slice);
        let blobs = format!("{} MiB, one frame's aside", CHUNK_BLOB_BYTES >> 20);
        assert_eq!(bound("blobs of a chunk"), blobs);
        assert!(bound("parents not found yet").starts_with(&number(UNRESOLVED)));
        assert!(bound("type names counted").starts_with(&number(TYPE_NAMES)));
        assert!(bound("settings remembered").starts_with(&number(SETTINGS_REMEMBERED)));
    }
}
