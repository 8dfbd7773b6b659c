//! The part of indexing that needs order: ordinals, parents, depths, settings, and the rows of each table.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use leafline_import::format::EntryIds;
use leafline_import::leaf::{LeafHint, LineNode, SessionLines};
use leafline_import::{Effect, EntryKind, SettingsChange, UsageReport};

use super::super::order::Order;
use super::super::view::View;
use super::facts;
use super::finish::{Indexed, LeafFacts};
use super::leaf;
use super::nodes::{Ancestor, NodeWindow};
use super::prepare::{ParentName, Prepared, PreparedBlob, PreparedLine};
use super::usage::UsageIndexer;
use super::window::EntryWindow;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::chunk::{ChunkBuilder, EncodedFrame};
use crate::store::commit::{BlobReference, Rows};
use crate::store::node::{Node, Parent};
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::{PointerKind, PointerRecord};
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::settings_record::SettingsRecord;
use crate::store::snapshot::Snapshot;
use crate::store::type_counts::{OTHER, TypeCount};
use crate::store::usage_rows::UsageTail;

/// Bytes of blobs that wait for their chunk: lines are short once their images are cut out.
const CHUNK_BLOB_BYTES: usize = 4 << 20;

/// How many unresolved parents are kept until the end of the file, since they may come later.
const UNRESOLVED: usize = 100_000;

/// The number of type names that a session's counts distinguish.
const TYPE_NAMES: usize = 256;

/// How many settings are kept, so that equal ones share a row.
const SETTINGS_REMEMBERED: usize = 4096;

/// Turns the lines of one session, in order, into rows.
pub(crate) struct Indexer<'s> {
    store: &'s Store,
    session: SessionKey,
    record: SessionRecord,
    chunk: ChunkBuilder,
    /// The blobs that the chunk's lines refer to.
    blobs: Vec<BlobReference>,
    blob_bytes: usize,
    entries: EntryWindow,
    nodes: NodeWindow,
    settings: HashMap<Arc<SettingsRecord>, u64>,
    settings_by_id: HashMap<u64, Arc<SettingsRecord>>,
    previous: Option<(Vec<u8>, Ordinal)>,
    unresolved: Vec<Vec<u8>>,
    /// Whether there are committed entries that are no longer in the window.
    has_committed: bool,
    snapshot: Option<Snapshot>,
    leaf: Option<Ordinal>,
    /// Whether more parents were unresolved than are kept.
    overflowed: bool,
    /// The first header, once there is one.
    header: Option<Ordinal>,
    /// The records that point to entries, in the order of the lines.
    pointers: Vec<(Ordinal, PointerRecord)>,
    /// What the file's header says about the leaf.
    hint: LeafHint,
    /// Whether the lines are written here, so that the last entry is the leaf.
    is_live: bool,
    /// Entries before the first of these lines that shared an id with a later one.
    duplicates: u64,
    /// Whether entries are named by their ordinals, not by ids in their lines.
    names_by_ordinal: bool,
    /// Counts the usage that lines report; made with the first report.
    usage: Option<UsageIndexer>,
    /// Whether the session had lines before.
    is_continued: bool,
}

/// Where the lines come from, and what is known before they are read.
pub(crate) enum Start {
    /// A new session's file, with what its header says about the leaf.
    File(LeafHint),
    /// A new session's lines, written here: the last entry is the leaf.
    Made,
    /// The lines that a session's file has gained.
    Grown {
        leaf: Option<Ordinal>,
        hint: LeafHint,
        /// The pointers in the existing lines.
        pointers: Vec<(Ordinal, PointerRecord)>,
        /// The state of the store, if it cannot change before the commit.
        snapshot: Option<Box<Snapshot>>,
    },
    /// Entries appended here: the last one is the leaf.
    Appended {
        leaf: Option<Ordinal>,
        /// The state of the store, which cannot change before the commit.
        snapshot: Box<Snapshot>,
        /// The id that the first of them names as its parent, and that entry's line.
        above: Option<(Vec<u8>, Ordinal)>,
    },
}

impl<'s> Indexer<'s> {
    /// An indexer for the lines after those that the record counts: none for a new session.
    pub(crate) fn new(
        store: &'s Store,
        session: SessionKey,
        record: SessionRecord,
        start: Start,
        dictionary: u32,
    ) -> Self {
        let next = Ordinal::after(record.lines);
        let has_lines = record.lines > 0;
        let is_live = matches!(start, Start::Made | Start::Appended { .. });
        let (mut leaf, mut hint, mut pointers) = (None, LeafHint::None, Vec::new());
        let (mut snapshot, mut previous) = (None, None);
        match start {
            Start::File(of_file) => hint = of_file,
            Start::Made => {}
            Start::Grown { leaf: before, hint: of_file, pointers: there, snapshot: current } => {
                (leaf, hint, pointers) = (before, of_file, there);
                snapshot = current.map(|current| *current);
            }
            Start::Appended { leaf: before, snapshot: current, above } => {
                (leaf, snapshot, previous) = (before, Some(*current), above);
            }
        }
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
            previous,
            unresolved: Vec::new(),
            has_committed: has_lines,
            snapshot,
            leaf,
            overflowed: false,
            header: has_lines.then_some(record.header),
            pointers,
            hint,
            is_live,
            duplicates: record.duplicates,
            names_by_ordinal: record.known_family().entry_ids() == EntryIds::Ordinals,
            usage: None,
            is_continued: has_lines,
            record,
        }
    }

    /// The session's facts, before there are lines.
    pub(crate) fn record_mut(&mut self) -> &mut SessionRecord {
        &mut self.record
    }

    /// Notes a commit in which this many entries replaced earlier ones with the same id. The snapshot shows the store
    /// before it.
    pub(crate) fn after_commit(&mut self, replaced_entries: u64) {
        self.snapshot = None;
        self.record.duplicates += replaced_entries;
        if self.settings.len() > SETTINGS_REMEMBERED {
            self.settings.clear();
            self.settings_by_id.clear();
        }
    }

    /// Adds a block of lines. Returns whether the window was moved into the rows, which must then be committed before
    /// the next block.
    pub(crate) fn add(&mut self, prepared: Prepared, rows: &mut Rows<'_>) -> Result<bool> {
        assert_eq!(rows.session(), self.session, "the rows are of the indexer's session");
        let Prepared { lines, names, frames, blobs, effects, usage, types, bytes, text_bytes } =
            prepared;
        self.count(&lines, types, bytes, text_bytes);
        rows.count_lines(lines.len() as u64);
        for (index, report) in usage {
            let place = lines.get(index).map(|line| (line.time, line.is_sidechain));
            self.count_usage(report, place.unwrap_or_default(), rows)?;
        }
        let mut blobs = blobs.into_iter();
        let mut effects = effects.into_iter().peekable();
        let mut lines = lines.iter().enumerate();
        let mut nodes = Vec::new();
        for frame in frames.iter() {
            nodes.clear();
            for (index, line) in lines.by_ref().take(frame.lengths.len()) {
                let effect = effects.next_if(|(at, _)| *at == index).map(|(_, effect)| effect);
                nodes.push(self.add_line(line, &names, effect, rows)?);
            }
            self.add_frame(&frame, &nodes, blobs.by_ref().take(frame.holes.len()), rows);
        }
        let full = self.entries.is_full();
        if full {
            self.load_entries(rows);
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
        for (ordinal, line) in Ordinal::after(record.lines).onwards().zip(lines) {
            facts::count(record, line);
            let has_id = line.id.is_some() || self.names_by_ordinal;
            record.unaddressed += u64::from(line.kind.is_entry() && !has_id);
            if line.kind == EntryKind::Header && self.header.is_none() {
                record.header = ordinal;
                self.header = Some(ordinal);
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

    fn count_usage(
        &mut self,
        report: UsageReport,
        place: (Option<i64>, bool),
        rows: &mut Rows<'_>,
    ) -> Result<()> {
        let usage = match &mut self.usage {
            Some(usage) => usage,
            None => {
                let tail = match self.is_continued {
                    true => self.view()?.rows().usage_tail()?,
                    false => UsageTail::Nothing,
                };
                self.usage.insert(UsageIndexer::behind(tail))
            }
        };
        usage.take(report, place, |number, row| rows.put_usage(number, &row));
        Ok(())
    }

    fn add_frame(
        &mut self,
        frame: &EncodedFrame<'_>,
        nodes: &[Node],
        blobs: impl Iterator<Item = PreparedBlob>,
        rows: &mut Rows<'_>,
    ) {
        let is_full = self.blob_bytes >= CHUNK_BLOB_BYTES || !self.chunk.has_room(frame, nodes);
        if !self.chunk.is_empty() && is_full {
            self.close_chunk(rows);
        }
        if self.chunk.is_empty() {
            self.entries.begin_chunk(self.chunk.first());
        }
        for (hole, blob) in frame.holes.iter().zip(blobs) {
            self.blob_bytes += blob.bytes.as_ref().map_or(0, Vec::len);
            self.blobs.push(BlobReference {
                hash: blob.hash,
                bytes: blob.bytes,
                was_cut: hole.kind.is_cut(),
            });
        }
        self.chunk.push(frame, nodes);
    }

    fn close_chunk(&mut self, rows: &mut Rows<'_>) {
        let next = ChunkBuilder::new(self.chunk.next_ordinal(), self.chunk.dictionary());
        let full = std::mem::replace(&mut self.chunk, next);
        rows.add_chunk(full, &mut self.blobs);
        self.blob_bytes = 0;
    }

    fn add_line(
        &mut self,
        line: &PreparedLine,
        names: &[u8],
        effect: Option<Effect>,
        rows: &mut Rows<'_>,
    ) -> Result<Node> {
        let ordinal = Ordinal::after(self.record.lines);
        self.record.lines += 1;
        let mut node = Node {
            kind: line.kind.code(),
            role: line.role.code(),
            is_sidechain: line.is_sidechain,
            time: line.time,
            jump: ordinal,
            ..Node::default()
        };
        let settings = self.apply(effect, ordinal, rows);
        facts::note_message(&mut self.record, line, ordinal);
        if line.kind.is_entry() {
            self.place(&mut node, ordinal, line, names, settings, rows)?;
        }
        self.nodes.push(&node);
        Ok(node)
    }

    /// Puts an entry into the tree.
    fn place(
        &mut self,
        node: &mut Node,
        ordinal: Ordinal,
        line: &PreparedLine,
        names: &[u8],
        change: Option<SettingsChange>,
        rows: &mut Rows<'_>,
    ) -> Result<()> {
        let name = |range: &Range<usize>| names.get(range.clone()).unwrap_or_default();
        let own = self.names_by_ordinal.then(|| ordinal.to_string());
        let id = own.as_ref().map(String::as_bytes).or_else(|| line.id.as_ref().map(name));
        node.parent = match &line.parent {
            ParentName::None => Parent::None,
            ParentName::NoId => Parent::Orphan,
            ParentName::Id(range) if Some(name(range)) == id => Parent::Orphan,
            ParentName::Id(range) => self.find_parent(name(range))?,
            ParentName::Previous => match self.entry_before(ordinal)? {
                Some(before) => Parent::At(before),
                None => Parent::None,
            },
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
            Some(change) => self.changed_settings(settings, &change, rows)?,
            None => settings,
        };
        if line.kind == EntryKind::Compaction {
            node.compaction = Some(ordinal);
        }
        rows.add_child(node.parent.ordinal(), ordinal);
        if line.leads {
            self.leaf = Some(ordinal);
        }
        if let Some(id) = id {
            self.record.duplicates += u64::from(self.entries.insert(id, ordinal).is_some());
            let previous = self.previous.get_or_insert_default();
            previous.0.clear();
            previous.0.extend_from_slice(id);
            previous.1 = ordinal;
        }
        Ok(())
    }

    /// The last entry before a line.
    fn entry_before(&mut self, ordinal: Ordinal) -> Result<Option<Ordinal>> {
        for before in Ordinal::FIRST.up_to(ordinal).rev() {
            let node = LineNode::from(self.ancestor(before)?);
            if node.kind.is_entry() {
                return Ok(Some(before));
            }
        }
        Ok(None)
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

    /// The ordinal of an entry of this session, committed or not.
    fn find(&mut self, id: &[u8]) -> Result<Option<Ordinal>> {
        if let Some(ordinal) = self.entries.find(id) {
            return Ok(Some(ordinal));
        }
        if !self.has_committed {
            return Ok(None);
        }
        self.view()?.find(id)
    }

    /// The session as it is committed.
    fn view(&mut self) -> Result<View<'_>> {
        let snapshot = match self.snapshot.take() {
            Some(snapshot) => snapshot,
            None => self.store.snapshot()?,
        };
        Ok(View::new(self.snapshot.insert(snapshot).rows(self.session), &self.record))
    }

    /// What a child needs to know about a line, whether the line is committed yet or not.
    fn ancestor(&mut self, ordinal: Ordinal) -> Result<Ancestor> {
        if !self.nodes.forgot(ordinal) {
            let order = Order::of(self.session, &self.record);
            let known = self.nodes.get(ordinal);
            return known.ok_or_else(|| order.damage(ordinal, format!("no line {ordinal} yet")));
        }
        Ok(Ancestor::from(&self.view()?.line_node(ordinal)?))
    }

    /// The jump pointer of a child: where the parent's jump leads to in turn, if two jumps of equal length follow each
    /// other, otherwise the parent. Any ancestor is then a logarithmic number of steps away.
    fn jump(&mut self, parent: Ordinal, above: Ancestor) -> Result<Ordinal> {
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
        rows: &mut Rows<'_>,
    ) -> Result<u64> {
        let old = self.settings_of(before)?;
        // Most assistant messages name the model that is already in force.
        if old.is_kept_by(change) {
            return Ok(before);
        }
        let new = Arc::new(old.changed(change));
        if new == old {
            return Ok(before);
        }
        if let Some(id) = self.settings.get(&new) {
            return Ok(*id);
        }
        // 0 stands for the settings of a root that changes nothing, and has no row.
        self.record.settings += 1;
        let id = self.record.settings;
        rows.add_settings(id, SettingsRecord::clone(&new));
        self.settings_by_id.insert(id, Arc::clone(&new));
        self.settings.insert(new, id);
        Ok(id)
    }

    fn settings_of(&mut self, id: u64) -> Result<Arc<SettingsRecord>> {
        if let Some(known) = self.settings_by_id.get(&id) {
            return Ok(Arc::clone(known));
        }
        let record = Arc::new(self.view()?.rows().settings(id)?);
        self.settings_by_id.insert(id, Arc::clone(&record));
        Ok(record)
    }

    /// Applies an effect. A change of settings is returned instead, since it depends on the parent's settings.
    fn apply(
        &mut self,
        effect: Option<Effect>,
        ordinal: Ordinal,
        rows: &mut Rows<'_>,
    ) -> Option<SettingsChange> {
        match effect? {
            Effect::Settings(change) => return Some(change),
            Effect::Label { target, label } => {
                rows.set_label(target, ordinal, label);
            }
            Effect::Title { title, rank } => facts::set_title(&mut self.record, title, rank),
            Effect::Pointer { kind, target, text } => {
                let kind = PointerKind::from(kind);
                let message_before =
                    self.record.last_message.filter(|_| kind == PointerKind::Boundary);
                let pointer = PointerRecord { kind, target, text, message_before };
                rows.add_pointer(ordinal, pointer.clone());
                self.pointers.push((ordinal, pointer));
            }
            Effect::Moved(cwd) => self.record.cwd = Some(cwd),
            Effect::Prompt(prompt) => {
                self.record.first_prompt.get_or_insert(prompt);
            }
        }
        None
    }

    fn load_entries(&mut self, rows: &mut Rows<'_>) {
        rows.add_entries(self.entries.drain_sorted(self.session));
        self.has_committed = true;
        // The current chunk continues, and its lines are looked up in it.
        if !self.chunk.is_empty() {
            self.entries.begin_chunk(self.chunk.first());
        }
    }

    /// Adds what is left.
    pub(crate) fn finish(mut self, rows: &mut Rows<'_>) -> Result<Indexed> {
        self.close_chunk(rows);
        if let Some(usage) = self.usage.take() {
            usage.finish(|number, row| rows.put_usage(number, &row));
        }
        let unresolved = std::mem::take(&mut self.unresolved);
        let mut needs_resolving = self.overflowed || self.record.duplicates > self.duplicates;
        for id in unresolved {
            needs_resolving = needs_resolving || self.find(&id)?.is_some();
        }
        let mut leaf = self.leaf;
        let pointers = std::mem::take(&mut self.pointers);
        let hint = std::mem::take(&mut self.hint);
        // If lines are written here, the last entry is the leaf.
        if !needs_resolving && !self.is_live {
            let record = (&self.record).into();
            let decided = leaf::decide(&mut self, record, &pointers, &hint, leaf)?;
            facts::set_summary(&mut self.record, decided.summary);
            leaf = decided.leaf;
        }
        self.load_entries(rows);
        facts::set_modified(&mut self.record);
        let leaf_facts = LeafFacts { pointers, hint, last: self.leaf };
        Ok(Indexed { record: self.record, leaf, leaf_facts, needs_resolving })
    }
}

impl SessionLines for Indexer<'_> {
    type Error = Error;

    fn find(&mut self, id: &[u8]) -> Result<Option<u64>> {
        Ok(Indexer::find(self, id)?.map(Ordinal::raw))
    }

    fn node(&mut self, ordinal: u64) -> Result<LineNode> {
        Ok(self.ancestor(Ordinal::new(ordinal))?.into())
    }
}

#[cfg(test)]
mod tests {
    use leafline_import::{Family, Reading};

    use super::super::prepare::Preparer;
    use super::*;
    use crate::store::commit::{Author, Batch, Creation, Extended, Extension, Finished, Place};
    use crate::store::compression::Dictionary;

    #[test]
    fn the_documentation_has_the_bounds() {
        use crate::documented::{bound, number};
        let blobs = format!("{} MiB, one frame's aside", CHUNK_BLOB_BYTES >> 20);
        assert_eq!(bound("blobs of a chunk"), blobs);
        assert!(bound("unresolved parents").starts_with(&number(UNRESOLVED)));
        assert!(bound("type names counted").starts_with(&number(TYPE_NAMES)));
        assert!(bound("settings remembered").starts_with(&number(SETTINGS_REMEMBERED)));
    }

    /// In families whose lines state neither ids nor parents, entries are named by their ordinals, each is the child of
    /// the one before it, and one that does not lead is never the leaf. Later lines continue where the committed lines
    /// end.
    #[test]
    fn entries_named_by_their_ordinals() {
        let store = Store::in_memory().unwrap();
        let session = store.reserve_sessions(1).unwrap();
        let dictionary = Dictionary::new(0, None);
        let prepared = |block: &[u8], leads: bool| {
            let reading = Reading::plain(Family::Pi);
            let mut prepared = Preparer::new(reading).prepare(block, false, &dictionary);
            for line in &mut prepared.lines {
                line.parent = ParentName::Previous;
                line.leads = line.kind.is_entry() && leads;
            }
            prepared
        };
        let index = |record, start, lines, rows: &mut Rows<'_>| {
            let mut indexer = Indexer::new(&store, session, record, start, 0);
            indexer.names_by_ordinal = true;
            indexer.add(lines, rows).unwrap();
            let indexed = indexer.finish(rows).unwrap();
            assert!(!indexed.needs_resolving);
            (indexed.record, indexed.leaf)
        };
        let (author, mut batch) = (Author::File, Batch::default());
        let lines = b"{\"type\":\"session\",\"id\":\"s\"}\n{\"a\":1}\n\n{\"a\":2}\n\n";
        let record = SessionRecord { external_id: b"s".to_vec(), ..SessionRecord::default() };
        let mut creation = Creation::new(session);
        let rows = &mut creation.rows(&mut batch);
        let (record, leaf) =
            index(record, Start::File(LeafHint::None), prepared(lines, true), rows);
        let finished = Finished { record, leaf, author, place: Place::Own, sources: Vec::new() };
        creation.finish(&mut batch, finished).unwrap();
        store.commit(batch).unwrap();
        let record = store.snapshot().unwrap().session(session).unwrap().unwrap();
        let mut batch = Batch::default();
        let mut extension = Extension::new(&mut batch, session, &record);
        let (hint, pointers) = (LeafHint::None, Vec::new());
        let start = Start::Grown { leaf, hint, pointers, snapshot: None };
        let rows = &mut extension.rows(&mut batch);
        let (record, leaf) = index(record, start, prepared(b"\n{\"a\":3}\n", false), rows);
        let extended = Extended { record, leaf, author, is_sealed: true, source: None };
        let record = extension.finish(&mut batch, extended).unwrap().clone();
        store.commit(batch).unwrap();
        assert_eq!((record.entries, record.unaddressed, leaf), (3, 0, Some(Ordinal::new(3))));
        let snapshot = store.snapshot().unwrap();
        let view = View::new(snapshot.rows(session), &record);
        for (ordinal, parent) in
            [(1, Parent::None), (3, Parent::At(Ordinal::new(1))), (6, Parent::At(Ordinal::new(3)))]
        {
            assert_eq!(view.node(Ordinal::new(ordinal)).unwrap().parent, parent);
            let id = ordinal.to_string();
            assert_eq!(view.find(id.as_bytes()).unwrap(), Some(Ordinal::new(ordinal)));
        }
    }
}
