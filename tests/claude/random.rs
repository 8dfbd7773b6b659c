//! Random records with random damage: the bytes are exported unchanged, the store is undamaged, and tree, leaf and
//! histories are those of the file in memory.

use leafline::context::ContextLeaf;
use leafline::context::HistoryScope::{Context, Full};
use leafline::import::{ImportStatus, Refusal};
use leafline_import::claude::{self, LeafFinder, Scanner, for_each_node};
use leafline_import::lines;
use proptest::prelude::*;
use serde_json::Value;

use crate::forks::forks;
use crate::growth::grows;
use crate::place::Place;
use crate::records::{
    assistant, boundary, call, compact_summary, file, last_prompt, record, result, side, summary,
    user,
};

/// Pseudo-random numbers from a seed (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A record made from three numbers: its kind, its uuid, and the uuid that it names.
fn piece((kind, uuid, named): (u64, u64, u64)) -> Value {
    let id = format!("u{uuid}");
    let parent = if named == 0 { String::new() } else { format!("u{}", named - 1) };
    let message = format!("m{}", uuid / 3);
    match kind {
        0 | 1 => user(&id, &parent),
        2 => assistant(&id, &parent, &message),
        3 => call(&id, &parent, &message),
        4 => result(&id, &parent),
        5 => record("progress", &id, &parent),
        6 => boundary(&id, &parent),
        7 => compact_summary(&id, &parent),
        8 => side(user(&id, &parent)),
        9 => side(assistant(&id, &parent, &message)),
        10 => summary(&parent, &format!("about {id}")),
        11 => last_prompt(&parent),
        _ => record("system", &id, &parent),
    }
}

/// The damage to a line: usually none.
fn damage(line: &mut Vec<u8>, how: u64, place: usize) {
    let place = place % line.len().max(1);
    match how {
        0 => line.truncate(place),
        1 => drop(line.pop()),
        2 => drop(line.splice(place..place, [0; 5])),
        3 => line[place] = 0xff,
        4 => drop(line.drain(..place)),
        5 => line.insert(0, b'\n'),
        _ => {}
    }
}

/// A session of this many records, in which uuids repeat and parents are anywhere, with some damage.
pub(crate) fn damaged_file(seed: u64, records: u64) -> Vec<u8> {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut bytes = file(&[user("first", "")]);
    let repeats = seed.is_multiple_of(3);
    for number in 0..records {
        let uuid = if repeats { numbers.below(records) } else { number };
        let named = if numbers.below(4) == 0 { numbers.below(records + 1) } else { number };
        let mut line = file(&[piece((numbers.below(13), uuid, named))]);
        if seed % 4 != 1 {
            let how = numbers.below(40);
            let place = usize::try_from(numbers.below(1 << 20)).unwrap();
            damage(&mut line, how, place);
        }
        bytes.extend_from_slice(&line);
    }
    bytes
}

fn is_as_in_memory(bytes: &[u8]) {
    let place = Place::new();
    let report = place.import(&place.write("s.jsonl", bytes));
    if report.refusal == Some(Refusal::NotASession) {
        return;
    }
    assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
    assert!(place.exact("s") == bytes);
    place.assert_sound();
    let mut finder = LeafFinder::new();
    let mut scanner = Scanner::new();
    for (line, text) in (0..).zip(lines::split(bytes)) {
        for_each_node(text, &mut scanner, |_, node| finder.observe(line, node));
    }
    let leaf = finder.leaf().map(|leaf| leaf.entry);
    let expected = finder.into_tree();
    let reader = place.store.reader("s").unwrap();
    let tree = reader.get_tree().unwrap();
    assert_eq!((tree.nodes().len(), tree.leaf()), (expected.len(), leaf));
    assert_eq!(tree.roots(), expected.roots().collect::<Vec<_>>());
    let orphans = (0..).zip(tree.nodes()).filter(|(_, node)| node.is_orphan);
    assert_eq!(
        orphans.map(|(number, _)| number).collect::<Vec<_>>(),
        expected.orphans().collect::<Vec<_>>()
    );
    let ours = forks(&tree);
    let theirs: Vec<_> =
        expected.forks().into_iter().map(|fork| (fork.at, fork.branches)).collect();
    assert_eq!(ours, theirs);
    let places: std::collections::HashMap<u64, usize> =
        tree.nodes().iter().zip(0..).map(|(node, place)| (node.ordinal, place)).collect();
    for number in 0..expected.len() {
        let node = tree.node(number).unwrap();
        let Some(id) = node.id.as_deref() else { continue };
        if reader.get_entry(id).unwrap().ordinal() != node.ordinal {
            continue;
        }
        let Ok(shown) = claude::context(&expected, number);
        let Ok(said) = claude::full_history(&expected, number);
        let Ok(path) = claude::path(&expected, number);
        for (scope, theirs) in [(Context, &shown), (Full, &said)] {
            let ours = reader.get_history(ContextLeaf::Entry(id), scope).unwrap();
            let entries: Vec<usize> = ours.ordinals().map(|ordinal| places[&ordinal]).collect();
            assert_eq!((&entries, ours.end()), (&theirs.entries, Some(theirs.end)), "{id}");
        }
        let mut walked = Vec::new();
        let take = |entry: &leafline::Entry| {
            walked.push(places[&entry.ordinal()]);
            Ok(())
        };
        reader.get_path(Some(id), take).unwrap();
        assert_eq!(walked, path.entries, "{id}");
        reader.build_full_history(ContextLeaf::Entry(id), None).unwrap();
    }
    is_folded(&reader, &tree);
    crate::place::assert_outlined(&reader);
}

/// Each entry is in one node, and no node is its own descendant.
fn is_folded(reader: &leafline::SessionReader, tree: &leafline::tree::Tree) {
    let folded = reader.get_folded_tree().unwrap();
    let mut records: Vec<u64> = Vec::new();
    for node in folded.nodes() {
        match node.records.as_slice() {
            [] => records.push(node.ordinal),
            several => records.extend(several.iter().map(|record| record.ordinal)),
        }
    }
    records.sort_unstable();
    assert_eq!(records, tree.nodes().iter().map(|node| node.ordinal).collect::<Vec<_>>());
    let mut reached = 0;
    let mut waiting = folded.roots().to_vec();
    while let Some(place) = waiting.pop() {
        let node = folded.node(place).unwrap();
        reached += node.records.len().max(1) as u64;
        waiting.extend(&node.children);
    }
    assert_eq!(reached + folded.unreachable(), tree.nodes().len() as u64);
    assert_eq!(folded.unreachable(), tree.unreachable());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn records_in_any_order(
        pieces in prop::collection::vec(((0u64..13, 0u64..14, 0u64..16), 0u64..24, any::<u16>()), 0..24),
        first in any::<bool>(),
    ) {
        let mut bytes = if first { file(&[user("first", "")]) } else { Vec::new() };
        for (record, how, place) in pieces {
            let mut line = file(&[piece(record)]);
            damage(&mut line, how, usize::from(place));
            bytes.extend_from_slice(&line);
        }
        is_as_in_memory(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn files_that_grow(
        pieces in prop::collection::vec(((0u64..13, 0u64..14, 0u64..16), 0u64..40, any::<u16>(), 0u8..4), 0..12),
    ) {
        let mut steps = vec![file(&[user("first", "")])];
        for (record, how, place, step) in pieces {
            let mut line = file(&[piece(record)]);
            damage(&mut line, how, usize::from(place));
            match steps.last_mut() {
                Some(last) if step > 0 => last.extend_from_slice(&line),
                _ => steps.push(line),
            }
        }
        grows(&steps);
    }
}

#[test]
fn longer_files() {
    for seed in 0..40 {
        is_as_in_memory(&damaged_file(seed, 120));
    }
}
