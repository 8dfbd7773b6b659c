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

#[test]
fn what_codex_writes_comes_back() {
    let Some(judge) = codex() else { return };
    // Outputs are shortened as for a model that Codex knows.
    let job = json!({"op": "sessions", "model": "gpt-5.5"});
    let made: Made = serde_json::from_value(judge.ask(&[job]).remove(0)).unwrap();
    assert!(made.sessions.len() > 14, "only {} sessions were made", made.sessions.len());
    let place = Place::new();
    for report in synced(&place, &made.files).0 {
        assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
    }
    for (name, text) in &made.files {
        assert_told(&place, id_of(name), text.as_bytes());
    }
    let mut differences = Vec::new();
    for session in &made.sessions {
        let ours = sent(&place, id_of(&session.file));
        differences.extend(difference(&session.name, &Value::from(ours), session.context()));
    }
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
    // Codex has resumed each session, and so appended to its file.
    let reports = synced(&place, &made.resumed).0;
    let grown = reports.iter().filter(|report| report.status == ImportStatus::Grown).count();
    assert!(grown >= made.sessions.len(), "{reports:?}");
    for (name, text) in &made.resumed {
        assert_told(&place, id_of(name), text.as_bytes());
    }
}
