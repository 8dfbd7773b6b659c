//! Usage is kept up by whatever changes a session, and each answer counts once.

use std::path::PathBuf;

use super::*;
use crate::import::ImportOptions;
use crate::omp::OmpSession;
use crate::pi::Draft;
use crate::session::{NewSession, Persistence};
use crate::store::StoreOptions;

/// A store in a folder, and files beside it.
struct Scene {
    folder: tempfile::TempDir,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store")).unwrap();
        Self { folder, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("projects").join(name)
    }

    fn write(&self, name: &str, lines: &[String]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, lines.concat()).unwrap();
        path
    }

    fn import(&self) {
        let options = ImportOptions::default();
        let totals = self.store.import(&[self.folder.path().join("projects")], &options, &mut ());
        assert_eq!(totals.unwrap().failed, 0);
    }

    fn report(&self, by: UsageBy) -> UsageReport {
        report(&self.store, by)
    }

    /// The outputs of all rows, by their names. What verify finds is checked too.
    fn outputs(&self, by: UsageBy) -> Vec<(String, u64)> {
        let verification = self.store.verify().unwrap();
        assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
        let rows = self.report(by).rows;
        rows.into_iter().map(|row| (row.name, row.sums.output)).collect()
    }

    fn total(&self) -> u64 {
        self.outputs(UsageBy::Family).iter().map(|(_, output)| output).sum()
    }
}

fn report(store: &Store, by: UsageBy) -> UsageReport {
    store.usage(&UsageOptions { by, ..UsageOptions::default() }).unwrap()
}

/// A session of Claude Code's, by its number.
fn id(number: u32) -> String {
    format!("aaaaaaaa-0000-4000-8000-{number:012}")
}

/// A record of the model's: the answer's number, the record's, and the output that it reports.
fn record(session: u32, answer: u32, number: u32, output: u32, rest: &str) -> String {
    let (session, day) = (id(session), 1 + answer % 28);
    format!(
        r#"{{"type":"assistant","uuid":"u{number}","parentUuid":null,"sessionId":"{session}","cwd":"/work/a","timestamp":"2026-03-{day:02}T12:00:00.000Z","requestId":"r{answer}",{rest}"message":{{"id":"m{answer}","role":"assistant","model":"claude-opus-4-6","content":[],"usage":{{"input_tokens":1,"output_tokens":{output}}}}}}}"#
    ) + "\n"
}

fn pi_answer(store: &Store, id: &str, output: u64) {
    let mut session = store.session(id).unwrap();
    let message = serde_json::json!({"role": "assistant", "content": [], "model": "m",
        "usage": {"input": 0, "output": output, "cost": {"total": 0.5}}});
    session.append(Draft::message(&message.to_string()).unwrap()).unwrap();
}

fn new_session(store: &Store, family: Family) -> String {
    let mut new = NewSession::new(family, "/work/pi");
    new.persistence = Some(Persistence::keep_everything());
    store.create_session(&new).unwrap().id().to_owned()
}

#[test]
fn an_answer_of_several_records_and_sessions_counts_once() {
    let scene = Scene::new();
    let first = [record(1, 1, 1, 3, ""), record(1, 1, 2, 50, ""), record(1, 2, 3, 7, "")];
    scene.write(&format!("-work-a/{}.jsonl", id(1)), &first);
    // A resumed copy, whose last record of the first answer is not there.
    let copy = [record(2, 1, 1, 3, ""), record(2, 2, 3, 7, ""), record(2, 3, 4, 100, "")];
    scene.write(&format!("-work-a/{}.jsonl", id(2)), &copy);
    scene.import();
    let days = [("2026-03-02", 50), ("2026-03-03", 7), ("2026-03-04", 100)];
    assert_eq!(scene.outputs(UsageBy::Day), days.map(|(day, output)| (day.to_owned(), output)));
    let mut sessions = scene.outputs(UsageBy::Session);
    sessions.sort();
    assert_eq!(sessions, [(id(1), 57), (id(2), 100)]);
    let report = scene.report(UsageBy::Model);
    assert_eq!((report.total.answers, report.rows.len()), (3, 1));
    assert!((report.total.cost - (157.0 * 25.0 + 3.0 * 5.0) / 1e6).abs() < 1e-12);
    // Without the first session the second has all of its answers, and the other way round.
    scene.store.remove(&id(1)).unwrap();
    assert_eq!(scene.outputs(UsageBy::Session), [(id(2), 110)]);
}

#[test]
fn what_agents_used_counts_to_the_session_that_started_them() {
    let scene = Scene::new();
    let own = [record(1, 1, 1, 10, ""), record(1, 2, 2, 5, r#""isSidechain":true,"#)];
    scene.write(&format!("-work-a/{}.jsonl", id(1)), &own);
    let agent = [record(1, 3, 3, 70, r#""isSidechain":true,"agentId":"x1","#)];
    scene.write(&format!("-work-a/{}/subagents/agent-x1.jsonl", id(1)), &agent);
    scene.import();
    let report = scene.report(UsageBy::Session);
    assert_eq!(report.rows.len(), 1);
    let row = &report.rows[0];
    assert_eq!((&row.name, row.sums.output), (&id(1), 85));
    assert_eq!(row.agents.map(|agents| (agents.answers, agents.output)), Some((2, 75)));
    // By project they count as well; without its starter an agent's session is a row of its own.
    assert_eq!(scene.outputs(UsageBy::Project), [("/work/a".to_owned(), 85)]);
    let scene = Scene::new();
    scene.write(&format!("-work-a/{}/subagents/agent-x1.jsonl", id(1)), &agent);
    scene.import();
    assert_eq!(scene.outputs(UsageBy::Session), [("agent-x1".to_owned(), 70)]);
}

#[test]
fn files_that_grow_and_are_replaced_are_kept_up_with() {
    let scene = Scene::new();
    let name = format!("-work-a/{}.jsonl", id(1));
    let mut lines = vec![record(1, 1, 1, 10, "")];
    for number in 2..400 {
        scene.write(&name, &lines);
        if number % 97 == 0 {
            scene.import();
            assert_eq!(scene.total(), 10 + 2 * u64::from(number - 2));
        }
        lines.push(record(1, number, number, 2, ""));
    }
    // The last answer goes on in another record.
    lines.push(record(1, 399, 500, 9, ""));
    scene.write(&name, &lines);
    scene.import();
    assert_eq!(scene.total(), 10 + 2 * 397 + 9);
    let options = ImportOptions { replace: true, ..ImportOptions::default() };
    let path = scene.write(&name, &[record(1, 7, 1, 4, "")]);
    scene.store.import(&[path], &options, &mut ()).unwrap();
    assert_eq!(scene.total(), 4);
}

#[test]
fn appends_are_kept_up_with() {
    let scene = Scene::new();
    let session = new_session(&scene.store, Family::Pi);
    for number in 1..=300 {
        pi_answer(&scene.store, &session, 1);
        if number % 60 == 0 {
            // Those in the journal count as well, also for one who may only read.
            let options = StoreOptions { read_only: true, ..StoreOptions::default() };
            let reader = Store::open_with(scene.store.path(), &options).unwrap();
            assert_eq!(report(&reader, UsageBy::Day).total.output, number);
            assert_eq!(scene.total(), number);
        }
    }
    let total = scene.report(UsageBy::Day).total;
    assert!((total.cost - 150.0).abs() < 1e-9 && total.unpriced == 0);
    // A fork repeats its answers.
    let fork = scene.store.fork_from(&session, "/work/pi").unwrap().id().to_owned();
    assert_eq!(scene.total(), 300);
    pi_answer(&scene.store, &fork, 5);
    assert_eq!(scene.total(), 305);
}

#[test]
fn what_a_rewrite_changes_is_counted_again() {
    let scene = Scene::new();
    let session = new_session(&scene.store, Family::Omp);
    (0..3).for_each(|_| pi_answer(&scene.store, &session, 10));
    assert_eq!(scene.total(), 30);
    let mut live = scene.store.session(&session).unwrap();
    let changed = live
        .rewrite_entries(|entry| {
            let line = String::from_utf8(entry.line().to_vec()).unwrap();
            Ok(line.contains("usage").then(|| line.replace(r#""output":10"#, r#""output":11"#)))
        })
        .unwrap();
    assert_eq!(changed, 3);
    let options = UsageOptions { reads_lines: false, ..UsageOptions::default() };
    let report = scene.store.usage(&options).unwrap();
    assert_eq!((report.total.output, &report.not_counted), (0, &vec![session.clone()]));
    assert_eq!(scene.total(), 33);
    assert!(scene.store.usage(&options).unwrap().not_counted.is_empty());
    pi_answer(&scene.store, &session, 1);
    assert_eq!(scene.total(), 34);
}

#[test]
fn lost_and_wrong_rows_are_damage() {
    for is_lost in [true, false] {
        let scene = Scene::new();
        let lines: Vec<String> = (1..300).map(|number| record(1, number, number, 2, "")).collect();
        scene.write(&format!("-work-a/{}.jsonl", id(1)), &lines);
        scene.import();
        let key = scene.store.snapshot().unwrap().key_of(id(1).as_bytes()).unwrap().unwrap();
        let (number, bytes) = if is_lost { (2, None) } else { (1, Some(&[1, 255][..])) };
        scene.store.damage_usage((key, number), bytes).unwrap();
        let problems = scene.store.verify().unwrap().problems;
        assert!(problems.iter().any(|problem| problem.kind == "usage"), "{problems:?}");
        if !is_lost {
            let report = scene.report(UsageBy::Day);
            assert_eq!(report.unreadable, [id(1)]);
        }
    }
}

/// A file of version 1 of pi's, with an answer at each of these seconds.
fn version_1(id: &str, base: &str, answers: &[(u32, &str)]) -> Vec<String> {
    let header = format!(
        r#"{{"type":"session","id":"{id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"{base}}}"#
    );
    let answers = answers.iter().map(|(second, cost)| {
        format!(
            r#"{{"type":"message","timestamp":"2026-01-01T00:00:{second:02}.000Z","message":{{"role":"assistant","provider":"p","model":"m","content":[],"usage":{{"input":1,"output":1,"cost":{{"total":{cost}}}}}}}}}"#
        )
    });
    std::iter::once(header).chain(answers).map(|line| line + "\n").collect()
}

#[test]
fn a_branch_of_version_1_repeats_answers_of_its_base() {
    let scene = Scene::new();
    scene.write("p1.jsonl", &version_1("p1", "", &[(1, "1"), (2, "2")]));
    let of_p1 = r#","branchedFrom":"/w/p1.jsonl""#;
    scene.write("p2.jsonl", &version_1("p2", of_p1, &[(1, "1"), (2, "2"), (5, "4")]));
    // Of a branch, and another answer of the same second.
    let of_p2 = r#","branchedFrom":"/w/p2.jsonl""#;
    scene.write("p3.jsonl", &version_1("p3", of_p2, &[(1, "1"), (2, "8")]));
    scene.import();
    let rows = scene.report(UsageBy::Family).rows;
    assert_eq!(rows[0].sums.cost, 15.0);
    assert_eq!(scene.total(), 4);
}

/// The header of a rollout of Codex's: its number, the day, and the number of the session that it was forked from.
fn header(number: u32, day: u32, base: Option<u32>) -> String {
    let base = base.map(|base| format!(r#","forked_from_id":"{}""#, id(base)));
    format!(
        r#"{{"timestamp":"2026-03-{day:02}T10:00:00.000Z","type":"session_meta","payload":{{"id":"{}","timestamp":"2026-03-{day:02}T10:00:00.000Z","cwd":"/w","originator":"o","cli_version":"0.140.0"{}}}}}"#,
        id(number),
        base.unwrap_or_default()
    ) + "\n"
}

/// An answer of Codex's: the day and the second, the running total, and what it used.
fn answer((day, second): (u32, u32), total: u32, last: u32) -> String {
    format!(
        r#"{{"timestamp":"2026-03-{day:02}T10:00:{second:02}.000Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"output_tokens":{total}}},"last_token_usage":{{"output_tokens":{last}}}}}}}}}"#
    ) + "\n"
}

fn rollout(scene: &Scene, number: u32, lines: &[String]) {
    let name = format!("rollout-2026-03-01T10-00-00-{}.jsonl", id(number));
    scene.write(&name, lines);
}

fn total_and_answers(scene: &Scene) -> (u64, u64) {
    let total = scene.total();
    (total, scene.report(UsageBy::Family).total.answers)
}

/// Two forks of one base, each with a turn of its own that is as long as the other's and the base's next one.
fn forks(scene: &Scene, has_header: bool) {
    for (number, day) in [(2, 2), (3, 3)] {
        let mut lines = vec![header(number, day, Some(1))];
        lines.extend(has_header.then(|| header(1, 1, None)));
        lines.extend([answer((day, 1), 100, 100), answer((day, 1), 300, 200)]);
        lines.push(answer((day, 9), 400, 100));
        rollout(scene, number, &lines);
    }
}

#[test]
fn a_fork_repeats_its_base_and_counts_what_is_its_own() {
    for has_header in [false, true] {
        let scene = Scene::new();
        forks(&scene, has_header);
        scene.import();
        // The base is not there: its two answers count once.
        assert_eq!(total_and_answers(&scene), (300 + 2 * 100, 4), "{has_header}");
        // It goes on after the forks.
        let base = [
            header(1, 1, None),
            answer((1, 1), 100, 100),
            answer((1, 2), 300, 200),
            answer((4, 1), 400, 100),
        ];
        rollout(&scene, 1, &base);
        scene.import();
        assert_eq!(total_and_answers(&scene), (400 + 2 * 100, 5), "{has_header}");
        let mut sessions = scene.outputs(UsageBy::Session);
        sessions.sort();
        assert_eq!(sessions, [(id(1), 400), (id(2), 100), (id(3), 100)]);
    }
}

#[test]
fn a_fork_of_a_fork_repeats_both() {
    let scene = Scene::new();
    let base = [header(1, 1, None), answer((1, 1), 10, 10)];
    rollout(&scene, 1, &base);
    let fork =
        [header(2, 2, Some(1)), header(1, 1, None), answer((2, 0), 10, 10), answer((2, 5), 30, 20)];
    rollout(&scene, 2, &fork);
    let again = [
        header(3, 3, Some(2)),
        header(2, 2, Some(1)),
        header(1, 1, None),
        answer((3, 0), 10, 10),
        answer((3, 0), 30, 20),
        answer((3, 5), 70, 40),
    ];
    rollout(&scene, 3, &again);
    scene.import();
    assert_eq!(total_and_answers(&scene), (70, 3));
    // Without the fork between them the answers of the base are not counted again.
    scene.store.remove(&id(2)).unwrap();
    assert_eq!(total_and_answers(&scene), (70, 3));
}

#[test]
fn a_turn_that_is_younger_than_its_fork_is_its_own() {
    let ids = ["01a221e7-a859-78a1-8c01-2c37a69d8425", "01a221e7-a93d-7501-9673-b392c82243ef"];
    let named = |number: usize, base: Option<u32>| {
        let known = |line: String| line.replace(&id(1), ids[0]).replace(&id(2), ids[1]);
        known(header(u32::try_from(number).unwrap(), 1, base))
    };
    let turn = |id: &str| {
        format!(
            r#"{{"timestamp":"2026-03-01T10:00:00.000Z","type":"event_msg","payload":{{"type":"task_started","turn_id":"{id}"}}}}"#
        ) + "\n"
    };
    let first = turn("01a221e7-a865-7e10-820b-b25fb01ee333");
    let scene = Scene::new();
    let base = [named(1, None), first.clone(), answer((1, 0), 10, 10), answer((1, 0), 20, 10)];
    scene.write(&format!("rollout-2026-03-01T10-00-00-{}.jsonl", ids[0]), &base);
    // Forked behind the first answer: its own is like the second one of the base, and in the same second.
    let own = turn("01a221e7-a94f-7ee1-9514-962aaaa1ece9");
    let fork = [named(2, Some(1)), first, answer((1, 0), 10, 10), own, answer((1, 0), 20, 10)];
    scene.write(&format!("rollout-2026-03-01T10-00-00-{}.jsonl", ids[1]), &fork);
    scene.import();
    assert_eq!(total_and_answers(&scene), (30, 3));
}

#[test]
fn an_advisor_counts_to_its_own_model_once() {
    let scene = Scene::new();
    let iterations = r#""iterations":[{"type":"advisor_message","model":"claude-opus-4-5","input_tokens":70,"output_tokens":8}],"input_tokens":1"#;
    let lines =
        [1, 2].map(|number| record(1, 1, number, 3, "").replace(r#""input_tokens":1"#, iterations));
    scene.write(&format!("-work-a/{}.jsonl", id(1)), &lines);
    scene.import();
    let models = [("claude-opus-4-6", 3), ("claude-opus-4-5", 8)];
    let mut found = scene.outputs(UsageBy::Model);
    found.sort_by_key(|(_, output)| *output);
    assert_eq!(found, models.map(|(model, output)| (model.to_owned(), output)));
}
