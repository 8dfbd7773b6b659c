//! An import that is killed leaves no trace of the session under way, or the whole of it.
//!
//! Guards against half a session that shows, and rows that stay for ever.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::{Store, StoreOptions};
use leafline_generate::Shape;

fn import(store: &Path, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leafline"));
    command.arg("--store").arg(store).arg("import").arg("--no-compact").arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn exact(store: &Store, session: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    store
        .session(session)
        .unwrap()
        .reader()
        .unwrap()
        .export(&ExportMode::Exact, &mut bytes)
        .unwrap();
    bytes
}

/// Kills imports at moments spread over what a whole one takes, some of them twice on the same store.
#[test]
fn a_killed_import_is_completed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let mut sessions = Vec::new();
    // A small session, two whose images make several slices, an irregular one, and two that are migrated.
    let shapes = [
        (200_000, 3, 0.0),
        (25_000_000, 3, 0.9),
        (3_000_000, 3, 0.0),
        (24_000_000, 3, 0.9),
        (3_000_000, 1, 0.0),
        (200_000, 2, 0.0),
    ];
    for (seed, (bytes, version, images)) in (1..).zip(shapes) {
        let shape = Shape { seed, bytes, version, images, ..Shape::default() };
        let mut file = Vec::new();
        let summary = leafline_generate::generate(&shape, &mut file).unwrap();
        if seed == 3 {
            let repeated = file.split_inclusive(|&byte| byte == b'\n').nth(5).unwrap().to_vec();
            file.extend_from_slice(&repeated);
        }
        std::fs::write(files.join(format!("{seed}.jsonl")), &file).unwrap();
        sessions.push((summary.session_id, file));
    }
    let whole = {
        let store = folder.path().join("whole");
        let begin = Instant::now();
        assert!(import(&store, &files).status().unwrap().success());
        begin.elapsed()
    };
    let rounds = 10u32;
    let mut partly = 0;
    for round in 0..rounds {
        let path = folder.path().join(format!("store-{round}"));
        for kill in 0..1 + round % 2 {
            let mut child = import(&path, &files).spawn().unwrap();
            // A different moment in each round, the first ones close to the start.
            let moment = whole.mul_f64(f64::from(round + 1 + kill) / f64::from(rounds));
            std::thread::sleep(moment + Duration::from_micros(u64::from(round) * 137));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        if path.exists() {
            partly += check_what_is_there(&path, &sessions);
        }
        assert!(import(&path, &files).status().unwrap().success(), "round {round}");
        let store = Store::open(&path).unwrap();
        for (session, bytes) in &sessions {
            assert!(exact(&store, session) == *bytes, "round {round}, session {session}");
        }
        let verification = store.verify().unwrap();
        assert!(verification.problems.is_empty(), "round {round}: {:#?}", verification.problems);
        assert!(
            verification.remarks.iter().all(|remark| remark.kind != "unfinished"),
            "round {round}"
        );
        drop(store);
        std::fs::remove_file(&path).unwrap();
    }
    println!("{partly} of {rounds} killed imports had stored some of the sessions");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().contains(".writing-"))
        .collect();
    assert!(left.is_empty(), "lock files are left: {left:?}");
}

/// Opens a store as a reader does, whose only writer was killed. Answers 1 if it shows some sessions.
fn check_what_is_there(path: &Path, sessions: &[(String, Vec<u8>)]) -> u32 {
    // Killed before the first commit, a file is no store yet, and the next import makes it one.
    let Ok(store) =
        Store::open_with(path, &StoreOptions { read_only: true, ..StoreOptions::default() })
    else {
        return 0;
    };
    let shown = store.sessions().unwrap();
    for facts in &shown {
        let (_, bytes) =
            sessions.iter().find(|(id, _)| *id == facts.id).expect("only whole sessions show");
        assert!(exact(&store, &facts.id) == *bytes, "{} is not whole", facts.id);
    }
    let verification = store.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
    u32::from(!shown.is_empty() && shown.len() < sessions.len())
}

/// A replacement that is killed leaves the old session or the new one.
#[test]
fn a_killed_replacement_leaves_one_of_both() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let file = files.join("session.jsonl");
    let mut old = Vec::new();
    let shape = Shape { bytes: 20_000_000, ..Shape::default() };
    let id = leafline_generate::generate(&shape, &mut old).unwrap().session_id;
    let header_end = old.iter().position(|&byte| byte == b'\n').unwrap();
    let mut new = old[..header_end - 1].to_vec();
    new.extend_from_slice(b",\"title\":\"rewritten\"}");
    new.extend_from_slice(&old[header_end..]);
    let path = folder.path().join("store");
    for round in 0..6u32 {
        let (before, after) = if round % 2 == 0 { (&old, &new) } else { (&new, &old) };
        if round == 0 {
            std::fs::write(&file, before).unwrap();
            let store = Store::open(&path).unwrap();
            store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
        }
        std::fs::write(&file, after).unwrap();
        let mut child = import(&path, &files).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(40 + 90 * u64::from(round)));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::open(&path).unwrap();
        let found = exact(&store, &id);
        assert!(found == *before || found == *after, "round {round}");
        assert!(store.verify().unwrap().problems.is_empty(), "round {round}");
        store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
        assert!(exact(&store, &id) == *after, "round {round}");
        assert_eq!(store.sessions().unwrap().len(), 1);
        assert!(store.verify().unwrap().problems.is_empty(), "round {round}");
    }
}
