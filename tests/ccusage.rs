//! Usage, compared with what ccusage says of the same files of Claude Code's.
//!
//! Guards against answers that count twice, or not at all, and against wrong prices: in projects with repeated records, resumed
//! copies, agents, models that do not exist, and odd numbers. docs/usage.md names where the two differ, and a test here shows
//! each of these.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use leafline::Store;
use leafline::import::ImportOptions;
use leafline::usage::{Prices, UsageBy, UsageOptions};
use leafline_judges::{folder, is_to_be_asked};
use serde_json::{Value, json};

/// Tokens of input, output, written to a cache and read from it, and the cost, of each row.
type Sums = BTreeMap<String, ([u64; 4], f64)>;

/// ccusage, if it is installed.
fn ccusage() -> Option<PathBuf> {
    let program = folder("ccusage").join("node_modules/@ccusage/ccusage-linux-x64/bin/ccusage");
    let missing = format!("{} is not installed", program.display());
    is_to_be_asked(program.exists(), "LEAFLINE_REQUIRE_CCUSAGE", &missing).then_some(program)
}

/// Files of Claude Code's in a folder like its own.
struct Projects {
    home: tempfile::TempDir,
}

impl Projects {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join(".claude")
    }

    fn write(&self, name: &str, records: &[Value]) {
        let path = self.folder().join("projects").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        std::fs::write(path, lines).unwrap();
    }

    fn ours(&self, by: UsageBy) -> Sums {
        let store = Store::in_memory().unwrap();
        let options = ImportOptions::default();
        let totals = store.import(&[self.folder().join("projects")], &options, &mut ()).unwrap();
        assert_eq!((totals.failed, totals.skipped), (0, 0), "{totals:?}");
        assert!(store.verify().unwrap().problems.is_empty());
        let report = store.usage(&UsageOptions { by, ..UsageOptions::default() }).unwrap();
        let rows = report.rows.into_iter().map(|row| {
            let sums = row.sums;
            let tokens = [sums.input, sums.output, sums.cache_write, sums.cache_read];
            (row.name, (tokens, sums.cost))
        });
        rows.collect()
    }

    fn theirs(&self, program: &Path, report: &str, list: &str, name: &str) -> Sums {
        let output = Command::new(program)
            .args(["claude", report, "--offline", "--json"])
            .env("HOME", self.home.path())
            .env("CLAUDE_CONFIG_DIR", self.folder())
            .env("TZ", "UTC")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let report: Value = serde_json::from_slice(&output.stdout).expect(&said);
        let rows = report[list].as_array().unwrap().iter().map(|row| {
            let tokens = ["inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens"];
            let tokens = tokens.map(|tokens| row[tokens].as_u64().unwrap());
            (row[name].as_str().unwrap().to_owned(), (tokens, row["totalCost"].as_f64().unwrap()))
        });
        rows.collect()
    }

    fn both_by_day(&self, program: &Path) -> (Sums, Sums) {
        (self.ours(UsageBy::Day), self.theirs(program, "daily", "daily", "date"))
    }
}

fn assert_same(ours: &Sums, theirs: &Sums, what: &str) {
    let tokens = |sums: &Sums| -> BTreeMap<String, [u64; 4]> {
        sums.iter().map(|(name, (tokens, _))| (name.clone(), *tokens)).collect()
    };
    assert_eq!(tokens(ours), tokens(theirs), "{what}");
    for (name, (_, cost)) in ours {
        let other = theirs[name].1;
        assert!((cost - other).abs() < 1e-9 * cost.max(1.0), "{what}, {name}: {cost} {other}");
    }
}

fn session_id(number: usize) -> String {
    format!("5eed0000-0000-4000-8000-{number:012x}")
}

/// A record of the model's.
fn answer(
    session: &str,
    (message, request): (Option<&str>, Option<&str>),
    minute: u32,
    model: &str,
    usage: Value,
) -> Value {
    let (day, hour, minute) = (1 + minute / 1440, minute / 60 % 24, minute % 60);
    let mut record = json!({
        "parentUuid": null, "isSidechain": false, "type": "assistant", "sessionId": session, "cwd": "/work/tide",
        "version": "2.1.330", "uuid": format!("{session}-{}", fastrand::u64(..)),
        "timestamp": format!("2026-03-{day:02}T{hour:02}:{minute:02}:00.000Z"),
        "message": {"role": "assistant", "model": model, "content": [], "usage": usage},
    });
    if let Some(message) = message {
        record["message"]["id"] = json!(message);
    }
    if let Some(request) = request {
        record["requestId"] = json!(request);
    }
    record
}

fn usage(input: u64, output: u64) -> Value {
    json!({"input_tokens": input, "output_tokens": output})
}

const MODELS: [&str; 8] = [
    "claude-opus-4-6",
    "claude-sonnet-4-20250514",
    "claude-opus-4-20250514",
    "claude-haiku-4-5-20251001",
    "claude-sonnet-4-5-20250929",
    "claude-3-5-haiku-20241022",
    "<synthetic>",
    "no-model-of-this-name",
];

fn random_usage(random: &mut Rng) -> Value {
    let (short, long) = (random.u64(..9_000), if random.bool() { random.u64(..9_000) } else { 0 });
    let mut usage = json!({
        "input_tokens": random.u64(..3_000), "cache_read_input_tokens": random.u64(..90_000),
        "cache_creation_input_tokens": short + long, "output_tokens": random.u64(1..4_000),
    });
    if long > 0 || random.bool() {
        usage["cache_creation"] =
            json!({"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long});
    }
    usage
}

/// The records of a conversation: each answer is one to four of them, of which the last says what it has used.
fn conversation(
    random: &mut Rng,
    session: &str,
    begins: u32,
    (name, is_copied): (&str, bool),
) -> Vec<Value> {
    let mut records = Vec::new();
    let mut minute = begins;
    for number in 0..random.usize(1..25) {
        minute += random.u32(0..30);
        let id = format!("msg_{name}{number}");
        let request = format!("req_{name}{number}");
        let ids = match random.u32(..12) {
            0 => (None, None),
            1 if !is_copied => (Some(&*id), None),
            _ => (Some(&*id), Some(&*request)),
        };
        let model = MODELS[random.usize(..MODELS.len())];
        let (whole, states_cost) = (random_usage(random), random.u32(..20) == 0);
        let count = if ids.0.is_some() { random.usize(1..4) } else { 1 };
        for part in 0..count {
            let mut usage = whole.clone();
            if part + 1 < count && random.bool() {
                usage["output_tokens"] = json!(1);
            }
            let mut record = answer(session, ids, minute, model, usage);
            match random.u32(..40) {
                0 => record["isApiErrorMessage"] = json!(true),
                2 => record["message"]["usage"]["input_tokens"] = json!(-5),
                3 => record["message"]["usage"]["output_tokens"] = json!("7"),
                4 => record["message"]["usage"]["input_tokens"] = json!(1.5),
                5 => record["message"]["usage"] = json!(null),
                _ => {}
            }
            if states_cost {
                record["costUSD"] = json!(0.25);
            }
            records.push(record);
            if random.bool() {
                let text = json!({"type": "user", "uuid": format!("p{}", random.u64(..)), "parentUuid": null, "sessionId": session,
                    "timestamp": "2026-03-01T00:00:00.000Z", "message": {"role": "user", "content": "Go on."}});
                records.push(text);
            }
        }
    }
    records
}

fn random_projects(seed: u64, copies: bool) -> Projects {
    let mut random = Rng::with_seed(seed);
    let projects = Projects::new();
    for number in 0..random.usize(2..7) {
        let (project, session) = (["-work-tide", "-work-moon"][number % 2], session_id(number));
        let begins = random.u32(..30_000);
        let own =
            conversation(&mut random, &session, begins, (&format!("{seed}x{number}"), copies));
        projects.write(&format!("{project}/{session}.jsonl"), &own);
        if random.bool() {
            let name = format!("{seed}a{number}");
            let mut agent = conversation(&mut random, &session, begins, (&name, false));
            for record in &mut agent {
                record["isSidechain"] = json!(true);
                record["agentId"] = json!("a1b2");
            }
            projects.write(&format!("{project}/{session}/subagents/agent-a1b2.jsonl"), &agent);
        }
        if copies && random.bool() {
            // Resumed under another id: the records are repeated, and the conversation goes on.
            let other = session_id(100 + number);
            let mut copy = own[..random.usize(..=own.len())].to_vec();
            copy.iter_mut().for_each(|record| record["sessionId"] = json!(other));
            let later = 30_000 + random.u32(..8_000);
            copy.extend(conversation(
                &mut random,
                &other,
                later,
                (&format!("{seed}c{number}"), false),
            ));
            projects.write(&format!("{project}/{other}.jsonl"), &copy);
        }
    }
    projects
}

#[test]
fn random_projects_have_the_same_sums() {
    let Some(program) = ccusage() else { return };
    let runs = std::env::var("LEAFLINE_CCUSAGE_RUNS").map_or(24, |runs| runs.parse().unwrap());
    let mut rows = 0;
    for seed in 0..runs {
        let projects = random_projects(seed, true);
        let (ours, theirs) = projects.both_by_day(&program);
        assert_same(&ours, &theirs, &format!("seed {seed}, days"));
        rows += ours.len();
        let months = projects.theirs(&program, "monthly", "monthly", "month");
        assert_same(&projects.ours(UsageBy::Month), &months, &format!("seed {seed}, months"));
        let projects = random_projects(seed, false);
        let sessions = projects.theirs(&program, "session", "sessions", "sessionId");
        assert_same(&projects.ours(UsageBy::Session), &sessions, &format!("seed {seed}, sessions"));
    }
    assert!(rows > 100, "{rows} days");
}

/// What docs/usage.md says of where the two differ.
#[test]
fn where_the_sums_differ() {
    let Some(program) = ccusage() else { return };
    let session = session_id(1);
    let name = format!("-work-tide/{session}.jsonl");
    let ids = (Some("m1"), Some("r1"));
    let sonnet = "claude-sonnet-4-20250514";
    let day = |sums: &Sums| sums.values().next().copied().unwrap_or_default();
    let compare = |records: &[Value]| {
        let projects = Projects::new();
        projects.write(&name, records);
        let (ours, theirs) = projects.both_by_day(&program);
        (day(&ours), day(&theirs))
    };
    let is = |cost: f64, expected: f64| (cost - expected).abs() < 1e-9;
    // More than 200,000 tokens of input: the whole request has the higher price, not what exceeds them.
    let (ours, theirs) = compare(&[answer(&session, ids, 1, sonnet, usage(300_000, 0))]);
    assert!(is(ours.1, 1.8) && is(theirs.1, 1.2), "{ours:?} {theirs:?}");
    // The same in parts, none of which has so many.
    let parts = json!({"input_tokens": 100_000, "cache_read_input_tokens": 150_000, "output_tokens": 1_000});
    let (ours, theirs) = compare(&[answer(&session, ids, 1, sonnet, parts)]);
    assert!(is(ours.1, 0.7125) && is(theirs.1, 0.36), "{ours:?} {theirs:?}");
    // As many tokens of two models.
    let models = [sonnet, "claude-opus-4-20250514"];
    let records = models.map(|model| answer(&session, ids, 1, model, usage(100_000, 0)));
    let (ours, theirs) = compare(&records);
    assert!(is(ours.1, 0.3) && is(theirs.1, 1.5), "{ours:?} {theirs:?}");
    // A copy of a record that names no request.
    let projects = Projects::new();
    for session in [1, 2].map(session_id) {
        let record = answer(&session, (Some("m1"), None), 1, sonnet, usage(10, 1));
        projects.write(&format!("-work-tide/{session}.jsonl"), &[record]);
    }
    let (ours, theirs) = projects.both_by_day(&program);
    assert_eq!((day(&ours).0[0], day(&theirs).0[0]), (10, 20));
    // A record of the user's.
    let mut record = answer(&session, ids, 1, sonnet, usage(10, 1));
    record["type"] = json!("user");
    let (ours, theirs) = compare(&[record]);
    assert_eq!((ours.0[0], theirs.0[0]), (0, 10));
    // JSON with white space.
    let projects = Projects::new();
    projects.write(&name, &[]);
    let record = answer(&session, ids, 1, sonnet, usage(10, 1)).to_string().replace("\":", "\": ");
    std::fs::write(projects.folder().join("projects").join(&name), record + "\n").unwrap();
    let (ours, theirs) = projects.both_by_day(&program);
    assert_eq!((day(&ours).0[0], day(&theirs).0[0]), (10, 0));
    // Two records on one line, with what a crash has left between them.
    let projects = Projects::new();
    projects.write(&name, &[]);
    let records = [1, 2]
        .map(|n| answer(&session, (Some("m"), Some(&format!("r{n}"))), n, sonnet, usage(10, 1)));
    let lines = format!("{}\0\0\0{}\n", records[0], records[1]);
    std::fs::write(projects.folder().join("projects").join(&name), lines).unwrap();
    let (ours, theirs) = projects.both_by_day(&program);
    assert_eq!((day(&ours).0[0], day(&theirs).0[0]), (20, 0));
}

/// Tokens of all kinds, few enough for the lowest of a model's prices: they cost what a thousand tokens of each kind cost, and
/// of output a hundred.
fn some_of_each() -> Value {
    json!({"input_tokens": 1_000, "output_tokens": 100, "cache_read_input_tokens": 1_000, "cache_creation_input_tokens": 1_000})
}

/// What an answer of each model costs: here, if it has a price, and with ccusage.
fn costs<'m>(program: &Path, models: &[&'m str]) -> BTreeMap<&'m str, (Option<f64>, f64)> {
    let projects = Projects::new();
    let session = session_id(1);
    let records: Vec<Value> = (0..)
        .zip(models)
        .map(|(number, model)| {
            // A day each.
            let ids = (format!("m{number}"), format!("r{number}"));
            let mut record =
                answer(&session, (Some(&ids.0), Some(&ids.1)), 0, model, some_of_each());
            record["timestamp"] = json!(day_of(number) + "T12:00:00.000Z");
            record
        })
        .collect();
    projects.write(&format!("-work-tide/{session}.jsonl"), &records);
    let (ours, theirs) = projects.both_by_day(program);
    let prices = Prices::built_in();
    let costs = (0..).zip(models).map(|(number, &model)| {
        let day = day_of(number);
        let ours = prices.has(model).then(|| ours[&day].1);
        (model, (ours, theirs[&day].1))
    });
    costs.collect()
}

fn day_of(number: u32) -> String {
    format!("{}-{:02}-{:02}", 2100 + number / 336, 1 + number / 28 % 12, 1 + number % 28)
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

/// Names that programs and services give Anthropic's models, and those of others that cost the same in both.
const SAME: [&str; 43] = [
    "claude-sonnet-4",
    "claude-sonnet-4-latest",
    "claude-sonnet-4@20250514",
    "claude-sonnet-4-thinking",
    "claude-sonnet-4-5-thinking",
    "claude-sonnet-4-5@20250929",
    "claude-sonnet-4-5-20250929[1m]",
    "claude-sonnet-4.5",
    "anthropic/claude-sonnet-4.5",
    "openrouter/anthropic/claude-sonnet-4.5",
    "anthropic/claude-sonnet-4.5:thinking",
    "claude-4.5-sonnet",
    "claude-haiku-4.5",
    "claude-opus-4",
    "claude-opus-4-1@20250805",
    "claude-opus-4-6@default",
    "claude-3-opus",
    "claude-3-haiku",
    "claude-3-5-haiku",
    "claude-3-5-haiku-20241022",
    "claude-3-5-sonnet",
    "claude-3.5-sonnet",
    "claude-3-5-sonnet-v2@20241022",
    "claude-3-7-sonnet",
    "claude-3-7-sonnet-latest",
    "claude-3.7-sonnet",
    "claude-3.7-sonnet-thought",
    "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "global.anthropic.claude-opus-4-6-v1",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]",
    "us.anthropic.claude-opus-4-6-v1",
    "eu.anthropic.claude-sonnet-4-20250514-v1:0",
    "eu.anthropic.claude-sonnet-4-6",
    "jp.anthropic.claude-haiku-4-5-20251001-v1:0",
    "claude-opus-5",
    "claude-sonnet-5",
    "gpt-5.1-codex",
    "gpt-5.2-codex",
    "minimax-m2",
    "MiniMax-M2.1",
    "glm-4.6",
    "<synthetic>",
];

/// Names whose answers do not cost the same: here, and with ccusage.
const OTHER: [(&str, Option<f64>, f64); 30] = [
    // Names of no model.
    ("sonnet", None, 0.00855),
    ("opus", None, 0.01425),
    ("haiku", None, 0.00285),
    ("claude", None, 0.00855),
    ("claude-sonnet", None, 0.00855),
    ("my-claude-sonnet-4-proxy", None, 0.00855),
    ("mistral-large", None, 0.0212),
    ("kimi-k3-thinking", None, 0.00855),
    ("qwen3-coder", None, 0.000612),
    ("llama-3.3-70b", None, 0.001925),
    ("no-model-of-this-name", None, 0.0),
    // Names that ccusage does not know.
    ("claude-sonnet-4-0", Some(0.00855), 0.0),
    ("claude-opus-4-0", Some(0.04275), 0.0),
    ("claude-sonnet-5-5", Some(0.0056), 0.0),
    ("claude-opus-5-5", Some(0.0112), 0.0),
    ("claude-haiku-5-5", Some(0.000285), 0.0),
    ("claude-2.1", Some(0.0264), 0.0),
    // Regions of Bedrock that ccusage does not know.
    ("us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", Some(0.01026), 0.00855),
    ("eu.anthropic.claude-opus-4-5-20251101-v1:0", Some(0.015675), 0.01425),
    ("apac.anthropic.claude-haiku-4-5-20251001-v1:0", Some(0.003135), 0.00285),
    // No price for what is written to a cache, or for what is read from it too.
    ("gpt-5", Some(0.003625), 0.0039375),
    ("gemini-2.5-pro", Some(0.003625), 0.0039375),
    ("qwen3-coder-plus", Some(0.0026), 0.00285),
    ("claude-3-sonnet", Some(0.0105), 0.00855),
    ("gpt-5-pro", Some(0.057), 0.04725),
    // Other lists of prices.
    ("grok-4", Some(0.0105), 0.009),
    ("grok-code-fast-1", Some(0.0024), 0.00062),
    ("deepseek-chat", Some(0.00035), 0.0003175),
    ("kimi-k2", Some(0.0016), 0.0020125),
    ("o3", Some(0.0053), 0.0017325),
];

#[test]
fn models_have_the_same_prices_by_their_many_names() {
    let Some(program) = ccusage() else { return };
    for (name, (ours, theirs)) in costs(&program, &SAME) {
        let is_unpriced = name == "<synthetic>";
        assert!(ours.is_some() != is_unpriced, "{name} has no price");
        assert!(same(ours.unwrap_or_default(), theirs), "{name}: {ours:?} {theirs}");
    }
    let names = OTHER.map(|(name, ..)| name);
    let costs_of = costs(&program, &names);
    for (name, ours, theirs) in OTHER {
        let found = costs_of[name];
        let is_ours = match (ours, found.0) {
            (Some(expected), Some(found)) => same(expected, found),
            (expected, found) => expected == found,
        };
        assert!(is_ours && same(theirs, found.1), "{name}: {found:?}, not {ours:?} {theirs}");
    }
}

/// Of each name of Anthropic's models in the table.
#[test]
fn all_names_of_claude_in_the_table_have_the_same_prices() {
    let Some(program) = ccusage() else { return };
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/catalog/usage/prices.json");
    let table: Value = serde_json::from_slice(&std::fs::read(table).unwrap()).unwrap();
    let models = table["models"].as_object().unwrap().keys().map(String::as_str);
    let models: Vec<&str> = models.filter(|name| name.contains("claude")).collect();
    let regions = ["apac.", "au.", "eu.", "us-gov.", "us."];
    let newer = ["-5-5", "-mythos-preview"];
    let older = ["claude-2", "claude-instant-"];
    let mut equal = 0;
    for (name, (ours, theirs)) in costs(&program, &models) {
        let is_other = if same(ours.unwrap(), theirs) {
            equal += 1;
            true
        } else if theirs == 0.0 {
            older.iter().any(|older| name.starts_with(older))
                || newer.iter().any(|newer| name.ends_with(newer))
        } else {
            name == "claude-3-sonnet-20240229"
                || regions.iter().any(|region| name.starts_with(region))
        };
        assert!(is_other, "{name}: {ours:?} {theirs}");
    }
    assert!(equal >= 77, "{equal} of {}", models.len());
}
