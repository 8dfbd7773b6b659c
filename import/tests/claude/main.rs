//! Claude Code's sessions: samples, real files, the document's own way to read a conversation, and random input.
//!
//! Guards against trees, leaves and paths that differ from the document, and against panics on any input.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod appended;
mod cases;
mod context;
mod conversation;
mod corpus;
mod facts;
#[path = "../in_memory/mod.rs"]
mod in_memory;
mod judge;
mod made;
#[path = "../oracle/mod.rs"]
mod oracle;
mod random;
mod samples;

use leafline_import::claude::{LeafFinder, Scanner, SessionTree, for_each_node};
use leafline_import::lines;

pub(crate) fn read(file: &[u8]) -> LeafFinder {
    let mut finder = LeafFinder::new();
    let mut scanner = Scanner::new();
    for (line, bytes) in (0..).zip(lines::split(file)) {
        for_each_node(bytes, &mut scanner, |_, node| finder.observe(line, node));
    }
    finder
}

pub(crate) fn lines_of(tree: &SessionTree, entries: &[usize]) -> Vec<u64> {
    entries.iter().map(|&entry| tree.line(entry)).collect()
}
