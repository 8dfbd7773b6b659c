//! The outline of a session's tree: its entries as segments, so that a conversation of a million entries takes little memory.

use std::collections::BTreeMap;

use leafline_import::format::ForkRule;
use leafline_import::{EntryKind, MessageRole};

use super::super::order::Order;
use super::super::reader::SessionReader;
use super::super::view::is_entry;
use super::fold::Folds;
use super::forks::Prompts;
use super::walk::NearLines;
use crate::error::{Error, Result};
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// A session's tree without its entries: what is needed to walk them in the tree's order.
///
/// The entries are divided into [`Segment`]s: consecutive entries of the file, not counting lines that are not entries,
/// each of which is the only child of the one before. So a new segment begins only where the conversation branches,
/// continues elsewhere, or has a root; memory grows with the number of segments, some 64 bytes each, and with the
/// labels, not with the entries. An [`OutlineReader`](super::OutlineReader) reads the entries themselves.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
/// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi/sessions/--home-robin-work-tide-clock--");
/// # store.import(&[file], &leafline::import::ImportOptions::default(), &mut ())?;
/// let reader = store.reader("019c6605")?;
/// let outline = reader.get_outline()?;
/// let entries: u64 = outline.segments().iter().map(|segment| segment.entries()).sum();
/// assert_eq!(entries, reader.facts().entries);
///
/// let mut walk = reader.read_outline(&outline);
/// for &root in outline.roots() {
///     walk.begin(root);
///     while let Some(entry) = walk.next_entry()? {
///         println!("{}: {}", entry.ordinal, entry.kind.name());
///     }
///     println!("{} ways on", outline.children(root).len());
/// }
/// # Ok::<(), leafline::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Outline {
    pub(super) segments: Vec<Segment>,
    children: Children,
    roots: Vec<usize>,
    pub(super) leaf: Option<Ordinal>,
    labels: BTreeMap<Ordinal, String>,
    pub(super) folds: Folds,
    unreachable: u64,
    pub(super) branches: u64,
    is_sidechain: bool,
}

/// Consecutive entries. All but the last one have one child, the next.
#[derive(Debug, Clone)]
pub struct Segment {
    pub(super) first: Ordinal,
    pub(super) last: Ordinal,
    entries: u64,
    parent: Option<usize>,
    pub(super) is_fork: bool,
    pub(super) is_branch: bool,
}

impl Segment {
    /// The ordinal of its first entry.
    pub fn first(&self) -> u64 {
        self.first.raw()
    }

    /// The ordinal of its last entry. No other segment has entries between its first and its last.
    pub fn last(&self) -> u64 {
        self.last.raw()
    }

    /// The number of its entries, at least one.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The segment whose last entry is its parent; `None` if it begins with a root.
    pub fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// Whether the conversation branches at its last entry: see [`Tree::forks`](super::Tree::forks).
    pub fn is_fork(&self) -> bool {
        self.is_fork
    }

    /// Whether a branch begins with its first entry: see [`TreeNode::is_branch`](super::TreeNode::is_branch).
    pub fn is_branch(&self) -> bool {
        self.is_branch
    }
}

/// The segments below each one, one list after the other.
#[derive(Debug, Clone, Default)]
struct Children {
    /// The start of each list, and the end of the last one.
    starts: Vec<usize>,
    lists: Vec<usize>,
}

impl Children {
    fn of(segments: &[Segment]) -> Self {
        let mut starts = vec![0usize; segments.len() + 1];
        let parents = || segments.iter().map(|segment| segment.parent);
        for start in parents().flatten().filter_map(|parent| parent.checked_add(1)) {
            if let Some(count) = starts.get_mut(start) {
                *count += 1;
            }
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut lists = vec![0; end];
        let mut next = starts.clone();
        for (index, parent) in parents().enumerate() {
            if let Some(next) = parent.and_then(|parent| next.get_mut(parent))
                && let Some(child) = lists.get_mut(*next)
            {
                *child = index;
                *next += 1;
            }
        }
        Self { starts, lists }
    }

    fn below(&self, segment: usize) -> &[usize] {
        let range = || Some(*self.starts.get(segment)?..*self.starts.get(segment + 1)?);
        range().and_then(|range| self.lists.get(range)).unwrap_or_default()
    }

    fn sort_by_time(&mut self, times: &[Option<i64>]) {
        let mut rest = self.lists.as_mut_slice();
        for (start, end) in self.starts.iter().zip(self.starts.iter().skip(1)) {
            let Some((list, behind)) = rest.split_at_mut_checked(end - start) else { return };
            list.sort_by_key(|&child| times.get(child).copied().flatten());
            rest = behind;
        }
    }
}

impl Outline {
    /// All segments, in the order of the file.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// A segment by its index in [`Self::segments`].
    pub fn segment(&self, place: usize) -> Option<&Segment> {
        self.segments.get(place)
    }

    /// The indices of the segments below the last entry of one, ordered like
    /// [`TreeNode::children`](super::TreeNode::children).
    pub fn children(&self, place: usize) -> &[usize] {
        self.children.below(place)
    }

    /// The segments that begin with an entry without a parent in the session, in the order of the file.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The ordinal of the current leaf; if its record was folded into a node, the ordinal of the node.
    pub fn leaf(&self) -> Option<u64> {
        self.leaf.map(Ordinal::raw)
    }

    /// The segment that has the entry with this ordinal.
    pub fn segment_of(&self, ordinal: u64) -> Option<usize> {
        let ordinal = Ordinal::new(ordinal);
        let before = self.segments.partition_point(|segment| segment.first <= ordinal);
        let place = before.checked_sub(1)?;
        self.segments.get(place).filter(|segment| ordinal <= segment.last).map(|_| place)
    }

    /// Whether the path that leads to an entry goes through another one, or ends with it. Both are ordinals.
    ///
    /// ```
    /// # let store = leafline::Store::in_memory()?;
    /// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi/sessions/--home-robin-work-tide-clock--");
    /// # store.import(&[file], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let outline = store.reader("019c6605")?.get_outline()?;
    /// let (root, leaf) = (outline.segments()[0].first(), outline.leaf().unwrap());
    /// assert!(outline.leads_to(root, leaf) && !outline.leads_to(leaf, root));
    /// # Ok::<(), leafline::Error>(())
    /// ```
    pub fn leads_to(&self, above: u64, below: u64) -> bool {
        let Some(wanted) = self.segment_of(above) else { return false };
        let mut next = self.segment_of(below);
        if next == Some(wanted) {
            return above <= below;
        }
        // Parents that come later may form a loop.
        for _ in &self.segments {
            let Some(segment) = next.and_then(|place| self.segment(place)) else { return false };
            next = segment.parent;
            if next == Some(wanted) {
                return true;
            }
        }
        false
    }

    /// Where the path through an entry ends: at the leaf if the entry leads to it, or else at the end of the entry's branch,
    /// which goes on at a fork with the child that is last in the file. `None` if no segment has the entry. Both are ordinals.
    ///
    /// ```
    /// # let store = leafline::Store::in_memory()?;
    /// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi/sessions/--home-robin-work-tide-clock--");
    /// # store.import(&[file], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let outline = store.reader("019c6605")?.get_outline()?;
    /// let root = outline.segments()[0].first();
    /// assert_eq!(outline.end_through(root), outline.leaf());
    /// # Ok::<(), leafline::Error>(())
    /// ```
    pub fn end_through(&self, entry: u64) -> Option<u64> {
        let mut at = self.segment_of(entry)?;
        if let Some(leaf) = self.leaf().filter(|&leaf| self.leads_to(entry, leaf)) {
            return Some(leaf);
        }
        for _ in &self.segments {
            let children = self.children(at).iter().copied();
            let Some(last) = children.max_by_key(|&child| self.segment(child).map(Segment::first))
            else {
                break;
            };
            at = last;
        }
        self.segment(at).map(Segment::last)
    }

    /// The label set on the entry with this ordinal.
    pub fn label(&self, ordinal: u64) -> Option<&str> {
        self.labels.get(&Ordinal::new(ordinal)).map(String::as_str)
    }

    /// The labels, each with the ordinal of its entry, in the order of the file.
    pub fn labels(&self) -> impl Iterator<Item = (u64, &str)> {
        self.labels.iter().map(|(entry, label)| (entry.raw(), label.as_str()))
    }

    /// The ordinals of the records that were folded into the node with this ordinal, including itself, which is the
    /// first; none if it is a single record.
    pub fn records(&self, ordinal: u64) -> impl Iterator<Item = u64> {
        self.folds.records(Ordinal::new(ordinal)).map(Ordinal::raw)
    }

    /// See [`Tree::branches`](super::Tree::branches).
    pub fn branches(&self) -> u64 {
        self.branches
    }

    /// Entries in a loop of parents, or below one: no root leads to them.
    pub fn unreachable(&self) -> u64 {
        self.unreachable
    }

    /// Whether all of it is an agent's conversation beside the session's own (Claude Code).
    pub fn is_sidechain(&self) -> bool {
        self.is_sidechain
    }

    /// How many entries the roots do not lead to.
    fn count_unreachable(&self) -> u64 {
        let mut left: u64 = self.segments.iter().map(|segment| segment.entries).sum();
        let mut waiting = self.roots.clone();
        while let Some(place) = waiting.pop() {
            left -= self.segments.get(place).map_or(0, |segment| segment.entries);
            waiting.extend(self.children(place));
        }
        left
    }
}

impl SessionReader {
    /// The outline of the session's tree. It reads all nodes, a chunk at a time; memory grows with the segments.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn get_outline(&self) -> Result<Outline> {
        let entries = Entries { reader: self, folds: &Folds::default() };
        let cuts = entries.cuts()?;
        let copies: Vec<Ordinal> = entries.copies(&cuts)?.iter().map(|(copy, _)| *copy).collect();
        let outline = entries.outline(&cuts, &copies)?;
        self.finish_outline(outline)
    }

    /// The outline of the folded tree, see [`Self::get_folded_tree`]. It reads the assistant's lines.
    ///
    /// Memory grows with the segments, by some 60 bytes for each message on the longest path, and by as much for each
    /// record that is folded into another one.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`] if the store is damaged.
    pub fn get_folded_outline(&self) -> Result<Outline> {
        if !self.family().splits_messages() {
            return self.get_outline();
        }
        let entries = Entries { reader: self, folds: &Folds::default() };
        let cuts = entries.cuts()?;
        let copies = entries.copies(&cuts)?;
        let folds = Folds::of(self, &entries.outline(&cuts, &[])?)?;
        // Copies that were folded into one node are not copies of each other.
        let folded =
            copies.iter().map(|&(copy, later)| (folds.node_of(copy), folds.node_of(later)));
        let mut copies: Vec<Ordinal> =
            folded.filter(|(copy, later)| copy != later).map(|(copy, _)| copy).collect();
        copies.sort_unstable();
        let entries = Entries { reader: self, folds: &folds };
        let outline = entries.outline(&entries.cuts()?, &copies)?;
        self.finish_outline(Outline { folds, ..outline })
    }

    /// Adds what the nodes do not say.
    fn finish_outline(&self, mut outline: Outline) -> Result<Outline> {
        let view = self.view();
        if let Some(leaf) = view.leaf()? {
            view.entry_node(leaf)?;
            outline.leaf = Some(outline.folds.node_of(leaf));
        }
        for (target, label) in view.rows().labels()? {
            if let Some(entry) = view.find(&target)? {
                let label = String::from_utf8_lossy(&label.label).into_owned();
                outline.labels.insert(entry, label);
            }
        }
        Ok(outline)
    }
}

/// The entries of a tree.
struct Entries<'r> {
    reader: &'r SessionReader,
    folds: &'r Folds,
}

/// Where the entries are cut into segments, and what must be known before that.
#[derive(Default)]
struct Cuts {
    /// The entries with a child that is not the next entry, ascending: a segment ends with each of them.
    parents: Vec<Ordinal>,
    /// Whether there is an entry that is not on a sidechain, and whether one of those is a message.
    has_own_entry: bool,
    has_own_message: bool,
}

impl Cuts {
    fn is_after(&self, ordinal: Ordinal) -> bool {
        self.parents.binary_search(&ordinal).is_ok()
    }
}

impl Entries<'_> {
    /// Passes on the entries in the order of the file, each with its parent in the tree.
    fn for_each(
        &self,
        mut take: impl FnMut(Ordinal, &Node, Option<Ordinal>) -> Result<()>,
    ) -> Result<()> {
        let view = self.reader.view();
        let mut chunks = view.chunks();
        while let Some(chunk) = chunks.next()? {
            let nodes = view.rows().nodes(&chunk)?;
            for (ordinal, node) in chunk.first().onwards().zip(&nodes) {
                if is_entry(node) && !self.folds.hides(ordinal) {
                    view.order().check(ordinal, node)?;
                    take(ordinal, node, self.folds.parent(ordinal, node).ordinal())?;
                }
            }
        }
        Ok(())
    }

    fn cuts(&self) -> Result<Cuts> {
        let mut cuts = Cuts::default();
        let mut previous = None;
        self.for_each(|ordinal, node, parent| {
            if parent != previous {
                cuts.parents.extend(parent);
            }
            previous = Some(ordinal);
            cuts.has_own_entry |= !node.is_sidechain;
            cuts.has_own_message |= !node.is_sidechain && node.kind == EntryKind::Message.code();
            Ok(())
        })?;
        cuts.parents.sort_unstable();
        cuts.parents.dedup();
        cuts.parents.shrink_to_fit();
        Ok(cuts)
    }

    /// The entries whose id a later one has as well, each with that one, if forks depend on it.
    ///
    /// A parent is named by its id, which stands for the last copy. So the others have no children, and only entries without
    /// children are examined.
    fn copies(&self, cuts: &Cuts) -> Result<Vec<(Ordinal, Ordinal)>> {
        let reader = self.reader;
        if reader.family().fork_rule() != ForkRule::Prompts || reader.record().duplicates == 0 {
            return Ok(Vec::new());
        }
        let mut lines = NearLines::new(reader);
        let mut copies = Vec::new();
        let mut look_at = |ordinal: Ordinal| {
            if cuts.is_after(ordinal) {
                return Ok::<_, Error>(());
            }
            if let Some(id) = lines.id(ordinal)?
                && let Some(later) = reader.view().find(&id)?
                && later != ordinal
            {
                copies.push((ordinal, later));
            }
            Ok(())
        };
        let mut previous = None;
        self.for_each(|ordinal, _, parent| {
            if let Some(childless) = previous.filter(|_| parent != previous) {
                look_at(childless)?;
            }
            previous = Some(ordinal);
            Ok(())
        })?;
        if let Some(last) = previous {
            look_at(last)?;
        }
        Ok(copies)
    }

    fn outline(&self, cuts: &Cuts, copies: &[Ordinal]) -> Result<Outline> {
        let family = self.reader.family();
        let by_prompts = family.fork_rule() == ForkRule::Prompts;
        let mut builder = Builder::new(self.reader.view().order(), cuts);
        builder.sorts = family.sorts_siblings_by_time();
        // The nodes of a folded tree were checked when they were found.
        builder.checks = self.reader.view().order().is_regular() && self.folds.is_empty();
        let mut prompts: Vec<Prompts> = Vec::new();
        self.for_each(|ordinal, node, parent| {
            let is_head = builder.add(ordinal, node, parent)?;
            if by_prompts {
                if is_head {
                    prompts.push(Prompts::new(node));
                }
                let is_copy = copies.binary_search(&ordinal).is_ok();
                let counts = !is_copy && (!cuts.has_own_message || !node.is_sidechain);
                if let Some(prompts) = prompts.last_mut() {
                    prompts
                        .add(counts, MessageRole::from_code(node.role) == Some(MessageRole::User));
                }
            }
            Ok(())
        })?;
        let mut outline = builder.finish()?;
        outline.is_sidechain = !cuts.has_own_entry;
        if by_prompts {
            outline.fork_at_prompts(&prompts);
        } else {
            outline.fork_at_every_child();
        }
        Ok(outline)
    }
}

/// Divides entries into segments; they come in the order of the file.
struct Builder<'c> {
    order: Order,
    cuts: &'c Cuts,
    /// Whether entries are checked against their parents.
    checks: bool,
    /// Whether siblings are ordered by time.
    sorts: bool,
    segments: Vec<Segment>,
    /// For each segment: the parent that its first entry names, and that entry's time.
    parents: Vec<Option<Ordinal>>,
    times: Vec<Option<i64>>,
    /// Depth and compaction of the last entry of each segment except the current one.
    tails: Vec<(u64, Option<Ordinal>)>,
    last: Option<(Ordinal, Node)>,
}

impl<'c> Builder<'c> {
    fn new(order: Order, cuts: &'c Cuts) -> Self {
        Self {
            order,
            cuts,
            checks: false,
            sorts: false,
            segments: Vec::new(),
            parents: Vec::new(),
            times: Vec::new(),
            tails: Vec::new(),
            last: None,
        }
    }

    /// Adds an entry. Returns whether a segment begins with it.
    fn add(&mut self, ordinal: Ordinal, node: &Node, parent: Option<Ordinal>) -> Result<bool> {
        let before = self.last.replace((ordinal, *node));
        if let Some((last, above)) = before
            && parent == Some(last)
            && !self.cuts.is_after(last)
            && let Some(segment) = self.segments.last_mut()
        {
            if self.checks {
                self.order.check_parent(ordinal, node, &above)?;
            }
            segment.last = ordinal;
            segment.entries += 1;
            return Ok(false);
        }
        if self.checks {
            self.tails.extend(before.map(|(_, last)| (last.depth, last.compaction)));
            if let Some(parent) = parent {
                let above = self.tails.get(self.ending_with(parent)?).copied();
                let (depth, compaction) = above.ok_or_else(|| self.no_entry(parent))?;
                let above = Node { depth, compaction, ..Node::default() };
                self.order.check_parent(ordinal, node, &above)?;
            }
        }
        self.segments.push(Segment {
            first: ordinal,
            last: ordinal,
            entries: 1,
            parent: None,
            is_fork: false,
            is_branch: false,
        });
        self.parents.push(parent);
        if self.sorts {
            self.times.push(node.time);
        }
        Ok(true)
    }

    /// The segment that ends with an entry.
    fn ending_with(&self, ordinal: Ordinal) -> Result<usize> {
        let found = self.segments.binary_search_by_key(&ordinal, |segment| segment.last);
        found.map_err(|_| self.no_entry(ordinal))
    }

    fn no_entry(&self, ordinal: Ordinal) -> Error {
        self.order.damage(ordinal, format!("line {ordinal} is not an entry"))
    }

    fn finish(mut self) -> Result<Outline> {
        self.tails = Vec::new();
        for (place, parent) in std::mem::take(&mut self.parents).into_iter().enumerate() {
            let parent = parent.map(|parent| self.ending_with(parent)).transpose()?;
            if let Some(segment) = self.segments.get_mut(place) {
                segment.parent = parent;
            }
        }
        let mut segments = self.segments;
        segments.shrink_to_fit();
        let roots = (0..).zip(&segments).filter(|(_, segment)| segment.parent.is_none());
        let roots = roots.map(|(place, _)| place).collect();
        let mut children = Children::of(&segments);
        if self.sorts {
            children.sort_by_time(&self.times);
        }
        let mut outline = Outline { segments, children, roots, ..Outline::default() };
        outline.unreachable = outline.count_unreachable();
        Ok(outline)
    }
}
