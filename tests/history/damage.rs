//! A damaged history is reported, and never panics.

use leafline::{Error, Store};
use redb::{TableDefinition, WriteTransaction};

use super::place::Place;

const HISTORY: TableDefinition<u64, &[u8]> = TableDefinition::new("history");
const TERMS: TableDefinition<(u64, &[u8]), &[u8]> = TableDefinition::new("history_terms");
const BLOCKS: TableDefinition<u64, &[u8]> = TableDefinition::new("history_blocks");

/// A history of three prompts, a change of its tables, and the tables that the check then names.
#[track_caller]
fn problems(change: impl FnOnce(&WriteTransaction)) -> (Place, Vec<String>) {
    let place = Place::new();
    let history = place.store.history();
    for prompt in ["one fish", "two fish", "red fish"] {
        history.add(prompt, None).unwrap();
    }
    place.assert_sound();
    place.change_tables(change);
    let verification = place.store.verify().unwrap();
    let kinds = verification.problems.into_iter().map(|problem| problem.kind).collect();
    (place, kinds)
}

#[test]
fn the_index_is_compared_with_the_prompts() {
    let (_, kinds) = problems(|transaction| {
        let mut terms = transaction.open_table(TERMS).unwrap();
        terms.remove((0, &b"fish"[..])).unwrap();
    });
    assert_eq!(kinds, ["history_terms"]);
    let (_, kinds) = problems(|transaction| {
        let mut terms = transaction.open_table(TERMS).unwrap();
        terms.insert((0, &b"fish"[..]), &[0, 0][..]).unwrap();
        terms.insert((7, &b"fish"[..]), &[0, 0][..]).unwrap();
    });
    assert_eq!(kinds, ["history_terms"]);
    let (_, kinds) = problems(|transaction| {
        let mut blocks = transaction.open_table(BLOCKS).unwrap();
        blocks.insert(0, &[1, 0, 1][..]).unwrap();
        blocks.insert(9, &[1, 0, 1][..]).unwrap();
    });
    assert_eq!(kinds, ["history_blocks"]);
    let (_, kinds) = problems(|transaction| {
        let mut blocks = transaction.open_table(BLOCKS).unwrap();
        blocks.remove(0).unwrap();
    });
    assert_eq!(kinds, ["history_blocks"]);
}

#[test]
fn damage_is_an_error() {
    let is_corrupted = |result: leafline::Result<Vec<_>>| match result {
        Err(Error::Corrupted(damage)) => damage.table,
        other => panic!("{other:?}"),
    };
    let (place, kinds) = problems(|transaction| {
        let mut terms = transaction.open_table(TERMS).unwrap();
        terms.insert((0, &b"fish"[..]), &[0, 0, 1][..]).unwrap();
        terms.insert((0, &b"one"[..]), &[255, 0][..]).unwrap();
    });
    assert_eq!(kinds, ["history_terms"]);
    let history = place.store.history();
    assert_eq!(is_corrupted(history.search("fish", 9)), "history_terms");
    assert_eq!(is_corrupted(history.search("one", 9)), "history");
    assert_eq!(history.search("two", 9).unwrap().len(), 1);

    let (place, kinds) = problems(|transaction| {
        let mut prompts = transaction.open_table(HISTORY).unwrap();
        prompts.insert(1, &[1, 2, 251][..]).unwrap();
    });
    assert_eq!(kinds, ["history"]);
    let store = Store::open(place.store.path()).unwrap();
    assert_eq!(is_corrupted(store.history().recent(9)), "history");
    assert_eq!(store.history().recent(1).unwrap().len(), 1);

    let (place, kinds) = problems(|transaction| {
        let mut blocks = transaction.open_table(BLOCKS).unwrap();
        blocks.insert(0, &[9][..]).unwrap();
    });
    assert_eq!(kinds, ["history_blocks"]);
    assert_eq!(is_corrupted(place.store.history().recent(9)), "history_blocks");
}
