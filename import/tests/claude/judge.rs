//! The real Claude Code as the judge: what it is seen to send when it resumes a session is what Leafline says that it sends.
//!
//! It is run offline, against a stand-in of the model's API, by `tests/claude-judge`, which says how to install it.
//! `LEAFLINE_CLAUDE` names the program; without it, and where `./setup` has not installed it, the tests say that
//! they are skipped, unless `LEAFLINE_REQUIRE_CLAUDE` is set. What it answered is kept in `answers.txt`; with
//! `LEAFLINE_CLAUDE_ANSWERS` set to the path of a file, the answers are added to it. `LEAFLINE_CLAUDE_SESSIONS` is the number
//! of sessions that are made at random and played, instead of a few.

use std::collections::BTreeMap;

use leafline_judges::{Resumed, Script, claude, digest_of_values, keep_answers, with_strings};
use serde_json::{Value, json};

use crate::cases::{self, Case};
use crate::conversation::{conversation, for_judge, leaf, messages};
use crate::made;

/// The cases in which the program does otherwise, and why Leafline does not.
const OTHERWISE: [(&str, &str); 15] = [
    ("leaf summary", "the document knows no other leaf than the one that a summary names"),
    ("time as number", "times that are numbers are none"),
    ("unknown type parent", "the program does not know the type, and its children have no parent"),
    ("beside the path after boundary", "what is ahead of the boundary is not read"),
    ("call id that continues another", "ids that are not the same name other calls"),
    ("tool reference none", "which tools there are is not known"),
    ("toolsearch", "which tools there are is not known"),
    (
        "progress behind what hangs on it",
        "in the document's tree an entry may come before its parent",
    ),
    ("line torn ahead of a value", "a line is a record, whatever the one before is"),
    ("empty text and thought ahead of a lost result", "the API gives no such messages"),
    ("command between records of the message ahead of it", "a message stands where it begins"),
    ("call id of another message's call", "ids of calls are the API's, and unique"),
    ("first copy ahead of the boundary", "what is ahead of the boundary is not read"),
    ("first copy of a command", "first copies are looked for of what is beside the path"),
    ("sidechain behind progress", "the index does not tell what a tool reports from other entries"),
];

/// How many sessions of those made at random have an answer that is kept.
const KEPT: u64 = 120;

/// A number that the environment gives, or this one.
pub(crate) fn count(usual: u64) -> u64 {
    std::env::var("LEAFLINE_CLAUDE_SESSIONS").map_or(usual, |count| count.parse().unwrap())
}

fn random(seed: u64) -> Case {
    Case { name: format!("random {seed}"), file: made::session(seed) }
}

/// The context at the leaf.
fn ours(file: &str) -> Vec<Value> {
    let at = leaf(file.as_bytes());
    let mut session = conversation(file.as_bytes());
    with_strings(at.map_or_else(Vec::new, |at| messages(&mut session, at).0))
}

pub(crate) fn difference(name: &str, ours: &[Value], theirs: &[Value]) -> Option<String> {
    leafline_judges::difference("Claude Code", name, ours, theirs)
}

/// Answers to cases; of a case that the program does not resume there is none.
fn ask(judge: &Script, cases: &[Case]) -> Vec<Resumed> {
    let jobs: Vec<Value> = (0..)
        .zip(cases)
        .map(|(number, case)| {
            let id = format!("00000000-0000-4000-9000-{number:012}");
            let file = for_judge(&case.file);
            json!({"op": "resume", "name": case.name, "id": id, "file": file})
        })
        .collect();
    judge.ask(&jobs).iter().map(Resumed::of).collect()
}

fn is_otherwise(case: &Case) -> bool {
    OTHERWISE.iter().any(|(name, _)| *name == case.name)
}

/// Compares sessions with what the program sends. Of those that are not known, `most` may differ. Gives the number of those
/// that the program does not survive.
fn compare(judge: &Script, cases: &[Case], most: usize) -> usize {
    let (mut differences, mut kept) = (Vec::new(), String::new());
    let (mut resumed, mut hanging) = (0, 0);
    for (case, answer) in cases.iter().zip(ask(judge, cases)) {
        let Some(theirs) = answer.messages else {
            let error = answer.error.unwrap_or_default();
            hanging += usize::from(answer.hangs);
            assert!(
                answer.hangs || error.starts_with("No conversation found"),
                "{}: {error}",
                case.name
            );
            continue;
        };
        resumed += 1;
        let ours = ours(&for_judge(&case.file));
        let is_otherwise = is_otherwise(case);
        let difference = difference(&case.name, &ours, &theirs);
        assert!(!is_otherwise || difference.is_some(), "{} is the same now", case.name);
        differences.extend(difference.filter(|_| !is_otherwise));
        let name = case.name.escape_debug();
        kept.push_str(&format!("{} {name}\n", digest_of_values(&theirs)));
    }
    println!(
        "{resumed} of {} sessions compared, {} differ; the program does not survive {hanging}",
        cases.len(),
        differences.len()
    );
    println!("{}", differences.join("\n"));
    keep_answers("LEAFLINE_CLAUDE_ANSWERS", &kept);
    let differing = differences.len();
    assert!(differing <= most, "{differing} differ\n{}", differences.join("\n"));
    hanging
}

/// What Claude Code sent for each case, as the digest of its text.
const ANSWERS: &str = include_str!("answers.txt");

#[test]
fn answers_that_claude_code_gave() {
    let mut answers = BTreeMap::new();
    for line in ANSWERS.lines() {
        let (digest, name) = line.split_once(' ').unwrap();
        answers.insert(name, digest);
    }
    let (mut same, mut otherwise) = (0, Vec::new());
    for case in cases::all().into_iter().chain((0..KEPT).map(random)) {
        let name = case.name.escape_debug().to_string();
        // The program does not resume a session without a leaf.
        let Some(theirs) = answers.remove(&*name) else { continue };
        let ours = ours(&for_judge(&case.file));
        if digest_of_values(&ours) == theirs {
            same += 1;
        } else if is_otherwise(&case) {
            otherwise.push(case.name);
        } else {
            panic!("{name}: {ours:#?}");
        }
    }
    assert_eq!(otherwise.len(), OTHERWISE.len(), "{otherwise:?}");
    assert!(answers.is_empty() && same > 400, "{same} are the same, left are {answers:?}");
}

#[test]
fn sessions_of_every_kind() {
    let Some(judge) = claude() else { return };
    let step = if count(0) > 0 { 1 } else { 10 };
    let cases: Vec<Case> = cases::all().into_iter().step_by(step).collect();
    assert_eq!(compare(&judge, &cases, 0), 0);
}

/// Every second one is damaged. Beyond those that are known some differ: `docs/conformance.md` says which.
#[test]
fn sessions_at_random() {
    let Some(judge) = claude() else { return };
    let count = count(14);
    let (whole, damaged): (Vec<u64>, Vec<u64>) = (0..count).partition(|seed| seed % 2 == 0);
    let beyond = usize::try_from(count.saturating_sub(KEPT)).unwrap();
    let cases = |seeds: Vec<u64>| seeds.into_iter().map(random).collect::<Vec<_>>();
    assert_eq!(compare(&judge, &cases(whole), beyond / 200), 0);
    compare(&judge, &cases(damaged), beyond / 100);
}

/// Tools side by side, errors, long outputs, thoughts, compactions, interruptions: as Claude Code itself writes them.
#[test]
fn sessions_that_claude_code_made() {
    let Some(judge) = claude() else { return };
    let plays = count(4).min(300);
    let jobs: Vec<Value> = (0..plays).map(|seed| json!({"op": "play", "seed": seed})).collect();
    let mut differences = Vec::new();
    for (seed, answer) in judge.ask(&jobs).into_iter().enumerate() {
        let file = answer["file"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        let answer = Resumed::of(&answer);
        let theirs = answer.messages.unwrap();
        let ours = ours(&file);
        differences.extend(difference(&format!("play {seed}"), &ours, &theirs));
    }
    println!("{plays} sessions compared, {} differ", differences.len());
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
}
