//! Where what is counted differs, and whose it is: each of the points that docs/usage.md names.

use std::path::Path;

use leafline::usage::UsageBy;
use serde_json::{Value, json};

use super::{Projects, Sums, answer, ccusage, is, session_id, sums_of, usage};

const SONNET: &str = "claude-sonnet-4-20250514";

/// The sums of the only row; of none, nothing.
fn only(sums: &Sums) -> ([u64; 4], f64) {
    assert!(sums.len() < 2, "{sums:?}");
    sums.values().next().copied().unwrap_or_default()
}

/// What a record counts as: here, and with ccusage.
fn compare(program: &Path, records: &[Value]) -> (Sums, Sums) {
    let projects = Projects::new();
    projects.write(&format!("-work-tide/{}.jsonl", session_id(1)), records);
    projects.both_by_day(program)
}

fn record(usage: Value) -> Value {
    answer(&session_id(1), (Some("m1"), Some("r1")), 1, SONNET, usage)
}

/// The first table of docs/usage.md.
#[test]
fn where_the_sums_differ() {
    let Some(program) = ccusage() else { return };
    let session = session_id(1);
    let name = format!("-work-tide/{session}.jsonl");
    let ids = (Some("m1"), Some("r1"));
    let (sonnet, day) = (SONNET, only);
    let compare = |records: &[Value]| {
        let (ours, theirs) = compare(&program, records);
        (only(&ours), only(&theirs))
    };
    // More than 200,000 tokens of input: the whole request has the higher price, not what exceeds them.
    let (ours, theirs) = compare(&[answer(&session, ids, 1, sonnet, usage(300_000, 0))]);
    assert!(is(ours.1, 1.8) && is(theirs.1, 1.2), "{ours:?} {theirs:?}");
    for sonnet in ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"] {
        let (ours, theirs) = compare(&[answer(&session, ids, 1, sonnet, usage(300_000, 100))]);
        assert!(is(ours.1, 1.80225) && is(theirs.1, 1.2015), "{sonnet}: {ours:?} {theirs:?}");
    }
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

/// Records that ccusage leaves out, and that count here as if the odd member were not there.
#[test]
fn ccusage_leaves_out_records_with_odd_members() {
    let Some(program) = ccusage() else { return };
    let plain = |change: &dyn Fn(&mut Value)| {
        let mut record = record(usage(10, 1));
        change(&mut record);
        let (ours, theirs) = compare(&program, &[record.clone()]);
        let ours_only = only(&ours);
        assert!(ours_only.0 == [10, 1, 0, 0] && is(ours_only.1, 0.000_045), "{record}: {ours:?}");
        assert!(theirs.is_empty(), "{record}: {theirs:?}");
        ours.into_keys().next().unwrap()
    };
    // Times with microseconds, with one digit, without a zone; with three digits or none behind the second they count.
    for time in ["2026-03-01T00:01:00.123456Z", "2026-03-01T00:01:00.1Z", "2026-03-01T00:01:00"] {
        assert_eq!(plain(&|record| record["timestamp"] = json!(time)), "2026-03-01");
    }
    for time in ["2026-03-01T00:01:00Z", "2026-03-01T02:01:00.123+02:00"] {
        let mut record = record(usage(10, 1));
        record["timestamp"] = json!(time);
        let (ours, theirs) = compare(&program, &[record]);
        assert_eq!((&ours, ours.contains_key("2026-03-01")), (&theirs, true), "{time}");
    }
    // No time.
    let no_time = plain(&|record| drop(record.as_object_mut().unwrap().remove("timestamp")));
    assert_eq!(no_time, "none");
    for member in ["cache_read_input_tokens", "cache_creation_input_tokens"] {
        for odd in [json!(null), json!("7"), json!(-1), json!(1.5)] {
            plain(&|record| record["message"]["usage"][member] = odd.clone());
        }
    }
    plain(&|record| record["message"]["usage"]["speed"] = json!(null));
    for odd in [json!("0.5"), json!("x"), json!(true), json!(null)] {
        plain(&|record| record["costUSD"] = odd.clone());
    }
}

#[test]
fn where_odd_numbers_differ() {
    let Some(program) = ccusage() else { return };
    let of = |record: Value| {
        let (ours, theirs) = compare(&program, &[record]);
        (only(&ours), only(&theirs))
    };
    // A cost below zero.
    let mut negative = record(usage(10, 1));
    negative["costUSD"] = json!(-0.5);
    let (ours, theirs) = of(negative);
    assert!(is(ours.1, 0.000_045) && is(theirs.1, -0.5), "{ours:?} {theirs:?}");
    // Parts of what is written to a cache that do not make the whole.
    for (whole, cost) in [(900, 0.003_645), (500, 0.002_145), (0, 0.000_045)] {
        let mut written = usage(10, 1);
        written["cache_creation_input_tokens"] = json!(whole);
        written["cache_creation"] =
            json!({"ephemeral_5m_input_tokens": 500, "ephemeral_1h_input_tokens": 100});
        let (ours, theirs) = of(record(written));
        assert!(ours.0[2] == whole && is(ours.1, cost), "{whole}: {ours:?}");
        assert!(theirs.0[2] == 600 && is(theirs.1, 0.002_52), "{whole}: {theirs:?}");
    }
}

/// Rows of sessions, and of weeks: the last table of docs/usage.md.
#[test]
fn where_rows_differ() {
    let Some(program) = ccusage() else { return };
    let inputs = |sums: &Sums| -> Vec<(String, u64)> {
        sums.iter().map(|(name, (tokens, _))| (name.clone(), tokens[0])).collect()
    };
    let by_session = |projects: &Projects| {
        let theirs = projects.theirs(&program, "session", "sessions", "sessionId");
        (inputs(&projects.ours(UsageBy::Session)), inputs(&theirs))
    };
    let row = |name: &str, input: u64| (name.to_owned(), input);
    let (one, two) = (session_id(1), session_id(2));
    let file = |session: &str| format!("-work-tide/{session}.jsonl");
    let of = |session: &str, name: &str, minute: u32, input: u64| {
        answer(session, (Some(name), Some(name)), minute, SONNET, usage(input, 1))
    };
    // An answer that two sessions have: the first by name ends last.
    let projects = Projects::new();
    projects.write(&file(&one), &[of(&one, "a", 1, 10), of(&one, "b", 9_000, 1)]);
    projects.write(&file(&two), &[of(&two, "a", 1, 10)]);
    let (ours, theirs) = by_session(&projects);
    assert_eq!((ours, theirs), (vec![row(&one, 1), row(&two, 10)], vec![row(&one, 11)]));
    // Agents in the layout of old, and those of a workflow.
    let mut agent = of(&one, "b", 2, 5);
    agent["isSidechain"] = json!(true);
    agent["agentId"] = json!("a1");
    for (name, of_theirs) in [
        ("-work-tide/agent-a1.jsonl".to_owned(), "agent-a1"),
        (format!("-work-tide/{one}/subagents/workflows/wf_1/agent-a1.jsonl"), "wf_1"),
    ] {
        let projects = Projects::new();
        projects.write(&file(&one), &[of(&one, "a", 1, 10)]);
        projects.write(&name, &[agent.clone()]);
        let (ours, theirs) = by_session(&projects);
        assert_eq!((ours, theirs), (vec![row(&one, 15)], vec![row(&one, 10), row(of_theirs, 5)]));
    }
    // A week; 2026-03-02 was a Monday.
    let projects = Projects::new();
    projects.write(&file(&one), &[of(&one, "a", 1_500, 10)]);
    let theirs = projects.theirs(&program, "weekly", "weekly", "week");
    assert_eq!(inputs(&projects.ours(UsageBy::Week)), [row("2026-03-02", 10)]);
    assert_eq!(inputs(&theirs), [row("2026-03-01", 10)]);
    let from_monday = "weekly --start-of-week monday";
    let theirs = projects.theirs(&program, from_monday, "weekly", "week");
    assert_eq!(inputs(&theirs), [row("2026-03-02", 10)]);
    // Files that are gone.
    let store = projects.stored();
    std::fs::remove_dir_all(projects.folder().join("projects/-work-tide")).unwrap();
    let theirs = projects.theirs(&program, "daily", "daily", "date");
    assert_eq!(
        (inputs(&sums_of(&store, UsageBy::Day)), inputs(&theirs)),
        (vec![row("2026-03-02", 10)], vec![])
    );
}
