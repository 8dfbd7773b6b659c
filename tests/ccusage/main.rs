//! Usage, compared with what ccusage says of the same files of Claude Code's.
//!
//! Guards against answers that count twice, or not at all, and against wrong prices: in projects with repeated records, resumed
//! copies, agents, models that do not exist, and odd numbers. docs/usage.md names where the two differ, and a test here shows
//! each of these.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod differences;
mod prices;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use leafline::Store;
use leafline::import::ImportOptions;
use leafline::usage::{UsageBy, UsageOptions};
use leafline_judges::{installed, is_to_be_asked};
use serde_json::{Value, json};

/// Tokens of input, output, written to a cache and read from it, and the cost, of each row.
type Sums = BTreeMap<String, ([u64; 4], f64)>;

/// ccusage, if it is installed.
fn ccusage() -> Option<PathBuf> {
    let program = installed("ccusage").package.join("bin/ccusage");
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

    /// A store that has the files.
    fn stored(&self) -> Store {
        let store = Store::in_memory().unwrap();
        let options = ImportOptions::default();
        let totals = store.import(&[self.folder().join("projects")], &options, &mut ()).unwrap();
        assert_eq!((totals.failed, totals.skipped), (0, 0), "{totals:?}");
        assert!(store.verify().unwrap().problems.is_empty());
        store
    }

    fn ours(&self, by: UsageBy) -> Sums {
        sums_of(&self.stored(), by)
    }

    /// What a report of ccusage's says; its options may follow its name.
    fn theirs(&self, program: &Path, report: &str, list: &str, name: &str) -> Sums {
        let output = Command::new(program)
            .arg("claude")
            .args(report.split(' '))
            .args(["--offline", "--json"])
            .env("HOME", self.home.path())
            .env("CLAUDE_CONFIG_DIR", self.folder())
            .env("TZ", "UTC")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let report: Value = serde_json::from_slice(&output.stdout).expect(&said);
        // Without anything to sum up it prints an empty list.
        let rows =
            report[list].as_array().map(Vec::as_slice).unwrap_or_default().iter().map(|row| {
                let tokens =
                    ["inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens"];
                let tokens = tokens.map(|tokens| row[tokens].as_u64().unwrap());
                (
                    row[name].as_str().unwrap().to_owned(),
                    (tokens, row["totalCost"].as_f64().unwrap()),
                )
            });
        rows.collect()
    }

    fn both_by_day(&self, program: &Path) -> (Sums, Sums) {
        (self.ours(UsageBy::Day), self.theirs(program, "daily", "daily", "date"))
    }
}

fn sums_of(store: &Store, by: UsageBy) -> Sums {
    let report = store.usage(&UsageOptions { by, ..UsageOptions::default() }).unwrap();
    let rows = report.rows.into_iter().map(|row| {
        let sums = row.sums;
        let tokens = [sums.input, sums.output, sums.cache_write, sums.cache_read];
        (row.name, (tokens, sums.cost))
    });
    rows.collect()
}

fn is(cost: f64, expected: f64) -> bool {
    (cost - expected).abs() < 1e-9
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
