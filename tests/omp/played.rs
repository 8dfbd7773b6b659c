//! Sessions that omp makes, and sessions that are made here and that omp goes on with.

use leafline::context::ContextLeaf;
use leafline::export::ExportMode;
use leafline::import::{ImportOptions, ImportStatus};
use leafline::omp::OmpSession;
use leafline::pi::{Compaction, PiSession};
use leafline::{Family, NewSession, Session, Store};
use serde_json::{Value, json};

use super::contexts::assert_equal;
use super::judge::omp;
use super::operations::Sequence;
use super::place::Reports;
use super::{Case, is_full};

const REDUCED: u64 = 60;
const FULL: u64 = 1_000;

fn sequences() -> u64 {
    if is_full() { FULL } else { REDUCED }
}

/// Sequences that omp plays on a new session: what it makes of its file is what is made of it here.
#[test]
fn sessions_that_omp_made() {
    let Some(judge) = omp() else { return };
    let jobs: Vec<Value> = (0..sequences())
        .map(|seed| {
            let mut sequence = Sequence::new(seed, 0);
            let length = 3 + usize::try_from(seed % 40).unwrap();
            let mut operations: Vec<Value> = (0..length).map(|_| sequence.next(false)).collect();
            match seed % 5 {
                0 => operations.push(json!({"do": "fork", "cwd": "/other"})),
                1 => operations
                    .push(json!({"do": "create_branched_session", "leaf": sequence.entries() / 2})),
                _ => {}
            }
            if seed % 7 == 0 {
                operations.push(json!({"do": "append_reset_boundary"}));
            }
            operations.push(
                json!({"do": "append_message", "message": {"role": "user", "content": "Last"}}),
            );
            operations.push(json!({"do": "reopen"}));
            operations.push(json!({"do": "observe"}));
            json!({"op": "play", "cwd": "/work", "operations": operations})
        })
        .collect();
    let mut cases = Vec::new();
    for (seed, answer) in judge.ask(&jobs).into_iter().enumerate() {
        assert_eq!(answer["ok"], true, "{seed}: {answer:.600}");
        let observed = answer["results"].as_array().unwrap().last().unwrap();
        // Nothing is written without a turn of the model's.
        if let Some(text) = observed["observed"]["file"].as_str() {
            cases.push(Case { name: format!("played {seed}"), text: text.to_owned() });
        }
    }
    assert!(cases.len() > jobs.len() / 2, "omp wrote only {} sessions", cases.len());
    assert_equal(&judge, cases.into_iter(), 2 * jobs.len());
}

/// A session that is made here, and its entries in their order.
struct Made {
    store: Store,
    session: Session,
    ids: Vec<String>,
}

impl Made {
    fn of(seed: u64) -> Self {
        let store = Store::in_memory().unwrap();
        let session = store.create_session(&NewSession::new(Family::Omp, "/work")).unwrap();
        let mut made = Self { store, session, ids: Vec::new() };
        let mut sequence = Sequence::new(seed ^ 0x11fe, 0);
        for _ in 0..5 + seed % 30 {
            made.perform(&sequence.next(true));
        }
        // From now on it is stored.
        made.perform(&json!({"do": "append_message", "message": {"role": "assistant", "content": [], "stopReason": "stop", "provider": "p", "model": "m"}}));
        made
    }

    fn perform(&mut self, operation: &Value) {
        let text = |name: &str| operation[name].as_str().unwrap();
        let entry = |name: &str| {
            let place = operation[name].as_u64().unwrap();
            self.ids[usize::try_from(place).unwrap()].clone()
        };
        let session = &mut self.session;
        let id = match text("do") {
            "append_message" => session.append_message(&operation["message"]).unwrap(),
            "append_custom_message_entry" => {
                let (content, details) = (&operation["content"], &operation["details"]);
                let display = operation["display"].as_bool().unwrap();
                let name = text("customType");
                session.append_custom_message_entry(name, content, display, Some(details)).unwrap()
            }
            "append_compaction" => {
                let kept = entry("firstKept");
                let compaction = Compaction {
                    summary: text("summary"),
                    short_summary: Some(text("shortSummary")),
                    first_kept_entry_id: Some(&kept),
                    tokens_before: 9,
                    ..Compaction::default()
                };
                session.append_compaction(&compaction).unwrap()
            }
            "append_label_change" => {
                session.append_label_change(&entry("target"), Some(text("label"))).unwrap()
            }
            "branch_with_summary" => {
                let from = entry("entry");
                session
                    .branch_with_summary(Some(&from), text("summary"), None::<&Value>, None)
                    .unwrap()
            }
            "branch" => return session.branch(&entry("entry")).unwrap(),
            "append_mode_change" => {
                session.append_mode_change(text("mode"), Some(&operation["data"])).unwrap()
            }
            "append_ttsr_injection" => session.append_ttsr_injection(&["a", "b"]).unwrap(),
            "append_custom_entry" => {
                session.append_custom_entry(text("customType"), Some(&operation["data"])).unwrap()
            }
            other => panic!("{other}"),
        };
        self.ids.push(id);
    }

    fn exported(&self) -> String {
        let mut bytes = Vec::new();
        self.session.reader().unwrap().export(&ExportMode::Current, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Compares what omp observed with what is there: the entries, and the contexts at all of them.
    fn compare(&self, name: &str, observed: &Value) -> usize {
        let reader = self.store.reader(self.session.id()).unwrap();
        let mut ids = Vec::new();
        let mut note = |line: leafline::Entry| {
            ids.extend(line.kind().is_entry().then(|| line.id().unwrap()));
            Ok(true)
        };
        reader.lines(0, &mut note).unwrap();
        assert_eq!(json!(ids), observed["entries"], "{name}");
        let contexts = observed["contexts"].as_array().unwrap();
        for (id, theirs) in ids.iter().zip(contexts) {
            let ours = reader.build_context(ContextLeaf::Entry(id), None).unwrap().to_json();
            assert_eq!(ours, theirs.as_str().unwrap(), "{name}, {id}");
        }
        contexts.len()
    }
}

/// omp opens what is exported, goes on with it, and its file is imported again: both ways all of it is the same.
#[test]
fn sessions_that_omp_goes_on_with() {
    let Some(judge) = omp() else { return };
    let folder = tempfile::tempdir().unwrap();
    let made: Vec<Made> = (0..sequences()).map(Made::of).collect();
    let observe =
        |entries: usize| json!({"do": "observe", "leaves": (0..entries).collect::<Vec<usize>>()});
    let mut jobs = Vec::new();
    for (seed, made) in (0..).zip(&made) {
        let path = folder.path().join(format!("{seed}.jsonl"));
        std::fs::write(&path, made.exported()).unwrap();
        let mut operations = vec![observe(made.ids.len())];
        let mut sequence = Sequence::new(seed ^ 0xc0de, made.ids.len());
        for _ in 0..1 + seed % 12 {
            let operation = sequence.next(false);
            // A name makes omp write the whole file anew, with a slot for the title.
            if operation["do"] != "set_session_name" || seed % 4 == 0 {
                operations.push(operation);
            }
        }
        operations
            .push(json!({"do": "append_message", "message": {"role": "user", "content": "Last"}}));
        operations.push(observe(made.ids.len()));
        jobs.push(json!({"op": "play", "file": path, "operations": operations}));
    }
    let mut compared = 0;
    for ((seed, mut made), answer) in made.into_iter().enumerate().zip(judge.ask(&jobs)) {
        let name = format!("seed {seed}");
        assert_eq!(answer["ok"], true, "{name}: {answer:.600}");
        let results = answer["results"].as_array().unwrap();
        compared += made.compare(&format!("{name}, exported"), &results[0]["observed"]);
        let observed = &results.last().unwrap()["observed"];
        let path = folder.path().join(format!("{seed}.jsonl"));
        assert_eq!(observed["file"].as_str().unwrap(), std::fs::read_to_string(&path).unwrap());
        let mut reports = Reports::default();
        made.store.import(&[&path], &ImportOptions::default(), &mut reports).unwrap();
        let report = reports.0.remove(0);
        assert!(
            matches!(report.status, ImportStatus::Grown | ImportStatus::Replaced),
            "{name}: {report:?}"
        );
        made.session = made.store.session(report.session.as_deref().unwrap()).unwrap();
        compared += made.compare(&format!("{name}, come back"), observed);
    }
    println!("{compared} contexts of live sessions compared with omp, all equal");
}
