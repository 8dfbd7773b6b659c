//! Compares with the real Codex: what it is seen to send when it resumes a session is what Leafline says it sends.
//!
//! It runs offline, with a substitute for the model's API, in `tests/codex-judge`. `LEAFLINE_CODEX` names the program;
//! without it, and where `./setup` has not installed it, the tests say that they are skipped, unless
//! `LEAFLINE_REQUIRE_CODEX` is set. Codex's answers are kept in `answers.txt`; with `LEAFLINE_CODEX_ANSWERS` set to the
//! path of a file, they are added to it.

use std::collections::BTreeMap;

use leafline_import::codex::{RolloutName, Truncation, detect};
use leafline_judges::{Script, codex, digest_of_values, keep_answers};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cases::{self, Case, damage::damaged};
use crate::program::{Made, difference, without_derived_id};
use crate::{context, has_rollout_id, parts, rollouts, samples};

/// The digest of a context without derived ids.
fn digest(items: impl Iterator<Item = Value>) -> String {
    digest_of_values(&items.map(without_derived_id).collect::<Vec<Value>>())
}

/// Tools side by side, pictures, compactions, interruptions, forks, reverts, rollbacks, agents: as Codex writes them.
#[test]
fn sessions_that_codex_made() {
    let Some(judge) = codex() else { return };
    let made: Made =
        serde_json::from_value(judge.ask(&[json!({"op": "sessions"})]).remove(0)).unwrap();
    assert!(made.sessions.len() > 14, "only {} sessions were made", made.sessions.len());
    tally_of(&made).assert_none();
}

/// What Codex sends to `gpt-5`, with which the judge resumes a session where no model is named: pictures of the detail
/// `original` are sent as `high` (observed). Leafline leaves what was recorded.
fn sent_to_gpt_5(files: &[&[u8]]) -> Value {
    fn with_high_detail(value: &mut Value) {
        if value["type"] == "input_image" && value["detail"] == "original" {
            value["detail"] = json!("high");
        }
        match value {
            Value::Array(elements) => elements.iter_mut().for_each(with_high_detail),
            Value::Object(members) => members.values_mut().for_each(with_high_detail),
            _ => {}
        }
    }
    let mut sent = context(files, Truncation::UNKNOWN_MODEL).1;
    with_high_detail(&mut sent);
    sent
}

/// The sessions that Codex resumed, with a model that it does not know.
fn tally_of(made: &Made) -> Tally {
    let differences = made.sessions.iter().filter_map(|session| {
        let find = |id: &str| {
            let found = made.files.iter().find(|(name, _)| has_rollout_id(name, id));
            found.unwrap().1.as_bytes()
        };
        let files = parts(made.files[&session.file].as_bytes(), &find);
        let ours = sent_to_gpt_5(&files);
        assert!(!ours.as_array().unwrap().is_empty(), "{}", session.name);
        difference(&session.name, &ours, session.context())
    });
    Tally { differences: differences.collect(), resumed: made.sessions.len(), ..Tally::default() }
}

/// Sessions that Codex makes at random, and in the long form the same damaged. Of others a store is asked, in `tests/codex`.
#[test]
fn sessions_that_codex_played() {
    let Some(judge) = codex() else { return };
    let seeds = 1000..1000 + count(3).min(100);
    let jobs: Vec<Value> = seeds.map(|seed| json!({"op": "play", "seed": seed})).collect();
    let (mut whole, mut torn) = (Tally::default(), Tally::default());
    for jobs in jobs.chunks(20) {
        let mut damaged = Vec::new();
        for (job, answer) in jobs.iter().zip(judge.ask(jobs)) {
            assert_eq!(answer["ok"], true, "{job}: {answer}");
            let made: Made = serde_json::from_value(answer).unwrap();
            whole.add(tally_of(&made));
            // Codex does not make the same bytes again, so that damage to them is not the same either.
            if count(0) > 0 {
                let files = made.files.iter();
                damaged.extend(files.flat_map(|(name, file)| damaged_files(name, file)));
            }
        }
        torn.add(tally_of_damaged(&judge, &damaged));
    }
    whole.assert_none();
    if count(0) > 0 {
        torn.assert_none();
    }
}

/// A rollout damaged in several ways, unless it has its beginning in another: the jobs to resume it.
fn damaged_files(name: &str, file: &str) -> Vec<Value> {
    if detect(file.as_bytes(), true).unwrap().header.history_base.is_some() {
        return Vec::new();
    }
    let id = RolloutName::parse(name).unwrap().rollout_id;
    let files = (0..4).map(|seed| (format!("{name}, damaged {seed}"), damaged(file, seed)));
    files
        .map(|(name, file)| json!({"op": "resume", "name": name, "id": id, "file": file}))
        .collect()
}

/// Jobs to resume damaged rollouts.
fn tally_of_damaged(judge: &Script, jobs: &[Value]) -> Tally {
    let mut tally = Tally::default();
    for (job, answer) in jobs.iter().zip(judge.ask(jobs)) {
        let answer: Answer = serde_json::from_value(answer).unwrap();
        let Some(theirs) = &answer.context else {
            tally.count(&answer);
            continue;
        };
        let ours = sent_to_gpt_5(&[job["file"].as_str().unwrap().as_bytes()]);
        tally.differences.extend(difference(job["name"].as_str().unwrap(), &ours, theirs));
        tally.resumed += 1;
    }
    tally
}

/// What Codex sent for each case, as the digest of its text: for machines without Codex.
const ANSWERS: &str = include_str!("answers.txt");

/// The damaged rollouts of which Codex makes something else, and what that is: it is not followed there.
const OTHERWISE: [(&str, &str); 5] = [
    (
        "random 420, damaged 420",
        "it reads a list in place of an item, whose type is the first element",
    ),
    (
        "random 1154, damaged 1154",
        "it reads a list in place of a compaction, whose message is the first element",
    ),
    ("other items, damaged 1229", "it reads a list in place of a search's action"),
    ("random 1454, damaged 1454", "it reads a number in place of an item's type"),
    ("pictures, damaged 621", "it decodes a picture as a whole"),
];

/// Damaged rollouts whose answers are kept.
const DAMAGED: u64 = 40;

fn compare(judge: &Script, cases: &[Case]) {
    let jobs: Vec<Value> = (0..)
        .zip(cases)
        .map(|(number, case)| {
            let model = if case.is_of_known_model { json!("gpt-5.5") } else { Value::Null };
            let id = id_of(number);
            let file = case.file(&id);
            json!({"op": "resume", "name": case.name, "id": id, "file": file, "model": model})
        })
        .collect();
    let mut tally = Tally::default();
    let mut answers = String::new();
    for (case, answer) in cases.iter().zip(judge.ask(&jobs)) {
        let answer: Answer = serde_json::from_value(answer).unwrap();
        let name = &case.name;
        let Some(theirs) = answer.context else {
            tally.count(&answer);
            let error = answer.error.unwrap();
            if !case.is_damaged() {
                tally.differences.push(format!("{name}: Codex failed: {error}"));
            }
            continue;
        };
        let difference = difference(name, &ours(case), &theirs);
        let is_otherwise = OTHERWISE.iter().any(|(otherwise, _)| name == otherwise);
        assert!(!is_otherwise || difference.is_some(), "{name} is the same now");
        tally.differences.extend(difference.filter(|_| !is_otherwise));
        tally.resumed += 1;
        let digest = digest(theirs.iter().map(|item| serde_json::from_str(item).unwrap()));
        answers.push_str(&format!("{digest} {}\n", name.escape_debug()));
    }
    keep_answers("LEAFLINE_CODEX_ANSWERS", &answers);
    tally.assert_none();
}

fn ours(case: &Case) -> Value {
    let limit =
        if case.is_of_known_model { Truncation::KNOWN_MODEL } else { Truncation::UNKNOWN_MODEL };
    context(&[case.file(&id_of(0)).as_bytes()], limit).1
}

/// The cases without Codex, compared with its recorded answers.
#[test]
fn answers_that_codex_gave() {
    let mut answers: BTreeMap<String, &str> = BTreeMap::new();
    for line in ANSWERS.lines() {
        let (digest, name) = line.split_once(' ').unwrap();
        assert!(answers.insert(name.to_owned(), digest).is_none(), "{name} is there twice");
    }
    let damaged = (0..DAMAGED).map(damaged_case);
    for case in cases::all().into_iter().chain(random_cases()).chain(damaged) {
        let ours = ours(&case);
        let theirs = answers.remove(&case.name.escape_debug().to_string());
        if theirs.is_none() && case.is_damaged() {
            // Codex did not resume it.
            continue;
        }
        let digest = digest(ours.as_array().unwrap().iter().cloned());
        assert_eq!(Some(&*digest), theirs, "{}:\n{ours:.3000}", case.name);
    }
    assert!(answers.is_empty(), "{answers:?}");
}

fn random_cases() -> Vec<Case> {
    (0..60).map(rollouts::case).collect()
}

/// One of two is of a kind that was made by hand.
fn damaged_case(seed: u64) -> Case {
    let mut by_hand = cases::of_the_history();
    let place = usize::try_from(seed / 2).unwrap() % by_hand.len();
    let case =
        if seed.is_multiple_of(2) { rollouts::case(seed) } else { by_hand.swap_remove(place) };
    case.damaged(seed)
}

/// A number of sessions that the environment gives, or this one.
fn count(usual: u64) -> u64 {
    std::env::var("LEAFLINE_CODEX_SESSIONS").map_or(usual, |count| count.parse().unwrap())
}

#[derive(Deserialize)]
struct Answer {
    context: Option<Vec<String>>,
    error: Option<String>,
    /// Codex does not survive it.
    #[serde(default)]
    hangs: bool,
}

/// What came of rollouts.
#[derive(Default)]
struct Tally {
    differences: Vec<String>,
    resumed: usize,
    /// How many Codex refused.
    refused: usize,
    /// How many it does not survive.
    hanging: usize,
}

impl Tally {
    /// Counts a rollout that was not resumed.
    fn count(&mut self, answer: &Answer) {
        match answer.hangs {
            true => self.hanging += 1,
            false => self.refused += 1,
        }
    }

    fn add(&mut self, other: Self) {
        self.differences.extend(other.differences);
        self.resumed += other.resumed;
        self.refused += other.refused;
        self.hanging += other.hanging;
    }

    /// Asserts that nothing differs, and that at least half was resumed.
    fn assert_none(self) {
        let Self { differences, resumed, refused, hanging } = self;
        println!(
            "{resumed} rollouts compared with Codex; it refused {refused}, and did not survive {hanging}"
        );
        assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
        assert!(resumed > refused + hanging, "Codex resumed only {resumed}");
    }
}

/// The samples, whose sessions Codex never had.
#[test]
fn samples_of_rollouts() {
    let Some(judge) = codex() else { return };
    let mut tally = Tally::default();
    for name in samples::ALONE {
        let file = samples::sample(name);
        // A session stays with its provider, and the judge has only one.
        let text = String::from_utf8(file.clone()).unwrap();
        let text = text.replace(r#""model_provider":"openai""#, r#""model_provider":"local""#);
        let id = RolloutName::parse(name).unwrap().session_id;
        let answer = judge.ask(&[json!({"op": "resume", "id": id, "file": text})]).remove(0);
        let answer: Answer = serde_json::from_value(answer).unwrap();
        let theirs = answer.context.unwrap_or_else(|| panic!("{name}: {:?}", answer.error));
        let ours = context(&[&file], Truncation::UNKNOWN_MODEL).1;
        tally.differences.extend(difference(name, &ours, &theirs));
        tally.resumed += 1;
    }
    tally.assert_none();
}

fn id_of(number: u64) -> String {
    format!("0199f2b4-0000-7000-8000-{number:012}")
}

/// One of four, unless their answers are to be kept, or all is asked for.
#[test]
fn rollouts_of_every_kind() {
    let Some(judge) = codex() else { return };
    let are_kept = std::env::var_os("LEAFLINE_CODEX_ANSWERS").is_some();
    let step = if are_kept || count(0) > 0 { 1 } else { 4 };
    compare(&judge, &cases::all().into_iter().step_by(step).collect::<Vec<Case>>());
}

#[test]
fn rollouts_at_random() {
    let Some(judge) = codex() else { return };
    compare(&judge, &random_cases());
}

/// Lines that are lost, torn, there twice or in another place, and members and values that are others.
#[test]
fn rollouts_that_are_damaged() {
    let Some(judge) = codex() else { return };
    compare(&judge, &(0..count(DAMAGED / 2)).map(damaged_case).collect::<Vec<Case>>());
}
