//! The nodes of a chunk's lines as columns: the numbers in a column are small and similar.

use bincode::{Decode, Encode};

use super::node::{Node, Parent};
use super::ordinal::Ordinal;
use super::record::{encoded_len, read, unzigzag, zigzag};

/// The bit in the column of roles that marks a sidechain.
const SIDECHAIN: u8 = 0x80;

/// The columns as they are stored.
#[derive(Debug, Clone, Default, Encode, Decode)]
pub(super) struct Columns {
    kinds: Vec<u8>,
    roles: Vec<u8>,
    parents: Vec<u64>,
    times: Vec<u64>,
    depths: Vec<u64>,
    jumps: Vec<u64>,
    settings: Vec<u64>,
    compactions: Vec<u64>,
}

/// Writes nodes into columns, one line after the other.
#[derive(Debug, Default)]
pub(super) struct ColumnWriter {
    columns: Columns,
    delta: Delta,
}

impl ColumnWriter {
    /// Adds the next line's node; returns the bytes that it takes.
    pub(super) fn push(&mut self, ordinal: Ordinal, node: &Node) -> usize {
        let codes = self.delta.encode(ordinal, node);
        let side = if node.is_sidechain { SIDECHAIN } else { 0 };
        self.columns.push(node.kind, node.role | side, codes);
        node_len(codes)
    }

    /// The bytes that the next lines' nodes would take.
    pub(super) fn len_of(&self, first: Ordinal, nodes: &[Node]) -> usize {
        let mut delta = self.delta;
        let lines = first.onwards().zip(nodes);
        lines.map(|(ordinal, node)| node_len(delta.encode(ordinal, node))).sum()
    }

    /// What was written.
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }
}

/// Turns a node into its column values, each relative to the line before or to the line's own ordinal.
#[derive(Debug, Clone, Copy, Default)]
struct Delta {
    time: i64,
    depth: i64,
    settings: i64,
}

const PARENT_NONE: u64 = 0;
const PARENT_ORPHAN: u64 = 1;
const PARENT_AT: u64 = 2;

impl Delta {
    fn encode(&mut self, ordinal: Ordinal, node: &Node) -> [u64; 6] {
        let own = ordinal.raw();
        let parent = match node.parent {
            Parent::None => PARENT_NONE,
            Parent::Orphan => PARENT_ORPHAN,
            // The line before is by far the most frequent parent, so its distance has the smallest code.
            Parent::At(parent) => PARENT_AT + zigzag(distance(own, parent.raw()).wrapping_sub(1)),
        };
        let time = node.time.map_or(0, |time| {
            let code = zigzag(time.wrapping_sub(self.time));
            self.time = time;
            // The largest code has no successor; such a time is never written.
            code.saturating_add(1)
        });
        let depth = zigzag(distance(node.depth, self.depth.cast_unsigned()));
        self.depth = node.depth.cast_signed();
        let settings = zigzag(distance(node.settings, self.settings.cast_unsigned()));
        self.settings = node.settings.cast_signed();
        let compaction =
            node.compaction.map_or(0, |compaction| zigzag(distance(own, compaction.raw())) + 1);
        [parent, time, depth, zigzag(distance(own, node.jump.raw())), settings, compaction]
    }

    fn decode(&mut self, ordinal: Ordinal, kind: u8, role: u8, codes: [u64; 6]) -> Node {
        let [parent, time, depth, jump, settings, compaction] = codes;
        let parent = match parent {
            PARENT_NONE => Parent::None,
            PARENT_ORPHAN => Parent::Orphan,
            code => Parent::At(back(ordinal, unzigzag(code - PARENT_AT).wrapping_add(1))),
        };
        let time = (time > 0).then(|| {
            self.time = self.time.wrapping_add(unzigzag(time - 1));
            self.time
        });
        self.depth = self.depth.wrapping_add(unzigzag(depth));
        self.settings = self.settings.wrapping_add(unzigzag(settings));
        Node {
            kind,
            role: role & !SIDECHAIN,
            is_sidechain: role & SIDECHAIN != 0,
            parent,
            time,
            depth: self.depth.cast_unsigned(),
            jump: back(ordinal, unzigzag(jump)),
            settings: self.settings.cast_unsigned(),
            compaction: (compaction > 0).then(|| back(ordinal, unzigzag(compaction - 1))),
        }
    }
}

fn distance(from: u64, to: u64) -> i64 {
    from.wrapping_sub(to).cast_signed()
}

fn back(ordinal: Ordinal, distance: i64) -> Ordinal {
    Ordinal::new(ordinal.raw().wrapping_sub(distance.cast_unsigned()))
}

fn node_len(codes: [u64; 6]) -> usize {
    2 + codes.into_iter().map(encoded_len).sum::<usize>()
}

impl Columns {
    fn push(&mut self, kind: u8, role: u8, codes: [u64; 6]) {
        let [parent, time, depth, jump, settings, compaction] = codes;
        self.kinds.push(kind);
        self.roles.push(role);
        self.parents.push(parent);
        self.times.push(time);
        self.depths.push(depth);
        self.jumps.push(jump);
        self.settings.push(settings);
        self.compactions.push(compaction);
    }

    fn lengths(&self) -> [usize; 8] {
        [
            self.kinds.len(),
            self.roles.len(),
            self.parents.len(),
            self.times.len(),
            self.depths.len(),
            self.jumps.len(),
            self.settings.len(),
            self.compactions.len(),
        ]
    }

    /// Reads the nodes of `count` lines from `first` on.
    pub(super) fn read(bytes: &[u8], first: Ordinal, count: usize) -> Result<Vec<Node>, String> {
        let (columns, _) = read::<Self>(bytes)?;
        if columns.lengths() != [count; 8] {
            return Err("a node column's length is not the number of lines".into());
        }
        let mut delta = Delta::default();
        let numbers = columns.parents.iter().zip(&columns.times).zip(&columns.depths);
        let more = columns.jumps.iter().zip(&columns.settings).zip(&columns.compactions);
        let codes = numbers.zip(more).map(
            |(((&parent, &time), &depth), ((&jump, &settings), &compaction))| {
                [parent, time, depth, jump, settings, compaction]
            },
        );
        let kinds = columns.kinds.iter().zip(&columns.roles);
        Ok(first
            .onwards()
            .zip(kinds)
            .zip(codes)
            .map(|((ordinal, (&kind, &role)), codes)| delta.decode(ordinal, kind, role, codes))
            .collect())
    }
}
