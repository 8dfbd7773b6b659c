//! Random sequences of operations, played on Leafline and on pi: both see the same session.
//!
//! Leafline plays first. Its ids and times are passed to pi with the same operations, so that even the files are equal
//! byte for byte. A sequence that fails is shown with its seed, shrunk.

mod files;
mod observation;
mod operation;
mod player;
mod together;
mod values;

use std::sync::mpsc::sync_channel;

use leafline::Store;
use leafline_judges::{Answers, Questions};
use serde_json::Value;

use self::observation::theirs;
use self::operation::Operation;
use self::player::{Expected, FOLDER, Played, Player, Policy};
use crate::oracle::Oracle;

/// Sequences that a test plays; `LEAFLINE_SEQUENCES` has it play others.
const SEQUENCES: u64 = 400;

/// How many sequences Leafline may be ahead of pi.
const AHEAD: usize = 16;

/// Even seeds wait for an assistant as pi does, odd ones store at once.
fn policy(seed: u64) -> Policy {
    if seed.is_multiple_of(2) { Policy::Waiting } else { Policy::Immediate }
}

/// The seeds to play: `LEAFLINE_SEQUENCES` is a number, or two with a `..` between.
fn seeds() -> std::ops::Range<u64> {
    let Ok(asked) = std::env::var("LEAFLINE_SEQUENCES") else { return 0..SEQUENCES };
    match asked.split_once("..") {
        Some((from, to)) => from.parse().unwrap()..to.parse().unwrap(),
        None => 0..asked.parse().unwrap(),
    }
}

#[test]
fn pi_plays_every_sequence_as_leafline_does() {
    let Some(oracle) = Oracle::find() else { return };
    let (mut questions, mut answers) = oracle.converse();
    let (sender, receiver) = sync_channel::<(u64, Played)>(AHEAD);
    let (mut operations, mut observations) = (0, 0);
    let failed = std::thread::scope(|scope| {
        // Leafline plays the next sequences while pi plays these. It ends when the receiver is gone.
        scope.spawn(move || {
            for seed in seeds() {
                let played = play(&operation::sequence(seed), policy(seed));
                let job = job(&played);
                if sender.send((seed, played)).is_err() {
                    return;
                }
                questions.ask(&job);
            }
        });
        receiver.into_iter().find_map(|(seed, played)| {
            operations += played.steps.len();
            observations += played.observations();
            Some((seed, difference(&played, &answers.next())?))
        })
    });
    if let Some((seed, difference)) = failed {
        shrink(&oracle, seed, &difference);
    }
    println!("{} sequences, {operations} operations, {observations} observations", seeds().count());
}

fn play(operations: &[Operation], policy: Policy) -> Played {
    let store = Store::in_memory().unwrap();
    play_on(&store, operations, policy).played
}

/// Plays on a new session of the store, and verifies the store.
fn play_on<'s>(store: &'s Store, operations: &[Operation], policy: Policy) -> Player<'s> {
    let player = Player::new(store, policy).play(operations);
    assert_sound(store);
    player
}

/// Every table of the store agrees with its lines.
fn assert_sound(store: &Store) {
    let verification = store.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
}

/// The sequence as a job for pi, from a new session.
fn job(played: &Played) -> String {
    let cwd = values::quoted(FOLDER);
    format!(r#"{{"op":"play","cwd":{cwd},"operations":[{}]}}"#, played.steps.join(","))
}

impl Played {
    fn observations(&self) -> usize {
        self.expected.iter().filter(|expected| matches!(expected, Expected::Observed(..))).count()
    }
}

/// The first thing in which pi differs, and where.
fn difference(played: &Played, answer: &Value) -> Option<String> {
    if answer["ok"] != true {
        let shown: String = answer.to_string().chars().take(300).collect();
        return Some(format!("the job failed: {shown}"));
    }
    let results = answer["results"].as_array().unwrap();
    for ((expected, result), step) in played.expected.iter().zip(results).zip(&played.steps) {
        if result["loops"] == true {
            // pi would walk in a circle, and was not asked to: from here on the sessions differ.
            return None;
        }
        let difference = match expected {
            Expected::Id(id) => (result["id"] != **id).then(|| format!("{id}, not {result}")),
            Expected::Done => {
                (*result != serde_json::json!({})).then(|| format!("done, not {result}"))
            }
            Expected::NotFound(id) => (result["error"] != format!("Entry {id} not found"))
                .then(|| format!("no {id}, not {result}")),
            Expected::Observed(ours, header) => {
                let observed = &result["observed"];
                assert!(observed.is_object(), "{result}");
                ours.difference(&theirs(observed, header))
            }
        };
        if let Some(difference) = difference {
            let step: String = step.chars().take(300).collect();
            return Some(format!("{step}\n{difference}"));
        }
    }
    (results.len() != played.steps.len()).then(|| format!("{} results", results.len()))
}

/// Drops the operations that the failure does not need, and fails with the rest.
fn shrink(oracle: &Oracle, seed: u64, first: &str) -> ! {
    let mut pi = oracle.converse();
    let mut operations = operation::sequence(seed);
    let mut last = first.to_owned();
    let mut before = usize::MAX;
    // Dropping an operation changes which entries the others mean, so that more can then be dropped.
    while operations.len() < before {
        before = operations.len();
        for place in (0..operations.len()).rev() {
            let mut fewer = operations.clone();
            fewer.remove(place);
            if let Some(difference) = fails(&mut pi, &fewer, policy(seed)) {
                last = difference;
                operations = fewer;
            }
        }
    }
    let played = play(&operations, policy(seed));
    panic!(
        "seed {seed}, {:?}: {first}\n\nshrunk to {} operations:\n{operations:#?}\nas pi plays them:\n{}\n\n{last}",
        policy(seed),
        operations.len(),
        played.steps.join("\n"),
    );
}

fn fails(
    (questions, answers): &mut (Questions, Answers),
    operations: &[Operation],
    policy: Policy,
) -> Option<String> {
    let played = play(operations, policy);
    questions.ask(&job(&played));
    difference(&played, &answers.next())
}
