//! Compares with the real Codex: the files that it writes are exported byte for byte, also after it has continued them,
//! and what it sends when it resumes a session is the context that a store builds.
//!
//! tests/codex-judge/README.md says how it is run; without it the test says that it is skipped.

use std::collections::BTreeMap;

use leafline::import::{ImportOptions, ImportStatus};
use leafline_import::codex::RolloutName;
use leafline_judges::codex;
use serde_json::{Value, json};

use crate::assert_told;
use crate::contexts::sent;
use crate::place::{Place, Reports};
use crate::program::{Made, difference};

/// Puts rollouts where Codex keeps them, and brings the store in step with them.
fn synced(place: &Place, files: &BTreeMap<String, String>) -> Reports {
    let folder = place.path("codex/sessions");
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for (name, text) in files {
        let path = place.write(&format!("codex/sessions/2026/11/20/{name}"), text);
        // Otherwise a last line without an end is left for later.
        std::fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }
    let mut reports = Reports::default();
    place.store.sync(&[folder], &ImportOptions::default(), &mut reports).unwrap();
    reports
}

fn id_of(name: &str) -> &str {
    RolloutName::parse(name).unwrap().rollout_id
}

/// Imports what Codex made, and what it made of it when it resumed each session; gives the differences of the contexts.
fn compare(made: &Made) -> Vec<String> {
    let place = Place::new();
    for report in synced(&place, &made.files).0 {
        assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
    }
    for (name, text) in &made.files {
        assert_told(&place, id_of(name), text.as_bytes());
    }
    let differences = made.sessions.iter().filter_map(|session| {
        let ours = sent(&place, id_of(&session.file));
        difference(&session.name, &Value::from(ours), session.context())
    });
    let differences: Vec<String> = differences.collect();
    // Codex has appended to the files of the sessions.
    let reports = synced(&place, &made.resumed).0;
    let grown = reports.iter().filter(|report| report.status == ImportStatus::Grown).count();
    assert!(grown >= made.sessions.len(), "{reports:?}");
    for (name, text) in &made.resumed {
        assert_told(&place, id_of(name), text.as_bytes());
    }
    differences
}

/// Outputs are shortened as for a model that Codex knows.
const MODEL: &str = "gpt-5.5";

#[test]
fn what_codex_writes_comes_back() {
    let Some(judge) = codex() else { return };
    let job = json!({"op": "sessions", "model": MODEL});
    let made: Made = serde_json::from_value(judge.ask(&[job]).remove(0)).unwrap();
    assert!(made.sessions.len() > 14, "only {} sessions were made", made.sessions.len());
    let differences = compare(&made);
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
}

/// How many plays there are at most, and how many are asked for at once.
const MOST: u64 = 300;
const AT_ONCE: usize = 20;

/// Tools side by side, errors, long outputs, thoughts, compactions, interruptions, forks, reverts, agents, several processes:
/// as Codex writes them. `LEAFLINE_CODEX_SESSIONS` is the number of plays, instead of a few.
#[test]
fn what_codex_plays_comes_back() {
    let Some(judge) = codex() else { return };
    let plays = std::env::var("LEAFLINE_CODEX_SESSIONS").map_or(6, |it| it.parse().unwrap());
    let jobs: Vec<Value> = (0..plays.min(MOST))
        .map(|seed| json!({"op": "play", "seed": seed, "model": MODEL}))
        .collect();
    let (mut sessions, mut differences) = (0, Vec::new());
    for jobs in jobs.chunks(AT_ONCE) {
        for (job, answer) in jobs.iter().zip(judge.ask(jobs)) {
            assert_eq!(answer["ok"], true, "{job}: {answer}");
            let made: Made = serde_json::from_value(answer).unwrap();
            sessions += made.sessions.len();
            differences.extend(compare(&made));
        }
    }
    println!(
        "{sessions} sessions of {} plays compared with Codex, {} differ",
        jobs.len(),
        differences.len()
    );
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
    assert!(sessions >= jobs.len(), "only {sessions} sessions were made");
}
