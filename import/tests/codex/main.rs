//! Codex CLI's rollouts: samples, random input, and the real Codex as the judge of what the model is sent.
//!
//! Guards against contexts that differ from what the real Codex sends, and against panics on any input.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod cases;
mod conversation;
#[path = "../in_memory/mod.rs"]
mod in_memory;
mod judge;
#[allow(dead_code, reason = "shared with the tests of the store")]
mod program;
mod random;
mod rollouts;
mod samples;

use leafline_import::codex::{
    ContextBuilder, ContextItem, HistoryBase, RolloutName, Scanner, Truncation, detect, write_input,
};
use leafline_import::lines;
use leafline_import::text::decode;
use serde_json::Value;

/// The items of the context of a rollout, whose parts in order are `files`, and the `input` made of them.
/// A line is named by its part and its number.
pub(crate) fn context(files: &[&[u8]], truncation: Truncation) -> (Vec<ContextItem>, Value) {
    let all: Vec<Vec<&[u8]>> = files.iter().map(|file| lines::split(file).collect()).collect();
    let mut scanner = Scanner::new();
    let mut builder = ContextBuilder::new();
    for (part, lines) in (0..).zip(&all) {
        for (number, line) in (0..).zip(lines) {
            builder.observe(part << 32 | number, &scanner.scan(&decode(line)));
        }
    }
    let items = builder.finish();
    let text_of = |line: u64| {
        let part = &all[usize::try_from(line >> 32).unwrap()];
        Ok::<_, std::convert::Infallible>(decode(
            part[usize::try_from(line & u64::from(u32::MAX)).unwrap()],
        ))
    };
    let mut input = Vec::new();
    write_input(&items, text_of, truncation, &mut input).unwrap();
    (items, serde_json::from_slice(&input).unwrap())
}

/// The parts that a rollout consists of, oldest first: the parts of its bases, and its own lines.
pub(crate) fn parts<'a>(file: &'a [u8], find: &dyn Fn(&str) -> &'a [u8]) -> Vec<&'a [u8]> {
    let mut parts = vec![file];
    let mut header = detect(file, true).unwrap().header;
    while let Some(HistoryBase { rollout_id, end_byte, .. }) = header.history_base {
        let base = find(&rollout_id);
        parts.push(&base[..usize::try_from(end_byte).unwrap()]);
        header = detect(base, true).unwrap().header;
    }
    parts.reverse();
    parts
}

/// Finds a file by its rollout id.
pub(crate) fn has_rollout_id(file_name: &str, id: &str) -> bool {
    RolloutName::parse(file_name).is_some_and(|name| name.rollout_id == id)
}
