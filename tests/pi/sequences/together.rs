//! Sequences that alternate between sessions of one store.

use leafline::Store;
use leafline::import::ImportOptions;
use leafline_generate::Shape;

use super::operation::{self, Operation};
use super::player::Player;
use super::{assert_sound, difference, job, policy};
use crate::oracle::Oracle;
use crate::random::Random;

/// Sequences that are under way at a time.
const GROUP: u64 = 8;

/// Groups that are played.
const GROUPS: u64 = 12;

/// Sessions are independent, and are the same in a large store, whose dictionary compresses them.
#[test]
fn sessions_of_one_store_keep_apart() {
    let Some(oracle) = Oracle::find() else { return };
    let (mut questions, mut answers) = oracle.converse();
    let store = Store::in_memory().unwrap();
    fill(&store);
    let mut operations = 0;
    for group in 0..GROUPS {
        let seeds: Vec<u64> = (0..GROUP).map(|place| 20_000 + group * GROUP + place).collect();
        for (seed, player) in seeds.iter().zip(in_turns(&store, &seeds)) {
            questions.ask(&job(&player.played));
            assert_eq!(difference(&player.played, &answers.next()), None, "seed {seed}");
            operations += player.played.steps.len();
        }
    }
    assert_sound(&store);
    println!("{} sequences in turns, {operations} operations", GROUPS * GROUP);
}

/// A session of more than the megabyte at which an import trains a dictionary.
fn fill(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let mut bytes = Vec::new();
    let shape = Shape { bytes: 1_500_000, images: 0.0, ..Shape::default() };
    leafline_generate::generate(&shape, &mut bytes).unwrap();
    std::fs::write(&path, bytes).unwrap();
    store.import(&[path], &ImportOptions::default(), &mut ()).unwrap();
    let tables = store.statistics().unwrap().tables;
    let dictionaries = tables.iter().find(|table| table.name == "dictionaries").unwrap();
    assert_eq!(dictionaries.rows, 1);
}

/// Plays the sequences, alternating between them. One in eight is long enough to fill chunks.
fn in_turns<'s>(store: &'s Store, seeds: &[u64]) -> Vec<Player<'s>> {
    let mut random = Random::new(seeds[0]);
    let mut players: Vec<Player<'s>> =
        seeds.iter().map(|&seed| Player::new(store, policy(seed))).collect();
    let mut waiting: Vec<std::vec::IntoIter<Operation>> = seeds
        .iter()
        .map(|&seed| match seed % 8 {
            7 => operation::long_sequence(seed).into_iter(),
            _ => operation::sequence(seed).into_iter(),
        })
        .collect();
    while waiting.iter().any(|sequence| sequence.len() > 0) {
        let place = random.below(players.len());
        if let Some(operation) = waiting[place].next() {
            players[place].step(&operation);
        }
    }
    players
}
