//! Sequences that begin with a file, and files that one program writes and the other reads.

use std::path::Path;

use leafline::export::ExportMode;
use leafline::import::{ImportOptions, ImportStatus};
use leafline::{Family, Store};
use leafline_judges::{Answers, Questions};

use super::observation::{self, Header, Observation};
use super::operation::{self, Operation};
use super::player::{Played, Player};
use super::{assert_sound, difference, job, play_on, policy};
use crate::oracle::{Oracle, nodes, text, texts};
use crate::place::Reports;

/// The files small enough that many contexts take no time.
const LARGEST: usize = 300_000;

#[test]
fn sequences_go_on_with_files() {
    let Some(oracle) = Oracle::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut questions, mut answers) = oracle.converse();
    let (mut compared, mut operations) = (0, 0);
    let mut failures = Vec::new();
    for (seed, case) in (0..).zip(crate::cases()) {
        let path = folder.path().join(format!("{seed}.jsonl"));
        std::fs::write(&path, &case.bytes).unwrap();
        let store = Store::in_memory().unwrap();
        let Some(id) = import(&store, &path) else { continue };
        if !case.bytes.ends_with(b"\n") {
            // pi appends to an incomplete last line, which joins two entries in one line. Leafline completes the line
            // first.
            std::fs::write(&path, [&case.bytes[..], b"\n"].concat()).unwrap();
        }
        let player = Player::imported(&store, &id, &path);
        if !is_plain(&player) {
            continue;
        }
        let mut sequence = operation::continuation(seed);
        if case.bytes.len() > LARGEST {
            sequence.retain(|operation| !matches!(operation, Operation::Observe(_)));
            sequence.push(Operation::Observe(Vec::new()));
        }
        // If pi makes up ids on opening the file, Leafline's are used.
        let version = player.session.reader().unwrap().facts().imported_version;
        let given = if version == "1" { &player.entries[..] } else { &[] };
        let ids = serde_json::to_string(given).unwrap();
        let player = player.play(&sequence);
        assert_sound(&store);
        questions.ask(&opening(&path, &ids, &player.played));
        if let Some(difference) = difference(&player.played, &answers.next()) {
            failures.push(format!("{}: {difference}", case.name));
        }
        compared += 1;
        operations += player.played.steps.len();
    }
    assert!(failures.is_empty(), "{} files:\n{}", failures.len(), failures.join("\n\n"));
    println!("{compared} files, {operations} operations");
    assert!(compared > 50, "only {compared} files were compared");
}

/// Imports a file as one of pi; `None` if it is not one.
fn import(store: &Store, path: &Path) -> Option<String> {
    let options = ImportOptions { family: Some(Family::Pi), ..ImportOptions::default() };
    let mut reports = Reports::default();
    store.import(&[path], &options, &mut reports).unwrap();
    let report = reports.0.remove(0);
    report.session.filter(|_| report.status == ImportStatus::Imported)
}

/// Whether both programs agree on every entry, and pi continues the file unchanged: to one without an assistant message
/// it writes all entries again with the first one. For pi, an array is also an entry.
fn is_plain(player: &Player<'_>) -> bool {
    let reader = player.session.reader().unwrap();
    let facts = reader.facts();
    player.has_file
        && facts.unaddressed == 0
        && facts.types.iter().all(|kind| kind.name != "<scalar>")
}

/// The sequence as a job for pi, from a file.
fn opening(path: &Path, ids: &str, played: &Played) -> String {
    let file = serde_json::to_string(path).unwrap();
    let steps = played.steps.join(",");
    format!(r#"{{"op":"play","file":{file},"ids":{ids},"operations":[{steps}]}}"#)
}

#[test]
fn each_reads_what_the_other_writes() {
    let Some(oracle) = Oracle::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut questions, mut answers) = oracle.converse();
    let (mut read, mut loaded) = (0, 0);
    for seed in 10_000..10_060 {
        let store = Store::in_memory().unwrap();
        let mut player = play_on(&store, &operation::sequence(seed), policy(seed));
        if !player.has_file {
            continue;
        }
        questions.ask(&job(&player.played));
        let answer = answers.next();
        assert_eq!(difference(&player.played, &answer), None, "seed {seed}");
        let written = answer["results"].as_array().unwrap().last().unwrap();
        let theirs = folder.path().join(format!("{seed}-pi.jsonl"));
        std::fs::write(&theirs, text(&written["observed"]["file"]).unwrap()).unwrap();
        let ours = folder.path().join(format!("{seed}-leafline.jsonl"));
        let reader = player.session.reader().unwrap();
        reader.export(&ExportMode::Current, &mut std::fs::File::create(&ours).unwrap()).unwrap();

        let store = Store::in_memory().unwrap();
        let id = import(&store, &theirs).unwrap();
        let imported = Player::imported(&store, &id, &theirs);
        let observe = imported.play(&[Operation::Observe(vec![None])]).played;
        questions.ask(&opening(&theirs, "[]", &observe));
        assert_eq!(difference(&observe, &answers.next()), None, "seed {seed}: pi's file");

        // In a file the leaf is always its last entry.
        player.session.branch(player.entries.last().unwrap()).unwrap();
        let live = observation::ours(&player.session, &Header::Shared, &[]);
        loaded += usize::from(loads(&mut questions, &mut answers, &ours, &live));
        read += 1;
    }
    println!("{read} files of pi's read, {loaded} of Leafline's");
    assert!(read > 30 && loaded > 10, "only {read} and {loaded} files were read");
}

/// pi loads an export, and finds the session as it is in the store. Returns `false` if the context contains lone
/// surrogates, which JSON readers in Rust refuse.
fn loads(
    questions: &mut Questions,
    answers: &mut Answers,
    path: &Path,
    live: &Observation,
) -> bool {
    questions.ask(&serde_json::json!({"op": "load", "path": path}).to_string());
    let loaded = answers.next();
    if loaded.is_null() {
        return false;
    }
    assert_eq!(loaded["header"].to_string(), live.header);
    assert_eq!(text(&loaded["name"]), live.name);
    assert_eq!(texts(&loaded["entries"]), live.entries);
    assert_eq!(text(&loaded["leafId"]), live.leaf);
    assert_eq!(serde_json::from_value(loaded["labels"].clone()).ok(), Some(live.labels.clone()));
    assert_eq!(Some(texts(&loaded["path"])), live.path);
    assert_eq!(nodes(&loaded["tree"]), live.tree);
    let context: serde_json::Value = serde_json::from_str(live.context.as_ref().unwrap()).unwrap();
    assert_eq!(loaded["context"], context);
    true
}
