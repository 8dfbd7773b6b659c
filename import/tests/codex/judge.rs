//! The real Codex as the judge: what it is seen to send when it resumes a session is what Leafline says that it sends.
//!
//! It is run offline, against a stand-in of the model's API, by `tests/codex-judge`. `LEAFLINE_CODEX` names the program;
//! without it, and without `npm ci` in that folder, the tests say that they are skipped, unless
//! `LEAFLINE_REQUIRE_CODEX` is set. What Codex answered is kept in `answers.txt`; with `LEAFLINE_CODEX_ANSWERS` set to
//! the path of a file, the answers are added to it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use leafline_import::codex::{RolloutName, Truncation};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cases::{self, Case};
use crate::{context, has_rollout_id, parts, random, samples};

/// Codex, ready to be asked.
struct Judge {
    folder: PathBuf,
}

impl Judge {
    fn find() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/codex-judge");
        let is_named = std::env::var_os("LEAFLINE_CODEX").is_some();
        if is_named || folder.join("node_modules/.bin/codex").exists() {
            return Some(Self { folder });
        }
        assert!(
            std::env::var_os("LEAFLINE_REQUIRE_CODEX").is_none(),
            "LEAFLINE_REQUIRE_CODEX is set, and neither is LEAFLINE_CODEX nor is Codex installed in tests/codex-judge"
        );
        println!(
            "skipped: LEAFLINE_CODEX is not set, and Codex is not installed in tests/codex-judge"
        );
        None
    }

    /// Answers to jobs, in their order.
    fn ask(&self, jobs: &[Value]) -> Vec<Value> {
        let mut child = Command::new("node")
            .arg("judge.mjs")
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let text: String = jobs.iter().map(|job| format!("{job}\n")).collect();
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success(), "the harness failed");
        let answers = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let answers: Vec<Value> =
            answers.map(|line| serde_json::from_slice(line).unwrap()).collect();
        assert_eq!(answers.len(), jobs.len(), "an answer a job");
        answers
    }
}

/// What Codex makes up for a missing output has an id that it derives from the call's; ours has none.
fn without_derived_id(mut item: Value) -> Value {
    let is_made = item["output"] == "aborted" || item["type"] == "tool_search_output";
    if is_made && let Some(item) = item.as_object_mut() {
        item.remove("id");
    }
    item
}

/// A context as text: without derived ids, and with the members of each object in the order of their names.
fn plain_text(items: impl Iterator<Item = Value>) -> String {
    fn sorted(value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let members: BTreeMap<String, Value> = members.into_iter().collect();
                members.into_iter().map(|(name, value)| (name, sorted(value))).collect()
            }
            Value::Array(elements) => elements.into_iter().map(sorted).collect(),
            other => other,
        }
    }
    items.map(|item| sorted(without_derived_id(item)).to_string() + "\n").collect()
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// What differs, and nothing where nothing does.
fn difference(name: &str, ours: &Value, theirs: &[String]) -> Option<String> {
    let ours = ours.as_array().unwrap().iter().cloned().map(without_derived_id);
    let theirs = theirs.iter().map(|item| without_derived_id(serde_json::from_str(item).unwrap()));
    let (ours, theirs): (Vec<Value>, Vec<Value>) = (ours.collect(), theirs.collect());
    if ours == theirs {
        return None;
    }
    let at = ours.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
    let shown = |items: &[Value]| {
        let items = items.iter().skip(at).take(3);
        items
            .map(|item| item.to_string().chars().take(400).collect())
            .collect::<Vec<String>>()
            .join("\n    ")
    };
    let (ours_there, theirs_there) = (shown(&ours), shown(&theirs));
    let (ours, theirs) = (ours.len(), theirs.len());
    Some(format!(
        "{name}: item {at} of {ours}, {theirs}\n  ours\n    {ours_there}\n  Codex\n    {theirs_there}\n"
    ))
}

fn assert_none(differences: Vec<String>, compared: usize) {
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
    println!("{compared} rollouts compared with Codex");
}

#[derive(Deserialize)]
struct Made {
    files: BTreeMap<String, String>,
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
struct Session {
    name: String,
    file: String,
    context: Vec<String>,
}

/// Tools side by side, pictures, compactions, interruptions, forks, reverts, rollbacks, agents: as Codex writes them.
#[test]
fn sessions_that_codex_made() {
    let Some(judge) = Judge::find() else { return };
    let made: Made =
        serde_json::from_value(judge.ask(&[json!({"op": "sessions"})]).remove(0)).unwrap();
    assert!(made.sessions.len() > 14, "only {} sessions were made", made.sessions.len());
    let mut differences = Vec::new();
    for session in &made.sessions {
        let find = |id: &str| {
            let found = made.files.iter().find(|(name, _)| has_rollout_id(name, id));
            found.unwrap().1.as_bytes()
        };
        let files = parts(made.files[&session.file].as_bytes(), &find);
        let (_, ours) = context(&files, Truncation::UNKNOWN_MODEL);
        assert!(!ours.as_array().unwrap().is_empty(), "{}", session.name);
        differences.extend(difference(&session.name, &ours, &session.context));
    }
    assert_none(differences, made.sessions.len());
}

/// What Codex 0.169.0 sent for each case, as the digest of its text: for those who do not have it at hand.
const ANSWERS: &str = include_str!("answers.txt");

fn compare(judge: &Judge, cases: &[Case]) {
    let jobs: Vec<Value> = (0..)
        .zip(cases)
        .map(|(number, case)| {
            let model = if case.is_of_known_model { json!("gpt-5.5") } else { Value::Null };
            let id = id_of(number);
            json!({"op": "resume", "id": id, "file": case.file(&id), "model": model})
        })
        .collect();
    let mut differences = Vec::new();
    let mut answers = String::new();
    for (case, answer) in cases.iter().zip(judge.ask(&jobs)) {
        let answer: Answer = serde_json::from_value(answer).unwrap();
        let name = &case.name;
        let Some(theirs) = answer.context else {
            differences.push(format!("{name}: Codex failed: {:?}", answer.error));
            continue;
        };
        differences.extend(difference(name, &ours(case), &theirs));
        let text = plain_text(theirs.iter().map(|item| serde_json::from_str(item).unwrap()));
        answers.push_str(&format!("{} {}\n", digest(&text), name.escape_debug()));
    }
    assert_none(differences, cases.len());
    if let Some(path) = std::env::var_os("LEAFLINE_CODEX_ANSWERS") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(answers.as_bytes()).unwrap();
    }
}

fn ours(case: &Case) -> Value {
    let limit =
        if case.is_of_known_model { Truncation::KNOWN_MODEL } else { Truncation::UNKNOWN_MODEL };
    context(&[case.file(&id_of(0)).as_bytes()], limit).1
}

/// The cases without Codex, by what it once answered.
#[test]
fn answers_that_codex_gave() {
    let mut answers: BTreeMap<String, &str> = BTreeMap::new();
    for line in ANSWERS.lines() {
        let (digest, name) = line.split_once(' ').unwrap();
        assert!(answers.insert(name.to_owned(), digest).is_none(), "{name} is there twice");
    }
    for case in cases::all().into_iter().chain(random_cases()) {
        let ours = plain_text(ours(&case).as_array().unwrap().iter().cloned());
        let theirs = answers.remove(&case.name.escape_debug().to_string());
        assert_eq!(Some(&*digest(&ours)), theirs, "{}:\n{ours:.3000}", case.name);
    }
    assert!(answers.is_empty(), "{answers:?}");
}

fn random_cases() -> Vec<Case> {
    (0..60).map(random::case).collect()
}

#[derive(Deserialize)]
struct Answer {
    context: Option<Vec<String>>,
    error: Option<String>,
}

/// The samples, whose sessions Codex never had.
#[test]
fn samples_of_rollouts() {
    let Some(judge) = Judge::find() else { return };
    let mut differences = Vec::new();
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
        differences.extend(difference(name, &ours, &theirs));
    }
    assert_none(differences, samples::ALONE.len());
}

fn id_of(number: u64) -> String {
    format!("0199f2b4-0000-7000-8000-{number:012}")
}

#[test]
fn rollouts_of_every_kind() {
    let Some(judge) = Judge::find() else { return };
    compare(&judge, &cases::all());
}

#[test]
fn rollouts_at_random() {
    let Some(judge) = Judge::find() else { return };
    compare(&judge, &random_cases());
}
